// SPDX-License-Identifier: Apache-2.0
// Statistics of the operators of a trace: one row per operator of each event block, in file order.
//
// An operator is a delegate's operator, a portable kernel (native_call_…), or an OPERATOR_CALL or
// DELEGATE_CALL that holds neither of them; of spans of a delegate that lie in each other the
// innermost, and none of what it logs while it is loaded. What a call hides beside its operators is
// a row too. No row contains another one's time, so rows can be added.
#ifndef ETP_TRACE_OPS_H
#define ETP_TRACE_OPS_H

#include <etprof/trace.h>

typedef struct etp_op_row {
    uint32_t block; // index in the trace
    uint32_t event; // index in the block
    size_t calls;   // executions
    bool rest;      // of a delegate's call, what it hides beside its operators
    // Percentiles by linear interpolation between order statistics ("type 7"), like the mean
    // rounded to whole nanoseconds, halves up.
    uint64_t min_ns, p50_ns, p90_ns, mean_ns, max_ns, total_ns;
} etp_op_row;

typedef enum etp_op_span_kind {
    ETP_OP_SPAN_WHOLE, // of a delegate, around other spans
    ETP_OP_SPAN_LOAD,  // logged while the delegate was loaded
    ETP_OP_SPAN_APART  // etp_apart: by another clock, or longer than what it is a part of
} etp_op_span_kind;

typedef struct etp_op_span { // what a delegate logged besides operators
    uint32_t block, event;
    etp_op_span_kind kind;
    size_t calls;
    uint64_t total; // nanoseconds; of APART ticks as recorded, whatever they count
    // WHOLE: of Method::execute. LOAD: of what was loaded. APART: of all that its call logged
    // apart in its unit.
    double share;
} etp_op_span;

typedef struct etp_op_call {      // a delegate's call, over some executions
    int64_t beside_ns, logged_ns; // beside the operators in it, and in them
    size_t operators;
    bool foreign; // one of them is not XNNPACK's
} etp_op_call;

// Whether what it took beside its operators may have been anything: always where others than
// XNNPACK logged them; of XNNPACK's where it is longer than setting up takes, an eighth of their
// time among it, and clocks of whole microseconds cut off.
bool etp_op_call_hides(const etp_op_call *call, uint64_t executions);
// The same words in every answer, with both times.
#define ETP_OPS_UNLOGGED "%s inside calls of delegates have no event with a time, %s have"

// What is shown for such time: "inside BACKEND, not logged"; BACKEND may be empty.
etp_str etp_ops_unlogged(etp_str backend, etp_arena *arena);

// From which time on an execution of BLOCK is far from the usual: above twice the median.
// UINT64_MAX where so few were recorded that none is left out. ARENA stands under a guard.
uint64_t etp_ops_far_ns(const etp_trace_block *block, etp_arena *arena);

// What the duration of EVENT may be off by, more or less: a tick that is longer than a nanosecond;
// 0: none.
uint64_t etp_ops_tick_ns(const etp_trace *trace, const etp_trace_event *event);

// An interpreter's instruction, timed from outside.
bool etp_ops_is_call(const etp_trace_event *event);
// A call in which nothing is logged that could be held against its time.
bool etp_ops_is_silent(const etp_trace_event *event);
// Part of a delegate's work: an operator of it, or its call as a whole.
bool etp_ops_is_delegated(const etp_trace_event *event);

typedef struct etp_op_table {
    const etp_op_row *rows; // in the arena given to etp_ops_compute
    size_t n_rows;
    const etp_op_span *spans; // in file order; none by etp_ops_means
    size_t n_spans;
    // Over the executions that have exactly one Method::execute:
    size_t executions;
    int64_t execute_ns;   // their Method::execute
    int64_t operators_ns; // operators inside it
    int64_t remainder_ns; // execute_ns - operators_ns, exactly; never below 0
    int64_t delegated_ns; // of operators_ns: operators of delegates
    int64_t unlogged_ns;  // of delegated_ns: in calls that logged nothing, or hide the rest
    int64_t boundary_ns;  // of remainder_ns: in delegates' calls and spans, beside what is in them
} etp_op_table;

// OUT (n_events): which events of BLOCK are operators by the definition above.
void etp_ops_mark(const etp_trace_block *block, bool *out);

// Whether the table that Inspector saves is without the events called NAME: those with
// OPERATOR_CALL anywhere in it, also an operator of a backend that calls it so.
bool etp_ops_left_out(etp_str name);

// Errors: ETP_NOMEM.
ETP_NODISCARD etp_status etp_ops_compute(const etp_trace *trace, etp_arena *arena,
                                         etp_op_table *out, etp_error *err);

// As etp_ops_compute, with p50_ns and p90_ns 0: they take most of its time.
ETP_NODISCARD etp_status etp_ops_means(const etp_trace *trace, etp_arena *arena, etp_op_table *out,
                                       etp_error *err);

// The K-th smallest (0-based) of the N values, all of them within [LO, HI]. SCRATCH: room for N.
// Linear time for any input: every round looks at 8 bits more.
uint64_t etp_ops_select(const uint64_t *values, size_t n, size_t k, uint64_t lo, uint64_t hi,
                        uint64_t *scratch);

#endif
