// SPDX-License-Identifier: Apache-2.0
// Whether an operator's name can stand for a node: families against node types, data types of the
// name against those of the operands.
#include "base/choice.h"
#include "explain/join/parts.h"

#define MAX_TYPES 7
#define LARGEST_DEPTHWISE 25 // places of the window that each of XNNPACK's depthwise kernels has

// Operator families as XNNPACK spells them → node types whose work they can do.
// One family may stand for several nodes because XNNPACK rewrites its graph before it runs: a 1 × 1
// convolution becomes a linear, x · x a square, a reshape a copy. The order of the types says
// nothing.
static const struct {
    const char *family;
    uint8_t types[MAX_TYPES]; // 0-terminated
} k_families[] = {
    {"Add",                          {ETP_XNN_ADD}                                                            },
    {"Subtract",                     {ETP_XNN_SUBTRACT, ETP_XNN_ADD}                                          },
    {"Multiply",                     {ETP_XNN_MULTIPLY}                                                       },
    {"Divide",                       {ETP_XNN_DIV, ETP_XNN_MULTIPLY}                                          },
    {"Minimum",                      {ETP_XNN_MINIMUM}                                                        },
    {"Maximum",                      {ETP_XNN_MAXIMUM}                                                        },
    {"PReLU",                        {ETP_XNN_PRELU}                                                          },
    {"Clamp",                        {ETP_XNN_CLAMP, ETP_XNN_MINIMUM, ETP_XNN_MAXIMUM}                        },
    {"Convert",                      {ETP_XNN_CONVERT}                                                        },
    {"Convolution",                  {ETP_XNN_CONV_2D, ETP_XNN_DEPTHWISE_CONV_2D}                             },
    {"Fully Connected",              {ETP_XNN_FULLY_CONNECTED, ETP_XNN_CONV_2D, ETP_XNN_BATCH_MATRIX_MULTIPLY}},
    {"Dynamic Fully Connected",      {ETP_XNN_FULLY_CONNECTED, ETP_XNN_BATCH_MATRIX_MULTIPLY}                 },
    {"Batch Matrix Multiply",        {ETP_XNN_BATCH_MATRIX_MULTIPLY, ETP_XNN_FULLY_CONNECTED}                 },
    {"Deconvolution",                {ETP_XNN_CONV_TRANSPOSE_2D}                                              },
    {"Transpose",                    {ETP_XNN_STATIC_TRANSPOSE}                                               },
    {"Copy",
     {ETP_XNN_COPY, ETP_XNN_STATIC_RESHAPE, ETP_XNN_CONCATENATE_2, ETP_XNN_CONCATENATE_3,
      ETP_XNN_CONCATENATE_4, ETP_XNN_CONCATENATE_5}                                                           },
    {"Concatenate",
     {ETP_XNN_CONCATENATE_2, ETP_XNN_CONCATENATE_3, ETP_XNN_CONCATENATE_4, ETP_XNN_CONCATENATE_5}             },
    {"Static Reshape",               {ETP_XNN_STATIC_RESHAPE}                                                 },
    {"Static Expand Dims",           {ETP_XNN_STATIC_RESHAPE}                                                 },
    {"Fuse Dims",                    {ETP_XNN_STATIC_RESHAPE}                                                 },
    {"Split Dims",                   {ETP_XNN_STATIC_RESHAPE}                                                 },
    {"Slice",                        {ETP_XNN_STATIC_SLICE}                                                   },
    {"Constant Pad",                 {ETP_XNN_STATIC_CONSTANT_PAD}                                            },
    {"Mean",                         {ETP_XNN_GLOBAL_AVG_POOLING_2D, ETP_XNN_AVG_POOLING_2D}                  },
    {"Mean Squared",                 {ETP_XNN_GLOBAL_AVG_POOLING_2D}                                          },
    {"Sum",                          {ETP_XNN_GLOBAL_AVG_POOLING_2D}                                          },
    {"Global Average Pooling",       {ETP_XNN_GLOBAL_AVG_POOLING_2D}                                          },
    {"Average Pooling",              {ETP_XNN_AVG_POOLING_2D, ETP_XNN_GLOBAL_AVG_POOLING_2D}                  },
    {"Max Pooling",                  {ETP_XNN_MAX_POOLING_2D}                                                 },
    {"ArgMax Pooling",               {ETP_XNN_ARG_MAX_POOLING_2D}                                             },
    {"Resize Bilinear",              {ETP_XNN_STATIC_RESIZE_BILINEAR_2D}                                      },
    {"Softmax",                      {ETP_XNN_SOFTMAX}                                                        },
    {"Scaled Dot-Product Attention", {ETP_XNN_SCALED_DOT_PRODUCT_ATTENTION}                                   },
    {"Sigmoid",                      {ETP_XNN_SIGMOID}                                                        },
    {"GELU",                         {ETP_XNN_GELU}                                                           },
    {"ApproxGELU",                   {ETP_XNN_GELU}                                                           },
    {"HardSwish",                    {ETP_XNN_HARDSWISH}                                                      },
    {"LeakyReLU",                    {ETP_XNN_LEAKY_RELU}                                                     },
    {"Leaky ReLU",                   {ETP_XNN_LEAKY_RELU}                                                     },
    {"ELU",                          {ETP_XNN_ELU}                                                            },
    {"Abs",                          {ETP_XNN_ABS}                                                            },
    {"Floor",                        {ETP_XNN_FLOOR}                                                          },
    {"Ceiling",                      {ETP_XNN_CEILING}                                                        },
    {"Square",                       {ETP_XNN_SQUARE, ETP_XNN_MULTIPLY}                                       },
    {"Square Root",                  {ETP_XNN_SQUARE_ROOT}                                                    },
    {"Reciprocal Square Root",       {ETP_XNN_RECIPROCAL_SQUARE_ROOT}                                         },
    {"Negate",                       {ETP_XNN_NEGATE}                                                         },
    {"Log",                          {ETP_XNN_LOG}                                                            },
    {"Exp",                          {ETP_XNN_EXP}                                                            },
    {"TanH",                         {ETP_XNN_TANH}                                                           },
    {"Sine",                         {ETP_XNN_SIN}                                                            },
    {"Cosine",                       {ETP_XNN_COS}                                                            },
};

