// SPDX-License-Identifier: Apache-2.0
// Judging one operator's engagement.
#include "explain/engage.h"

#include "explain/proof.h"

const char *etp_reason_id(etp_reason reason)
{
    static const char *const k_ids[] = {
#define ETP_REASON_ID(name, id, text) id,
        ETP_REASON_MAP(ETP_REASON_ID)
#undef ETP_REASON_ID
    };
    return reason == ETP_REASON_NONE || reason >= ETP_REASON_COUNT ? NULL : k_ids[reason];
}

const char *etp_reason_text(etp_reason reason)
{
    static const char *const k_texts[] = {
#define ETP_REASON_TEXT(name, id, text) text,
        ETP_REASON_MAP(ETP_REASON_TEXT)
#undef ETP_REASON_TEXT
    };
    return reason == ETP_REASON_NONE || reason >= ETP_REASON_COUNT ? NULL : k_texts[reason];
}

etp_feature etp_feature_of(etp_level level)
{
    const etp_level_info *info = etp_level_get(level);
    if (!info) {
        return ETP_FEATURE_NONE;
    }
    if (info->family == ETP_ISA_X86_64) {
        return level == ETP_LEVEL_VNNI ? ETP_FEATURE_VNNI : ETP_FEATURE_X86;
    }
    if (level == ETP_LEVEL_BEST_AARCH64 || etp_level_hides_one(level)) {
        return ETP_FEATURE_X86;
    }
    return level == ETP_LEVEL_SME2 || level == ETP_LEVEL_SME1 ? ETP_FEATURE_SME : ETP_FEATURE_NONE;
}

etp_feature etp_feature_of_names(const etp_profile *profile, const etp_name_book *book)
{
    etp_feature found = ETP_FEATURE_NONE;
    for (size_t i = 0; i < profile->n_rows; i++) {
        etp_str name = profile->rows[i].parsed.base;
        etp_name_proof proof = profile->rows[i].kind == ETP_ROW_OPERATOR
                                   ? etp_isa_name_proof_in(book, name.ptr, name.len)
                                   : ETP_PROVES_NOTHING;
        if (proof == ETP_PROVES_SME) {
            return ETP_FEATURE_SME;
        }
        found = proof == ETP_PROVES_VNNI ? ETP_FEATURE_VNNI : found;
    }
    return found;
}

const etp_value *etp_row_operand(const etp_row_facts *f, uint32_t i)
{
    return f && i < f->op.n_inputs ? &f->op.values[f->op.inputs[i]] : NULL;
}

static bool is_family(const etp_op_name *op, const char *family)
{
    return etp_str_eqz(op->family, family);
}

// The product of all dimensions but the last is 1.
bool etp_value_is_one_row(const etp_value *v)
{
    if (!v || v->kind != ETP_EVALUE_TENSOR || v->rank == 0 || v->dynamic) {
        return false;
    }
    for (uint32_t i = 0; i + 1 < v->rank; i++) {
        if (v->dims[i] != 1) {
            return false;
        }
    }
    return true;
}

// XNNPACK names sparse matrix multiplications and convolutions of channel-first images by
// micro-kernel or layout.
static bool is_sparse(const etp_op_name *op)
{
    return is_family(op, "Convolution") &&
           (etp_str_eqz(op->ukernel, "SPMM") || etp_str_starts(op->ukernel, ETP_STR("Conv2D")) ||
            etp_str_find(op->base, ETP_STR("(NCHW")) < op->base.len);
}

// Float activations, integer weights: "(NC, F32, QC8W)".
static bool is_weight_only(const etp_op_name *op)
{
    bool weights = etp_op_has_dtype(op, "QC8W") || etp_op_has_dtype(op, "QC4W");
    return weights && op->n_dtypes == 2 &&
           (etp_op_has_dtype(op, "F32") || etp_op_has_dtype(op, "F16"));
}

