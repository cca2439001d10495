// SPDX-License-Identifier: Apache-2.0
// Sampled kernels: counting, the judgement of levels, names of micro-kernels, hostile files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sink.h"
#include "explain/kernels.h"
#include "unit.h"

// One function per instruction set, 16 bytes apart in one library; machine code by hand.
#define LIBRARY "libexecutorch_backend_xnnpack.so"
static const char k_code[] =
    "module,machine,build_id,start,end,bounds,symbol,code\n" LIBRARY
    ",x86_64,abcd,0x1000,0x1010,symbol,xnn_f32_gemm_minmax_ukernel_4x8__sse_dup,0f58c1c3\n" LIBRARY
    ",x86_64,abcd,0x1010,0x1020,unwind,,c5f458c2c3\n" LIBRARY
    ",x86_64,abcd,0x1020,0x1030,unwind,,62f1744858c2c3\n" LIBRARY
    ",x86_64,abcd,0x1030,0x1040,unwind,,62f2754850c2c3\n"
    "libc.so.6,x86_64,ef01,0x1000,0x1010,unwind,,62f1744858c2c3\n";

typedef struct mix { // samples in sse, avx2, avx512, avx512-vnni code and in the C library's
                     // AVX-512
    unsigned of[5];
} mix;

static const char *samples_of(mix m, etp_arena *arena)
{
    static const unsigned k_address[] = {0x1000, 0x1010, 0x1020, 0x1030, 0x1000};
    etp_strbuf b;
    etp_strbuf_init(&b, arena);
    etp_strbuf_appendz(&b,
                       "time_ns,thread,module,address,symbol,streaming,iteration,chain,instruction,"
                       "operator,sure\n");
    for (int i = 0; i < 5; i++) {
        for (unsigned n = 0; n < m.of[i]; n++) {
            etp_strbuf_printf(
                &b, "%u,7,%s,0x%x,,,3,0,2,\"Fully Connected (NC, QS8, QC8W) GEMM #%d\",%d\n",
                1000 + n, i == 4 ? "libc.so.6" : LIBRARY, k_address[i], i / 2 + 1, n > 0);
        }
    }
    etp_strbuf_appendz(&b, "9000,7,,,,,,,,,\n"); // outside any library
    return b.ptr;
}

static void read_mix(mix m, etp_arena *arena, etp_kernels *out)
{
    etp_error err = {0};
    ASSERT_OK(etp_kernels_read(
                  &(etp_kernels_text){etp_str_from(samples_of(m, arena)), etp_str_from(k_code)}, 1,
                  arena, out, &err),
              err);
}

static void samples_are_counted(void **state)
{
    etp_kernels k;
    read_mix(
        (mix){
            {10, 20, 30, 40, 5}
    },
        *state, &k);
    assert_int_equal(k.samples, 106);
    assert_int_equal(k.of[ETP_CODE_UNKNOWN], 1);
    assert_int_equal(k.of[ETP_CODE_AVX512], 35);
    assert_int_equal(k.evidence, 100); // without the C library
    assert_int_equal(k.evidence_of[ETP_CODE_AVX512], 30);
    assert_int_equal(k.evidence_of[ETP_CODE_AVX512_VNNI], 40);
    assert_int_equal(k.joined, 105);
    assert_int_equal(k.sure, 100);
    assert_int_equal(k.n_kernels, 5);
    assert_int_equal(k.kernels[0].start, 0x1030);
    assert_int_equal(k.kernels[0].samples, 40);
    assert_int_equal(k.kernels[3].samples, 10);
    assert_true(etp_str_starts(k.kernels[3].symbol, ETP_STR("xnn_f32_gemm")));
    // "#1" holds sse and avx2 code, "#2" avx512 and vnni, "#3" the C library's.
    assert_int_equal(k.n_ops, 3);
    assert_int_equal(k.ops[0].samples, 70);
    assert_int_equal(k.ops[0].kernel, 0);
    assert_int_equal(k.ops[0].kernel_samples, 39);
    assert_int_equal(k.ops[1].of[ETP_CODE_AVX], 20);
    assert_int_equal(k.kernels[k.ops[1].kernel].start, 0x1010);
    assert_int_equal(k.kernels[3].op, 1);
    assert_string_equal(k.kernels[3].title, "xnn_f32_gemm_minmax_ukernel_4x8__sse_dup");
    assert_string_equal(k.kernels[0].title,
                        "AVX-512 VNNI kernel of Fully Connected (NC, QS8, QC8W) GEMM [" LIBRARY
                        "+0x1030]");
    assert_string_equal(k.kernels[4].title, "AVX-512 code [libc.so.6+0x1000]");
}

