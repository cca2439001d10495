// SPDX-License-Identifier: Apache-2.0
// Operator names: taken apart, and put into the category a person would put them in. Expected
// values are written by hand from what the operators do.
#include <stdio.h>

#include "operators/table.h"
#include "unit.h"

typedef struct expected_category {
    const char *name, *category, *five;
} expected_category;

// Names that substring rules of other tools put elsewhere (Convert as convolution, Bilinear as
// linear, addmm as add, …), each with what it is.
static const expected_category k_misread[] = {
    {"Convert (NC)",                                          "Quantize/convert", "Data Movement"},
    {"Convert (NC, F32, QD8)",                                "Quantize/convert", "Data Movement"},
    {"Convert (NC) #14",                                      "Quantize/convert", "Data Movement"},
    {"Resize Bilinear (NHWC)",                                "Resize",           "Other"        },
    {"native_call_upsample_bilinear2d.vec_out",               "Resize",           "Other"        },
    {"native_call_addmm.out",                                 "GEMM",             "GEMM"         },
    {"native_call_baddbmm.out",                               "GEMM",             "GEMM"         },
    {"baddbmm",                                               "GEMM",             "GEMM"         },
    {"native_call_mm.out",                                    "GEMM",             "GEMM"         },
    {"native_call_bmm.out",                                   "GEMM",             "GEMM"         },
    {"bmm.out",                                               "GEMM",             "GEMM"         },
    {"Max Pooling (NHWC, F32)",                               "Pooling",          "Other"        },
    {"ArgMax Pooling",                                        "Pooling",          "Other"        },
    {"ArgMax Pooling (NHWC, F32) #1",                         "Pooling",          "Other"        },
    {"Average Pooling (NHWC, F32) Average Pooling #1",        "Pooling",          "Other"        },
    {"Average Pooling (NHWC, F32) Pixelwise Average Pooling", "Pooling",          "Other"        },
    {"Deconvolution (NHWC, F32) Subconv2D #2",                "Convolution",      "CONV"         },
    {"Softmax",                                               "Normalization",    "Elementwise"  },
    {"Softmax (NC, F32) #3",                                  "Normalization",    "Elementwise"  },
    {"Mean (ND)",                                             "Reduction",        "Other"        },
    {"Sum (ND)",                                              "Reduction",        "Other"        },
    {"Reduce Max",                                            "Reduction",        "Other"        },
    {"Reduce Max (ND)",                                       "Reduction",        "Other"        },
    {"Subtract (ND)",                                         "Elementwise",      "Elementwise"  },
    {"HardSwish (NC)",                                        "Activation",       "Elementwise"  },
    {"native_call_hardswish.out",                             "Activation",       "Elementwise"  },
    {"Maximum",                                               "Elementwise",      "Elementwise"  },
    {"Maximum (ND) #1",                                       "Elementwise",      "Elementwise"  },
    {"Minimum (ND)",                                          "Elementwise",      "Elementwise"  },
    {"Negate (NC)",                                           "Elementwise",      "Elementwise"  },
    {"Square (NC)",                                           "Elementwise",      "Elementwise"  },
    {"Square Root (NC)",                                      "Elementwise",      "Elementwise"  },
    {"Reciprocal Square Root (NC)",                           "Elementwise",      "Elementwise"  },
    {"Squared Difference (ND)",                               "Elementwise",      "Elementwise"  },
    {"Power (ND)",                                            "Elementwise",      "Elementwise"  },
    {"Copy Sign (ND)",                                        "Elementwise",      "Elementwise"  },
    {"Slice (ND, X32)",                                       "Data movement",    "Data Movement"},
    {"Split Dims (NC)",                                       "Data movement",    "Data Movement"},
    {"native_call_cat.out",                                   "Data movement",    "Data Movement"},
    {"native_call_clone.out",                                 "Data movement",    "Data Movement"},
    {"Depth To Space (NHWC, X32)",                            "Data movement",    "Data Movement"},
    {"Space To Depth (NHWC, X8)",                             "Data movement",    "Data Movement"},
    {"Fuse Dims (NC)",                                        "Data movement",    "Data Movement"},
    {"Pack LH (X8)",                                          "Data movement",    "Data Movement"},
    {"Pack LH (X16)",                                         "Data movement",    "Data Movement"},
    {"Pack LH (X32) #7",                                      "Data movement",    "Data Movement"},
    {"native_call_native_layer_norm.out",                     "Normalization",    "Elementwise"  },
    {"native_call_native_group_norm.out",                     "Normalization",    "Elementwise"  },
    {"native_call__native_batch_norm_legit_no_training.out",  "Normalization",    "Elementwise"  },
    {"native_call__softmax.out",                              "Normalization",    "Elementwise"  },
    {"native_call_silu.out",                                  "Activation",       "Elementwise"  },
    {"native_call_embedding.out",                             "Embedding",        "Other"        },
    {"native_call_mean.out",                                  "Reduction",        "Other"        },
    {"multihead_attention.out",                               "Attention",        "GEMM"         },
    {"subgraph_0",                                            "Other",            "Other"        },
    {"my_submodule_convolver",                                "Other",            "Other"        },
    {"Fully Connected (NC, F32)",                             "GEMM",             "GEMM"         },
    {"Batch Matrix Multiply (NC, F32)",                       "GEMM",             "GEMM"         },
};

