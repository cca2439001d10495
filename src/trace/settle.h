// SPDX-License-Identifier: Apache-2.0
// Which times of a block may be held against each other. Delegates log what they like: spans inside
// spans, by the clock of a GPU or a DSP, in units that no file holds. Afterwards no part of a block
// is longer than its whole, in no execution.
#ifndef ETP_TRACE_SETTLE_H
#define ETP_TRACE_SETTLE_H

#include "trace/internal.h"
#include "trace/unit.h"

#define ETP_STEP_NS 1000 // the coarsest clock that a delegate logs by, that of XNNPACK

typedef struct etp_settle {
    etp_trace *trace;
    etp_trace_block *block;
    etp_trace_event *events;      // those of the block, with a tree by names and file order
    uint64_t *columns;            // the block's durations
    uint32_t *runs;               // the block's
    const etp_ticks *const *rows; // of each of its executions, by event; NULL: not recorded
    uint64_t step;                // ticks of the runtime in ETP_STEP_NS, by which clocks differ
    etp_ratio delegate;           // of delegates' clocks; den 0: their unit is unknown
    bool cycles;                  // it was told as cycles
    uint64_t slack_ns;            // a time is rounded by up to this (tables)
    etp_arena *arena;             // the trace's
} etp_settle;

// Executions with a damaged clock leave the block; it may have none afterwards.
void etp_settle_block(const etp_settle *s);

#endif
