// SPDX-License-Identifier: Apache-2.0
// Loops for Armv8.0 NEON: 24 independent chains are enough for four pipes of four cycles. Before
// there were dot products, 8-bit integers were multiplied to 16 bits, added there once, then in 32.
#include <arm_neon.h>

#include "roofs/internal.h"

#define CHAINS 24

#define LANES 4

static uint64_t neon_fma_f32_ops(void)
{
    return 2 * CHAINS * LANES;
}

static int64_t neon_fma_f32(uint64_t trips)
{
    // Volatile, or the compiler would know the result, and that all sums are one.
    volatile float one = 1.0f;
    const float32x4_t a = vdupq_n_f32(one), b = a;
    float32x4_t acc[CHAINS];
    float sums[CHAINS * LANES];
#define BEGIN(i) acc[i] = vdupq_n_f32(one - one);
#define STEP(i) acc[i] = vfmaq_f32(acc[i], a, b);
#define STORE(i) vst1q_f32(sums + LANES * i, acc[i]);
    ETP_EACH_24(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_24(STEP)
    }
    ETP_EACH_24(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    return etp_roof_same_f32(sums, CHAINS * LANES);
}

const etp_roof_loop etp_roof_neon_fma = {"neon",  "fma_f32",        1,
                                         1 << 24, neon_fma_f32_ops, neon_fma_f32};

// 16 products a chain.
static uint64_t neon_dot_i8_ops(void)
{
    return (uint64_t)2 * 16 * 12;
}

static int64_t neon_dot_i8(uint64_t trips)
{
    // Volatile, or the compiler would know that all sums are one.
    volatile int8_t one = 1;
    int8x16_t a = vdupq_n_s8(one);
    const int8x16_t b = a;
    int32x4_t acc[12];
    int32_t sums[12 * LANES];
    // The operand is made unknown before each product, or the compiler would multiply once for all
    // trips.
#define BEGIN(i) acc[i] = vdupq_n_s32(one - one);
#define STEP(i)                     \
    __asm__ volatile("" : "+w"(a)); \
    acc[i] = vpadalq_s16(acc[i], vmlal_high_s8(vmull_s8(vget_low_s8(a), vget_low_s8(b)), a, b));
#define STORE(i) vst1q_s32(sums + LANES * i, acc[i]);
    ETP_EACH_12(BEGIN)
    for (uint64_t t = 0; t < trips; t++) {
        ETP_EACH_12(STEP)
    }
    ETP_EACH_12(STORE)
#undef BEGIN
#undef STEP
#undef STORE
    return etp_roof_same_i32(sums, (size_t)12 * LANES);
}

const etp_roof_loop etp_roof_neon_dot = {"neon",  "dot_i8",        4,
                                         1 << 28, neon_dot_i8_ops, neon_dot_i8};

static uint64_t neon_read(const void *bytes, uint64_t n)
{
    const uint64_t *p = bytes, *end = p + n / sizeof *p;
    uint64x2_t s0 = vdupq_n_u64(0), s1 = s0, s2 = s0, s3 = s0;
    for (; p < end; p += 8) {
        s0 = veorq_u64(s0, vld1q_u64(p));
        s1 = veorq_u64(s1, vld1q_u64(p + 2));
        s2 = veorq_u64(s2, vld1q_u64(p + 4));
        s3 = veorq_u64(s3, vld1q_u64(p + 6));
    }
    s0 = veorq_u64(veorq_u64(s0, s1), veorq_u64(s2, s3));
    return vgetq_lane_u64(s0, 0) ^ vgetq_lane_u64(s0, 1);
}

const etp_roof_reader etp_roof_neon_read = {"neon", neon_read};
