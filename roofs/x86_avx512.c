// SPDX-License-Identifier: Apache-2.0
// Loops for AVX-512: twelve independent chains hide the latency of the multiply-add.
#include <immintrin.h>

#include "roofs/roofs.h"

#define CHAINS 12
#define LANES 16

static int64_t fma_f32(uint64_t trips)
{
    // Volatile, or the compiler would know the result.
    volatile float one = 1.0f;
    __m512 a = _mm512_set1_ps(one), b = a, acc[CHAINS];
    for (int i = 0; i < CHAINS; i++) {
        acc[i] = _mm512_set1_ps(one - one);
    }
    for (uint64_t t = 0; t < trips; t++) {
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = _mm512_fmadd_ps(a, b, acc[i]);
        }
    }
    float lanes[CHAINS * LANES];
    for (int i = 0; i < CHAINS; i++) {
        _mm512_storeu_ps(lanes + LANES * i, acc[i]);
    }
    for (int i = 1; i < CHAINS * LANES; i++) {
        if (lanes[i] > lanes[0] || lanes[i] < lanes[0]) {
            return -1;
        }
    }
    return (int64_t)lanes[0];
}

const etp_roof_loop etp_roof_avx512_fma = {"avx512", "fma_f32", "avx512f", 2 * CHAINS * LANES, fma_f32};

static uint64_t read_all(const void *bytes, uint64_t n)
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
    _mm512_storeu_si512((__m512i *)(void *)words, _mm512_xor_si512(_mm512_xor_si512(s0, s1), _mm512_xor_si512(s2, s3)));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sum ^= words[i];
    }
    return sum;
}

const etp_roof_reader etp_roof_avx512_read = {"avx512", "avx512f", read_all};
