// SPDX-License-Identifier: Apache-2.0
// What `etprof analyze`, `compare` and `report` find out, for programs.
//
//   run folder ── etp_analysis_open_run ───┐
//   dumps ─────── etp_analysis_open_dumps ─┼─► etp_analysis ─┬─► arms, comparisons, operators, …
//   A and B ───── etp_analysis_compare ────┘                 └─► one JSON document, reports, files
//
// Everything that is known stands in the JSON document (docs/reading.md, docs/explain.md and
// schemas describe it); the structs below are what most programs ask for.
//
// Structs of this header that the caller allocates begin with `struct_size`, which has to be set to
// sizeof the struct before each call. Later versions only add members at the end. What a program is
// older than is cut off, what a library is older than stays zero in results and is refused in
// options (ETP_UNSUPPORTED) unless it is zero.
//
// Unknown: NAN in doubles, ETP_UNKNOWN_NS in times, an empty text, 0 in counts.
//
// Ownership: texts of results borrow from the analysis until etp_analysis_close; they are UTF-8
// with a length, not ended by a NUL. What was given to a function may go as soon as it returns.
// Thread rule: an analysis is immutable after open and may be read by any number of threads;
// several may be opened at once. Writing into one folder is for one thread at a time.
#ifndef ETPROF_ANALYSIS_H
#define ETPROF_ANALYSIS_H

#include <etprof/buffer.h>
#include <etprof/bytes.h>
#include <etprof/operators.h>
#include <etprof/output.h>
#include <etprof/stats.h>

ETP_C_BEGIN

#define ETP_UNKNOWN_NS INT64_MIN

typedef struct etp_analysis etp_analysis;

typedef struct etp_analysis_options { // NULL instead of it: all defaults
    size_t struct_size;
    const char *baseline; // name of an arm, NULL: the rule of baselines
    double margin;        // ratios nearer to 1 than this are "same"; 0: 0.01
    const char *program;  // .pte of bare dumps, NULL; run folders hold their own
    const char *record;   // .etrecord to go with it, NULL
    const char *roofs;    // etprof.roofs/1 document, NULL: that of the run folder
    const char *names[2]; // what to call the two sides of a comparison, NULL: by their files
} etp_analysis_options;

// Opens a run folder. Errors: ETP_USAGE (DIR is none, no such baseline), ETP_CORRUPT and
// ETP_UNSUPPORTED (its files), ETP_IO, ETP_NOMEM. *out is NULL then.
ETP_API ETP_NODISCARD etp_status etp_analysis_open_run(const char *dir,
                                                       const etp_analysis_options *options,
                                                       etp_analysis **out, etp_error *err);
// Dumps of any runner, or folders holding dumps; one arm each. Times are traced ones, there is no
// verdict.
ETP_API ETP_NODISCARD etp_status etp_analysis_open_dumps(const char *const *paths, size_t n_paths,
                                                         const etp_analysis_options *options,
                                                         etp_analysis **out, etp_error *err);
// A is the baseline. Each is a dump, a timeline table, a folder of dumps, or a run folder
// ("DIR:ARM" names one of several arms).
ETP_API ETP_NODISCARD etp_status etp_analysis_compare(const char *a, const char *b,
                                                      const etp_analysis_options *options,
                                                      etp_analysis **out, etp_error *err);
ETP_API void etp_analysis_close(etp_analysis *analysis); // NULL is fine

// ---- results ----

typedef struct etp_analysis_summary {
    size_t struct_size;
    etp_str title;               // of the model
    etp_str folder;              // run folder, empty: bare dumps
    etp_str state;               // "finished", "running", "interrupted"; empty: bare dumps
    etp_str grade, grade_reason; // "A" … "D": how much the arms have in common
    uint32_t baseline;           // index of an arm
    uint32_t arms, comparisons, operators, findings;
    bool bare;        // from dumps alone
    bool emulated;    // an emulator's times say nothing about speed
    int8_t outputs;   // the arms' outputs: 1 agree, 0 differ, -1 not known
    bool launch_lost; // a block was lost
} etp_analysis_summary;

typedef struct etp_arm_result {
    size_t struct_size;
    etp_str name;     // of the experiment
    etp_str measured; // what was measured: "int8 at SME2, 2 threads"
    etp_str level;    // "sme2"; empty unknown
    etp_str model;    // stem of the .pte, empty unknown
    etp_str proof;    // of the level: "confirmed", "contradicted", "unproven"
    uint32_t threads;
    uint64_t launches, samples;                // timed ones that count
    int64_t median_ns;                         // untraced; unknown of bare dumps
    double lo_ns, hi_ns;                       // its 95 % interval
    int64_t traced_ns;                         // mean of the traced executions that count
    int64_t load_ns, first_ns, peak_rss_bytes; // medians over the launches
    // Likewise, after the measured iterations: pages that were written, and those of files that
    // were not. Then the size of the program and of the weights beside it.
    int64_t dirty_bytes, clean_bytes, disk_bytes;
} etp_arm_result;

