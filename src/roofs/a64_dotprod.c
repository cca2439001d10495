// SPDX-License-Identifier: Apache-2.0
// Loop for SDOT: s8 × s8, four products to a 32-bit sum.
#include <arm_neon.h>

#include "roofs/internal.h"

#define CHAINS 24

#define SUMS 4

static uint64_t dotprod_dot_i8_ops(void)
{
    return 2 * 4 * CHAINS * SUMS;
}

__attribute__((target("arch=armv8.2-a+dotprod"))) static int64_t dotprod_dot_i8(uint64_t trips)
{
    // Volatile, or the compiler would know that all sums are one.
    volatile int8_t one = 1;
    const int8x16_t a = vdupq_n_s8(one), b = a;
    int32x4_t acc[CHAINS];
    int32_t sums[CHAINS * SUMS];
#define BEGIN(i) acc[i] = vdupq_n_s32(one - one);
#define STEP(i) acc[i] = vdotq_s32(acc[i], a, b);
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

const etp_roof_loop etp_roof_dotprod_dot = {"dotprod", "dot_i8",           4,
                                            1 << 28,   dotprod_dot_i8_ops, dotprod_dot_i8};
