// SPDX-License-Identifier: Apache-2.0
// Arithmetic work and ideal memory traffic of operators, from shapes. Every product is checked;
// shapes that contradict each other give a problem instead of a number.
#include "base/choice.h"
#include "program/internal.h"

// Operations per element beyond MACs. Transcendental functions are polynomials plus a division in
// every kernel we know; the figure is an order of magnitude, good enough to place an operator under
// a roof.
#define OPS_CHEAP 1
#define OPS_TRANSCENDENTAL 10
#define OPS_BILINEAR 8 // four taps, multiply and add each

#define FLAG_SAME_PADDING 4u      // XNN_FLAG_TENSORFLOW_SAME_PADDING
#define FLAG_TRANSPOSE_WEIGHTS 1u // fully connected: weights are K × N
#define FLAG_TRANSPOSE_B 1u       // batch matrix multiply

// Shapes that contradict each other: the reason instead of a number.
static etp_work problem(const char *text)
{
    return (etp_work){.problem = text};
}

static bool add(uint64_t *acc, uint64_t term)
{
    if (*acc > UINT64_MAX - term) {
        return false;
    }
    *acc += term;
    return true;
}

static bool product(const int64_t *dims, uint32_t n, uint64_t *out)
{
    *out = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (!etp_times(out, (uint64_t)dims[i])) {
            return false;
        }
    }
    return true;
}

bool etp_elements(const etp_value *v, uint64_t *out)
{
    return product(v->dims, v->rank, out);
}

bool etp_value_traffic(const etp_value *v, uint64_t *out_bytes)
{
    *out_bytes = v->bytes;
    return v->bytes != ETP_BYTES_UNKNOWN && add(out_bytes, v->scale_bytes);
}

// Every distinct operand and result once.
// An ideal cache is assumed, so an operand that comes twice (a square as x · x) is read once. A
// result is written even where it is an operand as well.
static bool traffic(const etp_value *values, const uint32_t *in, uint32_t n_in, const uint32_t *out,
                    uint32_t n_out, uint64_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < n_in + n_out; i++) {
        uint32_t index = i < n_in ? in[i] : out[i - n_in];
        bool seen = false;
        for (uint32_t k = 0; k < i && k < n_in && i < n_in; k++) {
            seen = seen || in[k] == index;
        }
        uint64_t b = 0;
        if (!seen && (!etp_value_traffic(&values[index], &b) || !add(bytes, b))) {
            return false;
        }
    }
    return true;
}

// ---- multiply-accumulates ----

// Output size of a window along one axis, or −1 when the window does not fit.
static int64_t window_out(int64_t in, uint64_t pad, uint64_t kernel, uint64_t dilation,
                          uint64_t stride)
{
    uint64_t reach = dilation * (kernel - 1) + 1; // each factor < 2^32
    uint64_t span = (uint64_t)in + pad;
    if (kernel == 0 || stride == 0 || dilation == 0 || span < reach) {
        return -1;
    }
    return (int64_t)((span - reach) / stride) + 1;
}

static const char *check_window(const etp_xnn_window *w, const etp_value *in, const etp_value *out,
                                uint32_t flags)
{
    if ((flags & FLAG_SAME_PADDING) != 0) {
        return NULL; // padding follows from the sizes
    }
    uint64_t dh = ETP_MAX(w->dilation_h, 1);
    uint64_t dw = ETP_MAX(w->dilation_w, 1);
    int64_t h =
        window_out(in->dims[1], (uint64_t)w->pad_top + w->pad_bottom, w->kernel_h, dh, w->stride_h);
    int64_t wd =
        window_out(in->dims[2], (uint64_t)w->pad_left + w->pad_right, w->kernel_w, dw, w->stride_w);
    return etp_z_if(!(h == out->dims[1] && wd == out->dims[2] && in->dims[0] == out->dims[0]),
                    "the output's size does not follow from input, window, stride and padding");
}

