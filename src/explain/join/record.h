// SPDX-License-Identifier: Apache-2.0
// Does a record belong to a recording?
#ifndef ETP_EXPLAIN_JOIN_RECORD_H
#define ETP_EXPLAIN_JOIN_RECORD_H

#include <etprof/trace.h>

#include "program/belong.h"

// Each block against the method that it fits best. ARENA stands under a guard.
void etp_record_is_of(const etp_trace *trace, const etp_etrecord *record, etp_arena *arena,
                      etp_belonging *out);

#endif
