// SPDX-License-Identifier: Apache-2.0
// ExecuTorch programs (.pte, identifier ET12) as verified, typed views: exactly what the file says,
// without interpretation (program.h gives it meaning).
//
// etp_pte_read verifies the whole flatbuffer once; every index that refers to another array of the
// file (values, operators, delegates, segments) is in range afterwards. Segment contents (weights,
// delegate blobs) are located but never touched.
//
// Ownership: arrays live in the caller's arena; strings, vectors and segments borrow from the
// file's bytes. Both must outlive the etp_pte. Thread rule: immutable after reading.
#ifndef ETPROF_PTE_H
#define ETPROF_PTE_H

#include <etprof/arena.h>
#include <etprof/bytes.h>
#include <etprof/dtype.h>
#include <etprof/error.h>

ETP_C_BEGIN

#define ETP_PTE_NO_SEGMENT UINT32_MAX

// Little-endian numbers in the file; alignment is not promised, hence the getters.
typedef struct etp_i32s {
    const uint8_t *le;
    uint32_t n;
} etp_i32s;
typedef struct etp_64s { // int64, uint64 or double, by context
    const uint8_t *le;
    uint32_t n;
} etp_64s;

static inline int32_t etp_i32_at(etp_i32s v, size_t i)
{
    return (int32_t)etp_load_u32(v.le + 4 * i);
}
static inline uint64_t etp_u64_at(etp_64s v, size_t i)
{
    return etp_load_u64(v.le + 8 * i);
}
static inline double etp_f64_at(etp_64s v, size_t i)
{
    uint64_t bits = etp_u64_at(v, i);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

typedef enum etp_evalue_kind { // numbered as in the file
    ETP_EVALUE_NONE,           // no union member set (not written by exporters)
    ETP_EVALUE_NULL,
    ETP_EVALUE_INT,
    ETP_EVALUE_BOOL,
    ETP_EVALUE_DOUBLE,
    ETP_EVALUE_TENSOR,
    ETP_EVALUE_STRING,
    ETP_EVALUE_INT_LIST,
    ETP_EVALUE_DOUBLE_LIST,
    ETP_EVALUE_BOOL_LIST,
    ETP_EVALUE_TENSOR_LIST,
    ETP_EVALUE_OPTIONAL_TENSOR_LIST,
    ETP_EVALUE_OTHER // a newer kind
} etp_evalue_kind;

typedef enum etp_dynamism {
    ETP_SHAPE_STATIC,
    ETP_SHAPE_DYNAMIC_BOUND, // sizes are upper bounds
    ETP_SHAPE_DYNAMIC_UNBOUND
} etp_dynamism;

typedef enum etp_pte_data_location {
    ETP_PTE_DATA_PLANNED,  // in a memory-planned arena (memory_id, memory_offset)
    ETP_PTE_DATA_CONSTANT, // constant segment or constant buffer, `data`
    ETP_PTE_DATA_MUTABLE,  // planned, initial contents from the mutable segment, `data`
    ETP_PTE_DATA_EXTERNAL, // in a .ptd by `fqn`
    ETP_PTE_DATA_NONE      // given by the caller at run time
} etp_pte_data_location;

typedef struct etp_pte_tensor {
    etp_dtype dtype;
    int scalar_type; // the file's code
    int32_t storage_offset;
    etp_i32s sizes;    // rank ≤ 16, each ≥ 0
    etp_str dim_order; // one byte per dimension, may be empty
    etp_dynamism dynamism;
    etp_pte_data_location location;
    uint32_t data_buffer_index;
    bool has_allocation;
    uint32_t memory_id; // of non_const_buffer_sizes
    uint64_t memory_offset;
    etp_str fqn;     // fully qualified name, may be empty
    etp_bytes data;  // constants that are in this file; else len 0
    uint64_t nbytes; // product of sizes × element size; UINT64_MAX when it overflows or the type is
                     // unknown
} etp_pte_tensor;

typedef struct etp_evalue {
    etp_evalue_kind kind;
    uint8_t code; // the file's union code
    union {
        int64_t i;
        bool b;
        double d;
        etp_str s;        // STRING; BOOL_LIST: one byte per item
        etp_64s list;     // INT_LIST, DOUBLE_LIST: int64 / double items
        etp_i32s tensors; // TENSOR_LIST, OPTIONAL_TENSOR_LIST: EValue indices, −1 = none
        const etp_pte_tensor *tensor;
    } u;
} etp_evalue;

typedef enum etp_instruction_kind { // numbered as in the file
    ETP_INSTR_NONE,
    ETP_INSTR_KERNEL,
    ETP_INSTR_DELEGATE,
    ETP_INSTR_MOVE,
    ETP_INSTR_JUMP_FALSE,
    ETP_INSTR_FREE,
    ETP_INSTR_OTHER // a newer kind
} etp_instruction_kind;

typedef struct etp_pte_instruction {
    etp_instruction_kind kind;
    uint32_t
        index; // KERNEL: operator; DELEGATE: delegate; MOVE: from; JUMP: condition; FREE: value
    uint32_t target; // MOVE: to; JUMP: destination instruction
    etp_i32s args;   // KERNEL, DELEGATE: EValue indices
} etp_pte_instruction;

typedef struct etp_pte_frame {
    etp_str file, name, context;
    int32_t line;
} etp_pte_frame;

typedef struct etp_pte_frames {
    const etp_pte_frame *items; // outermost first, as written
    uint32_t n;
} etp_pte_frames;

typedef struct etp_pte_chain {
    etp_i32s inputs, outputs;
    const etp_pte_instruction *instructions;
    uint32_t n_instructions;
    const etp_pte_frames *stacktraces; // one per instruction, NULL when the file has none
} etp_pte_chain;

typedef struct etp_pte_operator {
    etp_str name, overload; // "aten::add", "out"
} etp_pte_operator;

typedef struct etp_pte_compile_spec {
    etp_str key;
    etp_bytes value;
} etp_pte_compile_spec;

typedef struct etp_pte_delegate {
    etp_str id;          // "XnnpackBackend"
    bool in_segment;     // false: inside the flatbuffer
    uint32_t data_index; // of segments or inline_data
    etp_bytes data;      // the blob
    const etp_pte_compile_spec *specs;
    uint32_t n_specs;
} etp_pte_delegate;

typedef struct etp_pte_method {
    etp_str name;
    etp_str input_spec, output_spec; // pytree descriptions, may be empty
    const etp_evalue *values;
    uint32_t n_values;
    etp_i32s inputs, outputs; // EValue indices
    const etp_pte_chain *chains;
    uint32_t n_chains;
    const etp_pte_operator *operators;
    uint32_t n_operators;
    const etp_pte_delegate *delegates;
    uint32_t n_delegates;
    etp_64s planned_bytes; // arena sizes (int64 ≥ 0); entry 0 is reserved
} etp_pte_method;

typedef enum etp_pte_segment_kind {
    ETP_PTE_SEGMENT_OTHER, // referred to by nothing
    ETP_PTE_SEGMENT_CONSTANT,
    ETP_PTE_SEGMENT_MUTABLE,
    ETP_PTE_SEGMENT_DELEGATE,
    ETP_PTE_SEGMENT_NAMED // named data: weights of delegates and external tensors
} etp_pte_segment_kind;

typedef struct etp_pte_segment {
    etp_pte_segment_kind kind;
    uint64_t offset; // from the start of the file
    etp_bytes data;
    uint32_t users; // delegates or names that refer to it; > 1 = shared
} etp_pte_segment;

typedef struct etp_pte_named_data {
    etp_str key;
    uint32_t segment;
} etp_pte_named_data;

typedef struct etp_pte {
    uint64_t file_size;
    uint32_t version;
    bool has_extended_header;
    uint64_t program_size;         // flatbuffer incl. headers
    uint64_t segment_base_offset;  // 0 = none
    uint64_t segment_data_size;    // 0 when the header does not say
    const etp_pte_method *methods; // file order (alphabetical as written by the exporter)
    uint32_t n_methods;
    const etp_pte_segment *segments;
    uint32_t n_segments;
    const etp_pte_named_data *named_data;
    uint32_t n_named_data;
    uint32_t n_inline_data; // delegate blobs inside the flatbuffer
    uint64_t inline_bytes;
    uint32_t n_constant_buffers; // deprecated form: constants inside the flatbuffer
    uint32_t constant_segment;   // ETP_PTE_NO_SEGMENT when none
} etp_pte;

// True when BYTES start like a .pte; decides nothing about validity.
ETP_API bool etp_pte_probe(etp_bytes bytes);
// Errors: ETP_CORRUPT with the byte position, ETP_UNSUPPORTED (not a .pte, newer version),
// ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_pte_read(etp_bytes bytes, etp_arena *arena, etp_pte *out,
                                              etp_error *err);
// Segment of the named data KEY, or ETP_PTE_NO_SEGMENT.
ETP_API uint32_t etp_pte_find_named(const etp_pte *pte, etp_str key);
ETP_API const char *etp_pte_segment_kind_name(etp_pte_segment_kind kind);

ETP_C_END

#endif
