// SPDX-License-Identifier: Apache-2.0
// Instruction sets of code by its encodings (encodings.c). On x86-64 the length of an instruction
// is the hard part (x86_reader.c).
#include "binary/code.h"

#include "base/choice.h"
#include "binary/encodings.h"
#include "binary/flow.h"

static const struct {
    const char *name, *title;
} k_codes[ETP_CODES] = {
    [ETP_CODE_UNKNOWN] = {"unknown",        "not decoded"           },
    [ETP_CODE_SCALAR] = {"scalar",         "no vector instructions"},
    [ETP_CODE_SSE] = {"sse",            "SSE"                   },
    [ETP_CODE_AVX] = {"avx",            "AVX"                   },
    [ETP_CODE_F16C] = {"f16c",           "F16C"                  },
    [ETP_CODE_FMA] = {"fma",            "FMA"                   },
    [ETP_CODE_AVX2] = {"avx2",           "AVX2"                  },
    [ETP_CODE_AVX_VNNI] = {"avx-vnni",       "AVX-VNNI"              },
    [ETP_CODE_AVX_VNNI_INT8] = {"avx-vnni-int8",  "AVX-VNNI-INT8"         },
    [ETP_CODE_AVX_VNNI_INT16] = {"avx-vnni-int16", "AVX-VNNI-INT16"        },
    [ETP_CODE_AVX_NE_CONVERT] = {"avx-ne-convert", "AVX-NE-CONVERT"        },
    [ETP_CODE_GFNI] = {"gfni",           "GFNI"                  },
    [ETP_CODE_AVX512] = {"avx512",         "AVX-512"               },
    [ETP_CODE_AVX512_VNNI] = {"avx512-vnni",    "AVX-512 VNNI"          },
    [ETP_CODE_AVX512_BF16] = {"avx512-bf16",    "AVX512-BF16"           },
    [ETP_CODE_AVX512_FP16] = {"avx512-fp16",    "AVX512-FP16"           },
    [ETP_CODE_AVX10_2] = {"avx10.2",        "AVX10.2"               },
    [ETP_CODE_AMX] = {"amx",            "AMX"                   },
    [ETP_CODE_AMX_INT8] = {"amx-int8",       "AMX-INT8"              },
    [ETP_CODE_AMX_BF16] = {"amx-bf16",       "AMX-BF16"              },
    [ETP_CODE_AMX_FP16] = {"amx-fp16",       "AMX-FP16"              },
    [ETP_CODE_AMX_FP8] = {"amx-fp8",        "AMX-FP8"               },
    [ETP_CODE_AMX_TF32] = {"amx-tf32",       "AMX-TF32"              },
    [ETP_CODE_NEON] = {"neon",           "NEON"                  },
    [ETP_CODE_FP16] = {"fp16",           "NEON FP16"             },
    [ETP_CODE_DOTPROD] = {"dotprod",        "NEON dot product"      },
    [ETP_CODE_FHM] = {"fhm",            "NEON FHM"              },
    [ETP_CODE_I8MM] = {"i8mm",           "NEON matrix multiply"  },
    [ETP_CODE_BF16] = {"bf16",           "NEON BF16"             },
    [ETP_CODE_SVE] = {"sve",            "SVE"                   },
    [ETP_CODE_SVE2] = {"sve2",           "SVE2"                  },
    [ETP_CODE_SME] = {"sme",            "SME"                   },
    [ETP_CODE_SME2] = {"sme2",           "SME2"                  },
};

const char *etp_code_name(etp_code code)
{
    return k_codes[code].name;
}

const char *etp_code_title(etp_code code)
{
    return k_codes[code].title;
}

// ---- x86-64 ----

