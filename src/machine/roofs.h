// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof roofs`: what a device can do at most.
#ifndef ETP_MACHINE_ROOFS_H
#define ETP_MACHINE_ROOFS_H

#include "report/report.h"
#include "session/roofs.h"

const etp_report *etp_roofs_report(const etp_roofs_answer *answer, etp_arena *arena);

#endif
