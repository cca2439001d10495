// SPDX-License-Identifier: Apache-2.0
// Part of an XNNPACK payload as a payload of its own.
#include "cut/internal.h"

#include "flatbuf/tree.h"
#include "formats/xnnpack_schema.h"

#define HEADER_LENGTH 30u
#define GRAPH_AT 32u // behind the header
#define ALIGNMENT 16u
#define EXTERNAL_INPUT 1u
#define EXTERNAL_OUTPUT 2u

typedef enum role { UNUSED, CONSTANT, INSIDE, INPUT, OUTPUT } role;

typedef struct cutting {
    const etp_partition *p;
    const etp_xnn_graph *g;
    etp_arena *arena;
    etp_fb_node *root;
    role *roles; // of values
    etp_cut_payload *out;
    etp_error *err;
} cutting;

int etp_cut_scalar_type(etp_dtype dtype)
{
    static const int8_t k_types[ETP_DTYPE_COUNT] = {
        [ETP_DTYPE_QUINT8] = 1,   [ETP_DTYPE_QINT8] = 2,   [ETP_DTYPE_INT32] = 4,
        [ETP_DTYPE_QINT32] = 4,   [ETP_DTYPE_FLOAT16] = 6, [ETP_DTYPE_FLOAT32] = 7,
        [ETP_DTYPE_BFLOAT16] = 16}; // each one more than in program.fbs
    return (unsigned)dtype < ETP_DTYPE_COUNT ? k_types[dtype] - 1 : -1;
}

static void find_roles(cutting *c, const bool *nodes, uint32_t wanted)
{
    for (uint32_t i = 0; i < c->p->n_nodes; i++) {
        const etp_node *n = &c->p->nodes[i];
        for (uint32_t k = 0; nodes[i] && k < n->n_inputs; k++) {
            uint32_t v = n->inputs[k];
            bool made = c->roles[v] == INSIDE || c->roles[v] == OUTPUT;
            c->roles[v] = made ? c->roles[v] : INPUT;
            c->roles[v] = c->g->values[v].constant ? CONSTANT : c->roles[v];
        }
        for (uint32_t k = 0; nodes[i] && k < n->n_outputs; k++) {
            uint32_t v = n->outputs[k];
            bool out = v == wanted || (c->g->values[v].flags & EXTERNAL_OUTPUT) != 0;
            c->roles[v] = out ? OUTPUT : INSIDE;
        }
    }
}

// Those that were external keep their order, as a call's arguments have it; new ones come behind.
static uint32_t order_of(const cutting *c, uint32_t v)
{
    uint32_t external = c->p->values[v].external;
    return external == ETP_NO_INDEX ? c->g->n_externs + v : external;
}

static void collect(cutting *c, role kind)
{
    etp_cut_payload *out = c->out;
    for (uint32_t v = 0, first = out->n_args; v < c->g->n_values; v++) {
        if (c->roles[v] == kind) {
            uint32_t at = out->n_args++;
            for (; at > first && order_of(c, out->args[at - 1]) > order_of(c, v); at--) {
                out->args[at] = out->args[at - 1];
            }
            out->args[at] = v;
        }
    }
}

static etp_fb_node *tensor_of(etp_fb_node *value)
{
    etp_fb_node *body = value->slots[VALUE_BODY].tables[0];
    return value->slots[VALUE_TYPE].scalar == VALUE_QUANTISED ? body->slots[QV_TENSOR].tables[0]
                                                              : body;
}

// The payload's own stay as they are written; the partition may have been given others.
static void put_dims(const cutting *c, uint32_t value, etp_fb_node *tensor)
{
    const etp_value *v = &c->p->values[value];
    uint32_t *dims = ETP_NEW_ARRAY(c->arena, uint32_t, v->rank);
    bool others = false;
    for (uint32_t i = 0; i < v->rank; i++) {
        dims[i] = (uint32_t)v->dims[i];
        others = others || dims[i] != (uint32_t)etp_i32_at(c->g->values[value].dims, i);
    }
    if (others) {
        etp_fb_put_u32s(tensor, TV_DIMS, dims, v->rank, c->arena);
    }
}

static void cut_values(cutting *c)
{
    etp_fb_slot *s = &c->root->slots[GRAPH_VALUES];
    uint32_t kept = 0, *ids = ETP_NEW_ARRAY(c->arena, uint32_t, c->out->n_args);
    for (uint32_t i = 0; i < c->out->n_args; i++) {
        uint32_t v = c->out->args[i];
        ids[i] = c->g->values[v].id;
        etp_fb_node *tensor = tensor_of(s->tables[v]);
        const uint32_t flag = i < c->out->n_inputs ? EXTERNAL_INPUT : EXTERNAL_OUTPUT;
        uint64_t flags = tensor->slots[TV_FLAGS].scalar & ~(uint64_t)3;
        etp_fb_put(tensor, TV_EXTERNAL, i);
        etp_fb_put(tensor, TV_FLAGS, flags | flag);
    }
    for (uint32_t v = 0; v < s->n; v++) {
        const etp_xnn_value *x = &c->g->values[v];
        if (c->roles[v] == UNUSED) {
            continue;
        }
        if (c->roles[v] == CONSTANT) {
            c->out->constants[x->constant] = true;
        } else {
            put_dims(c, v, tensor_of(s->tables[v]));
        }
        if (x->quant.scale_constant < c->g->n_constants) {
            c->out->constants[x->quant.scale_constant] = true;
        }
        s->tables[kept++] = s->tables[v];
    }
    s->n = kept;
    etp_fb_put(c->root, GRAPH_EXTERNS, c->out->n_args);
    etp_fb_put_u32s(c->root, GRAPH_INPUTS, ids, c->out->n_inputs, c->arena);
    etp_fb_put_u32s(c->root, GRAPH_OUTPUTS, ids + c->out->n_inputs,
                    c->out->n_args - c->out->n_inputs, c->arena);
}

