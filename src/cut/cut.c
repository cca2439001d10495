// SPDX-License-Identifier: Apache-2.0
// Prefixes and capsules of a program.
#include "base/choice.h"
#include "base/guard.h"
#include "cut/internal.h"
#include "formats/pte_schema.h"

const char *etp_cut_place_text(const etp_cut_place *at, etp_arena *arena)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    if (at->node == ETP_NO_INDEX) {
        return etp_arena_printf(arena, "instruction %lu (%.*s)", (unsigned long)i->index,
                                ETP_STR_ARG(i->op));
    }
    const etp_partition *p = &at->method->partitions[i->partition];
    return etp_arena_printf(arena, "node %lu (%.*s) of delegate %lu", (unsigned long)at->node,
                            ETP_STR_ARG(p->nodes[at->node].type_name), (unsigned long)p->index);
}

static etp_status check_place(const etp_cut_place *at, etp_error *err)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    if (i->kind != ETP_INSTR_DELEGATE && (i->kind != ETP_INSTR_KERNEL || i->n_outputs == 0)) {
        return etp_fail(err, ETP_UNSUPPORTED, "it makes no tensor");
    }
    if (at->node == ETP_NO_INDEX) {
        return ETP_OK;
    }
    const etp_partition *p = &at->method->partitions[i->partition];
    if (!p->graph) {
        return etp_fail(err, ETP_UNSUPPORTED, "only payloads of XNNPACK can be cut: %s",
                        ETP_OR(p->problem, "this is of another backend"));
    }
    return ETP_OK;
}

static void fill(bool *items, size_t n)
{
    memset(items, true, n * sizeof *items);
}

// Data of what stays before the cut.
static etp_status keep_before(etp_cut_program *c, const etp_cut_place *at, uint32_t n_delegates)
{
    const etp_pte *pte = c->program->pte;
    const etp_method *m = at->method;
    for (uint32_t i = 0; i < pte->n_segments; i++) {
        c->used[i] = pte->segments[i].kind == ETP_PTE_SEGMENT_CONSTANT ||
                     pte->segments[i].kind == ETP_PTE_SEGMENT_MUTABLE;
    }
    for (uint32_t i = 0; i < n_delegates; i++) {
        const etp_partition *p = &m->partitions[i];
        if (!p->graph) { // who knows which names it asks for
            fill(c->used, pte->n_segments);
            return ETP_OK;
        }
        bool *all = ETP_NEW_ARRAY(c->arena, bool, p->graph->n_constants);
        fill(all, p->graph->n_constants);
        etp_cut_program_keep_named(c, p, all);
        if (p->delegate->in_segment) {
            c->used[p->delegate->data_index] = true;
        }
    }
    for (uint32_t i = 0; i < m->n_values; i++) {
        const etp_evalue *v = &m->pte->values[i];
        uint32_t named = v->kind == ETP_EVALUE_TENSOR && v->u.tensor->fqn.len
                             ? etp_pte_find_named(pte, v->u.tensor->fqn)
                             : ETP_PTE_NO_SEGMENT;
        if (named != ETP_PTE_NO_SEGMENT) {
            c->used[named] = true;
        }
    }
    return ETP_OK;
}

// The call of what was cut: its arguments are those of the old call, but for the new output.
static etp_status cut_call(etp_cut_program *c, const etp_cut_place *at, const etp_cut_payload *cut,
                           uint32_t wanted, etp_fb_node *call, uint32_t *output)
{
    const etp_method *m = at->method;
    const etp_instruction *i = &m->instructions[at->instruction];
    const etp_partition *p = &m->partitions[i->partition];
    etp_i32s old = m->pte->chains[i->chain].instructions[i->index].args;
    uint32_t *args = ETP_NEW_ARRAY(c->arena, uint32_t, cut->n_args);
    for (uint32_t k = 0; k < cut->n_args; k++) {
        const etp_value *v = &p->values[cut->args[k]];
        if (v->external == ETP_NO_INDEX) {
            ETP_TRY(etp_cut_program_add_value(c, v, &args[k]));
        } else if (v->external >= old.n) {
            return etp_fail(c->err, ETP_UNSUPPORTED, "the call has no argument %lu",
                            (unsigned long)v->external);
        } else {
            args[k] = (uint32_t)etp_i32_at(old, v->external);
        }
        *output = cut->args[k] == wanted ? args[k] : *output;
    }
    etp_fb_put_u32s(call, CALL_ARGS, args, cut->n_args, c->arena);
    etp_fb_put(call, CALL_INDEX, etp_cut_program_add_delegate(c, p, cut->bytes));
    etp_cut_program_keep_named(c, p, cut->constants);
    return ETP_OK;
}

