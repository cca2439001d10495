// SPDX-License-Identifier: Apache-2.0
// Pairs of recordings made from real program graphs by the rewrites that XNNPACK is known to do
// (renamed kernels, merged clamps, swallowed and inserted converts, packing), with planted times:
// are the groups, the differences and the sums what was planted?
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../corpus.h"
#include "explain/ledger.h"
#include "explain/nodes.h"

enum { DUMPS = 6, MAX_NODES = 8 };

typedef struct made { // one operator of one arm
    char name[96];
    uint32_t instruction;      // of the method
    uint32_t event;            // in the block
    uint32_t nodes[MAX_NODES]; // indices over all partitions: truth
    uint32_t n_nodes;
    bool portable;
    double mean_ns;
} made;

typedef struct arm {
    made *ops;
    size_t n, cap;
    etp_profile profile;
} arm;

typedef struct generator {
    etp_arena *arena;
    const etp_program *program;
    const etp_method *method;
    uint64_t random;
    double *node_ns; // planted work per node
} generator;

static uint64_t next(generator *g)
{
    uint64_t z = (g->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(generator *g)
{
    return (double)(next(g) >> 11) / 9007199254740992.0;
}

static double gaussian(generator *g)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += uniform(g);
    }
    return sum - 6;
}

static const char *dtype_of(const etp_partition *p, const etp_node *n)
{
    switch (p->values[n->inputs[0]].dtype) {
    case ETP_DTYPE_FLOAT32:
        return "F32";
    case ETP_DTYPE_FLOAT16:
        return "F16";
    default:
        return "QS8";
    }
}

// The name XNNPACK gives the operator of a node; false for types this generator leaves out.
static bool name_node(const etp_partition *p, const etp_node *n, bool sme, char out[64])
{
    const char *type = dtype_of(p, n);
    bool f32 = strcmp(type, "F32") == 0, f16 = strcmp(type, "F16") == 0;
    const char *gemm = f32 ? (sme ? "PF32" : "F32") : f16 ? (sme ? "PF16" : "F16")
                       : sme ? "PQS8, QS8, QC8W" : "QS8, QC8W";
    const char *word = f32 ? "X32" : f16 ? "X16" : "X8";
    static const struct {
        int type;
        const char *name; // %s: data type
        char which;       // g: gemm's, w: word, t: plain, -: none
    } k_names[] = {
        {ETP_XNN_CONV_2D, "Convolution (NHWC, %s) IGEMM", 'g'},
        {ETP_XNN_DEPTHWISE_CONV_2D, "Convolution (NHWC, %s) DWConv", 't'},
        {ETP_XNN_FULLY_CONNECTED, "Fully Connected (NC, %s) GEMM", 'g'},
        {ETP_XNN_BATCH_MATRIX_MULTIPLY, "Batch Matrix Multiply (NC, %s) GEMM", 'g'},
        {ETP_XNN_STATIC_TRANSPOSE, "Transpose (ND, %s)", 'w'},
        {ETP_XNN_STATIC_RESHAPE, "Copy (NC, %s)", 'w'},
        {ETP_XNN_STATIC_SLICE, "Slice (ND, %s)", 'w'},
        {ETP_XNN_SOFTMAX, "Softmax (NC, %s)", 't'},
        {ETP_XNN_GELU, "ApproxGELU (NC)", '-'},
        {ETP_XNN_HARDSWISH, "HardSwish (NC)", '-'},
        {ETP_XNN_CLAMP, "Clamp (NC)", '-'},
        {ETP_XNN_ADD, "Add (ND)", '-'},
        {ETP_XNN_MULTIPLY, "Multiply (ND)", '-'},
        {ETP_XNN_DIV, "Divide (ND)", '-'},
        {ETP_XNN_GLOBAL_AVG_POOLING_2D, "Mean (ND)", '-'},
        {ETP_XNN_STATIC_RESIZE_BILINEAR_2D, "Resize Bilinear (NHWC, %s)", 't'},
    };
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        if (k_names[i].type != n->type) {
            continue;
        }
        const char *arg = k_names[i].which == 'g' ? gemm : k_names[i].which == 'w' ? word : type;
        const char *gap = strstr(k_names[i].name, "%s");
        if (gap) {
            snprintf(out, 64, "%.*s%s%s", (int)(gap - k_names[i].name), k_names[i].name, arg,
                     gap + 2);
        } else {
            snprintf(out, 64, "%s", k_names[i].name);
        }
        return true;
    }
    if (n->type == ETP_XNN_CONVERT) {
        etp_dtype to = p->values[n->outputs[0]].dtype;
        snprintf(out, 64, "Convert (NC, %s, %s)", type, to == ETP_DTYPE_FLOAT32   ? "F32"
                                                        : to == ETP_DTYPE_FLOAT16 ? "F16"
                                                        : to == ETP_DTYPE_QDINT8  ? "QD8"
                                                                                  : "QS8");
        return true;
    }
    return false;
}