typedef struct judged {
    etp_level level;
    mix m;
    etp_truth truth;
} judged;

static void judge(const judged *cases, size_t n)
{
    etp_arena arena = {0};
    etp_kernels k[4];
    etp_kernels_arm arms[4];
    for (size_t i = 0; i < n; i++) {
        read_mix(cases[i].m, &arena, &k[i]);
        arms[i] = (etp_kernels_arm){&k[i], cases[i].level, 0};
    }
    for (size_t i = 0; i < n; i++) {
        etp_proof proof = {0};
        etp_kernels_judge(arms, n, i, &arena, &proof);
        assert_int_equal(proof.lines.n, 1);
        assert_int_equal(proof.lines.items[0].kind, ETP_PROOF_SAMPLES);
        if (proof.truth != cases[i].truth) {
            fail_msg("arm %zu: %d, not %d: %s", i, (int)proof.truth, (int)cases[i].truth,
                     proof.lines.items[0].text);
        }
    }
    etp_arena_dispose(&arena);
}

#define JUDGE(...) \
    judge((const judged[]){__VA_ARGS__}, sizeof((const judged[]){__VA_ARGS__}) / sizeof(judged))

static void levels_are_judged(void **state)
{
    // All four as they should be; the C library's AVX-512 says nothing.
    JUDGE({ETP_LEVEL_VNNI, {{20, 10, 30, 40, 9}}, ETP_CONFIRMED},
          {ETP_LEVEL_AVX512, {{20, 10, 70, 0, 9}}, ETP_CONFIRMED},
          {ETP_LEVEL_AVX2, {{20, 80, 0, 0, 9}}, ETP_CONFIRMED},
          {ETP_LEVEL_SSE, {{100, 0, 0, 0, 9}}, ETP_CONFIRMED});
    // Each claims more was hidden than was.
    JUDGE({ETP_LEVEL_AVX512, {{20, 10, 30, 40, 0}}, ETP_CONTRADICTED});
    JUDGE({ETP_LEVEL_AVX2, {{20, 10, 70, 0, 0}}, ETP_CONTRADICTED});
    JUDGE({ETP_LEVEL_SSE, {{20, 80, 0, 0, 0}}, ETP_CONTRADICTED});
    // Each claims less was hidden than was: only another arm can tell.
    JUDGE({ETP_LEVEL_AVX512, {{20, 80, 0, 0, 0}}, ETP_UNPROVEN});
    JUDGE({ETP_LEVEL_AVX512, {{20, 80, 0, 0, 0}}, ETP_CONTRADICTED},
          {ETP_LEVEL_VNNI, {{20, 10, 30, 40, 0}}, ETP_CONFIRMED});
    JUDGE({ETP_LEVEL_AVX2, {{100, 0, 0, 0, 0}}, ETP_CONTRADICTED},
          {ETP_LEVEL_AVX512, {{20, 10, 70, 0, 0}}, ETP_CONFIRMED});
    // A float model has no VNNI kernels: cannot tell. Too few samples: likewise.
    JUDGE({ETP_LEVEL_VNNI, {{20, 10, 70, 0, 0}}, ETP_UNPROVEN});
    JUDGE({ETP_LEVEL_SSE, {{1, 28, 0, 0, 0}}, ETP_UNPROVEN});
    // Without AVX, SSE is what such an arm has.
    JUDGE({ETP_LEVEL_WITHOUT_AVX, {{100, 0, 0, 0, 9}}, ETP_CONFIRMED});
    JUDGE({ETP_LEVEL_WITHOUT_AVX, {{20, 80, 0, 0, 0}}, ETP_CONTRADICTED});
    // Two stray samples in a thousand are no contradiction, five are.
    JUDGE({ETP_LEVEL_AVX2, {{200, 798, 2, 0, 0}}, ETP_CONFIRMED});
    JUDGE({ETP_LEVEL_AVX2, {{200, 795, 5, 0, 0}}, ETP_CONTRADICTED});
}

