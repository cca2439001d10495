// SPDX-License-Identifier: Apache-2.0
// Structural alignment of two arms' operators.
//
// The arms run the same program, but XNNPACK renames operators with the CPU feature (F32 → PF32),
// swallows converts and inserts others, so rows are matched inside each instruction by what is
// invariant (operator family and layout, without data types) and by order.
#ifndef ETP_EXPLAIN_ALIGN_H
#define ETP_EXPLAIN_ALIGN_H

#include "explain/profile.h"

typedef struct etp_pair {
    uint32_t baseline;  // row of the baseline's profile, ETP_NO_INDEX: inserted
    uint32_t candidate; // row of the candidate's profile, ETP_NO_INDEX: vanished
    double confidence;  // 1: same name up to data types at the same place; lower: moved or guessed
} etp_pair;

typedef struct etp_alignment {
    etp_pair *items; // each operator row of both profiles exactly once, in program order
    size_t n, cap;
    bool same_skeleton; // both arms execute the same instructions
} etp_alignment;

// Rows of kind operator and portable take part; boundary and framework rows are sums anyway.
ETP_NODISCARD etp_status etp_align(const etp_profile *baseline, const etp_profile *candidate,
                                   etp_arena *arena, etp_alignment *out, etp_error *err);

#endif
