// SPDX-License-Identifier: Apache-2.0
// Rank tests, many results at once, values over time, planning: against scipy (expressions beside
// the figures) and against enumerations done outside.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "near.h"
#include "stats/internal.h"
#include "unit.h"

static double wilcoxon(const double *x, size_t n)
{
    etp_arena arena = {0};
    double p;
    assert_int_equal(etp_wilcoxon_p(x, n, &arena, &p, NULL), ETP_OK);
    etp_arena_dispose(&arena);
    return p;
}

static void signed_ranks(void **state)
{
    static const double k_x[] = {1.1, -0.4, 2.3, 0.7, -1.9, 3.1, 0.2, 1.5};
    near_rel(wilcoxon(k_x, 8), 0.1953125, 1e-14, "plain"); // scipy.stats.wilcoxon(method='exact')
    static const double k_ties[] = {1, -1, 2, 2, -3, 4, 0, 5, 5};
    near_rel(wilcoxon(k_ties, 9), 0.125, 1e-14, "ties"); // all 2^8 signs of the mid-ranks
    static const double k_six[] = {1, 2, 3, 4, 5, 6};
    near_rel(wilcoxon(k_six, 6), 2.0 / 64, 1e-14, "six");
    double y[60];
    for (int i = 1; i <= 60; i++) {
        y[i - 1] = (i % 3 == 0 ? -1 : 1) * (i * 7 % 61 + 0.5 * (i % 2));
    }
    // scipy.stats.wilcoxon(y, method='approx', correction=False)
    near_rel(wilcoxon(y, 60), 0.010411991904238317, 1e-10, "normal");
    static const double k_zero[] = {0, 0};
    assert_true(isnan(wilcoxon(k_zero, 2)) && isnan(wilcoxon(k_zero, 0)));
}

static etp_unpaired unpaired(const double *a, size_t n_a, const double *b, size_t n_b)
{
    etp_arena arena = {0};
    etp_unpaired u;
    assert_int_equal(etp_unpaired_compare(a, n_a, b, n_b, 0.95, &arena, &u, NULL), ETP_OK);
    etp_arena_dispose(&arena);
    return u;
}

static void rank_sums(void **state)
{
    static const double k_a[] = {1.2, 3.4, 2.2, 5.1, 4.0, 2.9}, k_b[] = {0.4, 1.9, 2.0, 1.1, 3.0};
    etp_unpaired u = unpaired(k_a, 6, k_b, 5);
    near_rel(u.p, 0.08225108225108226, 1e-13, "p"); // scipy.stats.mannwhitneyu(method='exact')
    near_rel(u.shift, 1.45, 1e-13, "shift");        // np.median(np.subtract.outer(a, b))
    near_rel(u.cliffs_delta, 2.0 / 3, 1e-13, "delta");
    // P(U ≤ 3) ≤ 2.5 % < P(U ≤ 4) over all C(11, 6) choices: 4 differences cut off on each side
    near_rel(u.lo, -0.7, 1e-12, "lo");
    near_rel(u.hi, 3.2, 1e-12, "hi");
    assert_true(u.exact);
    u = unpaired(k_b, 5, k_a, 6);
    near_rel(u.p, 0.08225108225108226, 1e-13, "p turned");
    near_rel(u.shift, -1.45, 1e-13, "shift turned");
    near_rel(u.lo, -3.2, 1e-12, "lo turned");

    static const double k_at[] = {1, 2, 2, 3, 5}, k_bt[] = {2, 3, 3, 4, 6, 7, 7};
    u = unpaired(k_at, 5, k_bt, 7);
    near_rel(u.p, 76.0 / 792, 1e-13, "ties"); // 76 of the C(12, 5) choices are as extreme

    double big_a[70], big_b[70];
    for (int i = 0; i < 70; i++) {
        big_a[i] = (i * 37 % 101) / 10.0;
        big_b[i] = (i * 53 % 103) / 10.0 + 1.3;
    }
    u = unpaired(big_a, 70, big_b, 70);
    // scipy.stats.mannwhitneyu(A, B, method='asymptotic')
    near_rel(u.p, 0.009532870290192497, 1e-10, "normal");
    near_rel(u.shift, -1.4, 1e-12, "shift");
    assert_true(!u.exact && u.lo < u.shift && u.shift < u.hi);

    static const double k_two[] = {1, 2}, k_three[] = {5, 6, 7};
    u = unpaired(k_two, 2, k_three, 3); // 2 of 10 choices: p cannot be small, nor an interval exist
    near_rel(u.p, 0.2, 1e-13, "tiny");
    assert_true(isnan(u.lo) && u.cliffs_delta == -1);
    u = unpaired(k_two, 0, k_three, 3);
    assert_true(isnan(u.p));
    static const double k_same[] = {3, 3, 3};
    u = unpaired(k_same, 3, k_same, 3);
    assert_true(u.p == 1 && u.shift == 0 && u.cliffs_delta == 0);
}

