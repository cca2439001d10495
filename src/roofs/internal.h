// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this room: the tables of each instruction set, the thread pool.
#ifndef ETP_ROOFS_INTERNAL_H
#define ETP_ROOFS_INTERNAL_H

#include "roofs/roofs.h"

// Written out, not as an inner loop: the number of instructions of a trip must not depend on what
// the compiler unrolls.
#define ETP_EACH_8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ETP_EACH_12(X) ETP_EACH_8(X) X(8) X(9) X(10) X(11)
#define ETP_EACH_24(X) \
    ETP_EACH_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)

// The common value of sums, −1 when they differ.
static inline int64_t etp_roof_same_f32(const float *sums, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (sums[i] > sums[0] || sums[i] < sums[0]) {
            return -1;
        }
    }
    return (int64_t)sums[0];
}

static inline int64_t etp_roof_same_i32(const int32_t *sums, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (sums[i] != sums[0]) {
            return -1;
        }
    }
    return sums[0];
}

// A whole number below 2048 from its half-precision bits; −1 for anything else.
static inline int64_t etp_roof_half(uint16_t bits)
{
    unsigned exponent = bits >> 10, fraction = (bits & 1023u) | 1024u;
    if (bits == 0) {
        return 0;
    }
    if (exponent < 15 || exponent > 25 || (fraction & ((1u << (25 - exponent)) - 1)) != 0) {
        return -1;
    }
    return fraction >> (25 - exponent);
}

// A loop: CHAINS independent chains of LANES sums each, so that the latency of the instruction
// hides. The file says what it makes of `one`, and in BEGIN(i), STEP(i) and STORE(i) what a
// chain does with acc[i] and sums. `one` is volatile, or the compiler would know the result, and
// that all sums are one.
#define ETP_ROOF_SUM_f32 float
#define ETP_ROOF_SUM_i32 int32_t
#define ETP_ROOF_WHAT_fma_f32 ETP_ROOF_FMA_F32
#define ETP_ROOF_WHAT_fma_f16 ETP_ROOF_FMA_F16
#define ETP_ROOF_WHAT_dot_i8 ETP_ROOF_DOT_I8
#define ETP_ROOF_LOOP(set, short_name, name, kind, attributes, chains, lanes, products, limit, \
                      one_type, vector, sum, ...)                                              \
    static uint64_t set##_##kind##_ops(void)                                                   \
    {                                                                                          \
        return (uint64_t)2 * (products) * (chains) * (lanes);                                  \
    }                                                                                          \
    attributes static int64_t set##_##kind(uint64_t trips)                                     \
    {                                                                                          \
        volatile one_type one = 1;                                                             \
        __VA_ARGS__;                                                                           \
        vector acc[chains];                                                                    \
        ETP_ROOF_SUM_##sum sums[(chains) * (lanes)];                                           \
        ETP_EACH_##chains(BEGIN);                                                              \
        for (uint64_t t = 0; t < trips; t++) {                                                 \
            ETP_EACH_##chains(STEP);                                                           \
        }                                                                                      \
        ETP_EACH_##chains(STORE);                                                              \
        return etp_roof_same_##sum(sums, (size_t)(chains) * (lanes));                          \
    }                                                                                          \
    const etp_roof_loop etp_roof_##set##_##short_name = {                                      \
        name, ETP_ROOF_WHAT_##kind, products, limit, set##_##kind##_ops, set##_##kind}

// Reads memory, and gives all words of it, xor.
#define ETP_ROOF_READER(set, vector, zero, load, store, xor)           \
    static uint64_t set##_read(const void *bytes, uint64_t n)          \
    {                                                                  \
        const vector *p = bytes, *end = p + n / sizeof *p;             \
        vector s0 = zero(), s1 = s0, s2 = s0, s3 = s0;                 \
        for (; p < end; p += 4) {                                      \
            s0 = xor(s0, load(p));                                     \
            s1 = xor(s1, load(p + 1));                                 \
            s2 = xor(s2, load(p + 2));                                 \
            s3 = xor(s3, load(p + 3));                                 \
        }                                                              \
        uint64_t words[sizeof s0 / 8], sum = 0;                        \
        store((vector *)(void *)words, xor(xor(s0, s1), xor(s2, s3))); \
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {    \
            sum ^= words[i];                                           \
        }                                                              \
        return sum;                                                    \
    }                                                                  \
    const etp_roof_reader etp_roof_##set##_read = {#set, set##_read}

#if defined(__x86_64__)
extern const etp_roof_loop etp_roof_sse_fma, etp_roof_ssse3_dot, etp_roof_avx2_fma,
    etp_roof_avx2_dot, etp_roof_avx512_fma, etp_roof_avx512_dot, etp_roof_vnni_dot,
    etp_roof_fp16_fma;
extern const etp_roof_reader etp_roof_sse_read, etp_roof_avx2_read, etp_roof_avx512_read;
#elif defined(__aarch64__)
extern const etp_roof_loop etp_roof_neon_fma, etp_roof_neon_dot, etp_roof_neon_fp16,
    etp_roof_dotprod_dot, etp_roof_i8mm_dot, etp_roof_sme_f32, etp_roof_sme_f16, etp_roof_sme_i8,
    etp_roof_sme2_f32;
extern const etp_roof_reader etp_roof_neon_read;

// For the test of the matrix loops: TRIPS trips over one vector of A and one of B (SVL bits each),
// then all of ZA (SVL/8 vectors). The CPU must have SME, and SME2 for etp_sme2_fmla_f32.
typedef void etp_sme_kernel(uint64_t trips, const void *a, const void *b, void *za);
etp_sme_kernel etp_sme_mopa_f32, etp_sme_mopa_f16, etp_sme_mopa_i8, etp_sme2_fmla_f32;
uint64_t etp_sme_vector_bytes(void);
#endif

// Fork and join as XNNPACK's pool does it: workers spin for work before they sleep, the caller
// takes part and spins until all are through.
typedef struct etp_roof_pool etp_roof_pool;
typedef void etp_roof_job(void *ctx, uint32_t thread);
etp_roof_pool *etp_roof_pool_open(uint32_t threads); // NULL: the system gives no more threads
void etp_roof_pool_run(etp_roof_pool *pool, etp_roof_job *job, void *ctx);
void etp_roof_pool_close(etp_roof_pool *pool); // NULL is fine

#endif
