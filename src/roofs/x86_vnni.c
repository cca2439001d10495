// SPDX-License-Identifier: Apache-2.0
// Loop for AVX-512 VNNI: u8 × s8, four products to a 32-bit sum.
#include <immintrin.h>

#include "roofs/internal.h"

#define BEGIN(i) acc[i] = _mm512_set1_epi32(one - one);
#define STEP(i) acc[i] = _mm512_dpbusd_epi32(acc[i], a, b);
#define STORE(i) _mm512_storeu_si512(sums + 16 * i, acc[i]);
ETP_ROOF_LOOP(vnni, dot, "avx512-vnni", dot_i8, , 12, 16, 4, 1 << 28, char, __m512i, i32,
              const __m512i a = _mm512_set1_epi8(one), b = a);
