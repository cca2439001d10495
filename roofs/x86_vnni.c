// SPDX-License-Identifier: Apache-2.0
// Loop for AVX-512 VNNI: u8 × s8, four products to a 32-bit sum.
#include <immintrin.h>

#include "roofs/roofs.h"

#define CHAINS 12
#define LANES 16

static int64_t dot_i8(uint64_t trips)
{
    volatile char one = 1;
    __m512i a = _mm512_set1_epi8(one), b = a, acc[CHAINS];
    for (int i = 0; i < CHAINS; i++) {
        acc[i] = _mm512_setzero_si512();
    }
    for (uint64_t t = 0; t < trips; t++) {
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = _mm512_dpbusd_epi32(acc[i], a, b);
        }
    }
    int32_t lanes[CHAINS * LANES];
    for (int i = 0; i < CHAINS; i++) {
        _mm512_storeu_si512(lanes + LANES * i, acc[i]);
    }
    for (int i = 1; i < CHAINS * LANES; i++) {
        if (lanes[i] != lanes[0]) {
            return -1;
        }
    }
    return lanes[0];
}

const etp_roof_loop etp_roof_vnni_dot = {"avx512-vnni", "dot_i8", "avx512vnni", 2 * 4 * CHAINS * LANES, dot_i8};
