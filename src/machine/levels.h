// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof levels`.
#ifndef ETP_MACHINE_LEVELS_H
#define ETP_MACHINE_LEVELS_H

#include "base/json.h"
#include "isa/isa.h"
#include "report/report.h"

typedef struct etp_levels {
    etp_isa_cpu cpu;
    etp_level best, plain; // the default comparison; ETP_LEVEL_NONE where there is none
    struct {
        etp_level level;
        etp_level_state state;
    } items[ETP_LEVEL_COUNT];
    size_t n;
} etp_levels;

void etp_levels_here(etp_levels *out);
void etp_levels_json(const void *levels, etp_json *j); // etprof.levels/1
const etp_report *etp_levels_report(const etp_levels *levels, etp_arena *arena);

#endif
