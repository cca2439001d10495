// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof roofs`: what a device can do at most.
#ifndef ETP_MACHINE_ROOFS_H
#define ETP_MACHINE_ROOFS_H

#include "report/report.h"
#include "session/roofs.h"

// For people.
const etp_report *etp_roofs_report(const etp_roofs_answer *answer, etp_arena *arena);
// All of them in one table "roofs", with medians, for CSV.
const etp_report *etp_roofs_rows(const etp_roofs_answer *answer, etp_arena *arena);

#endif
