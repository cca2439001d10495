// SPDX-License-Identifier: Apache-2.0
// The store of finished sessions: one SQLite file of this user, an entry for each run folder, by
// the hash of its manifest. Run folders are the truth; an entry is what came out of one, kept so
// that thousands can be asked at once, and can be made again from the folder. docs/history.md
// describes the tables.
//
// Each entry is one transaction: it is in the file whole or not at all, however a writer ends.
#ifndef ETP_ARCHIVE_ARCHIVE_H
#define ETP_ARCHIVE_ARCHIVE_H

#include <etprof/arena.h>

#include "compare/opened.h"

#define ETP_ARCHIVE_SCHEMA 2 // PRAGMA user_version

typedef struct etp_archive etp_archive;

// Was this program built with SQLite? Without it every function here is ETP_UNSUPPORTED.
bool etp_archive_built(void);

typedef enum etp_archive_use { ETP_ARCHIVE_READ, ETP_ARCHIVE_WRITE } etp_archive_use;
// WRITE makes the file, and the folders above it, where there is none; a file of an older schema is
// brought to ours. READ changes nothing (but an older schema) and gives NULL where there is no
// file. ETP_IO: it cannot be opened, written or waited for. ETP_CORRUPT: it is damaged or no SQLite
// file. ETP_UNSUPPORTED: a database of something else, or a newer schema. None of these changes
// the file.
ETP_NODISCARD etp_status etp_archive_open(const char *path, etp_archive_use use, etp_archive **out,
                                          etp_error *err);
void etp_archive_close(etp_archive *a); // NULL is fine

// ---- an entry ----
// Unknown numbers are NAN, unknown texts empty. Texts and arrays borrow from an arena.

typedef struct etp_archive_arm {
    etp_str phase; // "decode @256"; empty: the method alone
    etp_str experiment, level, model, model_sha256, proof;
    uint64_t threads, launches, samples;
    bool baseline;
    double median_ns, lo_ns, hi_ns, traced_ns, load_ns, first_ns, peak_rss_bytes, tokens_per_s;
    const double *block_ns; // the launch value of each block, NAN missing
    size_t n_blocks;
} etp_archive_arm;

typedef struct etp_archive_comparison {
    etp_str phase, verdict, withheld; // withheld: why estimate, lo and hi are not given, or empty
    uint32_t baseline, candidate;     // indices of arms
    uint64_t blocks;
    double estimate, lo, hi, margin, noise_floor, sign_flip_p;
} etp_archive_comparison;

typedef struct etp_archive_operator {
    uint32_t arm;
    etp_str id, label, category, names, engaged;
    bool delegated;
    double ns, macs;
} etp_archive_operator;

typedef struct etp_archive_session {
    etp_str run_id;                                      // SHA-256 of manifest.json
    etp_str folder;                                      // absolute
    etp_str generated_at, platform, device, cpu, models; // models: names, ", " between
    etp_str programs;                                    // their hashes, a blank between
    etp_str runner_sha256, executorch, etprof, grade, command, config;
    bool emulated;
    uint64_t blocks;
    struct {
        etp_archive_arm *items;
        size_t n, cap;
    } arms;
    struct {
        etp_archive_comparison *items;
        size_t n, cap;
    } comparisons;
    struct {
        etp_archive_operator *items;
        size_t n, cap;
    } operators;
} etp_archive_session;

typedef enum etp_archive_added {
    ETP_ARCHIVE_NEW,
    ETP_ARCHIVE_KNOWN,   // it was there; the folder's path is renewed where it was another
    ETP_ARCHIVE_RENEWED, // it was there and was made again
    ETP_ARCHIVE_NOT,     // unfinished, or without timed launches: no entry
    ETP_ARCHIVE_UNREAD   // the run folder could not be read, which is the error
} etp_archive_added;

// AGAIN: what is there under the same run_id is made again. An entry of the same folder and the
// same beginning with another manifest is the session before it went on, and is replaced.
ETP_NODISCARD etp_status etp_archive_put(etp_archive *a, const etp_archive_session *s, bool again,
                                         etp_archive_added *out, etp_error *err);
// Is there an entry of that manifest? Then its folder is FOLDER from now on.
ETP_NODISCARD etp_status etp_archive_knows(etp_archive *a, const char *run_id, const char *folder,
                                           bool *out, etp_error *err);
// What an open run folder's entry is. *OUT_FINISHED false: it gets none.
ETP_NODISCARD etp_status etp_archive_entry(const etp_ab_session *session, etp_arena *arena,
                                           etp_archive_session *out, bool *out_finished,
                                           etp_error *err);

// ---- questions ----

typedef struct etp_archive_filter { // NULL: any
    const char *model;              // of an arm, as `models` has it
    const char *device;             // the device or its processor
    const char *since;              // generated_at, or how it begins: "2026-03"
} etp_archive_filter;

typedef struct etp_archive_line { // of the list of sessions
    etp_str run_id, folder, generated_at, device, cpu, models, grade;
    bool emulated;
    uint64_t arms, blocks;
    etp_str candidate, withheld; // of the first comparison; empty: there is none, it is given
    double estimate, lo, hi;
} etp_archive_line;
typedef struct etp_archive_list { // newest first
    etp_archive_line *items;
    size_t n, cap;
} etp_archive_list;
ETP_NODISCARD etp_status etp_archive_sessions(etp_archive *a, const etp_archive_filter *filter,
                                              etp_arena *arena, etp_archive_list *out,
                                              etp_error *err);

typedef struct etp_archive_point { // an arm of a session
    etp_str run_id, folder, generated_at, device, cpu, programs, runner_sha256, executorch, etprof;
    etp_str phase, experiment, model;
    uint64_t threads;
    double median_ns, tokens_per_s;
    bool compared;   // it is a candidate
    double estimate; // NAN withheld
} etp_archive_point;
typedef struct etp_archive_trend { // by time, then folder, then arm
    etp_archive_point *items;
    size_t n, cap;
} etp_archive_trend;
// Emulated sessions are left out.
ETP_NODISCARD etp_status etp_archive_points(etp_archive *a, const etp_archive_filter *filter,
                                            etp_arena *arena, etp_archive_trend *out,
                                            etp_error *err);

// The arms of one entry, with their blocks. RUN_ID of none: *OUT_FOUND false.
ETP_NODISCARD etp_status etp_archive_get(etp_archive *a, const char *run_id, etp_arena *arena,
                                         etp_archive_session *out, bool *out_found, etp_error *err);
#endif
