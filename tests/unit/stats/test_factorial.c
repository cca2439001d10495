// SPDX-License-Identifier: Apache-2.0
// The factorial: figures against numpy and scipy (expressions beside them), and simulated sessions
// with a known truth: planted interactions are found and lie within their interval, absent ones are
// not claimed.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "stats/factorial.h"

#define N(array) (sizeof(array) / sizeof *(array))
enum { MODELS = 2, LEVELS = 2, THREADS = 3, CELLS = MODELS * LEVELS * THREADS, BLOCKS = 8 };

static void near_rel(double found, double expected, double rel, const char *what)
{
    if (!(fabs(found - expected) <= rel * fabs(expected) + 1e-300)) {
        fail_msg("%s: %.17g, should be %.17g", what, found, expected);
    }
}

static void is_paired(const etp_paired *p, double estimate, double lo, double hi, const char *what)
{
    near_rel(p->estimate, estimate, 1e-12, what);
    near_rel(p->lo, lo, 1e-12, what);
    near_rel(p->hi, hi, 1e-12, what);
}

static void holm(void **state)
{
    (void)state;
    // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"); sorted 0.005·4, 0.01·3, 0.03·2, max(0.06,
    // 0.04·1)
    const double p[] = {0.01, 0.04, NAN, 0.03, 0.005, 0.9};
    const double expected[] = {0.04, 0.09,  NAN,
                               0.09, 0.025, 0.9}; // five known: 0.005·5, 0.01·4, 0.03·3 …
    uint32_t scratch[N(p)];
    double q[N(p)];
    etp_holm(p, N(p), scratch, q);
    for (size_t i = 0; i < N(p); i++) {
        if (isnan(expected[i])) {
            assert_true(isnan(q[i]));
        } else {
            near_rel(q[i], expected[i], 1e-15, "holm");
        }
    }
}

static uint32_t k_column[CELLS];

static etp_factorial plain(const double *values, size_t blocks)
{
    for (uint32_t c = 0; c < CELLS; c++) {
        k_column[c] = c;
    }
    return (etp_factorial){
        .n = {MODELS, LEVELS, THREADS},
        .column = k_column,
        .value_ln = values,
        .n_blocks = blocks,
        .n_columns = CELLS,
        .margin = 0.01,
        .knee = 0.1,
        .seed = 7
    };
}

// ln(10 ms) − 0.5·model − 0.9·level + 0.4·model·level + (0, −0.6, −0.63)[threads], noise of up to 1
// %, and 1 % drift per block.
static void fill(double *v)
{
    static const double k_threads[] = {0, -0.6, -0.63};
    for (int b = 0; b < BLOCKS; b++) {
        for (int c = 0; c < CELLS; c++) {
            int m = c / (LEVELS * THREADS), l = c / THREADS % LEVELS, t = c % THREADS;
            double noise = (double)((c * 37 + b * 101 + c * b * 13) % 97 - 48) / 97 * 0.02;
            v[b * CELLS + c] =
                log(10e6) - 0.5 * m - 0.9 * l + 0.4 * m * l + k_threads[t] + noise + 0.01 * b;
        }
    }
}

