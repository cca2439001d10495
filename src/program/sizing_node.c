// SPDX-License-Identifier: Apache-2.0
// What the nodes of an XNNPACK payload do with sizes. Its values have the sizes of the exporter's
// largest inputs; XNNPACK makes them anew when a call's inputs are smaller.
#include "base/choice.h"
#include "program/internal.h"
#include "program/sizing.h"

typedef struct graph {
    const etp_partition *p;
    const etp_value *values[2]; // of the file, of the call
} graph;

static bool dims_of(const graph *g, uint32_t value, etp_size_time at, etp_dims *out)
{
    const etp_value *v = &g->values[at][value];
    if (v->rank > ETP_MAX_RANK || (at == ETP_SIZE_NOW && v->dynamic)) {
        return false;
    }
    out->n = v->rank;
    for (uint32_t i = 0; i < v->rank; i++) {
        out->d[i] = v->dims[i];
    }
    return true;
}

// ---- rules ----

// Flag bit 0 turns the second operand of either node.
static bool product(const etp_node *node, const etp_dims *b, etp_dims *out)
{
    bool full = node->type == ETP_XNN_FULLY_CONNECTED, turned = (node->xnn->flags & 1) != 0;
    bool k_first = full ? turned : !turned; // weights are N × K by themselves, operands K × N
    if (out->n < 1 || b->n < 2) {
        return false;
    }
    bool fits = out->d[out->n - 1] == b->d[b->n - (k_first ? 2 : 1)];
    for (uint32_t i = 2; fits && !full && i < out->n && i < b->n; i++) { // one batch over the other
        int64_t *d = &out->d[out->n - 1 - i], with = b->d[b->n - 1 - i];
        fits = *d == with || *d == 1 || with == 1;
        *d = *d == 1 ? with : *d;
    }
    out->d[out->n - 1] = b->d[b->n - (k_first ? 1 : 2)];
    return fits && (full || out->n >= b->n);
}

// XNNPACK writes 0 for the one dimension that follows from the others.
static bool reshape(const etp_xnn_node *x, etp_dims *out)
{
    int64_t all = 1, known = 1;
    uint32_t open = ETP_MAX_RANK;
    for (uint32_t i = 0; i < out->n; i++) {
        if (!etp_size_times(&all, out->d[i])) {
            return false;
        }
    }
    if (x->list.n > ETP_MAX_RANK) {
        return false;
    }
    out->n = x->list.n;
    for (uint32_t i = 0; i < out->n; i++) {
        out->d[i] = (int64_t)(uint32_t)etp_i32_at(x->list, i);
        if (out->d[i] == 0 && open < ETP_MAX_RANK) {
            return false;
        }
        open = out->d[i] == 0 ? i : open; // inferred
        if (!etp_size_times(&known, out->d[i] == 0 ? 1 : out->d[i])) {
            return false;
        }
    }
    if (open < ETP_MAX_RANK) {
        out->d[open] = known > 0 ? all / known : 0;
        known *= out->d[open];
    }
    return all == known;
}

static bool transpose(const etp_xnn_node *x, etp_dims *out)
{
    etp_dims from = *out;
    bool fits = x->list.n == from.n;
    for (uint32_t i = 0; fits && i < from.n; i++) {
        uint32_t d = (uint32_t)etp_i32_at(x->list, i);
        fits = d < from.n;
        out->d[i] = fits ? from.d[d] : 0;
    }
    return fits;
}

static bool pad(const etp_xnn_node *x, etp_dims *out)
{
    bool fits = x->list.n == out->n && x->list2.n == out->n;
    for (uint32_t i = 0; fits && i < out->n; i++) {
        out->d[i] +=
            (int64_t)(uint32_t)etp_i32_at(x->list, i) + (int64_t)(uint32_t)etp_i32_at(x->list2, i);
    }
    return fits;
}

// Sizes of slices are those of the exporter: they hold where the dimension is as large as it was.
static bool slice(const etp_xnn_node *x, const etp_dims *was, etp_dims *out)
{
    bool fits = x->list2.n == out->n && was->n == out->n;
    for (uint32_t i = 0; fits && i < out->n; i++) {
        int64_t size = (int64_t)(uint32_t)etp_i32_at(x->list2, i);
        bool all = size == was->d[i];
        fits = all || out->d[i] == was->d[i];
        out->d[i] = all ? out->d[i] : size;
    }
    return fits;
}

