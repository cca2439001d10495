// SPDX-License-Identifier: Apache-2.0
// XNNPACK's schema.fbs (of ExecuTorch's backend) as tables for the verifier.
#include "formats/xnnpack_schema.h"

#include "formats/schema.h"

// Every field of four bytes, floats too: the verifier needs the width alone.
#define U32(n) {.name = (n), .kind = ETP_FB_SCALAR, .width = 4}
#define NONE ETP_XNN_NO_FIELD

// ---- node tables ----

static const etp_fb_field k_unary_fields[] = {U32("input_id"), U32("output_id"), U32("flags")};
SCHEMA(unary, "XNNNode1x1");

static const etp_fb_field k_binary_fields[] = {U32("input1_id"), U32("input2_id"), U32("output_id"),
                                               U32("flags")};
SCHEMA(binary, "XNNNode2x1");

static const etp_fb_field k_fc_fields[] = {U32("input1_id"), U32("filter_id"), U32("bias_id"),
                                           U32("output_id"), U32("flags")};
SCHEMA(fc, "XNNFullyConnected");

static const etp_fb_field k_conv_fields[] = {U32("padding_top"),
                                             U32("padding_right"),
                                             U32("padding_bottom"),
                                             U32("padding_left"),
                                             U32("kernel_height"),
                                             U32("kernel_width"),
                                             U32("subsampling_height"),
                                             U32("subsampling_width"),
                                             U32("dilation_height"),
                                             U32("dilation_width"),
                                             U32("group_input_channels"),
                                             U32("group_output_channels"),
                                             U32("groups"),
                                             U32("adjustment_height"),
                                             U32("adjustment_width"),
                                             U32("input1_id"),
                                             U32("filter_id"),
                                             U32("bias_id"),
                                             U32("output_id"),
                                             U32("flags")};
SCHEMA(conv, "XNNNodeConv");

static const etp_fb_field k_pool_fields[] = {
    U32("padding_top"),    U32("padding_right"),  U32("padding_bottom"),
    U32("padding_left"),   U32("pooling_height"), U32("pooling_width"),
    U32("stride_height"),  U32("stride_width"),   U32("dilation_height"),
    U32("dilation_width"), U32("input_id"),       U32("output_id"),
    U32("flags")};
SCHEMA(pool, "XNNPooling2D");

static const etp_fb_field k_argmax_fields[] = {
    U32("padding_top"),     U32("padding_right"), U32("padding_bottom"), U32("padding_left"),
    U32("pooling_height"),  U32("pooling_width"), U32("input_id"),       U32("output_value_id"),
    U32("output_index_id"), U32("flags")};
SCHEMA(argmax, "XNNArgMaxPooling2d");

// The fifth input came later, so it stands at the end: fields may only be appended.
static const etp_fb_field k_cat_fields[] = {U32("axis"),      U32("input1_id"), U32("input2_id"),
                                            U32("input3_id"), U32("input4_id"), U32("output_id"),
                                            U32("flags"),     U32("input5_id")};
SCHEMA(cat, "XNNCat");

// Two tables of the schema that differ only in a field's name are one here: the verifier looks at
// kinds and widths.
static const etp_fb_field k_shape_fields[] = {U32("num_dims"), VECTOR("perm or new_shape", 4),
                                              U32("input_id"), U32("output_id"), U32("flags")};
SCHEMA(shape, "XNNStaticTranspose or Reshape");

static const etp_fb_field k_resize_fields[] = {U32("new_height"), U32("new_width"), U32("input_id"),
                                               U32("output_id"), U32("flags")};
SCHEMA(resize, "XNNStaticResizeBilinear2D");

static const etp_fb_field k_pad_fields[] = {VECTOR("pre_paddings", 4), VECTOR("post_paddings", 4),
                                            U32("padding_value"),      U32("input_id"),
                                            U32("output_id"),          U32("flags")};
SCHEMA(pad, "XNNStaticConstantPad");

static const etp_fb_field k_param_fields[] = {U32("negative_slope or alpha"), U32("input_id"),
                                              U32("output_id"), U32("flags")};
SCHEMA(param, "XNNLeakyReLU or ELU");

static const etp_fb_field k_slice_fields[] = {U32("num_dims"),    VECTOR("offsets", 4),
                                              VECTOR("sizes", 4), U32("input_id"),
                                              U32("output_id"),   U32("flags")};
