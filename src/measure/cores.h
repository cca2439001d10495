// SPDX-License-Identifier: Apache-2.0
// Where launches may run, and what their cores share.
#ifndef ETP_MEASURE_CORES_H
#define ETP_MEASURE_CORES_H

#include "measure/state.h"

// Notes when an arm at an SME level has more threads than its CPUs have SME units, as far as the
// facts tell.
void etp_cores_units(etp_session *s);
// "8 threads on 2 CPUs": an arm has more threads than CPUs are allowed; NULL: not so, or not known.
const char *etp_cores_crowded(etp_session *s);
// Notes when a launch of ARM was ALLOWED (from /proc; empty: not read) on other CPUs than --cpus
// names.
void etp_cores_check(etp_session *s, uint32_t arm, etp_str allowed);

#endif
