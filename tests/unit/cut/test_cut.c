// SPDX-License-Identifier: Apache-2.0
// Every prefix and every capsule of the programs in tests/data is a sound program with what it
// should have, and no more. That they compute the same is bench/cut's and tests/numerics' to say.
#include <stdio.h>
#include <stdlib.h>

#include "cut/cut.h"
#include "os/os.h"
#include "unit.h"

static const char *const k_programs[] = {
    "linear_xnnpack_fp32.pte", "mixed_xnnpack_fp32.pte", "linear_portable_fp32.pte",
    "fixes/batch_norm.pte",    "fixes/broadcast.pte",    "fixes/decode_token.pte",
    "fixes/islands.pte",       "fixes/layer_norm.pte",   "fixes/odd_sizes.pte",
    "fixes/recurrent.pte",     "fixes/unbind.pte",       "llm/decoder_cache.pte",
    "llm/decoder_grouped.pte", "llm/pipeline.pte",       "llm/shapes.pte",
};

typedef struct opened {
    etp_file file;
    const etp_program *program;
} opened;

static opened open_program(const char *name)
{
    opened o = {0};
    char path[512];
    etp_error err = {0};
    snprintf(path, sizeof path, "%s/tests/data/%s", ETP_TEST_SOURCE_DIR, name);
    if (etp_file_open(path, UINT64_MAX, &o.file, &err) != ETP_OK ||
        etp_program_open(o.file.bytes, NULL, &o.program, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
    return o;
}

static void close_program(opened *o)
{
    etp_program_close(o->program);
    etp_file_close(&o->file);
}

static const etp_value *made_at(const etp_cut_place *at)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    if (at->node == ETP_NO_INDEX) {
        return &at->method->values[i->outputs[0]];
    }
    const etp_partition *p = &at->method->partitions[i->partition];
    return &p->values[p->nodes[at->node].outputs[0]];
}

static void assert_same_shape(const etp_value *got, const etp_value *want)
{
    uint64_t n = 1, m = 1;
    for (uint32_t i = 0; i < got->rank; i++) {
        n *= (uint64_t)got->dims[i];
    }
    for (uint32_t i = 0; i < want->rank; i++) {
        m *= (uint64_t)want->dims[i];
    }
    assert_int_equal(n, m);
    assert_int_equal(got->bytes, want->bytes);
}

static bool is_dynamic_quantised(const etp_value *v)
{
    return v->dtype == ETP_DTYPE_QDINT8 || v->dtype == ETP_DTYPE_QPINT8;
}

static void check_prefix(const opened *o, const etp_cut_place *at)
{
    etp_arena arena = {0};
    etp_error err = {0};
    etp_bytes bytes;
    const etp_program *cut = NULL;
    etp_status status = etp_cut_prefix(o->file.bytes, o->program, at, &arena, &bytes, &err);
    if (status == ETP_UNSUPPORTED) { // each with its reason, which names the operator
        assert_non_null(strstr(err.msg, etp_cut_place_text(at, &arena)));
        const etp_instruction *i = &at->method->instructions[at->instruction];
        assert_true(at->node != ETP_NO_INDEX
                        ? is_dynamic_quantised(made_at(at))
                        : i->n_outputs == 0 || made_at(at)->kind != ETP_EVALUE_TENSOR);
        etp_arena_dispose(&arena);
        return;
    }
    if (status != ETP_OK || etp_program_open(bytes, NULL, &cut, &err) != ETP_OK) {
        fail_msg("%s: %s", etp_cut_place_text(at, &arena), err.msg);
    }
    assert_int_equal(cut->n_methods, 1);
    const etp_method *m = &cut->methods[0];
    assert_int_equal(m->n_inputs, at->method->n_inputs);
    assert_int_equal(m->n_outputs, 1);
    assert_int_equal(m->n_instructions, at->instruction + 1);
    assert_same_shape(&m->values[m->outputs[0]], made_at(at));
    if (at->node != ETP_NO_INDEX) {
        const etp_partition *p = &m->partitions[m->instructions[at->instruction].partition];
        assert_null(p->problem);
        assert_int_equal(p->n_nodes, at->node + 1);
        assert_int_equal(m->instructions[at->instruction].outputs[0] < m->n_values, 1);
    }
    etp_program_close(cut);
    etp_arena_dispose(&arena);
}

static void check_capsule(const opened *o, const etp_cut_place *at)
{
    etp_arena arena = {0};
    etp_error err = {0};
    etp_bytes bytes;
    const etp_program *cut = NULL;
    etp_status status =
        etp_cut_capsule(o->file.bytes, o->program, at, &arena, &bytes, NULL, NULL, &err);
    if (status == ETP_UNSUPPORTED) {
        assert_true(at->node == ETP_NO_INDEX || is_dynamic_quantised(made_at(at)));
        etp_arena_dispose(&arena);
        return;
    }
    if (status != ETP_OK || etp_program_open(bytes, NULL, &cut, &err) != ETP_OK) {
        fail_msg("%s: %s", etp_cut_place_text(at, &arena), err.msg);
    }
    const etp_method *m = &cut->methods[0];
    const etp_partition *p = &m->partitions[0];
    const etp_partition *old =
        &at->method->partitions[at->method->instructions[at->instruction].partition];
    assert_int_equal(m->n_instructions, 1);
    assert_int_equal(p->nodes[p->n_nodes - 1].type, old->nodes[at->node].type);
    assert_int_equal(p->nodes[p->n_nodes - 1].work.macs, old->nodes[at->node].work.macs);
    uint64_t weights = 0;
    for (uint32_t i = 0; i < cut->pte->n_named_data; i++) {
        weights += cut->pte->segments[cut->pte->named_data[i].segment].data.len;
    }
    assert_in_range(bytes.len - weights - p->graph->constant_bytes, 1, 20000);
    etp_program_close(cut);
    etp_arena_dispose(&arena);
}

// The old program's node that makes what node AT takes as K-th; ETP_NO_INDEX: none.
static uint32_t maker_of(const etp_partition *p, uint32_t at, uint32_t k)
{
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        for (uint32_t o = 0; o < p->nodes[i].n_outputs; o++) {
            if (p->nodes[i].outputs[o] == p->nodes[at].inputs[k]) {
                return i;
            }
        }
    }
    return ETP_NO_INDEX;
}