// Names of real files.
static const expected_category k_real[] = {
    {"Invalid Unary Op #3",                                "Activation",       "Elementwise"  },
    {"Convolution (NHWC, QC8) IGEMM #1",                   "Convolution",      "CONV"         },
    {"Convolution (NHWC, QC8) DWConv #1",                  "Convolution",      "CONV"         },
    {"Convolution (NHWC, PQS8, QS8, QC8W) IGEMM #2",       "Convolution",      "CONV"         },
    {"Convolution (NHWC, PF32) IGEMM #3",                  "Convolution",      "CONV"         },
    {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1",      "GEMM",             "GEMM"         },
    {"Fully Connected (NC, QDU8, F32, QB4W) GEMM #1",      "GEMM",             "GEMM"         },
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #4",       "GEMM",             "GEMM"         },
    {"Mean (ND) Reduce2 #1",                               "Reduction",        "Other"        },
    {"Max Pooling (NHWC, S8) #1",                          "Pooling",          "Other"        },
    {"Batch Matrix Multiply (NC, PF32) GEMM #6",           "GEMM",             "GEMM"         },
    {"Batch Matrix Multiply (NC, PF16) GEMM #6",           "GEMM",             "GEMM"         },
    {"native_call_copy_",                                  "Data movement",    "Data Movement"},
    {"native_call_topk.values",                            "Sort/search",      "Other"        },
    {"Static Reshape (NC) #5",                             "Data movement",    "Data Movement"},
    {"Transpose (ND, X16) #1",                             "Data movement",    "Data Movement"},
    {"native_call__to_dim_order_copy.out",                 "Data movement",    "Data Movement"},
    {"native_call_expand_copy.out",                        "Data movement",    "Data Movement"},
    {"native_call_squeeze_copy.dims_out",                  "Data movement",    "Data Movement"},
    {"native_call_permute_copy.out",                       "Data movement",    "Data Movement"},
    {"native_call_unsqueeze_copy.out",                     "Data movement",    "Data Movement"},
    {"native_call_convolution.out",                        "Convolution",      "CONV"         },
    {"native_call_relu.out",                               "Activation",       "Elementwise"  },
    {"native_call_where.self_out",                         "Elementwise",      "Elementwise"  },
    {"native_call_any.out",                                "Reduction",        "Other"        },
    {"native_call_cumsum.out",                             "Reduction",        "Other"        },
    {"native_call_arange.start_out",                       "Fill",             "Other"        },
    {"native_call_full_like.out",                          "Fill",             "Other"        },
    {"native_call_full.out",                               "Fill",             "Other"        },
    {"native_call_scalar_tensor.out",                      "Fill",             "Other"        },
    {"native_call_sort.values",                            "Sort/search",      "Other"        },
    {"native_call__local_scalar_dense.out",                "Control flow",     "Other"        },
    {"aten::sym_size.int",                                 "Control flow",     "Other"        },
    {"native_call_nonzero.out",                            "Sort/search",      "Other"        },
    {"GELU (NC) #1",                                       "Activation",       "Elementwise"  },
    {"ApproxGELU (NC)",                                    "Activation",       "Elementwise"  },
    {"LeakyReLU (NC)",                                     "Activation",       "Elementwise"  },
    {"native_call_leaky_relu.out",                         "Activation",       "Elementwise"  },
    {"Bankders Rounding (NC)",                             "Elementwise",      "Elementwise"  },
    {"Constant Pad (ND, X8)",                              "Data movement",    "Data Movement"},
    {"Normalize (ND)",                                     "Normalization",    "Elementwise"  },
    {"RoPE (NTHC, F32)",                                   "Elementwise",      "Elementwise"  },
    {"Scaled Dot-Product Attention (NHTC, F32)",           "Attention",        "GEMM"         },
    {"native_call_custom_sdpa.out",                        "Attention",        "GEMM"         },
    {"native_call_sdpa_with_kv_cache.out",                 "Attention",        "GEMM"         },
    {"native_call_update_cache.out",                       "Data movement",    "Data Movement"},
    {"native_call_quantize_per_tensor.out",                "Quantize/convert", "Data Movement"},
    {"native_call_dequantize_per_channel.out",             "Quantize/convert", "Data Movement"},
    {"native_call_choose_qparams.Tensor_out",              "Quantize/convert", "Data Movement"},
    {"native_call_embedding_4bit.out",                     "Embedding",        "Other"        },
    {"native_call_max.dim_max",                            "Reduction",        "Other"        },
    {"native_call_max_pool2d_with_indices.out",            "Pooling",          "Other"        },
    {"native_call_quantized_linear.out",                   "GEMM",             "GEMM"         },
    {"native_call__log_softmax.out",                       "Normalization",    "Elementwise"  },
    {"native_call_pixel_shuffle.out",                      "Data movement",    "Data Movement"},
    {"native_call_linear.out",                             "GEMM",             "GEMM"         },
    {"aten.addmm.default",                                 "GEMM",             "GEMM"         },
    {"torch.ops.aten.hardtanh.default",                    "Activation",       "Elementwise"  },
    {"aten::view_copy.out",                                "Data movement",    "Data Movement"},
    {"quantized_decomposed.dequantize_per_tensor.default", "Quantize/convert", "Data Movement"},
    {"XNNConv2d",                                          "Convolution",      "CONV"         },
    {"XNNStaticResizeBilinear2D",                          "Resize",           "Other"        },
    {"Method::execute",                                    "Other",            "Other"        },
    {"DELEGATE_CALL",                                      "Not logged",       "Other"        },
    {"",                                                   "Other",            "Other"        },
};

static void check_rows(const expected_category *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        etp_category found = etp_op_category(etp_str_from(rows[i].name));
        if (strcmp(etp_category_name(found), rows[i].category) != 0) {
            fail_msg("%s: %s, should be %s", rows[i].name, etp_category_name(found),
                     rows[i].category);
        }
        assert_string_equal(etp_kit_category_name(etp_kit_category_of(found)), rows[i].five);
    }
}

