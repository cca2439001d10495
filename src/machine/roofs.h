// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof roofs`: what a device can do at most.
#ifndef ETP_MACHINE_ROOFS_H
#define ETP_MACHINE_ROOFS_H

#include "report/report.h"
#include "session/roofs.h"

// A roof of more threads that is lower than one of fewer: something else was running. Their number.
size_t etp_roofs_disturbed(const etp_roof_table *roofs);

const etp_report *etp_roofs_report(const etp_roofs_answer *answer, etp_arena *arena);

#endif
