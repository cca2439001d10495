// SPDX-License-Identifier: Apache-2.0
#include "program/planned.h"
#include "base/choice.h"

#include <stdlib.h>

#define MOST_PAIRS 100000000u // of tensors that are held together: seconds, of no real program

static void need(etp_planned *all, const uint32_t *of_value, uint32_t value, uint32_t at, bool read)
{
    if (of_value[value] == ETP_NO_INDEX) {
        return;
    }
    etp_planned *b = &all[of_value[value]];
    if (!b->needed) {
        b->kept = read && !b->given;
        b->first = b->given ? 0 : at;
        b->needed = true;
    }
    b->last = at;
}

static bool overlap(const etp_planned *a, const etp_planned *b)
{
    const bool after = a->offset >= b->offset;
    const etp_planned *low = after ? b : a, *high = after ? a : b;
    return a->arena == b->arena && high->offset - low->offset < low->bytes;
}

// What is read before an instruction has written it was left by an earlier call, or is a view: the
// bytes of a tensor that was needed before, which are then needed on from there. Beyond MOST_PAIRS
// nobody knows, and what is not known to be kept is not.
static void tell_views(etp_planned *all, size_t n)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i < n; i++) {
        etp_planned *b = &all[i];
        uint32_t since = ETP_NO_INDEX;
        pairs += b->kept ? n : 0;
        b->kept = b->kept && pairs <= MOST_PAIRS;
        for (size_t k = 0; b->kept && k < n; k++) {
            const etp_planned *other = &all[k];
            bool before = other->given || (other->needed && other->first < b->first);
            if (k == i || !before || !overlap(b, other)) {
                continue;
            }
            uint32_t last = ETP_MIN(other->last, b->first);
            since = since == ETP_NO_INDEX || last > since ? last : since;
        }
        if (since != ETP_NO_INDEX) {
            b->kept = false;
            b->first = since;
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const etp_planned *x = a, *y = b;
    return etp_order_then(
        ETP_ORDER(x->arena, y->arena),
        etp_order_then(ETP_ORDER(x->offset, y->offset), ETP_ORDER(x->value->id, y->value->id)));
}

size_t etp_planned_of(const etp_method *m, etp_arena *arena, etp_planned **out)
{
    etp_planned *all = ETP_NEW_ARRAY(arena, etp_planned, (size_t)m->n_values + 1);
    uint32_t *of_value = ETP_NEW_ARRAY(arena, uint32_t, (size_t)m->n_values + 1);
    *out = all;
    if (!all || !of_value) {
        return 0;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_values; i++) {
        const etp_evalue *v = &m->pte->values[i];
        of_value[i] = ETP_NO_INDEX;
        if (v->kind == ETP_EVALUE_TENSOR && v->u.tensor->has_allocation &&
            m->values[i].bytes != ETP_BYTES_UNKNOWN) {
            of_value[i] = n;
            all[n++] = (etp_planned){.value = &m->values[i],
                                     .bytes = m->values[i].bytes,
                                     .arena = v->u.tensor->memory_id,
                                     .offset = v->u.tensor->memory_offset};
        }
    }
    for (uint32_t i = 0; i < m->n_inputs; i++) {
        if (of_value[m->inputs[i]] != ETP_NO_INDEX) {
            all[of_value[m->inputs[i]]].given = true;
        }
    }
    for (uint32_t at = 0; at < m->n_instructions; at++) {
        const etp_instruction *in = &m->instructions[at];
        for (uint32_t i = 0; i < in->n_inputs; i++) {
            need(all, of_value, in->inputs[i], at, true);
        }
        for (uint32_t i = 0; i < in->n_outputs; i++) {
            need(all, of_value, in->outputs[i], at, false);
        }
        if (in->kind == ETP_INSTR_MOVE) {
            const etp_pte_chain *chain = &m->pte->chains[in->chain];
            need(all, of_value, chain->instructions[in->index].index, at, true);
            need(all, of_value, in->target, at, false);
        }
    }
    for (uint32_t i = 0; i < m->n_outputs && m->n_instructions > 0; i++) {
        need(all, of_value, m->outputs[i], m->n_instructions - 1, true);
        if (of_value[m->outputs[i]] != ETP_NO_INDEX) {
            all[of_value[m->outputs[i]]].handed = true;
        }
    }
    tell_views(all, n);
    size_t shown = 0;
    for (uint32_t i = 0; i < n; i++) {
        etp_planned *b = &all[i];
        b->kept =
            b->kept || m->pte->values[b->value->id].u.tensor->location == ETP_PTE_DATA_MUTABLE;
        if (b->kept) {
            b->first = 0;
            b->last = m->n_instructions > 0 ? m->n_instructions - 1 : 0;
        }
        if (b->needed || b->kept) {
            all[shown++] = *b;
        }
    }
    qsort(all, shown, sizeof *all, by_place);
    return shown;
}
