// SPDX-License-Identifier: Apache-2.0
// Instruction sets of code. Encodings were written by hand from the manuals' diagrams and checked
// with objdump (x86-64) or against the names of published kernels (aarch64).
#include "binary/code.h"
#include "unit.h"

typedef struct x86_case {
    const char *text;
    uint8_t bytes[12];
    size_t len;
    etp_code code;
} x86_case;

static const x86_case k_x86[] = {
    {"ret",                                                      {0xc3},                                        1,  ETP_CODE_SCALAR        },
    {"mov (%rdi),%rax",                                          {0x48, 0x8b, 0x07},                            3,  ETP_CODE_SCALAR        },
    {"imul %rsi,%rax",                                           {0x48, 0x0f, 0xaf, 0xc6},                      4,  ETP_CODE_SCALAR        },
    {"jne +0x100",                                               {0x0f, 0x85, 0, 1, 0, 0},                      6,  ETP_CODE_SCALAR        },
    {"popcnt %rax,%rax",                                         {0xf3, 0x48, 0x0f, 0xb8, 0xc0},                5,  ETP_CODE_SCALAR        },
    {"bswap %eax",                                               {0x0f, 0xc8},                                  2,  ETP_CODE_SCALAR        },
    {"nopw cs:0(%rax,%rax)",                                     {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, 10, ETP_CODE_SCALAR        },
    {"addps %xmm1,%xmm0",                                        {0x0f, 0x58, 0xc1},                            3,  ETP_CODE_SSE           },
    {"movdqu (%rsi),%xmm8",                                      {0xf3, 0x44, 0x0f, 0x6f, 0x06},                5,  ETP_CODE_SSE           },
    {"pmaddubsw %xmm1,%xmm0",                                    {0x66, 0x0f, 0x38, 0x04, 0xc1},                5,  ETP_CODE_SSE           },
    {"pblendw $1,%xmm1,%xmm0",                                   {0x66, 0x0f, 0x3a, 0x0e, 0xc1, 1},             6,  ETP_CODE_SSE           },
    {"vaddps %ymm2,%ymm1,%ymm0",                                 {0xc5, 0xf4, 0x58, 0xc2},                      4,  ETP_CODE_AVX           },
    {"vfmadd231ps (%rdi),%ymm1,%ymm0",                           {0xc4, 0xe2, 0x75, 0xb8, 0x07},                5,  ETP_CODE_FMA           },
    {"vpblendd $1,%ymm2,%ymm1,%ymm0",                            {0xc4, 0xe3, 0x75, 0x02, 0xc2, 1},             6,  ETP_CODE_AVX2          },
    {"vzeroupper",                                               {0xc5, 0xf8, 0x77},                            3,  ETP_CODE_SCALAR        },
    {"andn %edx,%ecx,%eax",                                      {0xc4, 0xe2, 0x70, 0xf2, 0xc2},                5,  ETP_CODE_SCALAR        },
    {"rorx $3,%rdi,%rax",                                        {0xc4, 0xe3, 0xfb, 0xf0, 0xc7, 3},             6,  ETP_CODE_SCALAR        },
    {"vpdpbusd %ymm2,%ymm1,%ymm0 (VEX)",                         {0xc4, 0xe2, 0x75, 0x50, 0xc2},                5,  ETP_CODE_AVX_VNNI      },
    {"kmovw %eax,%k1",                                           {0xc5, 0xf8, 0x92, 0xc8},                      4,  ETP_CODE_AVX512        },
    {"vaddps %zmm2,%zmm1,%zmm0",                                 {0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2},          6,  ETP_CODE_AVX512        },
    {"vaddps 0x40(%rdi),%zmm1,%zmm0",                            {0x62, 0xf1, 0x74, 0x48, 0x58, 0x47, 1},       7,  ETP_CODE_AVX512        },
    {"vpaddd %xmm18,%xmm17,%xmm16",                              {0x62, 0xa1, 0x75, 0x00, 0xfe, 0xc2},          6,  ETP_CODE_AVX512        },
    {"vpdpbusd %zmm2,%zmm1,%zmm0",                               {0x62, 0xf2, 0x75, 0x48, 0x50, 0xc2},          6,  ETP_CODE_AVX512_VNNI   },
    {"vpdpbusd 0x1000(%rsi,%rdi,4),%zmm1,%zmm0",
     {0x62, 0xf2, 0x75, 0x48, 0x50, 0x84, 0xbe, 0x00, 0x10, 0, 0},
     11,                                                                                                            ETP_CODE_AVX512_VNNI   },
    {"vpternlogd $0xff,%zmm0,%zmm0,%zmm0",
     {0x62, 0xf3, 0x7d, 0x48, 0x25, 0xc0, 0xff},
     7,                                                                                                             ETP_CODE_AVX512        },
    {"vpermi2b %zmm2,%zmm1,%zmm0 (neighbour of no VNNI opcode)",
     {0x62, 0xf2, 0x75, 0x48, 0x75, 0xc2},
     6,                                                                                                             ETP_CODE_AVX512        },
    {"vbroadcastss 0x10(%rip),%zmm0",
     {0x62, 0xf2, 0x7d, 0x48, 0x18, 0x05, 16, 0, 0, 0},
     10,                                                                                                            ETP_CODE_AVX512        },
    {"vdpbf16ps %zmm7,%zmm2,%zmm11",                             {0x62, 0x72, 0x6e, 0x48, 0x52, 0xdf},          6,  ETP_CODE_AVX512_BF16   },
    {"vpdpwssd %zmm1,%zmm2,%zmm0",                               {0x62, 0xf2, 0x6d, 0x48, 0x52, 0xc1},          6,  ETP_CODE_AVX512_VNNI   },
    {"vfmadd231ph %zmm1,%zmm2,%zmm0",
     {0x62, 0xf6, 0x6d, 0x48, 0xb8, 0xc1},
     6,                                                                                                             ETP_CODE_AVX512_FP16   },
    {"vcmpph $1,%zmm1,%zmm2,%k0",                                {0x62, 0xf3, 0x6c, 0x48, 0xc2, 0xc1, 1},       7,  ETP_CODE_AVX512_FP16   },
    {"vp4dpwssd (%rax),%zmm2,%zmm0",                             {0x62, 0xf2, 0x6f, 0x48, 0x52, 0x00},          6,  ETP_CODE_AVX512        },
    {"vpdpbssd %ymm1,%ymm2,%ymm0",                               {0xc4, 0xe2, 0x6f, 0x50, 0xc1},                5,  ETP_CODE_AVX_VNNI_INT8 },
    {"vpdpwsud %ymm1,%ymm2,%ymm0",                               {0xc4, 0xe2, 0x6e, 0xd2, 0xc1},                5,  ETP_CODE_AVX_VNNI_INT16},
    {"vpdpbssd %zmm1,%zmm2,%zmm0",                               {0x62, 0xf2, 0x6f, 0x48, 0x50, 0xc1},          6,  ETP_CODE_AVX10_2       },
    {"vdpphps %zmm1,%zmm2,%zmm0",                                {0x62, 0xf2, 0x6c, 0x48, 0x52, 0xc1},          6,  ETP_CODE_AVX10_2       },
    {"gf2p8affineqb $0,%zmm1,%zmm2,%zmm0",
     {0x62, 0xf3, 0xed, 0x48, 0xce, 0xc1, 0},
     7,                                                                                                             ETP_CODE_GFNI          },
    {"tileloadd (%rax,%rdx),%tmm0",                              {0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x10},          6,  ETP_CODE_AMX           },
    {"tdpbf16ps %tmm2,%tmm1,%tmm0",                              {0xc4, 0xe2, 0x6a, 0x5c, 0xc1},                5,  ETP_CODE_AMX_BF16      },
    {"tdphf8ps %tmm2,%tmm1,%tmm0",                               {0xc4, 0xe5, 0x69, 0xfd, 0xc1},                5,  ETP_CODE_AMX_FP8       },
    {"tmmultf32ps %tmm2,%tmm1,%tmm0",                            {0xc4, 0xe2, 0x69, 0x48, 0xc1},                5,  ETP_CODE_AMX_TF32      },
    {"tdpbssd %tmm2,%tmm1,%tmm0",                                {0xc4, 0xe2, 0x6b, 0x5e, 0xc1},                5,  ETP_CODE_AMX_INT8      },
};

static void each_instruction_of_x86(void **state)
{
    for (size_t i = 0; i < sizeof k_x86 / sizeof *k_x86; i++) {
        const x86_case *c = &k_x86[i];
        etp_code got = etp_code_of_x86(c->bytes, c->len);
        if (got != c->code) {
            fail_msg("%s: %s, not %s", c->text, etp_code_name(got), etp_code_name(c->code));
        }
        // Alone its length must come out too: one instruction, nothing left.
        etp_code_count count;
        assert_int_equal(
            etp_code_of(ETP_MACHINE_X86_64, (etp_bytes){c->bytes, c->len, 0}, &count, &got, NULL),
            ETP_OK);
        if (count.instructions != 1 || !count.whole || got != c->code) {
            fail_msg("%s: %u instructions, %s", c->text, count.instructions, etp_code_name(got));
        }
        // And cut short it is no instruction.
        assert_int_equal(etp_code_of(ETP_MACHINE_X86_64, (etp_bytes){c->bytes, c->len - 1, 0},
                                     &count, &got, NULL),
                         ETP_OK);
        if (c->len > 1 && count.whole && count.instructions == 1) {
            fail_msg("%s: decoded from %zu bytes", c->text, c->len - 1);
        }
    }
}

static void a_function_needs_its_most_demanding_instruction(void **state)
{
    uint8_t code[256];
    size_t n = 0;
    uint32_t want_512 = 0;
    for (size_t i = 0; i < sizeof k_x86 / sizeof *k_x86; i++) {
        if (k_x86[i].code <= ETP_CODE_AVX512) {
            memcpy(code + n, k_x86[i].bytes, k_x86[i].len);
            n += k_x86[i].len;
            want_512 += k_x86[i].code == ETP_CODE_AVX512;
        }
    }
    etp_code_count count;
    etp_code got;
    assert_int_equal(etp_code_of(ETP_MACHINE_X86_64, (etp_bytes){code, n, 0}, &count, &got, NULL),
                     ETP_OK);
    assert_int_equal(got, ETP_CODE_AVX512);
    assert_true(count.whole);
    assert_int_equal(count.of[ETP_CODE_AVX512], want_512);
    assert_int_equal(count.of[ETP_CODE_AVX512_VNNI], 0);
    // The bytes of a VNNI instruction inside another's displacement do not count.
    static const uint8_t k_hidden[] = {0x48, 0xb8, 0x62, 0xf2, 0x75, 0x48, 0x50, 0xc2, 0, 0, 0xc3};
    assert_int_equal(etp_code_of(ETP_MACHINE_X86_64, (etp_bytes){k_hidden, sizeof k_hidden, 0},
                                 &count, &got, NULL),
                     ETP_OK);
    assert_int_equal(got, ETP_CODE_SCALAR);
    assert_int_equal(count.instructions, 2);
}

static void each_group_of_a64(void **state)
{
    static const struct {
        const char *text;
        uint32_t word;
        etp_code code;
    } k_cases[] = {
        {"ret",                                        0xd65f03c0, ETP_CODE_SCALAR },
        {"add x0, x0, #1",                             0x91000400, ETP_CODE_SCALAR },
        {"fadd s0, s0, s1",                            0x1e212800, ETP_CODE_SCALAR },
        {"smstart",                                    0xd503477f, ETP_CODE_SCALAR },
        {"udf #0",                                     0x00000000, ETP_CODE_SCALAR },
        {"fmla v0.4s, v1.4s, v2.4s",                   0x4e22cc20, ETP_CODE_NEON   },
        {"fmla v0.4s, v1.4s, v2.s[0]",                 0x4f821020, ETP_CODE_NEON   },
        {"sdot v0.4s, v1.16b, v2.16b",                 0x4e829420, ETP_CODE_DOTPROD},
        {"udot v0.4s, v1.16b, v2.4b[1]",               0x6fa2e020, ETP_CODE_DOTPROD},
        {"smmla v0.4s, v1.16b, v2.16b",                0x4e82a420, ETP_CODE_I8MM   },
        {"usdot v0.4s, v1.16b, v2.16b",                0x4e829c20, ETP_CODE_I8MM   },
        {"bfmmla v0.4s, v1.8h, v2.8h",                 0x6e42ec20, ETP_CODE_BF16   },
        {"bfdot v0.4s, v1.8h, v2.2h[0]",               0x4f42f020, ETP_CODE_BF16   },
        {"bfmlalb v0.4s, v1.8h, v2.8h",                0x2ec2fc20, ETP_CODE_BF16   },
        {"fmla v0.8h, v1.8h, v2.8h",                   0x4e420c20, ETP_CODE_FP16   },
        {"fmlal v0.4s, v1.4h, v2.4h",                  0x4e22ec20, ETP_CODE_FHM    },
        {"smlalb z0.s, z1.h, z2.h",                    0x44824020, ETP_CODE_SVE2   },
        {"rdsvl x0, #1",                               0x04bf5820, ETP_CODE_SME    },
        {"fmla z0.s, p0/m, z1.s, z2.s",                0x65a20020, ETP_CODE_SVE    },
        {"ptrue p0.s",                                 0x2598e3e0, ETP_CODE_SVE    },
        {"fmopa za0.s, p0/m, p1/m, z0.s, z1.s",        0x80812000, ETP_CODE_SME    },
        {"smopa za0.s, p0/m, p1/m, z0.b, z1.b",        0xa0812000, ETP_CODE_SME    },
        {"zero {za}",                                  0xc00800ff, ETP_CODE_SME    },
        {"ld1w {za0h.s[w12, #0]}, p0/z, [x0]",         0xe09f0000, ETP_CODE_SME    },
        {"ldr za[w12, #0], [x0]",                      0xe1000000, ETP_CODE_SME    },
        {"st1w {za0h.s[w12, #0]}, p0, [x0]",           0xe0bf0000, ETP_CODE_SME    },
        {"zero {zt0}",                                 0xc0480001, ETP_CODE_SME2   },
        {"ldr zt0, [x0]",                              0xe11f8000, ETP_CODE_SME2   },
        {"ld1w {z0.s-z3.s}, pn8/z, [x0]",              0xa040c000, ETP_CODE_SME2   },
        {"fmla za.s[w8, #0, vgx4], {z0.s-z3.s}, z4.s", 0xc1341800, ETP_CODE_SME2   },
        {"mova {z0.s-z3.s}, za0h.s[w12, 0:3]",         0xc0860400, ETP_CODE_SME2   },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_code got = etp_code_of_a64(k_cases[i].word);
        if (got != k_cases[i].code) {
            fail_msg("%s: %s, not %s", k_cases[i].text, etp_code_name(got),
                     etp_code_name(k_cases[i].code));
        }
    }
}

static void names_differ(void **state)
{
    for (etp_code c = 0; c < ETP_CODES; c++) {
        for (etp_code other = 0; other < c; other++) {
            assert_string_not_equal(etp_code_name(other), etp_code_name(c));
        }
        assert_non_null(etp_code_title(c));
    }
}

static void any_bytes_are_bearable(void **state)
{
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < 3000; round++) {
        uint8_t code[64];
        for (size_t i = 0; i < sizeof code; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            code[i] = i % 8 == 0 && round % 3 == 0 ? 0x62 : (uint8_t)x;
        }
        etp_code_count count;
        etp_code got;
        // The exact length, so that a sanitizer sees any read behind the end.
        size_t n = (size_t)(x % sizeof code);
        etp_bytes bytes = {code + sizeof code - n, n, 0};
        assert_int_equal(etp_code_of(ETP_MACHINE_X86_64, bytes, &count, &got, NULL), ETP_OK);
        assert_int_equal(etp_code_of(ETP_MACHINE_AARCH64, bytes, &count, &got, NULL), ETP_OK);
    }
}
