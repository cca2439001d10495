// SPDX-License-Identifier: Apache-2.0
// Which operator of a delegate call is which node: alignment of hand-made lists.

#include "explain/join/parts.h"
#include "unit.h"

// A payload with the dataflow we want: values 2i → node i → value 2i+1 would be dull; NODES form a
// chain, each with one constant of the given data type where it needs one.
typedef struct chain {
    etp_partition partition;
    etp_xnn_graph graph;
    etp_xnn_value xvalues[32];
    etp_value values[32];
    etp_node nodes[16];
    etp_xnn_node xnn[16];
    etp_xnn_window window;
    uint32_t ids[16][3];
} chain;

typedef struct step {
    int type;
    etp_dtype out;
} step;

static void make_chain(chain *c, etp_dtype in, const step *steps, uint32_t n)
{
    static const int64_t k_dims[] = {1, 4, 4, 8}, k_one[] = {1};
    *c = (chain){
        .window = {
                   .kernel_h = 3, .kernel_w = 3, .stride_h = 1, .stride_w = 1, .groups = 1, .pad_top = 1}
    };
    for (uint32_t i = 0; i <= n; i++) { // values 0 … n flow, the last one is a scalar constant
        c->values[i] = (etp_value){.kind = ETP_EVALUE_TENSOR,
                                   .dtype = i ? steps[i - 1].out : in,
                                   .dims = k_dims,
                                   .rank = 4,
                                   .bytes = 128};
    }
    c->values[n + 1] = (etp_value){.kind = ETP_EVALUE_TENSOR,
                                   .dtype = ETP_DTYPE_FLOAT32,
                                   .dims = k_one,
                                   .rank = 1,
                                   .bytes = 4,
                                   .constant = true};
    for (uint32_t i = 0; i < n; i++) {
        bool two = steps[i].type == ETP_XNN_ADD || steps[i].type == ETP_XNN_DIV ||
                   steps[i].type == ETP_XNN_CONV_2D || steps[i].type == ETP_XNN_FULLY_CONNECTED;
        c->ids[i][0] = i;
        c->ids[i][1] = n + 1;
        c->ids[i][2] = i + 1;
        c->xnn[i].window = steps[i].type == ETP_XNN_CONV_2D ? &c->window : NULL;
        c->nodes[i] = (etp_node){.index = i,
                                 .type = steps[i].type,
                                 .inputs = c->ids[i],
                                 .n_inputs = two ? 2 : 1,
                                 .outputs = &c->ids[i][2],
                                 .n_outputs = 1,
                                 .xnn = &c->xnn[i]};
    }
    c->graph.values = c->xvalues;
    c->partition = (etp_partition){.graph = &c->graph,
                                   .values = c->values,
                                   .n_values = n + 2,
                                   .nodes = c->nodes,
                                   .n_nodes = n};
}

static etp_operator_placement align(const chain *c, const char *const *names, uint32_t n,
                                    etp_arena *arena)
{
    etp_operator_placement out;
    etp_str list[32] = {0};
    for (uint32_t i = 0; i < n; i++) {
        list[i] = etp_str_from(names[i]);
    }
    etp_align_operators(&c->partition, list, n, arena, &out);
    return out;
}

static void assert_placed(const etp_operator_placement *a, uint32_t op, uint32_t node,
                          uint32_t first, uint32_t last)
{
    assert_int_equal(a->placed[op].node, node);
    assert_int_equal(a->placed[op].n, last - first + 1);
    for (uint32_t i = 0; i < a->placed[op].n; i++) {
        assert_int_equal(a->covered[a->placed[op].first + i], first + i);
    }
}

