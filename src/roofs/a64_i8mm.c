// SPDX-License-Identifier: Apache-2.0
// Loop for SMMLA: 2 × 8 times 8 × 2 signed bytes, eight products to each of four 32-bit sums.
#include <arm_neon.h>

#include "roofs/internal.h"

#define BEGIN(i) acc[i] = vdupq_n_s32(one - one);
#define STEP(i) acc[i] = vmmlaq_s32(acc[i], a, b);
#define STORE(i) vst1q_s32(sums + 4 * i, acc[i]);
ETP_ROOF_LOOP(i8mm, dot, "i8mm", dot_i8, __attribute__((target("arch=armv8.2-a+i8mm"))), 24, 4, 8,
              1 << 28, int8_t, int32x4_t, i32, const int8x16_t a = vdupq_n_s8(one), b = a);
