// SPDX-License-Identifier: Apache-2.0
// What kernel calls outside delegates do with sizes and numbers. Arguments are in the order of each
// operator's schema, the outputs last.
#include "base/choice.h"
#include "program/internal.h"
#include "program/sizing.h"

typedef struct kernel {
    const etp_sizing *z;
    etp_i32s args;
    const etp_instruction *call;
    etp_str name; // without its overload
    etp_size_time at;
} kernel;

static bool arg(const kernel *k, uint32_t i, uint32_t *value)
{
    if (i >= k->args.n) {
        return false;
    }
    *value = (uint32_t)etp_i32_at(k->args, i);
    return true;
}

static bool tensor(const kernel *k, uint32_t i, etp_dims *out)
{
    uint32_t value;
    return arg(k, i, &value) && etp_size_of(k->z, value, k->at, out);
}

static etp_number number(const kernel *k, uint32_t i)
{
    uint32_t value;
    return arg(k, i, &value) ? etp_number_of(k->z, value, k->at)
                             : (etp_number){.kind = ETP_NUMBER_UNKNOWN};
}

static bool whole(const kernel *k, uint32_t i, int64_t *out)
{
    etp_number n = number(k, i);
    *out = n.v;
    return n.kind == ETP_NUMBER_KNOWN;
}

static bool numbers(const kernel *k, uint32_t i, int64_t *out, uint32_t *n)
{
    uint32_t value;
    return arg(k, i, &value) && etp_numbers_of(k->z, value, k->at, out, n);
}

static bool is_absent(const kernel *k, uint32_t i)
{
    uint32_t value;
    return arg(k, i, &value) && k->z->pte->values[value].kind == ETP_EVALUE_NULL;
}

// Argument I as a dimension of RANK; negative ones count from the end.
static bool axis(const kernel *k, uint32_t i, uint32_t rank, uint32_t *out)
{
    int64_t d;
    if (!whole(k, i, &d) || d >= (int64_t)rank || d < -(int64_t)rank) {
        return false;
    }
    *out = (uint32_t)(d < 0 ? d + (int64_t)rank : d);
    return true;
}

// ---- rules: sizes of output O ----

// Kernels whose result is as large as their first operand.
static bool same(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    return tensor(k, 0, out);
}

// All tensor operands, broadcast.
static bool elementwise(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    *out = (etp_dims){0};
    for (uint32_t i = 0; i < k->call->n_inputs; i++) {
        etp_dims one;
        if (!etp_size_of(k->z, k->call->inputs[i], k->at, &one) || !etp_dims_broadcast(out, &one)) {
            return false;
        }
    }
    return k->call->n_inputs > 0;
}

// The mean and the reciprocal deviation have a 1 in each dimension that is normalised.
static bool layer_norm(const kernel *k, uint32_t o, etp_dims *out)
{
    int64_t shape[ETP_MAX_RANK];
    uint32_t n;
    if (!tensor(k, 0, out) || (o > 0 && (!numbers(k, 1, shape, &n) || n > out->n))) {
        return false;
    }
    for (uint32_t i = 0; o > 0 && i < n; i++) {
        out->d[out->n - 1 - i] = 1;
    }
    return true;
}

// Indices, then the width of a row: that of the output, which is never dynamic.
static bool embedding_at(const kernel *k, uint32_t indices, etp_dims *out)
{
    const etp_value *to = &k->z->values[k->call->outputs[0]];
    if (!tensor(k, indices, out) || out->n + 1 > ETP_MAX_RANK || to->rank != out->n + 1) {
        return false;
    }
    out->d[out->n] = to->dims[to->rank - 1];
    out->n++;
    return true;
}

static bool embedding(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    return embedding_at(k, 1, out);
}

// Weights, scales, zero points and their range come before the indices.
static bool embedding_quantised(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    return embedding_at(k, 5, out);
}