SCHEMA(slice, "XNNStaticSlice");

static const etp_fb_field k_sdpa_fields[] = {U32("query_id"), U32("key_id"),  U32("value_id"),
                                             U32("scale_id"), U32("mask_id"), U32("output_id"),
                                             U32("flags")};
SCHEMA(sdpa, "XNNScaledDotProductAttention");

// ---- type codes ----

// By type code, 0 being none: the order of XNodeUnion.
static const etp_fb_schema *const k_node_tables[ETP_XNN_TYPE_COUNT] = {
    NULL,      &k_binary, &k_fc,     &k_unary,  &k_unary,  &k_shape,  // None … StaticTranspose
    &k_unary,  &k_conv,   &k_binary, &k_resize, &k_pad,    &k_pool,   // Clamp … AvgPooling2d
    &k_binary, &k_conv,   &k_pool,   &k_binary, &k_binary, &k_unary,  // Minimum … Floor
    &k_unary,  &k_unary,  &k_shape,  &k_argmax, &k_unary,  &k_unary,  // Convert … Ceiling
    &k_unary,  &k_param,  &k_binary, &k_unary,  &k_unary,  &k_param,  // Hardswish … ELU
    &k_unary,  &k_binary, &k_cat,    &k_cat,    &k_cat,    &k_slice,  // Abs … StaticSlice
    &k_sdpa,   &k_binary, &k_cat,    &k_conv,   &k_unary,  &k_unary,  // SDPA … Log
    &k_unary,  &k_unary,  &k_unary,  &k_unary,  &k_unary,  &k_unary}; // Gelu … Cos

// The numbers are fields of that table in the order of etp_xnn_layout: inputs, which of them may be
// absent, outputs, flags, and then the special ones. All numbers of inputs of a concatenation use
// one table.
static const struct {
    const etp_fb_schema *schema;
    uint8_t type; // 0: all of that table
    etp_xnn_layout layout;
} k_layouts[] = {
    {&k_unary,  0,                     {1, {0}, 0, 1, {1}, 2, NONE, NONE, NONE, NONE, NONE, 0}                 },
    {&k_binary, 0,                     {2, {0, 1}, 0, 1, {2}, 3, NONE, NONE, NONE, NONE, NONE, 0}              },
    {&k_fc,     0,                     {3, {0, 1, 2}, 1 << 2, 1, {3}, 4, NONE, NONE, NONE, NONE, NONE, 0}      },
    {&k_conv,   0,                     {3, {15, 16, 17}, 1 << 2, 1, {18}, 19, NONE, NONE, NONE, NONE, NONE, 15}},
    {&k_pool,   0,                     {1, {10}, 0, 1, {11}, 12, NONE, NONE, NONE, NONE, NONE, 10}             },
    {&k_argmax, 0,                     {1, {6}, 0, 2, {7, 8}, 9, NONE, NONE, NONE, NONE, NONE, 6}              },
    {&k_shape,  0,                     {1, {2}, 0, 1, {3}, 4, 1, NONE, NONE, NONE, NONE, 0}                    },
    {&k_resize, 0,                     {1, {2}, 0, 1, {3}, 4, NONE, NONE, NONE, NONE, 0, 0}                    },
    {&k_pad,    0,                     {1, {3}, 0, 1, {4}, 5, 0, 1, 2, NONE, NONE, 0}                          },
    {&k_param,  0,                     {1, {1}, 0, 1, {2}, 3, NONE, NONE, 0, NONE, NONE, 0}                    },
    {&k_slice,  0,                     {1, {3}, 0, 1, {4}, 5, 1, 2, NONE, NONE, NONE, 0}                       },
    {&k_sdpa,   0,                     {5, {0, 1, 2, 3, 4}, 1 << 4, 1, {5}, 6, NONE, NONE, NONE, NONE, NONE, 0}},
    {&k_cat,    ETP_XNN_CONCATENATE_2, {2, {1, 2}, 0, 1, {5}, 6, NONE, NONE, NONE, 0, NONE, 0}                 },
    {&k_cat,    ETP_XNN_CONCATENATE_3, {3, {1, 2, 3}, 0, 1, {5}, 6, NONE, NONE, NONE, 0, NONE, 0}              },
    {&k_cat,    ETP_XNN_CONCATENATE_4, {4, {1, 2, 3, 4}, 0, 1, {5}, 6, NONE, NONE, NONE, 0, NONE, 0}           },
    {&k_cat,
     ETP_XNN_CONCATENATE_5,            {5, {1, 2, 3, 4, 7}, 0, 1, {5}, 6, NONE, NONE, NONE, 0, NONE, 0}        },
};

