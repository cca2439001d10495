// SPDX-License-Identifier: Apache-2.0
// A delegate's blob as nodes and values of the program graph.
#include "program/internal.h"

void etp_value_set_dims(etp_value *value, etp_i32s dims, bool is_unsigned, etp_arena *arena)
{
    int64_t *copy = ETP_NEW_ARRAY(arena, int64_t, dims.n);
    for (uint32_t i = 0; i < dims.n; i++) {
        int32_t d = etp_i32_at(dims, i);
        copy[i] = is_unsigned ? (int64_t)(uint32_t)d : (int64_t)d;
    }
    value->dims = copy;
    value->rank = dims.n;
}

// Sizes are hostile like everything in a payload: a product that does not fit is an unknown size.
static uint64_t bytes_of_dims(const etp_value *v)
{
    uint64_t n = 1, bytes = 0;
    for (uint32_t i = 0; i < v->rank; i++) {
        uint64_t d = (uint64_t)v->dims[i];
        if (d != 0 && n > UINT64_MAX / d) {
            return ETP_BYTES_UNKNOWN;
        }
        n *= d;
    }
    return etp_dtype_bytes(v->dtype, n, &bytes) ? bytes : ETP_BYTES_UNKNOWN;
}

// Scales kept as data, else floats in the graph itself.
static uint64_t scale_bytes(const etp_xnn_graph *g, const etp_quant *q)
{
    if (q->scale_constant != 0 && q->scale_constant < g->n_constants) {
        return g->constants[q->scale_constant].size;
    }
    return 4 * (uint64_t)q->inline_scales.n;
}

static void make_node(const etp_xnn_graph *g, uint32_t index, etp_arena *arena,
                      const etp_value *values, etp_node *out)
{
    const etp_xnn_node *x = &g->nodes[index];
    uint32_t *ids = ETP_NEW_ARRAY(arena, uint32_t, (size_t)x->n_inputs + x->n_outputs);
    out->index = index;
    out->type = (int)x->type;
    out->xnn = x;
    out->debug_handle = x->debug_handle == ETP_XNN_NO_HANDLE ? -1 : (int64_t)x->debug_handle;
    const char *name = etp_xnn_type_name(out->type);
    if (!name) {
        name = etp_arena_printf(arena, "type %d", out->type);
    }
    out->type_name = etp_str_from(name);
    out->inputs = ids;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        if (x->inputs[i] == ETP_XNN_NO_ID) {
            continue; // an optional operand that is not there
        }
        uint32_t v = g->index_by_id[x->inputs[i]];
        ids[out->n_inputs++] = v;
        if (values[v].constant) {
            out->weight_bytes += values[v].bytes + values[v].scale_bytes;
        }
    }
    uint32_t *outputs = ids + out->n_inputs;
    out->outputs = outputs;
    for (uint32_t i = 0; i < x->n_outputs; i++) {
        outputs[out->n_outputs++] = g->index_by_id[x->outputs[i]];
    }
    out->work = etp_work_of_node(out, values);
}

// What payloads of other backends hold stays unknown.
etp_status etp_partition_read(const etp_pte_delegate *delegate, bool dynamic, etp_arena *arena,
                              etp_partition *out, etp_error *err)
{
    etp_error local = {0};
    if (!etp_str_eqz(delegate->id, "XnnpackBackend")) {
        return ETP_OK;
    }
    etp_xnn_graph *g = ETP_NEW(arena, etp_xnn_graph);
    etp_status status = etp_xnn_read(delegate->data, arena, g, &local);
    if (status == ETP_NOMEM) {
        return etp_fail_nomem(err, "XNNPACK graph");
    }
    if (status != ETP_OK) {
        // Other partitions and all kernels can be told all the same.
        out->problem = etp_arena_strdup(arena, etp_str_from(local.msg));
        return ETP_OK;
    }
    etp_value *values = ETP_NEW_ARRAY(arena, etp_value, g->n_values);
    for (uint32_t i = 0; i < g->n_values; i++) {
        const etp_xnn_value *x = &g->values[i];
        etp_value *v = &values[i];
        v->kind = ETP_EVALUE_TENSOR;
        v->dtype = x->dtype;
        v->quant = x->quant;
        v->id = x->id;
        // The place among the arguments of the delegate's call, by which a value of the payload is
        // one of the method.
        v->external = x->external_id < g->n_externs ? x->external_id : ETP_NO_INDEX;
        etp_value_set_dims(v, x->dims, true, arena);
        v->scale_bytes = scale_bytes(g, &x->quant);
        if (x->constant != 0) {
            v->constant = true;
            v->name = g->constants[x->constant].key;
            // A weight's size is what is stored, not what its shape would need: packed types are
            // smaller.
            v->bytes = g->constants[x->constant].size;
        } else {
            v->bytes = bytes_of_dims(v);
            v->dynamic = dynamic;
        }
    }
    out->values = values;
    out->n_values = g->n_values;
    etp_node *nodes = ETP_NEW_ARRAY(arena, etp_node, g->n_nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        make_node(g, i, arena, out->values, &nodes[i]);
        nodes[i].work.bound = dynamic && nodes[i].work.known;
        if (!nodes[i].work.known) {
            out->n_unknown_work++;
        } else if (nodes[i].work.macs <= UINT64_MAX - out->macs) {
            out->macs += nodes[i].work.macs;
            out->bound = out->bound || (nodes[i].work.bound && nodes[i].work.macs > 0);
        } else {
            nodes[i].work = (etp_work){.problem = "the total does not fit 64 bits"};
            out->n_unknown_work++;
        }
    }
    out->nodes = nodes;
    out->n_nodes = g->n_nodes;
    out->graph = g;
    // Entry 0 stands for no constant.
    uint64_t total = 0;
    for (uint32_t i = 1; i < g->n_constants; i++) {
        uint64_t size = g->constants[i].size;
        total = size > UINT64_MAX - total ? UINT64_MAX : total + size;
    }
    out->weight_bytes = total;
    return ETP_OK;
}
