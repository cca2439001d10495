// SPDX-License-Identifier: Apache-2.0
// One x86-64 instruction after the other: how long each is. capstone knows it for the old
// encodings; VEX and EVEX are regular, and newer than some capstones.
#include "binary/x86_reader.h"

// Length of a VEX or EVEX instruction: prefix and opcode, ModRM with what it asks for, one
// immediate byte in map 3 and for a few opcodes of map 1. 0: neither, or cut off.
static size_t vector_length(const uint8_t *p, size_t len)
{
    if (len < 6 && (len == 0 || p[0] == 0x62)) {
        return 0;
    }
    size_t head; // bytes before ModRM
    unsigned map;
    switch (p[0]) {
    case 0x62:
        head = 5;
        map = p[1] & 7;
        break;
    case 0xc4:
        head = 4;
        map = len > 1 ? p[1] & 31 : 0;
        break;
    case 0xc5:
        head = 3;
        map = 1;
        break;
    default:
        return 0;
    }
    if (len < head) {
        return 0;
    }
    unsigned opcode = p[head - 1];
    if (p[0] != 0x62 && map == 1 && opcode == 0x77) { // VZEROUPPER has no ModRM
        return head;
    }
    if (len < head + 2 && (len < head + 1 || (p[head] >> 6 != 3 && (p[head] & 7) == 4))) {
        return 0;
    }
    unsigned mod = p[head] >> 6, rm = p[head] & 7;
    size_t n = head + 1;
    if (mod != 3 && rm == 4) {
        n += mod == 0 && (p[n] & 7) == 5 ? 5 : 1;
    } else if (mod == 0 && rm == 5) {
        n += 4;
    }
    static const uint8_t k_displacement[] = {0, 1, 4, 0};
    n += k_displacement[mod];
    bool immediate =
        map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
                                  (opcode >= 0xc4 && opcode <= 0xc6)));
    n += immediate;
    return n <= len ? n : 0;
}

etp_status etp_x86_reader_open(etp_x86_reader *reader, etp_error *err)
{
    *reader = (etp_x86_reader){0};
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &reader->handle) != CS_ERR_OK) {
        return etp_fail(err, ETP_ENVIRONMENT, "capstone has no x86 support");
    }
    reader->open = true;
    reader->scratch = cs_malloc(reader->handle);
    if (!reader->scratch) {
        etp_x86_reader_close(reader);
        return etp_fail_nomem(err, "disassembler");
    }
    return ETP_OK;
}

void etp_x86_reader_close(etp_x86_reader *reader)
{
    if (reader->scratch) {
        cs_free(reader->scratch, 1);
    }
    if (reader->open) {
        cs_close(&reader->handle);
    }
    *reader = (etp_x86_reader){0};
}

size_t etp_x86_length(etp_x86_reader *reader, const uint8_t *code, size_t len)
{
    size_t n = vector_length(code, len);
    if (n > 0 || len == 0 || code[0] == 0x62 || code[0] == 0xc4 || code[0] == 0xc5) {
        return n;
    }
    const uint8_t *next = code;
    size_t rest = len;
    uint64_t address = 0;
    return cs_disasm_iter(reader->handle, &next, &rest, &address, reader->scratch) ? len - rest : 0;
}
