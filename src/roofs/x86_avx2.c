// SPDX-License-Identifier: Apache-2.0
// Loops for AVX2 with FMA3.
#include <immintrin.h>

#include "roofs/internal.h"

#define BEGIN(i) acc[i] = _mm256_set1_ps(one - one);
#define STEP(i) acc[i] = _mm256_fmadd_ps(a, b, acc[i]);
#define STORE(i) _mm256_storeu_ps(sums + 8 * i, acc[i]);
ETP_ROOF_LOOP(avx2, fma, "avx2", fma_f32, , 12, 8, 1, 1 << 24, float, __m256, f32,
              const __m256 a = _mm256_set1_ps(one), b = a);
#undef BEGIN
#undef STEP
#undef STORE

// u8 × s8 in three steps: products added in pairs (16 bits), again (32 bits), to the sum. The
// operand is made unknown before each product, or the compiler would multiply once for all trips.
#define BEGIN(i) acc[i] = _mm256_set1_epi32(one - one);
#define STEP(i)                     \
    __asm__ volatile("" : "+x"(a)); \
    acc[i] = _mm256_add_epi32(acc[i], _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones));
#define STORE(i) _mm256_storeu_si256((__m256i *)(void *)(sums + 8 * i), acc[i]);
ETP_ROOF_LOOP(avx2, dot, "avx2", dot_i8, , 12, 8, 4, 1 << 28, char, __m256i, i32,
              __m256i a = _mm256_set1_epi8(one);
              const __m256i b = a, ones = _mm256_set1_epi16(one));

ETP_ROOF_READER(avx2, __m256i, _mm256_setzero_si256, _mm256_load_si256, _mm256_storeu_si256,
                _mm256_xor_si256);
