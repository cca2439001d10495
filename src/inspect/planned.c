// SPDX-License-Identifier: Apache-2.0
// Which planned buffers of a method are needed when, and how much of its arenas is in use at most.
// Delegates bring memory of their own, which no program says.
#include <stdlib.h>

#include "inspect/inspect.h"

#define MOST_STEPS 100000000u // buffers × instructions, and × buffers

static uint64_t end_of(const etp_inspect_buffer *b)
{
    return b->offset > UINT64_MAX - b->bytes ? UINT64_MAX : b->offset + b->bytes; // only claims
}

static int by_place(const void *a, const void *b)
{
    const etp_inspect_buffer *x = a, *y = b;
    if (x->arena != y->arena) {
        return x->arena < y->arena ? -1 : 1;
    }
    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    return (x->value->id > y->value->id) - (x->value->id < y->value->id);
}

static void need(etp_inspect_buffer *buffers, const uint32_t *of_value, uint32_t value, uint32_t at,
                 bool read)
{
    if (of_value[value] == ETP_NO_INDEX) {
        return;
    }
    etp_inspect_buffer *b = &buffers[of_value[value]];
    if (!b->needed) {
        b->kept = read && !b->given;
        b->first = b->given ? 0 : at;
        b->needed = true;
    }
    b->last = at;
}

static bool overlap(const etp_inspect_buffer *a, const etp_inspect_buffer *b)
{
    return a->arena == b->arena && a->offset < end_of(b) && b->offset < end_of(a);
}

// What is read before an instruction has written it was left by an earlier call, or is a view: the
// bytes of a tensor that was needed before, which are then needed on from there.
static void tell_views(etp_inspect_buffer *buffers, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        etp_inspect_buffer *b = &buffers[i];
        uint32_t since = ETP_NO_INDEX;
        for (uint32_t k = 0; b->kept && k < n; k++) {
            const etp_inspect_buffer *other = &buffers[k];
            if (k == i || !other->needed || other->first >= b->first || !overlap(b, other)) {
                continue;
            }
            uint32_t last = other->last < b->first ? other->last : b->first;
            since = since == ETP_NO_INDEX || last > since ? last : since;
        }
        if (since != ETP_NO_INDEX) {
            b->kept = false;
            b->first = since;
        }
    }
}

static void need_operands(const etp_method *m, etp_inspect_buffer *buffers,
                          const uint32_t *of_value)
{
    for (uint32_t at = 0; at < m->n_instructions; at++) {
        const etp_instruction *in = &m->instructions[at];
        for (uint32_t i = 0; i < in->n_inputs; i++) {
            need(buffers, of_value, in->inputs[i], at, true);
        }
        for (uint32_t i = 0; i < in->n_outputs; i++) {
            need(buffers, of_value, in->outputs[i], at, false);
        }
        if (in->kind == ETP_INSTR_MOVE) {
            const etp_pte_chain *chain = &m->pte->chains[in->chain];
            need(buffers, of_value, chain->instructions[in->index].index, at, true);
            need(buffers, of_value, in->target, at, false);
        }
    }
}

static bool repeats(const etp_method *m)
{
    for (uint32_t at = 0; at < m->n_instructions; at++) {
        const etp_instruction *in = &m->instructions[at];
        if (in->kind == ETP_INSTR_JUMP_FALSE && in->target <= in->index) {
            return true;
        }
    }
    return false;
}

// Buffers that share bytes count once.
static uint64_t in_use(const etp_inspect_planned *p, uint32_t at)
{
    uint64_t sum = 0, end = 0;
    for (size_t i = 0; i < p->n_buffers; i++) {
        const etp_inspect_buffer *b = &p->buffers[i];
        if (i == 0 || b->arena != b[-1].arena) {
            end = 0;
        }
        if (b->first <= at && at <= b->last && end_of(b) > end) {
            sum += end_of(b) - (b->offset > end ? b->offset : end);
            end = end_of(b);
        }
    }
    return sum;
}

void etp_inspect_plan(const etp_method *m, etp_arena *arena, etp_inspect_planned *out)
{
    *out = (etp_inspect_planned){0};
    etp_inspect_buffer *buffers = ETP_NEW_ARRAY(arena, etp_inspect_buffer, m->n_values);
    uint32_t *of_value = ETP_NEW_ARRAY(arena, uint32_t, m->n_values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_values; i++) {
        const etp_evalue *v = &m->pte->values[i];
        bool planned = v->kind == ETP_EVALUE_TENSOR && v->u.tensor->has_allocation &&
                       m->values[i].bytes != ETP_BYTES_UNKNOWN;
        of_value[i] = planned ? n : ETP_NO_INDEX;
        if (planned) {
            buffers[n++] = (etp_inspect_buffer){.value = &m->values[i],
                                                .bytes = m->values[i].bytes,
                                                .arena = v->u.tensor->memory_id,
                                                .offset = v->u.tensor->memory_offset};
        }
    }
    if (n == 0 || m->n_instructions == 0) {
        return;
    }
    uint64_t steps = (uint64_t)n * (n > m->n_instructions ? n : m->n_instructions);
    if (repeats(m)) {
        out->untold = "instructions are repeated";
        return;
    }
    if (steps > MOST_STEPS) {
        out->untold = "there are too many instructions";
        return;
    }
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        if (of_value[m->inputs[i]] != ETP_NO_INDEX) {
            buffers[of_value[m->inputs[i]]].given = true;
        }
    }
    need_operands(m, buffers, of_value);
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        need(buffers, of_value, m->outputs[i], m->n_instructions - 1, true);
        if (of_value[m->outputs[i]] != ETP_NO_INDEX) {
            buffers[of_value[m->outputs[i]]].handed = true;
        }
    }
    tell_views(buffers, n);
    for (uint32_t i = 0; i < n; i++) {
        etp_inspect_buffer *b = &buffers[i];
        b->kept =
            b->kept || m->pte->values[b->value->id].u.tensor->location == ETP_PTE_DATA_MUTABLE;
        if (b->kept) {
            b->first = 0;
            b->last = m->n_instructions - 1;
            out->kept_bytes += b->bytes;
        }
        if (b->needed || b->kept) {
            buffers[out->n_buffers++] = *b;
        }
    }
    qsort(buffers, out->n_buffers, sizeof *buffers, by_place);
    out->buffers = buffers;
    uint64_t *live = ETP_NEW_ARRAY(arena, uint64_t, m->n_instructions);
    for (uint32_t at = 0; at < m->n_instructions; at++) {
        live[at] = in_use(out, at);
        out->peak = live[at] > live[out->peak] ? at : out->peak;
    }
    out->live = live;
    out->n_live = m->n_instructions;
}
