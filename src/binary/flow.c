// SPDX-License-Identifier: Apache-2.0
// Control flow of single instructions, as far as it takes to see where functions end.
#include "binary/flow.h"

static int64_t sign_extend(uint64_t v, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return (int64_t)(v & (sign - 1)) - (int64_t)(v & sign);
}

etp_flow etp_flow_a64(uint32_t w)
{
    etp_flow f = {ETP_FLOW_NEXT, 4, 0};
    if (w == 0xd503201fu) { // nop
        f.kind = ETP_FLOW_PADDING;
    } else if ((w & 0x7c000000u) == 0x14000000u) { // b, bl
        f.kind = w >> 31 ? ETP_FLOW_CALL : ETP_FLOW_JUMP;
        f.distance = 4 * sign_extend(w & 0x3ffffffu, 26);
    } else if ((w & 0xff000000u) == 0x54000000u ||
               (w & 0x7e000000u) == 0x34000000u) { // b.cond, cbz, cbnz
        f.kind = ETP_FLOW_BRANCH;
        f.distance = 4 * sign_extend(w >> 5 & 0x7ffffu, 19);
    } else if ((w & 0x7e000000u) == 0x36000000u) { // tbz, tbnz
        f.kind = ETP_FLOW_BRANCH;
        f.distance = 4 * sign_extend(w >> 5 & 0x3fffu, 14);
    } else if ((w & 0xfe000000u) == 0xd6000000u) { // br, blr, ret and their kin
        static const etp_flow_kind k_kinds[] = {ETP_FLOW_INDIRECT, ETP_FLOW_CALL, ETP_FLOW_AWAY,
                                                ETP_FLOW_AWAY};
        f.kind = k_kinds[w >> 21 & 3u];
    } else if ((w & 0xffe0001fu) == 0xd4200000u || w >> 16 == 0) { // brk, udf
        f.kind = ETP_FLOW_AWAY;
    }
    return f;
}

static int64_t load_distance(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = bytes; i > 0; i--) {
        v = v << 8 | p[i - 1];
    }
    return sign_extend(v, (unsigned)(8 * bytes));
}

static etp_flow goes(etp_flow_kind kind, const uint8_t *code, size_t length, size_t bytes)
{
    return (etp_flow){kind, length, (int64_t)length + load_distance(code + length - bytes, bytes)};
}

etp_flow etp_flow_x86(etp_x86_reader *reader, const uint8_t *code, size_t len)
{
    size_t n = etp_x86_length(reader, code, len);
    etp_flow f = {n ? ETP_FLOW_NEXT : ETP_FLOW_NONE, n, 0};
    // Prefixes that change nothing about where control goes.
    size_t at = 0;
    while (at < n && (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 ||
                      code[at] == 0x2e || code[at] == 0x3e || (code[at] & 0xf0) == 0x40)) {
        at++;
    }
    if (at == n) {
        return f;
    }
    uint8_t op = code[at], second = at + 1 < n ? code[at + 1] : 0;
    bool two = op == 0x0f;
    if ((op == 0x90 && (at == 0 || code[0] != 0xf3)) || op == 0xcc || (two && second == 0x1f)) {
        f.kind = ETP_FLOW_PADDING; // nop, int3, nop of several bytes; pause works
    } else if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3)) { // jcc, loop, jrcxz
        f = goes(ETP_FLOW_BRANCH, code, n, 1);
    } else if (two && (second & 0xf0) == 0x80 && n >= at + 6) { // jcc
        f = goes(ETP_FLOW_BRANCH, code, n, 4);
    } else if (op == 0xeb) {
        f = goes(ETP_FLOW_JUMP, code, n, 1);
    } else if ((op == 0xe9 || op == 0xe8) && n >= at + 5) {
        f = goes(op == 0xe9 ? ETP_FLOW_JUMP : ETP_FLOW_CALL, code, n, 4);
    } else if (op == 0xff && (second >> 3 & 7) >= 2 &&
               (second >> 3 & 7) <= 5) { // call and jump through memory or a register
        f.kind = (second >> 3 & 7) <= 3 ? ETP_FLOW_CALL : ETP_FLOW_INDIRECT;
    } else if (op == 0xc3 || op == 0xc2 || op == 0xf4 || (two && second == 0x0b)) { // ret, hlt, ud2
        f.kind = ETP_FLOW_AWAY;
    }
    return f;
}