static made *push(generator *g, arm *a, const char *name, uint32_t instruction)
{
    made op = {.instruction = instruction};
    snprintf(op.name, sizeof op.name, "%s", name);
    struct {
        made *items;
        size_t n, cap;
    } list = {a->ops, a->n, a->cap};
    assert_true(ETP_PUSH(g->arena, &list, op));
    a->ops = list.items;
    a->n = list.n;
    a->cap = list.cap;
    return &a->ops[a->n - 1];
}

static bool feeds(const etp_node *from, const etp_node *to)
{
    return from->n_outputs == 1 && to->n_inputs >= 1 && to->inputs[0] == from->outputs[0];
}

static uint32_t users(const etp_partition *p, uint32_t value)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        for (uint32_t k = 0; k < p->nodes[i].n_inputs; k++) {
            n += p->nodes[i].inputs[k] == value;
        }
    }
    return n;
}

// Operators of one delegate call. False when a node is of a kind that is left out.
static bool make_partition(generator *g, arm *a, const etp_partition *p, uint32_t instruction,
                           uint32_t first_node, bool sme)
{
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const etp_node *n = &p->nodes[i];
        const etp_node *after = i + 1 < p->n_nodes ? &p->nodes[i + 1] : NULL;
        char name[64];
        if (uniform(g) < 0.03) { // added by the runtime
            made *extra = push(g, a, sme ? "Pack LH (NC, X32)" : "Convert (NC, F32, F16)",
                               instruction);
            extra->mean_ns = 1000 + 50000 * uniform(g);
        }
        if (!name_node(p, n, sme && uniform(g) < 0.9, name)) {
            return false;
        }
        bool sole = after && feeds(n, after) && users(p, n->outputs[0]) == 1;
        bool dynamic = n->type == ETP_XNN_CONVERT && after &&
                       after->type == ETP_XNN_FULLY_CONNECTED &&
                       p->values[n->outputs[0]].dtype == ETP_DTYPE_QDINT8;
        made *op = NULL;
        if (dynamic && sole && sme) { // swallowed by the linear
            op = push(g, a, "Fully Connected (NC, QP8, F32, QC8W) GEMM", instruction);
        } else if (dynamic && sole) {
            op = push(g, a, name, instruction);
            op->nodes[op->n_nodes++] = first_node + i++;
            op->mean_ns = g->node_ns[first_node + i - 1];
            op = push(g, a, "Fully Connected (NC, QD8, F32, QC8W) GEMM", instruction);
            op->nodes[op->n_nodes++] = first_node + i;
            op->mean_ns = g->node_ns[first_node + i];
            continue;
        } else {
            op = push(g, a, name, instruction);
        }
        op->nodes[op->n_nodes++] = first_node + i;
        op->mean_ns += g->node_ns[first_node + i];
        bool merges = sole && ((after->type == ETP_XNN_CLAMP &&
                                (n->type == ETP_XNN_CONV_2D || n->type == ETP_XNN_ADD) &&
                                uniform(g) < 0.5) ||
                               (dynamic && sme));
        if (merges) {
            i++;
            op->nodes[op->n_nodes++] = first_node + i;
            op->mean_ns += g->node_ns[first_node + i];
        }
    }
    return true;
}

static bool make_arm(generator *g, arm *a, bool sme)
{
    for (uint32_t i = 0; i < g->method->n_instructions; i++) {
        const etp_instruction *in = &g->method->instructions[i];
        if (in->kind == ETP_INSTR_JUMP_FALSE) {
            return false;
        }
        if (in->kind == ETP_INSTR_KERNEL) {
            char name[96];
            size_t colons = etp_str_find(in->op, ETP_STR("::"));
            snprintf(name, sizeof name, "native_call_%.*s", (int)(in->op.len - colons - 2),
                     in->op.ptr + colons + 2);
            made *op = push(g, a, name, i);
            op->portable = true;
            op->nodes[op->n_nodes++] = 100000 + i; // of its own
            op->mean_ns = 20000;
        } else if (in->kind == ETP_INSTR_DELEGATE) {
            const etp_partition *p = &g->method->partitions[in->partition];
            uint32_t first = 0;
            for (uint32_t k = 0; k < in->partition; k++) {
                first += g->method->partitions[k].n_nodes;
            }
            if (!p->graph || !make_partition(g, a, p, i, first, sme)) {
                return false;
            }
        }
    }
    return true;
}