void etp_match_prepare(etp_str name, etp_match_op *out)
{
    etp_op_parse(name, &out->name);
    out->types = NULL;
    for (size_t i = 0; i < sizeof k_families / sizeof *k_families && !out->types; i++) {
        bool same = etp_str_eqz(out->name.family, k_families[i].family);
        out->types = same ? k_families[i].types : NULL;
    }
    out->is_table = etp_str_eqz(out->name.base, "Invalid Unary Op");
}

// ---- data types ----

// Coarser than data types: PF32 is F32 packed for SME, QC8 and QS8 differ in their scales alone,
// and all dynamically quantised activations are one kind. KIND_ANY fits everything.
typedef enum kind { KIND_ANY, KIND_F32, KIND_F16, KIND_BF16, KIND_S8, KIND_U8, KIND_DYNAMIC } kind;

static kind kind_of_token(etp_str t)
{
    static const struct {
        const char *token;
        kind kind;
    } k_tokens[] = {
        {"F32",  KIND_F32    },
        {"PF32", KIND_F32    },
        {"F16",  KIND_F16    },
        {"PF16", KIND_F16    },
        {"BF16", KIND_BF16   },
        {"QS8",  KIND_S8     },
        {"QC8",  KIND_S8     },
        {"PQS8", KIND_S8     },
        {"S8",   KIND_S8     },
        {"QU8",  KIND_U8     },
        {"U8",   KIND_U8     },
        {"QD8",  KIND_DYNAMIC},
        {"QDU8", KIND_DYNAMIC},
        {"QP8",  KIND_DYNAMIC}
    };
    for (size_t i = 0; i < sizeof k_tokens / sizeof *k_tokens; i++) {
        if (etp_str_eqz(t, k_tokens[i].token)) {
            return k_tokens[i].kind;
        }
    }
    return KIND_ANY;
}

static kind kind_of_dtype(etp_dtype d)
{
    switch (d) {
    case ETP_DTYPE_FLOAT32:
    case ETP_DTYPE_PFP32:
        return KIND_F32;
    case ETP_DTYPE_FLOAT16:
        return KIND_F16;
    case ETP_DTYPE_BFLOAT16:
        return KIND_BF16;
    case ETP_DTYPE_QINT8:
    case ETP_DTYPE_QCINT8:
        return KIND_S8;
    case ETP_DTYPE_QUINT8:
        return KIND_U8;
    case ETP_DTYPE_QDINT8:
    case ETP_DTYPE_QPINT8:
        return KIND_DYNAMIC;
    default:
        return KIND_ANY;
    }
}

