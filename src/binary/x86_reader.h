// SPDX-License-Identifier: Apache-2.0
// Lengths of x86-64 instructions, one after the other; for this room alone.
#ifndef ETP_BINARY_X86_READER_H
#define ETP_BINARY_X86_READER_H

#include <capstone.h>

#include <etprof/arena.h>

typedef struct etp_x86_reader {
    csh handle;
    cs_insn *scratch;
    bool open;
} etp_x86_reader;

ETP_NODISCARD etp_status etp_x86_reader_open(etp_x86_reader *reader, etp_error *err);
void etp_x86_reader_close(etp_x86_reader *reader);
// Bytes of the instruction that CODE begins with; 0: none, or cut off.
size_t etp_x86_length(etp_x86_reader *reader, const uint8_t *code, size_t len);

#endif
