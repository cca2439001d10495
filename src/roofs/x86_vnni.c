// SPDX-License-Identifier: Apache-2.0
// Loop for AVX-512 VNNI: u8 × s8, four products to a 32-bit sum.
#include <immintrin.h>

#include "roofs/internal.h"

#define CHAINS 12

#define SUMS 16

static uint64_t vnni_dot_i8_ops(void)
{
    return 2 * 4 * CHAINS * SUMS;
}

static int64_t vnni_dot_i8(uint64_t trips)
{
    // Volatile, or the compiler would know that all sums are one.
    volatile char one = 1;
    const __m512i a = _mm512_set1_epi8(one), b = a;
    __m512i acc[CHAINS];
    int32_t sums[CHAINS * SUMS];
#define BEGIN(i) acc[i] = _mm512_set1_epi32(one - one);
#define STEP(i) acc[i] = _mm512_dpbusd_epi32(acc[i], a, b);
#define STORE(i) _mm512_storeu_si512(sums + SUMS * i, acc[i]);
    ETP_EACH_12(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_12(STEP)
    }
    ETP_EACH_12(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    return etp_roof_same_i32(sums, CHAINS * SUMS);
}

const etp_roof_loop etp_roof_vnni_dot = {"avx512-vnni", "dot_i8",        4,
                                         1 << 28,       vnni_dot_i8_ops, vnni_dot_i8};
