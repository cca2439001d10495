// SPDX-License-Identifier: Apache-2.0
// The counters' part of an answer, of `ab` and `stats` alike.
#ifndef ETP_SHOW_COUNTERS_H
#define ETP_SHOW_COUNTERS_H

#include "compare/counters.h"
#include "document/fields.h"
#include "report/report.h"

// The objects "counters" of an arm and of a comparison; NULL, and null, where not counted.
extern const etp_shape k_etp_counters_arm, k_etp_counters_split;
const etp_counters_arm *etp_counters_arm_at(const etp_counters *c, size_t arm);
const etp_clock_split *etp_counters_split_at(const etp_counters *c, size_t comparison);

typedef struct etp_counters_names {
    const char *baseline, *candidate;
    uint32_t baseline_arm, candidate_arm;
    bool withheld;
    double margin;    // of the session
} etp_counters_names; // of a comparison

// The section "Cycles and clock"; nothing where the folder does not tell.
void etp_counters_section(const etp_counters *c, const etp_counters_names *comparisons, size_t n,
                          etp_report *r, etp_arena *arena);

#endif
