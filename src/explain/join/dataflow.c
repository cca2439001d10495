// SPDX-License-Identifier: Apache-2.0
// The dataflow between the nodes of a partition, and which nodes XNNPACK's optimizer may merge.
#include "explain/join/parts.h"

#define MAX_TABLE_CHAIN 10 // XNNPACK stops after as many nodes

void etp_flow_make(const etp_partition *p, etp_arena *arena, etp_value_flow *out)
{
    *out = (etp_value_flow){.partition = p};
    out->producer = ETP_NEW_ARRAY(arena, uint32_t, p->n_values);
    out->consumer = ETP_NEW_ARRAY(arena, uint32_t, p->n_values);
    out->n_consumers = ETP_NEW_ARRAY(arena, uint32_t, p->n_values);
    for (uint32_t v = 0; v < p->n_values; v++) {
        out->producer[v] = out->consumer[v] = ETP_NO_INDEX;
    }
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        const etp_node *node = &p->nodes[n];
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            uint32_t v = node->inputs[i];
            if (i == 0 || node->inputs[i - 1] != v) { // x·x uses x once
                out->n_consumers[v]++;
            }
            if (out->consumer[v] == ETP_NO_INDEX) {
                out->consumer[v] = n;
            }
        }
        for (uint32_t i = 0; i < node->n_outputs; i++) {
            out->producer[node->outputs[i]] = n;
        }
    }
    // A result of the delegate has to exist when it returns, so it counts as read once more:
    // nothing is merged across it.
    for (uint32_t i = 0; i < p->graph->output_ids.n; i++) {
        const etp_xnn_value *v =
            etp_xnn_value_by_id(p->graph, (uint32_t)etp_i32_at(p->graph->output_ids, i));
        if (v) {
            out->n_consumers[v - p->graph->values]++;
        }
    }
}

// The only operand of NODE that is not a constant, ETP_NO_INDEX when there are several or none.
static uint32_t sole_operand(const etp_value_flow *f, uint32_t node)
{
    const etp_node *n = &f->partition->nodes[node];
    uint32_t found = ETP_NO_INDEX;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t v = n->inputs[i];
        if (f->partition->values[v].constant || v == found) {
            continue;
        }
        if (found != ETP_NO_INDEX) {
            return ETP_NO_INDEX;
        }
        found = v;
    }
    return found;
}

uint32_t etp_flow_sole_producer(const etp_value_flow *f, uint32_t node)
{
    uint32_t v = sole_operand(f, node);
    if (v == ETP_NO_INDEX || f->n_consumers[v] != 1 || f->producer[v] == ETP_NO_INDEX ||
        f->producer[v] >= node) { // files are hostile: only look back
        return ETP_NO_INDEX;
    }
    return f->producer[v];
}

static bool is_one_element(const etp_value *v)
{
    for (uint32_t i = 0; i < v->rank; i++) {
        if (v->dims[i] != 1) {
            return false;
        }
    }
    return true;
}

