// SPDX-License-Identifier: Apache-2.0
// One case per reason for which an operator stays off the feature, and the three-valued states.
#include <string.h>

#include "explain/engage.h"
#include "explain/kernels.h"
#include "unit.h"

typedef struct shape { // what the program says of the operands
    etp_dtype input, weight;
    uint32_t rank;
    int64_t rows;
    bool constant;
    etp_quant_kind quant;
} shape;

typedef struct case_of {
    const char *name;
    etp_feature feature;
    etp_engagement state;
    etp_reason reason;
    const shape *shape;
    bool masked, cpu_lacks, no_delegate;
    unsigned sure, on; // sampled program counters inside the operator, and those in SME2 code
} case_of;

static const shape k_f16_f32 = {ETP_DTYPE_FLOAT16, ETP_DTYPE_FLOAT32, 2, 8, true, ETP_QUANT_NONE};
static const shape k_f16 = {ETP_DTYPE_FLOAT16, ETP_DTYPE_FLOAT16, 2, 8, true, ETP_QUANT_NONE};
static const shape k_row = {ETP_DTYPE_FLOAT32, ETP_DTYPE_FLOAT32, 2, 1, true, ETP_QUANT_NONE};
static const shape k_rows = {ETP_DTYPE_FLOAT32, ETP_DTYPE_FLOAT32, 2, 8, true, ETP_QUANT_NONE};
static const shape k_dynamic = {ETP_DTYPE_INT8, ETP_DTYPE_INT8, 2, 8, false, ETP_QUANT_PER_CHANNEL};
static const shape k_tensor = {ETP_DTYPE_INT8, ETP_DTYPE_INT8, 2, 8, true, ETP_QUANT_PER_TENSOR};
static const shape k_5d = {ETP_DTYPE_FLOAT32, ETP_DTYPE_FLOAT32, 5, 8, true, ETP_QUANT_NONE};
static const shape k_4d_dynamic = {ETP_DTYPE_FLOAT32, ETP_DTYPE_FLOAT32, 4, 8, false,
                                   ETP_QUANT_NONE};
static const shape k_f64 = {ETP_DTYPE_FLOAT64, ETP_DTYPE_FLOAT64, 2, 8, true, ETP_QUANT_NONE};

#define SME ETP_FEATURE_SME
#define ON ETP_ENGAGED
#define OFF ETP_NOT_ENGAGED
#define TRISTATE ETP_ENGAGEMENT_UNKNOWN
#define R(name) ETP_REASON_##name

