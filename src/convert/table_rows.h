// SPDX-License-Identifier: Apache-2.0
// How one folder gives the rows of one table. Shared by table*.c.
#ifndef ETP_CONVERT_TABLE_ROWS_H
#define ETP_CONVERT_TABLE_ROWS_H

#include "convert/table.h"
#include "store/store.h"

typedef struct etp_table_fleet { // what a fleet's rows say besides
    etp_str day, build, device;  // "" unknown
    const etp_str *models;       // by index: names that a folder of the lake can have
} etp_table_fleet;

typedef struct etp_table_folder {
    etp_arena arena;
    etp_run run; // the manifest
    char id[65]; // its SHA-256
    bool timed;
    int64_t generated_us; // when timed
    etp_str cpu;
    const etp_table_fleet *fleet; // NULL: rows of run folders alone
    etp_run_rows rows;            // of samples and launches
    etp_table_analyse *analyse;
    struct { // of operators
        json_t *report;
        const json_t *document; // of one phase: the report itself, then those in its phases[]
        size_t phase;           // in phases[], of the document
        const json_t *operators;
        size_t operator_at, arm_at;
        uint32_t *arms; // of the document, as indices in the manifest
        size_t n_arms;
        size_t *comparison; // of each arm: in which it is the candidate, when it has a baseline
        const char **names, **baseline; // borrow from report; baseline NULL: none
    } ops;
} etp_table_folder;

typedef struct etp_table_rows {
    etp_status (*open)(etp_table_folder *f, etp_error *err);
    // Adds one row, or says that there are no more.
    etp_status (*next)(etp_table_folder *f, etp_batch *b, bool *more, etp_error *err);
    void (*close)(etp_table_folder *f); // also after a failed open
} etp_table_rows;

extern const etp_table_rows k_etp_sample_rows, k_etp_launch_rows, k_etp_operator_rows;

// The columns that the tables begin with: of an arm, of a session.
void etp_table_keys(const etp_table_folder *f, uint32_t arm_index, etp_batch *b);
void etp_table_session_keys(const etp_table_folder *f, etp_batch *b);

// "2026-11-21T09:00:00Z" in microseconds since 1970.
bool etp_table_utc(etp_str s, int64_t *out);
ETP_NODISCARD etp_status etp_table_put_sample(const etp_table_folder *f, const etp_run_sample *s,
                                              etp_batch *b, etp_error *err);
// Takes REPORT, an etprof.ab/1 document, as the source of operators.
ETP_NODISCARD etp_status etp_table_take_report(etp_table_folder *f, json_t *report, etp_error *err);

#endif