// "X8", "X16", "X32", "X64": bits per element of data movement; 0 for other tokens.
static unsigned bits_of_token(etp_str t)
{
    if (t.len < 2 || t.ptr[0] != 'X') {
        return 0;
    }
    unsigned bits = 0;
    for (size_t i = 1; i < t.len; i++) {
        if (t.ptr[i] < '0' || t.ptr[i] > '9' || bits > 64) {
            return 0;
        }
        bits = bits * 10 + (unsigned)(t.ptr[i] - '0');
    }
    return bits;
}

static bool is_float(kind k)
{
    return k == KIND_F32 || k == KIND_F16 || k == KIND_BF16;
}

// What it costs that the name says another type than the program has. Programs in half precision
// fall back to single where the CPU lacks it, and data movement is named by its bits; nothing else
// changes a type.
static uint32_t dtype_cost(const etp_op_name *op, const etp_value *in)
{
    // XNNPACK lists types in the order input, output, weights: the first is the input's.
    unsigned bits = op->n_dtypes == 0 ? 0 : bits_of_token(op->dtypes[0]);
    if (bits != 0) {
        return bits == etp_dtype_bits(in->dtype) ? 0 : ETP_COST_UNIT / 2;
    }
    kind want = op->n_dtypes == 0 ? KIND_ANY : kind_of_token(op->dtypes[0]);
    kind have = kind_of_dtype(in->dtype);
    if (want == KIND_ANY || have == KIND_ANY || want == have) {
        return 0;
    }
    return want == KIND_F32 && is_float(have) ? ETP_COST_UNIT / 2 : ETP_COST_NEVER;
}

// Does P have a value of kind K, of any but single precision (KIND_ANY), or of so many BITS?
static bool has_value(const etp_partition *p, kind k, unsigned bits)
{
    for (uint32_t i = 0; i < p->n_values; i++) {
        kind have = kind_of_dtype(p->values[i].dtype);
        bool other = k == KIND_ANY && have != KIND_ANY && have != KIND_F32;
        if (bits ? etp_dtype_bits(p->values[i].dtype) == bits : have == k || other) {
            return true;
        }
    }
    return false;
}

// Types of a name but single precision, to which anything falls back, are ones of the program.
// Conversions stand where it has such types.
static bool has_types_of(const etp_partition *p, const etp_match_op *op)
{
    bool has = !etp_str_eqz(op->name.family, "Convert") || has_value(p, KIND_ANY, 0);
    for (size_t i = 0; has && i < op->name.n_dtypes; i++) {
        kind k = kind_of_token(op->name.dtypes[i]);
        unsigned bits = bits_of_token(op->name.dtypes[i]);
        has = bits ? bits >= 32 || has_value(p, KIND_ANY, bits)
                   : k == KIND_ANY || k == KIND_F32 || has_value(p, k, 0);
    }
    return has;
}

bool etp_match_contradicts(const etp_partition *p, const etp_match_op *op,
                           const etp_placed_operator *placed, bool converts)
{
    if (!op->types) {
        return false; // a family that is not known says nothing
    }
    if (!has_types_of(p, op)) {
        return true;
    }
    if (placed->node == ETP_NO_INDEX) {
        return !placed->inserted;
    }
    // Half precision that is computed in single is converted first.
    const etp_node *n = &p->nodes[placed->node];
    kind want = op->name.n_dtypes > 0 ? kind_of_token(op->name.dtypes[0]) : KIND_ANY;
    kind have = n->n_inputs > 0 ? kind_of_dtype(p->values[n->inputs[0]].dtype) : KIND_ANY;
    return want == KIND_F32 && is_float(have) && have != KIND_F32 && !converts;
}

// ---- costs ----

static bool is_pointwise(const etp_node *n)
{
    const etp_xnn_window *w = n->xnn->window;
    return w && w->kernel_h == 1 && w->kernel_w == 1 && w->stride_h == 1 && w->stride_w == 1 &&
           w->groups == 1 && (w->pad_top | w->pad_right | w->pad_bottom | w->pad_left) == 0;
}

// XNNPACK runs a convolution channel by channel where each group has one channel in and one out and
// its window fits the largest kernel for that; others never.
static bool channel_by_channel(const etp_node *n, bool *out)
{
    const etp_xnn_window *w = n->xnn->window;
    bool known = w && w->group_in > 0 && w->group_out > 0;
    bool single = known && w->group_in == 1 && w->group_out == 1;
    *out = single;
    return known && (!single || (uint64_t)w->kernel_h * w->kernel_w <= LARGEST_DEPTHWISE);
}

