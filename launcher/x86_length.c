// SPDX-License-Identifier: Apache-2.0
// How long is an x86-64 instruction? Enough of the opcode maps to walk over compiled code, so that
// bytes that look like `cpuid` inside an address or a constant are told from the instruction. The
// room `binary` asks capstone for that. This program links the C library alone, statically where it
// can, so that it starts on every device; the test launcher.lengths holds the two against each
// other.
#include "launch.h"

// What follows an opcode, one letter each:
//   .  nothing          m  ModRM              b  8-bit immediate     z  32-bit (16 with 66)
//   w  16-bit           B  ModRM + 8 bits     Z  ModRM + z           e  16 + 8 bits (enter)
//   v  z, or 64 with REX.W                    o  address (moffs)     j  32-bit displacement
//   t  ModRM, + b when its reg is 0 or 1      T  the same with z     !  no such instruction
static const char k_one[257] =
    "mmmmbz!!mmmmbz!!mmmmbz!!mmmmbz!!"  // 00, 10
    "mmmmbz!!mmmmbz!!mmmmbz!!mmmmbz!!"  // 20, 30; prefixes are taken before
    "!!!!!!!!!!!!!!!!................"  // 40 (REX), 50
    "!!!m!!!!zZbB....bbbbbbbbbbbbbbbb"  // 60, 70
    "BZ!Bmmmmmmmmmmmm..........!....."  // 80, 90
    "oooo....bz......bbbbbbbbvvvvvvvv"  // A0, B0
    "BBw.!!BZe.w..b!.mmmm!!!.mmmmmmmm"  // C0, D0
    "bbbbbbbbjj!b..........tT......mm"; // E0, F0 with F2, F3 and F0 as prefixes

static const char k_two[257] = "mmmm!.....!.!m.Bmmmmmmmmmmmmmmmm"  // 00, 10
                               "mmmm!!!!mmmmmmmm......!.!!!!!!!!"  // 20, 30
                               "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"  // 40, 50
                               "mmmmmmmmmmmmmmmmBBBBmmm.mmmmmmmm"  // 60, 70
                               "jjjjjjjjjjjjjjjjmmmmmmmmmmmmmmmm"  // 80, 90
                               "...mBmmm...mBmmmmmmmmmmmmmBmmmmm"  // A0, B0
                               "mmBmBBBm........mmmmmmmmmmmmmmmm"  // C0, D0
                               "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"; // E0, F0

typedef struct cursor {
    const unsigned char *code;
    size_t at, left;
    bool operand16, address32, wide;
    bool bad;
} cursor;

static unsigned take(cursor *c)
{
    if (c->at >= c->left || c->at >= 15) { // no instruction is longer
        c->bad = true;
        return 0;
    }
    return c->code[c->at++];
}

static void skip(cursor *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void)take(c);
    }
}

// ModRM with SIB and displacement; returns the reg field.
static unsigned modrm(cursor *c)
{
    unsigned m = take(c), mod = m >> 6, rm = m & 7;
    if (mod == 3) {
        return m >> 3 & 7;
    }
    unsigned base = rm;
    if (rm == 4) {
        base = take(c) & 7;
    }
    if (mod == 1) {
        skip(c, 1);
    } else if (mod == 2 || (mod == 0 && base == 5)) {
        skip(c, 4);
    }
    return m >> 3 & 7;
}

static void operands(cursor *c, char kind)
{
    size_t z = c->operand16 ? 2 : 4;
    unsigned reg = 0;
    if (kind == 'm' || kind == 'B' || kind == 'Z' || kind == 't' || kind == 'T') {
        reg = modrm(c);
    }
    switch (kind) {
    case '.':
    case 'm':
        break;
    case 'b':
    case 'B':
        skip(c, 1);
        break;
    case 'z':
    case 'Z':
        skip(c, z);
        break;
    case 'w':
        skip(c, 2);
        break;
    case 'e':
        skip(c, 3);
        break;
    case 'j':
        skip(c, 4);
        break;
    case 'v':
        skip(c, c->wide ? 8 : z);
        break;
    case 'o':
        skip(c, c->address32 ? 4 : 8);
        break;
    case 't':
        skip(c, reg < 2 ? 1 : 0);
        break;
    case 'T':
        skip(c, reg < 2 ? z : 0);
        break;
    default:
        c->bad = true;
    }
}

// Opcode map of a VEX, EVEX or XOP instruction.
static void vector(cursor *c, unsigned map)
{
    unsigned op = take(c);
    switch (map) {
    case 1:
        operands(c, k_two[op] == 'j' ? 'm' : k_two[op]); // kmov and the like are where 0F has jcc
        break;
    case 3:
    case 8:
        operands(c, 'B');
        break;
    case 10:
        operands(c, 'm');
        skip(c, 4);
        break;
    default: // 2, 5, 6, 9
        operands(c, 'm');
    }
}

static void escaped(cursor *c)
{
    unsigned op = take(c);
    if (op == 0x38) {
        (void)take(c);
        operands(c, 'm');
    } else if (op == 0x3a) {
        (void)take(c);
        operands(c, 'B');
    } else if (op == 0x78 && c->operand16) { // extrq with two immediates
        operands(c, 'B');
        skip(c, 1);
    } else {
        operands(c, k_two[op]);
    }
}

static void opcode(cursor *c, unsigned op)
{
    unsigned next = c->at < c->left ? c->code[c->at] : 0;
    if (op == 0x0f) {
        escaped(c);
    } else if (op == 0xc5) {
        skip(c, 1);
        vector(c, 1);
    } else if (op == 0xc4 || (op == 0x8f && (next & 0x1f) >= 8)) {
        unsigned map = take(c) & 0x1f;
        skip(c, 1);
        vector(c, map);
    } else if (op == 0x62) {
        unsigned map = take(c) & 7;
        skip(c, 2);
        vector(c, map);
    } else {
        operands(c, k_one[op]);
    }
}

size_t x86_instruction_length(const unsigned char *code, size_t left)
{
    cursor c = {.code = code, .left = left};
    for (;;) {
        unsigned b = take(&c);
        switch (b) {
        case 0x66:
            c.operand16 = true;
            continue;
        case 0x67:
            c.address32 = true;
            continue;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0xf0:
        case 0xf2:
        case 0xf3:
            if (!c.bad) {
                continue;
            }
            return 0;
        default:
            break;
        }
        if (!c.bad && b >= 0x40 && b <= 0x4f) { // REX is the last prefix
            c.wide = (b & 8) != 0;
            b = take(&c);
        }
        if (c.wide) {
            c.operand16 = false; // REX.W wins over 66
        }
        if (!c.bad) {
            opcode(&c, b);
        }
        return c.bad ? 0 : c.at;
    }
}