// Its first input is what empties the caches; among its neighbours each operand is made inside that
// a node of the old delegate makes.
static void check_cold(const opened *o, const etp_cut_place *at, bool among, size_t *made)
{
    etp_arena arena = {0};
    etp_error err = {0};
    etp_bytes bytes;
    uint32_t node = 0;
    const etp_program *cut = NULL;
    etp_status status = etp_cut_capsule_cold(o->file.bytes, o->program, at, 4096, among, &arena,
                                             &bytes, &node, &err);
    if (status == ETP_UNSUPPORTED) {
        assert_true(among || is_dynamic_quantised(made_at(at)));
        etp_arena_dispose(&arena);
        return;
    }
    if (status != ETP_OK || etp_program_open(bytes, NULL, &cut, &err) != ETP_OK) {
        fail_msg("%s: %s", etp_cut_place_text(at, &arena), err.msg);
    }
    const etp_method *m = &cut->methods[0];
    const etp_partition *p = &m->partitions[0];
    const etp_partition *old =
        &at->method->partitions[at->method->instructions[at->instruction].partition];
    const etp_value *first = &m->values[m->inputs[0]];
    assert_int_equal(first->bytes, 4100); // never fewer than are asked for
    assert_int_equal(first->dtype, ETP_DTYPE_FLOAT32);
    assert_true(node < p->n_nodes);
    assert_int_equal(p->nodes[node].type, old->nodes[at->node].type);
    assert_int_equal(p->nodes[node].work.macs, old->nodes[at->node].work.macs);
    for (uint32_t i = 0; i < m->instructions[0].n_inputs; i++) {
        assert_true(m->instructions[0].inputs[i] != m->inputs[0]);
    }
    for (uint32_t k = 0; among && k < old->nodes[at->node].n_inputs; k++) {
        if (maker_of(old, at->node, k) != ETP_NO_INDEX) {
            assert_true(maker_of(p, node, k) != ETP_NO_INDEX);
        }
    }
    *made += among;
    etp_program_close(cut);
    etp_arena_dispose(&arena);
}

static void all_cuts_are_programs(void **state)
{
    size_t nodes = 0, among = 0;
    for (size_t f = 0; f < sizeof k_programs / sizeof *k_programs; f++) {
        opened o = open_program(k_programs[f]);
        for (uint32_t k = 0; k < o.program->n_methods; k++) {
            const etp_method *m = &o.program->methods[k];
            for (uint32_t i = 0; i < m->n_instructions; i++) {
                const etp_instruction *x = &m->instructions[i];
                etp_cut_place at = {m, i, ETP_NO_INDEX};
                check_prefix(&o, &at);
                uint32_t n =
                    x->kind == ETP_INSTR_DELEGATE ? m->partitions[x->partition].n_nodes : 0;
                for (at.node = 0; at.node < n; at.node++, nodes++) {
                    check_prefix(&o, &at);
                    check_capsule(&o, &at);
                    check_cold(&o, &at, false, &among);
                    check_cold(&o, &at, true, &among);
                }
            }
        }
        close_program(&o);
    }
    assert_in_range(nodes, 300, 2000);
    assert_in_range(among, nodes / 2, nodes);
}

