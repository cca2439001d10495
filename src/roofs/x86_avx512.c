// SPDX-License-Identifier: Apache-2.0
// Loops for AVX-512.
#include <immintrin.h>

#include "roofs/internal.h"

#define BEGIN(i) acc[i] = _mm512_set1_ps(one - one);
#define STEP(i) acc[i] = _mm512_fmadd_ps(a, b, acc[i]);
#define STORE(i) _mm512_storeu_ps(sums + 16 * i, acc[i]);
ETP_ROOF_LOOP(avx512, fma, "avx512", fma_f32, , 12, 16, 1, 1 << 24, float, __m512, f32,
              const __m512 a = _mm512_set1_ps(one), b = a);
#undef BEGIN
#undef STEP
#undef STORE

// u8 × s8 in three steps: products added in pairs (16 bits), again (32 bits), to the sum. The
// operand is made unknown before each product, or the compiler would multiply once for all trips.
#define BEGIN(i) acc[i] = _mm512_set1_epi32(one - one);
#define STEP(i)                     \
    __asm__ volatile("" : "+v"(a)); \
    acc[i] = _mm512_add_epi32(acc[i], _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), ones));
#define STORE(i) _mm512_storeu_si512((void *)(sums + 16 * i), acc[i]);
ETP_ROOF_LOOP(avx512, dot, "avx512", dot_i8, , 12, 16, 4, 1 << 28, char, __m512i, i32,
              __m512i a = _mm512_set1_epi8(one);
              const __m512i b = a, ones = _mm512_set1_epi16(one));

ETP_ROOF_READER(avx512, __m512i, _mm512_setzero_si512, _mm512_load_si512, _mm512_storeu_si512,
                _mm512_xor_si512);
