// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof roofs`: what this machine can do at most.
#ifndef ETP_ANSWER_ROOFS_H
#define ETP_ANSWER_ROOFS_H

#include "base/json.h"
#include "report/report.h"
#include "roofs/roofs.h"

typedef struct etp_roofs_answer {
    const char *cpu, *governor; // governor "" unknown
    bool cached;                // measured earlier; not part of the document
    etp_roofs roofs;
} etp_roofs_answer;

// Takes the roofs of this CPU and governor from CACHE_DIR, or measures for SECONDS and puts them there.
// FRESH measures in any case. A cache that cannot be read is measured anew.
ETP_NODISCARD etp_status etp_roofs_here(const char *cache_dir, double seconds, bool fresh, etp_arena *arena,
                                        etp_roofs_answer *out, etp_error *err);
void etp_roofs_json(const void *answer, etp_json *j); // etprof.roofs/1
const etp_report *etp_roofs_report(const etp_roofs_answer *answer, etp_arena *arena);

#endif
