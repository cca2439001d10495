// SPDX-License-Identifier: Apache-2.0
// Populations of executions.
#ifndef ETP_TRACE_MODES_H
#define ETP_TRACE_MODES_H

#include "trace/internal.h"

#define ETP_MODES 4 // most that one block parts into

// Blocks whose executions are several populations by their time, or by what was loaded before
// them, become one block for each, the fastest first. Numbers the populations of all blocks.
void etp_modes_split(etp_trace *trace, etp_arena *arena);

#endif