static const case_of k_cases[] = {
    {"Convolution (NHWC, PF32) IGEMM #1", SME, ON, R(NONE)},
    {"Fully Connected (NC, PF32) GEMM #1", SME, ON, R(ROW_KERNEL), &k_row},
    {"Fully Connected (NC, PF32) GEMM #1", SME, ON, R(NONE), &k_rows},
    {"Convolution (NHWC, F32) DWConv #1", SME, OFF, R(DEPTHWISE)},
    {"Fully Connected (NC, QS8, QC8W) GEMM #1", SME, OFF, R(DYNAMIC_WEIGHT), &k_dynamic},
    {"Fully Connected (NC, QP8, F32, QB4W) GEMM #1", SME, OFF, R(BLOCKWISE_4BIT)},
    {"Fully Connected (NC, QS8) GEMM #1", SME, OFF, R(PER_TENSOR_WEIGHTS)},
    {"Fully Connected (NC, QS8, QC8W) GEMM #1", SME, OFF, R(PER_TENSOR_WEIGHTS), &k_tensor},
    {"Convolution (NHWC, QU8) IGEMM #1", SME, OFF, R(QUINT8)},
    {"Fully Connected (NC, F16) GEMM #1", SME, OFF, R(FP16_FP32_WEIGHTS), &k_f16_f32},
    {"Fully Connected (NC, F16) GEMM #1", SME, OFF, R(NOT_BUILT), &k_f16},
    {"Fully Connected (NC, BF16, F32) GEMM #1", SME, OFF, R(BF16)},
    {"Convolution (NHWC, QD8, F32, QC8W) IGEMM #1", SME, OFF, R(DYNAMIC_CONV)},
    {"Deconvolution (NHWC, F32) IGEMM #1", SME, OFF, R(DECONVOLUTION)},
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, TRISTATE, R(SAME_NAMES)},
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, TRISTATE, R(ROW_KERNEL), &k_row},
    {"Convolution (NHWC, F32) IGEMM #1", SME, OFF, R(MASKED), NULL, 1},
    {"Convolution (NHWC, F32) IGEMM #1", SME, OFF, R(KERNEL_HIDES), NULL, 0, 1},
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, OFF, R(KERNEL_HIDES), NULL, 0, 1},
    {"Convolution (NHWC, F32) DWConv #1", SME, OFF, R(DEPTHWISE), NULL, 0, 1},
    {"Convolution (NHWC, F32) IGEMM #1", SME, OFF, R(NOT_BUILT)},
    {"native_call_convolution.out", SME, OFF, R(REFUSED_RANK), &k_5d},
    {"native_call_convolution.out", SME, OFF, R(REFUSED_WEIGHT), &k_4d_dynamic},
    {"native_call_addmm.out", SME, OFF, R(REFUSED_DTYPE), &k_f64},
    {"native_call_addmm.out", SME, OFF, R(REFUSED), &k_rows},
    {"native_call_addmm.out", SME, OFF, R(NO_PARTITIONER), NULL, 0, 0, 1},
    {"native_call_custom_sdpa.out", SME, OFF, R(REFUSED_ATTENTION)},
    {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", ETP_FEATURE_VNNI, ON, R(NONE)},
    {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1", ETP_FEATURE_VNNI, OFF, R(NO_VNNI)},
    {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1", ETP_FEATURE_VNNI, OFF, R(MASKED), NULL, 1},
    // Names of VNNI say nothing of another feature.
    {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", ETP_FEATURE_X86, TRISTATE, R(SAME_NAMES)},
    {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1", ETP_FEATURE_X86, TRISTATE, R(SAME_NAMES)},
    // The rest of XNNPACK's table of SME kernels: what has one…
    {"Convolution (NHWC, PF16) IGEMM #1", SME, ON, R(NONE)},
    {"Convolution (NHWC, PQS8, QS8, QC8W) IGEMM #1", SME, ON, R(NONE)},
    {"Fully Connected (NC, PF16) GEMM #1", SME, ON, R(NONE), &k_f16},
    {"Fully Connected (NC, PQS8, QS8, QC8W) GEMM #1", SME, ON, R(NONE)},
    {"Batch Matrix Multiply (NC, PF32) GEMM #1", SME, ON, R(NONE)},
    {"Batch Matrix Multiply (NC, PF16) GEMM #1", SME, ON, R(NONE)},
    {"Deconvolution (NHWC, PQS8, QS8, QC8W) IGEMM #1", SME, ON, R(NONE)},
    {"Fully Connected (NC, QP8, F32, QC4W) GEMM #1", SME, TRISTATE, R(SAME_NAMES)},
    {"Batch Matrix Multiply (NC, F32) GEMM #1", SME, OFF, R(NOT_BUILT)},
    {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1", SME, OFF, R(NOT_BUILT)},
    {"Batch Matrix Multiply (NC, QP8, F32, QC8W) GEMM #1", SME, TRISTATE, R(SAME_NAMES)},
    {"Fully Connected (NC, QP8, F16, QC8W) GEMM #1", SME, ON, R(NONE)},
    {"Fully Connected (NC, QP8, F16, QC4W) GEMM #1", SME, OFF, R(DYNAMIC_FP16)},
    // … and what has none.
    {"Convolution (NHWC, F32) VMulCAddC #1", SME, OFF, R(DEPTHWISE)},
    {"Convolution (NHWC, QC8) DWConv #1", SME, OFF, R(DEPTHWISE)},
    {"Fully Connected (NC, QU8) GEMM #1", SME, OFF, R(QUINT8)},
    {"Deconvolution (NHWC, QU8) IGEMM #1", SME, OFF, R(QUINT8)},
    {"Deconvolution (NHWC, F16) IGEMM #1", SME, OFF, R(DECONVOLUTION)},
    {"Deconvolution (NHWC, F32) Subconv2D #1", SME, OFF, R(DECONVOLUTION)},
    {"Fully Connected (NC, QD8, F32, QB4W) GEMM #1", SME, OFF, R(BLOCKWISE_4BIT)},
    {"Fully Connected (NC, QD8, F32, QC2W) GEMM #1", SME, OFF, R(TWO_BIT)},
    {"Fully Connected (NC, QD8, F16, QC8W) GEMM #1", SME, OFF, R(DYNAMIC_FP16)},
    {"Fully Connected (NC, F32, QC8W) GEMM #1", SME, OFF, R(WEIGHT_ONLY)},
    {"Convolution (NCHW, F32) SPMM #1", SME, OFF, R(SPARSE)},
    {"Convolution (NHWC, F32) Conv2D HWC2CHW #1", SME, OFF, R(SPARSE)},
    // Samples decide what names cannot, and check what they can.
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, ON, R(NONE), NULL, 0, 0, 0, 20, 15},
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, OFF, R(OTHER_KERNEL), NULL, 0, 0, 0, 20},
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, OFF, R(MASKED), NULL, 1, 0, 0, 20, 1},
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, ETP_PARTLY_ENGAGED, R(PART_OF_TIME), NULL,
     0, 0, 0, 20, 5},
    {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", SME, TRISTATE, R(FEW_SAMPLES), NULL, 0, 0, 0,
     9, 9},
    {"Convolution (NHWC, PF32) IGEMM #1", SME, TRISTATE, R(DISAGREE), NULL, 0, 0, 0, 20},
    {"Convolution (NHWC, F32) DWConv #1", SME, OFF, R(DEPTHWISE), NULL, 0, 0, 0, 20},
    // What VNNI has no kernels for says so, sampled or not.
    {"Batch Matrix Multiply (NC, F32) GEMM #1", ETP_FEATURE_VNNI, OFF, R(FLOAT32)},
    {"Batch Matrix Multiply (NC, F32) GEMM #1", ETP_FEATURE_VNNI, OFF, R(FLOAT32), NULL, 0, 0, 0,
     20},
    {"Convolution (NHWC, F32) DWConv #1", ETP_FEATURE_VNNI, OFF, R(FLOAT32)},
    {"Fully Connected (NC, F16) GEMM #1", ETP_FEATURE_VNNI, OFF, R(FLOAT16), NULL, 0, 0, 0, 20},
    {"Fully Connected (NC, F32, QC8W) GEMM #1", ETP_FEATURE_VNNI, OFF, R(FLOAT_WEIGHT_ONLY)},
    {"Convolution (NHWC, QC8) DWConv #1", ETP_FEATURE_VNNI, OFF, R(DEPTHWISE_INT8)},
    {"Convolution (NHWC, QU8) IGEMM #1", ETP_FEATURE_VNNI, OFF, R(UNSIGNED_INT8)},
    {"Convolution (NHWC, QC8) IGEMM #1", ETP_FEATURE_VNNI, TRISTATE, R(SAME_NAMES)},
    {"Convolution (NHWC, QC8) IGEMM #1", ETP_FEATURE_VNNI, TRISTATE, R(FEW_SAMPLES), NULL, 0, 0, 0,
     9, 9},
    {"Convolution (NHWC, QC8) IGEMM #1", ETP_FEATURE_VNNI, ON, R(NONE), NULL, 0, 0, 0, 10, 9},
    {"Convolution (NHWC, F32) IGEMM #1", ETP_FEATURE_X86, ON, R(NONE), NULL, 0, 0, 0, 10, 5},
    {"Convolution (NHWC, F32) IGEMM #1", ETP_FEATURE_X86, OFF, R(MASKED), NULL, 1, 0, 0, 40, 2},
    {"Convolution (NHWC, F32) IGEMM #1", ETP_FEATURE_X86, OFF, R(OTHER_KERNEL), NULL, 0, 0, 0, 40,
     2},
    {"Convolution (NHWC, F32) IGEMM #1", ETP_FEATURE_X86, TRISTATE, R(SAME_NAMES)},
    {"Convolution (NHWC, F32) IGEMM #1", ETP_FEATURE_NONE, TRISTATE, R(SAME_NAMES)},
};

static void judge(const case_of *c, etp_engage *out)
{
    int64_t dims[5];
    etp_value values[2];
    static const uint32_t k_inputs[] = {0, 1};
    etp_row_facts facts = {0};
    etp_profile_row row = {.name = etp_str_from(c->name)};
    row.kind = strncmp(c->name, "native_", 7) == 0 ? ETP_ROW_PORTABLE : ETP_ROW_OPERATOR;
    etp_op_parse(row.name, &row.parsed);
    if (c->shape) {
        for (uint32_t i = 0; i < 5; i++) {
            dims[i] = i == 0 ? c->shape->rows : 16;
        }
        values[0] = (etp_value){.kind = ETP_EVALUE_TENSOR,
                                .dtype = c->shape->input,
                                .dims = dims,
                                .rank = c->shape->rank};
        values[1] = (etp_value){.kind = ETP_EVALUE_TENSOR,
                                .dtype = c->shape->weight,
                                .dims = dims,
                                .rank = 2,
                                .constant = c->shape->constant,
                                .quant = {.kind = c->shape->quant}};
        facts.op = (etp_op_facts){.values = values, .inputs = k_inputs, .n_inputs = 2};
    }
    etp_engage_case e = {.row = &row,
                         .facts = c->shape ? &facts : NULL,
                         .feature = c->feature,
                         .masked = c->masked,
                         .cpu_lacks = c->cpu_lacks ? "this CPU has no SME2" : NULL,
                         .any_delegate = !c->no_delegate};
    etp_kernel_op sampled = {.sure = c->sure};
    sampled.sure_of[ETP_CODE_SME2] = c->on;
    sampled.sure_of[ETP_CODE_NEON] = c->sure - c->on;
    e.sampled = c->sure ? &sampled : NULL;
    e.classes = ETP_CODE_BIT(ETP_CODE_SME2);
    etp_engage_judge(&e, out);
}

static void every_reason(void **state)
{
    bool seen[ETP_REASON_COUNT] = {false};
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_engage e;
        judge(&k_cases[i], &e);
        if (e.state != k_cases[i].state || e.reason != k_cases[i].reason || !e.eligible) {
            fail_msg("%s: state %d, reason %s", k_cases[i].name, (int)e.state,
                     e.reason ? etp_reason_id(e.reason) : "none");
        }
        assert_true((e.evidence != NULL) == (e.state != ETP_ENGAGEMENT_UNKNOWN));
        seen[e.reason] = true;
    }
    for (int r = 0; r < ETP_REASON_COUNT; r++) {
        if (!seen[r] && r != ETP_REASON_UNKNOWN_CODE && r != ETP_REASON_COVERED_CODE) { // below
            fail_msg("no case for %s", etp_reason_id((etp_reason)r));
        }
    }
}

