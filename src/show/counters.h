// SPDX-License-Identifier: Apache-2.0
// The counters' part of an answer, of `ab` and `stats` alike.
#ifndef ETP_SHOW_COUNTERS_H
#define ETP_SHOW_COUNTERS_H

#include "base/json.h"
#include "compare/counters.h"
#include "report/report.h"

// Members: "counters" of an arm and of a comparison, null where not counted.
void etp_counters_arm_json(const etp_counters *c, uint32_t arm, etp_json *j);
void etp_counters_split_json(const etp_counters *c, uint32_t comparison, bool withheld,
                             etp_json *j);

typedef struct etp_counters_names {
    const char *baseline, *candidate;
    uint32_t baseline_arm, candidate_arm;
    bool withheld;
} etp_counters_names; // of a comparison

// The section "Cycles and clock"; nothing where the folder does not tell.
void etp_counters_section(const etp_counters *c, const etp_counters_names *comparisons, size_t n,
                          etp_report *r, etp_arena *arena);

#endif