// The last node of the only delegate: a prefix there is the program again.
static void whole_prefix_has_all_weights(void **state)
{
    opened o = open_program("linear_xnnpack_fp32.pte");
    etp_bytes bytes;
    const etp_program *cut = NULL;
    const etp_method *m = &o.program->methods[0];
    etp_cut_place at = {m, 0, m->partitions[0].n_nodes - 1};
    assert_int_equal(etp_cut_prefix(o.file.bytes, o.program, &at, *state, &bytes, NULL), ETP_OK);
    assert_int_equal(etp_program_open(bytes, NULL, &cut, NULL), ETP_OK);
    const etp_partition *a = &m->partitions[0], *b = &cut->methods[0].partitions[0];
    assert_int_equal(b->weight_bytes, a->weight_bytes);
    assert_int_equal(b->graph->n_externs, a->graph->n_externs);
    assert_int_equal(b->delegate->n_specs, a->delegate->n_specs);
    etp_program_close(cut);
    close_program(&o);
}

static void cut_all(etp_bytes file)
{
    etp_error err;
    const etp_program *p = NULL;
    if (etp_program_open(file, NULL, &p, &err) != ETP_OK) {
        return;
    }
    for (uint32_t k = 0; k < p->n_methods; k++) {
        const etp_method *m = &p->methods[k];
        for (uint32_t i = 0; i < m->n_instructions; i++) {
            const etp_instruction *x = &m->instructions[i];
            uint32_t n = x->kind == ETP_INSTR_DELEGATE ? m->partitions[x->partition].n_nodes : 0;
            for (uint32_t node = 0; node <= n; node++) {
                etp_cut_place at = {m, i, node < n ? node : ETP_NO_INDEX};
                etp_arena arena = {0};
                etp_bytes out;
                (void)!etp_cut_prefix(file, p, &at, &arena, &out, &err);
                if (etp_cut_capsule(file, p, &at, &arena, &out, NULL, NULL, &err) == ETP_OK) {
                    (void)!etp_cut_reorder(out, &arena, &out, &err);
                }
                if (node < n) {
                    uint32_t number;
                    (void)!etp_cut_capsule_rows(file, p, &at, 6, &arena, &out, &err);
                    (void)!etp_cut_capsule_cold(file, p, &at, 64, true, &arena, &out, &number,
                                                &err);
                }
                etp_arena_dispose(&arena);
            }
        }
    }
    etp_program_close(p);
}

// ---- other numbers of rows ----

static void assert_dims(const etp_value *v, const int64_t *want, uint32_t n)
{
    assert_int_equal(v->rank, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(v->dims[i], want[i]);
    }
    assert_false(v->dynamic);
}

typedef struct sized { // what a capsule with ROWS must have, by hand
    const char *program;
    uint32_t delegate, node;
    uint64_t own, rows;
    int64_t in[4], out[4];
    uint32_t rank, n_nodes;
} sized;

static void check_sized(const sized *want)
{
    opened o = open_program(want->program);
    const etp_method *m = &o.program->methods[0];
    etp_cut_place at = {m, 0, want->node};
    while (m->instructions[at.instruction].kind != ETP_INSTR_DELEGATE ||
           m->partitions[m->instructions[at.instruction].partition].index != want->delegate) {
        at.instruction++;
    }
    etp_arena arena = {0};
    etp_error err = {0};
    etp_bytes bytes;
    const etp_program *cut = NULL;
    uint64_t own = 0;
    assert_int_equal(etp_cut_rows(&at, &own, &err), ETP_OK);
    assert_int_equal(own, want->own);
    if (etp_cut_capsule_rows(o.file.bytes, o.program, &at, want->rows, &arena, &bytes, &err) !=
            ETP_OK ||
        etp_program_open(bytes, NULL, &cut, &err) != ETP_OK) {
        fail_msg("%s %lu: %s", want->program, (unsigned long)want->node, err.msg);
    }
    const etp_method *made = &cut->methods[0];
    const etp_partition *p = &made->partitions[0];
    const etp_node *node = &p->nodes[p->n_nodes - 1];
    assert_int_equal(p->n_nodes, want->n_nodes);
    assert_dims(&made->values[made->inputs[0]], want->in, want->rank);
    assert_dims(&made->values[made->outputs[0]], want->out, want->rank);
    assert_dims(&p->values[node->inputs[0]], want->in, want->rank);
    assert_dims(&p->values[node->outputs[0]], want->out, want->rank);
    const etp_partition *old = &m->partitions[m->instructions[at.instruction].partition];
    const etp_node *whole = &old->nodes[want->node];
    assert_int_equal(node->weight_bytes, whole->weight_bytes);
    assert_int_equal(node->work.macs * own, whole->work.macs * want->rows);
    etp_program_close(cut);
    etp_arena_dispose(&arena);
    close_program(&o);
}

