// SPDX-License-Identifier: Apache-2.0
// What a level is called, by hand-made samples: after a feature only where that ran. And why a
// verdict is unknown.
#include <math.h>
#include <string.h>

#include "compare/session.h"
#include "document/document.h"
#include "unit.h"

static etp_kernels samples_of(etp_code code)
{
    etp_kernels k = {.samples = 1000, .evidence = 1000};
    k.evidence_of[code] = 900;
    k.evidence_of[ETP_CODE_AVX2] += 100;
    return k;
}

static void check(etp_code ran, bool beside_avx512, const char *wanted, const char *instead)
{
    const etp_kernels vnni = samples_of(ran), avx512 = samples_of(ETP_CODE_AVX512),
                      avx2 = samples_of(ETP_CODE_AVX2);
    etp_ab_arm arms[] = {
        {.name = "a", .level = ETP_LEVEL_VNNI,   .level_name = "vnni",   .kernels = &vnni  },
        {.name = "b", .level = ETP_LEVEL_AVX2,   .level_name = "avx2",   .kernels = &avx2  },
        {.name = "c", .level = ETP_LEVEL_AVX512, .level_name = "avx512", .kernels = &avx512},
    };
    etp_arena arena = {0};
    const etp_ab ab = {
        .arena = &arena, .arms = arms, .n_arms = beside_avx512 ? 3 : 2, .baseline = 1};
    assert_string_equal(etp_ab_level_called(&ab, &arms[0], &arena), wanted);
    assert_string_equal(etp_ab_level_called(&ab, &arms[1], &arena), "AVX2");
    assert_string_equal(etp_ab_level_called(&ab, &arms[2], &arena), "AVX-512");
    const char *told = etp_ab_ran_instead(&ab, &arms[0]);
    assert_true(instead ? told && strcmp(told, instead) == 0 : told == NULL);
    etp_arena_dispose(&arena);
}

static void a_feature_that_ran(void **state)
{
    check(ETP_CODE_AVX512_VNNI, false, "VNNI", NULL);
    check(ETP_CODE_AVX512_VNNI, true, "VNNI", NULL);
    check(ETP_CODE_AVX512, false, "AVX-512", "AVX-512");
    check(ETP_CODE_AVX2, false, "level vnni", NULL); // nothing that the baseline lacks
}

// Half of the gain of an int8 model is VNNI's where a third of the samples is: named after both.
static void two_features_that_ran(void **state)
{
    static const struct {
        uint64_t vnni, avx512;
        const char *name, *instead;
    } k_cases[] = {
        {300, 500, "AVX-512 + VNNI", NULL     },
        {500, 300, "VNNI",           NULL     },
        {500, 100, "VNNI",           NULL     },
        {100, 600, "AVX-512",        "AVX-512"},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_kernels k = {.samples = 1000, .evidence = 1000}, avx2 = samples_of(ETP_CODE_AVX2);
        k.evidence_of[ETP_CODE_AVX512_VNNI] = k_cases[i].vnni;
        k.evidence_of[ETP_CODE_AVX512] = k_cases[i].avx512;
        etp_ab_arm arms[] = {
            {.name = "a", .level = ETP_LEVEL_VNNI, .level_name = "vnni", .kernels = &k   },
            {.name = "b", .level = ETP_LEVEL_AVX2, .level_name = "avx2", .kernels = &avx2},
        };
        etp_arena arena = {0};
        const etp_ab ab = {.arena = &arena, .arms = arms, .n_arms = 2, .baseline = 1};
        assert_string_equal(etp_ab_level_called(&ab, &arms[0], &arena), k_cases[i].name);
        const char *told = etp_ab_ran_instead(&ab, &arms[0]);
        assert_true(k_cases[i].instead ? told && strcmp(told, k_cases[i].instead) == 0 : !told);
        etp_arena_dispose(&arena);
    }
}