const etp_xnn_layout *etp_xnn_layout_of(uint8_t type)
{
    const etp_fb_schema *schema = type < ETP_XNN_TYPE_COUNT ? k_node_tables[type] : NULL;
    for (size_t i = 0; schema && i < ETP_FB_COUNT(k_layouts); i++) {
        if (k_layouts[i].schema == schema &&
            (k_layouts[i].type == 0 || k_layouts[i].type == type)) {
            return &k_layouts[i].layout;
        }
    }
    return NULL;
}

// ---- the graph ----

static const etp_fb_members k_node_members = ETP_FB_MEMBERS(k_node_tables);
static const etp_fb_field k_min_max_fields[] = {U32("output_min"), U32("output_max")};
SCHEMA(min_max, "OutputMinMax");
static const etp_fb_field k_node_fields[] = {
    SCALAR("xnode_union_type", 1), UNION("xnode_union", &k_node_members), U32("debug_handle"),
    TABLE("output_min_max", &k_min_max)};
SCHEMA(node, "XNode");

static const etp_fb_field k_tensor_value_fields[] = {
    SCALAR("datatype", 2), U32("num_dims"), VECTOR("dims", 4), U32("constant_buffer_idx"),
    U32("external_id"),    U32("flags"),    U32("id_out")};
SCHEMA(tensor_value, "XNNTensorValue");

static const etp_fb_field k_per_channel_fields[] = {VECTOR("scale", 4), U32("channel_dim"),
                                                    U32("scale_buffer_idx"), U32("num_scales")};
SCHEMA(per_channel, "PerChannelQuant");
static const etp_fb_field k_per_tensor_fields[] = {U32("scale"), U32("zero_point")};
SCHEMA(per_tensor, "PerTensorQuant");
static const etp_fb_field k_per_token_fields[] = {U32("num_nonbatch_dims")};
SCHEMA(per_token, "PerTokenDynamicQuant");
static const etp_fb_field k_group_fields[] = {VECTOR("scale", 4),      U32("channel_dim"),
                                              U32("group_size"),       VECTOR("scale_bf16", 2),
                                              U32("scale_buffer_idx"), U32("num_scales")};
SCHEMA(group, "PerChannelGroupQuant");
static const etp_fb_schema *const k_quant_tables[] = {NULL, &k_per_channel, &k_per_tensor,
                                                      &k_per_token, &k_group};
static const etp_fb_members k_quant_members = ETP_FB_MEMBERS(k_quant_tables);
static const etp_fb_field k_quant_value_fields[] = {TABLE("tensor_value", &k_tensor_value),
                                                    SCALAR("quant_params_type", 1),
                                                    UNION("quant_params", &k_quant_members)};
static const etp_fb_schema k_quant_value =
    ETP_FB_SCHEMA("XNNQuantizedTensorValue", k_quant_value_fields);
static const etp_fb_schema *const k_value_tables[] = {NULL, &k_tensor_value, &k_quant_value};
static const etp_fb_members k_value_members = ETP_FB_MEMBERS(k_value_tables);
static const etp_fb_field k_value_fields[] = {SCALAR("xvalue_union_type", 1),
                                              UNION("xvalue_union", &k_value_members)};
SCHEMA(value, "XValue");

static const etp_fb_field k_buffer_fields[] = {VECTOR("storage", 1)};
SCHEMA(buffer, "Buffer");
static const etp_fb_field k_constant_fields[] = {SCALAR("offset", 8), SCALAR("size", 8),
                                                 STRING("named_key")};
SCHEMA(constant, "ConstantDataOffset");
static const etp_fb_field k_graph_fields[] = {
    STRING("version"),
    TABLES("xnodes", &k_node),
    TABLES("xvalues", &k_value),
    U32("num_externs"),
    VECTOR("input_ids", 4),
    VECTOR("output_ids", 4),
    TABLES("constant_buffer", &k_buffer),
    IGNORED("mem_buffer_sizes"),
    TABLES("constant_data", &k_constant),
};
const etp_fb_schema etp_xnn_schema = ETP_FB_SCHEMA("XNNGraph", k_graph_fields);
