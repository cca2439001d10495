// SPDX-License-Identifier: Apache-2.0
// The formulas against values from numpy and scipy (the expression stands beside each) and against
// plain definitions written out here.
#include <math.h>

#include "near.h"
#include "stats/internal.h"
#include "unit.h"

static void quantiles_follow_numpy(void **state)
{
    double odd[] = {3, 1, 2, 10, 7};
    assert_true(etp_median(odd, 5) == 3);
    double even[] = {3, 1, 2, 10};
    assert_true(etp_median(even, 4) == 2.5);
    assert_true(isnan(etp_median(even, 0)));
    double mad[] = {1, 1, 2, 2, 4, 6, 9}; // median 2; deviations 1 1 0 0 2 4 7
    assert_true(etp_mad(mad, 7) == 1);
    double equal[] = {5, 5, 5, 5, 5, 5};
    assert_true(etp_median(equal, 6) == 5);
    static const double k_q[][2] = {
        // np.quantile([3, 1, 2, 10], q)
        {0,   1   },
        {.25, 1.75},
        {.5,  2.5 },
        {.75, 4.75},
        {.99, 9.79},
        {1,   10  },
    };
    for (size_t i = 0; i < N(k_q); i++) {
        double x[] = {3, 1, 2, 10};
        near_rel(etp_quantile(x, 4, k_q[i][0]), k_q[i][1], 1e-15, "quantile");
    }
}

static void selection_sorts_any_input(void **state)
{
    etp_rng rng;
    etp_rng_init(&rng, 1);
    double x[300], sorted[300];
    for (int round = 0; round < 300; round++) {
        size_t n = 1 + etp_rng_below(&rng, 300);
        uint64_t values = 1 + etp_rng_below(&rng, 40); // many equal ones
        for (size_t i = 0; i < n; i++) {
            sorted[i] = x[i] = round % 3 == 0 ? (double)i : (double)etp_rng_below(&rng, values);
        }
        etp_sort_doubles(sorted, n);
        size_t k = etp_rng_below(&rng, n);
        assert_true(etp_select(x, n, k) == sorted[k]);
        for (size_t i = 0; i < n; i++) {
            assert_true(i < k ? x[i] <= x[k] : x[i] >= x[k]);
        }
    }
}

static void moments_survive_a_large_offset(void **state)
{
    etp_moments m = {0};
    assert_true(isnan(etp_moments_variance(&m)));
    static const double k_x[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}; // variance 30
    for (size_t i = 0; i < N(k_x); i++) {
        etp_moments_add(&m, k_x[i]);
    }
    assert_true(m.mean == 1e9 + 10);
    near_rel(etp_moments_variance(&m), 30, 1e-12, "variance");
    double variance;
    assert_true(etp_mean(k_x, 4, &variance) == 1e9 + 10);
    near_rel(variance, 30, 1e-12, "variance");
}

static void t_quantiles_of_any_df(void **state)
{
    static const struct {
        double p, df, t; // scipy.stats.t.ppf(p, df)
    } k_t[] = {
        {.975,    1,    12.706204736174694    },
        {.975,    2,    4.302652729749462     },
        {.975,    5,    2.5705818356363146    },
        {.975,    9,    2.262157162798205     },
        {.975,    29,   2.045229642132703     },
        {.975,    1000, 1.9623390808264083    },
        {.975,    1e7,  1.959964221767205     },
        {.8,      5,    0.9195437802408271    },
        {.999,    3,    10.214531852407383    },
        {.55,     4,    0.13383036711194346   },
        {1e-10,   7,    -53.83557948467374    },
        {.975,    .5,   164.55767348048818    },
        {.500001, 9,    2.5770877237522147e-06},
        {.975,    2.5,  3.5746548420036817    },
    };
    for (size_t i = 0; i < N(k_t); i++) {
        // p itself has a relative error of 1e-10 next to one half
        near_rel(etp_t_quantile(k_t[i].p, k_t[i].df), k_t[i].t, i == 12 ? 1e-9 : 1e-12, "t");
        near_rel(etp_t_cdf(k_t[i].t, k_t[i].df), k_t[i].p, 1e-12, "t cdf");
    }
    assert_true(etp_t_quantile(.5, 3) == 0);
    assert_true(isnan(etp_t_quantile(1, 3)) && isnan(etp_t_quantile(.9, 0)));
    near_rel(etp_t_cdf(0.5, 3), 0.6742760175759245, 1e-13, "cdf"); // scipy.stats.t.cdf
    near_rel(etp_t_cdf(-2.2, 7.5), 0.03059973295305805, 1e-13, "cdf");
    near_rel(etp_t_cdf(3, 1e5), 0.9986497695579677, 1e-13, "cdf");
}

