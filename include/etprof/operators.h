// SPDX-License-Identifier: Apache-2.0
// What an operator's name says: family, layout, data types, kind of micro-kernel; and from the
// family, by one table, the category. Understands XNNPACK's display names, the kernels of
// ExecuTorch ("native_call_addmm.out") and graph targets ("aten.addmm.default", "XNNConv2d").
//
// What a name proves about the CPU features behind it is another question: see the isa room.
//
// Ownership: every string of an etp_op_name borrows from the name that was parsed, except `note`
// (static). Thread rule: pure functions.
#ifndef ETPROF_OPERATORS_H
#define ETPROF_OPERATORS_H

#include <etprof/bytes.h>
#include <etprof/error.h>

ETP_C_BEGIN

// The order in which reports list categories. X(enum, text, the five of Arm's kit)
#define ETP_CATEGORY_MAP(X)                          \
    X(CONVOLUTION, "Convolution", CONV)              \
    X(GEMM, "GEMM", GEMM)                            \
    X(ATTENTION, "Attention", GEMM)                  \
    X(DATA_MOVEMENT, "Data movement", DATA_MOVEMENT) \
    X(QUANTIZE, "Quantize/convert", DATA_MOVEMENT)   \
    X(ELEMENTWISE, "Elementwise", ELEMENTWISE)       \
    X(ACTIVATION, "Activation", ELEMENTWISE)         \
    X(NORMALIZATION, "Normalization", ELEMENTWISE)   \
    X(POOLING, "Pooling", OTHER)                     \
    X(REDUCTION, "Reduction", OTHER)                 \
    X(RESIZE, "Resize", OTHER)                       \
    X(EMBEDDING, "Embedding", OTHER)                 \
    X(SEARCH, "Sort/search", OTHER)                  \
    X(FILL, "Fill", OTHER)                           \
    X(CONTROL, "Control flow", OTHER)                \
    X(OTHER, "Other", OTHER)                         \
    X(UNLOGGED, "Not logged", OTHER)

typedef enum etp_category {
#define ETP_CATEGORY_ENUM(name, text, five) ETP_CATEGORY_##name,
    ETP_CATEGORY_MAP(ETP_CATEGORY_ENUM)
#undef ETP_CATEGORY_ENUM
        ETP_CATEGORY_COUNT
} etp_category;

typedef enum etp_kit_category {
    ETP_KIT_CATEGORY_CONV,
    ETP_KIT_CATEGORY_GEMM,
    ETP_KIT_CATEGORY_DATA_MOVEMENT,
    ETP_KIT_CATEGORY_ELEMENTWISE,
    ETP_KIT_CATEGORY_OTHER,
    ETP_KIT_CATEGORY_COUNT
} etp_kit_category;

ETP_API const char *etp_category_name(etp_category category); // "Data movement"
ETP_API etp_kit_category etp_kit_category_of(etp_category category);
// Operators that multiply and accumulate: convolutions, products of matrices, attention.
ETP_API bool etp_category_multiplies(etp_category category);
ETP_API const char *
etp_kit_category_name(etp_kit_category category); // "CONV", "GEMM", "Data Movement", …
// The category of that exact text, ETP_CATEGORY_COUNT when there is none.
ETP_API etp_category etp_category_find(etp_str name);

typedef enum etp_op_kind {
    ETP_OP_NAMED,   // neither of the others: a user's event, another backend's operator, a target
    ETP_OP_XNNPACK, // "Family (LAYOUT, TYPES…) UKERNEL #k"
    ETP_OP_KERNEL   // "native_call_name.overload"
} etp_op_kind;

#define ETP_OP_MAX_DTYPES 4

typedef struct etp_op_name {
    etp_op_kind kind;
    etp_str base;     // the name without its counter: "Add (ND)"
    etp_str family;   // "Convolution", "addmm", "_softmax"; never empty unless the name is
    etp_str overload; // kernels and targets: "out", "Scalar_out"; empty when there is none
    etp_str layout;   // "NHWC", "NC", "ND"; empty when there is none
    etp_str dtypes[ETP_OP_MAX_DTYPES]; // "PF32", or "QD8", "F32", "QC8W"
    size_t n_dtypes;
    etp_str ukernel;       // "IGEMM", "DWConv", "Reduce2"; empty when there is none
    uint32_t counter;      // k of " #k", 0 when there is none
    etp_category category; // ETP_CATEGORY_OTHER also for what the table does not know
    bool known;            // the family is in the table
    const char *note;      // NULL, or what a reader should know about this family
} etp_op_name;

// Never fails: a name that fits no pattern is its own family.
ETP_API void etp_op_parse(etp_str name, etp_op_name *out);
// Short for parse(...).category.
ETP_API etp_category etp_op_category(etp_str name);

// The part of a name that stays when the instruction set changes: family and layout, without data
// types, micro-kernel and counter, so that "Convolution (NHWC, PF32) IGEMM #3" and
// "Convolution (NHWC, F32) IGEMM #3" are both "Convolution (NHWC)"; a kernel's family and overload
// ("addmm.out"). Writes at most cap bytes with the NUL, returns the length it needs without it.
ETP_API size_t etp_op_key(const etp_op_name *op, char *buf, size_t cap);
// Whether two names have the same key; cheaper than writing both.
ETP_API bool etp_op_same_key(const etp_op_name *a, const etp_op_name *b);
// Draws random numbers ("aten::native_dropout.out"), so that its results differ at every call.
ETP_API bool etp_op_draws(etp_str name);
// A convolution that works channel by channel (the DWConv micro-kernel): never on the matrix unit.
ETP_API bool etp_op_is_depthwise(const etp_op_name *op);

ETP_C_END

#endif
