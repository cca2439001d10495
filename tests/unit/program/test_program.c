// SPDX-License-Identifier: Apache-2.0
// The program graph: operands, work by hand and by torch's own figures, totals, shared blobs.
#include <stdio.h>

#include "../corpus.h"
#include "unit.h"

#include "program/internal.h"

static const char k_data[] = ETP_TEST_SOURCE_DIR "/tests/data";

static void open_program(const char *dir, const char *name, etp_file *file,
                         const etp_program **program)
{
    char path[512];
    etp_error err = {0};
    *file = (etp_file){0};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (etp_file_open(path, (uint64_t)1 << 32, file, &err) != ETP_OK ||
        etp_program_open(file->bytes, NULL, program, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
}

static void close_program(etp_file *file, const etp_program *program)
{
    etp_program_close(program);
    etp_file_close(file);
}

static void assert_dims(const etp_value *v, uint32_t rank, const int64_t *dims)
{
    assert_int_equal(v->rank, rank);
    for (uint32_t i = 0; i < rank; i++) {
        assert_int_equal(v->dims[i], dims[i]);
    }
}

// ---- fixtures ----

static void linear_is_one_node(void **state)
{
    etp_file file;
    const etp_program *p;
    open_program(k_data, "linear_xnnpack_fp32.pte", &file, &p);
    assert_int_equal(p->n_methods, 1);
    const etp_method *m = &p->methods[0];
    assert_true(etp_str_eqz(m->name, "forward"));
    assert_ptr_equal(etp_program_find_method(p, ETP_STR("forward")), m);
    assert_null(etp_program_find_method(p, ETP_STR("backward")));
    assert_int_equal(m->n_partitions, 1);
    const etp_partition *part = &m->partitions[0];
    assert_null(part->problem);
    assert_int_equal(part->n_nodes, 1);
    const etp_node *n = &part->nodes[0];
    assert_true(etp_str_eqz(n->type_name, "FullyConnected"));
    assert_int_equal(n->work.macs, 2 * 4 * 3);
    assert_true(n->work.known);
    // input 2×4, weights 3×4, bias 3, output 2×3, four bytes each
    assert_int_equal(n->work.bytes, 4 * (8 + 12 + 3 + 6));
    assert_int_equal(n->weight_bytes, 4 * (12 + 3));
    assert_dims(&part->values[n->inputs[0]], 2, (const int64_t[]){2, 4});
    assert_dims(&part->values[n->inputs[1]], 2, (const int64_t[]){3, 4});
    assert_dims(&part->values[n->outputs[0]], 2, (const int64_t[]){2, 3});
    assert_int_equal(part->values[n->inputs[0]].dtype, ETP_DTYPE_FLOAT32);
    assert_true(part->values[n->inputs[1]].constant);
    assert_int_equal(m->macs, 24);
    assert_int_equal(m->n_unknown_work, 0);
    assert_int_equal(m->n_of_kind[ETP_INSTR_DELEGATE], 1);
    close_program(&file, p);
}

static void kernels_have_operands(void **state)
{
    etp_file file;
    const etp_program *p;
    open_program(k_data, "linear_portable_fp32.pte", &file, &p);
    const etp_method *m = &p->methods[0];
    assert_int_equal(m->n_instructions, 2);
    const etp_instruction *permute = &m->instructions[0], *addmm = &m->instructions[1];
    assert_true(etp_str_eqz(permute->op, "aten::permute_copy.out"));
    assert_true(etp_str_eqz(addmm->op, "aten::addmm.out"));
    assert_int_equal(permute->n_inputs, 1);
    assert_int_equal(permute->n_outputs, 1);
    assert_int_equal(permute->work.macs, 0);
    assert_int_equal(permute->work.bytes, 2 * 12 * 4);
    assert_int_equal(addmm->n_inputs, 3);
    assert_int_equal(addmm->work.macs, 24);
    assert_int_equal(addmm->weight_bytes, 3 * 4); // the bias; weights pass through the permute
    assert_dims(&m->values[addmm->outputs[0]], 2, (const int64_t[]){2, 3});
    assert_int_equal(etp_method_find_instruction(m, 0, 1), 1);
    assert_int_equal(etp_method_find_instruction(m, 0, 2), ETP_NO_INDEX);
    assert_int_equal(etp_method_find_instruction(m, 1, 0), ETP_NO_INDEX);
    close_program(&file, p);
}

// ---- work by hand ----

// mobilenet_v3_small at 224 × 224 from the table of its paper (arXiv 1905.02244, table 2).
static uint64_t mobilenet_v3_small(void)
{
    static const struct {
        uint64_t kernel, expanded, out, squeeze, stride; // squeeze 0: no squeeze-and-excite
    } k_blocks[] = {
        {3, 16,  16, 8,   2},
        {3, 72,  24, 0,   2},
        {3, 88,  24, 0,   1},
        {5, 96,  40, 24,  2},
        {5, 240, 40, 64,  1},
        {5, 240, 40, 64,  1},
        {5, 120, 48, 32,  1},
        {5, 144, 48, 40,  1},
        {5, 288, 96, 72,  2},
        {5, 576, 96, 144, 1},
        {5, 576, 96, 144, 1}
    };
    uint64_t size = 112, channels = 16, macs = 112 * 112 * 16 * 27;
    for (size_t i = 0; i < sizeof k_blocks / sizeof *k_blocks; i++) {
        uint64_t e = k_blocks[i].expanded, k = k_blocks[i].kernel;
        if (e != channels) {
            macs += size * size * channels * e;
        }
        size /= k_blocks[i].stride;
        macs += size * size * e * k * k + 2 * e * k_blocks[i].squeeze +
                size * size * e * k_blocks[i].out;
        channels = k_blocks[i].out;
    }
    return macs + size * size * channels * 576 + 576 * 1024 + 1024 * 1000;
}

typedef struct model {
    const char *name;
    uint64_t macs;
} model;

static void macs_of_known_models(void **state)
{
    const char *dir = need_corpus();
    // toy_cnn: three convolutions 3→16→32→64 around a depthwise one, then 64→10.
    const uint64_t toy =
        32 * 32 * 16 * 27 + 16 * 16 * 32 * 9 * 16 + 16 * 16 * 32 * 9 + 16 * 16 * 64 * 32 + 64 * 10;
    // vit_tiny: 196 patches of dimension 96, 3 blocks with 3 heads of 32, MLP × 4, 1000 classes.
    const uint64_t t = 196, d = 96;
    const uint64_t block = t * d * 3 * d + 2 * 3 * t * t * 32 + t * d * d + 2 * t * d * 4 * d;
    const uint64_t vit = t * d * 16 * 16 * 3 + 3 * block + d * 1000;
    const uint64_t mlp = 4 * (64 * 128 + 128 * 128 + 128 * 32);
    const uint64_t mobilenet = mobilenet_v3_small();
    assert_int_equal(mobilenet, 56510400);
    const model k_models[] = {
        {"toy_cnn_xnnpack_fp32.pte",            toy         },
        {"toy_cnn_xnnpack_fp16.pte",            toy         },
        {"toy_cnn_xnnpack_int8.pte",            toy         },
        {"toy_cnn_xnnpack_fp32_inline.pte",     toy         },
        {"toy_cnn_xnnpack_fp32_perop.pte",      toy         },
        {"toy_cnn_portable_fp32.pte",           toy         },
        {"vit_tiny_xnnpack_fp32.pte",           vit         },
        {"vit_tiny_xnnpack_int8.pte",           vit         },
        {"mlp_xnnpack_int8dyn.pte",             mlp         },
        {"mlp_xnnpack_fp32_external.pte",       mlp         },
        {"mlp_portable_fp32_external.pte",      mlp         },
        {"mlp_xnnpack_fp32_dynshape.pte",       mlp / 4 * 16}, // bound 16 instead of 4 rows
        {"mobilenet_v3_small_xnnpack_fp32.pte", mobilenet   },
        {"mobilenet_v3_small_xnnpack_fp16.pte", mobilenet   },
        {"mobilenet_v3_small_xnnpack_int8.pte", mobilenet   },
    };
    char models[512];
    snprintf(models, sizeof models, "%s/models", dir);
    for (size_t i = 0; i < sizeof k_models / sizeof *k_models; i++) {
        etp_file file;
        const etp_program *p;
        open_program(models, k_models[i].name, &file, &p);
        if (p->methods[0].macs != k_models[i].macs || p->methods[0].n_unknown_work != 0) {
            fail_msg("%s: %llu MACs, %u unknown, expected %llu", k_models[i].name,
                     (unsigned long long)p->methods[0].macs, p->methods[0].n_unknown_work,
                     (unsigned long long)k_models[i].macs);
        }
        bool dynamic = strstr(k_models[i].name, "dynshape") != NULL;
        const etp_method *m = &p->methods[0];
        for (uint32_t k = 0; k < m->n_partitions; k++) {
            for (uint32_t n = 0; n < m->partitions[k].n_nodes; n++) {
                assert_int_equal(m->partitions[k].nodes[n].work.bound, dynamic);
            }
        }
        close_program(&file, p);
    }
}

static void methods_share_weights(void **state)
{
    const char *dir = need_corpus();
    char models[512];
    snprintf(models, sizeof models, "%s/models", dir);
    etp_file file;
    const etp_program *p;
    open_program(models, "two_methods_xnnpack_fp32.pte", &file, &p);
    const etp_method *decode = etp_program_find_method(p, ETP_STR("decode"));
    const etp_method *prefill = etp_program_find_method(p, ETP_STR("prefill"));
    assert_non_null(decode);
    assert_non_null(prefill);
    assert_int_equal(decode->n_instructions, prefill->n_instructions);
    // Attention grows with the square of the tokens, everything else with their number.
    assert_true(prefill->macs > 32 * decode->macs);
    assert_int_equal(p->n_partitions, decode->n_partitions + prefill->n_partitions);
    for (uint32_t i = 0; i < p->pte->n_segments; i++) {
        if (p->pte->segments[i].kind == ETP_PTE_SEGMENT_DELEGATE) {
            assert_true(p->pte->segments[i].users >= 1);
        }
    }
    close_program(&file, p);
}

// ---- shapes that contradict each other ----

static etp_value tensor(const int64_t *dims, uint32_t rank, bool constant)
{
    uint64_t n = 4;
    for (uint32_t i = 0; i < rank; i++) {
        n *= (uint64_t)dims[i];
    }
    return (etp_value){.kind = ETP_EVALUE_TENSOR,
                       .dtype = ETP_DTYPE_FLOAT32,
                       .dims = dims,
                       .rank = rank,
                       .bytes = n,
                       .constant = constant,
                       .external = ETP_NO_INDEX};
}

static etp_work work_of(int type, const etp_xnn_node *xnn, const etp_value *values, uint32_t n_in)
{
    static const uint32_t k_ids[] = {0, 1, 2, 3};
    etp_node node = {.type = type,
                     .inputs = k_ids,
                     .n_inputs = n_in,
                     .outputs = k_ids + n_in,
                     .n_outputs = 1,
                     .xnn = xnn};
    return etp_work_of_node(&node, values);
}

static void convolutions_by_hand(void **state)
{
    const int64_t in[] = {1, 8, 8, 4}, filter[] = {6, 3, 3, 2}, bias[] = {6}, out[] = {1, 4, 4, 6};
    etp_xnn_window w = {.pad_top = 1,
                        .pad_bottom = 1,
                        .pad_left = 1,
                        .pad_right = 1,
                        .kernel_h = 3,
                        .kernel_w = 3,
                        .stride_h = 2,
                        .stride_w = 2,
                        .dilation_h = 1,
                        .dilation_w = 1,
                        .groups = 2};
    etp_xnn_node xnn = {.window = &w};
    etp_value v[] = {tensor(in, 4, false), tensor(filter, 4, true), tensor(bias, 1, true),
                     tensor(out, 4, false)};
    etp_work work = work_of(ETP_XNN_CONV_2D, &xnn, v, 3);
    assert_true(work.known);
    assert_int_equal(work.macs, 4 * 4 * 6 * 9 * 2);
    assert_int_equal(work.bytes, 4 * (8 * 8 * 4 + 6 * 9 * 2 + 6 + 4 * 4 * 6));
    w.groups = 1; // then the filter would need four input channels
    work = work_of(ETP_XNN_CONV_2D, &xnn, v, 3);
    assert_false(work.known);
    assert_non_null(work.problem);
    w.groups = 2;
    w.stride_h = 1; // then the output would be 8 rows high
    assert_non_null(work_of(ETP_XNN_CONV_2D, &xnn, v, 3).problem);
    w.stride_h = 0;
    assert_non_null(work_of(ETP_XNN_CONV_2D, &xnn, v, 3).problem);
    w.stride_h = 2;
    v[1].bytes = 8; // weights shorter than their shape
    assert_non_null(work_of(ETP_XNN_CONV_2D, &xnn, v, 3).problem);
}

static void windows_need_not_be_square(void **state)
{
    const int64_t in[] = {1, 9, 7, 4}, filter[] = {2, 5, 1, 4}, out[] = {1, 5, 7, 2};
    etp_xnn_window w = {.kernel_h = 5,
                        .kernel_w = 1,
                        .stride_h = 1,
                        .stride_w = 1,
                        .dilation_h = 1,
                        .dilation_w = 1,
                        .groups = 1};
    etp_xnn_node xnn = {.window = &w};
    etp_value v[] = {tensor(in, 4, false), tensor(filter, 4, true), tensor(out, 4, false)};
    assert_int_equal(work_of(ETP_XNN_CONV_2D, &xnn, v, 2).macs, 5 * 7 * 2 * 5 * 4);
    const int64_t d_in[] = {1, 3, 3, 8}, d_filter[] = {6, 3, 2, 4}, d_out[] = {1, 9, 6, 6};
    etp_xnn_window d = {.kernel_h = 3,
                        .kernel_w = 2,
                        .stride_h = 3,
                        .stride_w = 2,
                        .dilation_h = 1,
                        .dilation_w = 1,
                        .groups = 2};
    etp_xnn_node d_xnn = {.window = &d};
    etp_value dv[] = {tensor(d_in, 4, false), tensor(d_filter, 4, true), tensor(d_out, 4, false)};
    // Every input element meets 3 × 2 taps of the 3 output channels in its group.
    assert_int_equal(work_of(ETP_XNN_CONV_TRANSPOSE_2D, &d_xnn, dv, 2).macs, 3 * 3 * 8 * 3 * 2 * 3);
}

static void payload_sizes_are_unsigned(void **state)
{
    const uint8_t le[] = {0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0};
    etp_value v = {0};
    etp_value_set_dims(&v, (etp_i32s){le, 2}, true, *state);
    assert_int_equal(v.rank, 2);
    assert_true(v.dims[0] == 4294967295);
    assert_int_equal(v.dims[1], 2);
}

static void added_nodes_have_no_handle(void **state)
{
    const char *dir = need_corpus();
    char models[512];
    etp_file file;
    const etp_program *p;
    snprintf(models, sizeof models, "%s/models", dir);
    open_program(models, "toy_cnn_xnnpack_fp32.pte", &file, &p);
    const etp_node *nodes = p->methods[0].partitions[0].nodes;
    const int64_t k_handles[] = {-1, 1, 3, 5, 6, -1}; // flatc: 65535, 1, 3, 5, 6, 65535
    for (int i = 0; i < 6; i++) {
        assert_int_equal(nodes[i].debug_handle, k_handles[i]);
    }
    close_program(&file, p);
}

static void transposed_and_depthwise_by_hand(void **state)
{
    const int64_t in[] = {2, 5, 5, 8}, filter[] = {4, 2, 2, 8}, out[] = {2, 10, 10, 4};
    etp_xnn_window w = {.kernel_h = 2,
                        .kernel_w = 2,
                        .stride_h = 2,
                        .stride_w = 2,
                        .dilation_h = 1,
                        .dilation_w = 1,
                        .groups = 1};
    etp_xnn_node xnn = {.window = &w};
    etp_value v[] = {tensor(in, 4, false), tensor(filter, 4, true), tensor(out, 4, false)};
    assert_int_equal(work_of(ETP_XNN_CONV_TRANSPOSE_2D, &xnn, v, 2).macs, 2 * 5 * 5 * 8 * 4 * 4);
    const int64_t dw[] = {1, 3, 3, 16}, dw_in[] = {1, 8, 8, 8}, dw_out[] = {1, 6, 6, 16};
    etp_xnn_window valid = {.kernel_h = 3,
                            .kernel_w = 3,
                            .stride_h = 1,
                            .stride_w = 1,
                            .dilation_h = 1,
                            .dilation_w = 1,
                            .groups = 8};
    etp_xnn_node dw_xnn = {.window = &valid};
    etp_value d[] = {tensor(dw_in, 4, false), tensor(dw, 4, true), tensor(dw_out, 4, false)};
    assert_int_equal(work_of(ETP_XNN_DEPTHWISE_CONV_2D, &dw_xnn, d, 2).macs, 6 * 6 * 16 * 9);
}

static void matrices_by_hand(void **state)
{
    const int64_t a[] = {2, 3, 5, 7}, b[] = {2, 3, 7, 11}, c[] = {2, 3, 5, 11};
    etp_xnn_node xnn = {0};
    etp_value v[] = {tensor(a, 4, false), tensor(b, 4, false), tensor(c, 4, false)};
    assert_int_equal(work_of(ETP_XNN_BATCH_MATRIX_MULTIPLY, &xnn, v, 2).macs, 2 * 3 * 5 * 7 * 11);
    xnn.flags = 1; // transposed second operand: 7 ≠ 11
    assert_non_null(work_of(ETP_XNN_BATCH_MATRIX_MULTIPLY, &xnn, v, 2).problem);
    const int64_t f[] = {11, 7}, out[] = {2, 3, 5, 11};
    etp_value fc[] = {tensor(a, 4, false), tensor(f, 2, true), tensor(out, 4, false)};
    xnn.flags = 0;
    assert_int_equal(work_of(ETP_XNN_FULLY_CONNECTED, &xnn, fc, 2).macs, 30 * 7 * 11);
    xnn.flags = 1;
    assert_non_null(work_of(ETP_XNN_FULLY_CONNECTED, &xnn, fc, 2).problem);
}

static void attention_by_hand(void **state)
{
    const int64_t q[] = {1, 4, 10, 16}, k[] = {1, 4, 12, 16}, val[] = {1, 4, 12, 16};
    const int64_t scale[] = {16}, out[] = {1, 4, 10, 16};
    static const uint32_t k_ids[] = {0, 1, 2, 3, 4};
    etp_xnn_node xnn = {0};
    etp_value v[] = {tensor(q, 4, false), tensor(k, 4, false), tensor(val, 4, false),
                     tensor(scale, 1, true), tensor(out, 4, false)};
    etp_node node = {.type = ETP_XNN_SCALED_DOT_PRODUCT_ATTENTION,
                     .inputs = k_ids,
                     .n_inputs = 4,
                     .outputs = k_ids + 4,
                     .n_outputs = 1,
                     .xnn = &xnn};
    assert_int_equal(etp_work_of_node(&node, v).macs, 2 * 4 * 10 * 12 * 16);
}

static void elementwise_and_movement(void **state)
{
    const int64_t a[] = {1, 16, 4, 4}, b[] = {1, 16, 1, 1}, bad[] = {1, 3, 1, 1};
    etp_xnn_node xnn = {0};
    etp_value add[] = {tensor(a, 4, false), tensor(b, 4, false), tensor(a, 4, false)};
    etp_work work = work_of(ETP_XNN_ADD, &xnn, add, 2);
    assert_int_equal(work.macs, 0);
    assert_int_equal(work.ops, 256);
    assert_int_equal(work.bytes, 4 * (256 + 16 + 256));
    add[1] = tensor(bad, 4, false);
    assert_non_null(work_of(ETP_XNN_ADD, &xnn, add, 2).problem);
    const int64_t part[] = {1, 16, 2, 2};
    etp_value slice[] = {tensor(a, 4, false), tensor(part, 4, false)};
    assert_int_equal(work_of(ETP_XNN_STATIC_SLICE, &xnn, slice, 1).bytes, 2 * 4 * 64);
    assert_int_equal(work_of(ETP_XNN_STATIC_SLICE, &xnn, slice, 1).ops, 0);
    assert_non_null(work_of(ETP_XNN_STATIC_RESHAPE, &xnn, slice, 1).problem);
}

static void huge_shapes_do_not_wrap(void **state)
{
    const int64_t a[] = {4294967295, 4294967295, 2}, f[] = {2, 2};
    const int64_t o[] = {4294967295, 4294967295, 2};
    etp_xnn_node xnn = {0};
    etp_value v[] = {tensor(a, 3, false), tensor(f, 2, false), tensor(o, 3, false)};
    v[0].bytes = v[2].bytes = ETP_BYTES_UNKNOWN;
    etp_work work = work_of(ETP_XNN_FULLY_CONNECTED, &xnn, v, 2);
    assert_false(work.known);
    assert_non_null(work.problem);
}

#define RESULT corpus_result // where no corpus is, the test is skipped