// Convolution and depthwise convolution, NHWC. Filters are [Co, Kh, Kw, Ci/g] and [1, Kh, Kw, Co].
static const char *conv_macs(const etp_node *node, const etp_value *const in[3],
                             const etp_value *out, uint64_t *macs)
{
    const etp_xnn_window *w = node->xnn->window;
    const etp_value *filter = in[1];
    bool depthwise = node->type == ETP_XNN_DEPTHWISE_CONV_2D;
    if (in[0]->rank != 4 || out->rank != 4 || filter->rank != 4) {
        return ETP_WORK_RANK;
    }
    int64_t ci = in[0]->dims[3];
    int64_t co = filter->dims[depthwise ? 3 : 0];
    uint64_t per_group = depthwise ? 1 : (uint64_t)filter->dims[3];
    if (filter->dims[1] != w->kernel_h || filter->dims[2] != w->kernel_w) {
        return "filter and window differ in size";
    }
    bool channels_fit =
        depthwise ? ci > 0 && co % ci == 0 && filter->dims[0] == 1
                  : w->groups > 0 && ci % w->groups == 0 && (uint64_t)ci / w->groups == per_group;
    bool bias_fits = !in[2] || (in[2]->rank == 1 && in[2]->dims[0] == co);
    if (!channels_fit || out->dims[3] != co || !bias_fits) {
        return "channels of input, filter, bias and output do not agree";
    }
    const char *bad = check_window(w, in[0], out, node->xnn->flags);
    if (bad) {
        return bad;
    }
    bool fits = etp_elements(out, macs) && etp_times(macs, w->kernel_h) &&
                etp_times(macs, w->kernel_w) && etp_times(macs, per_group);
    return fits ? NULL : ETP_WORK_TOO_LARGE;
}

// Transposed convolution, NHWC, filter [Co, Kh, Kw, Ci/g]: every input element meets every tap.
static const char *deconv_macs(const etp_node *node, const etp_value *const in[3],
                               const etp_value *out, uint64_t *macs)
{
    const etp_xnn_window *w = node->xnn->window;
    const etp_value *filter = in[1];
    if (in[0]->rank != 4 || out->rank != 4 || filter->rank != 4) {
        return ETP_WORK_RANK;
    }
    if (filter->dims[1] != w->kernel_h || filter->dims[2] != w->kernel_w || w->groups == 0 ||
        in[0]->dims[3] % w->groups != 0 || in[0]->dims[3] / w->groups != filter->dims[3] ||
        filter->dims[0] != out->dims[3] || filter->dims[0] % w->groups != 0 ||
        in[0]->dims[0] != out->dims[0]) {
        return "channels of input, filter and output do not agree";
    }
    uint64_t co_per_group = (uint64_t)filter->dims[0] / w->groups;
    bool fits = etp_elements(in[0], macs) && etp_times(macs, w->kernel_h) &&
                etp_times(macs, w->kernel_w) && etp_times(macs, co_per_group);
    return fits ? NULL : ETP_WORK_TOO_LARGE;
}

// Fully connected: [M…, K] × filter [N, K] (or [K, N]) → [M…, N].
static const char *fc_macs(const etp_value *a, const etp_value *filter, const etp_value *out,
                           bool transposed, uint64_t *macs)
{
    if (a->rank < 1 || filter->rank != 2 || out->rank < 1) {
        return ETP_WORK_RANK;
    }
    int64_t k = filter->dims[!transposed];
    int64_t n = filter->dims[transposed];
    uint64_t rows_in = 0, rows_out = 0;
    if (!product(a->dims, a->rank - 1, &rows_in) || !product(out->dims, out->rank - 1, &rows_out)) {
        return ETP_WORK_TOO_LARGE;
    }
    if (a->dims[a->rank - 1] != k || out->dims[out->rank - 1] != n || rows_in != rows_out) {
        return "input, weights and output do not agree in size";
    }
    *macs = rows_in;
    return etp_times(macs, (uint64_t)k) && etp_times(macs, (uint64_t)n) ? NULL : ETP_WORK_TOO_LARGE;
}

// [B…, M, K] × [B…, K, N] → [B…, M, N]; batch dimensions of the operands may be broadcast.
static const char *bmm_macs(const etp_value *a, const etp_value *b, const etp_value *out,
                            bool transpose_b, uint64_t *macs)
{
    if (a->rank < 2 || b->rank < 2 || out->rank < 2) {
        return ETP_WORK_RANK;
    }
    int64_t m = a->dims[a->rank - 2], k = a->dims[a->rank - 1];
    int64_t bk = b->dims[b->rank - (transpose_b ? 1 : 2)];
    int64_t bn = b->dims[b->rank - (transpose_b ? 2 : 1)];
    if (bk != k || out->dims[out->rank - 2] != m || out->dims[out->rank - 1] != bn) {
        return "operands of the matrix multiplication do not agree in size";
    }
    return etp_elements(out, macs) && etp_times(macs, (uint64_t)k) ? NULL : ETP_WORK_TOO_LARGE;
}

