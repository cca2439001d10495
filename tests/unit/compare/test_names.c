// SPDX-License-Identifier: Apache-2.0
// What a level is called, by hand-made samples: after a feature only where that ran. And why a
// verdict is unknown.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compare/session.h"
#include "document/document.h"

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
    (void)state;
    check(ETP_CODE_AVX512_VNNI, false, "VNNI", NULL);
    check(ETP_CODE_AVX512_VNNI, true, "VNNI", NULL);
    check(ETP_CODE_AVX512, false, "AVX-512", "AVX-512");
    check(ETP_CODE_AVX2, false, "level vnni", NULL); // nothing that the baseline lacks
}

static void another_arm_has_that_name(void **state)
{
    (void)state;
    check(ETP_CODE_AVX512, true, "level vnni", "AVX-512");
}

static void why_a_verdict_is_unknown(void **state)
{
    (void)state;
    static const struct {
        double lo, hi, margin;
        uint64_t blocks;
        const char *words;
    } k_cases[] = {
        {0.995, 1.012, 0.01, 10,
         "unknown: between −0.5 % and +1.2 %, the margin of 1 % lies inside"       },
        {0.995, 1.012, 0.05, 4,  "unknown (4 of at least 6 blocks)"                  },
        {0.90,  0.97,  0.05, 10,
         "unknown: between −10.0 % and −3.0 %, the margin of 5 % lies inside"    },
        {0.98,  1.02,  0.01, 10, "unknown: the interval is too wide to tell"         },
        {0.995, 1.30,  0.01, 10, "unknown: the interval is too wide to tell"         },
        {1.02,  1.30,  0.01, 10, "unknown: clear of the margin, but not of the noise"},
        {0.70,  0.80,  0.01, 10, "unknown: clear of the margin, but not of the noise"},
        {0.70,  0.80,  0.01, 0,  "unknown: the launches were not paired"             },
        {NAN,   NAN,   0.01, 0,  "unknown: no interval"                              },
    };
    etp_arena arena = {0};
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        assert_string_equal(etp_verdict_words(&arena, ETP_VERDICT_UNKNOWN, k_cases[i].lo,
                                              k_cases[i].hi, k_cases[i].blocks, k_cases[i].margin),
                            k_cases[i].words);
    }
    etp_arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_a_verdict_is_unknown),
        cmocka_unit_test(a_feature_that_ran),
        cmocka_unit_test(another_arm_has_that_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
