// SPDX-License-Identifier: Apache-2.0
// What the program says about one joined event, as one flat record.
#include "explain/join/parts.h"
#include "program/work.h"

static bool covers(const etp_join_event *e, uint32_t node)
{
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        if (e->nodes[i] == node) {
            return true;
        }
    }
    return false;
}

static bool has_value(const uint32_t *ids, uint32_t n, uint32_t id)
{
    for (uint32_t i = 0; i < n; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

// Values made and used up inside the group need not be moved: takes their traffic out of BYTES.
static void drop_intermediates(const etp_partition *p, const etp_join_event *e, uint64_t *bytes)
{
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const etp_node *producer = &p->nodes[e->nodes[i]];
        for (uint32_t o = 0; o < producer->n_outputs; o++) {
            uint32_t value = producer->outputs[o];
            uint32_t inside = 0, outside = 0;
            for (uint32_t n = producer->index + 1; n < p->n_nodes; n++) {
                if (has_value(p->nodes[n].inputs, p->nodes[n].n_inputs, value)) {
                    inside += covers(e, n);
                    outside += !covers(e, n);
                }
            }
            uint64_t traffic = 0;
            if (inside > 0 && etp_value_traffic(&p->values[value], &traffic)) {
                uint64_t times = inside + (outside == 0); // reads, and the write
                uint64_t drop = traffic > *bytes / times ? *bytes : traffic * times;
                *bytes -= drop;
            }
        }
    }
}

// One node of unknown work makes the group's unknown: a sum of the others would look like all of
// it.
static etp_work work_of_group(const etp_partition *p, const etp_join_event *e)
{
    etp_work sum = {.known = true};
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const etp_work *w = &p->nodes[e->nodes[i]].work;
        if (!w->known) {
            return (etp_work){.problem = w->problem};
        }
        if (w->macs > UINT64_MAX - sum.macs || w->ops > UINT64_MAX - sum.ops ||
            w->bytes > UINT64_MAX - sum.bytes) {
            return (etp_work){.problem = "the amount of work does not fit 64 bits"};
        }
        sum.macs += w->macs;
        sum.ops += w->ops;
        sum.bytes += w->bytes;
        sum.bound = sum.bound || w->bound;
    }
    if (e->n_nodes > 1) {
        drop_intermediates(p, e, &sum.bytes);
    }
    return sum;
}

// What is merged in front of these is padding, quantisation, transposed weights: their own operands
// say more.
bool etp_node_multiplies(int type)
{
    return type == ETP_XNN_CONV_2D || type == ETP_XNN_DEPTHWISE_CONV_2D ||
           type == ETP_XNN_CONV_TRANSPOSE_2D || type == ETP_XNN_FULLY_CONNECTED ||
           type == ETP_XNN_BATCH_MATRIX_MULTIPLY;
}

static void node_facts(const etp_partition *p, const etp_join_event *e, etp_op_facts *out)
{
    const etp_node *node = &p->nodes[e->node];
    const etp_node *first = node, *last = node;
    out->node_type = node->type_name;
    out->debug_handle = node->debug_handle;
    out->weight_bytes = 0;
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        const etp_node *n = &p->nodes[e->nodes[i]];
        out->weight_bytes += n->weight_bytes;
        // Nodes that an exporter's pass put in may have no handle; then a merged neighbour tells
        // where the operator comes from.
        if (out->debug_handle < 0) {
            out->debug_handle = n->debug_handle;
        }
    }
    if (e->n_nodes > 0 && e->nodes[e->n_nodes - 1] != e->node) {
        last = &p->nodes[e->nodes[e->n_nodes - 1]]; // activations merged behind it
    }
    if (e->n_nodes > 0 && !etp_node_multiplies(node->type)) {
        first = &p->nodes[e->nodes[0]]; // a chain of elementwise nodes
    }
    out->values = p->values;
    out->inputs = first->inputs;
    out->n_inputs = first->n_inputs;
    out->outputs = last->outputs;
    out->n_outputs = last->n_outputs;
    out->work = work_of_group(p, e);
}

static void facts_in(const etp_program *program, const etp_join_event *e, uint32_t method,
                     etp_op_facts *out)
{
    *out = (etp_op_facts){.weight_bytes = ETP_BYTES_UNKNOWN, .debug_handle = -1};
    if (e->instruction == ETP_NO_INDEX) {
        return;
    }
    const etp_method *m = &program->methods[method];
    const etp_instruction *in = &m->instructions[e->instruction];
    if (in->kind == ETP_INSTR_DELEGATE) {
        const etp_partition *p = &m->partitions[in->partition];
        out->backend = p->backend;
        if (e->node != ETP_NO_INDEX) {
            node_facts(p, e, out);
        }
        return;
    }
    if (in->kind == ETP_INSTR_KERNEL) {
        out->node_type = in->op;
        out->values = m->values;
        out->inputs = in->inputs;
        out->n_inputs = in->n_inputs;
        out->outputs = in->outputs;
        out->n_outputs = in->n_outputs;
        out->weight_bytes = in->weight_bytes;
        out->work = in->work;
    }
}

static const etp_value *first_tensor(const etp_op_facts *f, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (f->values[ids[i]].kind == ETP_EVALUE_TENSOR) {
            return &f->values[ids[i]];
        }
    }
    return NULL;
}

// Scalars among the operands (a dimension, an alpha) are passed over: the first tensor on each side
// decides.
static bool changes_type(const etp_op_facts *f)
{
    const etp_value *from = first_tensor(f, f->inputs, f->n_inputs),
                    *to = first_tensor(f, f->outputs, f->n_outputs);
    return from && to && from->dtype != to->dtype && from->dtype != ETP_DTYPE_UNKNOWN &&
           to->dtype != ETP_DTYPE_UNKNOWN;
}