// Query [B, H, Lq, D], key [B, Hk, Lk, D], value [B, Hk, Lk, Dv] → [B, H, Lq, Dv].
static const char *sdpa_macs(const etp_value *q, const etp_value *k, const etp_value *v,
                             const etp_value *out, uint64_t *macs, uint64_t *ops)
{
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || out->rank != 4) {
        return ETP_WORK_RANK;
    }
    if (q->dims[3] != k->dims[3] || k->dims[2] != v->dims[2] || out->dims[3] != v->dims[3] ||
        out->dims[2] != q->dims[2] || out->dims[1] != q->dims[1]) {
        return "query, key, value and output do not agree in size";
    }
    uint64_t scores = 0; // B·H·Lq·Lk
    bool fits = product(q->dims, 3, &scores) && etp_times(&scores, (uint64_t)k->dims[2]);
    *macs = scores;
    *ops = scores;
    fits = fits && etp_times(macs, (uint64_t)q->dims[3] + (uint64_t)v->dims[3]) &&
           etp_times(ops, ETP_OPS_SOFTMAX);
    return fits ? NULL : ETP_WORK_TOO_LARGE;
}

// ---- nodes ----

static bool is_binary(int type)
{
    switch (type) {
    case ETP_XNN_ADD:
    case ETP_XNN_SUBTRACT:
    case ETP_XNN_MULTIPLY:
    case ETP_XNN_DIV:
    case ETP_XNN_MINIMUM:
    case ETP_XNN_MAXIMUM:
    case ETP_XNN_PRELU:
        return true;
    default:
        return false;
    }
}

// Broadcasting from the right: each input dimension is 1 or the output's.
static bool broadcasts(const etp_value *in, const etp_value *out)
{
    if (in->rank > out->rank) {
        return false;
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t d = in->dims[in->rank - 1 - i];
        if (d != 1 && d != out->dims[out->rank - 1 - i]) {
            return false;
        }
    }
    return true;
}

// Operations of nodes without MACs. PER is per element of *OF.
static void node_ops(int type, const etp_node *node, const etp_value *in, const etp_value *out,
                     uint64_t *per, const etp_value **of)
{
    *of = out;
    *per = OPS_CHEAP;
    switch (type) {
    case ETP_XNN_SOFTMAX:
        *per = ETP_OPS_SOFTMAX;
        break;
    case ETP_XNN_SIGMOID:
    case ETP_XNN_TANH:
    case ETP_XNN_GELU:
    case ETP_XNN_EXP:
    case ETP_XNN_LOG:
    case ETP_XNN_SIN:
    case ETP_XNN_COS:
    case ETP_XNN_ELU:
    case ETP_XNN_SQUARE_ROOT:
    case ETP_XNN_RECIPROCAL_SQUARE_ROOT:
        *per = OPS_TRANSCENDENTAL;
        break;
    case ETP_XNN_HARDSWISH:
        *per = 4 * OPS_CHEAP;
        break;
    case ETP_XNN_STATIC_RESIZE_BILINEAR_2D:
        *per = OPS_BILINEAR;
        break;
    case ETP_XNN_AVG_POOLING_2D:
    case ETP_XNN_MAX_POOLING_2D:
    case ETP_XNN_ARG_MAX_POOLING_2D:
        *per = (uint64_t)node->xnn->window->kernel_h * node->xnn->window->kernel_w;
        break;
    case ETP_XNN_GLOBAL_AVG_POOLING_2D:
        *of = in;
        break;
    case ETP_XNN_STATIC_TRANSPOSE:
    case ETP_XNN_STATIC_RESHAPE:
    case ETP_XNN_STATIC_CONSTANT_PAD:
    case ETP_XNN_STATIC_SLICE:
    case ETP_XNN_CONCATENATE_2:
    case ETP_XNN_CONCATENATE_3:
    case ETP_XNN_CONCATENATE_4:
    case ETP_XNN_CONCATENATE_5:
    case ETP_XNN_COPY:
        *per = 0;
        break;
    default:
        break;
    }
}

