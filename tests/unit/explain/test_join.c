// SPDX-License-Identifier: Apache-2.0
// The join of recordings to programs: which method, which instruction, which node, and how sure.
#include <stdio.h>
#include <string.h>

#include "../corpus.h"
#include "unit.h"

#include "explain/join/parts.h"

static const char k_data[] = ETP_TEST_SOURCE_DIR "/tests/data";

typedef struct joined {
    etp_file program_file, dump_file;
    const etp_program *program;
    etp_trace *trace;
    etp_arena arena;
} joined;

static void open_pair(const char *program, const char *dump, joined *j)
{
    etp_error err = {0};
    *j = (joined){0};
    if (etp_file_open(program, (uint64_t)1 << 32, &j->program_file, &err) != ETP_OK ||
        etp_program_open(j->program_file.bytes, NULL, &j->program, &err) != ETP_OK) {
        fail_msg("%s: %s", program, err.msg);
    }
    if (dump) {
        open_dump(dump, &j->dump_file, &j->trace);
    }
}

static void close_pair(joined *j)
{
    etp_trace_close(j->trace);
    etp_program_close(j->program);
    etp_file_close(&j->dump_file);
    etp_file_close(&j->program_file);
    etp_arena_dispose(&j->arena);
}

static etp_join join_block(joined *j, size_t block)
{
    etp_join out;
    assert_int_equal(
        etp_join_block(j->program, etp_trace_block_at(j->trace, block), &j->arena, &out, NULL),
        ETP_OK);
    assert_int_equal(out.n_events, etp_trace_block_at(j->trace, block)->n_events);
    return out;
}

static void open_fixture(const char *program, const char *dump, joined *j)
{
    char a[512], b[512];
    snprintf(a, sizeof a, "%s/%s", k_data, program);
    snprintf(b, sizeof b, "%s/%s", k_data, dump);
    open_pair(a, b, j);
}

// ---- fixtures ----

static void every_event_of_the_mixed_model(void **state)
{
    joined j;
    open_fixture("mixed_xnnpack_fp32.pte", "mixed_xnnpack_fp32.etdump", &j);
    const etp_trace_block *block = etp_trace_block_at(j.trace, 0);
    etp_join join = join_block(&j, 0);
    assert_null(join.reason);
    assert_int_equal(join.method, 0);
    assert_false(join.ambiguous);
    assert_true(join.complete);
    size_t fc = 0, kernels = 0;
    for (uint32_t i = 0; i < block->n_events; i++) {
        const etp_join_event *e = &join.events[i];
        etp_op_facts f;
        etp_join_facts(j.program, &join, i, &f);
        if (block->events[i].kind == ETP_EVENT_DELEGATE_OP) {
            assert_true(etp_str_eqz(f.node_type, "FullyConnected"));
            assert_true(etp_str_eqz(f.backend, "XnnpackBackend"));
            assert_true(f.work.known && f.work.macs > 0);
            assert_true(f.debug_handle > 0);
            assert_int_equal(f.n_inputs, 3);
            assert_true(e->confidence == 1.0);
            assert_int_equal(e->partition, fc++);
        } else if (block->events[i].kind == ETP_EVENT_NATIVE_CALL) {
            assert_true(etp_str_eqz(f.node_type, "aten::cumsum.out"));
            assert_int_equal(e->instruction, 1);
            assert_int_equal(f.work.macs, 0);
            kernels++;
        } else if (block->events[i].kind == ETP_EVENT_EXECUTE) {
            assert_int_equal(e->instruction, ETP_NO_INDEX);
            assert_int_equal(f.debug_handle, -1);
        }
    }
    assert_int_equal(fc, 2);
    assert_int_equal(kernels, 1);
    close_pair(&j);
}

static void load_blocks_belong_to_no_method(void **state)
{
    joined j;
    open_fixture("mixed_xnnpack_fp32.pte", "mixed_xnnpack_fp32_load.etdump", &j);
    bool seen = false;
    for (size_t b = 0; b < etp_trace_block_count(j.trace); b++) {
        if (etp_str_eqz(etp_trace_block_at(j.trace, b)->name, "Default")) {
            etp_join join = join_block(&j, b);
            assert_int_equal(join.method, ETP_NO_INDEX);
            assert_non_null(join.reason);
            seen = true;
        }
    }
    assert_true(seen);
    close_pair(&j);
}

