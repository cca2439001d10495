// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof plan`: how long to measure for a wanted precision, from what a session or a
// few blocks of it showed.
#ifndef ETP_STUDY_STATS_PLAN_H
#define ETP_STUDY_STATS_PLAN_H

#include <etprof/stats.h>

#include "base/json.h"
#include "document/fields.h"
#include "report/report.h"

#define ETP_PLAN_STEPS 6

typedef struct etp_plan_step {
    double precision; // wanted, relative
    etp_plan plan;
} etp_plan_step;

typedef struct etp_plan_comparison {
    uint32_t baseline, candidate;
    etp_pilot pilot;
    uint32_t launches;     // that tell how much launches differ
    double half_width_rel; // reached by the pilot's blocks
    etp_plan_step wanted;
    etp_plan_step steps[ETP_PLAN_STEPS]; // for 5 % down to 0.1 %
    size_t n_steps;
} etp_plan_comparison;

typedef struct etp_plan_answer {
    const char *source;
    const char *phase, *phases; // of a session of several that this is about, and all; set by the
                                // caller, NULL: none
    const etp_str *names;
    const etp_str *called; // what people read instead; set by the caller, else the names
    double precision;      // relative
    bool launch_known;     // else launch_ns is an assumption
    etp_plan_comparison *comparisons;
    size_t n_comparisons;
} etp_plan_answer;

// STATS, NAMES and SOURCE must outlive *out. launch_ns NAN: half a second is assumed. ETP_UNKNOWN
// when no comparison has two complete blocks.
ETP_NODISCARD etp_status etp_plan_answer_build(const etp_stats *stats, const etp_str *names,
                                               const char *source, double precision,
                                               double launch_ns, etp_arena *arena,
                                               etp_plan_answer *out, etp_error *err);
extern const etp_document k_etp_plan_document; // of etp_plan_answer
void etp_plan_json(const void *answer, etp_json *j);
const etp_report *etp_plan_report(const etp_plan_answer *answer, etp_arena *arena);

#endif