static void against_scipy(void **state)
{
    (void)state;
    double v[BLOCKS * CELLS];
    fill(v);
    etp_factorial f = plain(v, BLOCKS);
    etp_factorial_result r;
    etp_arena arena = {0};
    assert_int_equal(etp_factorial_analyze(&f, &arena, &r, NULL), ETP_OK);
    // x.mean(), scipy.stats.t.interval(0.95, 7, x.mean(), scipy.stats.sem(x)), exponentiated
    near_rel(r.cells[0].ns.estimate, 10283850.824587109, 1e-12, "cell");
    near_rel(r.cells[0].ns.lo, 10058395.002296632, 1e-12, "cell lo");
    near_rel(r.cells[0].ns.hi, 10514360.16961089, 1e-12, "cell hi");
    assert_int_equal(r.cells[0].blocks, 8);
    // v[m,0,t] − v[m,1,t]; p: scipy.stats.ttest_1samp(x, 0), q: false_discovery_control(p)
    assert_int_equal(r.n_speedups, 6);
    is_paired(&r.speedups[0].effect.paired, 2.4448140629576045, 2.4326848166369115,
              2.4570037851012656, "speedup 0");
    is_paired(&r.speedups[5].effect.paired, 1.6470224338894615, 1.6382937520578338,
              1.6557976213531973, "speedup 5");
    near_rel(r.speedups[3].effect.p, 4.953290775237e-14, 1e-9, "p");
    static const double k_q[] = {6.32345396e-16, 4.82112649e-15, 4.82112649e-15,
                                 4.95329078e-14, 7.73438116e-15, 1.19050661e-14};
    for (size_t i = 0; i < 6; i++) {
        near_rel(r.speedups[i].effect.q, k_q[i], 1e-8, "q");
        assert_int_equal(r.speedups[i].effect.verdict, ETP_VERDICT_FASTER);
    }
    assert_int_equal(r.n_steps, 8);
    is_paired(&r.steps[0].effect.paired, 1.8093898531161674, 1.800480563673981, 1.8183432282541208,
              "step");
    is_paired(&r.steps[1].effect.paired, 1.030959261548001, 1.0255565281965862, 1.0363904570337439,
              "step");
    for (size_t i = 0; i < r.n_knees; i++) { // 3 % more at the third count: not worth 10 %
        assert_int_equal(r.knees[i].from, 1);
        assert_int_equal(r.knees[i].to, 1);
    }
    // geometric mean over models: mean of the two log ratios per block
    assert_int_equal(r.n_means, 3);
    is_paired(&r.means[1].effect.paired, 2.0141939129619297, 2.0067499148558854, 2.021665524427961,
              "mean");
    assert_true(isnan(r.means[1].models_lo));
    etp_arena_dispose(&arena);
}

