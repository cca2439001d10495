// SPDX-License-Identifier: Apache-2.0
// What operators of both arms take, in the whole programs.
#ifndef ETP_NUMERICS_TIMES_H
#define ETP_NUMERICS_TIMES_H

#include "explain/nodes.h"
#include "numerics/arms.h"
#include "report/report.h"

typedef struct etp_arm_times {
    etp_profile *profiles[2]; // NULL: none, as of PyTorch
    double whole_ns[2];       // of a traced execution, NAN likewise
    double waited;            // for a CPU, share of the time; NAN: not known
    const char *untimed;      // why there are no times, NULL: there are
} etp_arm_times;

// Launches both programs in turns with their tracer. The arena of ARMS is guarded.
ETP_NODISCARD etp_status etp_arm_times_measure(etp_arms *arms, etp_arm_times *out);
// Of the operator at PLACE of WHICH; NAN: not known, or it ran as a part of another.
double etp_arm_times_of(const etp_arms *arms, const etp_arm_times *times, int which,
                        uint32_t place);
// Why there are none, and what is wrong with those there are.
void etp_arm_times_say(const char *untimed, double waited, etp_report *r);

#endif
