// SPDX-License-Identifier: Apache-2.0
// The table of encodings. Written from the opcode maps of Intel's and AMD's manuals and from the
// encoding diagrams of Arm's; the test `encodings` holds it against disassemblers.
#include "binary/encodings.h"

// ---- x86-64 ----

enum { NP = 1, P66 = 2, PF3 = 4, PF2 = 8, ANY = 15 }; // sets of prefixes
enum { ALL, WIDE, REGISTER };                         // which forms of the opcode

typedef struct x86_row {
    uint8_t space, map, prefixes, first, last, only;
    etp_code code;
} x86_row;

#define ROW(space, map, prefixes, first, last, only, code) \
    {ETP_X86_##space, map, prefixes, first, last, only, ETP_CODE_##code}

// The first row that fits decides.
static const x86_row k_x86[] = {
    // Vector registers in the two-byte map and its children, MMX included. Not those that only
    // count, move bits, encrypt or hash.
    ROW(LEGACY, 1, ANY, 0x10, 0x17, ALL, SSE),
    ROW(LEGACY, 1, ANY, 0x28, 0x2f, ALL, SSE),
    ROW(LEGACY, 1, ANY, 0x50, 0x76, ALL, SSE),
    ROW(LEGACY, 1, ANY, 0x78, 0x7f, ALL, SSE),
    ROW(LEGACY, 1, ANY, 0xc2, 0xc2, ALL, SSE),
    ROW(LEGACY, 1, ANY, 0xc4, 0xc6, ALL, SSE),
    ROW(LEGACY, 1, ANY, 0xd0, 0xfe, ALL, SSE),
    ROW(LEGACY, 2, ANY, 0x00, 0x7f, ALL, SSE),
    ROW(LEGACY, 2, P66, 0xcf, 0xcf, ALL, GFNI),
    ROW(LEGACY, 3, P66, 0xce, 0xcf, ALL, GFNI),
    ROW(LEGACY, 3, ANY, 0x08, 0x63, ALL, SSE),

    // VEX: what has no vector register, or says nothing about a kernel (VZEROUPPER).
    ROW(VEX, 1, ANY, 0x77, 0x77, ALL, SCALAR),
    ROW(VEX, 2, ANY, 0xe0, 0xef, ALL, SCALAR), // CMPccXADD
    ROW(VEX, 2, ANY, 0xf2, 0xf3, ALL, SCALAR), // BMI
    ROW(VEX, 2, ANY, 0xf5, 0xf7, ALL, SCALAR),
    ROW(VEX, 3, ANY, 0xf0, 0xf0, ALL, SCALAR),
    ROW(VEX, 7, ANY, 0x00, 0xff, ALL, SCALAR),
    // Mask registers of AVX-512.
    ROW(VEX, 1, ANY, 0x41, 0x4b, ALL, AVX512),
    ROW(VEX, 1, ANY, 0x90, 0x93, ALL, AVX512),
    ROW(VEX, 1, ANY, 0x98, 0x99, ALL, AVX512),
    ROW(VEX, 3, ANY, 0x30, 0x33, ALL, AVX512),
    // Tiles: set up, load and store; then products by what they multiply.
    ROW(VEX, 2, P66 | NP, 0x48, 0x48, ALL, AMX_TF32),
    ROW(VEX, 2, ANY, 0x49, 0x4b, ALL, AMX),
    ROW(VEX, 2, PF3, 0x5c, 0x5c, ALL, AMX_BF16),
    ROW(VEX, 2, PF2, 0x5c, 0x5c, ALL, AMX_FP16),
    ROW(VEX, 2, ANY, 0x5e, 0x5e, ALL, AMX_INT8),
    ROW(VEX, 2, NP | P66, 0x6c, 0x6c, ALL, AMX_FP16), // complex numbers of fp16
    ROW(VEX, 5, ANY, 0xfd, 0xfd, ALL, AMX_FP8),
    // Products of integers.
    ROW(VEX, 2, P66, 0x50, 0x53, ALL, AVX_VNNI),
    ROW(VEX, 2, NP | PF3 | PF2, 0x50, 0x51, ALL, AVX_VNNI_INT8),
    ROW(VEX, 2, NP | P66 | PF3, 0xd2, 0xd3, ALL, AVX_VNNI_INT16),
    ROW(VEX, 2, PF3, 0x72, 0x72, ALL, AVX_NE_CONVERT),
    ROW(VEX, 2, ANY, 0xb0, 0xb0, ALL, AVX_NE_CONVERT),
    ROW(VEX, 2, P66 | PF3, 0xb1, 0xb1, ALL, AVX_NE_CONVERT),
    ROW(VEX, 2, P66, 0xcf, 0xcf, ALL, GFNI),
    ROW(VEX, 3, P66, 0xce, 0xcf, ALL, GFNI),
    // Integers in vectors of 256 bits.
    ROW(VEX, 1, P66, 0x60, 0x6d, WIDE, AVX2),
    ROW(VEX, 1, P66 | PF3 | PF2, 0x70, 0x70, WIDE, AVX2),
    ROW(VEX, 1, P66, 0x71, 0x76, WIDE, AVX2),
    ROW(VEX, 1, P66, 0xd1, 0xd5, WIDE, AVX2),
    ROW(VEX, 1, P66, 0xd7, 0xe5, WIDE, AVX2),
    ROW(VEX, 1, P66, 0xe8, 0xef, WIDE, AVX2),
    ROW(VEX, 1, P66, 0xf1, 0xfe, WIDE, AVX2),
    ROW(VEX, 2, P66, 0x00, 0x0b, WIDE, AVX2),
    ROW(VEX, 2, P66, 0x1c, 0x1e, WIDE, AVX2),
    ROW(VEX, 2, P66, 0x20, 0x2b, WIDE, AVX2),
    ROW(VEX, 2, P66, 0x30, 0x35, WIDE, AVX2),
    ROW(VEX, 2, P66, 0x37, 0x40, WIDE, AVX2),
    ROW(VEX, 3, P66, 0x0e, 0x0f, WIDE, AVX2),
    ROW(VEX, 3, P66, 0x42, 0x42, WIDE, AVX2),
    ROW(VEX, 3, P66, 0x44, 0x44, WIDE, AVX2), // VPCLMULQDQ and VAES came later than AVX2
    ROW(VEX, 3, P66, 0x4c, 0x4c, WIDE, AVX2),
    ROW(VEX, 2, P66, 0xdc, 0xdf, WIDE, AVX2),
    ROW(VEX, 2, P66, 0x13, 0x13, ALL, F16C),
    ROW(VEX, 3, P66, 0x1d, 0x1d, ALL, F16C),
    ROW(VEX, 2, P66, 0x96, 0x9f, ALL, FMA),
    ROW(VEX, 2, P66, 0xa6, 0xaf, ALL, FMA),
    ROW(VEX, 2, P66, 0xb6, 0xbf, ALL, FMA),
    // New with AVX2 at either length, and FMA4; AVX-IFMA, SHA-512, SM3 and SM4 need it.
    ROW(VEX, 2, P66, 0x16, 0x16, ALL, AVX2),
    ROW(VEX, 2, P66, 0x18, 0x19, REGISTER, AVX2),
    ROW(VEX, 2, P66, 0x36, 0x36, ALL, AVX2),
    ROW(VEX, 2, P66, 0x45, 0x47, ALL, AVX2),
    ROW(VEX, 2, P66, 0x58, 0x5a, ALL, AVX2),
    ROW(VEX, 2, P66, 0x78, 0x79, ALL, AVX2),
    ROW(VEX, 2, P66, 0x8c, 0x8e, ALL, AVX2),
    ROW(VEX, 2, P66, 0x90, 0x93, ALL, AVX2),
    ROW(VEX, 2, P66, 0xb4, 0xb5, ALL, AVX2),
    ROW(VEX, 2, ANY, 0xcb, 0xcd, ALL, AVX2),
    ROW(VEX, 2, ANY, 0xd2, 0xda, ALL, AVX2),
    ROW(VEX, 3, P66, 0x00, 0x02, ALL, AVX2),
    ROW(VEX, 3, P66, 0x38, 0x39, ALL, AVX2),
    ROW(VEX, 3, P66, 0x46, 0x46, ALL, AVX2),
    ROW(VEX, 3, P66, 0x5c, 0x5f, ALL, AVX2),
    ROW(VEX, 3, P66, 0x68, 0x6f, ALL, AVX2),
    ROW(VEX, 3, P66, 0x78, 0x7f, ALL, AVX2),
    ROW(VEX, 3, P66, 0xde, 0xde, ALL, AVX2),
    ROW(VEX, 0, ANY, 0x00, 0xff, ALL, AVX),

    // EVEX: integer instructions that APX gave more registers, and tiles with them.
    ROW(EVEX, 4, ANY, 0x00, 0xff, ALL, SCALAR),
    ROW(EVEX, 7, ANY, 0x00, 0xff, ALL, SCALAR),
    ROW(EVEX, 2, ANY, 0xe0, 0xef, ALL, SCALAR),
    ROW(EVEX, 2, ANY, 0xf2, 0xf3, ALL, SCALAR),
    ROW(EVEX, 2, ANY, 0xf5, 0xf7, ALL, SCALAR),
    ROW(EVEX, 3, ANY, 0xf0, 0xf0, ALL, SCALAR),
    ROW(EVEX, 2, ANY, 0x49, 0x49, ALL, AMX),
    ROW(EVEX, 2, P66 | PF3 | PF2, 0x4a, 0x4b, ALL, AMX), // TILEMOVROW among them
    ROW(EVEX, 2, ANY, 0x6d, 0x6d, ALL, AMX),             // rows of a tile, converted
    ROW(EVEX, 3, ANY, 0x07, 0x07, ALL, AMX),
    ROW(EVEX, 3, ANY, 0x77, 0x77, ALL, AMX),
    // Products.
    ROW(EVEX, 2, P66, 0x50, 0x53, ALL, AVX512_VNNI),
    ROW(EVEX, 2, PF3, 0x52, 0x52, ALL, AVX512_BF16),
    ROW(EVEX, 2, PF3 | PF2, 0x72, 0x72, ALL, AVX512_BF16),
    ROW(EVEX, 2, NP | PF3 | PF2, 0x50, 0x51, ALL, AVX10_2),
    ROW(EVEX, 2, NP, 0x52, 0x52, ALL, AVX10_2), // fp16
    ROW(EVEX, 2, NP | P66 | PF3, 0xd2, 0xd3, ALL, AVX10_2),
    ROW(EVEX, 3, PF3, 0x42, 0x42, ALL, AVX10_2), // VMPSADBW
    ROW(EVEX, 2, P66, 0xcf, 0xcf, ALL, GFNI),
    ROW(EVEX, 3, P66, 0xce, 0xcf, ALL, GFNI),
    // AVX10.2: conversions to and from 8 bits, minima, comparisons, moves, SM4.
    ROW(EVEX, 2, P66, 0x67, 0x67, ALL, AVX10_2),
    ROW(EVEX, 2, NP | PF3 | PF2, 0x74, 0x74, ALL, AVX10_2),
    ROW(EVEX, 2, PF3 | PF2, 0xda, 0xda, ALL, AVX10_2),
    ROW(EVEX, 3, ANY, 0x52, 0x53, ALL, AVX10_2),
    ROW(EVEX, 1, PF3 | PF2, 0x2e, 0x2f, ALL, AVX10_2),
    ROW(EVEX, 1, P66, 0xd6, 0xd6, ALL, AVX512), // VMOVD of AVX10.2 differs in W alone
    ROW(EVEX, 5, NP | PF3 | PF2, 0x74, 0x74, ALL, AVX10_2),
    ROW(EVEX, 5, ANY, 0x18, 0x18, ALL, AVX10_2),
    ROW(EVEX, 5, ANY, 0x1b, 0x1b, ALL, AVX10_2),
    ROW(EVEX, 5, PF2, 0x1e, 0x1e, ALL, AVX10_2),
    ROW(EVEX, 5, PF3 | PF2 | P66, 0x2e, 0x2f, ALL, AVX10_2),
    ROW(EVEX, 5, P66, 0x51, 0x51, ALL, AVX10_2), // bf16 arithmetic
    ROW(EVEX, 5, P66, 0x58, 0x59, ALL, AVX10_2),
    ROW(EVEX, 5, P66, 0x5c, 0x5f, ALL, AVX10_2),
    ROW(EVEX, 5, ANY, 0x68, 0x6d, ALL, AVX10_2), // conversions that saturate
    ROW(EVEX, 5, PF3, 0x6e, 0x6e, ALL, AVX10_2),
    ROW(EVEX, 5, PF3, 0x7e, 0x7e, ALL, AVX10_2),
    ROW(EVEX, 5, ANY, 0x6f, 0x6f, ALL, AVX10_2),
    ROW(EVEX, 6, NP, 0x13, 0x13, ALL, AVX512_FP16),
    ROW(EVEX, 6, NP, 0x00, 0xff, ALL, AVX10_2), // bf16 arithmetic
    ROW(EVEX, 3, PF2, 0x08, 0x08, ALL, AVX10_2),
    ROW(EVEX, 3, PF2, 0x26, 0x26, ALL, AVX10_2),
    ROW(EVEX, 3, PF2, 0x56, 0x56, ALL, AVX10_2),
    ROW(EVEX, 3, PF2, 0x66, 0x66, ALL, AVX10_2),
    ROW(EVEX, 3, PF2, 0xc2, 0xc2, ALL, AVX10_2),
    // fp16: maps of its own, and those with an immediate byte.
    ROW(EVEX, 5, ANY, 0x00, 0xff, ALL, AVX512_FP16),
    ROW(EVEX, 6, ANY, 0x00, 0xff, ALL, AVX512_FP16),
    ROW(EVEX, 3, NP, 0x08, 0x08, ALL, AVX512_FP16),
    ROW(EVEX, 3, NP, 0x0a, 0x0a, ALL, AVX512_FP16),
    ROW(EVEX, 3, NP, 0x26, 0x27, ALL, AVX512_FP16),
    ROW(EVEX, 3, NP, 0x56, 0x57, ALL, AVX512_FP16),
    ROW(EVEX, 3, NP, 0x66, 0x67, ALL, AVX512_FP16),
    ROW(EVEX, 3, NP | PF3, 0xc2, 0xc2, ALL, AVX512_FP16),
    ROW(EVEX, 0, ANY, 0x00, 0xff, ALL, AVX512),
};

static bool fits(const x86_row *row, const etp_x86_opcode *op)
{
    bool form = row->only == ALL || (row->only == WIDE && op->wide) ||
                (row->only == REGISTER && op->register_operand);
    return row->space == op->space && (row->map == 0 || row->map == op->map) &&
           (row->prefixes >> op->prefix & 1) != 0 && op->opcode >= row->first &&
           op->opcode <= row->last && form;
}

etp_code etp_encoding_of_x86(const etp_x86_opcode *op)
{
    for (size_t i = 0; i < sizeof k_x86 / sizeof *k_x86; i++) {
        if (fits(&k_x86[i], op)) {
            return k_x86[i].code;
        }
    }
    return ETP_CODE_SCALAR;
}

// ---- A64 ----

typedef struct a64_row {
    uint32_t mask, value;
    etp_code code;
} a64_row;

// The first row that fits decides. The architecture gives SME and SVE groups of their own (bits
// 28:25), so that a disassembler need not know the newest extension.
static const a64_row k_a64[] = {
    // SME's group: what the first version had. The rest came with SME2 or later: multi-vector
    // instructions, ZT0, predicate-as-counter, newer outer products.
    {0x9e000000, 0x00000000, ETP_CODE_SCALAR }, // reserved: UDF
    {0xffe00000, 0x80a00000, ETP_CODE_SME2   }, // FMOPA of fp8
    {0xde800008, 0x80800000, ETP_CODE_SME    }, // outer products
    {0xff3e0010, 0xc0000000, ETP_CODE_SME    }, // MOVA of a vector to a tile slice
    {0xff3e0200, 0xc0020000, ETP_CODE_SME    }, // and back
    {0xffffff00, 0xc0080000, ETP_CODE_SME    }, // ZERO of tiles
    {0xffbe0000, 0xc0900000, ETP_CODE_SME    }, // ADDHA, ADDVA
    {0xff000000, 0xe0000000, ETP_CODE_SME    }, // LD1, ST1 of a tile slice
    {0xffc00000, 0xe1c00000, ETP_CODE_SME    }, // of 128-bit elements
    {0xffdf8000, 0xe1000000, ETP_CODE_SME    }, // LDR, STR of an array vector
    {0x9e000000, 0x80000000, ETP_CODE_SME2   },
    // SVE's group.
    {0xfffff800, 0x04bf5800, ETP_CODE_SME    }, // RDSVL
    {0xffa0f800, 0x04205800, ETP_CODE_SME    }, // ADDSVL, ADDSPL
    // 0x44 and 0x45 came with SVE2 but for these products.
    {0xffa0f800, 0x44800000, ETP_CODE_SVE    }, // SDOT, UDOT
    {0xffe0fc00, 0x44807800, ETP_CODE_SVE    }, // USDOT
    {0xffa0f800, 0x44a00000, ETP_CODE_SVE    }, // by element
    {0xffe0f800, 0x44a01800, ETP_CODE_SVE    },
    {0xff20fc00, 0x45009800, ETP_CODE_SVE    }, // SMMLA, USMMLA, UMMLA
    {0xfe000000, 0x44000000, ETP_CODE_SVE2   },
    {0xff20e000, 0x04206000, ETP_CODE_SVE2   }, // MUL, SMULH, UMULH, PMUL, SQDMULH without predicate
    {0xff20fc00, 0x04203400, ETP_CODE_SVE2   }, // XAR
    {0xff20f800, 0x04203800, ETP_CODE_SVE2   }, // EOR3, BCAX, BSL and its kin
    {0xff3ee000, 0x04068000, ETP_CODE_SVE2   }, // SQSHL, UQSHL of an immediate
    {0xff3ee000, 0x040c8000, ETP_CODE_SVE2   }, // SRSHR, URSHR
    {0xff3fe000, 0x040f8000, ETP_CODE_SVE2   }, // SQSHLU
    {0xffe0e000, 0x05600000, ETP_CODE_SVE2   }, // EXT of two
    {0xff3fe000, 0x052d8000, ETP_CODE_SVE2   }, // SPLICE of two
    {0xff3fe000, 0x052e8000, ETP_CODE_SVE2   }, // REVD
    {0xff20f800, 0x05202800, ETP_CODE_SVE2   }, // TBL of two, TBX
    {0xff20e400, 0x25200000, ETP_CODE_SVE2   }, // WHILEGE, WHILEGT, WHILEHI, WHILEHS
    {0xff20fc00, 0x25203000, ETP_CODE_SVE2   }, // WHILEWR, WHILERW
    {0xff20c000, 0x25204000, ETP_CODE_SVE2   }, // PSEL, predicates as counters
    {0xffffe000, 0x648aa000, ETP_CODE_SVE    }, // BFCVTNT
    {0xff3ce000, 0x6408a000, ETP_CODE_SVE2   }, // FCVTNT, FCVTLT, FCVTXNT
    {0xff38e000, 0x64108000, ETP_CODE_SVE2   }, // FADDP and other pairs
    {0xff38e000, 0x6410a000, ETP_CODE_SVE2   }, // FADDQV and its kin
    {0xff20fc00, 0x64202400, ETP_CODE_SVE2   }, // FCLAMP
    {0xffe0c000, 0x64a04000, ETP_CODE_SVE2   }, // FMLALB and its kin by element
    {0xffe0c000, 0x64a08000, ETP_CODE_SVE2   },
    {0xffffe000, 0x650aa000, ETP_CODE_SVE2   }, // FCVTX
    {0xfff9e000, 0x6518a000, ETP_CODE_SVE2   }, // FLOGB
    {0xfe60c000, 0x84008000, ETP_CODE_SVE2   }, // LDNT1 of gathered words
    {0xfe60a000, 0xc4008000, ETP_CODE_SVE2   }, // and of doublewords, LD1Q
    {0xfe20e000, 0xe4002000, ETP_CODE_SVE2   }, // STNT1
    // SVE2.1: quadwords, products of fp16 and fp8, bf16 arithmetic.
    {0xfe20e000, 0xe4202000, ETP_CODE_SVE2   }, // ST1Q
    {0xff60e000, 0xa5008000, ETP_CODE_SVE2   }, // LD1W, LD1D
    {0xff70e000, 0xa5102000, ETP_CODE_SVE2   },
    {0xffe0e000, 0xc400a000, ETP_CODE_SVE2   }, // LD1Q
    {0xffe0e000, 0xe5004000, ETP_CODE_SVE2   }, // ST1W
    {0xfff0e000, 0xe500e000, ETP_CODE_SVE2   },
    {0xffe0e000, 0xe5c04000, ETP_CODE_SVE2   }, // ST1D
    {0xfff0e000, 0xe5c0e000, ETP_CODE_SVE2   },
    {0xfe60e000, 0xa4208000, ETP_CODE_SVE2   }, // LD2Q, LD3Q, LD4Q
    {0xfe70e000, 0xa410e000, ETP_CODE_SVE2   },
    {0xff20e000, 0xe4200000, ETP_CODE_SVE2   }, // ST2Q, ST3Q, ST4Q
    {0xff30e000, 0xe4000000, ETP_CODE_SVE2   },
    {0xff24e000, 0x04042000, ETP_CODE_SVE2   }, // ADDQV, ORQV and their kin
    {0xff20fc00, 0x05203400, ETP_CODE_SVE2   }, // TBXQ
    {0xffe0fc00, 0x05202400, ETP_CODE_SVE2   }, // DUPQ
    {0xfff0fc00, 0x05602400, ETP_CODE_SVE2   }, // EXTQ
    {0xff20fc00, 0x6420e400, ETP_CODE_SVE    }, // BFMMLA, FMMLA
    {0xffe0fc00, 0x64604000, ETP_CODE_SVE    }, // BFDOT
    {0xffe0fc00, 0x64608000, ETP_CODE_SVE    },
    {0xff20c000, 0x6420c000, ETP_CODE_SVE2   },
    {0xffa0c000, 0x64204000, ETP_CODE_SVE2   },
    {0xffa0c000, 0x64208000, ETP_CODE_SVE2   },
    {0xffe06000, 0x64e06000, ETP_CODE_SVE2   }, // BFMLSLB, BFMLSLT
    {0xffe0e000, 0x64e0a000, ETP_CODE_SVE2   },
    {0xffa0f800, 0x64200800, ETP_CODE_SVE2   }, // BFMLA, BFMLS, BFMUL by element
    {0xffa0fc00, 0x64202800, ETP_CODE_SVE2   },
    {0xffe08000, 0x65200000, ETP_CODE_SVE2   }, // and without
    {0xffe0e000, 0x65000000, ETP_CODE_SVE2   },
    {0xffe0e000, 0x65008000, ETP_CODE_SVE2   },
    {0xff3ee000, 0x650e8000, ETP_CODE_SVE2   }, // FAMAX, FAMIN
    {0x1e000000, 0x04000000, ETP_CODE_SVE    },
    // Vectors and scalar floating point.
    {0xbfe0fc00, 0x2e40fc00, ETP_CODE_BF16   }, // BFDOT
    {0xbfc0f400, 0x0f40f000, ETP_CODE_BF16   },
    {0xffe0fc00, 0x6e40ec00, ETP_CODE_BF16   }, // BFMMLA
    {0xbfe0fc00, 0x2ec0fc00, ETP_CODE_BF16   }, // BFMLALB, BFMLALT
    {0xbfc0f400, 0x0fc0f000, ETP_CODE_BF16   },
    {0xbffffc00, 0x0ea16800, ETP_CODE_BF16   }, // BFCVTN
    {0xfffffc00, 0x1e634000, ETP_CODE_BF16   }, // BFCVT
    {0xdfe0fc00, 0x4e80a400, ETP_CODE_I8MM   }, // SMMLA, UMMLA
    {0xffe0fc00, 0x4e80ac00, ETP_CODE_I8MM   }, // USMMLA
    {0xbfe0fc00, 0x0e809c00, ETP_CODE_I8MM   }, // USDOT
    {0xbf40f400, 0x0f00f000, ETP_CODE_I8MM   }, // USDOT, SUDOT by element
    {0x9fe0fc00, 0x0e809400, ETP_CODE_DOTPROD}, // SDOT, UDOT
    {0x9fc0f400, 0x0f80e000, ETP_CODE_DOTPROD},
    {0xbf60fc00, 0x0e20ec00, ETP_CODE_FHM    }, // FMLAL, FMLSL
    {0xbf60fc00, 0x2e20cc00, ETP_CODE_FHM    }, // FMLAL2, FMLSL2
    {0xbfc0b400, 0x0f800000, ETP_CODE_FHM    }, // by element
    {0xbfc0b400, 0x2f808000, ETP_CODE_FHM    },
    // fp16 arithmetic: vectors (and one element of them), then scalars.
    {0x9f60c400, 0x0e400400, ETP_CODE_FP16   }, // three operands
    {0xdf60c400, 0x5e400400, ETP_CODE_FP16   },
    {0x9f7e0c00, 0x0e780800, ETP_CODE_FP16   }, // two
    {0xdf7e0c00, 0x5e780800, ETP_CODE_FP16   },
    {0xbf7fdc00, 0x0e30c800, ETP_CODE_FP16   }, // across the vector: FMAXNMV, FMINNMV
    {0xbf7ffc00, 0x0e30f800, ETP_CODE_FP16   }, // FMAXV, FMINV
    {0xff3fcc00, 0x5e30c800, ETP_CODE_FP16   }, // of a pair
    {0xbfc0b400, 0x0f001000, ETP_CODE_FP16   }, // FMLA, FMLS by element
    {0x9fc0f400, 0x0f009000, ETP_CODE_FP16   }, // FMUL, FMULX by element
    {0xffc0b400, 0x5f001000, ETP_CODE_FP16   },
    {0xdfc0f400, 0x5f009000, ETP_CODE_FP16   },
    {0xbff8fc00, 0x0f00fc00, ETP_CODE_FP16   }, // FMOV of an immediate
    {0xbfe0e400, 0x2e40c400, ETP_CODE_FP16   }, // FCMLA
    {0xbfe0ec00, 0x2e40e400, ETP_CODE_FP16   }, // FCADD
    {0xbfc09400, 0x2f401000, ETP_CODE_FP16   },
    {0x9ff0fc00, 0x0f10e400, ETP_CODE_FP16   }, // to and from fixed point
    {0x9ff0fc00, 0x0f10fc00, ETP_CODE_FP16   },
    {0xdff0fc00, 0x5f10e400, ETP_CODE_FP16   },
    {0xdff0fc00, 0x5f10fc00, ETP_CODE_FP16   },
    {0xffff7c00, 0x1ee24000, ETP_CODE_SCALAR }, // FCVT of fp16 to single and double
    {0x7fc00000, 0x1ec00000, ETP_CODE_FP16   },
    {0xffc00000, 0x1fc00000, ETP_CODE_FP16   }, // FMADD, FMSUB
    // Vectors proper; scalar floating point is 0x1e…, 0x1f….
    {0x9e000000, 0x0e000000, ETP_CODE_NEON   },
};

etp_code etp_encoding_of_a64(uint32_t w)
{
    for (size_t i = 0; i < sizeof k_a64 / sizeof *k_a64; i++) {
        if ((w & k_a64[i].mask) == k_a64[i].value) {
            return k_a64[i].code;
        }
    }
    return ETP_CODE_SCALAR;
}