// The class that is hidden contradicts, whichever level hides it, and no other does.
// AVX-512 ran at level vnni: the model lacks VNNI kernels, not kernels of that level, and what is
// said is up to which level the samples reach.
static void unproven_says_what_is_missing(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        etp_level level;
        mix m;
        const char *ends;
    } k_cases[] = {
        {ETP_LEVEL_VNNI,
         {{20, 10, 70, 0, 0}},
         "; none needs more than level avx512, so they do "
         "not tell the two apart"},
        {ETP_LEVEL_AVX512,
         {{20, 80, 0, 0, 0}},
         "; none needs more than level avx2, so they do "
         "not tell the two apart"},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_kernels k;
        etp_proof proof = {0};
        read_mix(k_cases[i].m, arena, &k);
        const etp_kernels_arm arm = {&k, k_cases[i].level, 0};
        etp_kernels_judge(&arm, 1, 0, arena, &proof);
        const char *text = proof.lines.items[0].text;
        const size_t n = strlen(text), tail = strlen(k_cases[i].ends);
        assert_int_equal(proof.truth, ETP_UNPROVEN);
        assert_true(n > tail);
        assert_string_equal(text + n - tail, k_cases[i].ends);
    }
}

static void each_feature_has_its_classes(void **state)
{
    static const struct {
        const char *level;
        etp_code code;
        etp_truth truth;
    } k_cases[] = {
        {"avx512",      ETP_CODE_AVX512_FP16,    ETP_CONTRADICTED},
        {"vnni",        ETP_CODE_AVX512_FP16,    ETP_CONTRADICTED},
        {"fp16",        ETP_CODE_AVX512_FP16,    ETP_CONFIRMED   },
        {"fp16",        ETP_CODE_AMX_INT8,       ETP_CONTRADICTED},
        {"amx",         ETP_CODE_AMX_INT8,       ETP_CONFIRMED   },
        {"avx512",      ETP_CODE_AVX512_BF16,    ETP_CONTRADICTED},
        {"avx2",        ETP_CODE_AVX_VNNI,       ETP_CONTRADICTED},
        {"avx2",        ETP_CODE_AVX_VNNI_INT16, ETP_CONTRADICTED},
        {"avx2",        ETP_CODE_AVX2,           ETP_CONFIRMED   },
        {"sse",         ETP_CODE_AVX,            ETP_CONTRADICTED},
        {"-avx512fp16", ETP_CODE_AVX512_FP16,    ETP_CONTRADICTED},
        {"-avx512fp16", ETP_CODE_AVX512_VNNI,    ETP_CONFIRMED   },
        {"avx2",        ETP_CODE_FMA,            ETP_CONFIRMED   },
        {"sse",         ETP_CODE_FMA,            ETP_CONTRADICTED},
        {"-avx2",       ETP_CODE_AVX2,           ETP_CONTRADICTED},
        {"-avx2",       ETP_CODE_FMA,            ETP_CONFIRMED   },
        {"-fma",        ETP_CODE_FMA,            ETP_CONTRADICTED},
        {"-fma",        ETP_CODE_AVX,            ETP_CONFIRMED   },
        {"-f16c",       ETP_CODE_F16C,           ETP_CONTRADICTED},
        // Beside what needs more these do not show.
        {"-f16c",       ETP_CODE_AVX512,         ETP_UNPROVEN    },
        {"-gfni",       ETP_CODE_AVX512,         ETP_UNPROVEN    },
        {"-avxvnni",    ETP_CODE_AVX512_VNNI,    ETP_UNPROVEN    },
        {"-avx512bf16", ETP_CODE_AVX512_VNNI,    ETP_CONFIRMED   },
        {"best",        ETP_CODE_AVX512_FP16,    ETP_CONFIRMED   },
        {"neon",        ETP_CODE_SME,            ETP_CONTRADICTED},
        {"sme1",        ETP_CODE_SME2,           ETP_CONTRADICTED},
        {"base",        ETP_CODE_SVE,            ETP_CONTRADICTED},
        {"base",        ETP_CODE_FP16,           ETP_CONTRADICTED},
        {"dotprod",     ETP_CODE_BF16,           ETP_CONTRADICTED},
        {"dotprod",     ETP_CODE_SVE2,           ETP_CONTRADICTED},
        {"neon",        ETP_CODE_I8MM,           ETP_CONFIRMED   },
        {"-i8mm",       ETP_CODE_I8MM,           ETP_CONTRADICTED},
        {"-sve2",       ETP_CODE_SVE2,           ETP_CONTRADICTED},
        {"-sve2",       ETP_CODE_SVE,            ETP_CONFIRMED   },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        bool arm = k_cases[i].code >= ETP_CODE_NEON;
        etp_kernels k = {.evidence = 100};
        k.evidence_of[k_cases[i].code] = k.ahead_of[k_cases[i].code] = 100;
        etp_kernels_arm one = {
            &k, etp_level_find(arm ? ETP_ISA_AARCH64 : ETP_ISA_X86_64, k_cases[i].level), 0};
        etp_proof proof = {0};
        etp_kernels_judge(&one, 1, 0, *state, &proof);
        if (proof.truth != k_cases[i].truth) {
            fail_msg("%s with %s: %s", k_cases[i].level, etp_code_title(k_cases[i].code),
                     proof.lines.items[0].text);
        }
    }
}