static void normal_and_beta(void **state)
{
    static const double k_z[][2] = {
        // scipy.stats.norm.ppf
        {.975,  1.959963984540054 },
        {.001,  -3.090232306167813},
        {1e-12, -7.034483825301131},
        {.9999, 3.719016485455709 },
    };
    for (size_t i = 0; i < N(k_z); i++) {
        near_rel(etp_normal_quantile(k_z[i][0]), k_z[i][1], 1e-12, "z");
        near_rel(etp_normal_cdf(k_z[i][1]), k_z[i][0], 1e-12, "normal cdf");
    }
    assert_true(etp_normal_quantile(.5) == 0);
    static const double k_beta[][4] = {
        // scipy.special.betainc(a, b, x)
        {2,     3,  .4,    0.5247999999999999 },
        {.5,    .5, .1,    0.20483276469913345},
        {50,    .5, .99,   0.3173043978741973 },
        {1000,  3,  .998,  0.6755927412783109 },
        {20000, .5, .9999, 0.04549621445155724},
        {.1,    5,  .01,   0.7690889207843462 },
    };
    for (size_t i = 0; i < N(k_beta); i++) {
        near_rel(etp_beta_cdf2(k_beta[i][0], k_beta[i][1], k_beta[i][2], 1 - k_beta[i][2]),
                 k_beta[i][3], 1e-11, "beta");
    }
}

// (splitmix64 and xoshiro256** have published first outputs for these states.)
static void generators_match_their_specification(void **state)
{
    etp_rng rng;
    etp_rng_init(&rng, 1234567);
    assert_true(rng.s[0] == UINT64_C(6457827717110365317));
    assert_true(rng.s[1] == UINT64_C(3203168211198807973));
    assert_true(rng.s[2] == UINT64_C(9817491932198370423));
    assert_true(rng.s[3] == UINT64_C(4593380528125082431));
    rng = (etp_rng){
        {1, 2, 3, 4}
    };
    static const uint64_t k_first[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    for (size_t i = 0; i < N(k_first); i++) {
        assert_true(etp_rng_next(&rng) == k_first[i]);
    }
    unsigned seen[6] = {0};
    for (int i = 0; i < 60000; i++) {
        seen[etp_rng_below(&rng, 6)]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_in_range(seen[i], 9600, 10400); // 4 standard deviations are 365
    }
}

static void orders_mirror_every_second_block(void **state)
{
    unsigned first[3] = {0}, positions[4] = {0};
    for (uint32_t block = 1; block <= 6000; block += 2) {
        uint32_t odd[3], even[3], again[3];
        etp_block_order(7, block, 3, odd);
        etp_block_order(7, block + 1, 3, even);
        etp_block_order(7, block, 3, again);
        assert_int_equal(odd[0] + odd[1] + odd[2], 3);
        assert_true(odd[0] != odd[1] && odd[1] != odd[2]);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(odd[i], even[2 - i]);
            assert_int_equal(odd[i], again[i]);
        }
        first[odd[0]]++;
        positions[etp_control_position(7, block, 3)]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_in_range(first[i], 880, 1120); // 1000 ± 4.6 standard deviations
    }
    for (int i = 0; i < 4; i++) {
        assert_in_range(positions[i], 650, 850);
    }
    uint32_t one;
    etp_block_order(7, 1, 1, &one);
    assert_int_equal(one, 0);
}