static etp_reason off_by_name(const etp_op_name *op)
{
    if (etp_op_is_depthwise(op)) {
        return ETP_REASON_DEPTHWISE;
    }
    if (etp_op_has_dtype(op, "QB4W")) {
        return ETP_REASON_BLOCKWISE_4BIT;
    }
    if (etp_op_has_dtype(op, "QU8")) {
        return ETP_REASON_QUINT8;
    }
    if (etp_op_has_dtype(op, "BF16")) {
        return ETP_REASON_BF16;
    }
    if (etp_op_has_dtype(op, "QC2W")) {
        return ETP_REASON_TWO_BIT;
    }
    if (is_sparse(op)) {
        return ETP_REASON_SPARSE;
    }
    bool quantised =
        etp_op_has_dtype(op, "QP8") || etp_op_has_dtype(op, "QD8") || etp_op_has_dtype(op, "QDU8");
    if (etp_op_has_dtype(op, "F16") && etp_op_has_dtype(op, "F32") && !quantised) {
        return ETP_REASON_FP16_FP32_WEIGHTS;
    }
    if (is_family(op, "Convolution") && quantised) {
        return ETP_REASON_DYNAMIC_CONV;
    }
    if (quantised && etp_op_has_dtype(op, "F16")) {
        return ETP_REASON_DYNAMIC_FP16;
    }
    if (is_weight_only(op)) {
        return ETP_REASON_WEIGHT_ONLY;
    }
    if (is_family(op, "Fully Connected") && op->n_dtypes == 1 && etp_op_has_dtype(op, "QS8")) {
        return ETP_REASON_PER_TENSOR_WEIGHTS;
    }
    if (is_family(op, "Fully Connected") && op->n_dtypes == 1 && etp_op_has_dtype(op, "F16")) {
        return ETP_REASON_FP16_FP32_WEIGHTS; // with fp16 weights it would be PF16
    }
    bool static_int8 =
        etp_op_has_dtype(op, "QS8") || etp_op_has_dtype(op, "QC8") || etp_op_has_dtype(op, "PQS8");
    if (is_family(op, "Deconvolution") && !static_int8) {
        return ETP_REASON_DECONVOLUTION;
    }
    return ETP_REASON_NONE;
}

static etp_reason off_by_program(const etp_op_name *op, const etp_row_facts *f)
{
    const etp_value *weight = etp_row_operand(f, 1);
    if (!weight || weight->kind != ETP_EVALUE_TENSOR) {
        return ETP_REASON_NONE;
    }
    bool batch = is_family(op, "Batch Matrix Multiply");
    if (!batch && !weight->constant && !etp_op_has_dtype(op, "F32") &&
        !etp_op_has_dtype(op, "PF32")) {
        return ETP_REASON_DYNAMIC_WEIGHT;
    }
    if (is_family(op, "Fully Connected") && weight->quant.kind == ETP_QUANT_PER_TENSOR) {
        return ETP_REASON_PER_TENSOR_WEIGHTS;
    }
    return ETP_REASON_NONE;
}

static etp_reason refused(const etp_engage_case *c)
{
    const etp_value *input = etp_row_operand(c->facts, 0), *weight = etp_row_operand(c->facts, 1);
    if (c->row->parsed.category == ETP_CATEGORY_ATTENTION) {
        return ETP_REASON_REFUSED_ATTENTION;
    }
    if (!c->any_delegate) {
        return ETP_REASON_NO_PARTITIONER;
    }
    bool conv = c->row->parsed.category == ETP_CATEGORY_CONVOLUTION;
    bool tensor = input && input->kind == ETP_EVALUE_TENSOR;
    if (conv && tensor && input->rank > 4) {
        return ETP_REASON_REFUSED_RANK;
    }
    if (tensor && input->dtype != ETP_DTYPE_FLOAT32 && input->dtype != ETP_DTYPE_FLOAT16 &&
        input->dtype != ETP_DTYPE_INT8 && input->dtype != ETP_DTYPE_UNKNOWN) {
        return ETP_REASON_REFUSED_DTYPE;
    }
    if (conv && weight && weight->kind == ETP_EVALUE_TENSOR && !weight->constant) {
        return ETP_REASON_REFUSED_WEIGHT;
    }
    return ETP_REASON_REFUSED;
}

static bool is_eligible(const etp_profile_row *row)
{
    switch (row->parsed.category) {
    case ETP_CATEGORY_CONVOLUTION:
    case ETP_CATEGORY_GEMM:
    case ETP_CATEGORY_ATTENTION:
        return etp_row_is_operator(row->kind);
    default:
        return false;
    }
}

static void not_engaged(etp_engage *out, etp_reason reason, const char *evidence)
{
    out->state = ETP_NOT_ENGAGED;
    out->reason = reason;
    out->evidence = evidence;
}