etp_code etp_code_of_x86(const uint8_t *bytes, size_t len)
{
    etp_x86_opcode op = {0};
    // Prefix bytes of the legacy encodings: F3 and F2 select the instruction before 66.
    size_t i = 0;
    for (; i < len; i++) {
        uint8_t b = bytes[i];
        bool repeat = b == 0xf2 || b == 0xf3;
        bool other = b == 0xf0 || (b & 0xe7) == 0x26 || (b & 0xfc) == 0x64;
        if (!repeat && !other) {
            break;
        }
        if (repeat) {
            op.prefix = b == 0xf3 ? 2 : 3;
        } else if (b == 0x66 && op.prefix == 0) {
            op.prefix = 1;
        }
    }
    const uint8_t *p = bytes + i;
    size_t left = len - i, modrm;
    if (left >= 6 && p[0] == 0x62) {
        op.space = ETP_X86_EVEX;
        op.map = p[1] & 7;
        op.prefix = p[2] & 3;
        op.opcode = p[4];
        modrm = 5;
    } else if (left >= 4 && p[0] == 0xc4) {
        op.space = ETP_X86_VEX;
        op.map = p[1] & 31;
        op.prefix = p[2] & 3;
        op.wide = (p[2] & 4) != 0;
        op.opcode = p[3];
        modrm = 4;
    } else if (left >= 3 && p[0] == 0xc5) {
        op.space = ETP_X86_VEX;
        op.map = 1;
        op.prefix = p[1] & 3;
        op.wide = (p[1] & 4) != 0;
        op.opcode = p[2];
        modrm = 3;
    } else {
        size_t rex = left > 0 && (p[0] & 0xf0) == 0x40 ? 1 : 0;
        if (left < rex + 2 || p[rex] != 0x0f) {
            return ETP_CODE_SCALAR;
        }
        bool longer = left > rex + 2 && (p[rex + 1] == 0x38 || p[rex + 1] == 0x3a);
        op.map = 1;
        if (longer) {
            op.map = p[rex + 1] == 0x38 ? 2 : 3;
        }
        op.opcode = p[rex + 1 + longer];
        modrm = rex + 2 + longer;
    }
    op.register_operand = left > modrm && p[modrm] >> 6 == 3;
    return etp_encoding_of_x86(&op);
}

etp_code etp_code_of_a64(uint32_t instruction)
{
    return etp_encoding_of_a64(instruction);
}

etp_status etp_code_of(etp_machine machine, etp_bytes code, etp_code_count *out_count,
                       etp_code *out, etp_error *err)
{
    *out_count = (etp_code_count){0};
    *out = ETP_CODE_UNKNOWN;
    if (machine == ETP_MACHINE_X86_64) {
        etp_x86_reader reader;
        ETP_TRY(etp_x86_reader_open(&reader, err));
        size_t at = 0;
        while (at < code.len) {
            size_t n = etp_x86_length(&reader, code.ptr + at, code.len - at);
            if (n == 0) {
                break;
            }
            out_count->of[etp_code_of_x86(code.ptr + at, n)]++;
            out_count->instructions++;
            at += n;
        }
        out_count->whole = at == code.len;
        etp_x86_reader_close(&reader);
    } else if (machine == ETP_MACHINE_AARCH64) {
        for (size_t i = 0; i + 4 <= code.len; i += 4) {
            out_count->of[etp_code_of_a64(etp_load_u32(code.ptr + i))]++;
            out_count->instructions++;
        }
        out_count->whole = code.len % 4 == 0;
    }
    for (etp_code c = ETP_CODE_SCALAR; c < ETP_CODES; c++) {
        *out = out_count->of[c] ? c : *out;
    }
    return ETP_OK;
}

// Gives what is known of the instructions since FIRST, which run one after the other, to those
// before.
static void carry_back(uint8_t *out, size_t first, size_t end)
{
    uint8_t most = ETP_CODE_UNKNOWN;
    for (size_t i = end; i > first; i--) {
        if (out[i - 1] != ETP_CODE_UNKNOWN) {
            most = ETP_MAX(out[i - 1], most);
            out[i - 1] = most;
        }
    }
}

etp_status etp_code_ahead(etp_machine machine, etp_bytes code, uint8_t *out, etp_error *err)
{
    etp_x86_reader reader = {0};
    bool x86 = machine == ETP_MACHINE_X86_64;
    memset(out, ETP_CODE_UNKNOWN, code.len);
    if (x86) {
        ETP_TRY(etp_x86_reader_open(&reader, err));
    }
    size_t at = 0, first = 0;
    while (at < code.len && (x86 || (machine == ETP_MACHINE_AARCH64 && code.len - at >= 4))) {
        uint32_t w = x86 ? 0 : etp_load_u32(code.ptr + at);
        etp_flow f = x86 ? etp_flow_x86(&reader, code.ptr + at, code.len - at) : etp_flow_a64(w);
        if (f.kind == ETP_FLOW_NONE) {
            break;
        }
        out[at] = (uint8_t)(x86 ? etp_code_of_x86(code.ptr + at, f.length) : etp_code_of_a64(w));
        at += f.length;
        if (f.kind != ETP_FLOW_NEXT && f.kind != ETP_FLOW_PADDING) {
            carry_back(out, first, at);
            first = at;
        }
    }
    carry_back(out, first, at);
    etp_x86_reader_close(&reader);
    return ETP_OK;
}
