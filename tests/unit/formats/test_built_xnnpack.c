// SPDX-License-Identifier: Apache-2.0
// XNNPACK payloads that no exporter at hand writes: every node type, every form of quantisation,
// constants inside the payload, the layouts of old exporters.
#include <math.h>

#include "../flatbuf/builder.h"
#include "formats/xnnpack_schema.h"
#include "unit.h"

#define N_VALUES 24 // more than any node has fields, so that field numbers can be value ids

typedef struct bench {
    etp_arena *arena;
    etp_fbb b;
} bench;

static bench start(etp_arena *arena)
{
    bench t = {.arena = arena};
    etp_fbb_init(&t.b, arena);
    return t;
}

static etp_fbb_ref u32_vec(bench *t, const uint32_t *items, size_t n)
{
    return etp_fbb_vec(&t->b, items, n, 4, 0);
}

static uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

// A plain value of data type DATATYPE with ID; CONSTANT 0 = none.
static etp_fbb_ref tensor_value(bench *t, int datatype, uint32_t id, uint32_t constant)
{
    etp_fbb_ref dims = u32_vec(t, (const uint32_t[]){2, 3}, 2);
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, TV_DATATYPE, 2, (uint16_t)datatype);
    etp_fbb_add(&t->b, TV_RANK, 4, 2);
    etp_fbb_add_ref(&t->b, TV_DIMS, dims);
    etp_fbb_add(&t->b, TV_CONSTANT, 4, constant);
    etp_fbb_add(&t->b, TV_EXTERNAL, 4, UINT32_MAX);
    etp_fbb_add(&t->b, TV_ID, 4, id);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref value(bench *t, uint8_t type, etp_fbb_ref body)
{
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, VALUE_TYPE, 1, type);
    etp_fbb_add_ref(&t->b, VALUE_BODY, body);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref quantised(bench *t, int datatype, uint32_t id, uint32_t constant, uint8_t kind,
                             etp_fbb_ref params)
{
    etp_fbb_ref tensor = tensor_value(t, datatype, id, constant);
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, QV_TENSOR, tensor);
    etp_fbb_add(&t->b, QV_TYPE, 1, kind);
    etp_fbb_add_ref(&t->b, QV_PARAMS, params);
    return value(t, VALUE_QUANTISED, etp_fbb_end(&t->b));
}

static etp_fbb_ref node(bench *t, uint8_t type, etp_fbb_ref body)
{
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, NODE_TYPE, 1, type);
    etp_fbb_add_ref(&t->b, NODE_BODY, body);
    etp_fbb_add(&t->b, NODE_HANDLE, 4, 1000u + type);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref plain_values(bench *t)
{
    etp_fbb_ref refs[N_VALUES];
    for (uint32_t i = 0; i < N_VALUES; i++) {
        refs[i] = value(t, VALUE_PLAIN, tensor_value(t, 1, i, 0));
    }
    return etp_fbb_vec_refs(&t->b, refs, N_VALUES);
}

static etp_bytes graph(bench *t, etp_fbb_ref nodes, etp_fbb_ref values, etp_fbb_ref constants,
                       etp_fbb_ref old_constants, const char identifier[4])
{
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, GRAPH_NODES, nodes);
    etp_fbb_add_ref(&t->b, GRAPH_VALUES, values);
    etp_fbb_add_ref(&t->b, GRAPH_CONSTANTS, constants);
    etp_fbb_add_ref(&t->b, GRAPH_OLD_CONSTANTS, old_constants);
    return etp_fbb_finish(&t->b, etp_fbb_end(&t->b), identifier, false);
}

static void must_read(bench *t, etp_bytes payload, etp_xnn_graph *g)
{
    etp_error err = {0};
    assert_true(payload.len > 0);
    ASSERT_OK(etp_xnn_read(payload, t->arena, g, &err), err);
}

