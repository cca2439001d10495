// SPDX-License-Identifier: Apache-2.0
// Private to the files that validate: the files of a folder, and how their checks are written down.
#ifndef ETP_INTEGRITY_VALIDATE_PARTS_H
#define ETP_INTEGRITY_VALIDATE_PARTS_H

#include "base/embedded.h"
#include "base/json_read.h"
#include "integrity/validate/validate.h"
#include "store/store.h"

typedef enum etp_valid_kind {
    ETP_VALID_OTHER, // pictures, logs, pages: only counted
    ETP_VALID_JSON,
    ETP_VALID_JSON_LINES,
    ETP_VALID_CSV,
    ETP_VALID_DUMP,
    ETP_VALID_MODEL // .pte, .bpte, .ptd, .etrecord
} etp_valid_kind;

typedef enum etp_valid_document { // of which more is known than their schema
    ETP_VALID_ANY,
    ETP_VALID_RUN,
    ETP_VALID_KIT_MANIFEST,
    ETP_VALID_METRICS,
    ETP_VALID_ANALYSIS_SUMMARY,
    ETP_VALID_DERIVED,
    ETP_VALID_AB,
    ETP_VALID_EXPORT,
    ETP_VALID_OUTPUTS,
    ETP_VALID_PIPELINE_SUMMARY,
    ETP_VALID_ROBUST_STATS,
    ETP_VALID_ROBUST_COMPARISON,
    ETP_VALID_CONFIG,
    ETP_VALID_DOCUMENTS
} etp_valid_document;

typedef struct etp_valid_file {
    const char *name; // relative to the root
    const char *path;
    uint64_t size;
    etp_valid_kind kind;
    etp_valid_document document;
    const char *schema; // of JSON by its name, NULL unknown
    json_t *json;       // JSON that fits its schema, else NULL once the file was read
    // Method::execute in file order: of a dump that could be read, or of a timeline CSV.
    // They link tables and dumps: a timeline must have the durations of the dumps that it was made
    // from.
    uint64_t *execute_ns;
    size_t n_execute;
    bool readable; // dump, CSV: everything checked about the file alone was fine
} etp_valid_file;

// Everything a run of validate knows. Files are found, then read one by one, then held against each
// other: each step only adds to what the one before has found.
typedef struct etp_validator {
    const char *root;
    etp_arena *arena;
    etp_validation *out;
    struct {
        etp_valid_file *items; // by name
        size_t n, cap;
    } files;
} etp_validator;

// Writes down one check. FOUND is printf-shaped.
// FILE, ID, EXPECTED and FIX are borrowed: literals, or texts of the validator's arena. FIX is for
// a check that failed; one that holds needs none.
void etp_valid_note(etp_validator *v, const char *file, const char *id, bool ok,
                    const char *expected, const char *fix, const char *found, ...) ETP_PRINTF(7, 8);
// A file by its name relative to the root, NULL when it is not there.
etp_valid_file *etp_valid_find(const etp_validator *v, const char *name);

// ---- files.c: one file alone ----
void etp_valid_classify(etp_valid_file *f);
ETP_NODISCARD etp_status etp_valid_file_alone(etp_validator *v, etp_valid_file *f, etp_error *err);

// ---- csv.c ----
void etp_valid_csv(etp_validator *v, etp_valid_file *f, etp_str text);

// ---- cross.c, run.c: files against each other ----
void etp_valid_cross(etp_validator *v);
ETP_NODISCARD etp_status etp_valid_run(etp_validator *v, const char *work_root, etp_error *err);

// ---- schema.c: the part of JSON Schema that our schemas use ----
typedef struct etp_schema_problem {
    const char *id; // "schema.missing_key", "schema.type", "schema.value", "schema.range", …
    const char *where, *found, *expected;
} etp_schema_problem;
extern const etp_embedded k_etp_schemas[]; // schemas
// NULL when there is none of that name; else borrowed until the process ends. Names as the files in
// schemas without ".schema.json".
etp_str etp_schema_text(const char *name);
// *OUT_FITS: VALUE fits SCHEMA; else *out is the first problem, its texts in ARENA.
ETP_NODISCARD etp_status etp_schema_fits(const json_t *schema, const json_t *value,
                                         etp_arena *arena, bool *out_fits, etp_schema_problem *out,
                                         etp_error *err);

// ---- numbers of documents ----
// The number at a path like "metrics.median_ms"; NAN when there is none.
double etp_valid_number(const json_t *object, const char *path);
const char *etp_valid_text(const json_t *object, const char *path); // NULL when there is none
bool etp_valid_close(double a, double b); // equal but for the last digits of decimal writing

#endif