typedef struct etp_comparison_result { // of an arm with its baseline
    size_t struct_size;
    uint32_t baseline, candidate; // indices of arms
    double speedup, lo, hi;       // time of the baseline ÷ that of the candidate, 95 % interval
    etp_verdict verdict;
    etp_str verdict_text;  // "faster", "slower", "same", "unknown"
    etp_str withheld;      // why no ratio is given: "emulated", "outputs_differ", …; empty
    etp_str withheld_text; // the same in words
    etp_str method;        // "paired-blocks", "unpaired-launches", "traced-means"
    uint32_t blocks;
    double margin, noise_floor; // relative; half-width of the A/A control's interval of ln
} etp_comparison_result;

typedef struct etp_operator_result {
    size_t struct_size;
    etp_str id, label;
    etp_category category;
    bool delegated;
    int32_t chain, instruction;
    etp_str source_file; // empty unknown
    uint32_t source_line;
} etp_operator_result;

typedef struct etp_finding_result {
    size_t struct_size;
    etp_str id;       // "F1"
    etp_str kind;     // "slower", "off_feature", …
    etp_str severity; // "info", "good", "warn", "bad"
    etp_str text;
} etp_finding_result;

// Each fills *out. ETP_USAGE: no such INDEX, or struct_size is not set.
ETP_API ETP_NODISCARD etp_status etp_analysis_about(const etp_analysis *analysis,
                                                    etp_analysis_summary *out, etp_error *err);
ETP_API ETP_NODISCARD etp_status etp_analysis_arm(const etp_analysis *analysis, uint32_t index,
                                                  etp_arm_result *out, etp_error *err);
ETP_API ETP_NODISCARD etp_status etp_analysis_comparison(const etp_analysis *analysis,
                                                         uint32_t index, etp_comparison_result *out,
                                                         etp_error *err);
// In program order.
ETP_API ETP_NODISCARD etp_status etp_analysis_operator(const etp_analysis *analysis, uint32_t index,
                                                       etp_operator_result *out, etp_error *err);
// What an operator is called in an arm, and how long it takes in an inference; empty and unknown
// where the arm has no such operator.
ETP_API ETP_NODISCARD etp_status etp_analysis_operator_in(const etp_analysis *analysis,
                                                          uint32_t index, uint32_t arm,
                                                          etp_str *out_name, int64_t *out_ns,
                                                          etp_error *err);
ETP_API ETP_NODISCARD etp_status etp_analysis_finding(const etp_analysis *analysis, uint32_t index,
                                                      etp_finding_result *out, etp_error *err);

// ---- documents and reports ----

// The whole answer as one document: etprof.ab/1. The
// caller disposes of *out.
ETP_API ETP_NODISCARD etp_status etp_analysis_json(const etp_analysis *analysis, etp_buffer *out,
                                                   etp_error *err);

typedef struct etp_analysis_output { // NULL instead of it: the whole report as text
    size_t struct_size;
    etp_output_format format;
    uint32_t width;     // TEXT: columns, 0: 80
    bool color, ascii;  // TEXT: ANSI colours; no sign beyond ASCII
    bool brief;         // TEXT: the short form
    bool proof;         // operator names side by side instead of times
    const char *title;  // of the report, NULL: the model's
    const char *select; // CSV: id of the table; SVG: id of the chart; NULL: the main one
} etp_analysis_output;

// The report in a format, to a function, to a file (which appears whole or not at all), or as text.
// ETP_IO: WRITE said no, or the file cannot be written; ETP_USAGE: no such table or chart.
ETP_API ETP_NODISCARD etp_status etp_analysis_write(const etp_analysis *analysis,
                                                    const etp_analysis_output *how,
                                                    etp_output_write *write, void *ctx,
                                                    etp_error *err);
ETP_API ETP_NODISCARD etp_status etp_analysis_write_file(const etp_analysis *analysis,
                                                         const etp_analysis_output *how,
                                                         const char *path, etp_error *err);
ETP_API ETP_NODISCARD etp_status etp_analysis_text(const etp_analysis *analysis,
                                                   const etp_analysis_output *how, etp_buffer *out,
                                                   etp_error *err);
// Renews the derived files of the run folder it was opened on (docs/run-folder.md). ETP_USAGE:
// there is none.
ETP_API ETP_NODISCARD etp_status etp_analysis_renew_folder(const etp_analysis *analysis,
                                                           etp_error *err);
// Writes the tables of docs/from-the-kit.md into DIR, which is made when it is not there. The
// record of a run folder is left as it is.
ETP_API ETP_NODISCARD etp_status etp_analysis_write_tables(const etp_analysis *analysis,
                                                           const char *dir, etp_error *err);

ETP_C_END

#endif
