// SPDX-License-Identifier: Apache-2.0
// One arm's executions summed into rows whose exclusive times add up to Method::execute exactly.
//
// A row is one event of the program: (chain, instruction, name, occurrence within the execution).
// Executions with different event lists (control flow) fall together: an event that an execution
// does not have adds nothing to its row. Sums are integer nanoseconds, so nothing is lost.
//
// Sums are over the *kept* executions: those around the median of their launch. An execution is
// kept or left out as a whole, so parts still add up to wholes, and one that the system interrupted
// is in none of them.
#ifndef ETP_EXPLAIN_PROFILE_H
#define ETP_EXPLAIN_PROFILE_H

#include <etprof/operators.h>
#include <etprof/trace.h>

#include "base/choice.h"

// The middle quarter of a launch's executions is kept; where that is fewer than this, the middle
// half, up to this; of as many or more those alone that are no farther from the median than a tenth
// of it, or three times as far as half of all.
#define ETP_PROFILE_KEEP_LEAST 8u

#define ETP_CLOCK_CUT_NS 1000 // XNNPACK's timers cut off less than this

typedef enum etp_row_kind { // kinds of a ledger row
    ETP_ROW_OPERATOR,       // an operator of a delegate
    ETP_ROW_INSERTED,       // an operator that only the candidate has
    ETP_ROW_VANISHED,       // an operator that only the baseline has
    ETP_ROW_ONE_SIDED,      // an operator that one side alone logged: the other may have run it
    ETP_ROW_PORTABLE,       // a kernel outside any delegate
    ETP_ROW_BOUNDARY,       // DELEGATE_CALL minus its operators
    ETP_ROW_FRAMEWORK,      // everything else inside Method::execute
    ETP_ROW_TRACER,         // untraced median minus traced mean
    ETP_ROW_UNEXPLAINED     // events the rules above do not cover
} etp_row_kind;

static inline bool etp_row_is_operator(etp_row_kind kind)
{
    return kind == ETP_ROW_OPERATOR || kind == ETP_ROW_PORTABLE;
}

const char *etp_row_kind_name(etp_row_kind kind);
// Of an event inside Method::execute: OPERATOR, PORTABLE, BOUNDARY, FRAMEWORK or UNEXPLAINED.
etp_row_kind etp_row_kind_of(const etp_trace_event *event);

typedef struct etp_profile_place { // an event of a block of a dump
    uint32_t dump, block, event;
} etp_profile_place;

typedef struct etp_profile_row {
    etp_str name;
    etp_op_name parsed; // of `name`
    etp_str kernel;     // symbol of its micro-kernel, which newer XNNPACK logs; empty: not logged
    etp_event_kind event;
    etp_row_kind kind; // OPERATOR, PORTABLE, BOUNDARY, FRAMEWORK or UNEXPLAINED
    bool delegated;
    bool silent; // a delegate's call of which nothing but its time is known
    int32_t chain, instruction;
    uint32_t occurrence;     // 0 for the first event of this name in its instruction
    uint32_t call;           // row of the delegate call that it is a part of, ETP_NO_INDEX
    int64_t total_ns;        // exclusive, over the kept executions of all dumps
    int64_t all_ns;          // likewise, over all executions
    uint64_t calls;          // samples, over all executions
    uint64_t min_ns, max_ns; // of them, its parts included
    bool whole_us;    // each of them is a whole number of microseconds: its clock cut off the rest
    uint64_t tick_ns; // what each may be off by, more or less (trace/ops.h)
    int64_t *per_dump_ns;     // [n_dumps] parts of total_ns
    int64_t *per_dump_all_ns; // [n_dumps] parts of all_ns
    // [n_dumps] what an execution usually spends in the event, its parts included; 0 none. Mean of
    // the kept executions, of few (where all are kept) of the middle half.
    double *per_dump_typical_ns;
    struct {
        etp_profile_place *items; // everywhere it is; the first is joined with a program
        size_t n, cap;
    } places;
} etp_profile_row;
typedef struct etp_profile_rows {
    const etp_profile_row **items;
    size_t n, cap;
} etp_profile_rows;

typedef struct etp_profile { // owned by the arena given to etp_profile_build
    etp_profile_row *rows;   // in file order of first appearance
    size_t n_rows;
    uint64_t executions;               // with Method::execute and kept, over all dumps
    int64_t execute_total_ns;          // Σ Method::execute of them = Σ rows.total_ns
    uint64_t *per_dump_executions;     // [n_dumps]
    int64_t *per_dump_execute_ns;      // [n_dumps]
    uint64_t all_executions;           // kept or not
    int64_t all_execute_ns;            // Σ Method::execute of all = Σ rows.all_ns
    uint64_t *per_dump_all_executions; // [n_dumps]
    int64_t *per_dump_all_execute_ns;  // [n_dumps]
    size_t n_dumps;
    // Of all executions: the calls of whose delegates spans are withheld because they overlap. What
    // holds such spans is shown by its own name, but whose its time is nobody knows.
    int64_t overlapping_ns;
    uint64_t tick_ns;         // of the runtime's clock, as of rows
    bool parts_withheld;      // parts of an inference itself: operators, calls of delegates
    bool places_guessed;      // instructions were counted up from a table that does not hold them
    const etp_trace **traces; // [n_dumps] as given
    const struct etp_profile_facts *facts; // nodes.h; NULL without a program
} etp_profile;

// Sums every execution that has Method::execute, of populations the most frequent. TRACES (one per
// dump) must outlive the profile. ETP_UNKNOWN when no execution has one.
ETP_NODISCARD etp_status etp_profile_build(const etp_trace *const *traces, size_t n_traces,
                                           etp_arena *arena, etp_profile *out, etp_error *err);

// Order of instructions.
int etp_profile_by_place(const etp_profile_row *a, const etp_profile_row *b);
// OUT (n_rows): the rows that are operators, in program order: opN is the N-th in every answer
// about these recordings alone. How many. ARENA stands under a guard.
size_t etp_profile_operators(const etp_profile *p, etp_arena *arena, uint32_t *out);

// The samples of ROW (its `calls`, its parts included), dump by dump; at most CAP of them. How
// many.
size_t etp_profile_samples(const etp_profile *p, const etp_profile_row *row, uint64_t *out,
                           size_t cap);

// Most that the clock of ROW can have cut off an execution, on average; 0 for a clock of
// nanoseconds. Where it counts ticks, as much may be too much.
static inline int64_t etp_profile_cut_ns(const etp_profile *p, const etp_profile_row *row)
{
    uint64_t runs = ETP_MAX(p->all_executions, 1), objects = (row->calls + runs - 1) / runs;
    uint64_t each = row->event == ETP_EVENT_DELEGATE_OP && row->whole_us ? ETP_CLOCK_CUT_NS : 0;
    return (int64_t)(objects * ETP_OR(row->tick_ns, each));
}

// Mean over all executions, as the Inspector's tables have it.
static inline double etp_profile_all_mean(const etp_profile *p, const etp_profile_row *row)
{
    return (double)row->all_ns / (double)p->all_executions;
}

// Whether a row's time may be anything: of a delegate's call that logged nothing, or that hides
// what it did beside its operators (trace/ops.h).
bool etp_profile_row_hides(const etp_profile *p, size_t row);
// Mean over the kept executions, as a double for rounding by largest remainder.
static inline double etp_profile_mean(const etp_profile *p, const etp_profile_row *row)
{
    return (double)row->total_ns / (double)p->executions;
}

#endif
