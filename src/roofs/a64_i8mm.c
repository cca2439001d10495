// SPDX-License-Identifier: Apache-2.0
// Loop for SMMLA: 2 × 8 times 8 × 2 signed bytes, eight products to each of four 32-bit sums.
#include <arm_neon.h>

#include "roofs/internal.h"

#define CHAINS 24

#define SUMS 4

static uint64_t i8mm_dot_i8_ops(void)
{
    return 2 * 8 * CHAINS * SUMS;
}

__attribute__((target("arch=armv8.2-a+i8mm"))) static int64_t i8mm_dot_i8(uint64_t trips)
{
    // Volatile, or the compiler would know that all sums are one.
    volatile int8_t one = 1;
    const int8x16_t a = vdupq_n_s8(one), b = a;
    int32x4_t acc[CHAINS];
    int32_t sums[CHAINS * SUMS];
#define BEGIN(i) acc[i] = vdupq_n_s32(one - one);
#define STEP(i) acc[i] = vmmlaq_s32(acc[i], a, b);
#define STORE(i) vst1q_s32(sums + SUMS * i, acc[i]);
    ETP_EACH_24(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_24(STEP)
    }
    ETP_EACH_24(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    return etp_roof_same_i32(sums, CHAINS * SUMS);
}

const etp_roof_loop etp_roof_i8mm_dot = {"i8mm",  "dot_i8",        8,
                                         1 << 28, i8mm_dot_i8_ops, i8mm_dot_i8};