static etp_status cut_prefix(etp_bytes file, const etp_program *program, const etp_cut_place *at,
                             etp_arena *arena, etp_bytes *out, etp_error *err)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    etp_cut_program c;
    etp_fb_node *last = NULL;
    uint32_t n_delegates = 0, output = i->n_outputs ? i->outputs[0] : 0;
    ETP_TRY(check_place(at, err));
    ETP_TRY(etp_cut_program_begin(file, program, at->method, arena, &c, err));
    // Chains and instructions up to the cut: LAST is the last one that stays, N_DELEGATES how
    // many delegates those before it call.
    const etp_method *m = at->method;
    for (uint32_t k = 0; k <= at->instruction; k++) {
        const etp_instruction *x = &m->instructions[k];
        if (x->kind == ETP_INSTR_JUMP_FALSE) {
            return etp_fail(c.err, ETP_UNSUPPORTED,
                            "control flow leads there (instruction %lu jumps)",
                            (unsigned long)x->index);
        }
        bool calls =
            x->kind == ETP_INSTR_DELEGATE && (k < at->instruction || at->node == ETP_NO_INDEX);
        n_delegates = calls && x->partition >= n_delegates ? x->partition + 1 : n_delegates;
    }
    etp_fb_slot *chains = &c.plan->slots[PLAN_CHAINS];
    chains->n = i->chain + 1;
    etp_fb_node *chain = chains->tables[i->chain];
    chain->slots[CHAIN_INSTRUCTIONS].n = i->index + 1;
    if (chain->slots[CHAIN_STACKTRACE].n > i->index) {
        chain->slots[CHAIN_STACKTRACE].n = i->index + 1;
    }
    last = chain->slots[CHAIN_INSTRUCTIONS].tables[i->index]->slots[UNION_VALUE].tables[0];
    c.plan->slots[PLAN_DELEGATES].n = n_delegates;
    for (uint32_t k = 0; k < c.root->slots[PROGRAM_INLINE_DATA].n; k++) {
        bool kept = false;
        for (uint32_t d = 0; d < n_delegates; d++) {
            const etp_pte_delegate *x = m->partitions[d].delegate;
            kept = kept || (!x->in_segment && x->data_index == k);
        }
        if (!kept) {
            etp_fb_put_bytes(c.root->slots[PROGRAM_INLINE_DATA].tables[k], 0, NULL, 0);
        }
    }
    ETP_TRY(keep_before(&c, at, n_delegates));
    if (at->node != ETP_NO_INDEX) {
        const etp_partition *p = &at->method->partitions[i->partition];
        etp_cut_payload cut;
        uint32_t wanted = p->nodes[at->node].outputs[0];
        bool *nodes = ETP_NEW_ARRAY(arena, bool, p->n_nodes);
        fill(nodes, (size_t)at->node + 1);
        ETP_TRY(etp_cut_payload_make(p, nodes, wanted, arena, &cut, err));
        ETP_TRY(cut_call(&c, at, &cut, wanted, last, &output));
    } else if (at->method->values[output].kind != ETP_EVALUE_TENSOR) {
        return etp_fail(err, ETP_UNSUPPORTED, "it makes no tensor");
    }
    etp_fb_put_u32s(c.plan, PLAN_OUTPUTS, &output, 1, arena);
    return etp_cut_program_end(&c, out);
}

typedef struct capsule {
    const etp_cut_place *at;
    uint64_t rows;       // 0: as many as the operator has
    uint64_t evicted;    // bytes of an input that nothing takes; 0: none
    bool among;          // its neighbours
    bool *nodes;         // of its partition, that are in it
    uint32_t wanted;     // the value that is handed out
    etp_cut_payload cut; // of them
} capsule;

static bool handed_over(const etp_partition *p, uint32_t value)
{
    return etp_cut_scalar_type(p->values[value].dtype) >= 0;
}

// Those that make the node's operands and the first that takes its result.
static etp_status select_neighbours(const etp_partition *p, capsule *x, etp_error *err)
{
    const etp_node *n = &p->nodes[x->at->node];
    uint32_t found = 0;
    bool taken = false;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const etp_node *m = &p->nodes[i];
        bool next = false;
        for (uint32_t k = 0; k < n->n_inputs && m->n_outputs > 0; k++) {
            next = next || m->outputs[0] == n->inputs[k];
        }
        for (uint32_t k = 0; k < m->n_inputs && !taken && m->n_outputs == 1; k++) {
            taken = m->inputs[k] == x->wanted && handed_over(p, m->outputs[0]);
        }
        if (taken && !next) {
            x->wanted = m->outputs[0];
            x->nodes[i] = true;
            return ETP_OK;
        }
        x->nodes[i] = x->nodes[i] || next;
        found += next;
    }
    return found ? ETP_OK : etp_fail(err, ETP_UNSUPPORTED, "it has no neighbours in its delegate");
}

