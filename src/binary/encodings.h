// SPDX-License-Identifier: Apache-2.0
// The table of encodings: which instruction set each belongs to. For this room and its tests.
#ifndef ETP_BINARY_ENCODINGS_H
#define ETP_BINARY_ENCODINGS_H

#include "binary/code.h"

// How an x86-64 instruction begins, behind its legacy prefixes.
typedef enum etp_x86_space { ETP_X86_LEGACY, ETP_X86_VEX, ETP_X86_EVEX } etp_x86_space;

// What of an x86-64 encoding selects its instruction.
typedef struct etp_x86_opcode {
    etp_x86_space space;
    uint8_t map;    // 1: 0F, 2: 0F38, 3: 0F3A, 4 to 7 as VEX and EVEX count them
    uint8_t prefix; // 0: none, 1: 66, 2: F3, 3: F2
    uint8_t opcode;
    bool wide;             // a vector longer than 128 bits
    bool register_operand; // ModRM names a register, not memory
} etp_x86_opcode;

etp_code etp_encoding_of_x86(const etp_x86_opcode *op);
etp_code etp_encoding_of_a64(uint32_t instruction);

#endif