static void must_fail(bench *t, etp_bytes payload, const char *message)
{
    etp_xnn_graph g;
    etp_error err = {0};
    assert_int_equal(etp_xnn_read(payload, t->arena, &g, &err), ETP_CORRUPT);
    if (!strstr(err.msg, message)) {
        fail_msg("\"%s\" does not say \"%s\"", err.msg, message);
    }
}

// ---- node types ----

// Field numbers by the schema's text, apart from the reader's own tables.
typedef struct shape {
    unsigned n_fields;
    unsigned vectors;          // bit i: field i is a vector
    int inputs[6], outputs[3]; // -1-terminated
    int flags, list, list2, window_fields;
} shape;

static const shape k_unary = {
    3, 0, {0, -1},
      {1, -1},
      2, -1, -1, 0
};
static const shape k_binary = {
    4, 0, {0, 1, -1},
      {2, -1},
      3, -1, -1, 0
};
static const shape k_fc = {
    5, 0, {0, 1, 2, -1},
      {3, -1},
      4, -1, -1, 0
};
static const shape k_conv = {
    20, 0, {15, 16, 17, -1},
      {18, -1},
      19, -1, -1, 15
};
static const shape k_pool = {
    13, 0, {10, -1},
      {11, -1},
      12, -1, -1, 10
};
static const shape k_argmax = {
    10, 0, {6, -1},
      {7, 8, -1},
      9, -1, -1, 6
};
static const shape k_list = {
    5, 1 << 1, {2, -1},
        {3, -1},
        4, 1, -1, 0
};
static const shape k_resize = {
    5, 0, {2, -1},
      {3, -1},
      4, -1, -1, 0
};
static const shape k_pad = {
    6, 3, {3, -1},
      {4, -1},
      5, 0, 1, 0
};
static const shape k_param = {
    4, 0, {1, -1},
      {2, -1},
      3, -1, -1, 0
};
static const shape k_slice = {
    6, 6, {3, -1},
      {4, -1},
      5, 1, 2, 0
};
static const shape k_sdpa = {
    7, 0, {0, 1, 2, 3, 4, -1},
      {5, -1},
      6, -1, -1, 0
};
static const shape k_cat2 = {
    8, 0, {1, 2, -1},
      {5, -1},
      6, -1, -1, 0
};
static const shape k_cat3 = {
    8, 0, {1, 2, 3, -1},
      {5, -1},
      6, -1, -1, 0
};
static const shape k_cat4 = {
    8, 0, {1, 2, 3, 4, -1},
      {5, -1},
      6, -1, -1, 0
};
static const shape k_cat5 = {
    8, 0, {1, 2, 3, 4, 7, -1},
      {5, -1},
      6, -1, -1, 0
};

static const shape *shape_of(int type)
{
    switch (type) {
    case 1:
    case 8:
    case 12:
    case 15:
    case 16:
    case 26:
    case 31:
    case 37:
        return &k_binary;
    case 2:
        return &k_fc;
    case 5:
    case 20:
        return &k_list;
    case 7:
    case 13:
    case 39:
        return &k_conv;
    case 9:
        return &k_resize;
    case 10:
        return &k_pad;
    case 11:
    case 14:
        return &k_pool;
    case 21:
        return &k_argmax;
    case 25:
    case 29:
        return &k_param;
    case 32:
        return &k_cat2;
    case 33:
        return &k_cat3;
    case 34:
        return &k_cat4;
    case 35:
        return &k_slice;
    case 36:
        return &k_sdpa;
    case 38:
        return &k_cat5;
    default:
        return &k_unary;
    }
}