static void store(uint8_t *at, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

// A magic word where a FlatBuffer has its identifier, then without alignment: length of the header,
// where the graph lies and how long it is, where its constants are and how many bytes.
static void join(cutting *c, etp_bytes graph, uint64_t constant_bytes)
{
    size_t constants_at = (GRAPH_AT + graph.len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t n = constants_at + (size_t)constant_bytes, at = constants_at;
    uint8_t *p = etp_arena_alloc(c->arena, n);
    memcpy(p + 4, "XH00", 4);
    store(p + 8, HEADER_LENGTH, 2);
    store(p + 10, GRAPH_AT, 4);
    store(p + 14, graph.len, 4);
    store(p + 18, constants_at, 4);
    store(p + 22, constant_bytes, 8);
    memcpy(p + GRAPH_AT, graph.ptr, graph.len);
    for (uint32_t i = 0; c->root->slots[GRAPH_CONSTANTS].n && i < c->g->n_constants; i++) {
        etp_bytes data = c->g->constants[i].data;
        if (c->out->constants[i] && data.len) {
            memcpy(p + at, data.ptr, data.len);
            at += (data.len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
    }
    c->out->bytes = (etp_bytes){p, n, 0};
}

etp_status etp_cut_payload_make(const etp_partition *p, const bool *nodes, uint32_t wanted,
                                etp_arena *arena, etp_cut_payload *out, etp_error *err)
{
    const etp_xnn_graph *g = p->graph;
    cutting c = {p, g, arena, NULL, ETP_NEW_ARRAY(arena, role, g->n_values), out, err};
    *out = (etp_cut_payload){.args = ETP_NEW_ARRAY(arena, uint32_t, g->n_values),
                             .constants = ETP_NEW_ARRAY(arena, bool, (size_t)g->n_constants + 1)};
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        if (nodes[i] && !etp_xnn_layout_of((uint8_t)p->nodes[i].type)) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "node %lu is of type %d, which this version does "
                            "not know",
                            (unsigned long)i, p->nodes[i].type);
        }
    }
    find_roles(&c, nodes, wanted);
    collect(&c, INPUT);
    out->n_inputs = out->n_args;
    collect(&c, OUTPUT);
    // What cannot leave a payload cannot be an argument either.
    for (uint32_t i = 0; i < c.out->n_args; i++) {
        const etp_xnn_value *v = &c.g->values[c.out->args[i]];
        if (etp_cut_scalar_type(v->dtype) < 0) {
            return etp_fail(c.err, ETP_UNSUPPORTED,
                            "value %lu is of type %s, which a program cannot hand over",
                            (unsigned long)v->id, etp_dtype_name(v->dtype));
        }
    }
    // It was verified when the program was opened: here for the root.
    size_t at = g->has_header ? etp_load_u32(p->blob.ptr + 10) : 0;
    etp_bytes graph = {p->blob.ptr + at, (size_t)g->flatbuffer_bytes, p->blob.base + at};
    etp_fb_options options = {.max_tables = graph.len / 8 + 64};
    etp_fb_table root;
    ETP_TRY(etp_fb_verify(graph, &etp_xnn_schema, &options, &root, err));
    ETP_TRY(etp_fb_tree(root, &etp_xnn_schema, arena, &c.root, err));
    cut_values(&c);
    etp_fb_slot *s = &c.root->slots[GRAPH_NODES];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (nodes[i]) {
            s->tables[kept++] = s->tables[i];
        }
    }
    s->n = kept;
    // Numbers of constants stay; those that nothing uses lose their bytes and their names. What lay
    // behind the graph moves together.
    etp_fb_slot *old = &c.root->slots[GRAPH_OLD_CONSTANTS], *each = &c.root->slots[GRAPH_CONSTANTS];
    uint64_t constant_bytes = 0;
    for (uint32_t i = 0; i < old->n; i++) {
        if (!c.out->constants[i]) {
            etp_fb_put_bytes(old->tables[i], 0, NULL, 0);
        }
    }
    for (uint32_t i = 0; i < each->n; i++) {
        const etp_xnn_constant *x = &c.g->constants[i];
        if (!c.out->constants[i] || x->data.len) {
            bool used = c.out->constants[i];
            etp_fb_put(each->tables[i], CONSTANT_OFFSET, used ? constant_bytes : 0);
            etp_fb_put(each->tables[i], CONSTANT_SIZE, used ? x->data.len : 0);
            each->tables[i]->slots[CONSTANT_KEY] = (etp_fb_slot){0};
            constant_bytes += used ? (x->data.len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
        }
    }
    ETP_TRY(etp_fb_write(c.root, g->identifier, 0, arena, &graph, err));
    join(&c, graph, constant_bytes);
    return ETP_OK;
}
