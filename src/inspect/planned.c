// SPDX-License-Identifier: Apache-2.0
// Which planned buffers of a method are needed when, and how much of its arenas is in use at most.
// Delegates bring memory of their own, which no program says.
#include "inspect/inspect.h"

#include <inttypes.h>
#include <stdlib.h>

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

// ---- in words ----

// "12 aten::mean.out"
const char *etp_planned_at(const etp_method *m, uint32_t at, etp_arena *arena)
{
    etp_str op = m->instructions[at].op;
    return etp_arena_printf(arena, "%" PRIu32 " %.*s", at, op.len ? (int)op.len : 5,
                            op.len ? op.ptr : "moves");
}

static int by_bytes(const void *a, const void *b)
{
    const etp_planned *x = *(const etp_planned *const *)a, *y = *(const etp_planned *const *)b;
    return etp_order_then(ETP_ORDER(y->bytes, x->bytes), ETP_ORDER(x->value->id, y->value->id));
}

// Those needed at the instruction AT, ETP_NO_INDEX: all.
const etp_planned **etp_planned_largest(const etp_inspect_planned *p, uint32_t at, etp_arena *arena,
                                        size_t *out_n)
{
    const etp_planned **out = ETP_NEW_ARRAY(arena, const etp_planned *, p->n_buffers);
    *out_n = 0;
    for (size_t i = 0; i < p->n_buffers; i++) {
        const etp_planned *b = &p->buffers[i];
        if (at == ETP_NO_INDEX || (b->first <= at && at <= b->last)) {
            out[(*out_n)++] = b;
        }
    }
    if (*out_n > 1) {
        qsort(out, *out_n, sizeof *out, by_bytes);
    }
    return out;
}

const char *etp_planned_from(const etp_method *m, const etp_planned *b, etp_arena *arena)
{
    const char *from = b->given ? "input" : etp_planned_at(m, b->first, arena);
    return b->kept ? "an earlier call" : from;
}

const char *etp_planned_to(const etp_method *m, const etp_planned *b, etp_arena *arena)
{
    const char *to = b->handed ? "output" : etp_planned_at(m, b->last, arena);
    return b->kept ? "the next call" : to;
}