// Every scalar field holds its own number.
static etp_fbb_ref body(bench *t, const shape *s)
{
    etp_fbb_ref vectors[8] = {0};
    for (unsigned i = 0; i < s->n_fields && i < 8; i++) {
        if ((s->vectors >> i & 1) != 0) {
            vectors[i] = u32_vec(t, (const uint32_t[]){100 + i, 200 + i}, 2);
        }
    }
    etp_fbb_begin(&t->b);
    for (unsigned i = 0; i < s->n_fields; i++) {
        if (i < 8 && vectors[i]) {
            etp_fbb_add_ref(&t->b, i, vectors[i]);
        } else {
            etp_fbb_add(&t->b, i, 4, i);
        }
    }
    return etp_fbb_end(&t->b);
}

static void check_window(const etp_xnn_window *w, int n_fields)
{
    const uint32_t fields[] = {w->pad_top,    w->pad_right,  w->pad_bottom, w->pad_left,
                               w->kernel_h,   w->kernel_w,   w->stride_h,   w->stride_w,
                               w->dilation_h, w->dilation_w, w->group_in,   w->group_out,
                               w->groups,     w->adjust_h,   w->adjust_w};
    for (int i = 0; i < n_fields; i++) {
        assert_int_equal(fields[i], i);
    }
}

static void every_node_type(void **state)
{
    bench t = start(*state);
    etp_fbb_ref refs[47];
    for (int type = 1; type <= 47; type++) {
        refs[type - 1] = node(&t, (uint8_t)type, body(&t, shape_of(type)));
    }
    etp_fbb_ref nodes = etp_fbb_vec_refs(&t.b, refs, 47);
    etp_xnn_graph g;
    must_read(&t, graph(&t, nodes, plain_values(&t), 0, 0, "XN01"), &g);
    assert_false(g.has_header);
    assert_int_equal(g.n_nodes, 47);
    for (int type = 1; type <= 47; type++) {
        const etp_xnn_node *n = &g.nodes[type - 1];
        const shape *s = shape_of(type);
        uint32_t n_in = 0, n_out = 0;
        assert_int_equal((int)n->type, type);
        assert_non_null(etp_xnn_type_name(type));
        assert_int_equal(n->debug_handle, 1000 + type);
        for (; s->inputs[n_in] >= 0; n_in++) {
            assert_int_equal(n->inputs[n_in], s->inputs[n_in]);
        }
        for (; s->outputs[n_out] >= 0; n_out++) {
            assert_int_equal(n->outputs[n_out], s->outputs[n_out]);
        }
        assert_int_equal(n->n_inputs, n_in);
        assert_int_equal(n->n_outputs, n_out);
        assert_int_equal(n->flags, s->flags);
        assert_int_equal(n->list.n, s->list >= 0 ? 2 : 0);
        assert_int_equal(n->list2.n, s->list2 >= 0 ? 2 : 0);
        if (s->list >= 0) {
            assert_int_equal(etp_i32_at(n->list, 1), 200 + s->list);
        }
        if (s->list2 >= 0) {
            assert_int_equal(etp_i32_at(n->list2, 0), 100 + s->list2);
        }
        assert_int_equal(n->window != NULL, s->window_fields > 0);
        if (n->window) {
            check_window(n->window, s->window_fields);
        }
    }
    assert_int_equal(g.nodes[ETP_XNN_STATIC_RESIZE_BILINEAR_2D - 1].new_width, 1);
    assert_true(isinf(g.nodes[0].max) && !g.nodes[0].has_min_max);
    assert_null(etp_xnn_type_name(48));
    assert_null(etp_xnn_type_name(0));
}