static void rank_sums_of_many(void **state)
{
    enum { N_A = 5000, N_B = 4001 };
    double *a = malloc(N_A * sizeof *a), *b = malloc(N_B * sizeof *b);
    assert_true(a && b);
    for (int i = 0; i < N_A; i++) {
        a[i] = i * 7919 % 10007 / 128.0;
    }
    for (int i = 0; i < N_B; i++) {
        b[i] = i * 7927 % 10009 / 128.0 + 0.75;
    }
    etp_unpaired u = unpaired(a, N_A, b, N_B);
    near_rel(u.p, 0.1243097650892567, 1e-9,
             "p"); // scipy.stats.mannwhitneyu(A, B, method='asymptotic')
    // numpy: all 20 005 000 differences sorted; 9 762 397 are cut off on each side
    assert_true(u.shift == -0.7421875 && u.lo == -1.6875 && u.hi == 0.203125);
    near_rel(u.cliffs_delta, -0.018823294176455885, 1e-14, "delta");
    free(a);
    free(b);
}

static void false_discovery(void **state)
{
    double p[] = {.01, .04, (double)NAN, .03, .005, .5}, q[6];
    uint32_t scratch[6];
    etp_benjamini_hochberg(p, 6, scratch, q);
    // scipy.stats.false_discovery_control([.01, .04, .03, .005, .5])
    static const double k_q[] = {.025, .05, 0, .05, .025, .5};
    for (int i = 0; i < 6; i++) {
        if (i == 2) {
            assert_true(isnan(q[i]));
        } else {
            near_rel(q[i], k_q[i], 1e-14, "q");
        }
    }
}