static void another_models_recording_is_refused(void **state)
{
    joined j;
    open_fixture("linear_portable_fp32.pte", "mixed_xnnpack_fp32.etdump", &j);
    etp_join join = join_block(&j, 0);
    assert_int_equal(join.method, ETP_NO_INDEX);
    assert_non_null(join.reason);
    for (uint32_t i = 0; i < join.n_events; i++) {
        etp_op_facts f;
        assert_int_equal(join.events[i].instruction, ETP_NO_INDEX);
        assert_true(join.events[i].confidence == 0.0);
        etp_join_facts(j.program, &join, i, &f);
        assert_int_equal(f.n_inputs, 0);
        assert_false(f.work.known);
    }
    close_pair(&j);
    open_fixture("mixed_xnnpack_fp32.pte", "linear_portable_fp32.etdump", &j);
    assert_int_equal(join_block(&j, 0).method, ETP_NO_INDEX);
    close_pair(&j);
    open_fixture("linear_xnnpack_fp32.pte", "mixed_xnnpack_fp32.etdump", &j);
    assert_int_equal(join_block(&j, 0).method, ETP_NO_INDEX);
    close_pair(&j);
}

// What a recording holds of sizes: more work than any CPU can do in its time.
static void more_than_can_be_done_is_refused(void **state)
{
    joined j;
    open_fixture("mixed_xnnpack_fp32.pte", "mixed_xnnpack_fp32.etdump", &j);
    etp_node *linear = (etp_node *)(uintptr_t)&j.program->methods[0].partitions[1].nodes[0];
    linear->work.macs = UINT64_C(1) << 26; // within the microsecond of the clock
    assert_int_equal(join_block(&j, 0).method, 0);
    linear->work.macs = UINT64_C(1) << 40;
    etp_join join = join_block(&j, 0);
    assert_int_equal(join.method, ETP_NO_INDEX);
    assert_non_null(strstr(join.reason, "no CPU does"));
    linear->work.bound = true; // the largest of many sizes
    assert_int_equal(join_block(&j, 0).method, 0);
    close_pair(&j);
}

// The block of the mixed model, changed: without the kernel's events, or with another kernel's
// name.
static etp_join join_changed(joined *j, bool without_kernel, const char *kernel)
{
    etp_trace_block block = *etp_trace_block_at(j->trace, 0);
    etp_trace_event events[16];
    etp_join out;
    size_t n = 0;
    assert_true(block.n_events <= 16);
    for (size_t i = 0; i < block.n_events; i++) {
        etp_trace_event e = block.events[i];
        bool is_kernel = e.kind == ETP_EVENT_NATIVE_CALL || e.kind == ETP_EVENT_OPERATOR_CALL;
        if (is_kernel && without_kernel) {
            continue;
        }
        if (e.kind == ETP_EVENT_NATIVE_CALL && kernel) {
            e.name = etp_str_from(kernel);
        }
        e.parent = e.kind == ETP_EVENT_DELEGATE_OP ? e.parent : ETP_NO_INDEX;
        events[n++] = e;
    }
    block.events = events;
    block.n_events = n;
    assert_int_equal(etp_join_block(j->program, &block, &j->arena, &out, NULL), ETP_OK);
    return out;
}

static void almost_the_same_program_is_refused(void **state)
{
    joined j;
    open_fixture("mixed_xnnpack_fp32.pte", "mixed_xnnpack_fp32.etdump", &j);
    assert_int_equal(join_changed(&j, false, NULL).method, 0);
    assert_int_equal(join_changed(&j, false, "native_call_cumsum.out").method, 0);
    assert_int_equal(join_changed(&j, false, "native_call_cumsum").method, 0); // no overload
    assert_int_equal(join_changed(&j, false, "native_call_cumprod.out").method, ETP_NO_INDEX);
    assert_int_equal(join_changed(&j, true, NULL).method, ETP_NO_INDEX); // finished, yet not whole
    close_pair(&j);
}

// ---- the corpus ----

// Node types that no optimisation touches in these models: their k-th operator is their k-th node,
// which is known without any alignment.
static bool is_anchor(int type)
{
    return type == ETP_XNN_CONV_2D || type == ETP_XNN_DEPTHWISE_CONV_2D ||
           type == ETP_XNN_FULLY_CONNECTED || type == ETP_XNN_BATCH_MATRIX_MULTIPLY ||
           type == ETP_XNN_SOFTMAX || type == ETP_XNN_GLOBAL_AVG_POOLING_2D;
}

static bool is_anchor_name(etp_str name)
{
    etp_op_name op;
    etp_op_parse(name, &op);
    return etp_str_eqz(op.family, "Convolution") || etp_str_eqz(op.family, "Fully Connected") ||
           etp_str_eqz(op.family, "Batch Matrix Multiply") || etp_str_eqz(op.family, "Softmax") ||
           etp_str_eqz(op.family, "Mean");
}