static void drawing_operators(void **state)
{
    static const char *const k_draw[] = {"aten::native_dropout.out", "native_call_rand.out",
                                         "aten::bernoulli.out", "aten.randn_like.default"};
    static const char *const k_do_not[] = {"aten::addmm.out", "native_call_random_access.out",
                                           "Convolution (NHWC, F32) IGEMM #1", ""};
    for (size_t i = 0; i < sizeof k_draw / sizeof *k_draw; i++) {
        assert_true(etp_op_draws(etp_str_from(k_draw[i])));
        assert_false(etp_op_draws(etp_str_from(k_do_not[i])));
    }
}

static void misread_names(void **state)
{
    check_rows(k_misread, sizeof k_misread / sizeof *k_misread);
}

static void real_names(void **state)
{
    check_rows(k_real, sizeof k_real / sizeof *k_real);
}

static void check_parse(const char *name, etp_op_kind kind, const char *family,
                        const char *overload, const char *layout, const char *dtypes,
                        const char *ukernel, unsigned counter)
{
    etp_op_name op;
    etp_op_parse(etp_str_from(name), &op);
    char joined[128] = "";
    for (size_t i = 0; i < op.n_dtypes; i++) {
        size_t at = strlen(joined);
        (void)snprintf(joined + at, sizeof joined - at, "%s%.*s", i ? " " : "",
                       ETP_STR_ARG(op.dtypes[i]));
    }
    if (op.kind != kind || !etp_str_eqz(op.family, family) || !etp_str_eqz(op.overload, overload) ||
        !etp_str_eqz(op.layout, layout) || strcmp(joined, dtypes) != 0 ||
        !etp_str_eqz(op.ukernel, ukernel) || op.counter != counter) {
        fail_msg("%s: kind %d family [%.*s] overload [%.*s] layout [%.*s] dtypes [%s] "
                 "ukernel [%.*s] #%u",
                 name, (int)op.kind, ETP_STR_ARG(op.family), ETP_STR_ARG(op.overload),
                 ETP_STR_ARG(op.layout), joined, ETP_STR_ARG(op.ukernel), (unsigned)op.counter);
    }
}

