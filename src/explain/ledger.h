// SPDX-License-Identifier: Apache-2.0
// The ledger that closes: from the baseline's time to the candidate's in integer rows whose
// differences add up to the whole difference.
#ifndef ETP_EXPLAIN_LEDGER_H
#define ETP_EXPLAIN_LEDGER_H

#include "explain/align.h"

#define ETP_NS_UNKNOWN INT64_MIN // written as null

typedef struct etp_ledger_row {
    const char *id;       // "op3", "boundary", …; equal to the operator's id where there is one
    const char *label;    // for people
    etp_row_kind kind;
    int category;         // etp_category, -1 for rows that are no operator
    int64_t baseline_ns, candidate_ns, delta_ns;
    int64_t lo_ns, hi_ns; // 95 % interval of delta_ns over the blocks, ETP_NS_UNKNOWN below 2
    double ratio_lo, ratio_hi; // 95 % interval of baseline ÷ candidate, likewise; NAN: none
    double q;             // of the difference: Benjamini–Hochberg over the ledger's operators; NAN: none
    bool each_longer;     // no blocks, but each iteration of the candidate is longer than each of the baseline
    int64_t bound_ns;     // most that XNNPACK's truncation can have moved here, ETP_NS_UNKNOWN: n/a
    uint32_t pair;        // index of the alignment's pair, ETP_NO_INDEX for sums
} etp_ledger_row;

typedef struct etp_ledger {
    int64_t baseline_ns, candidate_ns, delta_ns; // Σ rows, exactly
    etp_ledger_row *items;
    size_t n, cap;
} etp_ledger;

// MEDIAN_NS are the ends from untraced launches, or ETP_NS_UNKNOWN for bare dumps, whose ends are
// the traced means (then there is no tracer row). Dumps of the two profiles pair up by index when
// both have the same number (blocks).
ETP_NODISCARD etp_status etp_ledger_build(const etp_profile *baseline, const etp_profile *candidate,
                                          const etp_alignment *alignment,
                                          int64_t baseline_median_ns, int64_t candidate_median_ns,
                                          etp_arena *arena, etp_ledger *out, etp_error *err);

// True when the operator's time grew beyond doubt: by more than 5 %, interval above 0, and q ≤ 0.05, so that
// of all operators claimed in a ledger one in twenty is wrong at most, however many there are.
bool etp_ledger_row_slower(const etp_ledger_row *row);
bool etp_ledger_row_faster(const etp_ledger_row *row); // shrank, by the same rule

#define ETP_LEDGER_ITERATIONS 5 // on either side, below which each_longer is not asked

// Rounded mean of Method::execute.
int64_t etp_profile_traced_ns(const etp_profile *p);

#endif
