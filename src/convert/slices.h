// SPDX-License-Identifier: Apache-2.0
// What trace viewers draw: slices in time on the tracks of one or two processes, arrows between
// slices, one counter. Made from a dump or from two aligned sides, written by one file per format.
//
// Everything lives in the arena that was given; names borrow from what they were made of.
#ifndef ETP_CONVERT_SLICES_H
#define ETP_CONVERT_SLICES_H

#include <etprof/trace.h>

#include "base/sink.h"
#include "trace/ops.h"

typedef enum etp_side_verdict { // on an operator, of the candidate
    ETP_SIDE_NONE,              // a sum, or of one side alone
    ETP_SIDE_FASTER,
    ETP_SIDE_SLOWER,
    ETP_SIDE_SAME,
    ETP_SIDE_UNKNOWN,
    ETP_SIDE_INSERTED,
    ETP_SIDE_VANISHED,
    ETP_SIDE_VERDICTS
} etp_side_verdict;
const char *etp_side_verdict_name(etp_side_verdict v); // "faster"; NULL of ETP_SIDE_NONE

typedef struct etp_slice_arg {
    const char *key;
    etp_str text; // ptr NULL: `number` holds
    int64_t number;
} etp_slice_arg;

typedef struct etp_slice_args { // grows by etp_slice_text and etp_slice_number
    etp_slice_arg *items;
    size_t n, cap;
} etp_slice_args;

typedef struct etp_slice {
    uint64_t start_ns, ns;
    etp_str name;
    const char *category; // "GEMM", "framework"
    etp_side_verdict verdict;
    const etp_slice_args *args; // may be shared by many slices; NULL: none
    uint64_t run;               // which execution of the file, from 1; 0: a mean over all
    uint64_t flow;              // slices of equal number other than 0 are joined by an arrow
} etp_slice;

typedef struct etp_slice_track {
    const char *name;
    etp_slice *items; // ordered: what contains before what is contained, else by time
    size_t n, cap;
} etp_slice_track;

#define ETP_SLICE_TRACKS 2

typedef struct etp_slice_process {
    etp_str name;
    etp_slice_track tracks[ETP_SLICE_TRACKS]; // empty ones are not written
} etp_slice_process;

typedef struct etp_slice_point {
    uint64_t at_ns;
    int64_t value;
} etp_slice_point;

typedef struct etp_slices {
    etp_str title;
    etp_slice_process processes[2];
    size_t n_processes;
    const char *counter; // its name, on the last process; NULL: none
    struct {
        etp_slice_point *items; // by time
        size_t n, cap;
    } points;
    size_t unclocked; // executions whose recorded times do not nest: drawn by their durations
} etp_slices;

bool etp_slice_text(etp_slice_args *args, etp_arena *arena, const char *key, etp_str text);
bool etp_slice_number(etp_slice_args *args, etp_arena *arena, const char *key, int64_t number);

typedef struct etp_slice_op { // of one row of an etp_op_table
    const char *category;
    etp_slice_args args;
} etp_slice_op;

// Every execution of TRACE at the time it was recorded; OPS is parallel to TABLE's rows. Operators
// of delegates have no clock that could be compared with that of the others (XNNPACK's are
// durations laid end to end): they have a track of their own, from the start of their delegate's
// call on. Errors: ETP_NOMEM.
ETP_NODISCARD etp_status etp_slices_of_trace(const etp_trace *trace, const etp_op_table *table,
                                             const etp_slice_op *ops, etp_str title,
                                             etp_arena *arena, etp_slices *out, etp_error *err);

// Chrome's trace event format, JSON. ARENA is for scratch.
ETP_NODISCARD etp_status etp_slices_chrome(const etp_slices *slices, etp_arena *arena,
                                           etp_sink *sink, etp_error *err);

#endif
