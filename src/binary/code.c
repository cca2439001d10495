// SPDX-License-Identifier: Apache-2.0
// Instruction sets by encodings: names, and x86-64. There the length of an instruction is the hard
// part (x86_reader.c).
#include "binary/code.h"

#include "binary/flow.h"

static const struct {
    const char *name, *title;
} k_codes[ETP_CODES] = {
    [ETP_CODE_UNKNOWN] = {"unknown",     "not decoded"           },
    [ETP_CODE_SCALAR] = {"scalar",      "no vector instructions"},
    [ETP_CODE_SSE] = {"sse",         "SSE"                   },
    [ETP_CODE_AVX2] = {"avx2",        "AVX2"                  },
    [ETP_CODE_AVX_VNNI] = {"avx-vnni",    "AVX-VNNI"              },
    [ETP_CODE_AVX512] = {"avx512",      "AVX-512"               },
    [ETP_CODE_AVX512_VNNI] = {"avx512-vnni", "AVX-512 VNNI"          },
    [ETP_CODE_AMX] = {"amx",         "AMX"                   },
    [ETP_CODE_NEON] = {"neon",        "NEON"                  },
    [ETP_CODE_DOTPROD] = {"dotprod",     "NEON dot product"      },
    [ETP_CODE_I8MM] = {"i8mm",        "NEON matrix multiply"  },
    [ETP_CODE_SVE] = {"sve",         "SVE"                   },
    [ETP_CODE_SME] = {"sme",         "SME"                   },
    [ETP_CODE_SME2] = {"sme2",        "SME2"                  },
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

static bool is_vnni(unsigned map, unsigned opcode)
{
    return map == 2 && opcode >= 0x50 && opcode <= 0x53; // VPDPBUSD(S), VPDPWSSD(S)
}

// VEX-encoded instructions without vector registers: BMI and the mask registers of AVX-512.
static etp_code of_vex(unsigned map, unsigned opcode)
{
    bool mask =
        (map == 1 && ((opcode >= 0x41 && opcode <= 0x4b) || (opcode >= 0x90 && opcode <= 0x93) ||
                      opcode == 0x98 || opcode == 0x99)) ||
        (map == 3 && opcode >= 0x30 && opcode <= 0x33);
    if (mask) {
        return ETP_CODE_AVX512;
    }
    bool tile = map == 2 && (opcode == 0x49 || opcode == 0x4b || opcode == 0x5c || opcode == 0x5e ||
                             opcode == 0x6c);
    if (tile) {
        return ETP_CODE_AMX;
    }
    bool bits =
        (map == 2 && (opcode == 0xf2 || opcode == 0xf3 || (opcode >= 0xf5 && opcode <= 0xf7))) ||
        (map == 3 && opcode == 0xf0);
    if (bits || (map == 1 && opcode == 0x77)) { // VZEROUPPER: any code that calls may carry it
        return ETP_CODE_SCALAR;
    }
    return is_vnni(map, opcode) ? ETP_CODE_AVX_VNNI : ETP_CODE_AVX2;
}

// Legacy encodings of the two-byte map that work on vector registers.
static bool is_sse(unsigned opcode)
{
    return (opcode >= 0x10 && opcode <= 0x17) || (opcode >= 0x28 && opcode <= 0x2f) ||
           (opcode >= 0x50 && opcode <= 0x76) || (opcode >= 0x78 && opcode <= 0x7f) ||
           opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) || opcode >= 0xd0;
}

etp_code etp_code_of_x86(const uint8_t *bytes, size_t len)
{
    size_t i = 0;
    while (i < len &&
           (bytes[i] == 0x66 || bytes[i] == 0xf2 || bytes[i] == 0xf3 || bytes[i] == 0xf0 ||
            (bytes[i] & 0xe7) == 0x26 || (bytes[i] & 0xfc) == 0x64)) {
        i++;
    }
    size_t left = len - i;
    const uint8_t *p = bytes + i;
    if (left >= 5 && p[0] == 0x62) {
        return is_vnni(p[1] & 7, p[4]) ? ETP_CODE_AVX512_VNNI : ETP_CODE_AVX512;
    }
    if (left >= 4 && p[0] == 0xc4) {
        return of_vex(p[1] & 31, p[3]);
    }
    if (left >= 3 && p[0] == 0xc5) {
        return of_vex(1, p[2]);
    }
    if (left > 0 && (p[0] & 0xf0) == 0x40) { // REX
        p++;
        left--;
    }
    if (left < 2 || p[0] != 0x0f) {
        return ETP_CODE_SCALAR;
    }
    if (p[1] == 0x38 &&
        left >= 3) { // MOVBE, CRC32, ADX, SHA and key locker are no vector arithmetic
        return p[2] < 0x80 ? ETP_CODE_SSE : ETP_CODE_SCALAR;
    }
    if (p[1] == 0x3a) {
        return ETP_CODE_SSE;
    }
    return is_sse(p[1]) ? ETP_CODE_SSE : ETP_CODE_SCALAR;
}

static etp_status count_x86(etp_bytes code, etp_code_count *out, etp_error *err)
{
    etp_x86_reader reader;
    ETP_TRY(etp_x86_reader_open(&reader, err));
    size_t at = 0;
    while (at < code.len) {
        size_t n = etp_x86_length(&reader, code.ptr + at, code.len - at);
        if (n == 0) {
            break;
        }
        out->of[etp_code_of_x86(code.ptr + at, n)]++;
        out->instructions++;
        at += n;
    }
    out->whole = at == code.len;
    etp_x86_reader_close(&reader);
    return ETP_OK;
}

static void count_a64(etp_bytes code, etp_code_count *out)
{
    for (size_t i = 0; i + 4 <= code.len; i += 4) {
        out->of[etp_code_of_a64(etp_load_u32(code.ptr + i))]++;
        out->instructions++;
    }
    out->whole = code.len % 4 == 0;
}

etp_status etp_code_of(etp_machine machine, etp_bytes code, etp_code_count *out_count,
                       etp_code *out, etp_error *err)
{
    *out_count = (etp_code_count){0};
    *out = ETP_CODE_UNKNOWN;
    if (machine == ETP_MACHINE_X86_64) {
        ETP_TRY(count_x86(code, out_count, err));
    } else if (machine == ETP_MACHINE_AARCH64) {
        count_a64(code, out_count);
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
            most = out[i - 1] > most ? out[i - 1] : most;
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