// What the function around a sample needs somewhere is no evidence: only what was about to run is.
static void only_what_was_about_to_run_contradicts(void **state)
{
    etp_arena *arena = *state;
    // je to the second ret; vaddps ymm, vaddps zmm, ret; ret.
    static const char k_two_paths[] =
        "module,machine,build_id,start,end,bounds,symbol,code\n" LIBRARY
        ",x86_64,abcd,0x1000,0x100e,flow,,740ac5f458c262f1744858c2c3c3\n";
    static const unsigned k_innocent[] = {0x1000, 0x100d}, k_guilty[] = {0x1002, 0x1006};
    for (int guilty = 0; guilty < 2; guilty++) {
        etp_strbuf b;
        etp_kernels k;
        etp_proof proof = {0};
        etp_strbuf_init(&b, arena);
        etp_strbuf_appendz(&b, "time_ns,thread,module,address,symbol,streaming,iteration,chain,"
                               "instruction,operator,sure\n");
        for (int n = 0; n < 40; n++) {
            etp_strbuf_printf(&b, "%d,7," LIBRARY ",0x%x,,,3,,,,\n", n,
                              guilty ? k_guilty[n % 2] : k_innocent[n % 2]);
        }
        etp_str code = etp_str_from(k_two_paths);
        assert_int_equal(
            etp_kernels_read(&(etp_kernels_text){etp_strbuf_str(&b), code}, 1, arena, &k, NULL),
            ETP_OK);
        assert_int_equal(k.of[ETP_CODE_AVX512], 40); // the function is AVX-512 code in both cases
        etp_kernels_arm arm = {&k, ETP_LEVEL_AVX2, 0};
        etp_kernels_judge(&arm, 1, 0, arena, &proof);
        assert_int_equal(proof.truth == ETP_CONTRADICTED, guilty);
    }
}