static void interactions_against_scipy(void **state)
{
    (void)state;
    double v[BLOCKS * CELLS];
    fill(v);
    etp_factorial f = plain(v, BLOCKS);
    etp_factorial_result r;
    etp_arena arena = {0};
    assert_int_equal(etp_factorial_analyze(&f, &arena, &r, NULL), ETP_OK);
    static const struct {
        etp_factor a, b;
        uint32_t b_at, c_at;
        double estimate, lo, hi, p, q;
    } k_expected[] = {
        {ETP_FACTOR_MODEL, ETP_FACTOR_LEVEL,   1, 0, 0.673680039248867,  0.6684858498159857,
         0.6789145879561773,                                                                                    7.076483281704894e-13,  7.78413161e-12},
        {ETP_FACTOR_MODEL, ETP_FACTOR_LEVEL,   1, 1, 0.6719979426475886, 0.6648355157670243,
         0.679237532010606,                                                                                     6.591297800265134e-12,  5.93216802e-11},
        {ETP_FACTOR_MODEL, ETP_FACTOR_LEVEL,   1, 2, 0.6703200460356392, 0.6643557933922003,
         0.6763378427437925,                                                                                    1.7728333745039002e-12, 1.77283337e-11},
        {ETP_FACTOR_LEVEL, ETP_FACTOR_THREADS, 1, 0, 1.0050125208594007, 0.9972637007792021,
         1.0128215499019715,                                                                                    0.1704706607870538,     1             },
        {ETP_FACTOR_LEVEL, ETP_FACTOR_THREADS, 1, 1, 1.0025031276057952, 0.9918180422903196,
         1.0133033258183255,                                                                                    0.5983311559987238,     1             },
        {ETP_FACTOR_LEVEL, ETP_FACTOR_THREADS, 2, 0, 1.0050125208594005, 0.9972637007792013,
         1.0128215499019717,                                                                                    0.17047066078709786,    1             },
        {ETP_FACTOR_LEVEL, ETP_FACTOR_THREADS, 2, 1, 1,                  0.9911023806035455, 1.008977497754608, 1,
         1                                                                                                                                            },
        {ETP_FACTOR_MODEL, ETP_FACTOR_THREADS, 1, 0, 1.0050125208594003, 0.9972637007792015,
         1.0128215499019713,                                                                                    0.17047066078709786,    1             },
        {ETP_FACTOR_MODEL, ETP_FACTOR_THREADS, 1, 1, 1.0025031276057947, 0.9918180422903187,
         1.0133033258183255,                                                                                    0.5983311559988016,     1             },
        {ETP_FACTOR_MODEL, ETP_FACTOR_THREADS, 2, 0, 1.007528195444533,  0.9988470265116797,
         1.016284814062914,                                                                                     0.07960201245523181,    0.6368161     },
        {ETP_FACTOR_MODEL, ETP_FACTOR_THREADS, 2, 1, 1.0025031276057947, 0.9918180422903197,
         1.0133033258183244,                                                                                    0.5983311559987683,     1             },
    };
    assert_int_equal(r.n_interactions, N(k_expected));
    for (size_t i = 0; i < N(k_expected); i++) {
        const etp_interaction *x = &r.interactions[i];
        assert_int_equal(x->a, k_expected[i].a);
        assert_int_equal(x->b, k_expected[i].b);
        assert_int_equal(x->b_at, k_expected[i].b_at);
        assert_int_equal(x->c_at, k_expected[i].c_at);
        is_paired(&x->ratio.paired, k_expected[i].estimate, k_expected[i].lo, k_expected[i].hi,
                  "interaction");
        near_rel(x->ratio.p, k_expected[i].p, 1e-8, "p");
        near_rel(x->ratio.q, k_expected[i].q, 1e-7, "holm");
        bool claimed =
            x->ratio.verdict == ETP_VERDICT_FASTER || x->ratio.verdict == ETP_VERDICT_SLOWER;
        assert_int_equal(claimed, i < 3);
        // Both readings of one interaction give the same ratio of ratios.
        near_rel(x->a_effect[1].estimate / x->a_effect[0].estimate, x->ratio.paired.estimate, 1e-12,
                 "by a");
        near_rel(x->b_effect[1].estimate / x->b_effect[0].estimate, x->ratio.paired.estimate, 1e-12,
                 "by b");
    }
    etp_arena_dispose(&arena);
}

// Cells that were not measured, lost in some blocks, or must not be compared.
static void holes(void **state)
{
    (void)state;
    double v[BLOCKS * CELLS];
    fill(v);
    etp_factorial f = plain(v, BLOCKS);
    bool silent[CELLS] = {false};
    k_column[0] = UINT32_MAX; // model 0, level 0, first threads: never ran
    v[3 * CELLS + 8] = NAN;   // model 1, level 0, third threads: lost in block 4
    silent[9] = true;         // model 1, level 1, first threads
    f.silent = silent;
    etp_factorial_result r;
    etp_arena arena = {0};
    assert_int_equal(etp_factorial_analyze(&f, &arena, &r, NULL), ETP_OK);
    assert_int_equal(r.cells[0].blocks, 0);
    assert_true(isnan(r.cells[0].ns.estimate));
    assert_true(isfinite(r.cells[9].ns.estimate)); // has a time all the same
    assert_true(isnan(r.speedups[0].effect.paired.estimate) && isnan(r.speedups[0].effect.q));
    assert_true(isnan(r.speedups[3].effect.paired.estimate));
    assert_int_equal(r.speedups[5].effect.paired.blocks, 7);
    assert_int_equal(r.speedups[1].effect.paired.blocks, 8);
    assert_true(isnan(r.means[0].effect.paired.estimate)); // one of its models is missing
    assert_true(isfinite(r.means[1].effect.paired.estimate));
    assert_int_equal(r.knees[0].from, 0); // nothing known about the first count
    assert_int_equal(r.knees[1].from, 1);
    etp_arena_dispose(&arena);
}

