// SPDX-License-Identifier: Apache-2.0
// Time by what contains what, for viewers of stacks: model, delegate, category, operator. Of one
// dump all its executions together, of two sides the means per inference of both.
#ifndef ETP_CONVERT_STACKS_H
#define ETP_CONVERT_STACKS_H

#include "base/index.h"
#include "base/sink.h"
#include "trace/ops.h"

#define ETP_STACK_FRAMES 5

typedef struct etp_stack {
    etp_str frames[ETP_STACK_FRAMES]; // outermost first
    size_t n_frames;
    uint64_t ns[2];
} etp_stack;

typedef struct etp_stacks {
    etp_str title, names[2];
    size_t n_sides;
    size_t executions; // of one dump: how many are in the times; 0: times are of one
    etp_stack *items;
    size_t n, cap;
    // What no stack can show: rows below zero, and what tracing itself costs.
    int64_t below_zero_ns[2], tracer_ns[2];
} etp_stacks;

typedef struct etp_delegates { // numbers for the calls of delegates, by first appearance
    etp_index index;
    struct etp_delegate_call {
        uint32_t block;
        int32_t chain, instruction;
        etp_str name; // "delegate #0"
    } *items;
    size_t n, cap;
} etp_delegates;

etp_str etp_delegates_name(etp_delegates *delegates, etp_arena *arena, uint32_t block,
                           int32_t chain, int32_t instruction);

// Operators of all executions, and what is left of Method::execute. CATEGORIES is parallel to
// TABLE's rows. Errors: ETP_NOMEM.
ETP_NODISCARD etp_status etp_stacks_of_trace(const etp_trace *trace, const etp_op_table *table,
                                             const char *const *categories, etp_str title,
                                             etp_arena *arena, etp_stacks *out, etp_error *err);

// Of two sides with both directions: the sides, what the second gains on the first, what it loses.
ETP_NODISCARD etp_status etp_stacks_speedscope(const etp_stacks *stacks, etp_arena *arena,
                                               etp_sink *sink, etp_error *err);
// One line a stack. Two sides have two columns; viewers draw the widths of the last one, so SWAP
// (baseline last) shows what vanished.
ETP_NODISCARD etp_status etp_stacks_folded(const etp_stacks *stacks, bool swap, etp_arena *arena,
                                           etp_sink *sink, etp_error *err);

#endif
