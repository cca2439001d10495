// SPDX-License-Identifier: Apache-2.0
// Loop for half-precision NEON: multiply-adds and sums in half precision.
#include <arm_neon.h>

#include "roofs/internal.h"

#define CHAINS 24

#define LANES 8

static uint64_t neon_fma_f16_ops(void)
{
    return 2 * CHAINS * LANES;
}

__attribute__((target("arch=armv8.2-a+fp16"))) static int64_t neon_fma_f16(uint64_t trips)
{
    volatile float one = 1.0f;
    const float16x8_t a = vdupq_n_f16((float16_t)one), b = a;
    float16x8_t acc[CHAINS];
    float16_t halves[CHAINS * LANES];
    float sums[CHAINS * LANES];
#define BEGIN(i) acc[i] = vdupq_n_f16((float16_t)(one - one));
#define STEP(i) acc[i] = vfmaq_f16(acc[i], a, b);
#define STORE(i) vst1q_f16(halves + LANES * i, acc[i]);
    ETP_EACH_24(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_24(STEP)
    }
    ETP_EACH_24(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    for (size_t i = 0; i < CHAINS * LANES; i++) {
        sums[i] = (float)halves[i];
    }
    return etp_roof_same_f32(sums, CHAINS * LANES);
}

const etp_roof_loop etp_roof_neon_fp16 = {"neon-fp16", ETP_ROOF_FMA_F16, 1,
                                          2048,        neon_fma_f16_ops, neon_fma_f16};
