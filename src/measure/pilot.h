// SPDX-License-Identifier: Apache-2.0
// Per-arm counts of a session, from one trial launch of each arm.
#ifndef ETP_MEASURE_PILOT_H
#define ETP_MEASURE_PILOT_H

#include "measure/launch.h"

// Fixed for the whole session before its first block, so that all blocks are alike.
typedef struct etp_arm_counts {
    uint64_t warmup, iterations, traced;
    uint64_t iteration_ns;                  // typical, 0 unknown
    uint64_t timed_wall_ns, traced_wall_ns; // expected of one launch, 0 unknown
} etp_arm_counts;

// The counts that follow from a trial launch. Fixed numbers of the plan win.
etp_arm_counts etp_pilot_counts(const etp_session_plan *plan, const etp_launch_outcome *trial,
                                double *scratch);
// Counts without any trial: everything is fixed by the plan.
bool etp_pilot_needed(const etp_session_plan *plan);
etp_arm_counts etp_pilot_fixed(const etp_session_plan *plan);

// Length of the trial's warm-up and its number of timed iterations.
#define ETP_PILOT_WARMUP_NS ((uint64_t)200000000)
#define ETP_PILOT_ITERATIONS 10

#endif