static void judge_sme(const etp_engage_case *c, etp_engage *out)
{
    const etp_op_name *op = &c->row->parsed;
    etp_reason off = off_by_name(op);
    const etp_value *weight = etp_row_operand(c->facts, 1);
    bool fp16_weight = weight && weight->dtype == ETP_DTYPE_FLOAT16;
    if (off == ETP_REASON_FP16_FP32_WEIGHTS && fp16_weight) {
        off = ETP_REASON_NONE;
    }
    off = off != ETP_REASON_NONE ? off : off_by_program(op, c->facts);
    if (off != ETP_REASON_NONE) {
        not_engaged(out, off, "operator name and XNNPACK's table of kernels");
        return;
    }
    if (c->cpu_lacks && !c->sme_elsewhere) {
        not_engaged(out, ETP_REASON_KERNEL_HIDES, c->cpu_lacks);
        return;
    }
    if (etp_op_has_dtype(op, "QP8")) { // KleidiAI kernels exist for NEON and SME alike
        out->reason = etp_value_is_one_row(etp_row_operand(c->facts, 0)) ? ETP_REASON_ROW_KERNEL
                                                                         : ETP_REASON_SAME_NAMES;
        return;
    }
    if (c->masked) {
        not_engaged(out, ETP_REASON_MASKED, "mask of the launch and operator name");
        return;
    }
    bool half = fp16_weight && op->n_dtypes == 1 && etp_op_has_dtype(op, "F16");
    if (etp_op_must_use_sme(op) || half) {
        not_engaged(out, ETP_REASON_NOT_BUILT, "operator name without PF32, PF16 or PQS8");
        return;
    }
    if (etp_op_has_dtype(op, "QD8") ||
        etp_op_has_dtype(op, "QDU8")) { // with KleidiAI it would be QP8
        not_engaged(out, ETP_REASON_NOT_BUILT, "operator name QD8 instead of QP8");
        return;
    }
    out->reason = ETP_REASON_SAME_NAMES;
}

static bool is_float_type(etp_str t)
{
    return etp_str_eqz(t, "F32") || etp_str_eqz(t, "F16") || etp_str_eqz(t, "PF32") ||
           etp_str_eqz(t, "PF16");
}

// Why VNNI has no kernel for operators of this name.
static etp_reason off_vnni(const etp_op_name *op)
{
    bool all_float = op->n_dtypes > 0;
    for (size_t i = 0; i < op->n_dtypes; i++) {
        all_float = all_float && is_float_type(op->dtypes[i]);
    }
    if (all_float) {
        return etp_op_has_dtype(op, "F16") || etp_op_has_dtype(op, "PF16") ? ETP_REASON_FLOAT16
                                                                           : ETP_REASON_FLOAT32;
    }
    if (is_weight_only(op)) {
        return ETP_REASON_FLOAT_WEIGHT_ONLY;
    }
    if (etp_op_is_depthwise(op)) {
        return ETP_REASON_DEPTHWISE_INT8;
    }
    return etp_op_has_dtype(op, "QU8") ? ETP_REASON_UNSIGNED_INT8 : ETP_REASON_NONE;
}

static void judge_x86(const etp_engage_case *c, etp_name_proof proof, etp_engage *out)
{
    etp_reason off = c->feature == ETP_FEATURE_VNNI ? off_vnni(&c->row->parsed) : ETP_REASON_NONE;
    if (off != ETP_REASON_NONE) {
        not_engaged(out, off, "operator name: XNNPACK has no VNNI kernel of this kind");
        return;
    }
    if (proof == ETP_PROVES_NOT_VNNI && !c->may_be_amx && c->feature == ETP_FEATURE_VNNI) {
        not_engaged(out, c->masked ? ETP_REASON_MASKED : ETP_REASON_NO_VNNI,
                    "operator name QD8 instead of QDU8");
        return;
    }
    out->reason = ETP_REASON_SAME_NAMES;
}

static void judge_by_names(const etp_engage_case *c, etp_engage *out)
{
    if (c->row->kind == ETP_ROW_PORTABLE) {
        not_engaged(out, refused(c), "the program calls it outside the delegate");
        return;
    }
    if (c->feature == ETP_FEATURE_NONE) {
        out->reason = ETP_REASON_SAME_NAMES;
        return;
    }
    etp_name_proof proof =
        etp_isa_name_proof_in(c->names, c->row->parsed.base.ptr, c->row->parsed.base.len);
    bool vnni = c->feature == ETP_FEATURE_VNNI || (c->classes & ETP_VNNI_CODES);
    bool sme = c->feature == ETP_FEATURE_SME;
    bool shown = sme ? proof == ETP_PROVES_SME : vnni && proof == ETP_PROVES_VNNI;
    if (shown) {
        out->state = ETP_ENGAGED;
        const char *known = sme ? "operator name: this build has its like with SME or SME2 only"
                                : "operator name: this build has its like with VNNI only";
        const char *guessed =
            sme ? "operator name: PF32, PF16, PQS8 and QP8 with F16 exist on SME and SME2 only in "
                  "today's XNNPACK; no names learned from this runner"
                : "operator name: QDU8 with QC8W exists on VNNI only in today's XNNPACK; no names "
                  "learned from this runner";
        out->evidence = c->names && c->names->off ? known : guessed;
        bool row = !(c->row->parsed.category == ETP_CATEGORY_CONVOLUTION) &&
                   etp_value_is_one_row(etp_row_operand(c->facts, 0));
        out->reason = row ? ETP_REASON_ROW_KERNEL : ETP_REASON_NONE;
        return;
    }
    if (c->feature == ETP_FEATURE_SME) {
        judge_sme(c, out);
    } else {
        judge_x86(c, proof, out);
    }
}

