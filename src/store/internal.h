// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this room.
#ifndef ETP_STORE_INTERNAL_H
#define ETP_STORE_INTERNAL_H

#include "base/csv.h"
#include "base/json_read.h"
#include "base/sha256.h"
#include "store/store.h"

// Budgets of the reader: far above any real session, far below what hurts.
#define ETP_RUN_MANIFEST_LIMIT ((size_t)64 << 20)
#define ETP_RUN_ROWS_LIMIT ((size_t)1 << 30) // samples.csv, environment.jsonl
#define ETP_RUN_MAX_ARMS 1024u
#define ETP_RUN_MAX_WORDS 200u
#define ETP_RUN_MAX_RECIPES 100u
#define ETP_RUN_MAX_PLACES 100000000u
#define ETP_RUN_MAX_BLOCKS 100000u
#define ETP_RUN_MAX_CELLS \
    2000000u // arms x blocks: tables of that size are made for what a manifest says
#define ETP_RUN_MAX_LAUNCHES 100000000u       // of a session, its lost ones included
#define ETP_RUN_MAX_BYTES ((uint64_t)1 << 50) // of a file

bool etp_phase_find(etp_str s, etp_phase *out);

// ---- parts ----

extern const etp_document k_etp_run_document, k_etp_launch_document, k_etp_block_document,
    k_etp_derived_document;
extern const etp_shape k_etp_run_file;
// A path that stays inside the folder: relative, no "..", no empty part, no control character.
bool etp_run_path_ok(etp_str path);

ETP_NODISCARD etp_status etp_run_manifest_read(etp_str text, etp_arena *arena, etp_run *out,
                                               etp_error *err);
// results[] needs the samples of finished sessions; it is empty while running.
ETP_NODISCARD etp_status etp_run_manifest_write(const etp_run *run, etp_arena *arena, etp_str *out,
                                                etp_error *err);
// rows_read.c: the entry of NAME in the manifest's list, or NULL; of TEXT, a file's, what it
// counts.
const etp_run_file *etp_run_recorded(const etp_run *run, const char *name);
bool etp_run_grows(const etp_run *run, etp_str name);
etp_str etp_run_committed(const etp_run *run, const char *name, etp_str text);
// named.c: the hash that sessions note. Takes what they find out off MANIFEST.
ETP_NODISCARD etp_status etp_run_hash_named(json_t *manifest,
                                            char out_hex[static ETP_SHA256_HEX_CHARS],
                                            etp_error *err);
// results.c: the value of "results", for Arm's kit.
ETP_NODISCARD etp_status etp_run_results_write(etp_json *j, const etp_run *run, etp_arena *arena,
                                               etp_error *err);
ETP_NODISCARD etp_status etp_run_samples_read(etp_str text, etp_arena *arena, etp_run *run,
                                              etp_error *err);
// environment.c: one line; a launch or a block is added to RUN when the manifest vouches for it.
ETP_NODISCARD etp_status etp_run_line_read(etp_str line, etp_arena *arena, etp_run *run,
                                           etp_error *err);
void etp_run_launch_write(etp_sink *sink, const etp_run *run, const etp_run_launch *l);
ETP_NODISCARD etp_status etp_run_environment_read(etp_str text, etp_arena *arena, etp_run *run,
                                                  etp_error *err);

// Cell of the column level in samples.csv.
static inline etp_str etp_run_level_cell(const etp_run_arm *arm)
{
    return arm->level.len > 0 ? arm->level : ETP_STR(ETP_CSV_UNKNOWN);
}

#endif