// Arms at the right level whose samples are misplaced at the rate that bench/results.md states, and
// arms of which one sample in fifty is of hidden code: how many are contradicted?
static void strays_are_no_contradiction(void **state)
{
    static const unsigned k_samples[] = {30, 100, 300, 1000, 3000, 10000};
    uint64_t x = 88172645463325252u;
    unsigned trials = 40000, wrong = 0, all = 0, found = 0, wanted = 0;
    for (size_t i = 0; i < sizeof k_samples / sizeof *k_samples; i++) {
        unsigned n = k_samples[i];
        uint64_t limit = etp_kernels_strays(n);
        for (unsigned t = 0; t < trials; t++) {
            for (int leaks = 0; leaks < 2; leaks++) {
                double rate = leaks ? 0.02 : 2e-4, left = n;
                unsigned hits = 0;
                if (leaks && t % 20) {
                    continue;
                }
                for (;;) { // from one hit to the next: geometric
                    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
                    double u = ((double)(x >> 11) + 0.5) / 9007199254740992.;
                    left -= 1 + floor(log(u) / log1p(-rate));
                    if (left < 0) {
                        break;
                    }
                    hits++;
                }
                bool contradicted = hits >= limit && hits >= 0.005 * n;
                wrong += !leaks && contradicted;
                all += !leaks;
                found += leaks && n >= 300 && contradicted;
                wanted += leaks && n >= 300;
            }
        }
    }
    assert_true(wrong <= 2e-4 * all); // stated: 1e-4
    assert_true(found > 0.9 * wanted);
}

static void names_are_taken_apart(void **state)
{
    static const struct {
        const char *name, *dtype, *op, *variant, *shape, *arch;
    } k_cases[] = {
        {"xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c8__avx512vnni_prfm",  "qd8_f32_qc8w", "gemm",
         "minmax",                                                                                                     "4x16c8",  "avx512vnni_prfm"    },
        {"xnn_qs8_qc8w_igemm_minmax_fp32_ukernel_4x8c8__avx2",            "qs8_qc8w",     "igemm",      "minmax_fp32",
         "4x8c8",                                                                                                                 "avx2"               },
        {"xnn_pqs8_qc8w_gemm_minmax_ukernel_32x32c4__neonsme2",           "pqs8_qc8w",    "gemm",       "minmax",
         "32x32c4",                                                                                                               "neonsme2"           },
        {"xnn_pf16_f16_igemm_minmax_fp16_ukernel_32x32c2__neonsme2",      "pf16_f16",     "igemm",
         "minmax_fp16",                                                                                                "32x32c2", "neonsme2"           },
        {"xnn_f16_f32acc_gemm_minmax_ukernel_4x32__avx512skx_broadcast",  "f16_f32acc",   "gemm",
         "minmax",                                                                                                     "4x32",    "avx512skx_broadcast"},
        {"xnn_x32_transposec_ukernel__4x4_aarch64_neon_tbl128",           "x32",          "transposec", "",            "4x4",
         "aarch64_neon_tbl128"                                                                                                                         },
        {"xnn_f32_vadd_minmax_ukernel__avx512f_u32",                      "f32",          "vadd",       "minmax",      "",        "avx512f_u32"        },
        {"xnn_qs8_dwconv_minmax_rndnu_ukernel_9p16c__neon_mla8_ld128",    "qs8",          "dwconv",
         "minmax_rndnu",                                                                                               "9p16c",   "neon_mla8_ld128"    },
        {"kai_run_matmul_clamp_f32_f32p2vlx1_f32p2vlx1biasf32_sme2_mopa",
         "f32_f32p2vlx1_f32p2vlx1biasf32",                                                "matmul",     "clamp",       "",        "sme2_mopa"          },
        {"erff",                                                          "",             "",           "",            "",        ""                   },
        {"xnn_",                                                          "",             "",           "",            "",        ""                   },
        {"xnn_init_hardware_config",                                      "",             "",           "",            "",        ""                   },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_kernel_name n;
        etp_kernel_name_parse(etp_str_from(k_cases[i].name), &n);
        const etp_str got[] = {n.dtype, n.op, n.variant, n.shape, n.arch};
        const char *const want[] = {k_cases[i].dtype, k_cases[i].op, k_cases[i].variant,
                                    k_cases[i].shape, k_cases[i].arch};
        for (int p = 0; p < 5; p++) {
            if (!etp_str_eqz(got[p], want[p])) {
                fail_msg("%s: part %d is '%.*s', not '%s'", k_cases[i].name, p, ETP_STR_ARG(got[p]),
                         want[p]);
            }
        }
        assert_int_equal(n.sme2, etp_str_find(n.arch, ETP_STR("sme2")) < n.arch.len);
    }
}