// On a CPU with more than VNNI the best level is called after that: an fp32 model runs AVX-512
// there, an int8 one VNNI, which proves itself and not the level's feature.
static void a_level_above_vnni(void **state)
{
    static const struct {
        etp_level level;
        etp_code ran;
        const char *instead;
    } k_cases[] = {
        {ETP_LEVEL_FP16, ETP_CODE_AVX512,      "AVX-512"    },
        {ETP_LEVEL_FP16, ETP_CODE_AVX512_VNNI, "VNNI"       },
        {ETP_LEVEL_FP16, ETP_CODE_AVX512_FP16, NULL         },
        {ETP_LEVEL_FP16, ETP_CODE_AVX2,        NULL         },
        {ETP_LEVEL_AMX,  ETP_CODE_AVX512_FP16, "AVX512-FP16"},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        const etp_kernels k = samples_of(k_cases[i].ran), avx2 = samples_of(ETP_CODE_AVX2);
        etp_ab_arm arms[] = {
            {.name = "a", .level = k_cases[i].level, .level_name = "x",    .kernels = &k   },
            {.name = "b", .level = ETP_LEVEL_AVX2,   .level_name = "avx2", .kernels = &avx2},
        };
        etp_arena arena = {0};
        const etp_ab ab = {.arena = &arena, .arms = arms, .n_arms = 2, .baseline = 1};
        const char *told = etp_ab_ran_instead(&ab, &arms[0]), *wanted = k_cases[i].instead;
        assert_true(wanted ? told && strcmp(told, wanted) == 0 : told == NULL);
        etp_arena_dispose(&arena);
    }
}

static void another_arm_has_that_name(void **state)
{
    check(ETP_CODE_AVX512, true, "level vnni", "AVX-512");
}

// With nothing hidden the operators that are counted are those of the widest code that samples saw,
// however much narrower code there is beside it.
static void engaged_is_named_after_the_widest(void **state)
{
    static const struct {
        const char *level;
        etp_code most, some;
        const char *name;
    } k_cases[] = {
        {"best", ETP_CODE_FMA,    ETP_CODE_AVX512, "AVX-512"},
        {"best", ETP_CODE_AVX2,   ETP_CODE_AVX512, "AVX-512"},
        {"best", ETP_CODE_AVX512, ETP_CODE_FMA,    "AVX-512"},
        {"best", ETP_CODE_FMA,    ETP_CODE_AVX2,   "FMA"    },
        {"avx2", ETP_CODE_FMA,    ETP_CODE_AVX2,   "FMA"    },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_arena arena = {0};
        const etp_profile nothing = {0};
        etp_kernels k = {.samples = 1000, .evidence = 1000};
        k.evidence_of[k_cases[i].most] = 700;
        k.evidence_of[k_cases[i].some] = 300;
        const etp_ab_arm arm = {.name = "a",
                                .level = etp_level_find(ETP_ISA_X86_64, k_cases[i].level),
                                .level_name = k_cases[i].level,
                                .profile = &nothing,
                                .kernels = &k};
        const etp_ab_session s = {
            .ab = {.arena = &arena, .arms = &arm, .n_arms = 1}
        };
        etp_ab_engagement e;
        etp_ab_engage(&s, &e, NULL);
        assert_string_equal(e.feature_name, k_cases[i].name);
        etp_arena_dispose(&arena);
    }
}

static void why_a_verdict_is_unknown(void **state)
{
    static const struct {
        double lo, hi, margin;
        uint64_t blocks;
        const char *words, *cell;
    } k_cases[] = {
        {0.995, 1.012, 0.01, 10,
         "unknown: between −0.5 % and +1.2 %, the margin of 1 % lies inside",                            "unknown: at margin"  },
        {0.995, 1.012, 0.05, 4,  "unknown (4 of at least 6 blocks)",                                       "unknown: 4 of 6"     },
        {0.90,  0.97,  0.05, 10, "unknown: between −10.0 % and −3.0 %, the margin of 5 % lies inside",
         "unknown: at margin"                                                                                                    },
        {0.98,  1.02,  0.01, 10, "unknown: the interval is too wide to tell",                              "unknown: wide"       },
        {0.995, 1.30,  0.01, 10, "unknown: the interval is too wide to tell",                              "unknown: wide"       },
        {1.02,  1.30,  0.01, 10, "unknown: clear of the margin, but not of the noise",
         "unknown: noise"                                                                                                        },
        {0.70,  0.80,  0.01, 10, "unknown: clear of the margin, but not of the noise",
         "unknown: noise"                                                                                                        },
        {0.70,  0.80,  0.01, 0,  "unknown: the launches were not paired",                                  "unknown: not paired" },
        {NAN,   NAN,   0.01, 0,  "unknown: no interval",                                                   "unknown: no interval"},
    };
    etp_arena *arena = *state;
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        assert_string_equal(etp_verdict_words(arena, ETP_VERDICT_UNKNOWN, k_cases[i].lo,
                                              k_cases[i].hi, k_cases[i].blocks, k_cases[i].margin),
                            k_cases[i].words);
        assert_string_equal(etp_verdict_cell(arena, ETP_VERDICT_UNKNOWN, k_cases[i].lo,
                                             k_cases[i].hi, k_cases[i].blocks, k_cases[i].margin),
                            k_cases[i].cell);
    }
}