static void clamps_go_into_their_producer(void **state)
{
    chain c;
    const step steps[] = {
        {ETP_XNN_CONV_2D, ETP_DTYPE_FLOAT32},
        {ETP_XNN_CLAMP,   ETP_DTYPE_FLOAT32},
        {ETP_XNN_ADD,     ETP_DTYPE_FLOAT32},
        {ETP_XNN_CLAMP,   ETP_DTYPE_FLOAT32},
        {ETP_XNN_CLAMP,   ETP_DTYPE_FLOAT32},
        {ETP_XNN_SIGMOID, ETP_DTYPE_FLOAT32}
    };
    make_chain(&c, ETP_DTYPE_FLOAT32, steps, 6);
    const char *const names[] = {"Convolution (NHWC, F32) IGEMM #1", "Add (ND) #1", "Clamp (NC) #1",
                                 "Sigmoid (NC) #1"};
    etp_operator_placement a = align(&c, names, 4, *state);
    assert_placed(&a, 0, 0, 0, 1); // convolution with its clamp
    assert_placed(&a, 1, 2, 2, 2);
    assert_placed(&a, 2, 3, 3, 4); // the first clamp keeps both limits
    assert_placed(&a, 3, 5, 5, 5);
    assert_true(a.fit == 1.0);
}

static void tables_cover_their_chain(void **state)
{
    chain c;
    etp_arena *arena = *state;
    const step steps[] = {
        {ETP_XNN_CONV_2D,   ETP_DTYPE_QINT8  },
        {ETP_XNN_CONVERT,   ETP_DTYPE_FLOAT32},
        {ETP_XNN_HARDSWISH, ETP_DTYPE_FLOAT32},
        {ETP_XNN_CONVERT,   ETP_DTYPE_QINT8  },
        {ETP_XNN_CONV_2D,   ETP_DTYPE_QINT8  },
        {ETP_XNN_CONVERT,   ETP_DTYPE_FLOAT32}
    };
    make_chain(&c, ETP_DTYPE_QINT8, steps, 6);
    const char *const fused[] = {"Convolution (NHWC, QC8) IGEMM #1", "Invalid Unary Op #1",
                                 "Convolution (NHWC, QC8) IGEMM #2", "Convert (NC) #1"};
    etp_operator_placement a = align(&c, fused, 4, arena);
    assert_placed(&a, 1, 2, 1, 3); // named after the hardswish
    assert_placed(&a, 2, 4, 4, 4);
    assert_placed(&a, 3, 5, 5, 5);
    assert_true(a.fit == 1.0 && a.placed[1].confidence > 0.9);
    // The same program where the runtime did not make a table of it.
    const char *const plain[] = {"Convolution (NHWC, QC8) IGEMM #1",
                                 "Convert (NC) #1",
                                 "HardSwish (NC) #1",
                                 "Convert (NC) #2",
                                 "Convolution (NHWC, QC8) IGEMM #2",
                                 "Convert (NC) #3"};
    a = align(&c, plain, 6, arena);
    for (uint32_t i = 0; i < 6; i++) {
        assert_placed(&a, i, i, i, i);
        assert_true(a.placed[i].confidence > 0.9);
    }
}

static void inserted_converts_have_no_node(void **state)
{
    chain c;
    const step steps[] = {
        {ETP_XNN_CONV_2D, ETP_DTYPE_FLOAT16},
        {ETP_XNN_SIGMOID, ETP_DTYPE_FLOAT16}
    };
    make_chain(&c, ETP_DTYPE_FLOAT16, steps, 2);
    const char *const names[] = {"Convert (NC) #1", "Convolution (NHWC, F32) IGEMM #1",
                                 "Sigmoid (NC) #1", "Convert (NC) #2"};
    etp_operator_placement a = align(&c, names, 4, *state);
    assert_true(a.placed[0].inserted && a.placed[3].inserted);
    assert_int_equal(a.placed[0].node, ETP_NO_INDEX);
    assert_placed(&a, 1, 0, 0, 0);
    assert_placed(&a, 2, 1, 1, 1);
    assert_true(a.placed[1].confidence < 1.0); // the name says float32, the program float16
}

