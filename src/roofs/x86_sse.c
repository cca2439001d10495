// SPDX-License-Identifier: Apache-2.0
// Loops for SSE, which has no fused multiply-add: acc × 1 + 1. (1 × 1 + acc would be one addition,
// the product being the same every time.)
#include <immintrin.h>

#include "roofs/internal.h"

#define BEGIN(i) acc[i] = _mm_set1_ps(one - one);
#define STEP(i) acc[i] = _mm_add_ps(_mm_mul_ps(acc[i], a), b);
#define STORE(i) _mm_storeu_ps(sums + 4 * i, acc[i]);
ETP_ROOF_LOOP(sse, fma, "sse", fma_f32, , 12, 4, 1, 1 << 24, float, __m128, f32,
              const __m128 a = _mm_set1_ps(one), b = a);

ETP_ROOF_READER(sse, __m128i, _mm_setzero_si128, _mm_load_si128, _mm_storeu_si128, _mm_xor_si128);
