// SPDX-License-Identifier: Apache-2.0
// Loop for 8-bit integers before AVX2.
#include <immintrin.h>

#include "roofs/internal.h"

#define CHAINS 8 // more would not fit into sixteen registers, and an addition takes one cycle

#define SUMS 4

static uint64_t ssse3_dot_i8_ops(void)
{
    return 2 * 4 * CHAINS * SUMS;
}

// u8 × s8 in three steps: products added in pairs (16 bits), again (32 bits), to the sum. The
// operand is made unknown before each product, or the compiler would multiply once for all trips.
static int64_t ssse3_dot_i8(uint64_t trips)
{
    // Volatile, or the compiler would know that all sums are one.
    volatile char one = 1;
    __m128i a = _mm_set1_epi8(one);
    const __m128i b = a, ones = _mm_set1_epi16(one);
    __m128i acc[CHAINS];
    int32_t sums[CHAINS * SUMS];
#define BEGIN(i) acc[i] = _mm_set1_epi32(one - one);
#define STEP(i)                     \
    __asm__ volatile("" : "+x"(a)); \
    acc[i] = _mm_add_epi32(acc[i], _mm_madd_epi16(_mm_maddubs_epi16(a, b), ones));
#define STORE(i) _mm_storeu_si128((__m128i *)(void *)(sums + SUMS * i), acc[i]);
    ETP_EACH_8(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_8(STEP)
    }
    ETP_EACH_8(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    return etp_roof_same_i32(sums, CHAINS * SUMS);
}

const etp_roof_loop etp_roof_ssse3_dot = {"ssse3", "dot_i8",         4,
                                          1 << 28, ssse3_dot_i8_ops, ssse3_dot_i8};