static void check_anchors(const joined *j, const etp_trace_block *block, const etp_join *join)
{
    if (join->ambiguous) {
        return;
    }
    const etp_method *m = &j->program->methods[join->method];
    uint32_t parent = ETP_NO_INDEX, partition = ETP_NO_INDEX, next = 0;
    for (uint32_t i = 0; i < block->n_events; i++) {
        const etp_trace_event *e = &block->events[i];
        if (e->kind != ETP_EVENT_DELEGATE_OP || !is_anchor_name(e->name)) {
            continue;
        }
        if (e->parent != parent || join->events[i].partition != partition) {
            parent = e->parent; // the next delegate call
            partition = join->events[i].partition;
            next = 0;
        }
        const etp_partition *p = &m->partitions[partition];
        while (next < p->n_nodes && !is_anchor(p->nodes[next].type)) {
            next++;
        }
        assert_true(next < p->n_nodes);
        assert_int_equal(join->events[i].node, next);
        next++;
    }
}

// A table look-up reads its input and writes its output: what lay between is never stored.
static size_t check_tables(const joined *j, const etp_trace_block *block, const etp_join *join)
{
    size_t n = 0;
    for (uint32_t i = 0; i < block->n_events; i++) {
        etp_op_facts f;
        if (!etp_str_starts(block->events[i].name, ETP_STR("Invalid Unary Op"))) {
            continue;
        }
        etp_join_facts(j->program, join, i, &f);
        assert_int_equal(join->events[i].n_nodes, 3); // convert, the function, convert
        assert_int_equal(f.n_inputs, 1);
        assert_int_equal(f.values[f.inputs[0]].dtype, ETP_DTYPE_QINT8);
        assert_int_equal(f.values[f.outputs[0]].dtype, ETP_DTYPE_QINT8);
        assert_int_equal(f.work.bytes, f.values[f.inputs[0]].bytes + f.values[f.outputs[0]].bytes);
        n++;
    }
    return n;
}

typedef struct share {
    double placed, inserted, total;
} share;

static share placed_share(const etp_trace_block *block, const etp_join *join)
{
    share s = {0};
    for (uint32_t i = 0; i < block->n_events; i++) {
        if (block->events[i].kind != ETP_EVENT_DELEGATE_OP) {
            continue;
        }
        for (size_t r = 0; r < block->n_runs; r++) {
            double ns = (double)etp_trace_durations(block, i)[r];
            s.total += ns;
            s.placed += join->events[i].node != ETP_NO_INDEX ? ns : 0;
            s.inserted += join->events[i].inserted ? ns : 0;
        }
        assert_true(join->events[i].confidence > 0.85); // these are all clear cases
    }
    return s;
}

static void check_dump(const char *program, const char *dump, double *worst,
                       const char **worst_name)
{
    joined j;
    open_pair(program, dump, &j);
    bool two_methods = strstr(dump, "two_methods") != NULL;
    for (size_t b = 0; b < etp_trace_block_count(j.trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(j.trace, b);
        etp_join join = join_block(&j, b);
        if (etp_str_eqz(block->name, "Default")) {
            assert_int_equal(join.method, ETP_NO_INDEX);
            continue;
        }
        if (join.method == ETP_NO_INDEX) {
            fail_msg("%s: %s", dump, join.reason);
        }
        assert_int_equal(join.ambiguous, two_methods);
        share s = placed_share(block, &join);
        if (s.total > 0 && s.placed / s.total < *worst) {
            *worst = s.placed / s.total;
            *worst_name = strrchr(dump, '/') + 1;
        }
        assert_true(s.placed + s.inserted >= 0.999999 * s.total); // nothing is left unexplained
        check_anchors(&j, block, &join);
        size_t tables = check_tables(&j, block, &join);
        assert_int_equal(tables > 0, strstr(dump, "mobilenet_v3_small_xnnpack_int8") != NULL ||
                                         strstr(dump, "vit_tiny_xnnpack_int8") != NULL);
    }
    close_pair(&j);
}

static void corpus_is_placed(void **state)
{
    const char *dir = need_corpus();
    etp_arena *arena = *state;
    etp_dir_list dumps = {0};
    const char *folder = etp_arena_printf(arena, "%s/dumps", dir);
    const char *worst_name = "none";
    double worst = 1.0;
    size_t checked = 0;
    assert_int_equal(etp_os_list(folder, arena, &dumps, NULL), ETP_OK);
    for (size_t i = 0; i < dumps.n; i++) {
        const char *name = dumps.items[i].name;
        const char *dot = strchr(name, '.');
        if (!etp_str_ends(etp_str_from(name), ETP_STR(".etdump")) || !dot) {
            continue;
        }
        const char *program =
            etp_arena_printf(arena, "%s/models/%.*s.pte", dir, (int)(dot - name), name);
        if (!etp_os_is_file(program)) {
            continue; // hand-made recordings
        }
        check_dump(program, etp_arena_printf(arena, "%s/%s", folder, name), &worst, &worst_name);
        checked++;
    }
    print_message("%zu recordings, worst share of delegate time on nodes: %.4f (%s)\n", checked,
                  worst, worst_name);
    assert_true(checked >= 60);
    assert_true(worst >= 0.95);
}

// ---- never silently wrong ----

typedef enum damage { DROP_ONE, DROP_TWO, FOREIGN, CONVERT, N_DAMAGES } damage;

typedef struct tally {
    size_t right, wrong, sure_and_wrong, nowhere;
} tally;

static uint32_t next_random(uint64_t *state, uint32_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state % n);
}

