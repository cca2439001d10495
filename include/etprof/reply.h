// SPDX-License-Identifier: Apache-2.0
// What `etprof ops`, `inspect`, `stats` and `whatif` answer, for programs; and any table of an
// answer as an Arrow C stream.
//
//   etp_question ── etp_reply_open ──► etp_reply ── etp_reply_text ──► JSON document, report, CSV
//                                                ├─ etp_reply_table ─► Arrow C stream
//                                                └─ etp_reply_columns ─► Inspector's data frame
//
// Structs that the caller allocates begin with `struct_size`; see <etprof/analysis.h>. Members of a
// question mean what the options of the verb mean; those of another verb are left zero.
//
// Ownership: a reply borrows from nothing that was given; a stream from no reply. Thread rule: a
// reply is immutable after open and may be read by any number of threads; a stream is for one
// thread at a time.
#ifndef ETPROF_REPLY_H
#define ETPROF_REPLY_H

#include <etprof/analysis.h>
#include <etprof/tables.h>

ETP_C_BEGIN

typedef enum etp_question_kind { // numbers stay what they are
    ETP_QUESTION_OPS = 0,        // operators of a dump
    ETP_QUESTION_INSPECT = 1,    // what is in a file
    ETP_QUESTION_STATS = 2,      // a CSV of samples or a run folder
    ETP_QUESTION_WHATIF = 3,     // run folder or dumps, with changes
    ETP_QUESTION_INSPECTOR = 4,  // ExecuTorch's Inspector of a dump: JSON rows, or TSV as text
    ETP_QUESTIONS
} etp_question_kind;

typedef struct etp_question {
    size_t struct_size;
    etp_question_kind kind;
    const char *const *paths; // what is asked about: one, of WHATIF any number
    size_t n_paths;
    const char *const *changes; // WHATIF: "drop transpose*"
    size_t n_changes;
    const char *program;   // OPS, WHATIF: the .pte of dumps
    const char *record;    // OPS, INSPECT, INSPECTOR: an .etrecord
    const char *buffer;    // INSPECT with tensor, INSPECTOR: the debug buffer
    const char *recording; // INSPECT: a dump of the program
    const char *other;     // INSPECT: another program to compare with
    const char *roofs;     // WHATIF: etprof.roofs/1 document
    const char *baseline;  // STATS, WHATIF
    double margin;         // STATS; 0: 0.01
    bool tree, tensor;     // INSPECT
    const char *phase;     // WHATIF, STATS: "decode@256", "prefill"; NULL: the first
    // OPS, INSPECT, WHATIF: what ticks of dumps are: "us", "cycles:168e6"; NULL: nanoseconds, and
    // of delegates' own clocks unknown.
    const char *source_unit, *delegate_unit;
} etp_question;

typedef struct etp_reply etp_reply;

// Errors: ETP_USAGE, and those of the files that are read. *out is NULL then.
ETP_API ETP_NODISCARD etp_status etp_reply_open(const etp_question *question, etp_reply **out,
                                                etp_error *err);
ETP_API void etp_reply_close(etp_reply *reply); // NULL is fine

// HOW: as in etp_analysis_text; what a reply has no use for is ignored. NULL: as text.
ETP_API ETP_NODISCARD etp_status etp_reply_text(const etp_reply *reply,
                                                const etp_analysis_output *how, etp_buffer *out,
                                                etp_error *err);

// ---- Inspector's data frame ----

typedef struct etp_inspector_columns {
    size_t struct_size;
    size_t n_rows, n_times;   // of all rows together
    const double *statistics; // p10, p50, p90, avg, min, max in ms: n_rows of each; NaN: no times
    const uint64_t *first;    // n_rows + 1: where the times of a row begin
    const double *raw_ms;     // n_times
    const uint64_t *start;    // n_times, in ticks
    const char *others;       // the other columns as a JSON object: {name: [n_rows cells], …};
    size_t others_len;        // left out when each cell is [], {}, null or false; of a tensor the
                              // dtype, the shape, and "at", the byte of the buffer, or null;
                              // of op_types all, where the table shortens five or more;
                              // "event_block", from 0, which the table has not
    etp_buffer memory;        // in which all this lies: the caller disposes of it
} etp_inspector_columns;

// Errors: ETP_USAGE: REPLY is not of kind INSPECTOR; those of debug data that cannot be shown.
ETP_API ETP_NODISCARD etp_status etp_reply_columns(const etp_reply *reply,
                                                   etp_inspector_columns *out, etp_error *err);

// ---- tables ----

// Id of table INDEX of the report, in its order; empty behind the last. The caller disposes of
// *out.
ETP_API ETP_NODISCARD etp_status etp_reply_table_name(const etp_reply *reply, size_t index,
                                                      etp_buffer *out, etp_error *err);
ETP_API ETP_NODISCARD etp_status etp_analysis_table_name(const etp_analysis *analysis, size_t index,
                                                         etp_buffer *out, etp_error *err);
// The rows of the table ID (NULL: the main one): the columns that it has as CSV. Whole numbers are
// int64 (null beyond), numbers double, the rest text; a name that is taken gets "_2". ETP_USAGE: no
// such table.
ETP_API ETP_NODISCARD etp_status etp_reply_table(const etp_reply *reply, const char *id,
                                                 struct ArrowArrayStream *out, etp_error *err);
ETP_API ETP_NODISCARD etp_status etp_analysis_table(const etp_analysis *analysis, const char *id,
                                                    struct ArrowArrayStream *out, etp_error *err);

ETP_C_END

#endif
