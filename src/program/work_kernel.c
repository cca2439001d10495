// SPDX-License-Identifier: Apache-2.0
// Arithmetic work of kernel calls outside delegates, from the tensors of the program.
#include <etprof/operators.h>

#include "program/internal.h"
#include "program/sizing.h"

typedef enum kernel_rule { RULE_CONV, RULE_MATMUL, RULE_LINEAR, RULE_SDPA } kernel_rule;

// Portable kernels that multiply matrices, with their argument positions in the operator's schema.
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
        return ETP_WORK_RANK;
    }
    int64_t ci = in->dims[1], co = out->dims[1];
    bool fits = transposed ? w->dims[0] == ci && w->dims[1] > 0 && co % w->dims[1] == 0
                           : w->dims[0] == co && w->dims[1] > 0 && ci % w->dims[1] == 0;
    if (!fits || in->dims[0] != out->dims[0]) {
        return k_mismatch;
    }
    bool ok = etp_elements(transposed ? in : out, macs) && etp_times(macs, (uint64_t)w->dims[1]);
    for (uint32_t i = 2; i < w->rank; i++) {
        ok = ok && etp_times(macs, (uint64_t)w->dims[i]);
    }
    return ok ? NULL : ETP_WORK_TOO_LARGE;
}

static const char *matmul(const etp_value *a, const etp_value *b, const etp_value *out,
                          bool b_is_transposed, uint64_t *macs)
{
    if (a->rank < 1 || b->rank < 2 || out->rank < 1) {
        return ETP_WORK_RANK;
    }
    int64_t k = a->dims[a->rank - 1];
    int64_t bk = b->dims[b->rank - (b_is_transposed ? 1 : 2)];
    int64_t n = b->dims[b->rank - (b_is_transposed ? 2 : 1)];
    if (k != bk || out->dims[out->rank - 1] != n) {
        return k_mismatch;
    }
    return etp_elements(out, macs) && etp_times(macs, (uint64_t)k) ? NULL : ETP_WORK_TOO_LARGE;
}

// custom_sdpa(query [B, n, H, D], key and value [B, cache, Hk, D], place, mask, dropout, causal,
// …): queries see what is in the cache and, causal, of themselves those up to their own; with a
// mask, the whole cache. Without a known place the whole cache is a bound.
static const char *attention(const etp_pte_instruction *pte, const etp_evalue *evalues,
                             const etp_value *values, const etp_sizing *z, etp_work *w)
{
    enum { ARG_PLACE = 3, ARG_MASK = 4, ARG_CAUSAL = 6 };
    const etp_value *q = tensor_arg(pte, values, 0), *k = tensor_arg(pte, values, 1);
    if (!q || !k || pte->args.n <= ARG_CAUSAL || q->rank != 4 || k->rank != 4 ||
        q->dims[3] != k->dims[3] || q->dims[0] != k->dims[0] || q->dims[1] > k->dims[1]) {
        return k_mismatch;
    }
    const etp_evalue *causal = &evalues[etp_i32_at(pte->args, ARG_CAUSAL)];
    bool masked = tensor_arg(pte, values, ARG_MASK) != NULL;
    bool triangle = causal->kind == ETP_EVALUE_BOOL && causal->u.b && !masked;
    uint64_t n = (uint64_t)q->dims[1], room = (uint64_t)k->dims[1];
    uint64_t twice =
        z ? z->twice_number(z, (uint32_t)etp_i32_at(pte->args, ARG_PLACE)) : ETP_CALL_PLACE_UNKNOWN;
    bool told = twice != ETP_CALL_PLACE_UNKNOWN && twice / 2 + n <= room && !q->dynamic;
    w->bound = !told && !masked;
    twice = told ? twice : 2 * (room - n);
    // keys that a query sees, summed over the queries, twice
    uint64_t own = triangle ? n + 1 : 2 * n, seen = masked ? 2 * room : twice + own;
    w->ops = n;
    bool fits = etp_times(&w->ops, seen) && etp_times(&w->ops, (uint64_t)q->dims[2]) &&
                etp_times(&w->ops, (uint64_t)q->dims[0]);
    w->macs = w->ops; // two products of a key each: 2 × seen ÷ 2
    fits = fits && etp_times(&w->macs, (uint64_t)q->dims[3]) && etp_times(&w->ops, ETP_OPS_SOFTMAX);
    w->ops /= 2;
    return fits ? NULL : ETP_WORK_TOO_LARGE;
}

// The operator's name without its overload: "aten::mean.out" → "aten::mean".
static etp_str base_name(etp_str op)
{
    size_t dot = etp_str_find(op, ETP_STR("."));
    return (etp_str){op.ptr, dot};
}

static const char *macs_of_kernel(const etp_instruction *call, const etp_pte_instruction *pte,
                                  const etp_evalue *evalues, const etp_value *values,
                                  const etp_sizing *sizing, etp_work *w, bool *is_known)
{
    etp_str name = base_name(call->op);
    if (etp_str_eqz(name, "llama::custom_sdpa")) {
        *is_known = true;
        return attention(pte, evalues, values, sizing, w);
    }
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
// Reductions and pooling work on what they read, all others on what they write.
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
    case ETP_CATEGORY_UNLOGGED:
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
    return of && etp_elements(of, &w->ops) && etp_times(&w->ops, per);
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

// What attention reads of a cache, and what is written into one, is less than all of it.
// The limit on sizes keeps the products below in 64 bits.
static bool cache_traffic(const etp_instruction *call, const etp_pte_instruction *pte,
                          const etp_value *values, const etp_sizing *z, etp_work *w)
{
    enum { ARG_PLACE = 3, ARG_MASK = 4 };
    const etp_value *a = tensor_arg(pte, values, 0), *k = tensor_arg(pte, values, 1);
    bool writes = etp_str_eqz(base_name(call->op), "llama::update_cache");
    if (!a || !k || a->rank != 4 || k->rank != 4 || k->dims[1] < 1 ||
        a->bytes > UINT32_MAX * UINT64_C(4096) || k->bytes > UINT32_MAX * UINT64_C(4096)) {
        return false;
    }
    uint64_t n = (uint64_t)a->dims[1], room = (uint64_t)k->dims[1], twice = 2 * room;
    if (!writes && z && !tensor_arg(pte, values, ARG_MASK)) {
        uint64_t place = z->twice_number(z, (uint32_t)etp_i32_at(pte->args, ARG_PLACE));
        twice = place != ETP_CALL_PLACE_UNKNOWN && place + 2 * n < twice ? place + 2 * n : twice;
    }
    w->bound = w->bound || a->dynamic;
    w->bytes = 2 * a->bytes;                          // queries and results, or what is copied
    w->bytes += writes ? 0 : k->bytes / room * twice; // keys and values
    return true;
}

// A gather reads as much as it writes, whatever the size of the table it reads from.
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
                            const etp_evalue *evalues, const etp_value *values,
                            const etp_sizing *sizing)
{
    etp_work w = {0};
    bool is_known = false;
    w.problem = macs_of_kernel(call, pte, evalues, values, sizing, &w, &is_known);
    if (w.problem || (!is_known && !ops_of_kernel(call, values, &w))) {
        return (etp_work){.problem = w.problem};
    }
    bool cache = etp_str_starts(call->op, ETP_STR("llama::custom_sdpa")) ||
                 etp_str_starts(call->op, ETP_STR("llama::update_cache"));
    if (cache ? !cache_traffic(call, pte, values, sizing, &w) : !traffic(call, values, &w)) {
        return (etp_work){.problem = "the size of an operand is unknown"};
    }
    w.known = true;
    return w;
}