// Operators of one delegate call with their true nodes, damaged as a runtime we do not know might
// have it: operators merged away, or one more than the program has nodes for.
static void damage_and_align(const etp_partition *p, const etp_str *names, const uint32_t *truth,
                             uint32_t n, damage how, uint64_t *random, tally *t)
{
    enum { MAX = 512 };
    etp_str list[MAX + 1];
    uint32_t want[MAX + 1], m = 0;
    uint32_t a = next_random(random, n), b = next_random(random, n);
    etp_arena arena = {0};
    etp_operator_placement out;
    for (uint32_t i = 0; i < n && i < MAX; i++) {
        if ((how == DROP_ONE && i == a) || (how == DROP_TWO && (i == a || i == b))) {
            continue;
        }
        if (i == a && (how == FOREIGN || how == CONVERT)) {
            list[m] = how == FOREIGN ? ETP_STR("Max Pooling (NHWC, F32) #1")
                                     : ETP_STR("Convert (NC) #99");
            want[m++] = ETP_NO_INDEX;
        }
        list[m] = names[i];
        want[m++] = truth[i];
    }
    etp_align_operators(p, list, m, &arena, &out);
    for (uint32_t i = 0; i < m; i++) {
        if (out.placed[i].node == ETP_NO_INDEX) {
            t->nowhere++;
        } else if (out.placed[i].node == want[i]) {
            t->right++;
        } else {
            t->wrong++;
            t->sure_and_wrong += out.placed[i].confidence * out.fit >= 0.9 ? 1 : 0;
        }
    }
    etp_arena_dispose(&arena);
}

static void damage_block(joined *j, const etp_trace_block *block, damage how, uint64_t *random,
                         tally *t)
{
    enum { MAX = 512 };
    etp_join join;
    etp_str names[MAX];
    uint32_t truth[MAX];
    assert_int_equal(etp_join_block(j->program, block, &j->arena, &join, NULL), ETP_OK);
    for (uint32_t call = 0; call < block->n_events; call++) {
        if (block->events[call].kind != ETP_EVENT_DELEGATE_CALL ||
            join.events[call].partition == ETP_NO_INDEX) {
            continue;
        }
        uint32_t n = 0;
        for (uint32_t i = 0; i < call && n < MAX; i++) {
            if (block->events[i].parent == call) {
                names[n] = block->events[i].name;
                truth[n++] = join.events[i].node;
            }
        }
        const etp_partition *p =
            &j->program->methods[join.method].partitions[join.events[call].partition];
        for (int repeat = 0; n >= 4 && repeat < 20; repeat++) {
            damage_and_align(p, names, truth, n, how, random, t);
        }
    }
}

static void damaged_lists_are_not_trusted(void **state)
{
    const char *dir = need_corpus();
    static const char *const k_models[] = {
        "mobilenet_v3_small_xnnpack_int8", "mobilenet_v3_small_xnnpack_fp16",
        "mobilenet_v3_small_xnnpack_fp32", "vit_tiny_xnnpack_fp32",
        "vit_tiny_xnnpack_int8",           "toy_cnn_xnnpack_int8"};
    uint64_t random = 88172645463325252u;
    for (int how = 0; how < N_DAMAGES; how++) {
        tally t = {0};
        for (size_t i = 0; i < sizeof k_models / sizeof *k_models; i++) {
            joined j;
            char program[512], dump[512];
            snprintf(program, sizeof program, "%s/models/%s.pte", dir, k_models[i]);
            snprintf(dump, sizeof dump, "%s/dumps/%s.x86_full.etdump", dir, k_models[i]);
            open_pair(program, dump, &j);
            damage_block(&j, etp_trace_block_at(j.trace, 0), (damage)how, &random, &t);
            close_pair(&j);
        }
        print_message("damage %d: %zu right, %zu wrong (%zu of them sure), %zu not placed\n", how,
                      t.right, t.wrong, t.sure_and_wrong, t.nowhere);
        assert_int_equal(t.sure_and_wrong, 0);
        assert_true(t.right > 10000 && t.wrong * 20 < t.right);
    }
}

