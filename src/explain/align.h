// SPDX-License-Identifier: Apache-2.0
// Structural alignment of two arms' operators.
//
// The arms run the same program, but XNNPACK renames operators with the CPU feature (F32 → PF32),
// swallows converts and inserts others, so rows are matched inside each instruction by what is
// invariant (operator family and layout, without data types) and by order. When both arms are
// joined to one program, rows match that did the same nodes; a row that one arm merged into another
// (fused clamp, swallowed convert) joins its group, so groups are many-to-many.
#ifndef ETP_EXPLAIN_ALIGN_H
#define ETP_EXPLAIN_ALIGN_H

#include "explain/profile.h"

typedef struct etp_aligned_pair {
    uint32_t baseline;  // row of the baseline's profile, ETP_NO_INDEX: inserted
    uint32_t candidate; // row of the candidate's profile, ETP_NO_INDEX: vanished
    double confidence;  // 0…1; below ETP_ALIGN_DOUBTFUL the pair is a guess and is shown as one
    uint32_t into;      // pair that does the work of this one-sided row: together they are one
                        // group; ETP_NO_INDEX: the pair stands for itself
    bool by_nodes;      // matched through the program, not by name and order
} etp_aligned_pair;

#define ETP_ALIGN_DOUBTFUL 0.7

typedef struct etp_alignment {
    etp_aligned_pair *items; // each operator row of both profiles exactly once, in program order
    size_t n, cap;
    bool same_skeleton; // both arms execute the same instructions
    bool two_programs;  // the arms are known to be of two programs; set by who knows it
} etp_alignment;

// Rows of kind operator and portable take part; boundary and framework rows are sums anyway. ARENA
// stands under a guard, here and below.
void etp_align(const etp_profile *baseline, const etp_profile *candidate, etp_arena *arena,
               etp_alignment *out);

// Makes the groups of several candidates agree about one baseline: baseline rows that any alignment
// joined into one group are one group in all. N_ROWS is of the baseline's profile.
void etp_align_agree(etp_alignment *alignments, size_t n, size_t n_rows, etp_arena *arena);

#endif