static void details_of_nodes(void **state)
{
    bench t = start(*state);
    // ELU with alpha 0.5 and a fused clamp; a newer type; a fully connected node without bias.
    etp_fbb_begin(&t.b);
    etp_fbb_add(&t.b, 0, 4, float_bits(0.5f));
    etp_fbb_add(&t.b, 1, 4, 0);
    etp_fbb_add(&t.b, 2, 4, 1);
    etp_fbb_ref elu = etp_fbb_end(&t.b);
    etp_fbb_begin(&t.b);
    etp_fbb_add(&t.b, 0, 4, float_bits(-1.0f));
    etp_fbb_add(&t.b, 1, 4, float_bits(6.0f));
    etp_fbb_ref limits = etp_fbb_end(&t.b);
    etp_fbb_begin(&t.b);
    etp_fbb_add(&t.b, NODE_TYPE, 1, ETP_XNN_ELU);
    etp_fbb_add_ref(&t.b, NODE_BODY, elu);
    etp_fbb_add_ref(&t.b, NODE_MIN_MAX, limits);
    etp_fbb_ref first = etp_fbb_end(&t.b);
    etp_fbb_begin(&t.b);
    etp_fbb_add(&t.b, 0, 4, 0);
    etp_fbb_add(&t.b, 1, 4, 1);
    etp_fbb_add(&t.b, 2, 4, UINT32_MAX);
    etp_fbb_add(&t.b, 3, 4, 2);
    etp_fbb_ref fc = etp_fbb_end(&t.b);
    const etp_fbb_ref refs[] = {first, node(&t, 99, body(&t, &k_unary)),
                                node(&t, ETP_XNN_FULLY_CONNECTED, fc)};
    etp_fbb_ref nodes = etp_fbb_vec_refs(&t.b, refs, 3);
    etp_xnn_graph g;
    must_read(&t, graph(&t, nodes, plain_values(&t), 0, 0, "XN00"), &g);
    assert_string_equal(g.identifier, "XN00");
    assert_true(g.nodes[0].param == 0.5f && g.nodes[0].min == -1.0f && g.nodes[0].max == 6.0f);
    assert_int_equal(g.nodes[1].n_inputs, 0);
    assert_int_equal((int)g.nodes[1].type, 99);
    assert_int_equal(g.nodes[2].inputs[2], ETP_XNN_NO_ID);
}

static void ids_are_checked(void **state)
{
    for (unsigned field = 0; field < 2; field++) {
        bench t = start(*state);
        etp_fbb_begin(&t.b);
        etp_fbb_add(&t.b, field, 4, N_VALUES); // one behind the last
        etp_fbb_ref bad = node(&t, ETP_XNN_ABS, etp_fbb_end(&t.b));
        etp_fbb_ref nodes = etp_fbb_vec_refs(&t.b, &bad, 1);
        must_fail(&t, graph(&t, nodes, plain_values(&t), 0, 0, "XN01"),
                  field == 0 ? "input value 24" : "output value 24");
    }
    bench t = start(*state);
    const etp_fbb_ref twins[] = {value(&t, VALUE_PLAIN, tensor_value(&t, 1, 3, 0)),
                                 value(&t, VALUE_PLAIN, tensor_value(&t, 1, 3, 0))};
    must_fail(&t, graph(&t, 0, etp_fbb_vec_refs(&t.b, twins, 2), 0, 0, "XN01"), "two values");
    t = start(*state);
    etp_fbb_ref far = value(&t, VALUE_PLAIN, tensor_value(&t, 1, 4000000000u, 0));
    must_fail(&t, graph(&t, 0, etp_fbb_vec_refs(&t.b, &far, 1), 0, 0, "XN01"), "value id");
    t = start(*state);
    etp_fbb_ref constant = value(&t, VALUE_PLAIN, tensor_value(&t, 1, 0, 5));
    must_fail(&t, graph(&t, 0, etp_fbb_vec_refs(&t.b, &constant, 1), 0, 0, "XN01"), "constant 5");
}

// ---- quantisation and constants ----

static etp_fbb_ref constant_entry(bench *t, uint64_t offset, uint64_t size, const char *key)
{
    etp_fbb_ref name = key ? etp_fbb_str(&t->b, etp_str_from(key)) : 0;
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, CONSTANT_OFFSET, 8, offset);
    etp_fbb_add(&t->b, CONSTANT_SIZE, 8, size);
    etp_fbb_add_ref(&t->b, CONSTANT_KEY, name);
    return etp_fbb_end(&t->b);
}