// The one instruction of C, with ARGS: the call that I is.
static void put_call(etp_cut_program *c, const etp_instruction *i, const etp_partition *p,
                     const etp_cut_payload *cut, const uint32_t *args)
{
    etp_fb_slot *chains = &c->plan->slots[PLAN_CHAINS];
    etp_fb_node *chain = chains->tables[i->chain];
    etp_fb_node *call = chain->slots[CHAIN_INSTRUCTIONS].tables[i->index];
    chains->tables[0] = chain;
    chains->n = 1;
    chain->slots[CHAIN_INSTRUCTIONS].tables[0] = call;
    chain->slots[CHAIN_INSTRUCTIONS].n = 1;
    for (unsigned k = 0; k < chain->schema->n_fields; k++) {
        if (k != CHAIN_INSTRUCTIONS) { // they name values and frames that are gone
            chain->slots[k] = (etp_fb_slot){0};
        }
    }
    etp_fb_node *body = call->slots[UNION_VALUE].tables[0];
    etp_fb_put_u32s(body, CALL_ARGS, args, cut->n_args, c->arena);
    etp_fb_put(body, CALL_INDEX, etp_cut_program_add_delegate(c, p, cut->bytes));
    etp_cut_program_keep_named(c, p, cut->constants);
}

static etp_status cut_capsule(etp_bytes file, const etp_program *program, capsule *x,
                              etp_arena *arena, etp_bytes *out, etp_error *err)
{
    etp_cut_program c;
    ETP_TRY(check_place(x->at, err));
    if (x->at->node == ETP_NO_INDEX) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "only an operator of an XNNPACK delegate can stand "
                        "alone");
    }
    const etp_instruction *i = &x->at->method->instructions[x->at->instruction];
    etp_partition p = x->at->method->partitions[i->partition];
    // P is the partition of X's own, whose values may get other sizes.
    x->nodes = ETP_NEW_ARRAY(arena, bool, p.n_nodes);
    x->nodes[x->at->node] = true;
    x->wanted = p.nodes[x->at->node].outputs[0];
    if (x->among) {
        ETP_TRY(select_neighbours(&p, x, err));
    }
    // The nodes, and those before them that make what cannot be handed over: their converts.
    bool *nodes = x->nodes;
    for (uint32_t n = p.n_nodes; n-- > 0;) {
        for (uint32_t k = 0; nodes[n] && k < p.nodes[n].n_inputs; k++) {
            uint32_t v = p.nodes[n].inputs[k];
            bool hidden = !p.values[v].constant && !handed_over(&p, v);
            for (uint32_t m = 0; hidden && m < n; m++) {
                nodes[m] = nodes[m] || p.nodes[m].outputs[0] == v;
            }
        }
    }
    if (x->rows > 0) {
        // P with values of its own, those of ROWS.
        etp_value *values = ETP_NEW_ARRAY(arena, etp_value, p.n_values);
        memcpy(values, p.values, p.n_values * sizeof *values);
        p.values = values;
        ETP_TRY(etp_cut_set_rows(x->at, x->nodes, x->rows, arena, values, err));
    }
    ETP_TRY(etp_cut_payload_make(&p, x->nodes, x->wanted, arena, &x->cut, err));
    ETP_TRY(etp_cut_program_begin(file, program, x->at->method, arena, &c, err));
    // C without all that belongs to what it was cut out of.
    static const unsigned k_of_program[] = {PROGRAM_CONSTANT_BUFFER, PROGRAM_INLINE_DATA,
                                            PROGRAM_MUTABLE_SEGMENTS};
    static const unsigned k_of_plan[] = {PLAN_VALUES, PLAN_OPERATORS, PLAN_DELEGATES,
                                         PLAN_BUFFER_SIZES};
    for (size_t k = 0; k < ETP_FB_COUNT(k_of_program); k++) {
        c.root->slots[k_of_program[k]] = (etp_fb_slot){0};
    }
    for (size_t k = 0; k < ETP_FB_COUNT(k_of_plan); k++) {
        c.plan->slots[k_of_plan[k]] = (etp_fb_slot){.present = true};
    }
    c.plan->slots[PLAN_META] = (etp_fb_slot){0};
    // ExecuTorch takes a program without this list for one of an old format; its first entry is
    // reserved.
    etp_fb_slot *constants = &c.root->slots[PROGRAM_CONSTANT_SEGMENT];
    if (constants->present && constants->tables[0]->slots[SUBSEGMENT_OFFSETS].n) {
        etp_fb_put(constants->tables[0], SUBSEGMENT_INDEX, 0);
        constants->tables[0]->slots[SUBSEGMENT_OFFSETS].n = 1;
    }
    // What is handed over first is what nothing takes: the operands are the last that was written.
    const etp_cut_payload *cut = &x->cut;
    const uint32_t more = x->evicted > 0;
    uint32_t *args = ETP_NEW_ARRAY(arena, uint32_t, (size_t)cut->n_args + 1);
    if (more) {
        const int64_t n = (int64_t)(x->evicted / sizeof(float)) + 1;
        const etp_value other = {.dtype = ETP_DTYPE_FLOAT32,
                                 .dims = &n,
                                 .rank = 1,
                                 .bytes = (uint64_t)n * sizeof(float)};
        ETP_TRY(etp_cut_program_add_value(&c, &other, &args[0]));
    }
    for (uint32_t k = 0; k < cut->n_args; k++) {
        ETP_TRY(etp_cut_program_add_value(&c, &p.values[cut->args[k]], &args[more + k]));
    }
    put_call(&c, i, &p, cut, args + more);
    etp_fb_put_u32s(c.plan, PLAN_INPUTS, args, more + cut->n_inputs, arena);
    etp_fb_put_u32s(c.plan, PLAN_OUTPUTS, args + more + cut->n_inputs, cut->n_args - cut->n_inputs,
                    arena);
    return etp_cut_program_end(&c, out);
}