// PyTorch writes -1 for the one dimension that follows from the others.
static bool infer(const etp_dims *from, etp_dims *out)
{
    int64_t all = 1, known = 1;
    uint32_t open = ETP_MAX_RANK;
    for (uint32_t i = 0; i < from->n; i++) {
        if (!etp_size_times(&all, from->d[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < out->n; i++) {
        if (out->d[i] < -1 || (out->d[i] == -1 && open < ETP_MAX_RANK)) {
            return false;
        }
        open = out->d[i] == -1 ? i : open;
        if (!etp_size_times(&known, out->d[i] == -1 ? 1 : out->d[i])) {
            return false;
        }
    }
    if (open < ETP_MAX_RANK) {
        out->d[open] = known > 0 && all % known == 0 ? all / known : -1;
        return out->d[open] >= 0;
    }
    return all == known;
}

static bool view(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    etp_dims from;
    return tensor(k, 0, &from) && numbers(k, 1, out->d, &out->n) && infer(&from, out);
}

// -1 keeps the size that is there; dimensions in front are new.
static bool expand(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    etp_dims from;
    if (!tensor(k, 0, &from) || !numbers(k, 1, out->d, &out->n) || out->n < from.n) {
        return false;
    }
    for (uint32_t i = 0; i < from.n; i++) {
        int64_t *d = &out->d[out->n - 1 - i];
        *d = *d == -1 ? from.d[from.n - 1 - i] : *d;
    }
    return true;
}

static bool unsqueeze(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    etp_dims from;
    uint32_t at;
    if (!tensor(k, 0, &from) || from.n == ETP_MAX_RANK || !axis(k, 1, from.n + 1, &at)) {
        return false;
    }
    out->n = from.n + 1;
    for (uint32_t i = 0; i < out->n; i++) {
        out->d[i] = i == at ? 1 : from.d[i - (i > at)];
    }
    return true;
}

// Dimensions of one number or of a list, as bits.
// None at all, and an empty list, mean every dimension.
static bool axes(const kernel *k, uint32_t i, uint32_t rank, uint32_t *bits)
{
    int64_t list[ETP_MAX_RANK];
    uint32_t n = 0, one;
    *bits = 0;
    if (axis(k, i, rank, &one)) {
        *bits = UINT32_C(1) << one;
        return true;
    }
    if (is_absent(k, i)) {
        *bits = UINT32_MAX;
        return true;
    }
    if (!numbers(k, i, list, &n)) {
        return false;
    }
    for (uint32_t j = 0; j < n; j++) {
        int64_t d = list[j] < 0 ? list[j] + (int64_t)rank : list[j];
        if (d < 0 || d >= (int64_t)rank) {
            return false;
        }
        *bits |= UINT32_C(1) << d;
    }
    *bits = n == 0 ? UINT32_MAX : *bits;
    return true;
}

static bool squeeze(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    etp_dims from;
    uint32_t bits;
    if (!tensor(k, 0, &from) || !axes(k, 1, from.n, &bits)) {
        return false;
    }
    out->n = 0;
    for (uint32_t i = 0; i < from.n; i++) {
        if (!(bits >> i & 1) || from.d[i] != 1) {
            out->d[out->n++] = from.d[i];
        }
    }
    return true;
}

static bool reduce(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    etp_dims from;
    uint32_t bits, kept;
    if (!tensor(k, 0, &from) || !axes(k, 1, from.n, &bits) || !arg(k, 2, &kept) ||
        k->z->pte->values[kept].kind != ETP_EVALUE_BOOL) {
        return false;
    }
    out->n = 0;
    for (uint32_t i = 0; i < from.n; i++) {
        if (!(bits >> i & 1)) {
            out->d[out->n++] = from.d[i];
        } else if (k->z->pte->values[kept].u.b) {
            out->d[out->n++] = 1;
        }
    }
    return true;
}

static bool permute(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    etp_dims from;
    int64_t order[ETP_MAX_RANK];
    uint32_t n;
    if (!tensor(k, 0, &from) || !numbers(k, 1, order, &n) || n != from.n) {
        return false;
    }
    out->n = n;
    for (uint32_t i = 0; i < n; i++) {
        int64_t d = order[i] < 0 ? order[i] + (int64_t)n : order[i];
        if (d < 0 || d >= (int64_t)n) {
            return false;
        }
        out->d[i] = from.d[d];
    }
    return true;
}

static bool transpose(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    uint32_t a, b;
    if (!tensor(k, 0, out) || !axis(k, 1, out->n, &a) || !axis(k, 2, out->n, &b)) {
        return false;
    }
    int64_t d = out->d[a];
    out->d[a] = out->d[b];
    out->d[b] = d;
    return true;
}

// As Python cuts the ends of a slice: negative ones count from the end, none lies outside.
static int64_t clamp(int64_t v, int64_t size)
{
    v = v < 0 ? v + size : v;
    if (v < 0) {
        return 0;
    }
    return ETP_MIN(size, v);
}

// From a place that depends on data, to another that lies a known number of elements behind it: as
// many, for nobody may go past the end (checked before anything is measured).
static bool slice_length(const kernel *k, uint32_t i, int64_t size, int64_t *out)
{
    const etp_number none = {.kind = ETP_NUMBER_KNOWN, .v = INT64_MAX};
    etp_number from = is_absent(k, i) ? (etp_number){.kind = ETP_NUMBER_KNOWN} : number(k, i);
    etp_number to = is_absent(k, i + 1) ? none : number(k, i + 1);
    int64_t step;
    if (!whole(k, i + 2, &step) || step < 1) {
        return false;
    }
    if (from.kind == ETP_NUMBER_DATA && to.kind == ETP_NUMBER_DATA && from.input == to.input &&
        from.element == to.element && to.v >= from.v && to.v - from.v <= size && step == 1) {
        *out = to.v - from.v;
        return true;
    }
    // "to the end" is written as a number that no size reaches
    uint32_t value;
    bool end = arg(k, i + 1, &value) && !k->z->computed[value] &&
               k->z->pte->values[value].kind == ETP_EVALUE_INT &&
               k->z->pte->values[value].u.i >= INT32_MAX;
    to = end ? none : to;
    if (from.kind != ETP_NUMBER_KNOWN || to.kind != ETP_NUMBER_KNOWN) {
        return false;
    }
    int64_t first = clamp(from.v, size), last = clamp(to.v, size);
    *out = last > first ? (last - first + step - 1) / step : 0;
    return true;
}

static bool slice(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    uint32_t at;
    return tensor(k, 0, out) && axis(k, 1, out->n, &at) &&
           slice_length(k, 2, out->d[at], &out->d[at]);
}

// The dimension that is chosen from goes.
static bool select_one(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    uint32_t at;
    if (!tensor(k, 0, out) || !axis(k, 1, out->n, &at)) {
        return false;
    }
    out->n--;
    memmove(&out->d[at], &out->d[at + 1], (out->n - at) * sizeof *out->d);
    return true;
}

// The lengths are numbers of the program, so they fit other sizes only when their sum does.
static bool split_with_sizes(const kernel *k, uint32_t o, etp_dims *out)
{
    int64_t sizes[ETP_MAX_RANK];
    uint32_t n, at;
    if (!tensor(k, 0, out) || !numbers(k, 1, sizes, &n) || o >= n || !axis(k, 2, out->n, &at)) {
        return false;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += sizes[i];
    }
    bool fits = sum == out->d[at];
    out->d[at] = sizes[o];
    return fits;
}

static bool concatenate(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    uint32_t at = 0;
    for (uint32_t i = 0; i < k->call->n_inputs; i++) {
        etp_dims one;
        if (!etp_size_of(k->z, k->call->inputs[i], k->at, &one)) {
            return false;
        }
        if (i == 0) {
            *out = one;
            if (!axis(k, 1, one.n, &at)) {
                return false;
            }
            continue;
        }
        if (one.n != out->n) {
            return false;
        }
        for (uint32_t d = 0; d < one.n; d++) {
            if (d != at && one.d[d] != out->d[d]) {
                return false;
            }
        }
        out->d[at] += one.d[at];
    }
    return k->call->n_inputs > 0;
}

static bool filled(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    return numbers(k, 0, out->d, &out->n);
}

static bool arange(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    int64_t from, to, step;
    if (!whole(k, 0, &from) || !whole(k, 1, &to) || !whole(k, 2, &step) || step < 1) {
        return false;
    }
    *out = (etp_dims){.n = 1, .d = {to > from ? (to - from + step - 1) / step : 0}};
    return true;
}

// [B…, M, K] × [B…, K, N]: the last operands of addmm and its like are the matrices.
static bool product_of(const kernel *k, uint32_t a, bool transposed, etp_dims *out)
{
    etp_dims b;
    if (!tensor(k, a, out) || !tensor(k, a + 1, &b) || out->n < 1 || b.n < 2) {
        return false;
    }
    bool fits = out->d[out->n - 1] == b.d[b.n - (transposed ? 1 : 2)];
    out->d[out->n - 1] = b.d[b.n - (transposed ? 2 : 1)];
    return fits;
}

static bool product(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    return product_of(k, 0, false, out);
}

static bool added_product(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    return product_of(k, 1, false, out);
}

static bool linear(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    return product_of(k, 0, true, out);
}

// convolution(input, weight, bias, stride, padding, dilation, transposed, …), NC…
static bool convolution(const kernel *k, uint32_t o, etp_dims *out)
{
    (void)o;
    etp_dims w;
    int64_t stride[ETP_MAX_RANK], pad[ETP_MAX_RANK], dilation[ETP_MAX_RANK];
    uint32_t n[3], transposed;
    if (!tensor(k, 0, out) || !tensor(k, 1, &w) || out->n < 3 || w.n != out->n ||
        !numbers(k, 3, stride, &n[0]) || !numbers(k, 4, pad, &n[1]) ||
        !numbers(k, 5, dilation, &n[2]) || !arg(k, 6, &transposed) ||
        k->z->pte->values[transposed].kind != ETP_EVALUE_BOOL ||
        k->z->pte->values[transposed].u.b) {
        return false;
    }
    uint32_t axes_n = out->n - 2;
    out->d[1] = w.d[0];
    for (uint32_t i = 0; i < axes_n; i++) {
        int64_t s = n[0] == axes_n ? stride[i] : -1, p = n[1] == axes_n ? pad[i] : -1;
        int64_t d = n[2] == axes_n ? dilation[i] : -1;
        if (s > UINT16_MAX || p > UINT16_MAX || d > UINT16_MAX) {
            return false;
        }
        // The factors fit 16 bits, so their products with sizes below ETP_NUMBER_LIMIT fit 64.
        int64_t span = out->d[2 + i] + 2 * p - d * (w.d[2 + i] - 1) - 1;
        if (s < 1 || p < 0 || d < 1 || span < 0) {
            return false;
        }
        out->d[2 + i] = span / s + 1;
    }
    return true;
}

// An operator without a rule leaves its outputs at their bounds. A wrong rule does too, as long as
// it fails for the largest inputs.
typedef bool (*rule)(const kernel *k, uint32_t output, etp_dims *out);

static const struct {
    const char *names; // with a space behind each
    rule sizes;
} k_rules[] = {
    {"aten::add aten::sub aten::mul aten::div aten::maximum aten::minimum aten::pow aten::eq "
     "aten::ne aten::lt aten::le aten::gt aten::ge aten::logical_and aten::logical_or aten::where "
     "aten::bitwise_and aten::bitwise_or ",              elementwise        },
    {"aten::relu aten::sigmoid aten::tanh aten::gelu aten::rsqrt aten::sqrt aten::exp aten::log "
     "aten::sin aten::cos aten::neg aten::abs aten::logical_not aten::bitwise_not aten::hardtanh "
     "aten::leaky_relu aten::clamp aten::reciprocal aten::clone aten::detach_copy aten::_to_copy "
     "aten::full_like aten::copy aten::copy_ aten::_softmax aten::_log_softmax "
     "aten::slice_scatter aten::select_scatter aten::index_put aten::cumsum "
     "dim_order_ops::_to_dim_order_copy dim_order_ops::_clone_dim_order "
     "llama::custom_sdpa ",                              same               },
    {"aten::native_layer_norm ",                              layer_norm         },
    {"aten::embedding ",                                      embedding          },
    {"quantized_decomposed::embedding_byte quantized_decomposed::embedding_4bit "
     "quantized_decomposed::embedding_2bit ",            embedding_quantised},
    {"executorch_prim::et_view aten::view_copy ",             view               },
    {"aten::expand_copy ",                                    expand             },
    {"aten::unsqueeze_copy ",                                 unsqueeze          },
    {"aten::squeeze_copy ",                                   squeeze            },
    {"aten::mean aten::sum aten::amax aten::amin aten::any ", reduce             },
    {"aten::permute_copy ",                                   permute            },
    {"aten::transpose_copy ",                                 transpose          },
    {"aten::slice_copy ",                                     slice              },
    {"aten::select_copy ",                                    select_one         },
    {"aten::split_with_sizes_copy ",                          split_with_sizes   },
    {"aten::cat ",                                            concatenate        },
    {"aten::full aten::zeros aten::ones ",                    filled             },
    {"aten::arange ",                                         arange             },
    {"aten::mm aten::bmm ",                                   product            },
    {"aten::addmm aten::baddbmm ",                            added_product      },
    {"aten::linear ",                                         linear             },
    {"aten::convolution ",                                    convolution        },
};

static rule rule_of(etp_str name)
{
    for (size_t i = 0; i < sizeof k_rules / sizeof *k_rules; i++) {
        for (const char *at = k_rules[i].names; *at;) {
            size_t n = strcspn(at, " ");
            if (etp_str_eq(name, (etp_str){at, n})) {
                return k_rules[i].sizes;
            }
            at += n + 1;
        }
    }
    return NULL;
}

// ---- numbers ----

// A place that an input holds can be moved by a known number, and stays a place.
static etp_number sum(etp_number a, etp_number b, int64_t sign)
{
    bool known = a.kind != ETP_NUMBER_UNKNOWN && b.kind == ETP_NUMBER_KNOWN;
    if (!known && sign > 0 && a.kind == ETP_NUMBER_KNOWN && b.kind == ETP_NUMBER_DATA) {
        return sum(b, a, sign);
    }
    a.v += known ? sign * b.v : 0;
    known = known && a.v < ETP_NUMBER_LIMIT && a.v > -ETP_NUMBER_LIMIT;
    a.kind = known ? a.kind : ETP_NUMBER_UNKNOWN;
    return a;
}

// Symbolic integers of the exporter (SymInt) are computed by executorch_prim kernels. Python's
// floor division of negative numbers is not C's, so those are unknown.
static etp_number two(etp_str name, etp_number a, etp_number b)
{
    if (etp_str_eqz(name, "executorch_prim::add")) {
        return sum(a, b, 1);
    }
    if (etp_str_eqz(name, "executorch_prim::sub")) {
        return sum(a, b, -1);
    }
    if (a.kind != ETP_NUMBER_KNOWN || b.kind != ETP_NUMBER_KNOWN || a.v < 0 || b.v < 0) {
        return (etp_number){.kind = ETP_NUMBER_UNKNOWN};
    }
    bool divides = etp_str_eqz(name, "executorch_prim::floordiv"),
         rests = etp_str_eqz(name, "executorch_prim::mod");
    bool known = (b.v > 0 && (divides || rests)) ||
                 (etp_str_eqz(name, "executorch_prim::mul") && a.v < (1 << 20) && b.v < (1 << 20));
    if (!known) {
        return (etp_number){.kind = ETP_NUMBER_UNKNOWN};
    }
    if (divides) {
        a.v /= b.v;
    } else if (rests) {
        a.v %= b.v;
    } else {
        a.v *= b.v;
    }
    return a;
}

// The position of VALUE among the method's inputs, ETP_NO_INDEX none.
static uint32_t input_of(const etp_sizing *z, uint32_t value)
{
    for (uint32_t i = 0; i < z->pte->inputs.n; i++) {
        if ((uint32_t)etp_i32_at(z->pte->inputs, i) == value) {
            return i;
        }
    }
    return ETP_NO_INDEX;
}

// An element of a tensor of one dimension that is an input; what such a one was copied from.
static etp_number element(const kernel *k, int64_t at)
{
    uint32_t value, input;
    etp_dims dims;
    if (!arg(k, 0, &value) || !etp_size_of(k->z, value, k->at, &dims)) {
        return (etp_number){.kind = ETP_NUMBER_UNKNOWN};
    }
    input = input_of(k->z, value);
    if (input == ETP_NO_INDEX) {
        return dims.n == 0 ? k->z->numbers[value][k->at] : (etp_number){.kind = ETP_NUMBER_UNKNOWN};
    }
    at = at < 0 && dims.n == 1 ? at + dims.d[0] : at;
    bool there = dims.n == 1 && at >= 0 && at < dims.d[0];
    return (etp_number){
        .kind = there ? ETP_NUMBER_DATA : ETP_NUMBER_UNKNOWN, .input = input, .element = at};
}

static etp_number number_made(const kernel *k)
{
    const etp_number unknown = {.kind = ETP_NUMBER_UNKNOWN};
    etp_dims dims;
    uint32_t at;
    int64_t which;
    if (etp_str_eqz(k->name, "aten::sym_size")) {
        return tensor(k, 0, &dims) && axis(k, 1, dims.n, &at)
                   ? (etp_number){.kind = ETP_NUMBER_KNOWN, .v = dims.d[at]}
                   : unknown;
    }
    if (etp_str_eqz(k->name, "aten::_local_scalar_dense")) {
        return tensor(k, 0, &dims) && (dims.n == 0 || dims.d[0] == 1) ? element(k, 0) : unknown;
    }
    if (etp_str_eqz(k->name, "aten::select_copy")) {
        return whole(k, 2, &which) ? element(k, which) : unknown;
    }
    return etp_str_starts(k->name, ETP_STR("executorch_prim::")) && k->args.n >= 3
               ? two(k->name, number(k, 0), number(k, 1))
               : unknown;
}

// ---- calls ----

void etp_sizing_kernel(etp_sizing *z, const etp_pte_instruction *pte, const etp_instruction *call)
{
    kernel k = {.z = z, .args = pte->args, .call = call};
    k.name = (etp_str){call->op.ptr, etp_str_find(call->op, ETP_STR("."))};
    rule sizes = rule_of(k.name);
    for (uint32_t o = 0; o < call->n_outputs; o++) {
        uint32_t value = call->outputs[o];
        etp_dims most, found, now;
        bool known = sizes && z->most[value] && etp_size_of(z, value, ETP_SIZE_MOST, &most);
        k.at = ETP_SIZE_MOST;
        known = known && sizes(&k, o, &found) && etp_dims_same(&found, &most);
        k.at = ETP_SIZE_NOW;
        known = known && sizes(&k, o, &now);
        etp_size_follow(z, value, known ? &now : NULL);
    }
    if (pte->args.n > 0) {
        uint32_t value = (uint32_t)etp_i32_at(pte->args, pte->args.n - 1);
        // What a kernel returns may be a number that later kernels take for a size.
        for (int at = ETP_SIZE_MOST; at <= ETP_SIZE_NOW; at++) {
            k.at = (etp_size_time)at;
            z->numbers[value][at] = number_made(&k);
        }
    }
}
