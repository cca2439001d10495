// SPDX-License-Identifier: Apache-2.0
// Where control goes after an instruction; for this room alone.
#ifndef ETP_BINARY_FLOW_H
#define ETP_BINARY_FLOW_H

#include "binary/image.h"
#include "binary/x86_reader.h"

typedef enum etp_flow_kind {
    ETP_FLOW_NONE,     // no instruction, or cut off
    ETP_FLOW_NEXT,     // to the next one; calls too
    ETP_FLOW_CALL,     // there and back again
    ETP_FLOW_BRANCH,   // to its target or to the next one
    ETP_FLOW_JUMP,     // to its target
    ETP_FLOW_AWAY,     // return, trap
    ETP_FLOW_INDIRECT, // jump through a register or memory: a call in the place of a return, or a
                       // table of cases
    ETP_FLOW_PADDING,  // does nothing: what fills the room between functions
} etp_flow_kind;

typedef struct etp_flow {
    etp_flow_kind kind;
    size_t length;
    int64_t distance; // CALL, BRANCH and JUMP: from this instruction to the target
} etp_flow;

// The A64 instruction W.
etp_flow etp_flow_a64(uint32_t w);
// The instruction that CODE begins with.
etp_flow etp_flow_x86(etp_x86_reader *reader, const uint8_t *code, size_t len);

#endif
