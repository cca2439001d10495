// SPDX-License-Identifier: Apache-2.0
// Loops for SME and SME2, as encodings: assemblers that know the extensions are younger than many
// systems.
//
// Each is a function of its own in assembly, because starting streaming mode clears every vector
// register. Four outer products into the four 32-bit tiles, four times a trip: one thread saturates
// a unit with four sums. The SME2 loop multiplies and adds vectors into ZA, as kernels for one row
// do.
#include <string.h>

#include "roofs/internal.h"

#define MAX_VECTOR 256 // bytes: the architecture's longest

#if defined(__APPLE__)
#define NAME(f) "_" #f
#define HEAD(f) ".globl " NAME(f) "\n.private_extern " NAME(f) "\n"
#define TAIL(f) ""
#else
#define NAME(f) #f
#define HEAD(f) ".globl " #f "\n.hidden " #f "\n.type " #f ", %function\n"
#define TAIL(f) ".size " #f ", .-" #f "\n"
#endif
#define WORD(w) ".inst " #w "\n"

// x0 trips, x1 a, x2 b, x3 where ZA goes. SETUP loads a and b, BODY is a trip.
#define KERNEL(f, setup, body)                                                        \
    __asm__(".text\n.p2align 6\n" HEAD(f)                                             \
                NAME(f) ":\n"                                                         \
                        "stp d8, d9, [sp, #-64]!\n"                                   \
                        "stp d10, d11, [sp, #16]\n"                                   \
                        "stp d12, d13, [sp, #32]\n"                                   \
                        "stp d14, d15, [sp, #48]\n" WORD(0xd503477f) /* smstart */    \
            WORD(0x2518e3e0)                                         /* ptrue p0.b */ \
            WORD(0xc00800ff)                                         /* zero {za} */  \
            "mov w8, #0\n" setup "cbz x0, 2f\n"                                       \
            "1:\n" body "subs x0, x0, #1\n"                                           \
            "b.ne 1b\n"                                                               \
            "2:\n" WORD(0x04bf5824) /* rdsvl x4, #1 */                                \
            "mov w12, #0\n"                                                           \
            "3:\n" WORD(0xe1200060) /* str za[w12, 0], [x3] */                        \
            "add x3, x3, x4\n"                                                        \
            "add w12, w12, #1\n"                                                      \
            "cmp w12, w4\n"                                                           \
            "b.ne 3b\n" WORD(0xd503467f) /* smstop */                                 \
            "ldp d14, d15, [sp, #48]\n"                                               \
            "ldp d12, d13, [sp, #32]\n"                                               \
            "ldp d10, d11, [sp, #16]\n"                                               \
            "ldp d8, d9, [sp], #64\n"                                                 \
            "ret\n" TAIL(f))

#define LOAD_AB WORD(0xa540a020) /* ld1w z0.s, [x1] */ WORD(0xa540a041) /* ld1w z1.s, [x2] */
#define FOUR(x) x x x x

KERNEL(etp_sme_mopa_f32, LOAD_AB, /* fmopa za0…3.s, z0.s, z1.s */
       FOUR(WORD(0x80810000) WORD(0x80810001) WORD(0x80810002) WORD(0x80810003)));
KERNEL(etp_sme_mopa_f16, LOAD_AB, /* fmopa za0…3.s, z0.h, z1.h */
       FOUR(WORD(0x81a10000) WORD(0x81a10001) WORD(0x81a10002) WORD(0x81a10003)));
KERNEL(etp_sme_mopa_i8, LOAD_AB, /* smopa za0…3.s, z0.b, z1.b */
       FOUR(WORD(0xa0810000) WORD(0xa0810001) WORD(0xa0810002) WORD(0xa0810003)));
// fmla za.s[w8, 0…7, vgx4], {z0.s-z3.s}, {z4.s-z7.s}: eight chains of four vectors. With 128-bit
// vectors ZA has four groups only, which are then met twice.
KERNEL(etp_sme2_fmla_f32,
       LOAD_AB WORD(0x04613024) /* mov z4.d, z1.d */ WORD(0x04613025) WORD(0x04613026)
           WORD(0x04613027) WORD(0x04603001) /* mov z1.d, z0.d */ WORD(0x04603002) WORD(0x04603003),
       WORD(0xc1a51800) WORD(0xc1a51801) WORD(0xc1a51802) WORD(0xc1a51803) WORD(0xc1a51804)
           WORD(0xc1a51805) WORD(0xc1a51806) WORD(0xc1a51807));