// Samples in code that nobody knows may be the feature's: more than one of 20 of them, and only
// what they cannot change is said.
static void unknown_code_decides_nothing(void **state)
{
    static const struct {
        const char *name;
        uint64_t on, unknown; // of 20
        etp_engagement state;
        etp_reason reason;
    } k_unknown[] = {
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", 0,  1,  OFF,      R(OTHER_KERNEL)},
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", 0,  2,  TRISTATE, R(UNKNOWN_CODE)},
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", 9,  2,  TRISTATE, R(UNKNOWN_CODE)},
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", 10, 10, ON,       R(NONE)        },
        {"Convolution (NHWC, PF32) IGEMM #1",            0,  20, ON,       R(NONE)        }, // its name
    };
    for (size_t i = 0; i < sizeof k_unknown / sizeof *k_unknown; i++) {
        etp_profile_row row = {.name = etp_str_from(k_unknown[i].name), .kind = ETP_ROW_OPERATOR};
        etp_op_parse(row.name, &row.parsed);
        etp_kernel_op sampled = {.sure = 20};
        sampled.sure_of[ETP_CODE_SME2] = k_unknown[i].on;
        sampled.sure_of[ETP_CODE_UNKNOWN] = k_unknown[i].unknown;
        sampled.sure_of[ETP_CODE_NEON] = 20 - k_unknown[i].on - k_unknown[i].unknown;
        etp_engage_case e = {.row = &row,
                             .feature = SME,
                             .any_delegate = true,
                             .sampled = &sampled,
                             .classes = ETP_CODE_BIT(ETP_CODE_SME2)};
        etp_engage out;
        etp_engage_judge(&e, &out);
        if (out.state != k_unknown[i].state || out.reason != k_unknown[i].reason) {
            fail_msg("%zu: state %d, reason %s", i, (int)out.state,
                     out.reason ? etp_reason_id(out.reason) : "none");
        }
    }
}

