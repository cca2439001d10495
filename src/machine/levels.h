// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof doctor levels`.
#ifndef ETP_MACHINE_LEVELS_H
#define ETP_MACHINE_LEVELS_H

#include "document/fields.h"
#include "isa/isa.h"
#include "report/report.h"

typedef struct etp_levels_item {
    etp_level level;
    etp_level_state state;
} etp_levels_item;

// Available: this CPU has the features, and the runner code for them. Switchable: they can be
// hidden from a program here, which is what a level does.
typedef struct etp_levels {
    etp_isa_cpu cpu;
    etp_level best, plain; // the default comparison; ETP_LEVEL_NONE where there is none
    etp_levels_item items[ETP_LEVEL_COUNT];
    size_t n;
} etp_levels;

// BUNDLE: folder of the runner; NULL: what the CPU has alone counts.
ETP_NODISCARD etp_status etp_levels_here(const char *bundle, etp_levels *out, etp_error *err);
extern const etp_document k_etp_levels_document; // of etp_levels
const etp_report *etp_levels_report(const etp_levels *levels, etp_arena *arena);

#endif