// "… #k" per name and delegate call, as the runtime counts.
static void count_names(arm *a)
{
    for (size_t i = a->n; i-- > 0;) {
        unsigned k = 1;
        for (size_t j = 0; j < i; j++) {
            k += a->ops[j].instruction == a->ops[i].instruction &&
                 strcmp(a->ops[j].name, a->ops[i].name) == 0;
        }
        if (!a->ops[i].portable) {
            size_t len = strlen(a->ops[i].name);
            snprintf(a->ops[i].name + len, sizeof a->ops[i].name - len, " #%u", k);
        }
    }
}

// The block as the trace reader would give it: operators, their call, then the execution.
static etp_trace_block make_block(generator *g, arm *a)
{
    size_t most = a->n + g->method->n_instructions + 1, n = 0;
    etp_trace_event *e = ETP_NEW_ARRAY(g->arena, etp_trace_event, most);
    assert_non_null(e);
    for (size_t i = 0; i < a->n;) {
        uint32_t instruction = a->ops[i].instruction;
        const etp_instruction *in = &g->method->instructions[instruction];
        size_t first = n;
        for (; i < a->n && a->ops[i].instruction == instruction; i++) {
            a->ops[i].event = (uint32_t)n;
            e[n++] = (etp_trace_event){
                .name = etp_str_from(a->ops[i].name),
                .kind = a->ops[i].portable ? ETP_EVENT_NATIVE_CALL : ETP_EVENT_DELEGATE_OP,
                .delegated = !a->ops[i].portable,
                .chain = (int32_t)in->chain,
                .instruction = (int32_t)in->index,
                .leaf = true};
        }
        bool call = in->kind == ETP_INSTR_DELEGATE;
        for (size_t k = first; k < n; k++) {
            e[k].parent = call ? (uint32_t)n : (uint32_t)(most - 1);
        }
        if (call) {
            e[n++] = (etp_trace_event){.name = ETP_STR("DELEGATE_CALL"),
                                       .kind = ETP_EVENT_DELEGATE_CALL,
                                       .chain = (int32_t)in->chain,
                                       .instruction = (int32_t)in->index,
                                       .parent = (uint32_t)(most - 1)};
        }
    }
    for (size_t k = 0; k < n; k++) {
        e[k].parent = e[k].parent == most - 1 ? (uint32_t)n : e[k].parent;
    }
    e[n] = (etp_trace_event){.name = ETP_STR("Method::execute"), .kind = ETP_EVENT_EXECUTE,
                             .chain = -1, .instruction = -1, .parent = ETP_NO_INDEX};
    return (etp_trace_block){.name = ETP_STR("Execute"), .events = e, .n_events = n + 1,
                             .has_execute = true, .execute = (uint32_t)n};
}

// Rows with noise of 2 % per dump, and what etp_profile_join would say of them.
static void make_profile(generator *g, arm *a, bool join)
{
    etp_trace_block block = make_block(g, a);
    etp_error err;
    etp_join joined = {0};
    etp_profile *p = &a->profile;
    *p = (etp_profile){.rows = ETP_NEW_ARRAY(g->arena, etp_profile_row, a->n + 1),
                       .n_rows = a->n,
                       .executions = DUMPS,
                       .per_dump_executions = ETP_NEW_ARRAY(g->arena, uint64_t, DUMPS),
                       .per_dump_execute_ns = ETP_NEW_ARRAY(g->arena, int64_t, DUMPS),
                       .n_dumps = DUMPS};
    etp_profile_facts *facts = ETP_NEW(g->arena, etp_profile_facts);
    facts->program = g->program;
    facts->rows = ETP_NEW_ARRAY(g->arena, etp_row_facts, a->n + 1);
    if (join) {
        assert_int_equal(etp_join_block(g->program, &block, g->arena, &joined, &err), ETP_OK);
        if (joined.method == ETP_NO_INDEX) {
            fail_msg("does not join: %s", joined.reason);
        }
        p->facts = facts;
    }
    for (size_t i = 0; i < a->n; i++) {
        const etp_trace_event *e = &block.events[a->ops[i].event];
        etp_profile_row *row = &p->rows[i];
        *row = (etp_profile_row){.name = e->name, .event = e->kind, .kind = etp_row_kind_of(e),
                                 .delegated = e->delegated, .chain = e->chain,
                                 .instruction = e->instruction, .calls = DUMPS,
                                 .per_dump_ns = ETP_NEW_ARRAY(g->arena, int64_t, DUMPS)};
        etp_op_parse(row->name, &row->parsed);
        for (int d = 0; d < DUMPS; d++) {
            int64_t ns = llround(a->ops[i].mean_ns * (1 + 0.02 * gaussian(g)));
            row->per_dump_ns[d] = ns;
            row->total_ns += ns;
            p->per_dump_execute_ns[d] += ns;
            p->execute_total_ns += ns;
            p->per_dump_executions[d] = 1;
        }
        if (join) {
            const etp_join_event *j = &joined.events[a->ops[i].event];
            facts->rows[i] = (etp_row_facts){.confidence = j->confidence, .method = joined.method,
                                             .nodes = j->nodes, .n_nodes = j->n_nodes,
                                             .inserted = j->inserted};
        }
    }
}