static void drift(void **state)
{
    etp_arena *arena = *state;
    etp_drift d;
    static const double k_t[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const double k_y[] = {2.0, 2.3, 1.9, 2.8, 2.7, 3.3, 3.1, 3.0};
    assert_int_equal(etp_drift_find(k_t, k_y, 8, arena, &d, NULL), ETP_OK);
    near_rel(d.slope, 0.1791666666666667, 1e-12, "slope"); // scipy.stats.theilslopes(y, t)
    near_rel(d.intercept, 1.8333333333333333, 1e-12, "intercept");
    // scipy.stats.kendalltau(t, y, method='exact').pvalue; 2.8 … 3.1 hold no ties
    near_rel(d.p, 0.06101190476190476, 1e-12, "p");
    static const double k_t10[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const double k_ties[] = {1, 1, 2, 2, 2, 3, 3, 5, 4, 5};
    assert_int_equal(etp_drift_find(k_t10, k_ties, 10, arena, &d, NULL), ETP_OK);
    near_rel(d.p, 0.0009349694954940241, 1e-10, "ties"); // S 37, variance 118.33, continuity
    static const double k_flat[] = {4, 4, 4, 4};
    assert_int_equal(etp_drift_find(k_t, k_flat, 4, arena, &d, NULL), ETP_OK);
    assert_true(d.slope == 0 && d.p == 1);
    assert_int_equal(etp_drift_find(k_t, k_y, 1, arena, &d, NULL), ETP_OK);
    assert_true(isnan(d.slope));
    double t[5000], y[5000];
    for (int i = 0; i < 5000; i++) {
        t[i] = i;
        y[i] = 3 * i + (i * 7919) % 13;
    }
    assert_int_equal(etp_drift_find(t, y, 5000, arena, &d, NULL), ETP_OK);
    near_rel(d.slope, 3, 1e-3, "long");
    assert_true(d.p < 1e-6);
    static const double k_x[] = {1, 2, 2, 4, 7}, k_z[] = {3, 1, 5, 5, 9};
    double rho;
    assert_int_equal(etp_rank_correlation(k_x, k_z, 5, arena, &rho, NULL), ETP_OK);
    near_rel(rho, 0.7631578947368421, 1e-13, "rho"); // scipy.stats.spearmanr
    assert_int_equal(etp_rank_correlation(k_t, k_flat, 4, arena, &rho, NULL), ETP_OK);
    assert_true(isnan(rho));
}

static size_t changes_in(const double *x, size_t n, etp_change *out)
{
    etp_arena arena = {0};
    etp_change *found;
    size_t count;
    assert_int_equal(etp_change_points(x, n, 0.001, 0.01, &arena, &found, &count, NULL), ETP_OK);
    memcpy(out, found, count * sizeof *out);
    etp_arena_dispose(&arena);
    return count;
}

static void change_points(void **state)
{
    etp_change c[100];
    static const double k_one[] = {10, 11, 10, 10, 11, 10, 10, 11, 10, 10,
                                   13, 14, 13, 13, 14, 13, 14, 13, 13, 14};
    assert_int_equal(changes_in(k_one, 20, c), 1);
    assert_int_equal(c[0].at, 10);
    near_rel(c[0].before, 10.3, 1e-14, "before");
    near_rel(c[0].after, 13.4, 1e-14, "after");
    // scipy.stats.ttest_ind, times the 15 places that leave three values on each side
    near_rel(c[0].p, 15 * 4.780353575269948e-11, 1e-9, "p");
    etp_rng rng;
    etp_rng_init(&rng, 8);
    unsigned false_alarms = 0, exact = 0;
    for (int round = 0; round < 200; round++) {
        double x[90];
        for (int i = 0; i < 90; i++) { // noise ± 2.9 %
            x[i] = 100 * (1 + 0.1 * (etp_rng_unit(&rng) - 0.5));
        }
        false_alarms += changes_in(x, 90, c) > 0;
        for (int i = 0; i < 90; i++) { // up at 30, back at 60: a split at either alone looks weak
            x[i] *= i >= 30 && i < 60 ? 1.2 : 1;
        }
        size_t n = changes_in(x, 90, c);
        exact += n == 2 && c[0].at == 30 && c[1].at == 60;
    }
    assert_true(false_alarms <= 4);
    assert_true(exact >= 190);
    static const double k_steps[] = {5, 5, 5, 5, 9, 9, 9, 9};
    assert_int_equal(changes_in(k_steps, 8, c), 1);
    assert_int_equal(c[0].at, 4);
    assert_int_equal(changes_in(k_steps, 4, c), 0);
    assert_int_equal(changes_in(k_steps, 0, c), 0);
}

static double normal(etp_rng *rng)
{
    double u = etp_rng_unit(rng);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * etp_rng_unit(rng));
}

static void plans(void **state)
{
    // t(.975, 9)·c4(10)·sd/√10 and (t(.975, 9) + t(.8, 9))·sd/√10 with sd 0.02, expm1
    near_rel(etp_plan_half_width(0.02, 10), 0.014013248411268112, 1e-12, "width");
    // smallest even n from 6 on with
    // t.ppf(.975, n − 1) · sd · c4(df + 1) · √(f.ppf(.8, n − 1, df) / n) · (1 + 1.5 / n) ≤ ln 1.01
    static const struct {
        double sd, df;
        uint32_t blocks;
    } k_need[] = {
        {.005, 5,  6  },
        {.02,  5,  36 },
        {.02,  21, 28 },
        {.02,  1,  160},
        {.1,   40, 482}
    };
    for (size_t i = 0; i < N(k_need); i++) {
        assert_int_equal(etp_plan_sure(k_need[i].sd, k_need[i].df, 0.01), k_need[i].blocks);
    }
    assert_int_equal(etp_plan_sure(0.02, 5, 1e-6), UINT32_MAX);
}

// Of sessions as long as their pilots of six blocks say, four of five are as narrow as was asked.
static void plans_hold_as_often_as_they_say(void **state)
{
    enum { SESSIONS = 2000 };
    etp_rng rng;
    etp_rng_init(&rng, 20261126);
    int narrow = 0;
    for (int i = 0; i < SESSIONS; i++) {
        double pilot[6];
        for (size_t b = 0; b < 6; b++) {
            pilot[b] = 0.02 * normal(&rng);
        }
        etp_moments m = {0};
        for (size_t b = 0; b < 6; b++) {
            etp_moments_add(&m, pilot[b]);
        }
        const etp_spread none = {0};
        double df, sd_ln = etp_spread_sd(&none, etp_moments_sd(&m), 6, &df);
        uint32_t k = etp_plan_sure(sd_ln, df, 0.01);
        assert_true(k >= 6 && k < 4000);
        double sum = 0, squares = 0;
        for (uint32_t b = 0; b < k; b++) {
            double x = 0.02 * normal(&rng);
            sum += x;
            squares += x * x;
        }
        double sd = sqrt((squares - sum * sum / k) / (k - 1.0));
        double half = etp_t_quantile(0.975, k - 1.0) * sd / sqrt(k);
        narrow += expm1(half * etp_sequential_widening(k)) <= 0.01;
    }
    printf("%d of %d planned sessions reach the precision\n", narrow, (int)SESSIONS);
    assert_in_range(narrow, SESSIONS * 78 / 100, SESSIONS * 84 / 100);
}
