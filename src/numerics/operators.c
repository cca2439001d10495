// SPDX-License-Identifier: Apache-2.0
// Who makes what in a method.
#include "numerics/operators.h"

typedef struct listing {
    const etp_method *m;
    etp_arena *arena;
    uint32_t *makers; // of the method's values
    etp_ops *out;
} listing;

static uint32_t *nobody(etp_arena *arena, size_t n)
{
    uint32_t *makers = ETP_NEW_ARRAY(arena, uint32_t, n);
    for (size_t i = 0; i < n; i++) {
        makers[i] = ETP_NO_INDEX;
    }
    return makers;
}

static etp_op begin(const listing *l, uint32_t instruction, uint32_t node, size_t operands)
{
    etp_op op = {
        .at = {l->m, instruction, node}
    };
    op.makes = etp_cut_makes(&op.at);
    op.operands = ETP_NEW_ARRAY(l->arena, etp_operand, operands);
    return op;
}

static void take(etp_op *op, uint32_t value, uint32_t maker)
{
    op->n_inputs++;
    if (maker != ETP_NO_INDEX) {
        op->operands[op->n_operands++] = (etp_operand){value, maker};
    }
}

// Lists count as their tensors. Returns how many there are; TENSORS may be NULL.
static size_t tensors_of(const etp_method *m, const uint32_t *values, uint32_t n, uint32_t *tensors)
{
    size_t found = 0;
    for (uint32_t k = 0; k < n; k++) {
        const etp_evalue *v = &m->pte->values[values[k]];
        bool list = v->kind == ETP_EVALUE_TENSOR_LIST || v->kind == ETP_EVALUE_OPTIONAL_TENSOR_LIST;
        for (uint32_t i = 0; list && i < v->u.tensors.n; i++) {
            int32_t one = etp_i32_at(v->u.tensors, i);
            if (one >= 0 && tensors) {
                tensors[found] = (uint32_t)one;
            }
            found += one >= 0;
        }
        if (!list && tensors) {
            tensors[found] = values[k];
        }
        found += !list;
    }
    return found;
}

// A kernel, or a delegate as a whole.
static void add_call(listing *l, uint32_t at)
{
    const etp_instruction *i = &l->m->instructions[at];
    size_t n = tensors_of(l->m, i->inputs, i->n_inputs, NULL);
    uint32_t *values = ETP_NEW_ARRAY(l->arena, uint32_t, n);
    tensors_of(l->m, i->inputs, i->n_inputs, values);
    etp_op op = begin(l, at, ETP_NO_INDEX, n);
    for (size_t k = 0; k < n; k++) {
        if (!l->m->values[values[k]].constant) {
            take(&op, values[k], l->makers[values[k]]);
        }
    }
    n = tensors_of(l->m, i->outputs, i->n_outputs, NULL);
    values = ETP_NEW_ARRAY(l->arena, uint32_t, n);
    tensors_of(l->m, i->outputs, i->n_outputs, values);
    for (size_t k = 0; k < n; k++) {
        l->makers[values[k]] = (uint32_t)l->out->n;
    }
    ETP_ADD(l->arena, l->out, op);
}

static void add_nodes(listing *l, uint32_t at)
{
    const etp_instruction *i = &l->m->instructions[at];
    const etp_partition *p = &l->m->partitions[i->partition];
    etp_i32s args = l->m->pte->chains[i->chain].instructions[i->index].args;
    uint32_t *makers = nobody(l->arena, p->n_values);
    for (uint32_t v = 0; v < p->n_values; v++) {
        uint32_t external = p->values[v].external;
        makers[v] = external < args.n ? l->makers[etp_i32_at(args, external)] : ETP_NO_INDEX;
    }
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        const etp_node *node = &p->nodes[n];
        etp_op op = begin(l, at, n, node->n_inputs);
        for (uint32_t k = 0; k < node->n_inputs; k++) {
            if (!p->values[node->inputs[k]].constant) {
                take(&op, node->inputs[k], makers[node->inputs[k]]);
            }
        }
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            uint32_t external = p->values[node->outputs[k]].external;
            makers[node->outputs[k]] = (uint32_t)l->out->n;
            if (external < args.n) {
                l->makers[etp_i32_at(args, external)] = (uint32_t)l->out->n;
            }
        }
        ETP_ADD(l->arena, l->out, op);
    }
}

void etp_ops_of(const etp_method *m, etp_arena *arena, etp_ops *out)
{
    *out = (etp_ops){0};
    listing l = {m, arena, nobody(arena, m->n_values), out};
    for (uint32_t at = 0; at < m->n_instructions; at++) {
        const etp_instruction *i = &m->instructions[at];
        if (i->kind == ETP_INSTR_DELEGATE && m->partitions[i->partition].graph) {
            add_nodes(&l, at);
        } else if (i->kind == ETP_INSTR_DELEGATE || i->kind == ETP_INSTR_KERNEL) {
            add_call(&l, at);
        } else if (i->kind == ETP_INSTR_MOVE) {
            const etp_pte_instruction *move = &m->pte->chains[i->chain].instructions[i->index];
            l.makers[move->target] = l.makers[move->index];
        }
    }
    out->n_outputs = m->n_outputs;
    out->outputs = ETP_NEW_ARRAY(arena, uint32_t, m->n_outputs);
    for (uint32_t k = 0; k < m->n_outputs; k++) {
        out->outputs[k] = l.makers[m->outputs[k]];
    }
}

etp_output_precision etp_ops_precision(const etp_method *m)
{
    etp_output_precision found = ETP_OUTPUTS_FLOAT32;
    for (uint32_t p = 0; p < m->n_partitions; p++) {
        for (uint32_t v = 0; v < m->partitions[p].n_values; v++) {
            const etp_value *x = &m->partitions[p].values[v];
            bool half = x->dtype == ETP_DTYPE_FLOAT16 || x->dtype == ETP_DTYPE_BFLOAT16;
            found = half && found == ETP_OUTPUTS_FLOAT32 ? ETP_OUTPUTS_FLOAT16 : found;
            found = x->quant.kind != ETP_QUANT_NONE ? ETP_OUTPUTS_INT8 : found;
        }
    }
    return found;
}

const char *etp_ops_differ(const etp_ops *a, const etp_ops *b, etp_arena *arena)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const char *x = etp_cut_place_text(&a->items[i].at, arena);
        const char *y = etp_cut_place_text(&b->items[i].at, arena);
        if (strcmp(x, y) != 0) {
            return etp_arena_printf(arena, "one has %s where the other has %s", x, y);
        }
    }
    return a->n == b->n
               ? NULL
               : etp_arena_printf(arena, "one has %zu operators and the other %zu", a->n, b->n);
}
