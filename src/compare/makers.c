// SPDX-License-Identifier: Apache-2.0
// Which operator takes what another has made, by the program that they were joined to.
#include "compare/session.h"

// Values carry the flow: whoever takes one follows the operator that made it last. Values inside a
// partition are numbered anew for each of its calls, so their makers are forgotten when the next
// call begins.
typedef struct tracing {
    const etp_ab *ab;
    const etp_method *method;
    uint32_t *of_method, *of_partition; // per value: operator that made it, ETP_NO_INDEX none
    const etp_instruction *call;        // whose partition the second is of
} tracing;

static uint32_t *no_makers(uint32_t n, etp_arena *arena)
{
    uint32_t *of = ETP_NEW_ARRAY(arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        of[i] = ETP_NO_INDEX;
    }
    return of;
}

// The method's value that is operand VALUE of the partition, ETP_NO_INDEX: it stays inside.
// A delegate call's arguments are its inputs, then its outputs; `external` is a position among
// them.
static uint32_t outside(const tracing *t, const etp_partition *p, uint32_t value)
{
    uint32_t arg = value < p->n_values ? p->values[value].external : ETP_NO_INDEX;
    const etp_instruction *c = t->call;
    if (arg < c->n_inputs) {
        return c->inputs[arg];
    }
    bool inside = arg == ETP_NO_INDEX || arg - c->n_inputs >= c->n_outputs;
    return inside ? ETP_NO_INDEX : c->outputs[arg - c->n_inputs];
}

static void add_maker(const tracing *t, uint32_t from, uint32_t to, etp_ab_operator *op)
{
    for (size_t i = 0; i < op->makers.n; i++) {
        if (op->makers.items[i] == from) {
            return;
        }
    }
    if (from != ETP_NO_INDEX && from != to) {
        ETP_ADD(t->ab->arena, &op->makers, from);
    }
}

static void trace_operator(tracing *t, uint32_t op, etp_ab_operator *out)
{
    const etp_ab_operator *o = &t->ab->operators[op];
    const etp_op_facts *f = &o->facts->op;
    const etp_method *m = t->method;
    uint32_t at = etp_method_find_instruction(m, (uint32_t)o->chain, (uint32_t)o->instruction);
    const etp_instruction *call = at != ETP_NO_INDEX ? &m->instructions[at] : NULL;
    const etp_partition *p = call && o->delegated && call->partition < m->n_partitions
                                 ? &m->partitions[call->partition]
                                 : NULL;
    if (p && call != t->call) {
        t->call = call;
        t->of_partition = no_makers(p->n_values, t->ab->arena);
    }
    if (f->n_inputs == 0 && f->n_outputs == 0 && op > 0) { // added by the runtime: after the last
        const etp_ab_operator *before = &t->ab->operators[op - 1];
        if (before->chain == o->chain && before->instruction == o->instruction) {
            add_maker(t, op - 1, op, out);
        }
        return;
    }
    // Which list of values the facts index tells whether the operator lies inside the partition.
    bool inner = p && f->values == p->values;
    if (!inner && f->values != m->values) {
        return;
    }
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        // First inside the partition, then through its arguments: a value that comes from outside
        // has no maker inside.
        uint32_t v = f->inputs[i], from = ETP_NO_INDEX, value = inner ? outside(t, p, v) : v;
        if (inner && v < p->n_values) {
            from = t->of_partition[v];
        }
        if (from == ETP_NO_INDEX && value < m->n_values) {
            from = t->of_method[value];
        }
        add_maker(t, from, op, out);
    }
    for (uint32_t i = 0; i < f->n_outputs; i++) {
        uint32_t v = f->outputs[i], value = inner ? outside(t, p, v) : v;
        if (inner && v < p->n_values) {
            t->of_partition[v] = op;
        }
        if (value < m->n_values) {
            t->of_method[value] = op;
        }
    }
}

const etp_method *etp_ab_joined_method(const etp_ab_arm *arm)
{
    const etp_profile *p = arm->profile;
    const etp_program *program = p && p->facts ? p->facts->program : NULL;
    for (size_t i = 0; program && i < p->n_rows; i++) {
        if (p->facts->rows[i].method < program->n_methods) {
            return &program->methods[p->facts->rows[i].method];
        }
    }
    return NULL;
}

void etp_ab_find_makers(const etp_ab *ab, etp_ab_operator *operators)
{
    tracing t = {.ab = ab,
                 .method = ab->n_arms ? etp_ab_joined_method(&ab->arms[ab->bottleneck_arm]) : NULL};
    if (!t.method) {
        return;
    }
    t.of_method = no_makers(t.method->n_values, ab->arena);
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (op->facts && op->facts->method == t.method->index && op->chain >= 0 &&
            op->instruction >= 0) {
            trace_operator(&t, i, &operators[i]);
        }
    }
}
