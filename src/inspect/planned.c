// SPDX-License-Identifier: Apache-2.0
// Which planned buffers of a method are needed when, and how much of its arenas is in use at most.
// Delegates bring memory of their own, which no program says.
#include "inspect/inspect.h"

#define MOST_STEPS 100000000u // buffers × instructions, and × buffers

static uint64_t end_of(const etp_planned *b)
{
    return b->offset > UINT64_MAX - b->bytes ? UINT64_MAX : b->offset + b->bytes; // only claims
}

void etp_inspect_plan(const etp_method *m, etp_arena *arena, etp_inspect_planned *out)
{
    *out = (etp_inspect_planned){0};
    etp_planned *buffers = NULL;
    size_t n = etp_planned_of(m, arena, &buffers);
    if (n == 0 || m->n_instructions == 0) {
        return;
    }
    uint64_t steps = (uint64_t)n * ETP_MAX(n, m->n_instructions);
    for (uint32_t at = 0; at < m->n_instructions; at++) {
        const etp_instruction *in = &m->instructions[at];
        if (in->kind == ETP_INSTR_JUMP_FALSE && in->target <= in->index) {
            out->untold = "instructions are repeated";
            return;
        }
    }
    if (steps > MOST_STEPS) {
        out->untold = "there are too many instructions";
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out->kept_bytes += buffers[i].kept ? buffers[i].bytes : 0;
    }
    out->n_buffers = n;
    out->buffers = buffers;
    uint64_t *live = ETP_NEW_ARRAY(arena, uint64_t, m->n_instructions);
    for (uint32_t at = 0; at < m->n_instructions; at++) {
        // Buffers that share bytes count once.
        uint64_t sum = 0, end = 0;
        for (size_t i = 0; i < out->n_buffers; i++) {
            const etp_planned *b = &out->buffers[i];
            if (i == 0 || b->arena != b[-1].arena) {
                end = 0;
            }
            if (b->first <= at && at <= b->last && end_of(b) > end) {
                sum += end_of(b) - ETP_MAX(b->offset, end);
                end = end_of(b);
            }
        }
        live[at] = sum;
        out->peak = live[at] > live[out->peak] ? at : out->peak;
    }
    out->live = live;
    out->n_live = m->n_instructions;
}