// Which instructions a name stands for: XNNPACK's configurations choose each of these where the CPU
// has what is beside it.
static void names_say_their_code(void **state)
{
    static const struct {
        const char *name;
        etp_code code;
    } k_cases[] = {
        {"xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c8__avx512vnni_prfm",           ETP_CODE_AVX512_VNNI},
        {"xnn_qd8_f32_qc8w_gemm_minmax_ukernel_7x8c8__avx256vnni",                 ETP_CODE_AVX512_VNNI},
        {"xnn_qd8_f32_qc8w_gemm_minmax_ukernel_5x8c8__avxvnni_prfm",               ETP_CODE_AVX_VNNI   },
        {"xnn_qd8_f32_qc8w_gemm_minmax_ukernel_16x64c4__avx512amx",                ETP_CODE_AMX        },
        {"xnn_qs8_qc8w_gemm_minmax_fp32_ukernel_7x16c8__avx512skx_prfm",           ETP_CODE_AVX512     },
        {"xnn_f32_gemm_minmax_ukernel_7x16__avx512f_broadcast",                    ETP_CODE_AVX512     },
        {"xnn_f16_gemm_minmax_ukernel_7x32__avx512fp16_broadcast",                 ETP_CODE_AVX512_FP16},
        {"xnn_f32_gemm_minmax_ukernel_5x16__fma3_broadcast",                       ETP_CODE_FMA        },
        {"xnn_f16_f32_vcvt_ukernel__f16c_u16",                                     ETP_CODE_F16C       },
        {"xnn_qs8_qc8w_igemm_minmax_fp32_ukernel_4x8c8__avx2",                     ETP_CODE_AVX2       },
        {"xnn_f32_gemm_minmax_ukernel_5x16__avx_broadcast",                        ETP_CODE_AVX        },
        {"xnn_f32_gemm_minmax_ukernel_4x8__sse_load1",                             ETP_CODE_SSE        },
        {"xnn_qs8_vadd_minmax_ukernel__sse41_mul16_ld64_u8",                       ETP_CODE_SSE        },
        {"xnn_f32_gemm_minmax_ukernel_4x4__scalar",                                ETP_CODE_SCALAR     },
        {"xnn_pqs8_qc8w_gemm_minmax_ukernel_32x32c4__neonsme2",                    ETP_CODE_SME2       },
        {"xnn_pf32_gemm_minmax_ukernel_32x32__neonsme",                            ETP_CODE_SME        },
        {"kai_run_matmul_clamp_f32_f32p2vlx1_f32p2vlx1biasf32_sme2_mopa",          ETP_CODE_SME2       },
        {"xnn_f16_gemm_minmax_ukernel_6x16__asm_aarch64_neonfp16arith_cortex_a75", ETP_CODE_FP16       },
        {"xnn_f32_gemm_minmax_ukernel_4x8__asm_aarch64_neonfma_cortex_a53",        ETP_CODE_NEON       },
        {"xnn_f16_f32_vcvt_ukernel__neonfp16_u16",                                 ETP_CODE_NEON       },
        {"xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c4__neondot",                   ETP_CODE_DOTPROD    },
        {"xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c8__neoni8mm",                  ETP_CODE_I8MM       },
        {"xnn_bf16_gemm_minmax_ukernel_4x8c2__neonbf16_bfdot_lane_ld128",          ETP_CODE_BF16       },
        {"erff",                                                                   ETP_CODE_UNKNOWN    },
        {"xnn_f32_gemm_minmax_ukernel_4x4__hvx",                                   ETP_CODE_UNKNOWN    },
        {"",                                                                       ETP_CODE_UNKNOWN    },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_code code = etp_kernel_name_code(etp_str_from(k_cases[i].name));
        if (code != k_cases[i].code) {
            fail_msg("%s: %s, not %s", k_cases[i].name, etp_code_title(code),
                     etp_code_title(k_cases[i].code));
        }
    }
}

