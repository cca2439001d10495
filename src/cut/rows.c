// SPDX-License-Identifier: Apache-2.0
// An operator that multiplies, with another number of rows: M of M × K times K × N.
#include "cut/internal.h"

#include "base/number.h"

#define SAME_PADDING 4u      // flag: XNNPACK works the padding out when it runs
#define WINDOW_LIMIT 65535u  // beyond it a kernel, stride or dilation is nonsense, and sums fit
#define ROWS_LIMIT INT32_MAX // of a tensor's dimension in a program

// Values of the operator that stand in rows: what it multiplies, what it makes.
typedef struct operands {
    const etp_partition *p;
    const etp_node *node;
    const etp_value *in, *out;
} operands;

static bool is_convolution(const etp_node *n)
{
    return n->type == ETP_XNN_CONV_2D || n->type == ETP_XNN_DEPTHWISE_CONV_2D;
}

static uint64_t product(const etp_value *v, uint32_t n)
{
    uint64_t rows = 1;
    for (uint32_t i = 0; i < n; i++) {
        rows = v->dims[i] > 0 && rows <= ROWS_LIMIT ? rows * (uint64_t)v->dims[i] : 0;
    }
    return rows <= ROWS_LIMIT ? rows : 0;
}

// 0: of this value no rows can be told.
static uint64_t rows_of(const etp_node *n, const etp_value *v)
{
    if (is_convolution(n)) {
        return v->rank == 4 ? product(v, 3) : 0; // NHWC
    }
    if (v->rank < 2) {
        return 0;
    }
    bool batches = n->type == ETP_XNN_BATCH_MATRIX_MULTIPLY;
    return batches ? (uint64_t)v->dims[v->rank - 2] : product(v, v->rank - 1);
}

static etp_status find(const etp_cut_place *at, operands *out, etp_error *err)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    const etp_partition *p = &at->method->partitions[i->partition];
    const etp_node *n = &p->nodes[at->node];
    bool matrix = n->type == ETP_XNN_FULLY_CONNECTED || n->type == ETP_XNN_BATCH_MATRIX_MULTIPLY;
    if ((!matrix && !is_convolution(n)) || n->n_inputs < 2 || n->n_outputs != 1) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "it has no M: FullyConnected, BatchMatrixMultiply, Conv2d and "
                        "DepthwiseConv2d have one");
    }
    *out = (operands){p, n, &p->values[n->inputs[0]], &p->values[n->outputs[0]]};
    uint64_t in = rows_of(n, out->in), made = rows_of(n, out->out);
    if (out->in->constant || in == 0 || made == 0 || (matrix && in != made)) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "its operand and its result do not tell M: %llu and %llu rows",
                        (unsigned long long)in, (unsigned long long)made);
    }
    if (is_convolution(n) && (!n->xnn->window || (n->xnn->flags & SAME_PADDING))) {
        return etp_fail(err, ETP_UNSUPPORTED, "its padding follows from the size of its operand");
    }
    return ETP_OK;
}

etp_status etp_cut_rows(const etp_cut_place *at, uint64_t *out, etp_error *err)
{
    operands o;
    ETP_TRY(find(at, &o, err));
    *out = rows_of(o.node, o.out);
    return ETP_OK;
}

// What a convolution reads for OUT pixels in a row or column; 0: there is no such input.
static uint64_t pixels_read(uint64_t out, uint32_t kernel, uint32_t stride, uint32_t dilation,
                            uint64_t padding)
{
    if (kernel == 0 || stride == 0 || kernel > WINDOW_LIMIT || stride > WINDOW_LIMIT ||
        dilation > WINDOW_LIMIT) {
        return 0;
    }
    uint64_t reach = (uint64_t)ETP_MAX(dilation, 1) * (kernel - 1) + 1;
    uint64_t padded = (out - 1) * stride + reach;
    return padded > padding && padded - padding <= ROWS_LIMIT ? padded - padding : 0;
}