// Names say more about convolutions than their family.
static uint32_t convolution_cost(const etp_node *n, const etp_op_name *op)
{
    bool says_fc = !etp_str_eqz(op->family, "Convolution");
    bool says_depthwise = etp_op_is_depthwise(op), is_depthwise;
    if (!says_fc && op->ukernel.len > 0 && channel_by_channel(n, &is_depthwise) &&
        is_depthwise != says_depthwise) {
        return ETP_COST_NEVER;
    }
    if (n->type == ETP_XNN_CONV_2D) {
        // XNNPACK runs 1 × 1 convolutions as matrix multiplications since 2025; never others.
        if (says_fc) {
            return is_pointwise(n) ? 0 : ETP_COST_NEVER;
        }
        // A pointwise node may still be named a convolution (builds before that rewriting); a
        // quarter leaves it behind another node that the name fits better.
        return (is_pointwise(n) ? ETP_COST_UNIT / 4 : 0) + (says_depthwise ? ETP_COST_UNIT / 2 : 0);
    }
    return says_depthwise ? 0 : ETP_COST_UNIT / 2; // a depthwise node
}

uint32_t etp_match_cost(const etp_value_flow *f, uint32_t node, const etp_match_op *op)
{
    const etp_node *n = &f->partition->nodes[node];
    const uint8_t *types = op->types;
    if (op->is_table) {
        // The name says nothing of what the table computes. The end of a chain from 8 bits to 8
        // bits is its natural place; any other elementwise node is a contradiction, but possible.
        if (!etp_flow_is_unary(f, node)) {
            return ETP_COST_NEVER;
        }
        return etp_flow_lut_start(f, node) != node ? 0 : ETP_COST_UNIT;
    }
    if (!types) {
        // A family we do not know may be a node type we do not know, and nothing else.
        return etp_xnn_type_name(n->type) ? ETP_COST_NEVER : ETP_COST_UNIT;
    }
    uint32_t rank = 0;
    while (rank < MAX_TYPES && types[rank] != 0 && types[rank] != n->type) {
        rank++;
    }
    if (rank == MAX_TYPES || types[rank] == 0) {
        return ETP_COST_NEVER;
    }
    uint32_t cost = 0;
    if (n->type == ETP_XNN_CONV_2D || n->type == ETP_XNN_DEPTHWISE_CONV_2D) {
        cost = convolution_cost(n, &op->name);
    }
    if (n->n_inputs > 0) {
        cost += dtype_cost(&op->name, &f->partition->values[n->inputs[0]]);
    }
    return ETP_MIN(cost, ETP_COST_NEVER);
}

// A node that the optimizer may merge costs next to nothing, so that an alignment is never bent to
// give it an operator; one that moves data may vanish in ways that are not known here; arithmetic
// does not vanish.
uint32_t etp_skip_node_cost(const etp_value_flow *f, uint32_t node)
{
    switch (etp_value_flow_fate(f, node)) {
    case ETP_FATE_INTO_PRODUCER:
    case ETP_FATE_INTO_TABLE:
        return ETP_COST_UNIT / 20;
    case ETP_FATE_INTO_CONSUMER:
        return ETP_COST_UNIT / 10;
    case ETP_FATE_STAYS:
        break;
    }
    int type = f->partition->nodes[node].type;
    bool is_light = type == ETP_XNN_STATIC_RESHAPE || type == ETP_XNN_COPY ||
                    type == ETP_XNN_STATIC_TRANSPOSE || type == ETP_XNN_CONVERT;
    return is_light ? ETP_COST_UNIT : 3 * ETP_COST_UNIT;
}

uint32_t etp_skip_operator_cost(const etp_match_op *op)
{
    etp_str family = op->name.family;
    if (etp_str_eqz(family, "Convert") || etp_str_eqz(family, "Pack LH") ||
        etp_str_eqz(family, "Copy")) {
        return ETP_COST_UNIT; // fallbacks to another precision, packing for the matrix unit
    }
    if (etp_str_eqz(family, "Transpose") || etp_str_eqz(family, "Sum")) {
        return ETP_COST_UNIT + ETP_COST_UNIT / 2; // layout rewrites, row sums of quantised operands
    }
    return 3 * ETP_COST_UNIT;
}