// Elements of a row that a window covers, holes of the dilation included, then how often it can
// move on by its stride.
static int64_t window(int64_t in, uint64_t padding, uint64_t kernel, uint64_t dilation,
                      uint64_t stride)
{
    uint64_t reach = ETP_MAX(dilation, 1) * (kernel - 1) + 1, span = (uint64_t)in + padding;
    return kernel == 0 || stride == 0 || span < reach ? -1 : (int64_t)((span - reach) / stride) + 1;
}

// NHWC; CHANNELS of the output.
// Flag bit 2 is TensorFlow's "same" padding, whose amount XNNPACK works out when it runs.
static bool windows(const etp_xnn_node *x, int64_t channels, etp_dims *out)
{
    const etp_xnn_window *w = x->window;
    if (!w || out->n != 4 || (x->flags & 4) != 0) { // padding that follows from sizes
        return false;
    }
    out->d[1] = window(out->d[1], (uint64_t)w->pad_top + w->pad_bottom, w->kernel_h, w->dilation_h,
                       w->stride_h);
    out->d[2] = window(out->d[2], (uint64_t)w->pad_left + w->pad_right, w->kernel_w, w->dilation_w,
                       w->stride_w);
    out->d[3] = channels;
    return out->d[1] >= 0 && out->d[2] >= 0;
}

static bool concatenate(const graph *g, const etp_node *node, etp_size_time at, etp_dims *out)
{
    uint32_t axis = node->xnn->axis;
    for (uint32_t i = 1; i < node->n_inputs; i++) {
        etp_dims one;
        if (!dims_of(g, node->inputs[i], at, &one) || one.n != out->n || axis >= one.n) {
            return false;
        }
        out->d[axis] += one.d[axis];
    }
    return true;
}

static bool output_of(const graph *g, const etp_node *node, etp_size_time at, etp_dims *out)
{
    etp_dims second = {0}, was;
    bool two = node->n_inputs > 1 && dims_of(g, node->inputs[1], at, &second);
    if (node->n_inputs == 0 || !dims_of(g, node->inputs[0], at, out)) {
        return false;
    }
    switch (node->type) {
    case ETP_XNN_FULLY_CONNECTED:
    case ETP_XNN_BATCH_MATRIX_MULTIPLY:
        return two && product(node, &second, out);
    case ETP_XNN_STATIC_TRANSPOSE:
        return transpose(node->xnn, out);
    case ETP_XNN_STATIC_RESHAPE:
        return reshape(node->xnn, out);
    case ETP_XNN_STATIC_CONSTANT_PAD:
        return pad(node->xnn, out);
    case ETP_XNN_STATIC_SLICE:
        return dims_of(g, node->inputs[0], ETP_SIZE_MOST, &was) && slice(node->xnn, &was, out);
    case ETP_XNN_CONCATENATE_2:
    case ETP_XNN_CONCATENATE_3:
    case ETP_XNN_CONCATENATE_4:
    case ETP_XNN_CONCATENATE_5:
        return concatenate(g, node, at, out);
    // Filters are [Co, Kh, Kw, Ci/g], depthwise ones [1, Kh, Kw, Co].
    case ETP_XNN_CONV_2D:
        return two && second.n == 4 && windows(node->xnn, second.d[0], out);
    case ETP_XNN_DEPTHWISE_CONV_2D:
        return two && second.n == 4 && windows(node->xnn, second.d[3], out);
    case ETP_XNN_AVG_POOLING_2D:
    case ETP_XNN_MAX_POOLING_2D:
        return out->n == 4 && windows(node->xnn, out->d[3], out);
    case ETP_XNN_GLOBAL_AVG_POOLING_2D:
        out->d[1] = out->d[2] = 1;
        return out->n == 4;
    case ETP_XNN_STATIC_RESIZE_BILINEAR_2D:
        out->d[1] = node->xnn->new_height;
        out->d[2] = node->xnn->new_width;
        return out->n == 4;
    case ETP_XNN_ADD:
    case ETP_XNN_SUBTRACT:
    case ETP_XNN_MULTIPLY:
    case ETP_XNN_DIV:
    case ETP_XNN_MINIMUM:
    case ETP_XNN_MAXIMUM:
    case ETP_XNN_PRELU:
        for (uint32_t i = 1; i < node->n_inputs; i++) {
            etp_dims one;
            if (!dims_of(g, node->inputs[i], at, &one) || !etp_dims_broadcast(out, &one)) {
                return false;
            }
        }
        return true;
    // Without a rule their outputs stay at their bounds.
    case ETP_XNN_ARG_MAX_POOLING_2D:
    case ETP_XNN_SCALED_DOT_PRODUCT_ATTENTION:
    case ETP_XNN_CONV_TRANSPOSE_2D:
        return false;
    default: // one operand, element by element
        return etp_xnn_type_name(node->type) && node->n_inputs == 1;
    }
}

