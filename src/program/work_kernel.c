// SPDX-License-Identifier: Apache-2.0
// Arithmetic work of kernel calls outside delegates, from the tensors of the program.
#include "program/internal.h"

// Portable kernels that multiply matrices, with their argument positions in the operator's schema.
typedef enum kernel_rule { RULE_CONV, RULE_MATMUL, RULE_LINEAR, RULE_SDPA } kernel_rule;

static const struct {
    const char *name;
    kernel_rule rule;
    uint8_t a, b; // positions of the two operands among the args
} k_kernels[] = {
    {"aten::convolution", RULE_CONV,   0, 1},
    {"aten::addmm",       RULE_MATMUL, 1, 2},
    {"aten::mm",          RULE_MATMUL, 0, 1},
    {"aten::bmm",         RULE_MATMUL, 0, 1},
    {"aten::baddbmm",     RULE_MATMUL, 1, 2},
    {"aten::matmul",      RULE_MATMUL, 0, 1},
    {"aten::linear",      RULE_LINEAR, 0, 1},
};

static bool mul(uint64_t *acc, uint64_t factor)
{
    if (factor != 0 && *acc > UINT64_MAX / factor) {
        return false;
    }
    *acc *= factor;
    return true;
}

static bool elements(const etp_value *v, uint64_t *out)
{
    *out = 1;
    for (uint32_t i = 0; i < v->rank; i++) {
        if (!mul(out, (uint64_t)v->dims[i])) {
            return false;
        }
    }
    return true;
}

static const etp_value *tensor_arg(const etp_pte_instruction *pte, const etp_value *values,
                                   uint32_t position)
{
    if (position >= pte->args.n) {
        return NULL;
    }
    const etp_value *v = &values[etp_i32_at(pte->args, position)];
    return v->kind == ETP_EVALUE_TENSOR ? v : NULL;
}

static const char k_mismatch[] = "operands do not agree in size";

// aten::convolution(input, weight, bias, stride, padding, dilation, transposed, …): NC… layouts,
// weight [Co, Ci/g, K…], transposed [Ci, Co/g, K…].
static const char *conv(const etp_pte_instruction *pte, const etp_evalue *evalues,
                        const etp_value *in, const etp_value *w, const etp_value *out,
                        uint64_t *macs)
{
    enum { ARG_TRANSPOSED = 6 };
    bool transposed = false;
    if (pte->args.n > ARG_TRANSPOSED) {
        const etp_evalue *v = &evalues[etp_i32_at(pte->args, ARG_TRANSPOSED)];
        transposed = v->kind == ETP_EVALUE_BOOL && v->u.b;
    }
    if (in->rank < 3 || w->rank != in->rank || out->rank != in->rank) {
        return "unexpected number of dimensions";
    }
    int64_t ci = in->dims[1], co = out->dims[1];
    bool fits = transposed ? w->dims[0] == ci && w->dims[1] > 0 && co % w->dims[1] == 0
                           : w->dims[0] == co && w->dims[1] > 0 && ci % w->dims[1] == 0;
    if (!fits || in->dims[0] != out->dims[0]) {
        return k_mismatch;
    }
    bool ok = elements(transposed ? in : out, macs) && mul(macs, (uint64_t)w->dims[1]);
    for (uint32_t i = 2; i < w->rank; i++) {
        ok = ok && mul(macs, (uint64_t)w->dims[i]);
    }
    return ok ? NULL : "the amount of work does not fit 64 bits";
}

static const char *matmul(const etp_value *a, const etp_value *b, const etp_value *out,
                          bool b_is_transposed, uint64_t *macs)
{
    if (a->rank < 1 || b->rank < 2 || out->rank < 1) {
        return "unexpected number of dimensions";
    }
    int64_t k = a->dims[a->rank - 1];
    int64_t bk = b->dims[b->rank - (b_is_transposed ? 1 : 2)];
    int64_t n = b->dims[b->rank - (b_is_transposed ? 2 : 1)];
    if (k != bk || out->dims[out->rank - 1] != n) {
        return k_mismatch;
    }
    return elements(out, macs) && mul(macs, (uint64_t)k)
               ? NULL
               : "the amount of work does not fit 64 bits";
}

// The operator's name without its overload: "aten::mean.out" → "aten::mean".
static etp_str base_name(etp_str op)
{
    size_t dot = etp_str_find(op, ETP_STR("."));
    return (etp_str){op.ptr, dot};
}

