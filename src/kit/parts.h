// SPDX-License-Identifier: Apache-2.0
// Private to the files that write what Arm's kit writes too: the session by experiment and by
// execution, and one function per file. All of them run under the guard of files.c: who asks an
// arena for something has it.
#ifndef ETP_KIT_PARTS_H
#define ETP_KIT_PARTS_H

#include "compare/means.h"
#include "compare/session.h"
#include "document/fields.h"
#include "kit/files.h"

typedef struct etp_kit_arm {
    const etp_ab_arm *arm;
    uint32_t index;
    const char *stem;          // P: what the names of its files begin with
    const char *model_id;      // of its tables: P, unless the user wants another
    etp_str delegate;          // etp_kit_delegate_of
    const char *folder;        // "<experiment>/" in a run folder, else ""
    const etp_ab_dump **dumps; // readable ones, by block
    size_t n_dumps;
    const char **dump_names; // [n_dumps] as other files may name them: never absolute
    uint64_t *latency_ns;    // Method::execute by run_index: dumps in order, each in file order
    size_t n_runs;
    uint64_t *untraced_ns; // timed iterations in order; empty for bare dumps
    size_t n_untraced;
    etp_means mean; // over all dumps; zeroed without a profile
} etp_kit_arm;

typedef struct etp_kit {
    const etp_ab_session *session;
    const etp_ab *ab;
    const etp_run *run; // NULL: bare dumps
    etp_arena *arena;   // as long as the writing takes
    const char *dir;
    etp_run_deriving *deriving; // the session's own folder: what is written is recorded; or NULL
    bool extra;                 // what is written now is not of the usual files
    bool as_json;               // and it is the lines of a table as JSON
    bool timelines;             // also the tables of every event of every execution
    uint32_t run_index;         // of etp_kit_timeline_run
    const etp_kit_options *options;
    const char *phase; // of a session's later phases: a word in the names of its tables; else NULL
    const char *model; // begins the names of the tables over all experiments
    const char *stem;  // begins the names of the pipeline summary
    etp_kit_arm *arms; // in the order of reports, baseline first
    size_t n_arms;
    struct {
        const char **items;
        size_t n, cap;
    } csv_files;                 // written so far
    const struct etp_kit *later; // of a session's first phase, once all others are written
    size_t n_later;
} etp_kit;

// Where each RunData of a dump went: block and place in the block's columns.
typedef struct etp_kit_place {
    uint32_t block, run;
} etp_kit_place;
const etp_kit_place *etp_kit_places(const etp_trace *trace, etp_arena *arena);

// A file's content. ARM is NULL for files over all experiments. SCRATCH ends with the file. A sink
// that failed is the caller's to notice.
typedef etp_status etp_kit_render(const etp_kit *kit, const etp_kit_arm *arm, etp_sink *sink,
                                  etp_arena *scratch, etp_error *err);
etp_kit_render etp_kit_timeline_all, etp_kit_timeline_run, etp_kit_ops_stats; // timeline.c
etp_kit_render etp_kit_robust_stats;                                          // robust.c
etp_kit_render etp_kit_category_summary, etp_kit_operator_details, etp_kit_other_top_ops,
    etp_kit_e2e_latency, etp_kit_comparison; // experiments.c
etp_kit_render etp_kit_metrics, etp_kit_analysis_summary, etp_kit_pipeline_json,
    etp_kit_pipeline_md; // summary.c
// What TABLE renders, line by line as JSON objects. json_rows.c
etp_status etp_kit_as_json(etp_kit_render *table, const etp_kit *kit, const etp_kit_arm *arm,
                           etp_sink *sink, etp_arena *scratch, etp_error *err);

// Names of an experiment's files, relative to the folder.
const char *etp_kit_arm_file(const etp_kit *kit, const etp_kit_arm *arm, const char *suffix);
// Of the timeline of all executions; NULL when it is not written.
const char *etp_kit_timeline_file(const etp_kit *kit, const etp_kit_arm *arm);
#define ETP_KIT_TIMELINE_ALL "_exec_all_runs_timeline.csv"
#define ETP_KIT_TIMELINE_RUN0 "_exec_run0_timeline.csv"
#define ETP_KIT_OPS_STATS "_exec_ops_stats.csv"
#define ETP_KIT_ROBUST_STATS "_exec_all_runs_timeline_robust_stats.json"

// Statistics of latencies as Arm's kit defines them, in nanoseconds; NAN where there is none.
typedef struct etp_kit_moments {
    size_t n;
    double mean, median, sd, cv_percent, min, max;
} etp_kit_moments;
// Reorders NS.
etp_kit_moments etp_kit_describe(double *ns, size_t n);

// Latencies of one experiment, and what the kit says of them.
typedef struct etp_kit_series {
    const char *name;
    const uint64_t *ns;
    const int64_t *run; // run indices, NULL: 0, 1, …
    size_t n;
    etp_str level; // of a timeline, that ran; empty: unknown
} etp_kit_series;
typedef struct etp_kit_robust {
    etp_kit_series of;
    etp_kit_moments all, kept; // kept: within 1.5 interquartile ranges of the quartiles, lo … hi
    double lo, hi, trimmed_5, trimmed_10;
    double *sorted; // etp_quantile wants it writable
} etp_kit_robust;
// Of at least one latency. SCRATCH is under a guard.
etp_kit_robust etp_kit_robust_of(const etp_kit_series *x, etp_arena *scratch);
// The keys of …_robust_stats.json that the kit has, too, of etp_kit_robust; the whole file.
extern const etp_shape k_etp_kit_robust;
extern const etp_document k_etp_robust_stats_document;
// summary.c
extern const etp_document k_etp_metrics_document, k_etp_analysis_summary_document,
    k_etp_pipeline_summary_document;

// The backend of delegates as the program names it, without one as only that backend names its
// operators; "delegated" where neither tells, or they are of several backends. P may be NULL.
etp_str etp_kit_delegate_of(const etp_profile *p);
// Cells of a table, each with the comma before it.
// Column delegate_backend: arm->delegate or "portable".
void etp_kit_put_backend(etp_sink *sink, const etp_kit_arm *arm, bool delegated);
// Column level: what ran, beside a label that may say anything.
void etp_kit_put_level(etp_sink *sink, const etp_kit_arm *arm);
// Exact decimals of whole nanoseconds: "1.234567", "1234.567".
void etp_kit_put_ms(etp_sink *sink, int64_t ns);
void etp_kit_put_us(etp_sink *sink, uint64_t ns);
void etp_kit_put_i64(etp_sink *sink, int64_t v);
void etp_kit_put_ratio(etp_sink *sink, double v); // empty when not finite
void etp_kit_put_ns(etp_sink *sink, int64_t ns);  // empty when unknown
void etp_kit_put_text(etp_sink *sink, etp_str text);

#endif