static void paired_estimate(void **state)
{
    static const double k_x[] = {0.012, 0.03, -0.004, 0.021, 0.017, 0.025, 0.008};
    etp_paired p = etp_paired_estimate(k_x, 7, 0.01, 0.95, 1);
    // scipy.stats.t.interval(.95, 6, loc=mean, scale=sem), and exp of it
    near_rel(p.mean_ln, 0.015571428571428573, 1e-14, "mean");
    near_rel(p.estimate, 1.0156932949883888, 1e-14, "estimate");
    near_rel(log(p.lo), 0.005014983226373457, 1e-11, "lo");
    near_rel(log(p.hi), 0.02612787391648369, 1e-11, "hi");
    // scipy.stats.permutation_test((x,), np.mean, permutation_type='samples', n_resamples=inf)
    near_rel(p.sign_flip_p, 0.03125, 0, "p");
    assert_int_equal(p.verdict, ETP_VERDICT_UNKNOWN); // 1.005 … 1.026 straddles the margin
    // scipy: the first six have half-width 0.012548 (ln); widened by 1.25: 0.015685 = ln 1.015809
    assert_true(etp_precise_enough(k_x, 6, 0.01581) && !etp_precise_enough(k_x, 6, 0.0158));
    assert_false(etp_precise_enough(k_x, 7, 10)); // half a pair of orders: no look
    assert_false(etp_precise_enough(k_x, 4, 10));
    etp_paired_widen(&p, etp_sequential_widening(7), 0.01);
    near_rel(p.widening, 1 + 1.5 / 7, 1e-14, "widening");
    near_rel(log(p.lo), 0.015571428571428573 - 0.01055644534505511 * (1 + 1.5 / 7), 1e-9,
             "widened lo");
    near_rel(log(p.hi), 0.015571428571428573 + 0.01055644534505511 * (1 + 1.5 / 7), 1e-9,
             "widened hi");
    p = etp_paired_estimate(k_x, 7, 0.001, 0.95, 1);
    assert_int_equal(p.verdict, ETP_VERDICT_FASTER);
    p = etp_paired_estimate(k_x, 7, 0.05, 0.95, 1);
    assert_int_equal(p.verdict, ETP_VERDICT_SAME);
    p = etp_paired_estimate(k_x, 1, 0.05, 0.95, 1);
    assert_true(isnan(p.lo) && isnan(p.sd_ln) && p.verdict == ETP_VERDICT_UNKNOWN);
    p = etp_paired_estimate(k_x, 0, 0.05, 0.95, 1);
    assert_true(isnan(p.estimate) && p.verdict == ETP_VERDICT_UNKNOWN);
}

static void verdict_needs_blocks_and_agreement(void **state)
{
    double L = log(1.01);
    assert_int_equal(etp_verdict_of(L + 1e-9, 1, 10, 0.01, 0.01), ETP_VERDICT_FASTER);
    assert_int_equal(etp_verdict_of(L - 1e-9, 1, 10, 0.01, 0.01), ETP_VERDICT_UNKNOWN);
    assert_int_equal(etp_verdict_of(-1, -L - 1e-9, 10, 0.01, 0.01), ETP_VERDICT_SLOWER);
    assert_int_equal(etp_verdict_of(-1, -L + 1e-9, 10, 0.01, 0.01), ETP_VERDICT_UNKNOWN);
    assert_int_equal(etp_verdict_of(-L + 1e-9, L - 1e-9, 10, 0.9, 0.01), ETP_VERDICT_SAME);
    assert_int_equal(etp_verdict_of(-L - 1e-9, 0, 10, 0.9, 0.01), ETP_VERDICT_UNKNOWN);
    assert_int_equal(etp_verdict_of(0.5, 0.6, 10, 0.051, 0.01), ETP_VERDICT_UNKNOWN);
    assert_int_equal(etp_verdict_of(0.5, 0.6, 5, 0.01, 0.01), ETP_VERDICT_UNKNOWN);
    assert_int_equal(etp_verdict_of(0, 0, 5, 1, 0.01), ETP_VERDICT_UNKNOWN);
    assert_int_equal(etp_verdict_of(0.5, 0.6, 6, 0.05, 0.01), ETP_VERDICT_FASTER);
    assert_int_equal(etp_verdict_of((double)NAN, (double)NAN, 9, 0.01, 0.01), ETP_VERDICT_UNKNOWN);
}

