// SPDX-License-Identifier: Apache-2.0
// Loops for SSE, which has no fused multiply-add: acc × 1 + 1. (1 × 1 + acc would be one addition, the
// product being the same every time.)
#include <immintrin.h>

#include "roofs/roofs.h"

#define CHAINS 12
#define LANES 4

static int64_t fma_f32(uint64_t trips)
{
    // Volatile, or the compiler would know the result.
    volatile float one = 1.0f;
    __m128 a = _mm_set1_ps(one), b = a, acc[CHAINS];
    for (int i = 0; i < CHAINS; i++) {
        acc[i] = _mm_set1_ps(one - one);
    }
    for (uint64_t t = 0; t < trips; t++) {
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = _mm_add_ps(_mm_mul_ps(acc[i], a), b);
        }
    }
    float lanes[CHAINS * LANES];
    for (int i = 0; i < CHAINS; i++) {
        _mm_storeu_ps(lanes + LANES * i, acc[i]);
    }
    for (int i = 1; i < CHAINS * LANES; i++) {
        if (lanes[i] > lanes[0] || lanes[i] < lanes[0]) {
            return -1;
        }
    }
    return (int64_t)lanes[0];
}

const etp_roof_loop etp_roof_sse_fma = {"sse", "fma_f32", NULL, 2 * CHAINS * LANES, fma_f32};

static uint64_t read_all(const void *bytes, uint64_t n)
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
    _mm_storeu_si128((__m128i *)(void *)words, _mm_xor_si128(_mm_xor_si128(s0, s1), _mm_xor_si128(s2, s3)));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sum ^= words[i];
    }
    return sum;
}

const etp_roof_reader etp_roof_sse_read = {"sse", NULL, read_all};
