// SPDX-License-Identifier: Apache-2.0
// What is known of a block while it is settled, and what the times of its events say about who lies
// in whom.
#ifndef ETP_TRACE_CONTAINMENT_H
#define ETP_TRACE_CONTAINMENT_H

#include "operators/delegates.h"
#include "trace/settle.h"

// Where parts exceed their whole in at most this part of the executions, those are damaged; where
// in more, the parts are not by the clock of the whole.
#define ETP_ODD_RUNS 4

typedef struct etp_settling {
    const etp_settle *s;
    etp_arena *scratch;
    size_t n;
    size_t run;              // the first sound execution of the block
    const etp_ticks *times;  // of that execution, NULL: not recorded
    const etp_ticks *latest; // of the last sound one
    uint8_t *clock;          // etp_span_clock
    bool *flat, *bad;        // by event; by execution
    size_t *sound, n_sound;  // executions that were not bad before clocks were told
    uint32_t *first, *next;  // parts of an event: index + 1
    uint64_t *sum;           // by execution
    bool long_runs;          // some event is longer than JUMP_NS of its execution
} etp_settling;

bool etp_settling_inside(const etp_settling *t, uint32_t part, uint32_t whole);

// What the runtime logs of an instruction.
bool etp_settling_is_runtimes(etp_event_kind kind);

// By its start and end it is over before WHOLE begins, or begins after it.
bool etp_settling_beside(const etp_settling *t, uint32_t event, uint32_t whole);

// RUN counts no more, for what EVENT shows. WHOLE: what is shorter than it, or ETP_NO_INDEX.
void etp_settling_leave_out(etp_settling *t, size_t run, uint32_t event, uint32_t whole,
                            bool crosses);

// Makes spans that lie in another one by their clock its parts, as the first and the last execution
// have it; where these differ, as one of them and that in the middle.
void etp_settling_contain(etp_settling *t);

// Withholds what crosses its neighbours or its whole.
void etp_settling_cross(etp_settling *t);

#endif
