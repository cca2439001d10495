// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof gate --list`: run folders that have a name, and whether each is still
// there.
#ifndef ETP_STUDY_GATE_BASELINES_H
#define ETP_STUDY_GATE_BASELINES_H

#include "document/fields.h"
#include "report/report.h"
#include "store/store.h"

extern const etp_document k_etp_baselines_document; // of etp_baselines
const etp_report *etp_baselines_report(const etp_baselines *list, etp_arena *arena);

#endif