static void parts_of_names(void **state)
{
    check_parse("Convolution (NHWC, PF32) IGEMM #3", ETP_OP_XNNPACK, "Convolution", "", "NHWC",
                "PF32", "IGEMM", 3);
    check_parse("Fully Connected (NC, QD8, F32, QC8W) GEMM #1", ETP_OP_XNNPACK, "Fully Connected",
                "", "NC", "QD8 F32 QC8W", "GEMM", 1);
    check_parse("Add (ND)", ETP_OP_XNNPACK, "Add", "", "ND", "", "", 0);
    check_parse("Pack LH (X32) #2", ETP_OP_XNNPACK, "Pack LH", "", "", "X32", "", 2);
    check_parse("Depth To Space (NCHW2NHWC, X16)", ETP_OP_XNNPACK, "Depth To Space", "",
                "NCHW2NHWC", "X16", "", 0);
    check_parse("Batch Matrix Multiply (NC, BF16_F32) GEMM #12", ETP_OP_XNNPACK,
                "Batch Matrix Multiply", "", "NC", "BF16_F32", "GEMM", 12);
    check_parse("Average Pooling (NHWC, F32) Pixelwise Average Pooling #1", ETP_OP_XNNPACK,
                "Average Pooling", "", "NHWC", "F32", "Pixelwise Average Pooling", 1);
    check_parse("Invalid Unary Op #19", ETP_OP_XNNPACK, "Invalid Unary Op", "", "", "", "", 19);
    check_parse("native_call_addmm.out", ETP_OP_KERNEL, "addmm", "out", "", "", "", 0);
    check_parse("native_call_copy_", ETP_OP_KERNEL, "copy_", "", "", "", "", 0);
    check_parse("native_call_pow.Tensor_Scalar_out", ETP_OP_KERNEL, "pow", "Tensor_Scalar_out", "",
                "", "", 0);
    check_parse("aten.addmm.default", ETP_OP_NAMED, "addmm", "default", "", "", "", 0);
    check_parse("torch.ops.aten.cat.default", ETP_OP_NAMED, "cat", "default", "", "", "", 0);
    check_parse("torch.ops.aten.copy_", ETP_OP_NAMED, "copy_", "", "", "", "", 0);
    check_parse("aten::addmm.out", ETP_OP_NAMED, "addmm", "out", "", "", "", 0);
    // Hostile or foreign names stay whole.
    check_parse("", ETP_OP_NAMED, "", "", "", "", "", 0);
    check_parse("()", ETP_OP_NAMED, "()", "", "", "", "", 0);
    check_parse("Add (", ETP_OP_NAMED, "Add (", "", "", "", "", 0);
    check_parse("Add ()", ETP_OP_NAMED, "Add ()", "", "", "", "", 0);
    check_parse("Stage (second half) x", ETP_OP_NAMED, "Stage (second half) x", "", "", "", "", 0);
    check_parse("my.own.event.name", ETP_OP_NAMED, "my.own.event.name", "", "", "", "", 0);
    check_parse("#1", ETP_OP_NAMED, "#1", "", "", "", "", 0);
    check_parse("a #0", ETP_OP_NAMED, "a #0", "", "", "", "", 0);
    check_parse("a #99999999999", ETP_OP_NAMED, "a #99999999999", "", "", "", "", 0);
    check_parse("a #4294967295", ETP_OP_NAMED, "a", "", "", "", "", 4294967295u);
    check_parse("a #4294967296", ETP_OP_NAMED, "a #4294967296", "", "", "", "", 0);
    check_parse("X (A, B, C, F1, F2, F3)", ETP_OP_XNNPACK, "X", "", "", "A B C F1", "", 0);
    check_parse("native_call_", ETP_OP_KERNEL, "", "", "", "", "", 0);
}

