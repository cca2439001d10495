// SPDX-License-Identifier: Apache-2.0
// "What if": recomputes one arm's inference with some operators changed, by plain addition. And
// the rows and the formula behind one sentence of an answer.
#ifndef ETP_JUDGE_FIXES_WHATIF_H
#define ETP_JUDGE_FIXES_WHATIF_H

#include "compare/ab.h"
#include "document/fields.h"
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
    etp_texts noticed;
    int64_t now_ns, then_ns; // traced inference
    bool fixes;              // some are among the steps: then lies between the next two
    bool open;               // of one of these only the range is known: then, and the gain, are not
    bool unresolved;         // what is changed is shorter than its clock tells: no ratio
    bool waited;             // the arm waited for a CPU for too much of its time: no ratio
    bool twice;              // two changes are about one operator, one of them a fix
    int64_t least_ns, most_ns;
    double speedup, lo, hi; // now ÷ then; the interval NAN below 2 blocks
    size_t blocks;
    bool uses_roofs;
    double against_baseline; // baseline ÷ then, NAN without a comparison
} etp_whatif;

// Expressions: "fix N1" or "N1", "drop GLOB", "back GLOB" (to the baseline's time), "GLOB at-roof",
// "scale GLOB N" (N times faster), "threads N". Globs (* and ?) match labels, names, categories and
// ids, in any case. ETP_USAGE for what cannot be understood or has no data, ETP_UNKNOWN without a
// trace.
ETP_NODISCARD etp_status etp_whatif_build(const etp_ab *ab, const char *const *expressions,
                                          size_t n, etp_whatif *out, etp_error *err);
extern const etp_document k_etp_whatif_document; // of etp_whatif
const etp_report *etp_whatif_report(const etp_whatif *w, etp_arena *arena);

#endif
