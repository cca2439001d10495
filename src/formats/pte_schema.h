// SPDX-License-Identifier: Apache-2.0
// ExecuTorch's program.fbs as tables for the verifier, and the field numbers to read with.
#ifndef ETP_FORMATS_PTE_SCHEMA_H
#define ETP_FORMATS_PTE_SCHEMA_H

#include "flatbuf/flatbuf.h"

extern const etp_fb_schema etp_pte_schema;
extern const etp_fb_schema etp_data_segment_schema; // shared with flat tensor files

// Ids are places of fields in their tables: program.fbs gives no explicit ones.
enum {
    PROGRAM_VERSION,
    PROGRAM_PLANS,
    PROGRAM_CONSTANT_BUFFER,
    PROGRAM_INLINE_DATA,
    PROGRAM_SEGMENTS,
    PROGRAM_CONSTANT_SEGMENT,
    PROGRAM_MUTABLE_SEGMENTS,
    PROGRAM_NAMED_DATA
};
enum {
    PLAN_NAME,
    PLAN_META,
    PLAN_VALUES,
    PLAN_INPUTS,
    PLAN_OUTPUTS,
    PLAN_CHAINS,
    PLAN_OPERATORS,
    PLAN_DELEGATES,
    PLAN_BUFFER_SIZES
};
enum { META_INPUTS, META_OUTPUTS };
enum { CHAIN_INPUTS, CHAIN_OUTPUTS, CHAIN_INSTRUCTIONS, CHAIN_STACKTRACE };
enum { UNION_TYPE, UNION_VALUE }; // Instruction, EValue, and every other table that is one union
enum { CALL_INDEX, CALL_ARGS };   // KernelCall, DelegateCall
enum { MOVE_FROM, MOVE_TO };
enum { JUMP_CONDITION, JUMP_DESTINATION };
enum { FRAME_FILE, FRAME_LINE, FRAME_NAME, FRAME_CONTEXT };
enum { OPERATOR_NAME, OPERATOR_OVERLOAD };
enum {
    TENSOR_SCALAR_TYPE,
    TENSOR_STORAGE_OFFSET,
    TENSOR_SIZES,
    TENSOR_DIM_ORDER,
    TENSOR_REQUIRES_GRAD,
    TENSOR_DATA_BUFFER,
    TENSOR_ALLOCATION,
    TENSOR_LAYOUT,
    TENSOR_DYNAMISM,
    TENSOR_EXTRA
};
enum { ALLOCATION_ID, ALLOCATION_LOW, ALLOCATION_HIGH };
enum { EXTRA_MUTABLE_SEGMENT, EXTRA_NAME, EXTRA_LOCATION };
enum { DELEGATE_ID, DELEGATE_PROCESSED, DELEGATE_SPECS };
enum { REFERENCE_LOCATION, REFERENCE_INDEX };
enum { SPEC_KEY, SPEC_VALUE };
enum { SEGMENT_OFFSET, SEGMENT_SIZE };
enum { SUBSEGMENT_INDEX, SUBSEGMENT_OFFSETS };
enum { NAMED_KEY, NAMED_SEGMENT };

#endif