// ---- a partition ----

// Nodes are in order of execution, so the sizes of a node's inputs are there when it is reached.
static void follow_node(const etp_sizing *z, const graph *g, const etp_node *node,
                        etp_value *values)
{
    etp_dims most, found, now;
    for (uint32_t o = 0; o < node->n_outputs; o++) {
        bool known = node->n_outputs == 1 && dims_of(g, node->outputs[o], ETP_SIZE_MOST, &most) &&
                     output_of(g, node, ETP_SIZE_MOST, &found) && etp_dims_same(&found, &most) &&
                     output_of(g, node, ETP_SIZE_NOW, &now) && etp_dims_within(&now, &most);
        if (known) {
            etp_size_set(&values[node->outputs[o]], &now, z->arena);
        }
    }
}

void etp_sizing_partition(etp_sizing *z, const etp_pte_instruction *pte,
                          const etp_instruction *call, etp_partition *p)
{
    // A partition is one set of values, so it can have the sizes of one call only. The file's own
    // are kept beside: rules compare with them.
    bool once = z->n_calls[pte->index] == 1; // otherwise two calls may differ
    if (p->graph && once) {
        etp_value *values = ETP_NEW_ARRAY(z->arena, etp_value, p->n_values);
        etp_node *nodes = ETP_NEW_ARRAY(z->arena, etp_node, p->n_nodes);
        memcpy(values, p->values, p->n_values * sizeof *values);
        memcpy(nodes, p->nodes, p->n_nodes * sizeof *nodes);
        const graph g = {
            p, {p->values, values}
        };
        // Sizes of the call's arguments to the values of the graph that stand for them.
        for (uint32_t i = 0; i < p->n_values; i++) {
            etp_value *v = &values[i];
            bool input = v->external < pte->args.n && (p->graph->values[i].flags & 1) != 0;
            etp_dims now, most = {.n = v->rank};
            if (!input || v->constant || v->rank > ETP_MAX_RANK ||
                !etp_size_of(z, (uint32_t)etp_i32_at(pte->args, v->external), ETP_SIZE_NOW, &now)) {
                continue;
            }
            memcpy(most.d, v->dims, v->rank * sizeof *most.d);
            if (now.n == 0 && most.n == 1 && most.d[0] == 1) { // XNNPACK's scalars have a dimension
                now = most;
            }
            if (etp_dims_within(&now, &most)) {
                etp_size_set(v, &now, z->arena);
            }
        }
        for (uint32_t i = 0; i < p->n_nodes; i++) {
            follow_node(z, &g, &nodes[i], values);
        }
        p->values = values;
        // Work rests on bounds as soon as one operand or result does.
        p->macs = 0;
        p->n_unknown_work = 0;
        for (uint32_t i = 0; i < p->n_nodes; i++) {
            etp_work w = etp_work_of_node(&nodes[i], p->values);
            for (uint32_t k = 0; k < nodes[i].n_inputs + nodes[i].n_outputs; k++) {
                uint32_t value = k < nodes[i].n_inputs ? nodes[i].inputs[k]
                                                       : nodes[i].outputs[k - nodes[i].n_inputs];
                w.bound = w.bound || p->values[value].dynamic;
            }
            w.bound = w.bound && w.known;
            p->n_unknown_work += !w.known;
            p->macs += w.known ? w.macs : 0; // below those of the file, whose sum was checked
            nodes[i].work = w;
        }
        p->nodes = nodes;
    }
    // Results of the delegate to the tensors of the method.
    for (uint32_t o = 0; o < call->n_outputs; o++) {
        etp_dims now = {0};
        bool known = false;
        for (uint32_t i = 0; p->graph && i < p->n_values && !known; i++) {
            const etp_value *v = &p->values[i];
            known = v->external < pte->args.n && !v->dynamic && !v->constant &&
                    (p->graph->values[i].flags & 2) != 0 && v->rank <= ETP_MAX_RANK &&
                    (uint32_t)etp_i32_at(pte->args, v->external) == call->outputs[o];
            now.n = known ? v->rank : 0;
            memcpy(now.d, v->dims, now.n * sizeof *now.d);
        }
        etp_size_follow(z, call->outputs[o], known ? &now : NULL);
    }
}