// prefill and decode have the same events: nothing that differs between them may be claimed.
static void ambiguous_methods_claim_nothing_that_differs(void **state)
{
    const char *dir = need_corpus();
    joined j;
    char program[512], dump[512];
    snprintf(program, sizeof program, "%s/models/two_methods_xnnpack_fp32.pte", dir);
    snprintf(dump, sizeof dump, "%s/dumps/two_methods_xnnpack_fp32.x86_full.etdump", dir);
    open_pair(program, dump, &j);
    etp_join join = join_block(&j, 0);
    assert_true(join.ambiguous);
    assert_int_equal(join.n_candidates, 2);
    const etp_trace_block *block = etp_trace_block_at(j.trace, 0);
    size_t fully_connected = 0;
    for (uint32_t i = 0; i < block->n_events; i++) {
        etp_op_facts f;
        etp_join_facts(j.program, &join, i, &f);
        if (etp_str_eqz(f.node_type, "FullyConnected")) {
            assert_int_equal(f.n_inputs, 0); // 1 token or 32 tokens: unknown
            assert_false(f.work.known);
            assert_true(f.weight_bytes != ETP_BYTES_UNKNOWN); // the same weights in both
            fully_connected++;
        }
    }
    assert_true(fully_connected > 0);
    close_pair(&j);
}

// What a name alone cannot tell: whether a change of the memory order changes the type, and what a
// call was that has no name of its own.
static void facts_say_the_category(void **state)
{
    const etp_value values[] = {
        {.kind = ETP_EVALUE_INT},
        {.kind = ETP_EVALUE_TENSOR, .dtype = ETP_DTYPE_INT64},
        {.kind = ETP_EVALUE_TENSOR, .dtype = ETP_DTYPE_FLOAT32},
        {.kind = ETP_EVALUE_TENSOR, .dtype = ETP_DTYPE_UNKNOWN}
    };
    static const uint32_t k_in[] = {0, 1}, k_same[] = {1}, k_other[] = {2}, k_unknown[] = {3};
    static const struct {
        const char *name, *node_type;
        const uint32_t *out;
        uint32_t n_out;
        const char *category;
    } k_cases[] = {
        {"native_call__to_dim_order_copy.out", "",                                      k_other,   1, "Quantize/convert"},
        {"native_call__to_dim_order_copy.out", "",                                      k_same,    1, "Data movement"   },
        {"native_call__to_dim_order_copy.out", "",                                      k_unknown, 1, "Data movement"   },
        {"native_call__to_dim_order_copy.out", "",                                      NULL,      0, "Data movement"   },
        {"native_call_gt.Scalar_out",          "",                                      k_other,   1,
         "Elementwise"                                                                                                  }, // its type follows from what it does
        {"native_call_index.Tensor_out",       "",                                      k_other,   1, "Data movement"   },
        {"OPERATOR_CALL",                      "executorch_prim::add.Scalar",           NULL,      0, "Control flow"    },
        {"OPERATOR_CALL",                      "executorch_prim::eq.Scalar",            NULL,      0, "Control flow"    },
        {"OPERATOR_CALL",                      "executorch_prim::et_copy_index.tensor", NULL,      0, "Data movement"   },
        {"OPERATOR_CALL",                      "aten::sym_size.int",                    NULL,      0, "Control flow"    },
        {"OPERATOR_CALL",                      "my::conv",                              NULL,      0, "Convolution"     },
        {"OPERATOR_CALL",                      "",                                      NULL,      0, "Other"           },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        const etp_op_facts facts = {.node_type = etp_str_from(k_cases[i].node_type),
                                    .values = values,
                                    .inputs = k_in,
                                    .n_inputs = 2,
                                    .outputs = k_cases[i].out,
                                    .n_outputs = k_cases[i].n_out};
        etp_op_name name;
        etp_op_parse(etp_str_from(k_cases[i].name), &name);
        const char *found = etp_category_name(etp_op_facts_category(&name, &facts));
        if (strcmp(found, k_cases[i].category) != 0) {
            fail_msg("%s (%s): %s, should be %s", k_cases[i].name, k_cases[i].node_type, found,
                     k_cases[i].category);
        }
    }
}

#define RESULT corpus_result // where no corpus is, the test is skipped
