// SPDX-License-Identifier: Apache-2.0
// Other programs on the CPUs: noticed in the launches, waited for before a block is spent on them.
#ifndef ETP_MEASURE_QUIET_H
#define ETP_MEASURE_QUIET_H

#include "measure/state.h"

// Adds what the iterations of the launch O of ARM waited for a CPU to SUM.
void etp_quiet_add(const etp_session *s, uint32_t arm, const etp_launch_outcome *o,
                   etp_run_wait *sum);
// Before BLOCK: where the launches since the last call waited, until other programs use less than a
// tenth of the CPUs, for as long as the session still has patience. Says what it does.
void etp_quiet_wait(etp_session *s, uint32_t block);

#endif
