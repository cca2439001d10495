// SPDX-License-Identifier: Apache-2.0
// Instruction sets of A64 code. The architecture gives SME and SVE encoding groups of their own
// (bits 28:25), so no disassembler is needed, and none has to know the newest extension.
#include "binary/code.h"

// Of the SME group, what the first version of the extension had. Everything else there came with
// SME2 or later: multi-vector instructions, ZT0, predicate-as-counter, newer outer products.
static bool is_sme1(uint32_t w)
{
    uint32_t top = w >> 24;
    if ((top & 0xde) == 0x80) { // outer products: 0x80, 0x81, 0xa0, 0xa1
        bool product = (w & 0x00800000) != 0 && (w & 0x00000008) == 0;
        bool float8 = (w & 0xffe00000) == 0x80a00000;
        return product && !float8;
    }
    bool move = (w & 0xff3c0000) == 0xc0000000;  // between a tile slice and a vector
    bool zero = (w & 0xffffff00) == 0xc0080000;  // ZERO {tiles}
    bool add = (w & 0xffbe0000) == 0xc0900000;   // ADDHA, ADDVA
    bool slice = top == 0xe0;                    // LD1, ST1 of a tile slice
    bool quad = (w & 0xffc00000) == 0xe1c00000;  // the same for 128-bit elements
    bool array = (w & 0xffdf8000) == 0xe1000000; // LDR, STR of an array vector
    return move || zero || add || slice || quad || array;
}

static bool is_dotprod(uint32_t w)
{
    bool vector = (w & 0x9fe0fc00) == 0x0e809400;  // SDOT, UDOT
    bool element = (w & 0x9fc0f400) == 0x0f80e000; // by element
    return vector || element;
}

static bool is_i8mm(uint32_t w)
{
    bool product =
        (w & 0xdfe0fc00) == 0x4e80a400 || (w & 0xffe0fc00) == 0x4e80ac00; // SMMLA UMMLA USMMLA
    bool mixed = (w & 0xbfe0fc00) == 0x0e809c00 || (w & 0xbf40f400) == 0x0f00f000;  // USDOT SUDOT
    bool bfloat = (w & 0xffe0fc00) == 0x6e40ec00 || (w & 0xbfe0fc00) == 0x2e40fc00; // BFMMLA BFDOT
    return product || mixed || bfloat;
}

etp_code etp_code_of_a64(uint32_t w)
{
    uint32_t group = w >> 25 & 15;
    if (group == 0) {
        if ((w & 0x80000000) == 0) {
            return ETP_CODE_SCALAR; // UDF
        }
        return is_sme1(w) ? ETP_CODE_SME : ETP_CODE_SME2;
    }
    if (group == 2) {
        return ETP_CODE_SVE;
    }
    if (is_i8mm(w)) {
        return ETP_CODE_I8MM;
    }
    if (is_dotprod(w)) {
        return ETP_CODE_DOTPROD;
    }
    // Vectors proper; scalar floating point shares the group but is 0x1e…, 0x1f….
    return group == 7 && (w & 0x80000000) == 0 ? ETP_CODE_NEON : ETP_CODE_SCALAR;
}