uint64_t etp_sme_vector_bytes(void)
{
    register uint64_t bytes __asm__("x0");
    __asm__ volatile(WORD(0x04bf5820) /* rdsvl x0, #1 */ : "=r"(bytes));
    return bytes;
}

// All of ZA as 32-bit sums. GROUPS: how many quarters' vectors the kernel writes, the others must
// stay 0.
static int64_t run(etp_sme_kernel *kernel, uint64_t trips, const void *ones, bool floats,
                   uint64_t groups)
{
    uint64_t bytes = etp_sme_vector_bytes(), quarter = bytes / 4;
    static _Thread_local _Alignas(64) uint8_t za[MAX_VECTOR * MAX_VECTOR];
    int64_t common = -1;
    if (bytes > MAX_VECTOR) {
        return -1;
    }
    kernel(trips, ones, ones, za);
    for (uint64_t v = 0; v < bytes; v++) {
        for (uint64_t i = 0; i < quarter; i++) {
            const uint8_t *at = za + v * bytes + 4 * i;
            float f;
            int32_t n;
            memcpy(&f, at, sizeof f);
            memcpy(&n, at, sizeof n);
            int64_t sum = floats ? (int64_t)f : n;
            bool written = v % quarter < groups;
            common = written && common < 0 ? sum : common;
            if (sum != (written ? common : 0)) {
                return -1;
            }
        }
    }
    return common;
}

// Sums of a tile row and column; the four tiles are all of ZA.
static uint64_t products(uint64_t each)
{
    uint64_t n = etp_sme_vector_bytes() / 4;
    return 2 * each * n * n * 16;
}

static uint64_t f32_ops(void)
{
    return products(1);
}

static uint64_t f16_ops(void)
{
    return products(2);
}

static uint64_t i8_ops(void)
{
    return products(4);
}

static uint64_t fmla_ops(void)
{
    return (uint64_t)2 * 8 * 4 * (etp_sme_vector_bytes() / 4);
}

static int64_t run_f32(uint64_t trips)
{
    float ones[MAX_VECTOR / 4];
    for (size_t i = 0; i < MAX_VECTOR / 4; i++) {
        ones[i] = 1;
    }
    return run(etp_sme_mopa_f32, trips, ones, true, UINT64_MAX);
}

static int64_t run_f16(uint64_t trips)
{
    uint16_t ones[MAX_VECTOR / 2];
    for (size_t i = 0; i < MAX_VECTOR / 2; i++) {
        ones[i] = 0x3c00; // 1 in half precision
    }
    return run(etp_sme_mopa_f16, trips, ones, true, UINT64_MAX);
}

static int64_t run_i8(uint64_t trips)
{
    int8_t ones[MAX_VECTOR];
    memset(ones, 1, sizeof ones);
    return run(etp_sme_mopa_i8, trips, ones, false, UINT64_MAX);
}

static int64_t run_fmla(uint64_t trips)
{
    float ones[MAX_VECTOR / 4];
    for (size_t i = 0; i < MAX_VECTOR / 4; i++) {
        ones[i] = 1;
    }
    int64_t sum = run(etp_sme2_fmla_f32, trips, ones, true, 8);
    return etp_sme_vector_bytes() == 16 && sum > 0 ? sum / 2 : sum;
}

const etp_roof_loop etp_roof_sme_f32 = {"sme", ETP_ROOF_FMA_F32, 4, 1 << 22, f32_ops, run_f32};
const etp_roof_loop etp_roof_sme_f16 = {"sme", ETP_ROOF_FMA_F16, 8, 1 << 21, f16_ops, run_f16};
const etp_roof_loop etp_roof_sme_i8 = {"sme", ETP_ROOF_DOT_I8, 16, 1 << 26, i8_ops, run_i8};
const etp_roof_loop etp_roof_sme2_f32 = {"sme2", ETP_ROOF_FMA_F32, 1, 1 << 24, fmla_ops, run_fmla};