bool etp_cut_makes(const etp_cut_place *at)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    if (check_place(at, NULL) != ETP_OK) {
        return false;
    }
    if (at->node == ETP_NO_INDEX) {
        return i->n_outputs > 0 && at->method->values[i->outputs[0]].kind == ETP_EVALUE_TENSOR;
    }
    const etp_partition *p = &at->method->partitions[i->partition];
    const etp_node *n = &p->nodes[at->node];
    return n->n_outputs > 0 && etp_cut_scalar_type(p->values[n->outputs[0]].dtype) >= 0;
}

// An error says where.
static etp_status at_place(etp_status status, const etp_cut_place *at, etp_arena *arena,
                           etp_error *err)
{
    return status == ETP_OK || !err ? status
                                    : etp_fail_ctx(err, "%s", etp_cut_place_text(at, arena));
}

etp_status etp_cut_prefix(etp_bytes file, const etp_program *program, const etp_cut_place *at,
                          etp_arena *arena, etp_bytes *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the program",
                at_place(cut_prefix(file, program, at, arena, out, err), at, arena, err));
}

static etp_status capsule_of(etp_bytes file, const etp_program *program, capsule *x,
                             etp_arena *arena, etp_bytes *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the program",
                at_place(cut_capsule(file, program, x, arena, out, err), x->at, arena, err));
}

etp_status etp_cut_capsule(etp_bytes file, const etp_program *program, const etp_cut_place *at,
                           etp_arena *arena, etp_bytes *out, const uint32_t **out_inputs,
                           uint32_t *out_n, etp_error *err)
{
    capsule x = {.at = at};
    ETP_TRY(capsule_of(file, program, &x, arena, out, err));
    if (out_inputs) {
        *out_inputs = x.cut.args;
        *out_n = x.cut.n_inputs;
    }
    return ETP_OK;
}

etp_status etp_cut_capsule_rows(etp_bytes file, const etp_program *program, const etp_cut_place *at,
                                uint64_t rows, etp_arena *arena, etp_bytes *out, etp_error *err)
{
    capsule x = {.at = at, .rows = rows};
    return capsule_of(file, program, &x, arena, out, err);
}

etp_status etp_cut_capsule_cold(etp_bytes file, const etp_program *program, const etp_cut_place *at,
                                uint64_t evicted, bool among, etp_arena *arena, etp_bytes *out,
                                uint32_t *out_node, etp_error *err)
{
    capsule x = {.at = at, .evicted = evicted, .among = among};
    ETP_TRY(capsule_of(file, program, &x, arena, out, err));
    *out_node = 0;
    for (uint32_t i = 0; i < at->node; i++) {
        *out_node += x.nodes[i];
    }
    return ETP_OK;
}
