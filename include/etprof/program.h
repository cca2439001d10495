// SPDX-License-Identifier: Apache-2.0
// An ExecuTorch program as a graph: methods → instructions → kernel calls and partitions
// (delegates) → nodes. <etprof/join.h> joins a recording to it.
//
// Work (MACs, operations, ideal bytes) is computed from the shapes in the file. Shapes that do not
// fit together give `problem`, never a number. For tensors of bounded dynamic shape the sizes are
// the upper bounds, and so is the work (`bound`).
//
// Ownership: everything borrows from the etp_program, which borrows from the bytes it was opened
// on; both must outlive what is used. Thread rule: immutable after open, any number of readers.
#ifndef ETPROF_PROGRAM_H
#define ETPROF_PROGRAM_H

#include <etprof/etrecord.h>
#include <etprof/pte.h>
#include <etprof/xnnpack.h>

ETP_C_BEGIN

#define ETP_BYTES_UNKNOWN UINT64_MAX

typedef struct etp_value {
    etp_evalue_kind kind; // values of a partition are always ETP_EVALUE_TENSOR
    etp_dtype dtype;
    const int64_t *dims;
    uint32_t rank;
    bool dynamic;         // dims are upper bounds
    bool constant;        // weights and other data of the file
    uint64_t bytes;       // storage of the tensor; ETP_BYTES_UNKNOWN when it cannot be said
    uint64_t scale_bytes; // of its quantisation scales that are kept as data, else 0
    etp_quant quant;
    etp_str name;      // key of named data or fully qualified name; empty when none
    uint32_t id;       // EValue index, or id in the payload
    uint32_t external; // partition values: position in the delegate call's args, else ETP_NO_INDEX
    bool sized; // dims are those of the call that a program was opened for; the file has bounds
} etp_value;

typedef struct etp_work {
    bool known;          // macs, ops and bytes are valid
    bool bound;          // from upper bounds of dynamic shapes
    uint64_t macs;       // convolution, fully connected, matrix multiply, attention
    uint64_t ops;        // other arithmetic (elementwise, reductions, interpolation)
    uint64_t bytes;      // every operand and result moved once
    const char *problem; // why not known; NULL when the operator is simply not in the table
} etp_work;

typedef struct etp_node {
    uint32_t index;                   // in the payload and in etp_partition.nodes
    int type;                         // etp_xnn_type or a newer number
    etp_str type_name;                // "Conv2d"; "type 48" for unknown ones
    const uint32_t *inputs, *outputs; // indices of etp_partition.values
    uint32_t n_inputs, n_outputs;
    uint64_t weight_bytes; // constants among the inputs, with their scales
    etp_work work;
    int64_t debug_handle; // −1 when none
    const etp_xnn_node *xnn;
} etp_node;

typedef struct etp_partition { // one delegate of a method
    uint32_t index;            // in the method's delegates
    etp_str backend;           // "XnnpackBackend"
    etp_bytes blob;
    const etp_pte_delegate *delegate; // compile specs
    uint32_t same_blob_as; // first partition of the program (counted over all methods) with the
                           // same bytes; its own number when it is the first
    uint32_t number;       // counted over all methods
    const etp_xnn_graph *graph; // NULL when the backend is not XNNPACK or the blob is unreadable
    const char *problem;        // why an XNNPACK blob was not read, else NULL
    const etp_value *values;
    uint32_t n_values;
    const etp_node *nodes;
    uint32_t n_nodes;
    uint64_t macs;         // Σ of nodes with known work
    bool bound;            // macs are at most these
    uint64_t weight_bytes; // constants used by this partition, each once
    uint32_t n_unknown_work;
} etp_partition;

typedef struct etp_instruction {
    etp_instruction_kind kind;
    uint32_t chain, index;            // as in a recording's events
    etp_str op;                       // KERNEL: "aten::mean.out"; DELEGATE: the backend; else empty
    uint32_t partition;               // DELEGATE: index of etp_method.partitions, else ETP_NO_INDEX
    const uint32_t *inputs, *outputs; // KERNEL, DELEGATE: indices of etp_method.values
    uint32_t n_inputs, n_outputs;
    uint32_t target; // JUMP_FALSE: destination; MOVE: to; else 0
    etp_work work;   // KERNEL only; DELEGATE: see the partition
    uint64_t weight_bytes;
    const etp_pte_frames *frames; // source stack when the file has one, else NULL
} etp_instruction;

typedef struct etp_method {
    uint32_t index;
    etp_str name;
    const etp_pte_method *pte;
    const etp_value *values; // one per EValue, other kinds than tensors included
    uint32_t n_values;
    const uint32_t *inputs, *outputs; // indices of values
    uint32_t n_inputs, n_outputs;
    const etp_instruction *instructions; // all chains, in file order
    uint32_t n_instructions;
    uint32_t n_of_kind[ETP_INSTR_OTHER + 1];
    const etp_partition *partitions;
    uint32_t n_partitions;
    uint64_t macs;           // over instructions, a partition called twice counts twice
    uint32_t n_unknown_work; // kernel calls and nodes whose work is unknown
    bool bound;              // macs are at most these
} etp_method;

typedef struct etp_program {
    const etp_pte *pte;
    const etp_method *methods; // file order
    uint32_t n_methods;
    uint32_t n_partitions; // over all methods
} etp_program;

// Errors: ETP_CORRUPT with the byte position, ETP_UNSUPPORTED (not a .pte, newer version),
// ETP_NOMEM. A delegate blob that cannot be read is not an error: see etp_partition.problem.
ETP_API ETP_NODISCARD etp_status etp_program_open(etp_bytes bytes, const etp_allocator *alloc,
                                                  const etp_program **out, etp_error *err);
ETP_API void etp_program_close(const etp_program *program); // NULL is fine

// NULL: there is no method of exactly that name.
ETP_API const etp_method *etp_program_find_method(const etp_program *program, etp_str name);
// Index of etp_method.instructions, ETP_NO_INDEX when there is none.
ETP_API uint32_t etp_method_find_instruction(const etp_method *method, uint32_t chain,
                                             uint32_t index);

ETP_C_END

#endif
