// SPDX-License-Identifier: Apache-2.0
// One arm's executions summed into rows whose exclusive times add up to Method::execute exactly.
//
// A row is one event of the program: (chain, instruction, name, occurrence within the execution).
// Executions with different event lists (control flow) fall together: an event that an execution
// does not have adds nothing to its row. Sums are integer nanoseconds, so nothing is lost.
#ifndef ETP_EXPLAIN_PROFILE_H
#define ETP_EXPLAIN_PROFILE_H

#include <etprof/operators.h>
#include <etprof/trace.h>

#define ETP_PROFILE_TYPICAL 512u

typedef enum etp_row_kind { // kinds of a ledger row
    ETP_ROW_OPERATOR,       // an operator of a delegate
    ETP_ROW_INSERTED,       // an operator that only the candidate has
    ETP_ROW_VANISHED,       // an operator that only the baseline has
    ETP_ROW_PORTABLE,       // a kernel outside any delegate
    ETP_ROW_BOUNDARY,       // DELEGATE_CALL minus its operators
    ETP_ROW_FRAMEWORK,      // everything else inside Method::execute
    ETP_ROW_TRACER,         // untraced median minus traced mean
    ETP_ROW_UNEXPLAINED     // events the rules above do not cover
} etp_row_kind;

const char *etp_row_kind_name(etp_row_kind kind);
// Of an event inside Method::execute: OPERATOR, PORTABLE, BOUNDARY, FRAMEWORK or UNEXPLAINED.
etp_row_kind etp_row_kind_of(const etp_trace_event *event);

typedef struct etp_profile_row {
    etp_str name;
    etp_op_name parsed; // of `name`
    etp_event_kind event;
    etp_row_kind kind; // OPERATOR, PORTABLE, BOUNDARY, FRAMEWORK or UNEXPLAINED
    bool delegated;
    int32_t chain, instruction;
    uint32_t occurrence;  // 0 for the first event of this name in its instruction
    int64_t total_ns;     // exclusive, over all executions of all dumps
    uint64_t calls;       // samples
    uint64_t min_ns, max_ns; // of them, its parts included
    int64_t *per_dump_ns; // [n_dumps] parts of total_ns
    // [n_dumps] what an execution usually spends in the event, its parts included: mean of the middle
    // half of up to ETP_PROFILE_TYPICAL executions of the dump's largest block that has it; 0 none.
    // Unlike the means it does not move when the system takes the CPU away for a while.
    double *per_dump_typical_ns;
    // Where it came from, for the join with a program: event index in the first block that had it.
    uint32_t dump, block, event_index;
} etp_profile_row;

typedef struct etp_profile { // owned by the arena given to etp_profile_build
    etp_profile_row *rows;   // in file order of first appearance
    size_t n_rows;
    uint64_t executions;       // with Method::execute, over all dumps
    int64_t execute_total_ns;  // Σ Method::execute = Σ rows.total_ns
    uint64_t *per_dump_executions; // [n_dumps]
    int64_t *per_dump_execute_ns;  // [n_dumps]
    size_t n_dumps;
    uint64_t skipped_executions; // without Method::execute: failed runs, load blocks
    bool places_guessed; // instructions were counted up from a table that does not hold them
    const struct etp_profile_facts *facts; // nodes.h; NULL without a program
} etp_profile;

// Sums every execution that has Method::execute. TRACES (one per dump) must outlive the profile.
// ETP_UNKNOWN when no execution has one.
ETP_NODISCARD etp_status etp_profile_build(const etp_trace *const *traces, size_t n_traces,
                                           etp_arena *arena, etp_profile *out, etp_error *err);

// Mean over the executions, as a double for rounding by largest remainder.
static inline double etp_profile_mean(const etp_profile *p, const etp_profile_row *row)
{
    return (double)row->total_ns / (double)p->executions;
}

#endif
