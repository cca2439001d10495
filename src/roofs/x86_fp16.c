// SPDX-License-Identifier: Apache-2.0
// Loop for AVX512-FP16: multiply-adds of half precision, sums in half precision. Numbers go in and
// out as bits: ISO C has no type for them.
#include <immintrin.h>

#include "roofs/internal.h"

#define CHAINS 12
#define LANES 32
#define ONE 0x3c00 // 1 in half precision

static uint64_t fp16_fma_f16_ops(void)
{
    return 2 * CHAINS * LANES;
}

static int64_t fp16_fma_f16(uint64_t trips)
{
    // Volatile, or the compiler would know the result, and that all sums are one.
    volatile short one = ONE;
    const __m512h a = _mm512_castsi512_ph(_mm512_set1_epi16(one)), b = a;
    __m512h acc[CHAINS];
    uint16_t sums[CHAINS * LANES];
#define BEGIN(i) acc[i] = _mm512_castsi512_ph(_mm512_set1_epi16((short)(one - one)));
#define STEP(i) acc[i] = _mm512_fmadd_ph(a, b, acc[i]);
#define STORE(i) _mm512_storeu_si512(sums + LANES * i, _mm512_castph_si512(acc[i]));
    ETP_EACH_12(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_12(STEP)
    }
    ETP_EACH_12(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    for (size_t i = 1; i < CHAINS * LANES; i++) {
        if (sums[i] != sums[0]) {
            return -1;
        }
    }
    return etp_roof_half(sums[0]);
}

const etp_roof_loop etp_roof_fp16_fma = {"avx512-fp16", ETP_ROOF_FMA_F16, 1,
                                         2048,          fp16_fma_f16_ops, fp16_fma_f16};