// F16C code counts as what needs more beside it: FMA code may hold it, AVX code cannot.
static void covering_code_decides_nothing(void **state)
{
    static const struct {
        etp_code code;
        etp_engagement state;
        etp_reason reason;
    } k_seen[] = {
        {ETP_CODE_F16C, ON,       R(NONE)        },
        {ETP_CODE_FMA,  TRISTATE, R(COVERED_CODE)},
        {ETP_CODE_AVX,  OFF,      R(OTHER_KERNEL)},
    };
    etp_level without = etp_level_find(ETP_ISA_X86_64, "-f16c");
    etp_codes covering = etp_kernels_covering(without);
    assert_true((covering & ETP_CODE_BIT(ETP_CODE_FMA)) &&
                !(covering & ETP_CODE_BIT(ETP_CODE_AVX)));
    assert_int_equal(etp_kernels_covering(ETP_LEVEL_AVX2), 0);
    for (size_t i = 0; i < sizeof k_seen / sizeof *k_seen; i++) {
        etp_profile_row row = {.name = ETP_STR("Convolution (NHWC, F16) IGEMM #1"),
                               .kind = ETP_ROW_OPERATOR};
        etp_op_parse(row.name, &row.parsed);
        etp_kernel_op sampled = {.sure = 20};
        sampled.sure_of[k_seen[i].code] = 20;
        etp_engage_case e = {.row = &row,
                             .feature = ETP_FEATURE_X86,
                             .any_delegate = true,
                             .sampled = &sampled,
                             .classes = ETP_CODE_BIT(ETP_CODE_F16C),
                             .covering = covering};
        etp_engage out;
        etp_engage_judge(&e, &out);
        if (out.state != k_seen[i].state || out.reason != k_seen[i].reason) {
            fail_msg("%zu: state %d, reason %s", i, (int)out.state,
                     out.reason ? etp_reason_id(out.reason) : "none");
        }
    }
}

