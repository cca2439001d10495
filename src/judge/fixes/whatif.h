// SPDX-License-Identifier: Apache-2.0
// "What if": recomputes one arm's inference with some operators changed, by plain addition. And
// the rows and the formula behind one sentence of an answer.
#ifndef ETP_JUDGE_FIXES_WHATIF_H
#define ETP_JUDGE_FIXES_WHATIF_H

#include "base/json.h"
#include "compare/ab.h"
#include "report/report.h"

typedef struct etp_whatif_step {
    const char *expression; // as given
    size_t operators;       // that it touched
    int64_t gain_ns;        // may be negative
} etp_whatif_step;

typedef struct etp_whatif {
    const etp_ab *ab;
    uint32_t arm;
    etp_whatif_step *steps;
    size_t n_steps;
    int64_t now_ns, then_ns; // traced inference
    double speedup, lo, hi;  // now ÷ then; the interval NAN below 2 blocks
    size_t blocks;
    bool uses_roofs;
    double against_baseline; // baseline ÷ then, NAN without a comparison
} etp_whatif;

// Expressions: "drop GLOB", "back GLOB" (to the baseline's time), "GLOB at-roof", "scale GLOB N"
// (N times faster), "threads N". Globs (* and ?) match labels, names, categories and ids, in any
// case. ETP_USAGE for what cannot be understood or has no data, ETP_UNKNOWN without a trace.
ETP_NODISCARD etp_status etp_whatif_build(const etp_ab *ab, const char *const *expressions,
                                          size_t n, etp_whatif *out, etp_error *err);
void etp_whatif_json(const void *whatif, etp_json *j);
const etp_report *etp_whatif_report(const etp_whatif *w, etp_arena *arena);

typedef struct etp_claim { // a finding, a fix, something ruled out, or an operator
    const etp_ab *ab;
    const char *id, *text, *formula, *recipe; // the last two may be NULL
    const char *const *evidence;
    size_t n_evidence;
    const etp_ab_operator *op; // the operator itself, else NULL
} etp_claim;

// ETP_USAGE with the known ids when there is no such claim.
ETP_NODISCARD etp_status etp_claim_find(const etp_ab *ab, const char *id, etp_claim *out,
                                        etp_error *err);
void etp_claim_json(const void *claim, etp_json *j);
const etp_report *etp_claim_report(const etp_claim *c, etp_arena *arena);

#endif