// These only move or convert, so a count that changes shows that the sizes are wrong.
static bool keeps_elements(int type)
{
    return type == ETP_XNN_STATIC_TRANSPOSE || type == ETP_XNN_STATIC_RESHAPE ||
           type == ETP_XNN_COPY || type == ETP_XNN_CONVERT;
}

static const char *simple_work(const etp_node *node, const etp_value *values, etp_work *w)
{
    const etp_value *out = &values[node->outputs[0]];
    const etp_value *in = &values[node->inputs[0]];
    const etp_value *of = NULL;
    uint64_t n_in = 0, n_out = 0;
    if (!etp_elements(in, &n_in) || !etp_elements(out, &n_out)) {
        return ETP_WORK_TOO_LARGE;
    }
    if (keeps_elements(node->type) && n_in != n_out) {
        return "input and output differ in their number of elements";
    }
    for (uint32_t i = 0; is_binary(node->type) && i < node->n_inputs; i++) {
        if (!broadcasts(&values[node->inputs[i]], out)) {
            return "an input cannot be broadcast to the output";
        }
    }
    node_ops(node->type, node, in, out, &w->ops, &of);
    uint64_t n = of == in ? n_in : n_out;
    return etp_times(&w->ops, n) ? NULL : ETP_WORK_TOO_LARGE;
}

static const char *macs_of_node(const etp_node *node, const etp_value *values, etp_work *w)
{
    // Optional operands are absent from node->inputs, so positions hold for the required ones.
    const etp_value *in[4] = {NULL, NULL, NULL, NULL};
    for (uint32_t i = 0; i < node->n_inputs && i < 4; i++) {
        in[i] = &values[node->inputs[i]];
    }
    const etp_value *out = &values[node->outputs[0]];
    switch (node->type) {
    case ETP_XNN_CONV_2D:
    case ETP_XNN_DEPTHWISE_CONV_2D:
        return conv_macs(node, in, out, &w->macs);
    case ETP_XNN_CONV_TRANSPOSE_2D:
        return deconv_macs(node, in, out, &w->macs);
    case ETP_XNN_FULLY_CONNECTED:
        return fc_macs(in[0], in[1], out, (node->xnn->flags & FLAG_TRANSPOSE_WEIGHTS) != 0,
                       &w->macs);
    case ETP_XNN_BATCH_MATRIX_MULTIPLY:
        return bmm_macs(in[0], in[1], out, (node->xnn->flags & FLAG_TRANSPOSE_B) != 0, &w->macs);
    case ETP_XNN_SCALED_DOT_PRODUCT_ATTENTION:
        return sdpa_macs(in[0], in[1], in[2], out, &w->macs, &w->ops);
    default:
        return simple_work(node, values, w);
    }
}

etp_work etp_work_of_node(const etp_node *node, const etp_value *values)
{
    etp_work w = {0};
    if (!etp_xnn_type_name(node->type) || node->n_inputs == 0 || node->n_outputs == 0) {
        return w; // a newer node type: not in the table
    }
    // An operator's weights must hold as many bytes as their shape needs.
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const etp_value *v = &values[node->inputs[i]];
        uint64_t n = 0, need = 0;
        if (v->constant && v->bytes != ETP_BYTES_UNKNOWN &&
            (!etp_elements(v, &n) || !etp_dtype_bytes(v->dtype, n, &need) || need > v->bytes)) {
            return problem("the weights hold fewer bytes than their shape needs");
        }
    }
    const char *bad = macs_of_node(node, values, &w);
    if (bad) {
        return problem(bad);
    }
    if (node->type == ETP_XNN_STATIC_SLICE) { // reads only what it keeps
        uint64_t out = 0;
        if (!etp_value_traffic(&values[node->outputs[0]], &out) || !etp_times(&out, 2)) {
            return problem("the size of an operand is unknown");
        }
        w.bytes = out;
    } else if (!traffic(values, node->inputs, node->n_inputs, node->outputs, node->n_outputs,
                        &w.bytes)) {
        return problem("the size of an operand is unknown");
    }
    w.known = true;
    return w;
}
