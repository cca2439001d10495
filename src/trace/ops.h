// SPDX-License-Identifier: Apache-2.0
// Statistics of the operators of a trace: one row per operator of each event block, in file order.
//
// An operator is a delegate's operator, a portable kernel (native_call_…), or an OPERATOR_CALL or
// DELEGATE_CALL that holds neither of them. No operator contains another one, so rows can be added.
#ifndef ETP_TRACE_OPS_H
#define ETP_TRACE_OPS_H

#include <etprof/trace.h>

typedef struct etp_op_row {
    uint32_t block; // index in the trace
    uint32_t event; // index in the block
    size_t calls;   // executions
    // Percentiles by linear interpolation between order statistics ("type 7"), like the mean
    // rounded to whole nanoseconds, halves up.
    uint64_t min_ns, p50_ns, p90_ns, mean_ns, max_ns, total_ns;
} etp_op_row;

typedef struct etp_op_table {
    const etp_op_row *rows; // in the arena given to etp_ops_compute
    size_t n_rows;
    // Over the executions that have exactly one Method::execute:
    size_t executions;
    int64_t execute_ns;   // their Method::execute
    int64_t operators_ns; // operators inside it
    int64_t remainder_ns; // execute_ns - operators_ns, exactly; negative when clocks disagree
    int64_t delegated_ns; // of operators_ns: operators of delegates
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