static void bad_sizes(void **state)
{
    (void)state;
    double v[BLOCKS * CELLS];
    fill(v);
    etp_arena arena = {0};
    etp_factorial_result r;
    etp_factorial f = plain(v, BLOCKS);
    f.n[1] = 0;
    assert_int_equal(etp_factorial_analyze(&f, &arena, &r, NULL), ETP_CORRUPT);
    f = plain(v, BLOCKS);
    f.reference[2] = THREADS;
    assert_int_equal(etp_factorial_analyze(&f, &arena, &r, NULL), ETP_CORRUPT);
    etp_arena_dispose(&arena);
}

// ---- sessions with a known truth ----

static double normal(etp_rng *rng)
{
    double u = etp_rng_unit(rng);
    return etp_normal_quantile(u > 0 ? u : 0x1p-54);
}

// Launch noise of 1.5 %, drift of 1 % a block; INTERACTION (ln) of model 1 with level 1.
static void simulate(uint64_t seed, double interaction, double *v)
{
    static const double k_threads[] = {0, -0.55, -0.62};
    etp_rng rng;
    etp_rng_init(&rng, seed);
    for (int b = 0; b < 10; b++) {
        for (int c = 0; c < CELLS; c++) {
            int m = c / (LEVELS * THREADS), l = c / THREADS % LEVELS, t = c % THREADS;
            v[b * CELLS + c] = log(5e6) - 0.3 * m - 0.8 * l + interaction * m * l + k_threads[t] +
                               0.01 * b + 0.015 * normal(&rng);
        }
    }
}

enum { TRIALS = 500 };

static void absent_interactions_are_not_claimed(void **state)
{
    (void)state;
    int sessions_with_claims = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        double v[10 * CELLS];
        simulate(seed, 0, v);
        etp_factorial f = plain(v, 10);
        etp_factorial_result r;
        etp_arena arena = {0};
        assert_int_equal(etp_factorial_analyze(&f, &arena, &r, NULL), ETP_OK);
        bool any = false;
        for (size_t i = 0; i < r.n_interactions; i++) {
            etp_verdict verdict = r.interactions[i].ratio.verdict;
            any = any || verdict == ETP_VERDICT_FASTER || verdict == ETP_VERDICT_SLOWER;
        }
        sessions_with_claims += any;
        etp_arena_dispose(&arena);
    }
    printf("absent interactions: claimed in %d of %d sessions\n", sessions_with_claims, TRIALS);
    assert_true(sessions_with_claims <= TRIALS / 20);
}

static void planted_interactions_are_found(void **state)
{
    (void)state;
    int found = 0, covered = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        double v[10 * CELLS], planted = 0.2; // exp(−0.2) = 0.819: level 1 gives model 1 less
        simulate(seed, planted, v);
        etp_factorial f = plain(v, 10);
        etp_factorial_result r;
        etp_arena arena = {0};
        assert_int_equal(etp_factorial_analyze(&f, &arena, &r, NULL), ETP_OK);
        const etp_interaction *x = &r.interactions[0];
        found += x->ratio.verdict == ETP_VERDICT_SLOWER;
        covered += x->ratio.paired.lo <= exp(-planted) && exp(-planted) <= x->ratio.paired.hi;
        etp_arena_dispose(&arena);
    }
    printf("planted interaction: found in %d, covered in %d of %d sessions\n", found, covered,
           TRIALS);
    assert_true(found >= TRIALS * 99 / 100);
    assert_true(covered >= TRIALS * 93 / 100); // 95 % less three standard errors of 500 trials
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holm),
        cmocka_unit_test(against_scipy),
        cmocka_unit_test(interactions_against_scipy),
        cmocka_unit_test(holes),
        cmocka_unit_test(bad_sizes),
        cmocka_unit_test(absent_interactions_are_not_claimed),
        cmocka_unit_test(planted_interactions_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
