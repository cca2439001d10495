// SPDX-License-Identifier: Apache-2.0
// The graph inside an XNNPACK delegate blob of a .pte (XH00 header + XN00/XN01 flatbuffer, or the
// bare flatbuffer of old exporters), verified and typed.
//
// Ownership: arrays live in the caller's arena, strings and vectors borrow from the payload's
// bytes. Thread rule: immutable after reading.
#ifndef ETPROF_XNNPACK_H
#define ETPROF_XNNPACK_H

#include <etprof/pte.h>

ETP_C_BEGIN

#define ETP_XNN_NO_HANDLE 65535u
#define ETP_XNN_NO_ID UINT32_MAX

// code, enum, name as in the schema without "XNN"
#define ETP_XNN_NODE_MAP(X)                                          \
    X(1, ADD, "Add")                                                 \
    X(2, FULLY_CONNECTED, "FullyConnected")                          \
    X(3, SOFTMAX, "Softmax")                                         \
    X(4, SIGMOID, "Sigmoid")                                         \
    X(5, STATIC_TRANSPOSE, "StaticTranspose")                        \
    X(6, CLAMP, "Clamp")                                             \
    X(7, CONV_2D, "Conv2d")                                          \
    X(8, DIV, "Div")                                                 \
    X(9, STATIC_RESIZE_BILINEAR_2D, "StaticResizeBilinear2D")        \
    X(10, STATIC_CONSTANT_PAD, "StaticConstantPad")                  \
    X(11, AVG_POOLING_2D, "AvgPooling2d")                            \
    X(12, MINIMUM, "Minimum")                                        \
    X(13, DEPTHWISE_CONV_2D, "DepthwiseConv2d")                      \
    X(14, MAX_POOLING_2D, "MaxPooling2d")                            \
    X(15, MULTIPLY, "Multiply")                                      \
    X(16, SUBTRACT, "Subtract")                                      \
    X(17, FLOOR, "Floor")                                            \
    X(18, CONVERT, "Convert")                                        \
    X(19, GLOBAL_AVG_POOLING_2D, "GlobalAvgPooling2d")               \
    X(20, STATIC_RESHAPE, "StaticReshape")                           \
    X(21, ARG_MAX_POOLING_2D, "ArgMaxPooling2d")                     \
    X(22, SQUARE_ROOT, "SquareRoot")                                 \
    X(23, CEILING, "Ceiling")                                        \
    X(24, HARDSWISH, "Hardswish")                                    \
    X(25, LEAKY_RELU, "LeakyReLU")                                   \
    X(26, MAXIMUM, "Maximum")                                        \
    X(27, NEGATE, "Negate")                                          \
    X(28, SQUARE, "Square")                                          \
    X(29, ELU, "ELU")                                                \
    X(30, ABS, "Abs")                                                \
    X(31, PRELU, "PReLU")                                            \
    X(32, CONCATENATE_2, "Concatenate2")                             \
    X(33, CONCATENATE_3, "Concatenate3")                             \
    X(34, CONCATENATE_4, "Concatenate4")                             \
    X(35, STATIC_SLICE, "StaticSlice")                               \
    X(36, SCALED_DOT_PRODUCT_ATTENTION, "ScaledDotProductAttention") \
    X(37, BATCH_MATRIX_MULTIPLY, "BatchMatrixMultiply")              \
    X(38, CONCATENATE_5, "Concatenate5")                             \
    X(39, CONV_TRANSPOSE_2D, "ConvTranspose2d")                      \
    X(40, RECIPROCAL_SQUARE_ROOT, "ReciprocalSquareRoot")            \
    X(41, LOG, "Log")                                                \
    X(42, GELU, "Gelu")                                              \
    X(43, TANH, "Tanh")                                              \
    X(44, EXP, "Exp")                                                \
    X(45, SIN, "Sin")                                                \
    X(46, COPY, "Copy")                                              \
    X(47, COS, "Cos")

typedef enum etp_xnn_type { // numbered as in the schema; other numbers are newer node types
    ETP_XNN_NONE,
#define ETP_XNN_NODE_ENUM(code, name, text) ETP_XNN_##name = (code),
    ETP_XNN_NODE_MAP(ETP_XNN_NODE_ENUM)
#undef ETP_XNN_NODE_ENUM
        ETP_XNN_TYPE_COUNT
} etp_xnn_type;