static void sign_flip_counts_patterns(void **state)
{
    static const double k_same_sign[] = {1, 2, 3, 4, 5, 6};
    near_rel(etp_sign_flip_p(k_same_sign, 6, 1), 2.0 / 64, 0, "p"); // only all + and all −
    static const double k_two[] = {1, -1};
    near_rel(etp_sign_flip_p(k_two, 2, 1), 1, 0, "p");
    // 1 2 3 −1: sum 5; |±1±2±3±1| ≥ 5: (+++−), (−+++), (++++) and their mirrors = 6 of 16
    static const double k_mixed[] = {1, 2, 3, -1};
    near_rel(etp_sign_flip_p(k_mixed, 4, 1), 6.0 / 16, 0, "p");
    static const double k_zeros[] = {0, 0, 0};
    near_rel(etp_sign_flip_p(k_zeros, 3, 1), 1, 0, "p");
    // equal sums by different roads: .1+.2−.3 is not 0 in binary
    static const double k_ties[] = {.1, .2, -.3};
    near_rel(etp_sign_flip_p(k_ties, 3, 1), 1, 0, "p");
    // Many blocks: no pattern of 1,000 reaches the sum of equal signs, each reaches none.
    static double large[300000];
    for (size_t i = 0; i < 300000; i++) {
        large[i] = 0.01;
    }
    near_rel(etp_sign_flip_p(large, 300000, 1), 1.0 / 1001, 1e-12, "p");
    for (size_t i = 0; i < 300000; i++) {
        large[i] = i % 2 ? 0.01 : -0.01;
    }
    near_rel(etp_sign_flip_p(large, 300000, 1), 1, 0, "p");
    double many[30];
    for (int i = 0; i < 30; i++) {
        many[i] = i % 3 == 0 ? -1 : 1; // 20 of 30 with the same sign
    }
    // binomial: scipy.stats.binomtest(20, 30).pvalue = 0.0987; the draws' own sd is 0.00094
    double p = etp_sign_flip_p(many, 30, 5);
    assert_true(fabs(p - 0.09873715) < 0.004);
    assert_true(p == etp_sign_flip_p(many, 30, 5) && p != etp_sign_flip_p(many, 30, 6));
}

// The rule as it is written down, slowly.
static etp_warmup plain_warmup(const double *x, size_t n)
{
    double best = INFINITY, buf[64], copy[64];
    size_t w = 0;
    for (size_t cut = 0; cut <= n / 2; cut++) {
        double cost = 0;
        for (int side = 0; side < 2; side++) {
            size_t from = side ? cut : 0, len = side ? n - cut : cut;
            memcpy(buf, x + from, len * sizeof *x);
            double m = etp_median(buf, len);
            for (size_t i = 0; i < len; i++) {
                cost += fabs(x[from + i] - m);
            }
        }
        if (cost < best - 1e-10) {
            best = cost;
            w = cut;
        }
    }
    etp_warmup out = {0};
    if (n < 8 || w == 0) {
        out.kind = n < 8 ? ETP_WARM_SHORT : ETP_WARM_FLAT;
        return out;
    }
    memcpy(buf, x, w * sizeof *x);
    memcpy(copy, x + w, (n - w) * sizeof *x);
    double step = etp_median(buf, w) - etp_median(copy, n - w);
    double bound = 3 * 1.4826 * etp_mad(copy, n - w) / sqrt((double)w);
    bound = bound > 0.02 ? bound : 0.02;
    if (step > bound) {
        return (etp_warmup){ETP_WARM_WARMUP, w, w};
    }
    return -step > bound ? (etp_warmup){ETP_WARM_SLOWDOWN, w, 0} : out;
}