etp_category etp_op_facts_category(const etp_op_name *name, const etp_op_facts *facts)
{
    // executorch_prim operators record no name of their own, only the call around them.
    if (etp_str_eqz(name->base, "OPERATOR_CALL") && facts->node_type.len) {
        etp_category own = etp_op_category(facts->node_type);
        bool scalar = etp_str_starts(facts->node_type, ETP_STR("executorch_prim::")) &&
                      own != ETP_CATEGORY_DATA_MOVEMENT;
        return scalar ? ETP_CATEGORY_CONTROL : own;
    }
    bool orders = etp_str_find(name->family, ETP_STR("dim_order")) < name->family.len;
    return orders && changes_type(facts) ? ETP_CATEGORY_QUANTIZE : name->category;
}

static bool same_values(const etp_op_facts *a, const uint32_t *a_ids, uint32_t n_a,
                        const etp_op_facts *b, const uint32_t *b_ids, uint32_t n_b)
{
    if (n_a != n_b) {
        return false;
    }
    for (uint32_t i = 0; i < n_a; i++) {
        const etp_value *x = &a->values[a_ids[i]], *y = &b->values[b_ids[i]];
        if (x->dtype != y->dtype || x->rank != y->rank ||
            (x->rank > 0 && memcmp(x->dims, y->dims, x->rank * sizeof *x->dims) != 0)) {
            return false;
        }
    }
    return true;
}

// What the candidates disagree about becomes unknown: no method is preferred by its number.
static void keep_common(etp_op_facts *a, const etp_op_facts *b)
{
    if (!etp_str_eq(a->node_type, b->node_type)) {
        a->node_type = (etp_str){NULL, 0};
    }
    if (!same_values(a, a->inputs, a->n_inputs, b, b->inputs, b->n_inputs)) {
        a->n_inputs = 0;
    }
    if (!same_values(a, a->outputs, a->n_outputs, b, b->outputs, b->n_outputs)) {
        a->n_outputs = 0;
    }
    if (a->weight_bytes != b->weight_bytes) {
        a->weight_bytes = ETP_BYTES_UNKNOWN;
    }
    if (a->work.known != b->work.known || a->work.macs != b->work.macs ||
        a->work.ops != b->work.ops || a->work.bytes != b->work.bytes) {
        a->work = (etp_work){.problem = "several methods fit and differ in shape"};
    }
    if (a->debug_handle != b->debug_handle) {
        a->debug_handle = -1;
    }
}

void etp_join_facts(const etp_program *program, const etp_join *join, uint32_t event,
                    etp_op_facts *out)
{
    if (join->method == ETP_NO_INDEX || event >= join->n_events) {
        *out = (etp_op_facts){.weight_bytes = ETP_BYTES_UNKNOWN, .debug_handle = -1};
        return;
    }
    const etp_join_event *e = &join->events[event];
    facts_in(program, e, join->method, out);
    for (uint32_t i = 0; i < join->n_candidates; i++) {
        if (join->candidates[i] != join->method) {
            etp_op_facts other;
            facts_in(program, e, join->candidates[i], &other);
            keep_common(out, &other);
        }
    }
}

// ---- source ----

// Frames as the exporter wrote them, outermost first; the record has the same idea of "own code".
static bool source_of_frames(const etp_pte_frames *frames, etp_source *out)
{
    if (!frames || frames->n == 0) {
        return false;
    }
    const etp_pte_frame *best = &frames->items[frames->n - 1];
    for (uint32_t i = frames->n; i-- > 0;) {
        if (!etp_source_is_package(frames->items[i].file)) {
            best = &frames->items[i];
            break;
        }
    }
    *out = (etp_source){.file = best->file,
                        .function = best->name,
                        .line = best->line > 0 ? (uint32_t)best->line : 0};
    return true;
}

static bool source_in(const etp_program *program, const etp_join *join, uint32_t event,
                      uint32_t method, const etp_etrecord *record, etp_source *out)
{
    const etp_join_event *e = &join->events[event];
    const etp_method *m = &program->methods[method];
    const etp_record_method *r = record ? etp_etrecord_method(record, m->name) : NULL;
    const etp_source *found = NULL;
    if (e->instruction == ETP_NO_INDEX) {
        return false;
    }
    const etp_instruction *in = &m->instructions[e->instruction];
    if (e->node != ETP_NO_INDEX) {
        etp_op_facts facts;
        facts_in(program, e, method, &facts);
        found = etp_etrecord_source(r, facts.debug_handle);
    } else if (in->kind == ETP_INSTR_KERNEL && in->chain == 0) {
        const etp_record_instruction *i = etp_etrecord_instruction(r, in->index);
        // A kernel has one handle in the record.
        found = i && i->n_handles > 0 ? etp_etrecord_source(r, i->handles[0]) : NULL;
    }
    if (found) {
        *out = *found;
        return true;
    }
    // The program's own frames are per instruction: of a delegate call they would name one line for
    // the whole partition.
    return in->kind == ETP_INSTR_KERNEL && source_of_frames(in->frames, out);
}

bool etp_join_source(const etp_program *program, const etp_join *join, uint32_t event,
                     const etp_etrecord *record, etp_source *out)
{
    if (join->method == ETP_NO_INDEX || event >= join->n_events ||
        !source_in(program, join, event, join->method, record, out)) {
        return false;
    }
    for (uint32_t i = 0; i < join->n_candidates; i++) {
        etp_source other;
        if (join->candidates[i] != join->method &&
            (!source_in(program, join, event, join->candidates[i], record, &other) ||
             !etp_str_eq(other.file, out->file) || other.line != out->line ||
             !etp_str_eq(other.module, out->module))) {
            return false;
        }
    }
    return true;
}
