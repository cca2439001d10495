// SPDX-License-Identifier: Apache-2.0
// What surrounded a block, and the list of what cannot be read.
#ifndef ETP_MEASURE_ENVIRONMENT_H
#define ETP_MEASURE_ENVIRONMENT_H

#include "measure/session.h"

typedef struct etp_block_environment {
    uint32_t block;
    const uint32_t *order; // arm indices
    uint32_t n_arms;
    uint32_t control_position;    // ETP_NO_INDEX: no control launch
    int64_t wall_start, wall_end; // seconds since 1970
    uint64_t cooled_ns;           // waited for the start temperature
    etp_os_state start, end;
} etp_block_environment;

// What environment.jsonl says of it; borrows from E.
etp_run_block etp_environment_block(const etp_block_environment *e);
// Facts and unreadable names into RUN.
ETP_NODISCARD etp_status etp_environment_describe(etp_device *device, etp_arena *arena,
                                                  etp_run *run, etp_error *err);
// What the runner can count there, as facts of RUN; "cycle counters" is unreadable where it cannot.
void etp_environment_counters(const etp_device_cpu *cpu, etp_arena *arena, etp_run *run);
// How long the machine was suspended during the block; UINT64_MAX unknown. Below ETP_SLEPT_NS the
// difference is one of reading two clocks.
#define ETP_SLEPT_NS ((uint64_t)50000000)
uint64_t etp_environment_slept_ns(const etp_block_environment *e);
// Seconds that the wall clock moved more than the steady one and sleep account for: it was set, or
// there was a sleep where none can be seen. 0: not so much that one would notice.
double etp_environment_jump_s(const etp_block_environment *e);

#endif
