// SPDX-License-Identifier: Apache-2.0
// Which instruction set a piece of machine code is written in, told from the encodings alone.
#ifndef ETP_BINARY_CODE_H
#define ETP_BINARY_CODE_H

#include "binary/image.h"

// In order within a machine: what a CPU needs to have, least first.
typedef enum etp_code {
    ETP_CODE_UNKNOWN, // nothing could be decoded
    ETP_CODE_SCALAR,  // no vector instruction
    // x86-64
    ETP_CODE_SSE,
    ETP_CODE_AVX,
    ETP_CODE_F16C,
    ETP_CODE_FMA, // FMA3
    ETP_CODE_AVX2,
    ETP_CODE_AVX_VNNI,
    ETP_CODE_AVX_VNNI_INT8,
    ETP_CODE_AVX_VNNI_INT16,
    ETP_CODE_AVX_NE_CONVERT,
    ETP_CODE_GFNI,   // in any encoding
    ETP_CODE_AVX512, // any EVEX-encoded instruction of no class below, or mask register
    ETP_CODE_AVX512_VNNI,
    ETP_CODE_AVX512_BF16,
    ETP_CODE_AVX512_FP16,
    ETP_CODE_AVX10_2,
    ETP_CODE_AMX, // tiles: set up, load, store
    ETP_CODE_AMX_INT8,
    ETP_CODE_AMX_BF16,
    ETP_CODE_AMX_FP16,
    ETP_CODE_AMX_FP8,
    ETP_CODE_AMX_TF32,
    // aarch64
    ETP_CODE_NEON,
    ETP_CODE_FP16, // arithmetic
    ETP_CODE_DOTPROD,
    ETP_CODE_FHM, // products of fp16 summed in float32
    ETP_CODE_I8MM,
    ETP_CODE_BF16,
    ETP_CODE_SVE,
    ETP_CODE_SVE2,
    ETP_CODE_SME,
    ETP_CODE_SME2,
    ETP_CODES
} etp_code;

typedef uint64_t etp_codes; // a set of classes: ETP_CODE_BIT of each
#define ETP_CODE_BIT(code) (UINT64_C(1) << (code))

typedef struct etp_code_count {
    uint32_t instructions;  // decoded
    uint32_t of[ETP_CODES]; // by what each needs
    bool whole;             // everything was decoded
} etp_code_count;

// "avx512-vnni", "AVX-512 VNNI".
const char *etp_code_name(etp_code code);
const char *etp_code_title(etp_code code);

// Goes through CODE, which begins at an instruction, from its begin: the result is what its most
// demanding instruction needs. x86 stops at the first byte that is no instruction.
ETP_NODISCARD etp_status etp_code_of(etp_machine machine, etp_bytes code, etp_code_count *out_count,
                                     etp_code *out, etp_error *err);
// For each byte of CODE at which an instruction begins: what the instructions need that certainly
// run once this one does, up to the next that may lead elsewhere. ETP_CODE_UNKNOWN inside
// instructions and where nothing could be decoded. OUT has room for code.len.
ETP_NODISCARD etp_status etp_code_ahead(etp_machine machine, etp_bytes code, uint8_t *out,
                                        etp_error *err);
// One A64 instruction.
etp_code etp_code_of_a64(uint32_t instruction);
// One x86-64 instruction of known length.
etp_code etp_code_of_x86(const uint8_t *bytes, size_t len);

#endif
