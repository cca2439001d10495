// SPDX-License-Identifier: Apache-2.0
// Loops for AVX-512: twelve independent chains hide the latency of the multiply-add.
#include <immintrin.h>

#include "roofs/internal.h"

#define CHAINS 12

#define LANES 16

static uint64_t avx512_fma_f32_ops(void)
{
    return 2 * CHAINS * LANES;
}

static int64_t avx512_fma_f32(uint64_t trips)
{
    // Volatile, or the compiler would know the result, and that all sums are one.
    volatile float one = 1.0f;
    const __m512 a = _mm512_set1_ps(one), b = a;
    __m512 acc[CHAINS];
    float sums[CHAINS * LANES];
#define BEGIN(i) acc[i] = _mm512_set1_ps(one - one);
#define STEP(i) acc[i] = _mm512_fmadd_ps(a, b, acc[i]);
#define STORE(i) _mm512_storeu_ps(sums + LANES * i, acc[i]);
    ETP_EACH_12(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_12(STEP)
    }
    ETP_EACH_12(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    return etp_roof_same_f32(sums, CHAINS * LANES);
}

const etp_roof_loop etp_roof_avx512_fma = {"avx512", "fma_f32",          1,
                                           1 << 24,  avx512_fma_f32_ops, avx512_fma_f32};

#define SUMS 16

static uint64_t avx512_dot_i8_ops(void)
{
    return 2 * 4 * CHAINS * SUMS;
}

// u8 × s8 in three steps: products added in pairs (16 bits), again (32 bits), to the sum. The
// operand is made unknown before each product, or the compiler would multiply once for all trips.
static int64_t avx512_dot_i8(uint64_t trips)
{
    // Volatile, or the compiler would know that all sums are one.
    volatile char one = 1;
    __m512i a = _mm512_set1_epi8(one);
    const __m512i b = a, ones = _mm512_set1_epi16(one);
    __m512i acc[CHAINS];
    int32_t sums[CHAINS * SUMS];
#define BEGIN(i) acc[i] = _mm512_set1_epi32(one - one);
#define STEP(i)                     \
    __asm__ volatile("" : "+v"(a)); \
    acc[i] = _mm512_add_epi32(acc[i], _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), ones));
#define STORE(i) _mm512_storeu_si512((void *)(sums + SUMS * i), acc[i]);
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

const etp_roof_loop etp_roof_avx512_dot = {"avx512", "dot_i8",          4,
                                           1 << 28,  avx512_dot_i8_ops, avx512_dot_i8};

static uint64_t avx512_read(const void *bytes, uint64_t n)
{
    const __m512i *p = bytes, *end = p + n / sizeof *p;
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;
    for (; p < end; p += 4) {
        s0 = _mm512_xor_si512(s0, _mm512_load_si512(p));
        s1 = _mm512_xor_si512(s1, _mm512_load_si512(p + 1));
        s2 = _mm512_xor_si512(s2, _mm512_load_si512(p + 2));
        s3 = _mm512_xor_si512(s3, _mm512_load_si512(p + 3));
    }
    uint64_t words[sizeof s0 / 8], sum = 0;
    _mm512_storeu_si512((__m512i *)(void *)words,
                        _mm512_xor_si512(_mm512_xor_si512(s0, s1), _mm512_xor_si512(s2, s3)));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sum ^= words[i];
    }
    return sum;
}

const etp_roof_reader etp_roof_avx512_read = {"avx512", avx512_read};