// Heights and widths of pixels, or the rows of a matrix with one of everything before them.
static void set_dims(etp_value *v, bool batches, const uint64_t *sizes, uint32_t n,
                     etp_arena *arena)
{
    int64_t *dims = ETP_NEW_ARRAY(arena, int64_t, v->rank);
    uint32_t first = v->rank - 1 - n;
    for (uint32_t i = 0; i < v->rank; i++) {
        bool kept = i == v->rank - 1 || (batches && i < first);
        dims[i] = kept ? v->dims[i] : 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        dims[first + i] = (int64_t)sizes[i];
    }
    v->dims = dims;
    v->dynamic = false;
    uint64_t count = product(v, v->rank);
    v->bytes = ETP_BYTES_UNKNOWN;
    if (count > 0 && !etp_dtype_bytes(v->dtype, count, &v->bytes)) {
        v->bytes = ETP_BYTES_UNKNOWN;
    }
}

// The convert in front of the node that makes VALUE; NULL: there is none in the capsule.
static const etp_node *convert_of(const etp_partition *p, const bool *nodes, uint32_t node,
                                  uint32_t value)
{
    for (uint32_t i = 0; i < node; i++) {
        const etp_node *n = &p->nodes[i];
        if (nodes[i] && n->type == ETP_XNN_CONVERT && n->n_inputs == 1 && n->outputs[0] == value) {
            return n;
        }
    }
    return NULL;
}

static uint32_t source_of(const etp_partition *p, const bool *nodes, uint32_t node, uint32_t value)
{
    const etp_node *n = convert_of(p, nodes, node, value);
    return n ? n->inputs[0] : value;
}

etp_status etp_cut_set_rows(const etp_cut_place *at, const bool *nodes, uint64_t rows,
                            etp_arena *arena, etp_value *values, etp_error *err)
{
    operands o;
    ETP_TRY(find(at, &o, err));
    if (rows == 0 || rows > ROWS_LIMIT) {
        return etp_fail(err, ETP_UNSUPPORTED, "M is 1 to %d, not %llu", ROWS_LIMIT,
                        (unsigned long long)rows);
    }
    const etp_node *n = o.node;
    const uint32_t first = source_of(o.p, nodes, at->node, n->inputs[0]);
    for (uint32_t k = 1; k < n->n_inputs; k++) {
        if (source_of(o.p, nodes, at->node, n->inputs[k]) == first) {
            return etp_fail(err, ETP_UNSUPPORTED, "it multiplies a value by itself");
        }
    }
    uint64_t in[2] = {rows}, out[2] = {rows};
    uint32_t sizes = is_convolution(n) ? 2 : 1;
    if (sizes == 2) {
        // The sizes of a convolution's operand and result: pixels as close to a square as ROWS
        // allow.
        const etp_xnn_window *w = n->xnn->window;
        out[0] = 1;
        for (uint64_t h = 2; h * h <= rows; h++) {
            out[0] = rows % h == 0 ? h : out[0];
        }
        out[1] = rows / out[0];
        in[0] = pixels_read(out[0], w->kernel_h, w->stride_h, w->dilation_h,
                            (uint64_t)w->pad_top + w->pad_bottom);
        in[1] = pixels_read(out[1], w->kernel_w, w->stride_w, w->dilation_w,
                            (uint64_t)w->pad_left + w->pad_right);
        if (in[0] == 0 || in[1] == 0) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "no picture of its padding gives %llu × %llu pixels",
                            (unsigned long long)out[0], (unsigned long long)out[1]);
        }
    }
    bool batches = n->type == ETP_XNN_BATCH_MATRIX_MULTIPLY;
    set_dims(&values[n->inputs[0]], batches, in, sizes, arena);
    if (first != n->inputs[0]) {
        if (values[first].rank != values[n->inputs[0]].rank) {
            return etp_fail(err, ETP_UNSUPPORTED, "its convert changes the rank of its operand");
        }
        set_dims(&values[first], batches, in, sizes, arena);
    }
    set_dims(&values[n->outputs[0]], batches, out, sizes, arena);
    return ETP_OK;
}
