// SPDX-License-Identifier: Apache-2.0
// XNNPACK's schema.fbs (of ExecuTorch's backend) as tables for the verifier, and how the fields of
// each node type map to etp_xnn_node.
#ifndef ETP_FORMATS_XNNPACK_SCHEMA_H
#define ETP_FORMATS_XNNPACK_SCHEMA_H

#include <etprof/xnnpack.h>

#include "flatbuf/flatbuf.h"

extern const etp_fb_schema etp_xnn_schema;

enum {
    GRAPH_VERSION,
    GRAPH_NODES,
    GRAPH_VALUES,
    GRAPH_EXTERNS,
    GRAPH_INPUTS,
    GRAPH_OUTPUTS,
    GRAPH_OLD_CONSTANTS,
    GRAPH_OLD_SIZES,
    GRAPH_CONSTANTS
};
enum { NODE_TYPE, NODE_BODY, NODE_HANDLE, NODE_MIN_MAX };
enum { VALUE_TYPE, VALUE_BODY };
enum { VALUE_PLAIN = 1, VALUE_QUANTISED = 2 }; // types of XValueUnion
enum { TV_DATATYPE, TV_RANK, TV_DIMS, TV_CONSTANT, TV_EXTERNAL, TV_FLAGS, TV_ID };
enum { QV_TENSOR, QV_TYPE, QV_PARAMS };
enum { PER_TENSOR_SCALE, PER_TENSOR_ZERO };
enum { PER_CHANNEL_SCALES, PER_CHANNEL_DIM, PER_CHANNEL_BUFFER, PER_CHANNEL_N };
enum { GROUP_SCALES, GROUP_DIM, GROUP_SIZE, GROUP_OLD_SCALES, GROUP_BUFFER, GROUP_N };
enum { CONSTANT_OFFSET, CONSTANT_SIZE, CONSTANT_KEY };

#define ETP_XNN_NO_FIELD 0xff

// Almost fifty node types share thirteen tables (one for all unary operators, one for all
// convolutions …). What differs is where inputs, outputs and parameters stand, and that is what a
// layout tells, so that one function reads every type.
typedef struct etp_xnn_layout { // field numbers of one kind of node table
    uint8_t n_inputs, inputs[ETP_XNN_MAX_INPUTS];
    uint8_t optional; // bit i: input i may be absent
    uint8_t n_outputs, outputs[2];
    uint8_t flags;
    uint8_t list, list2, param, axis, new_size; // ETP_XNN_NO_FIELD when not there
    uint8_t window; // number of window fields from field 0, in the order of etp_xnn_window
} etp_xnn_layout;

// NULL for types this build does not know.
const etp_xnn_layout *etp_xnn_layout_of(uint8_t type);

#endif