static void check_warmup(const double *ns, size_t n, etp_warmup_class kind, size_t change,
                         size_t dropped)
{
    double ln[64], scratch[128];
    for (size_t i = 0; i < n; i++) {
        ln[i] = log(ns[i]);
    }
    etp_warmup w = etp_warmup_find(ln, n, scratch);
    assert_int_equal(w.kind, kind);
    assert_int_equal(w.change, change);
    assert_int_equal(w.dropped, dropped);
}

static void warmup_rule_by_hand(void **state)
{
    static const double k_warm[] = {130, 128, 131, 100, 101, 99, 100, 102, 101, 100, 99, 100};
    check_warmup(k_warm, 12, ETP_WARM_WARMUP, 3, 3);
    check_warmup(k_warm, 8, ETP_WARM_WARMUP, 3, 3);
    check_warmup(k_warm, 7, ETP_WARM_SHORT, 0, 0);
    static const double k_slow[] = {90, 91, 90, 100, 101, 99, 100, 102, 101, 100, 99, 100};
    check_warmup(k_slow, 12, ETP_WARM_SLOWDOWN, 3, 0);
    static const double k_flat[] = {100, 101, 99, 100, 102, 101, 100, 99, 100, 103};
    check_warmup(k_flat, 10, ETP_WARM_FLAT, 0, 0);
    static const double k_first[] = {150, 100, 101, 99, 100, 102, 101, 100, 99, 100};
    check_warmup(k_first, 10, ETP_WARM_WARMUP, 1, 1);
    static const double k_small[] = {101.5, 101.6, 100, 100, 100, 100, 100, 100, 100, 100}; // < 2 %
    check_warmup(k_small, 10, ETP_WARM_FLAT, 0, 0);
    static const double k_late[] = {100, 100, 100, 100, 100, 100, 100, 150, 100, 100, 100, 100};
    check_warmup(k_late, 12, ETP_WARM_FLAT, 0, 0); // a spike is no warm-up
    static const double k_equal[] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
    check_warmup(k_equal, 9, ETP_WARM_FLAT, 0, 0);
}

static void warmup_rule_against_its_definition(void **state)
{
    etp_rng rng;
    etp_rng_init(&rng, 3);
    unsigned kinds[4] = {0};
    for (int round = 0; round < 3000; round++) {
        double x[60], scratch[120];
        size_t n = 1 + etp_rng_below(&rng, 60), cut = etp_rng_below(&rng, n / 2 + 1);
        double step = 0.2 * (etp_rng_unit(&rng) - 0.4);
        for (size_t i = 0; i < n; i++) {
            double noise = 0.05 * etp_rng_unit(&rng);
            x[i] = 14 + (i < cut ? step : 0) + (round % 4 == 0 ? floor(noise * 100) / 100 : noise);
        }
        etp_warmup expected = plain_warmup(x, n);
        etp_warmup found = etp_warmup_find(x, n, scratch);
        kinds[found.kind]++;
        assert_int_equal(found.kind, expected.kind);
        assert_int_equal(found.change, expected.change);
        assert_int_equal(found.dropped, expected.dropped);
    }
    for (int i = 0; i < 4; i++) {
        assert_true(kinds[i] > 100);
    }
}

