// SPDX-License-Identifier: Apache-2.0
// Loops for Armv8.0 NEON: 24 independent chains are enough for four pipes of four cycles. Before
// there were dot products, 8-bit integers were multiplied to 16 bits, added there once, then in 32.
#include <arm_neon.h>

#include "roofs/internal.h"

#define BEGIN(i) acc[i] = vdupq_n_f32(one - one);
#define STEP(i) acc[i] = vfmaq_f32(acc[i], a, b);
#define STORE(i) vst1q_f32(sums + 4 * i, acc[i]);
ETP_ROOF_LOOP(neon, fma, "neon", fma_f32, , 24, 4, 1, 1 << 24, float, float32x4_t, f32,
              const float32x4_t a = vdupq_n_f32(one), b = a);
#undef BEGIN
#undef STEP
#undef STORE

// 16 products a chain. The operand is made unknown before each product, or the compiler would
// multiply once for all trips.
#define BEGIN(i) acc[i] = vdupq_n_s32(one - one);
#define STEP(i)                     \
    __asm__ volatile("" : "+w"(a)); \
    acc[i] = vpadalq_s16(acc[i], vmlal_high_s8(vmull_s8(vget_low_s8(a), vget_low_s8(b)), a, b));
#define STORE(i) vst1q_s32(sums + 4 * i, acc[i]);
ETP_ROOF_LOOP(neon, dot, "neon", dot_i8, , 12, 4, 4, 1 << 28, int8_t, int32x4_t, i32,
              int8x16_t a = vdupq_n_s8(one);
              const int8x16_t b = a);

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
