// SPDX-License-Identifier: Apache-2.0
// Loops for SSE, which has no fused multiply-add: acc × 1 + 1. (1 × 1 + acc would be one addition,
// the product being the same every time.)
#include <immintrin.h>

#include "roofs/internal.h"

#define CHAINS 12

#define LANES 4

static uint64_t sse_fma_f32_ops(void)
{
    return 2 * CHAINS * LANES;
}

static int64_t sse_fma_f32(uint64_t trips)
{
    // Volatile, or the compiler would know the result, and that all sums are one.
    volatile float one = 1.0f;
    const __m128 a = _mm_set1_ps(one), b = a;
    __m128 acc[CHAINS];
    float sums[CHAINS * LANES];
#define BEGIN(i) acc[i] = _mm_set1_ps(one - one);
#define STEP(i) acc[i] = _mm_add_ps(_mm_mul_ps(acc[i], a), b);
#define STORE(i) _mm_storeu_ps(sums + LANES * i, acc[i]);
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

const etp_roof_loop etp_roof_sse_fma = {"sse", "fma_f32", 1, 1 << 24, sse_fma_f32_ops, sse_fma_f32};

static uint64_t sse_read(const void *bytes, uint64_t n)
{
    const __m128i *p = bytes, *end = p + n / sizeof *p;
    __m128i s0 = _mm_setzero_si128(), s1 = s0, s2 = s0, s3 = s0;
    for (; p < end; p += 4) {
        s0 = _mm_xor_si128(s0, _mm_load_si128(p));
        s1 = _mm_xor_si128(s1, _mm_load_si128(p + 1));
        s2 = _mm_xor_si128(s2, _mm_load_si128(p + 2));
        s3 = _mm_xor_si128(s3, _mm_load_si128(p + 3));
    }
    uint64_t words[sizeof s0 / 8], sum = 0;
    _mm_storeu_si128((__m128i *)(void *)words,
                     _mm_xor_si128(_mm_xor_si128(s0, s1), _mm_xor_si128(s2, s3)));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sum ^= words[i];
    }
    return sum;
}

const etp_roof_reader etp_roof_sse_read = {"sse", sse_read};