// These are what a table of 256 entries can hold: the result depends on one element alone.
bool etp_flow_is_unary(const etp_value_flow *f, uint32_t node)
{
    const etp_node *n = &f->partition->nodes[node];
    switch (n->type) {
    case ETP_XNN_CONVERT:
    case ETP_XNN_CLAMP:
    case ETP_XNN_SIGMOID:
    case ETP_XNN_FLOOR:
    case ETP_XNN_SQUARE_ROOT:
    case ETP_XNN_CEILING:
    case ETP_XNN_HARDSWISH:
    case ETP_XNN_LEAKY_RELU:
    case ETP_XNN_NEGATE:
    case ETP_XNN_SQUARE:
    case ETP_XNN_ELU:
    case ETP_XNN_ABS:
    case ETP_XNN_RECIPROCAL_SQUARE_ROOT:
    case ETP_XNN_LOG:
    case ETP_XNN_GELU:
    case ETP_XNN_TANH:
    case ETP_XNN_EXP:
    case ETP_XNN_SIN:
    case ETP_XNN_COS:
        return true;
    case ETP_XNN_ADD:
    case ETP_XNN_SUBTRACT:
    case ETP_XNN_MULTIPLY:
    case ETP_XNN_DIV:
    case ETP_XNN_MINIMUM:
    case ETP_XNN_MAXIMUM:
        for (uint32_t i = 0; i < n->n_inputs; i++) {
            const etp_value *v = &f->partition->values[n->inputs[i]];
            if (v->constant && is_one_element(v)) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

static bool is_8_bit(const etp_value *v)
{
    return etp_dtype_bits(v->dtype) == 8;
}

uint32_t etp_flow_lut_start(const etp_value_flow *f, uint32_t node)
{
    const etp_partition *p = f->partition;
    const etp_node *last = &p->nodes[node];
    uint32_t start = node;
    if (!etp_flow_is_unary(f, node) || !is_8_bit(&p->values[last->outputs[0]])) {
        return node;
    }
    uint32_t at = node;
    for (int i = 1; i < MAX_TABLE_CHAIN; i++) {
        uint32_t before = etp_flow_sole_producer(f, at);
        if (before == ETP_NO_INDEX || !etp_flow_is_unary(f, before)) {
            break;
        }
        at = before;
        uint32_t operand = sole_operand(f, at);
        if (operand != ETP_NO_INDEX && is_8_bit(&p->values[operand])) {
            start = at; // the shortest table that ends in NODE; no longer one is tried
            break;
        }
    }
    return start;
}

// Whether XNNPACK clamps inside this node's kernel.
// Those kernels clamp their results anyway: a clamp node behind one becomes its bounds.
static bool has_clamp(int type)
{
    switch (type) {
    case ETP_XNN_CLAMP:
    case ETP_XNN_AVG_POOLING_2D:
    case ETP_XNN_MAX_POOLING_2D:
    case ETP_XNN_CONV_2D:
    case ETP_XNN_DEPTHWISE_CONV_2D:
    case ETP_XNN_CONV_TRANSPOSE_2D:
    case ETP_XNN_FULLY_CONNECTED:
        return true;
    default:
        return false;
    }
}

static bool takes_padding(int type)
{
    return type == ETP_XNN_CONV_2D || type == ETP_XNN_DEPTHWISE_CONV_2D;
}

static bool takes_weights(int type)
{
    return type == ETP_XNN_FULLY_CONNECTED || type == ETP_XNN_BATCH_MATRIX_MULTIPLY;
}

// "May", because XNNPACK's version decides: a fate only makes it cheap to find no operator for the
// node, and an operator that fits is still matched.
etp_node_fate etp_value_flow_fate(const etp_value_flow *f, uint32_t node)
{
    const etp_partition *p = f->partition;
    const etp_node *n = &p->nodes[node];
    if (n->n_outputs == 0) {
        return ETP_FATE_STAYS;
    }
    uint32_t out = n->outputs[0];
    uint32_t before = etp_flow_sole_producer(f, node);
    uint32_t after = f->n_consumers[out] == 1 ? f->consumer[out] : ETP_NO_INDEX;
    int after_type = after == ETP_NO_INDEX ? 0 : p->nodes[after].type;
    switch (n->type) {
    case ETP_XNN_CLAMP:
        if (before != ETP_NO_INDEX && has_clamp(p->nodes[before].type)) {
            return ETP_FATE_INTO_PRODUCER;
        }
        break;
    // A copy behind its only producer moves nothing, and of two reshapes in a row only the second
    // shape counts.
    case ETP_XNN_COPY:
        if (before != ETP_NO_INDEX) {
            return ETP_FATE_INTO_PRODUCER;
        }
        break;
    case ETP_XNN_STATIC_RESHAPE:
        if (before != ETP_NO_INDEX && p->nodes[before].type == ETP_XNN_STATIC_RESHAPE) {
            return ETP_FATE_INTO_PRODUCER;
        }
        break;
    case ETP_XNN_STATIC_CONSTANT_PAD:
        return takes_padding(after_type) ? ETP_FATE_INTO_CONSUMER : ETP_FATE_STAYS;
    // Only as the second operand: a product packs it anyway, and can transpose on the way.
    case ETP_XNN_STATIC_TRANSPOSE:
        if (takes_weights(after_type) && p->nodes[after].n_inputs > 1 &&
            p->nodes[after].inputs[1] == out) {
            return ETP_FATE_INTO_CONSUMER;
        }
        break;
    case ETP_XNN_CONVERT:
        // Dynamic quantisation usually runs inside the linear that reads it and reports no operator
        // of its own.
        if (p->values[out].dtype == ETP_DTYPE_QDINT8 || p->values[out].dtype == ETP_DTYPE_QPINT8) {
            return ETP_FATE_INTO_CONSUMER;
        }
        break;
    default:
        break;
    }
    // Inside a possible table: everything in the chain but its last node.
    for (uint32_t at = node, i = 0; i < MAX_TABLE_CHAIN; i++) {
        if (!etp_flow_is_unary(f, at) || f->n_consumers[p->nodes[at].outputs[0]] != 1) {
            break;
        }
        uint32_t next = f->consumer[p->nodes[at].outputs[0]];
        if (next == ETP_NO_INDEX || next <= at || !etp_flow_is_unary(f, next)) {
            break;
        }
        if (etp_flow_lut_start(f, next) <= node) {
            return ETP_FATE_INTO_TABLE;
        }
        at = next;
    }
    return ETP_FATE_STAYS;
}