static uint64_t count_on(const etp_kernel_op *op, etp_codes classes)
{
    uint64_t on = 0;
    for (unsigned k = 0; k < ETP_CODES; k++) {
        on += classes >> k & 1 ? op->sure_of[k] : 0;
    }
    return on;
}

// What ran in it is code without the feature. What the name or the program says of why counts
// first.
static void off_by_code(const etp_engage_case *c, etp_engage *out)
{
    bool told = out->state == ETP_NOT_ENGAGED && out->reason != ETP_REASON_NONE;
    bool hidden = c->masked || c->lower_level;
    out->state = ETP_NOT_ENGAGED;
    if (!told) {
        out->reason = hidden ? ETP_REASON_MASKED : ETP_REASON_OTHER_KERNEL;
    }
}

static void on_by_code(etp_engage *out)
{
    out->state = ETP_ENGAGED;
    out->reason = out->reason == ETP_REASON_ROW_KERNEL ? out->reason : ETP_REASON_NONE;
}

// What ran inside the operator: proof where names are silent, and a check where they speak.
static void judge_by_samples(const etp_engage_case *c, etp_engage *out)
{
    static const char k_evidence[] = "program counters sampled inside the operator";
    static const char k_pooled[] = "program counters sampled inside operators of the same kernel";
    uint64_t sure = out->sure = c->sampled ? c->sampled->sure : 0;
    uint64_t on = out->on = c->sampled ? count_on(c->sampled, c->classes) : 0;
    bool pooled = sure < ETP_ENGAGE_SAMPLES && c->pool;
    const etp_kernel_op *from = pooled ? c->pool : c->sampled;
    if (pooled) {
        sure = c->pool->sure;
        on = count_on(c->pool, c->classes);
    }
    uint64_t unknown = from ? from->sure_of[ETP_CODE_UNKNOWN] : 0;
    out->seen = sure;
    if (sure < ETP_ENGAGE_SAMPLES) {
        out->reason = out->reason == ETP_REASON_SAME_NAMES ? ETP_REASON_FEW_SAMPLES : out->reason;
        return;
    }
    bool most = on * 2 >= sure, hardly = on * 20 <= sure;
    uint64_t covered = from ? count_on(from, c->covering) : 0;
    if (!most && (unknown + covered) * 20 > sure) { // it could have been either
        etp_reason why = covered > unknown ? ETP_REASON_COVERED_CODE : ETP_REASON_UNKNOWN_CODE;
        out->reason = out->reason == ETP_REASON_SAME_NAMES ? why : out->reason;
        return;
    }
    bool named = out->state == ETP_ENGAGED;
    if (named && hardly) {
        *out = (etp_engage){.state = ETP_ENGAGEMENT_UNKNOWN,
                            .eligible = true,
                            .sure = out->sure,
                            .on = out->on,
                            .seen = out->seen,
                            .reason = ETP_REASON_DISAGREE};
        return;
    }
    out->by_samples = true;
    out->pooled = pooled;
    out->on_share = (double)on / (double)sure;
    out->evidence = pooled ? k_pooled : k_evidence;
    if (most) {
        on_by_code(out);
    } else if (!hardly) {
        out->state = ETP_PARTLY_ENGAGED;
        out->reason = ETP_REASON_PART_OF_TIME;
    } else {
        off_by_code(c, out);
    }
}

void etp_engage_judge(const etp_engage_case *c, etp_engage *out)
{
    *out = (etp_engage){.state = ETP_ENGAGEMENT_UNKNOWN, .eligible = is_eligible(c->row)};
    if (!out->eligible) {
        return;
    }
    judge_by_names(c, out);
    bool judged = c->classes != 0 && c->row->kind == ETP_ROW_OPERATOR;
    if (!judged || c->feature == ETP_FEATURE_NONE) {
        return;
    }
    // The micro-kernel that XNNPACK logged is what ran, whatever the operator is called.
    etp_code code = etp_kernel_name_code(c->row->kernel);
    if (code != ETP_CODE_UNKNOWN) {
        out->by_symbol = true;
        out->evidence = "the micro-kernel that XNNPACK logged";
        if (c->classes >> code & 1) {
            on_by_code(out);
        } else {
            off_by_code(c, out);
        }
    }
    if (c->sampled || c->pool) {
        judge_by_samples(c, out);
    }
}