static uint32_t root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        i = parent[i];
    }
    return i;
}

static bool overlap(const made *x, const made *y)
{
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        for (uint32_t j = 0; j < y->n_nodes; j++) {
            if (x->nodes[i] == y->nodes[j]) {
                return true;
            }
        }
    }
    return false;
}

typedef struct score {
    size_t groups, right, silent, intervals, inside, cases;
} score;

// Operators are numbered baseline first. Groups of the truth share nodes; those of the alignment
// are pairs and what went into them.
static void judge(generator *g, const arm *b, const arm *c, const etp_alignment *a, score *s)
{
    size_t n = b->n + c->n;
    uint32_t *truth = ETP_NEW_ARRAY(g->arena, uint32_t, n), *found = ETP_NEW_ARRAY(g->arena, uint32_t, n);
    double *confidence = ETP_NEW_ARRAY(g->arena, double, n);
    for (uint32_t i = 0; i < n; i++) {
        truth[i] = found[i] = i;
        confidence[i] = 1;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        for (uint32_t k = 0; k < c->n; k++) {
            if (overlap(&b->ops[i], &c->ops[k])) {
                truth[root(truth, i)] = root(truth, (uint32_t)b->n + k);
            }
        }
    }
    for (size_t i = 0; i < a->n; i++) {
        const etp_pair *p = &a->items[i], *head = p->into == ETP_NO_INDEX ? p : &a->items[p->into];
        uint32_t lead = head->baseline != ETP_NO_INDEX ? head->baseline
                                                       : (uint32_t)b->n + head->candidate;
        for (int side = 0; side < 2; side++) {
            uint32_t row = side ? p->candidate : p->baseline;
            if (row != ETP_NO_INDEX) {
                uint32_t at = side ? (uint32_t)b->n + row : row;
                found[root(found, at)] = root(found, lead);
                confidence[at] = p->confidence;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) { // once per true group
        if (root(truth, i) != i) {
            continue;
        }
        bool same = true, doubtful = false;
        for (uint32_t k = 0; k < n; k++) {
            bool mine = root(truth, k) == i, ours = root(found, k) == root(found, i);
            same = same && mine == ours;
            doubtful = doubtful || ((mine || ours) && confidence[k] < ETP_ALIGN_DOUBTFUL);
        }
        s->groups++;
        s->right += same;
        s->silent += !same && !doubtful;
    }
}

static void check_ledger(const arm *b, const arm *c, const etp_alignment *a, const etp_ledger *l,
                         score *s)
{
    int64_t sum = 0, ends = etp_profile_traced_ns(&c->profile) - etp_profile_traced_ns(&b->profile);
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *row = &l->items[i];
        sum += row->delta_ns;
        if (row->pair == ETP_NO_INDEX) {
            continue;
        }
        double planted = 0;
        for (uint32_t k = 0; k < a->n; k++) {
            const etp_pair *p = &a->items[k];
            if (k == row->pair || p->into == row->pair) {
                planted -= p->baseline == ETP_NO_INDEX ? 0 : b->ops[p->baseline].mean_ns;
                planted += p->candidate == ETP_NO_INDEX ? 0 : c->ops[p->candidate].mean_ns;
            }
        }
        s->intervals++;
        s->inside += planted >= (double)row->lo_ns - 1 && planted <= (double)row->hi_ns + 1;
    }
    assert_true(sum == ends && l->delta_ns == ends);
}

static void one_case(const etp_program *program, const etp_method *method, uint64_t seed, bool join,
                     score *s)
{
    etp_arena arena = {0};
    etp_error err;
    generator g = {.arena = &arena, .program = program, .method = method, .random = seed};
    arm b = {0}, c = {0};
    size_t n_nodes = 0;
    for (uint32_t i = 0; i < method->n_partitions; i++) {
        n_nodes += method->partitions[i].n_nodes;
    }
    g.node_ns = ETP_NEW_ARRAY(&arena, double, n_nodes);
    for (size_t i = 0; i < n_nodes; i++) {
        g.node_ns[i] = exp(8 + 6 * uniform(&g));
    }
    bool made_both = make_arm(&g, &b, false);
    for (size_t i = 0; i < n_nodes; i++) {
        g.node_ns[i] /= 0.5 + 5.5 * uniform(&g); // planted speedups
    }
    made_both = made_both && make_arm(&g, &c, true);
    if (made_both) {
        etp_alignment a;
        etp_ledger l;
        count_names(&b);
        count_names(&c);
        make_profile(&g, &b, join);
        make_profile(&g, &c, join);
        assert_int_equal(etp_align(&b.profile, &c.profile, &arena, &a, &err), ETP_OK);
        assert_int_equal(etp_ledger_build(&b.profile, &c.profile, &a, ETP_NS_UNKNOWN,
                                          ETP_NS_UNKNOWN, &arena, &l, &err),
                         ETP_OK);
        judge(&g, &b, &c, &a, s);
        check_ledger(&b, &c, &a, &l, s);
        s->cases++;
    }
    etp_arena_dispose(&arena);
}

static void all_seeds(const char *path, bool join, score *s)
{
    etp_file file;
    const etp_program *program;
    etp_error err;
    score own = {0};
    assert_int_equal(etp_file_open(path, UINT64_MAX, &file, &err), ETP_OK);
    assert_int_equal(etp_program_open(file.bytes, NULL, &program, &err), ETP_OK);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            one_case(program, &program->methods[m], seed, join, &own);
        }
    }
    printf("%-40s %zu cases, %zu of %zu groups right, %zu wrong and not doubtful, %zu of %zu "
           "differences inside\n",
           strrchr(path, '/') + 1, own.cases, own.right, own.groups, own.silent, own.inside,
           own.intervals);
    s->cases += own.cases;
    s->groups += own.groups;
    s->right += own.right;
    s->silent += own.silent;
    s->inside += own.inside;
    s->intervals += own.intervals;
    etp_program_close(program);
    etp_file_close(&file);
}