static void check_key(const char *name, const char *key)
{
    etp_op_name op;
    char buf[64];
    etp_op_parse(etp_str_from(name), &op);
    assert_int_equal(etp_op_key(&op, buf, sizeof buf), strlen(key));
    assert_string_equal(buf, key);
}

static void keys_ignore_what_levels_change(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } k_pairs[] = {
        {"Convolution (NHWC, PF32) IGEMM #3",           "Convolution (NHWC, F32) IGEMM #7",          true },
        {"Convolution (NHWC, PQS8, QS8, QC8W) IGEMM",   "Convolution (NHWC, QC8) IGEMM",             true },
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM",  "Fully Connected (NC, QD8, F32, QC8W) GEMM",
         true                                                                                             },
        {"Fully Connected (NC, PF16) GEMM #1",          "Fully Connected (NC, F32) GEMM #1",         true },
        // XNNPACK prints another layout for the same int8 deconvolution
        {"Deconvolution (NHWC, PQS8, QS8, QC8W) IGEMM", "Deconvolution (NC, QS8, QC8W) IGEMM",
         true                                                                                             },
        {"Transpose (ND, X16)",                         "Transpose (ND, X32)",                       true },
        {"Convolution (NHWC, F32) IGEMM",               "Convolution (NCHW, F32) IGEMM",             false},
        {"Add (ND)",                                    "Subtract (ND)",                             false},
        {"native_call_add.out",                         "native_call_add.Scalar_out",                false},
    };
    for (size_t i = 0; i < sizeof k_pairs / sizeof *k_pairs; i++) {
        etp_op_name a, b;
        etp_op_parse(etp_str_from(k_pairs[i].a), &a);
        etp_op_parse(etp_str_from(k_pairs[i].b), &b);
        if (etp_op_same_key(&a, &b) != k_pairs[i].same) {
            fail_msg("%s | %s", k_pairs[i].a, k_pairs[i].b);
        }
        char ka[64], kb[64];
        (void)etp_op_key(&a, ka, sizeof ka);
        (void)etp_op_key(&b, kb, sizeof kb);
        assert_int_equal(strcmp(ka, kb) == 0, k_pairs[i].same);
    }
    check_key("Convolution (NHWC, PF32) IGEMM #3", "Convolution (NHWC)");
    check_key("Invalid Unary Op #3", "Invalid Unary Op");
    check_key("native_call_addmm.out", "addmm.out");
    check_key("Deconvolution (NC, QS8, QC8W)", "Deconvolution (NHWC)");

    etp_op_name op;
    etp_op_parse(ETP_STR("Convolution (NHWC, F32) DWConv #1"), &op);
    assert_true(etp_op_is_depthwise(&op));
    char small[6];
    assert_int_equal(etp_op_key(&op, small, sizeof small), 18);
    assert_string_equal(small, "Convo");
    assert_int_equal(etp_op_key(&op, NULL, 0), 18);
    etp_op_parse(ETP_STR("Convolution (NHWC, F32) IGEMM #1"), &op);
    assert_false(etp_op_is_depthwise(&op));
}

static void table_is_sorted_and_categories_round_trip(void **state)
{
    size_t n;
    const etp_op_family *rows = etp_op_family_table(&n);
    assert_true(n > 400);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(rows[i - 1].key, rows[i].key) >= 0) {
            fail_msg("%s is not before %s", rows[i - 1].key, rows[i].key);
        }
    }
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        assert_int_equal(etp_category_find(etp_str_from(etp_category_name((etp_category)c))), c);
    }
    assert_int_equal(etp_category_find(ETP_STR("gemm")), ETP_CATEGORY_COUNT);
    etp_op_name op;
    etp_op_parse(ETP_STR("Pack LH (X32)"), &op);
    assert_non_null(op.note);
    etp_op_parse(ETP_STR("Fused Thing (NC, F32)"), &op);
    assert_false(op.known);
    assert_int_equal(op.category, ETP_CATEGORY_OTHER);
}