// The micro-kernel that XNNPACK logged decides where names are silent, and against them.
static void logged_kernels_decide(void **state)
{
    static const char k_sme2[] =
        "kai_run_matmul_clamp_f32_qai8dxp1vlx4_qsi8cxp4vlx4_1vlx4vl_sme2_mopa";
    static const char k_neon[] = "kai_run_matmul_clamp_f32_qai8dxp4x8_qsi8cxp4x8_16x4x32_neon_i8mm";
    static const struct {
        const char *name, *kernel;
        bool masked;
        etp_engagement state;
        etp_reason reason;
    } k_logged[] = {
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", k_sme2, false, ON,       R(NONE)        },
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", k_neon, false, OFF,      R(OTHER_KERNEL)},
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", k_neon, true,  OFF,      R(MASKED)      },
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1", "odd",  false, TRISTATE, R(SAME_NAMES)  },
        {"Convolution (NHWC, PF32) IGEMM #1",            k_neon, false, OFF,      R(OTHER_KERNEL)},
        {"Convolution (NHWC, F32) DWConv #1",            k_neon, false, OFF,      R(DEPTHWISE)   },
    };
    for (size_t i = 0; i < sizeof k_logged / sizeof *k_logged; i++) {
        etp_profile_row row = {.name = etp_str_from(k_logged[i].name),
                               .kernel = etp_str_from(k_logged[i].kernel),
                               .kind = ETP_ROW_OPERATOR};
        etp_op_parse(row.name, &row.parsed);
        etp_engage_case e = {.row = &row,
                             .feature = SME,
                             .masked = k_logged[i].masked,
                             .any_delegate = true,
                             .classes = ETP_CODE_BIT(ETP_CODE_SME2)};
        etp_engage out;
        etp_engage_judge(&e, &out);
        if (out.state != k_logged[i].state || out.reason != k_logged[i].reason) {
            fail_msg("%zu: state %d, reason %s", i, (int)out.state,
                     out.reason ? etp_reason_id(out.reason) : "none");
        }
    }
}

