// SPDX-License-Identifier: Apache-2.0
// Engagement per operator: did it run on the feature that is being compared, what says so, and if
// it could not or did not, why.
//
// A name proves a kernel family and no more (proof.h), so the answer is often "unknown"; it is
// never guessed from times.
#ifndef ETP_EXPLAIN_ENGAGE_H
#define ETP_EXPLAIN_ENGAGE_H

#include "explain/kernels.h"
#include "explain/nodes.h"
#include "isa/isa.h"

typedef enum etp_engagement {
    ETP_ENGAGED,
    ETP_NOT_ENGAGED,
    ETP_ENGAGEMENT_UNKNOWN,
    ETP_PARTLY_ENGAGED, // a group of which some operators did
    ETP_ENGAGEMENTS
} etp_engagement;

#define ETP_VNNI_CODES                                                      \
    (ETP_CODE_BIT(ETP_CODE_AVX512_VNNI) | ETP_CODE_BIT(ETP_CODE_AVX_VNNI) | \
     ETP_CODE_BIT(ETP_CODE_AVX_VNNI_INT8) | ETP_CODE_BIT(ETP_CODE_AVX_VNNI_INT16))

typedef enum etp_feature { // what the level adds
    ETP_FEATURE_NONE,
    ETP_FEATURE_SME,  // SME or SME2: names do not tell them apart
    ETP_FEATURE_VNNI, // names tell it for dynamically quantised linears only
    ETP_FEATURE_X86   // AVX-512, AVX2, I8MM: no name tells
} etp_feature;

// id, sentence. One per way to stay off, or to stay unproven.
#define ETP_REASON_MAP(X)                                                                        \
    X(NONE, "", "")                                                                              \
    X(DEPTHWISE, "depthwise", "depthwise convolution: no SME kernel exists")                     \
    X(DYNAMIC_WEIGHT, "dynamic_weight",                                                          \
      "the weight is computed at run time: its SME kernels need a constant")                     \
    X(BLOCKWISE_4BIT, "blockwise_4bit",                                                          \
      "4-bit weights with a scale per block: no SME kernel exists")                              \
    X(PER_TENSOR_WEIGHTS, "per_tensor_weights",                                                  \
      "int8 weights with one scale for all: SME needs one per channel")                          \
    X(QUINT8, "quint8", "quint8: no SME kernel exists, int8 has one")                            \
    X(FP16_FP32_WEIGHTS, "fp16_fp32_weights",                                                    \
      "fp16 with fp32 weights: no SME kernel exists, fp16 weights have one")                     \
    X(BF16, "bf16", "bfloat16: no SME kernel exists")                                            \
    X(DYNAMIC_CONV, "dynamic_conv", "dynamically quantised convolution: no SME kernel exists")   \
    X(DECONVOLUTION, "deconvolution", "float transposed convolution: no SME kernel exists")      \
    X(SPARSE, "sparse", "sparse or channel-first convolution: no SME kernel exists")             \
    X(TWO_BIT, "two_bit", "2-bit weights: no SME kernel exists")                                 \
    X(WEIGHT_ONLY, "weight_only",                                                                \
      "only the weights are quantised: no SME kernel exists, dynamic quantisation has one")      \
    X(DYNAMIC_FP16, "dynamic_fp16",                                                              \
      "dynamically quantised with fp16 in and out: this XNNPACK has no SME kernel")              \
    X(ROW_KERNEL, "row_kernel",                                                                  \
      "one row (M = 1): runs a row kernel, which keeps the matrix unit mostly idle")             \
    X(NO_PARTITIONER, "not_delegated_at_all",                                                    \
      "not delegated: the program was exported without the XNNPACK partitioner")                 \
    X(REFUSED_RANK, "not_delegated_rank", "not delegated: XNNPACK has no 3-d convolution")       \
    X(REFUSED_DTYPE, "not_delegated_dtype",                                                      \
      "not delegated: the partitioner takes float32, float16 and quantised int8 only")           \
    X(REFUSED_WEIGHT, "not_delegated_weight",                                                    \
      "not delegated: the partitioner wants a constant weight")                                  \
    X(REFUSED_ATTENTION, "not_delegated_attention",                                              \
      "an attention kernel of its own, outside XNNPACK")                                         \
    X(REFUSED, "not_delegated",                                                                  \
      "not delegated: the partitioner left it out; its log at export says why")                  \
    X(MASKED, "level_masked", "the level hides the feature")                                     \
    X(KERNEL_HIDES, "kernel_hides", "the operating system does not offer SME")                   \
    X(NOT_BUILT, "not_built",                                                                    \
      "would have to run on SME and does not: this XNNPACK was built without the kernels")       \
    X(SAME_NAMES, "same_names", "one name for the kernels of every level")                       \
    X(NO_VNNI, "no_vnni", "dynamically quantised linear without VNNI")                           \
    X(OTHER_KERNEL, "other_kernel", "at this level its kernel is one without the feature")       \
    X(FLOAT32, "float32", "runs in float32, not quantised: VNNI multiplies 8-bit integers only") \
    X(FLOAT16, "float16", "runs in float16, not quantised: VNNI multiplies 8-bit integers only") \
    X(FLOAT_WEIGHT_ONLY, "float_weight_only",                                                    \
      "only the weights are quantised, it multiplies in floating point: VNNI multiplies 8-bit "  \
      "integers only")                                                                           \
    X(DEPTHWISE_INT8, "depthwise_int8", "depthwise convolution: no VNNI kernel exists")          \
    X(UNSIGNED_INT8, "unsigned_int8", "quint8: no VNNI kernel exists, int8 has one")             \
    X(FEW_SAMPLES, "few_samples",                                                                \
      "one name for the kernels of every level, and too few samples inside it")                  \
    X(UNKNOWN_CODE, "unknown_code",                                                              \
      "one name for the kernels of every level, and the code sampled inside it is not known")    \
    X(COVERED_CODE, "covered_code",                                                              \
      "the code sampled inside it needs other features too: this one does not show in it")       \
    X(PART_OF_TIME, "part_of_time",                                                              \
      "sampled: part of its time is in code without the feature, such as packing")               \
    X(DISAGREE, "disagree",                                                                      \
      "its name says that it uses the feature, the code sampled in it does not")