static void rounding_keeps_the_sum(void **state)
{
    uint32_t scratch[200];
    int64_t out[200];
    static const double k_thirds[] = {10.0 / 3, 10.0 / 3, 10.0 / 3};
    etp_round_to_sum(k_thirds, 3, 10, scratch, out);
    assert_true(out[0] == 4 && out[1] == 3 && out[2] == 3); // a tie goes to the earlier
    static const double k_parts[] = {1.2, 2.7, -0.5, 3.6};  // floors 1 2 −1 3, two units missing
    etp_round_to_sum(k_parts, 4, 7, scratch, out);
    assert_true(out[0] == 1 && out[1] == 3 && out[2] == -1 && out[3] == 4);
    etp_round_to_sum(k_parts, 1, -3, scratch, out);
    assert_true(out[0] == -3);
    etp_rng rng;
    etp_rng_init(&rng, 9);
    for (int round = 0; round < 2000; round++) {
        double v[200], sum = 0;
        size_t n = 1 + etp_rng_below(&rng, 200);
        for (size_t i = 0; i < n; i++) {
            v[i] = (etp_rng_unit(&rng) - 0.3) * 1e7;
            sum += v[i];
        }
        int64_t total = llround(sum), found = 0;
        etp_round_to_sum(v, n, total, scratch, out);
        for (size_t i = 0; i < n; i++) {
            found += out[i];
            assert_true(fabs((double)out[i] - v[i]) < 1 + 1e-6);
        }
        assert_true(found == total);
    }
}

static void quantile_ranks_cover(void **state)
{
    size_t lo, hi;
    // Median of 10: ranks 2 … 9 (1-based) hold it with 97.9 % (binomial(10, ½): P(2 ≤ X ≤ 8))
    assert_true(etp_quantile_ranks(10, 0.5, 0.95, &lo, &hi));
    assert_int_equal(lo, 1);
    assert_int_equal(hi, 8);
    assert_false(etp_quantile_ranks(5, 0.5, 0.95, &lo, &hi)); // 2·(½)^5 = 6.25 %
    assert_true(etp_quantile_ranks(6, 0.5, 0.95, &lo, &hi));
    assert_true(lo == 0 && hi == 5);
    assert_false(etp_quantile_ranks(100, 0.99, 0.95, &lo, &hi));
    assert_true(etp_quantile_ranks(100, 0.9, 0.95, &lo, &hi));
    // scipy.stats.binom.ppf(.025, 100, .9) = 84, ppf(.975) = 95
    assert_int_equal(lo, 83);
    assert_int_equal(hi, 95);
}

// Readings of durations by a clock that is cut to whole steps at both ends: the doubt covers what
// the mean of the launches' medians is off by, for every fraction of a step.
static void coarse_clocks_are_covered(void **state)
{
    static const size_t k_blocks[] = {2, 6, 10, 20}, k_answers[] = {1, 5};
    etp_rng rng;
    etp_rng_init(&rng, 7);
    for (size_t b = 0; b < 4; b++) {
        for (size_t a = 0; a < 2; a++) {
            size_t inside = 0, tries = 0;
            for (double truth = 3; truth < 4; truth += 0.05) {
                for (int t = 0; t < 400; t++, tries++) {
                    double sum = 0;
                    for (size_t i = 0; i < k_blocks[b]; i++) {
                        double x[5];
                        for (size_t k = 0; k < k_answers[a]; k++) {
                            double start = 100 * etp_rng_unit(&rng);
                            x[k] = floor(start + truth) - floor(start);
                        }
                        sum += etp_median(x, k_answers[a]);
                    }
                    double off = fabs(sum / (double)k_blocks[b] - truth);
                    inside += off <= etp_clock_doubt(1, k_blocks[b]) + 1e-9;
                }
            }
            assert_true((double)inside >= 0.95 * (double)tries);
        }
    }
    assert_true(etp_clock_doubt(1000, 1) == 1000 && etp_clock_doubt(1000, 1000000) == 500);

    const double same[] = {0.7, 0.7, 0.7, 0.7, 0.7, 0.7}; // of which a t interval has no width
    etp_paired p = etp_paired_estimate(same, 6, 0.01, 0.95, 1);
    etp_paired_blur(&p, 0.2, 0.01);
    assert_true(fabs(log(p.lo) - 0.5) < 1e-9 && fabs(log(p.hi) - 0.9) < 1e-9);
    assert_int_equal(p.verdict, ETP_VERDICT_FASTER);
    etp_paired_blur(&p, 0.7, 0.01);
    assert_int_equal(p.verdict, ETP_VERDICT_UNKNOWN);
}