// Too few samples of its own: those of operators of the same kernel decide, and only then.
static void equal_kernels_are_joined(void **state)
{
    static const struct {
        uint64_t sure, on, pool_sure, pool_on;
        etp_engagement state;
        bool pooled;
    } k_pools[] = {
        {3,  3, 12,  12, ETP_ENGAGED,            true },
        {0,  0, 40,  1,  ETP_NOT_ENGAGED,        true },
        {9,  0, 12,  3,  ETP_PARTLY_ENGAGED,     true },
        {3,  3, 9,   9,  ETP_ENGAGEMENT_UNKNOWN, false},
        {10, 0, 100, 90, ETP_NOT_ENGAGED,        false}, // enough of its own
    };
    for (size_t i = 0; i < sizeof k_pools / sizeof *k_pools; i++) {
        etp_profile_row row = {.name = ETP_STR("Convolution (NHWC, QC8) IGEMM #1"),
                               .kind = ETP_ROW_OPERATOR};
        etp_kernel_op own = {.sure = k_pools[i].sure}, pool = {.sure = k_pools[i].pool_sure};
        etp_engage e;
        etp_op_parse(row.name, &row.parsed);
        own.sure_of[ETP_CODE_AVX512_VNNI] = k_pools[i].on;
        pool.sure_of[ETP_CODE_AVX512_VNNI] = k_pools[i].pool_on;
        etp_engage_case c = {.row = &row,
                             .feature = ETP_FEATURE_VNNI,
                             .any_delegate = true,
                             .sampled = own.sure ? &own : NULL,
                             .pool = &pool,
                             .classes = ETP_CODE_BIT(ETP_CODE_AVX512_VNNI)};
        etp_engage_judge(&c, &e);
        assert_int_equal(e.state, k_pools[i].state);
        assert_int_equal(e.pooled, k_pools[i].pooled);
        assert_int_equal(e.sure, k_pools[i].sure); // its own stay its own
    }
}

static void other_work_is_not_asked(void **state)
{
    static const char *const k_names[] = {
        "Softmax (NC, F32) #1",       "Add (ND) #1",
        "Transpose (ND, X32) #1",     "native_call_mean.out",
        "Max Pooling (NHWC, F32) #1", "Mean (ND) Reduce2 #1",
        "Convert (NC, F32, QD8) #1",  "Copy (NC, X32) #1",
        "Concatenate (ND, X32) #1",   "Slice (ND, X32) #1",
        "Constant Pad (ND, X32) #1",  "Resize Bilinear (NHWC, F32) #1"};
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        case_of c = {.name = k_names[i], .feature = SME};
        etp_engage e;
        judge(&c, &e);
        assert_false(e.eligible);
        assert_int_equal(e.state, ETP_ENGAGEMENT_UNKNOWN);
        assert_int_equal(e.reason, ETP_REASON_NONE);
    }
}