// Header in front, DATA behind: the layout of exporters before named data.
static etp_bytes with_header(bench *t, etp_bytes fb, size_t data)
{
    size_t offset = 32 + (fb.len + 15) / 16 * 16;
    uint8_t *out = etp_arena_alloc(t->arena, offset + data);
    assert_non_null(out);
    memcpy(out + 4, "XH00", 4);
    memcpy(out + 8, &(uint16_t){30}, 2);
    memcpy(out + 10, &(uint32_t){32}, 4);
    memcpy(out + 14, &(uint32_t){(uint32_t)fb.len}, 4);
    memcpy(out + 18, &(uint32_t){(uint32_t)offset}, 4);
    memcpy(out + 22, &(uint64_t){data}, 8);
    memcpy(out + 32, fb.ptr, fb.len);
    for (size_t i = 0; i < data; i++) {
        out[offset + i] = (uint8_t)i;
    }
    return (etp_bytes){out, offset + data, 0};
}

static etp_bytes quantised_graph(bench *t, uint64_t weight_offset)
{
    const float scales[] = {0.25f, 0.5f};
    const uint16_t bf16[] = {1, 2, 3};
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, PER_TENSOR_SCALE, 4, float_bits((float)NAN));
    etp_fbb_add(&t->b, PER_TENSOR_ZERO, 4, (uint32_t)-7);
    etp_fbb_ref per_tensor = etp_fbb_end(&t->b);
    etp_fbb_ref list = etp_fbb_vec(&t->b, scales, 2, 4, 0);
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, PER_CHANNEL_SCALES, list);
    etp_fbb_add(&t->b, PER_CHANNEL_DIM, 4, 1);
    etp_fbb_ref inline_scales = etp_fbb_end(&t->b);
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, GROUP_SIZE, 4, 32);
    etp_fbb_add(&t->b, GROUP_BUFFER, 4, 2);
    etp_fbb_add(&t->b, GROUP_N, 4, 6);
    etp_fbb_ref group = etp_fbb_end(&t->b);
    list = etp_fbb_vec(&t->b, bf16, 3, 2, 0);
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, GROUP_SIZE, 4, 64);
    etp_fbb_add_ref(&t->b, GROUP_OLD_SCALES, list);
    etp_fbb_ref old_group = etp_fbb_end(&t->b);
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, 0, 4, 2);
    etp_fbb_ref per_token = etp_fbb_end(&t->b);
    const etp_fbb_ref values[] = {
        quantised(t, 3, 0, 0, ETP_QUANT_PER_TENSOR, per_tensor),
        quantised(t, 6, 1, 1, ETP_QUANT_PER_CHANNEL, inline_scales),
        quantised(t, 10, 2, 1, ETP_QUANT_PER_CHANNEL_GROUP, group),
        quantised(t, 10, 3, 1, ETP_QUANT_PER_CHANNEL_GROUP, old_group),
        quantised(t, 9, 4, 0, ETP_QUANT_PER_TOKEN, per_token),
        quantised(t, 8, 5, 3, 0, 0),
    };
    const etp_fbb_ref constants[] = {
        constant_entry(t, UINT64_MAX, 0, NULL), constant_entry(t, weight_offset, 48, NULL),
        constant_entry(t, UINT64_MAX, 12, "scale_abc"), constant_entry(t, 0, 16, NULL)};
    etp_fbb_ref value_list = etp_fbb_vec_refs(&t->b, values, 6);
    etp_fbb_ref constant_list = etp_fbb_vec_refs(&t->b, constants, 4);
    return with_header(t, graph(t, 0, value_list, constant_list, 0, "XN01"), 64);
}

