// SPDX-License-Identifier: Apache-2.0
// Loop for 8-bit integers before AVX2: eight chains, more would not fit into sixteen registers, and
// an addition takes one cycle.
#include <immintrin.h>

#include "roofs/internal.h"

// u8 × s8 in three steps: products added in pairs (16 bits), again (32 bits), to the sum. The
// operand is made unknown before each product, or the compiler would multiply once for all trips.
#define BEGIN(i) acc[i] = _mm_set1_epi32(one - one);
#define STEP(i)                     \
    __asm__ volatile("" : "+x"(a)); \
    acc[i] = _mm_add_epi32(acc[i], _mm_madd_epi16(_mm_maddubs_epi16(a, b), ones));
#define STORE(i) _mm_storeu_si128((__m128i *)(void *)(sums + 4 * i), acc[i]);
ETP_ROOF_LOOP(ssse3, dot, "ssse3", dot_i8, , 8, 4, 4, 1 << 28, char, __m128i, i32,
              __m128i a = _mm_set1_epi8(one);
              const __m128i b = a, ones = _mm_set1_epi16(one));
