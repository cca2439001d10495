// SPDX-License-Identifier: Apache-2.0
// Two aligned sides as others draw them: the rows of a ledger, in its order.
#ifndef ETP_CONVERT_SIDES_H
#define ETP_CONVERT_SIDES_H

#include "convert/slices.h"
#include "convert/stacks.h"

typedef struct etp_side_row {
    const char *id; // of the ledger: "op3", "boundary"
    etp_str label;
    const char *category; // NULL: a sum, not an operator
    bool delegated, tracer;
    int32_t chain, instruction; // of operators
    etp_side_verdict verdict;
    bool there[2]; // false: this side has no such operator
    int64_t ns[2]; // per inference; sums may be negative
    etp_slice_args args[2];
} etp_side_row;

typedef struct etp_sides {
    etp_str title, names[2]; // of the model; baseline and candidate
    const etp_side_row *rows;
    size_t n_rows;
} etp_sides;

// Both processes begin at 0; rows follow one another. The counter has the ledger's difference so
// far, every row included, and ends at the whole of it. Errors: ETP_NOMEM.
ETP_NODISCARD etp_status etp_slices_of_sides(const etp_sides *sides, etp_arena *arena,
                                             etp_slices *out, etp_error *err);
ETP_NODISCARD etp_status etp_stacks_of_sides(const etp_sides *sides, etp_arena *arena,
                                             etp_stacks *out, etp_error *err);

#endif