typedef enum etp_reason {
#define ETP_REASON_ENUM(name, id, text) ETP_REASON_##name,
    ETP_REASON_MAP(ETP_REASON_ENUM)
#undef ETP_REASON_ENUM
        ETP_REASON_COUNT
} etp_reason;

const char *etp_reason_id(etp_reason reason);   // "depthwise"; NULL for NONE
const char *etp_reason_text(etp_reason reason); // NULL for NONE

typedef struct etp_engage_case {
    const etp_profile_row *row; // of the arm that is judged
    const etp_row_facts *facts; // NULL without a program
    etp_feature feature;
    const etp_name_book *names; // of the build that ran; NULL unknown
    bool masked;                // the arm's level hides the feature
    bool lower_level;           // the arm's level is below the one whose feature is asked for
    const char
        *cpu_lacks;  // why the device offers no SME, as far as it says; NULL: it does, or unknown
    bool may_be_amx; // etp_names_may_be_amx
    bool sme_elsewhere;           // other operators of the arm carry SME names
    bool any_delegate;            // the program has delegates; true when unknown
    const etp_kernel_op *sampled; // program counters inside the operator, NULL none
    const etp_kernel_op
        *pool;         // those inside all operators of the same kernel and configuration, NULL none
    etp_codes classes; // of code that is the feature's (etp_kernels_classes)
    etp_codes covering; // of code that may hold the feature's beside what needs more
} etp_engage_case;

typedef struct etp_engage {
    etp_engagement state;
    bool eligible; // convolution, GEMM, batch matrix multiply, attention: what engagement is about
    etp_reason reason;
    const char *evidence; // what the state rests on, NULL for unknown
    bool by_symbol;       // the state rests on the micro-kernel that XNNPACK logged
    bool by_samples;      // the state rests on sampled code
    uint64_t sure, on;    // sampled program counters inside it, and those in the feature's code
    uint64_t seen;        // sure ones that the judgement looked at, pooled or not
    bool pooled;     // too few of them: the state rests on those of operators of the same kernel
    double on_share; // of its samples, or the pool's, in the feature's code; meaningful with
                     // by_samples
} etp_engage;

#define ETP_ENGAGE_SAMPLES 10u // sure program counters below which samples decide nothing

// Feature that a level adds to lower ones; NONE for ETP_LEVEL_NONE.
etp_feature etp_feature_of(etp_level level);
// What names of a recording without a known level show.
etp_feature etp_feature_of_names(const etp_profile *profile, const etp_name_book *book);
// The I-th input of an operator; NULL none or unknown.
const etp_value *etp_row_operand(const etp_row_facts *facts, uint32_t i);
// The product of all dimensions but the last is 1.
bool etp_value_is_one_row(const etp_value *value);
void etp_engage_judge(const etp_engage_case *c, etp_engage *out);

#endif