// What XNNPACK logged is held against the level that was asked for.
static void logged_kernels_prove_the_level(void **state)
{
    static const char k_vnni[] = "xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c8__avx512vnni_prfm";
    static const char k_avx512[] = "xnn_f32_gemm_minmax_ukernel_7x16__avx512f_broadcast";
    static const char k_avx2[] = "xnn_f32_gemm_minmax_ukernel_5x16__fma3_broadcast";
    static const struct {
        const char *level, *kernels[2];
        etp_truth truth;
        size_t lines;
    } k_cases[] = {
        {"vnni",   {k_vnni, k_avx512},   ETP_CONFIRMED,    1},
        {"avx512", {k_vnni, k_avx512},   ETP_CONTRADICTED, 1},
        {"avx512", {k_avx512, k_avx512}, ETP_CONFIRMED,    1},
        {"avx2",   {k_avx2, k_avx512},   ETP_CONTRADICTED, 1},
        {"avx2",   {k_avx2, ""},         ETP_CONFIRMED,    1},
        {"vnni",   {k_avx2, k_avx2},     ETP_UNPROVEN,     1},
        {"vnni",   {"", ""},             ETP_UNPROVEN,     0},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_proof proof = {0};
        etp_profile_row rows[2] = {{.kind = ETP_ROW_OPERATOR}, {.kind = ETP_ROW_OPERATOR}};
        for (int k = 0; k < 2; k++) {
            rows[k].kernel = etp_str_from(k_cases[i].kernels[k]);
        }
        etp_profile profile = {.rows = rows, .n_rows = 2};
        etp_level level = etp_level_find(ETP_ISA_X86_64, k_cases[i].level);
        etp_kernels_judge_symbols(&profile, level, *state, &proof);
        if (proof.truth != k_cases[i].truth || proof.lines.n != k_cases[i].lines) {
            fail_msg("%zu: %s, %zu lines", i, etp_truth_name(proof.truth), proof.lines.n);
        }
    }
}

static void broken_files_are_errors(void **state)
{
    static const char *const k_bad_code[] = {
        "",
        "module,start\n",
        "module,machine,build_id,start,end,bounds,symbol,code\nm,x86_64,,0x10,0x10,none,,\n",
        "module,machine,build_id,start,end,bounds,symbol,code\nm,x86_64,,0x10,zz,none,,\n",
        "module,machine,build_id,start,end,bounds,symbol,code\nm,x86_64,,0x10,0x20,none,,abc\n",
        "module,machine,build_id,start,end,bounds,symbol,code\nm,x86_64,,0x10,0x20,none,,xy\n",
        "module,machine,build_id,start,end,bounds,symbol,code\nm,x86_64,,0x10,0x20,none,,c3", // cut
                                                                                              // off
    };
    etp_arena *arena = *state;
    etp_kernels k;
    etp_error err;
    const char *samples = samples_of(
        (mix){
            {1, 1, 1, 1, 1}
    },
        arena);
    for (size_t i = 0; i < sizeof k_bad_code / sizeof *k_bad_code; i++) {
        assert_int_equal(etp_kernels_read(&(etp_kernels_text){etp_str_from(samples),
                                                              etp_str_from(k_bad_code[i])},
                                          1, arena, &k, &err),
                         ETP_CORRUPT);
    }
    assert_int_equal(
        etp_kernels_read(&(etp_kernels_text){ETP_STR("time_ns\n1\n"), etp_str_from(k_code)}, 1,
                         arena, &k, &err),
        ETP_CORRUPT);
    // Any byte changed, any length: an error or an answer whose counts still add up.
    uint64_t x = 88172645463325252u;
    size_t len = strlen(samples), code_len = sizeof k_code - 1;
    for (int round = 0; round < 2000; round++) {
        char *a = malloc(len), *b = malloc(code_len);
        memcpy(a, samples, len);
        memcpy(b, k_code, code_len);
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        a[x % len] = (char)(x >> 40);
        b[x % code_len] = (char)(x >> 48);
        etp_arena scratch = {0};
        etp_str s = {a, round % 5 ? len : (size_t)(x >> 20) % len}, c = {b, code_len};
        if (etp_kernels_read(&(etp_kernels_text){s, c}, 1, &scratch, &k, &err) == ETP_OK) {
            uint64_t sum = 0;
            for (int i = 0; i < ETP_CODES; i++) {
                sum += k.of[i];
            }
            assert_int_equal(sum, k.samples);
            assert_true(k.evidence <= k.samples && k.sure <= k.joined);
        }
        etp_arena_dispose(&scratch);
        free(a);
        free(b);
    }
}