static void capsules_have_the_rows_asked_for(void **state)
{
    static const sized k_want[] = {
        {"linear_xnnpack_fp32.pte", 0, 0,  2,    7,  {7, 4},        {7, 3},        2, 1},
        {"linear_xnnpack_fp32.pte", 0, 0,  2,    1,  {1, 4},        {1, 3},        2, 1},
        // All that lies before the rows is one.
        {"fixes/recurrent.pte",     0, 1,  3,    5,  {1, 5, 64},    {1, 5, 288},   3, 1},
        // The convert in front of it, whose operand a program can hand over.
        {"fixes/decode_token.pte",  1, 5,  1,    9,  {1, 9, 32},    {1, 9, 32},    3, 2},
        // Each of two matrices.
        {"fixes/decode_token.pte",  3, 17, 1,    4,  {2, 4, 16},    {2, 4, 16},    3, 1},
        // 3 × 3 with a border of one: as many pixels in as out; 12 = 3 × 4, 7 = 1 × 7.
        {"fixes/odd_sizes.pte",     0, 2,  2304, 12, {1, 3, 4, 33}, {1, 3, 4, 33}, 4, 1},
        {"fixes/odd_sizes.pte",     0, 1,  2304, 7,  {1, 1, 7, 16}, {1, 1, 7, 33}, 4, 1},
    };
    for (size_t i = 0; i < sizeof k_want / sizeof *k_want; i++) {
        check_sized(&k_want[i]);
    }
}

static void rows_are_refused_with_a_reason(void **state)
{
    opened o = open_program("fixes/odd_sizes.pte");
    etp_arena *arena = *state;
    etp_error err = {0};
    etp_bytes out;
    etp_cut_place at = {&o.program->methods[0], 0, 0}; // a transpose
    uint64_t rows;
    assert_int_equal(etp_cut_rows(&at, &rows, &err), ETP_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "it has no M"));
    at.node = 2;
    assert_int_equal(
        etp_cut_capsule_rows(o.file.bytes, o.program, &at, (uint64_t)1 << 31, arena, &out, &err),
        ETP_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "M is 1 to 2147483647"));
    // A prime: one row of pixels, whose bytes no program can plan.
    assert_int_equal(
        etp_cut_capsule_rows(o.file.bytes, o.program, &at, 2147483647, arena, &out, &err),
        ETP_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "no size that can be planned"));
    close_program(&o);
}

// What the readers take may still lack what a cut needs.
static void damaged_programs_are_refused_or_cut(void **state)
{
    static const char *const k_small[] = {"linear_xnnpack_fp32.pte", "mixed_xnnpack_fp32.pte",
                                          "llm/pipeline.pte", "llm/attention.pte"};
    for (size_t f = 0; f < sizeof k_small / sizeof *k_small; f++) {
        opened o = open_program(k_small[f]);
        const etp_bytes whole = o.file.bytes;
        uint8_t *copy = malloc(whole.len);
        memcpy(copy, whole.ptr, whole.len);
        for (size_t at = 0; at + 1 < whole.len; at++) { // a field that is gone, another number
            static const uint8_t k_bytes[][2] = {
                {0,    0   },
                {0xff, 0xff},
                {1,    0   },
                {2,    0   }
            };
            for (size_t k = 0; k < sizeof k_bytes / sizeof *k_bytes; k++) {
                memcpy(copy + at, k_bytes[k], 2);
                cut_all((etp_bytes){copy, whole.len, 0});
            }
            memcpy(copy + at, whole.ptr + at, 2);
        }
        free(copy);
        close_program(&o);
    }
}
