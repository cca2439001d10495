// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof rerun`: does a second session of the same plan give the same ratios?
#ifndef ETP_STUDY_RERUN_H
#define ETP_STUDY_RERUN_H

#include "compare/ab.h"
#include "document/fields.h"
#include "report/report.h"

// Ratios of two sessions differ by the machine's state too, not only by chance inside a session.
#define ETP_RERUN_MARGIN 0.05

typedef enum etp_rerun_verdict {
    ETP_RERUN_UNKNOWN,
    ETP_RERUN_REPRODUCED,
    ETP_RERUN_NOT
} etp_rerun_verdict;

typedef struct etp_rerun_ratio { // one: estimate with 95 % interval over k blocks
    double estimate, lo, hi;
    uint32_t blocks;
} etp_rerun_ratio;

typedef struct etp_rerun_row {
    const char *baseline, *candidate;
    etp_rerun_ratio first, second;
    etp_rerun_ratio change; // second ÷ first; blocks 0
    etp_rerun_verdict verdict;
    const char *why; // of an unknown verdict, else NULL
} etp_rerun_row;

typedef struct etp_rerun { // lives in the arena given to etp_rerun_compare
    etp_rerun_row *rows;   // as in the first session
    size_t n_rows;
    double margin;
    etp_rerun_verdict verdict; // of all: one "not" makes it not, else one unknown unknown
    bool other_runner;         // the runner is not the one of the first session
} etp_rerun;

// Welch's interval of the ratio of two ratios: "reproduced" when it lies within ±ln(1 + MARGIN),
// "not" when it lies outside altogether, else unknown.
etp_rerun_verdict etp_rerun_judge(const etp_rerun_ratio *first, const etp_rerun_ratio *second,
                                  double margin, etp_rerun_ratio *out_change);
ETP_NODISCARD etp_status etp_rerun_compare(const etp_ab *first, const etp_ab *second, double margin,
                                           etp_arena *arena, etp_rerun *out, etp_error *err);

extern const etp_document k_etp_rerun_document; // of etp_rerun
const etp_report *etp_rerun_report(const etp_rerun *rerun, etp_arena *arena);

#endif