static score run_all(bool join)
{
    static const char *const k_tree[] = {
        "toy_cnn_xnnpack_fp32.pte",       "toy_cnn_xnnpack_fp16.pte",
        "toy_cnn_xnnpack_int8.pte",       "image_encoder_xnnpack_fp32.pte",
        "image_encoder_xnnpack_fp16.pte", "image_encoder_xnnpack_int8.pte"};
    static const char *const k_corpus[] = {"mobilenet_v3_small_xnnpack_fp32.pte",
                                           "mlp_xnnpack_int8dyn.pte", "vit_tiny_xnnpack_fp32.pte",
                                           "vit_tiny_xnnpack_int8.pte"};
    score s = {0};
    char path[1024];
    for (size_t i = 0; i < sizeof k_tree / sizeof *k_tree; i++) {
        snprintf(path, sizeof path, "%s/examples/models/%s", ETP_TEST_SOURCE_DIR, k_tree[i]);
        all_seeds(path, join, &s);
    }
    for (size_t i = 0; corpus_dir() && i < sizeof k_corpus / sizeof *k_corpus; i++) {
        snprintf(path, sizeof path, "%s/models/%s", corpus_dir(), k_corpus[i]);
        all_seeds(path, join, &s);
    }
    return s;
}

static void groups_through_the_program(void **state)
{
    (void)state;
    score s = run_all(true);
    assert_true(s.cases >= 100 && s.groups > 1000);
    assert_true(s.right * 100 >= s.groups * 99);
    assert_true(s.silent * 200 <= s.groups);
    // 95 % intervals over 6 dumps: the share inside is 95 % give or take chance.
    assert_true(s.inside * 100 >= s.intervals * 93 && s.inside * 100 <= s.intervals * 97);
}

static void groups_by_names_alone(void **state)
{
    (void)state;
    score s = run_all(false); // cannot know what was merged; the sums close all the same
    assert_true(s.right * 100 >= s.groups * 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_through_the_program),
        cmocka_unit_test(groups_by_names_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
