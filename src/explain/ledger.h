// SPDX-License-Identifier: Apache-2.0
// The ledger that closes: from the baseline's time to the candidate's in integer rows whose
// differences add up to the whole difference.
#ifndef ETP_EXPLAIN_LEDGER_H
#define ETP_EXPLAIN_LEDGER_H

#include "base/number.h"
#include "explain/align.h"

typedef struct etp_ledger_row {
    const char *id;    // "op3", "boundary", …; equal to the operator's id where there is one
    const char *label; // for people
    etp_row_kind kind;
    etp_category category; // ETP_CATEGORY_COUNT: of no operator
    int64_t baseline_ns, candidate_ns, delta_ns;
    int64_t lo_ns, hi_ns; // 95 % interval of delta_ns over the blocks, ETP_NS_UNKNOWN below 2
    // 95 % interval of baseline ÷ candidate, likewise; each end moved by what the clocks can have
    // cut off. NAN: none
    double ratio_lo, ratio_hi;
    int64_t truncation_ns[2]; // most that the clocks can have cut off the operator, baseline and
                              // candidate
    double p;                 // of no difference over the blocks, of this operator alone; NAN: none
    double q;      // of the difference: Benjamini–Hochberg over the ledger's operators; NAN: none
    bool there[2]; // the side has the operator; both of sums
    bool same;     // one operator in both arms: of one program, or of two with equal name and work
    bool each_longer; // no blocks, but each iteration of the candidate is longer than each of the
                      // baseline
    int64_t bound_ns; // most that XNNPACK's truncation can have moved here, ETP_NS_UNKNOWN: n/a
    bool ties;     // no time of an inference: leads from the kept traced executions to the untraced
                   // median
    uint32_t pair; // index of the alignment's pair, ETP_NO_INDEX for sums
    uint32_t op;   // of the answer's operators, once they are known; ETP_NO_INDEX likewise
} etp_ledger_row;

typedef struct etp_ledger {
    int64_t baseline_ns, candidate_ns, delta_ns; // Σ rows, exactly
    etp_ledger_row *items;
    size_t n, cap;
} etp_ledger;

// What a ledger ends at, of one side. All unknown for bare dumps, whose ends are the means of the
// kept executions.
typedef struct etp_ledger_end {
    int64_t median_ns;        // of untraced iterations
    int64_t traced_ns;        // of traced iterations by the same rule; ETP_NS_UNKNOWN
    int64_t call_overhead_ns; // a traced iteration less its Method::execute, ETP_NS_UNKNOWN
} etp_ledger_end;
#define ETP_LEDGER_BARE ((etp_ledger_end){ETP_NS_UNKNOWN, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN})

// Rows of operators, boundary and framework are means over the kept executions (profile.h). With
// ends, three more lead from there to the untraced median: "around" (the call of Method::execute),
// "iterations" (the median traced iteration less what the others add up to) and "tracer" (untraced
// less traced median). Where a side does not know its traced median, "tracer" is all of it. Dumps
// of the two profiles pair up by index when both have the same number (blocks).
// ARENA stands under a guard.
void etp_ledger_build(const etp_profile *baseline, const etp_profile *candidate,
                      const etp_alignment *alignment, const etp_ledger_end ends[2],
                      etp_arena *arena, etp_ledger *out);

// One side did not log what the other did: what one of them lacks may have run there.
void etp_ledger_mark_one_sided(etp_ledger *ledger);

// Takes away what says that a row differs: intervals, chances, comparisons of iterations. Times
// stay, so that the ledger adds up.
void etp_ledger_withhold(etp_ledger *l);

// True when the operator's time grew beyond doubt: it is the same on both sides, by more than 5 %
// and than its clock can have cut off, interval above 0, and q ≤ 0.05, so that of all operators
// claimed in a ledger one in twenty is wrong at most, however many there are.
bool etp_ledger_row_slower(const etp_ledger_row *row);
bool etp_ledger_row_faster(const etp_ledger_row *row); // shrank, by the same rule
// Of the rows that COUNT the MOST that grew most, the first of them first, NULL behind them;
// returns how many count.
size_t etp_ledger_worst(const etp_ledger *l, bool (*count)(const etp_ledger_row *row),
                        const etp_ledger_row **out, size_t most);

// (NS + CUT_NS) ÷ NS: how much longer a time can be whose clock cut off up to CUT_NS; infinite for
// 0.
double etp_cut_factor(double ns, double truncation_ns);

#define ETP_LEDGER_ITERATIONS 5 // on either side, below which each_longer is not asked

// Rounded mean of Method::execute over the kept executions.
int64_t etp_profile_traced_ns(const etp_profile *p);

#endif