typedef enum etp_quant_kind { // numbered as in the schema
    ETP_QUANT_NONE,
    ETP_QUANT_PER_CHANNEL,
    ETP_QUANT_PER_TENSOR,
    ETP_QUANT_PER_TOKEN,        // dynamic
    ETP_QUANT_PER_CHANNEL_GROUP // block-wise
} etp_quant_kind;

typedef struct etp_quant {
    etp_quant_kind kind;
    float scale; // PER_TENSOR; as in the file, may be any float
    int32_t zero_point;
    int32_t channel_dim, group_size, n_nonbatch_dims;
    uint32_t n_scales;
    uint32_t scale_constant; // index of constants, 0 = scales are inline
    etp_i32s inline_scales;  // bit patterns of floats
} etp_quant;

typedef struct etp_xnn_value {
    uint32_t id; // what nodes refer to
    etp_dtype dtype;
    int datatype;         // the file's code
    etp_i32s dims;        // unsigned in the file; rank ≤ 16
    uint32_t constant;    // index of constants, 0 = not a constant
    uint32_t external_id; // index of the DelegateCall's args, ETP_XNN_NO_ID = internal
    uint32_t flags;       // bit 0 external input, bit 1 external output
    etp_quant quant;
} etp_xnn_value;

typedef struct etp_xnn_window { // convolutions and pooling
    uint32_t pad_top, pad_right, pad_bottom, pad_left;
    uint32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    uint32_t group_in, group_out, groups; // convolutions; channels per group
    uint32_t adjust_h, adjust_w;          // transposed convolution
} etp_xnn_window;

#define ETP_XNN_MAX_INPUTS 5

typedef struct etp_xnn_node {
    etp_xnn_type type;
    uint32_t
        inputs[ETP_XNN_MAX_INPUTS]; // value ids in schema order; bias and mask may be ETP_XNN_NO_ID
    uint8_t n_inputs, n_outputs;
    uint32_t outputs[2];
    uint32_t flags;
    uint32_t debug_handle; // ETP_XNN_NO_HANDLE = none
    bool has_min_max;
    float min, max;                 // fused activation; −inf…inf when absent
    float param;                    // LeakyReLU slope, ELU alpha, pad value
    uint32_t axis;                  // concatenation
    uint32_t new_height, new_width; // resize
    const etp_xnn_window *window;   // convolution and pooling, else NULL
    etp_i32s list, list2;           // perm | new shape | offsets, sizes | pre, post paddings
} etp_xnn_node;

typedef struct etp_xnn_constant {
    uint64_t size;
    etp_str key;    // name in named_data or a .ptd; empty when the bytes are in the payload
    etp_bytes data; // in the payload; len 0 otherwise
} etp_xnn_constant;

typedef struct etp_xnn_graph {
    bool has_header;    // XH00
    char identifier[5]; // "XN01" or "XN00"
    uint32_t n_externs;
    const etp_xnn_node *nodes; // execution order
    uint32_t n_nodes;
    const etp_xnn_value *values;
    uint32_t n_values;
    const etp_xnn_constant *constants; // entry 0 means "no constant"
    uint32_t n_constants;
    etp_i32s input_ids, output_ids;
    const uint32_t *index_by_id; // of values, ETP_XNN_NO_ID where there is none
    uint32_t n_ids;
    uint64_t flatbuffer_bytes, constant_bytes;
} etp_xnn_graph;

// Verifies the flatbuffer, every value id used by a node and every constant's range. Errors:
// ETP_CORRUPT with the byte position, ETP_UNSUPPORTED (neither XN00 nor XN01), ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_xnn_read(etp_bytes payload, etp_arena *arena,
                                              etp_xnn_graph *out, etp_error *err);
// Value with ID, or NULL. Constant time.
ETP_API const etp_xnn_value *etp_xnn_value_by_id(const etp_xnn_graph *graph, uint32_t id);
ETP_API const char *etp_xnn_type_name(int type); // "Conv2d"; NULL for unknown types

ETP_C_END

#endif