static void every_quantisation(void **state)
{
    bench t = start(*state);
    etp_xnn_graph g;
    must_read(&t, quantised_graph(&t, 16), &g);
    assert_true(g.has_header);
    assert_int_equal(g.constant_bytes, 64);
    const etp_xnn_value *v = g.values;
    assert_int_equal(v[0].quant.kind, ETP_QUANT_PER_TENSOR);
    assert_true(isnan(v[0].quant.scale)); // kept as it is, arithmetic is the caller's affair
    assert_int_equal(v[0].quant.zero_point, -7);
    assert_int_equal(v[1].quant.kind, ETP_QUANT_PER_CHANNEL);
    assert_int_equal(v[1].quant.n_scales, 2);
    assert_int_equal(etp_i32_at(v[1].quant.inline_scales, 1), (int32_t)float_bits(0.5f));
    assert_int_equal(v[1].quant.channel_dim, 1);
    assert_int_equal(v[2].quant.kind, ETP_QUANT_PER_CHANNEL_GROUP);
    assert_int_equal(v[2].quant.group_size, 32);
    assert_int_equal(v[2].quant.scale_constant, 2);
    assert_int_equal(v[2].quant.n_scales, 6);
    assert_int_equal(v[3].quant.n_scales, 3);
    assert_int_equal(v[4].quant.kind, ETP_QUANT_PER_TOKEN);
    assert_int_equal(v[4].quant.n_nonbatch_dims, 2);
    assert_int_equal(v[4].dtype, ETP_DTYPE_QDINT8);
    assert_int_equal(v[5].quant.kind, ETP_QUANT_NONE);
    assert_int_equal(v[5].dtype, ETP_DTYPE_QCINT4);
    assert_int_equal(g.constants[1].data.len, 48);
    assert_int_equal(g.constants[1].data.ptr[0], 16);
    assert_int_equal(g.constants[2].data.len, 0);
    assert_true(etp_str_eqz(g.constants[2].key, "scale_abc"));
    t = start(*state);
    must_fail(&t, quantised_graph(&t, 17), "constant data"); // one byte too far
}

static void constants_of_old_exporters(void **state)
{
    bench t = start(*state);
    const uint8_t bytes[] = {9, 8, 7};
    etp_fbb_ref storage = etp_fbb_vec(&t.b, bytes, 3, 1, 16);
    etp_fbb_begin(&t.b);
    etp_fbb_ref none = etp_fbb_end(&t.b);
    etp_fbb_begin(&t.b);
    etp_fbb_add_ref(&t.b, 0, storage);
    const etp_fbb_ref buffers[] = {none, etp_fbb_end(&t.b)};
    etp_fbb_ref v = value(&t, VALUE_PLAIN, tensor_value(&t, 3, 0, 1));
    etp_fbb_ref values = etp_fbb_vec_refs(&t.b, &v, 1);
    etp_fbb_ref old = etp_fbb_vec_refs(&t.b, buffers, 2);
    etp_xnn_graph g;
    must_read(&t, graph(&t, 0, values, 0, old, "XN00"), &g);
    assert_int_equal(g.n_constants, 2);
    assert_int_equal(g.constants[1].size, 3);
    assert_int_equal(g.constants[1].data.ptr[2], 7);
}

static void headers_are_checked(void **state)
{
    bench t = start(*state);
    etp_bytes good = quantised_graph(&t, 16);
    uint8_t *copy = etp_arena_alloc(t.arena, good.len);
    assert_non_null(copy);
    const struct {
        size_t at;
        uint8_t byte;
        const char *message;
    } k_bad[] = {
        {8,  29,   "header of 29" },
        {13, 0xff, "XNNPACK graph"},
        {17, 0xff, "XNNPACK graph"},
        {21, 0xff, "constant data"},
        {29, 0x7f, "constant data"}
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        memcpy(copy, good.ptr, good.len);
        copy[k_bad[i].at] = k_bad[i].byte;
        must_fail(&t, (etp_bytes){copy, good.len, 0}, k_bad[i].message);
    }
}