static const char *macs_of_kernel(const etp_instruction *call, const etp_pte_instruction *pte,
                                  const etp_evalue *evalues, const etp_value *values, etp_work *w,
                                  bool *is_known)
{
    etp_str name = base_name(call->op);
    for (size_t i = 0; i < sizeof k_kernels / sizeof *k_kernels; i++) {
        if (!etp_str_eqz(name, k_kernels[i].name)) {
            continue;
        }
        const etp_value *a = tensor_arg(pte, values, k_kernels[i].a);
        const etp_value *b = tensor_arg(pte, values, k_kernels[i].b);
        if (!a || !b || call->n_outputs == 0) {
            return "operands are missing";
        }
        const etp_value *out = &values[call->outputs[0]];
        *is_known = true;
        return k_kernels[i].rule == RULE_CONV
                   ? conv(pte, evalues, a, b, out, &w->macs)
                   : matmul(a, b, out, k_kernels[i].rule == RULE_LINEAR, &w->macs);
    }
    return NULL;
}

// Operations of everything without MACs, by category: an order of magnitude.
static bool ops_of_kernel(const etp_instruction *call, const etp_value *values, etp_work *w)
{
    etp_op_name parsed;
    etp_op_parse(call->op, &parsed);
    const etp_value *of = call->n_outputs ? &values[call->outputs[0]] : NULL;
    uint64_t per = 1;
    switch (parsed.category) {
    case ETP_CATEGORY_CONVOLUTION:
    case ETP_CATEGORY_GEMM:
    case ETP_CATEGORY_ATTENTION:
    case ETP_CATEGORY_COUNT:
        return false; // arithmetic we have no rule for
    case ETP_CATEGORY_OTHER:
        if (!parsed.known) {
            return false;
        }
        break;
    case ETP_CATEGORY_DATA_MOVEMENT:
        per = 0;
        break;
    case ETP_CATEGORY_NORMALIZATION:
        per = 5;
        break;
    case ETP_CATEGORY_REDUCTION:
    case ETP_CATEGORY_POOLING:
        of = call->n_inputs ? &values[call->inputs[0]] : of;
        break;
    case ETP_CATEGORY_QUANTIZE:
    case ETP_CATEGORY_ELEMENTWISE:
    case ETP_CATEGORY_ACTIVATION:
    case ETP_CATEGORY_RESIZE:
    case ETP_CATEGORY_EMBEDDING:
    case ETP_CATEGORY_SEARCH:
    case ETP_CATEGORY_FILL:
    case ETP_CATEGORY_CONTROL:
        break;
    }
    return of && elements(of, &w->ops) && mul(&w->ops, per);
}

// Kernels that read only what they write out.
static bool is_gather(etp_str op)
{
    static const char *const k_names[] = {
        "aten::embedding",    "aten::slice_copy", "aten::select_copy", "aten::index",
        "aten::index_select", "aten::gather",     "aten::narrow_copy"};
    etp_str name = base_name(op);
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        if (etp_str_eqz(name, k_names[i])) {
            return true;
        }
    }
    return false;
}

static bool traffic(const etp_instruction *call, const etp_value *values, etp_work *w)
{
    bool gather = is_gather(call->op);
    uint32_t n_in = gather ? 0 : call->n_inputs;
    for (uint32_t i = 0; i < n_in + call->n_outputs; i++) {
        const etp_value *v = &values[i < n_in ? call->inputs[i] : call->outputs[i - n_in]];
        uint64_t bytes = 0;
        if (!etp_value_traffic(v, &bytes) || bytes > UINT64_MAX / 2 ||
            bytes * 2 > UINT64_MAX - w->bytes) {
            return false;
        }
        w->bytes += gather ? bytes * 2 : bytes;
        w->bound = w->bound || v->dynamic;
    }
    return true;
}

etp_work etp_work_of_kernel(const etp_instruction *call, const etp_pte_instruction *pte,
                            const etp_evalue *evalues, const etp_value *values)
{
    etp_work w = {0};
    bool is_known = false;
    w.problem = macs_of_kernel(call, pte, evalues, values, &w, &is_known);
    if (w.problem || (!is_known && !ops_of_kernel(call, values, &w))) {
        return (etp_work){.problem = w.problem};
    }
    if (!traffic(call, values, &w)) {
        return (etp_work){.problem = "the size of an operand is unknown"};
    }
    w.known = true;
    return w;
}