#define BIT(code) ETP_CODE_BIT(ETP_CODE_##code)

static void a_feature_without_code_is_not_usable(void **state)
{
    etp_isa_cpu cpu, usable;
    char why[ETP_ISA_WHY_MAX];
    assert_true(
        etp_isa_cpu_parse("x86_64:kernel=6.1,avx,fma3,avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl,"
                          "avx512vnni,avx512fp16,amx_tile,amx_int8",
                          &cpu, why, sizeof why));
    assert_int_equal(etp_isa_best(&cpu), ETP_LEVEL_AMX);
    const etp_codes vnni = BIT(SSE) | BIT(AVX) | BIT(AVX2) | BIT(AVX512) | BIT(AVX512_VNNI);

    usable = etp_kernels_usable(&cpu, vnni | BIT(AVX512_FP16));
    assert_false(etp_isa_has(&usable, ETP_HAS_AMX));
    assert_int_equal(etp_isa_best(&usable), ETP_LEVEL_FP16);
    usable = etp_kernels_usable(&cpu, vnni);
    assert_int_equal(etp_isa_best(&usable), ETP_LEVEL_VNNI);
    usable = etp_kernels_usable(&cpu, vnni | BIT(AVX512_FP16) | BIT(AMX_INT8));
    assert_int_equal(etp_isa_best(&usable), ETP_LEVEL_AMX);
    usable = etp_kernels_usable(&cpu, 0); // no library was read
    assert_int_equal(etp_isa_best(&usable), ETP_LEVEL_AMX);

    // FMA and F16C share a class with AVX2, and no count can tell which of them it needs.
    assert_true(etp_isa_has(&usable, ETP_HAS_F16C));
    usable = etp_kernels_usable(&cpu, BIT(SSE));
    assert_int_equal(etp_isa_best(&usable), ETP_LEVEL_SSE);
}

// This program itself, under the name of XNNPACK's library: SSE code, and none for AMX.
static void code_of_a_library_is_found(void **state)
{
    char dir[] = "/tmp/etp-built-in-XXXXXX", path[128];
    etp_codes classes = 1;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(etp_kernels_built_in(dir, &classes, NULL), ETP_OK);
    assert_int_equal(classes, 0);

    snprintf(path, sizeof path, "%s/libxnnpack_copy.so", dir);
    FILE *from = fopen("/proc/self/exe", "rb"), *to = fopen(path, "wb");
    assert_true(from && to);
    for (int c = fgetc(from); c != EOF; c = fgetc(from)) {
        fputc(c, to);
    }
    fclose(from);
    fclose(to);
    assert_int_equal(etp_kernels_built_in(dir, &classes, NULL), ETP_OK);
#if defined(__x86_64__)
    assert_true(classes & BIT(SSE));
    assert_false(classes & (BIT(AMX) | BIT(AMX_INT8)));
#endif
    remove(path);
    remove(dir);
}
