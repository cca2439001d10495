// SPDX-License-Identifier: Apache-2.0
// Loop for SDOT: s8 × s8, four products to a 32-bit sum.
#include <arm_neon.h>

#include "roofs/internal.h"

#define BEGIN(i) acc[i] = vdupq_n_s32(one - one);
#define STEP(i) acc[i] = vdotq_s32(acc[i], a, b);
#define STORE(i) vst1q_s32(sums + 4 * i, acc[i]);
ETP_ROOF_LOOP(dotprod, dot, "dotprod", dot_i8, __attribute__((target("arch=armv8.2-a+dotprod"))),
              24, 4, 4, 1 << 28, int8_t, int32x4_t, i32, const int8x16_t a = vdupq_n_s8(one),
              b = a);
