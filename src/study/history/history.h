// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof history`: series of figures over run folders or over a table, where they
// changed, and what else changed there.
#ifndef ETP_STUDY_HISTORY_HISTORY_H
#define ETP_STUDY_HISTORY_HISTORY_H

#include <etprof/stats.h>

#include "document/fields.h"
#include "report/report.h"

#define ETP_HISTORY_MAX_P 0.001
#define ETP_HISTORY_MIN_CHANGE 0.02

typedef struct etp_history_run { // one moment
    etp_str time;                // as written; ISO 8601 for run folders
    etp_str *attributes;         // [history.attributes.n], "" unknown
} etp_history_run;

typedef struct etp_history_change {
    size_t run; // first of the new segment
    double before, after, p;
    etp_str also; // names of attributes that changed since the run before, comma-separated
} etp_history_change;

typedef enum etp_series_unit { // as the end of the name says
    ETP_SERIES_OTHER,          // judged neither way
    ETP_SERIES_TIME,           // ns
    ETP_SERIES_SPEEDUP,
    ETP_SERIES_RATE, // tokens a second
    ETP_SERIES_UNITS
} etp_series_unit;

typedef struct etp_history_series {
    etp_str name;
    etp_series_unit unit;
    etp_str phase;  // "decode @256"; "" none, or not known
    double *values; // [history.runs.n], NAN where the run has none
    size_t n_known;
    // Set by etp_history_find_changes, ascending by run.
    etp_history_change *changes;
    size_t n_changes;
} etp_history_series;

typedef struct etp_history { // zeroed before the first call
    etp_arena *arena;
    double min_change;
    struct {
        etp_str *items;
        size_t n, cap;
    } attributes;
    struct {
        etp_history_run *items;
        size_t n, cap;
    } runs;
    struct {
        etp_history_series *items;
        size_t n, cap;
    } series;
} etp_history;

// Run folders, and folders that have some in them (four levels down), in the order of their times.
// Emulated and unfinished sessions are left out and counted in *out_left_out.
ETP_NODISCARD etp_status etp_history_of_folders(const char *const *paths, size_t n,
                                                etp_history *out, size_t *out_left_out,
                                                etp_error *err);
// A table with a column "time" and one row a run, in the order of its rows: columns of numbers are
// series (empty cells: none), others attributes.
ETP_NODISCARD etp_status etp_history_of_csv(etp_str text, etp_history *out, etp_error *err);
// Finds the changes. MIN_CHANGE 0: the default.
ETP_NODISCARD etp_status etp_history_find_changes(etp_history *h, double min_change,
                                                  etp_error *err);

void etp_history_json(const void *history, etp_json *j); // etprof.history/1
extern const etp_document k_etp_history_document;
const etp_report *etp_history_report(const etp_history *h, etp_arena *arena);
// The table again: time, attributes, series; etp_history_of_csv reads it back.
void etp_history_csv(const etp_history *h, etp_sink *sink);

#endif