static void doubt_shows_in_the_confidence(void **state)
{
    chain c;
    etp_arena *arena = *state;
    const step steps[] = {
        {ETP_XNN_ADD,     ETP_DTYPE_FLOAT32},
        {ETP_XNN_ADD,     ETP_DTYPE_FLOAT32},
        {ETP_XNN_ADD,     ETP_DTYPE_FLOAT32},
        {ETP_XNN_SOFTMAX, ETP_DTYPE_FLOAT32}
    };
    make_chain(&c, ETP_DTYPE_FLOAT32, steps, 4);
    const char *const missing[] = {"Add (ND) #1", "Add (ND) #2", "Softmax (NC, F32) #1"};
    etp_operator_placement a = align(&c, missing, 3, arena); // one addition vanished: which one?
    assert_true(a.fit < 1.0);
    assert_true(a.placed[0].confidence <= 0.5 && a.placed[1].confidence <= 0.5);
    assert_true(a.placed[2].confidence > 0.9);
    const char *const foreign[] = {"Add (ND) #1", "Max Pooling (NHWC, F32) #1", "Add (ND) #2",
                                   "Add (ND) #3", "Softmax (NC, F32) #1"};
    a = align(&c, foreign, 5, arena); // an operator that the program does not have
    assert_int_equal(a.placed[1].node, ETP_NO_INDEX);
    assert_false(a.placed[1].inserted);
    assert_true(a.placed[1].confidence == 0.0);
    assert_true(a.fit < 1.0);
}

static void nothing_to_align(void **state)
{
    chain c;
    etp_arena *arena = *state;
    const step steps[] = {
        {ETP_XNN_ADD, ETP_DTYPE_FLOAT32}
    };
    make_chain(&c, ETP_DTYPE_FLOAT32, steps, 1);
    etp_operator_placement a = align(&c, NULL, 0, arena);
    assert_true(a.fit < 1.0);
    c.partition.n_nodes = 0;
    const char *const names[] = {"Add (ND) #1"};
    a = align(&c, names, 1, arena);
    assert_int_equal(a.placed[0].node, ETP_NO_INDEX);
    assert_true(a.fit == 0.0);
}

// Longer than one window of the aligner: a chain of 3000 alternating nodes.
static void long_chains_are_aligned_in_windows(void **state)
{
    enum { N = 3000 };
    static etp_value values[N + 1];
    static etp_node nodes[N];
    static uint32_t ids[N][2];
    static const int64_t k_dims[] = {4};
    static etp_str names[N];
    etp_xnn_graph graph = {0};
    uint32_t n_ops = 0;
    for (uint32_t i = 0; i <= N; i++) {
        values[i] = (etp_value){.kind = ETP_EVALUE_TENSOR,
                                .dtype = ETP_DTYPE_FLOAT32,
                                .dims = k_dims,
                                .rank = 1,
                                .bytes = 16};
    }
    static const int k_types[] = {ETP_XNN_SIGMOID, ETP_XNN_CLAMP, ETP_XNN_TANH};
    static const char *const k_named[] = {"Sigmoid (NC) #1", "Clamp (NC) #1", "TanH (NC) #1"};
    for (uint32_t i = 0; i < N; i++) {
        ids[i][0] = i;
        ids[i][1] = i + 1;
        nodes[i] = (etp_node){.index = i,
                              .inputs = &ids[i][0],
                              .n_inputs = 1,
                              .outputs = &ids[i][1],
                              .n_outputs = 1,
                              .type = k_types[i % 3]};
        names[n_ops++] = etp_str_from(k_named[i % 3]);
    }
    etp_partition p = {
        .graph = &graph, .values = values, .n_values = N + 1, .nodes = nodes, .n_nodes = N};
    etp_operator_placement a;
    etp_align_operators(&p, names, n_ops, *state, &a);
    assert_true(a.fit == 1.0);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(a.placed[i].node, i);
    }
}
