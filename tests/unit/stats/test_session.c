// SPDX-License-Identifier: Apache-2.0
// The analysis of a whole session, the CSV reader and the choice of the baseline. Expected figures
// come from numpy and scipy on the same integers, with the rules written out a second time.
#include <math.h>

#include "near.h"
#include "unit.h"
#include <etprof/stats.h>

// Three arms, seven blocks with drift, 12 iterations; arm 2 lost block 4, arm 0 warms up in block
// 3; blocks 1 to 6 carry a control of arm 0.
static uint64_t duration(uint32_t arm, uint32_t b, uint64_t i, bool control)
{
    static const uint64_t k_base[] = {4000000, 2500000, 3000000};
    uint64_t base = k_base[arm];
    uint64_t d =
        base + (b * 7919 + i * 104729 + arm * 1299709 + (control ? 15485863 : 0)) % (base / 50);
    d += b * base / 100;
    return arm == 0 && b == 3 && i < 2 ? d + base / 10 : d;
}

typedef struct samples {
    etp_sample *items;
    size_t n, cap;
} samples;

static void make_session(etp_arena *arena, samples *s)
{
    for (uint32_t b = 1; b <= 7; b++) {
        for (uint32_t arm = 0; arm < 4; arm++) {
            bool control = arm == 3;
            if ((arm == 2 && b == 4) || (control && b == 7)) {
                continue;
            }
            for (uint64_t i = 0; i < 12; i++) {
                uint32_t a = control ? 0 : arm;
                etp_sample x = {a,
                                b,
                                b * 10 + arm,
                                i,
                                control ? ETP_SAMPLE_CONTROL : ETP_SAMPLE_TIMED,
                                duration(a, b, i, control),
                                0};
                assert_true(ETP_PUSH(arena, s, x));
            }
        }
        etp_sample unused = {0, b, b * 10, 99, ETP_SAMPLE_UNUSED, 1, 0};
        assert_true(ETP_PUSH(arena, s, unused));
    }
}

static void whole_session(void **state)
{
    etp_arena *arena = *state;
    samples s = {0};
    make_session(arena, &s);
    etp_stats r, mixed;
    assert_int_equal(etp_stats_analyze(s.items, s.n, 3, NULL, arena, &r, NULL), ETP_OK);
    assert_int_equal(r.blocks, 6);
    assert_int_equal(r.blocks_dropped, 1);
    assert_int_equal(r.n_blocks_seen, 7);
    assert_int_equal(r.n_comparisons, 2);
    // scipy.stats.t.interval(.95, 5, loc=mean, scale=sem) of the six log ratios, exp
    near_rel(r.comparisons[0].paired.estimate, 1.600596015143201, 1e-12, "1 estimate");
    near_rel(r.comparisons[0].paired.lo, 1.599122676925322, 1e-12, "1 lo");
    near_rel(r.comparisons[0].paired.hi, 1.6020707108088454, 1e-12, "1 hi");
    near_rel(r.comparisons[1].paired.estimate, 1.3325672388909604, 1e-12, "2 estimate");
    near_rel(r.comparisons[1].paired.lo, 1.3305204992058675, 1e-12, "2 lo");
    near_rel(r.comparisons[1].paired.hi, 1.3346171270757128, 1e-12, "2 hi");
    near_rel(r.comparisons[0].paired.sign_flip_p, 0.03125, 0, "p");
    assert_int_equal(r.comparisons[0].paired.verdict, ETP_VERDICT_FASTER);
    assert_int_equal(r.comparisons[0].more_blocks, 0);
    static const int64_t k_median[] = {4199470, 2623692, 3151413};
    for (int a = 0; a < 3; a++) {
        assert_int_equal(r.arms[a].median_ns, k_median[a]);
        assert_int_equal(r.arms[a].launches, 6);
        assert_int_equal(r.arms[a].iterations, 72 - (a == 0 ? 2 : 0));
        assert_int_equal(r.arms[a].warmup_dropped, a == 0 ? 2 : 0);
    }
    // np.quantile of arm 1's 72 iterations; from scipy.stats.binom.cdf(k, 72, q) the
    // ranks of the intervals: 28 to 45 for the median, 59 to 70 for P90, none above P99
    static const int64_t k_tails[3][3] = {
        {2625301, 2595756, 2656865},
        {2696952, 2684871, 2713245},
        {2719345, -1,      -1     }
    };
    for (int k = 0; k < 3; k++) {
        const etp_tail_quantile *q = &r.arms[1].quantiles[k];
        assert_true(q->ns == k_tails[k][0] && q->lo_ns == k_tails[k][1] &&
                    q->hi_ns == k_tails[k][2]);
    }
    assert_int_equal(r.control_blocks, 6);
    near_rel(r.noise_floor, 0.0015134480230818517, 1e-9, "noise floor");
    near_rel(r.control.estimate, 1.000405365854981, 1e-12, "control");
    assert_false(r.control_differs);

    // The order of the rows carries nothing.
    etp_rng rng;
    etp_rng_init(&rng, 4);
    for (size_t i = s.n; i > 1; i--) {
        size_t j = etp_rng_below(&rng, i);
        etp_sample t = s.items[i - 1];
        s.items[i - 1] = s.items[j];
        s.items[j] = t;
    }
    assert_int_equal(etp_stats_analyze(s.items, s.n, 3, NULL, arena, &mixed, NULL), ETP_OK);
    const etp_paired *x = &mixed.comparisons[0].paired, *y = &r.comparisons[0].paired;
    const double differences[] = {x->estimate - y->estimate, x->lo - y->lo, x->hi - y->hi,
                                  x->sd_ln - y->sd_ln, x->sign_flip_p - y->sign_flip_p};
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        assert_true(differences[i] == 0.0);
    }
    assert_int_equal(x->blocks, y->blocks);
    assert_int_equal(x->verdict, y->verdict);
    assert_memory_equal(mixed.value_ln, r.value_ln, 21 * sizeof *r.value_ln);

    // Another baseline turns the ratio over; the control stays arm 0's own.
    etp_stats_options other = {.baseline = 1};
    assert_int_equal(etp_stats_analyze(s.items, s.n, 3, &other, arena, &mixed, NULL), ETP_OK);
    near_rel(mixed.comparisons[0].paired.estimate, 1 / r.comparisons[0].paired.estimate, 1e-12,
             "inverse");
    assert_int_equal(mixed.comparisons[0].paired.verdict, ETP_VERDICT_SLOWER);
    assert_int_equal(mixed.control_blocks, 6);
}

// One iteration per launch: the launch values are what is written here, in µs.
static unsigned flags_of(const double *us, uint32_t k)
{
    etp_arena arena = {0};
    etp_stats r;
    samples s = {0};
    static const uint64_t k_calm[] = {53, 57, 51, 59, 55, 50, 58, 52, 56, 54};
    for (uint32_t b = 0; b < k; b++) {
        etp_sample x = {0, b + 1, 0, 0, ETP_SAMPLE_TIMED, (uint64_t)(us[b] * 1000), 0};
        etp_sample y = {1, b + 1, 0, 0, ETP_SAMPLE_TIMED, 8340 + 12 * k_calm[b], 0};
        assert_true(ETP_PUSH(&arena, &s, x) && ETP_PUSH(&arena, &s, y));
    }
    assert_int_equal(etp_stats_analyze(s.items, s.n, 2, NULL, &arena, &r, NULL), ETP_OK);
    assert_int_equal(r.arms[1].flags, 0);
    assert_int_equal(r.comparisons[0].flags, r.arms[0].flags);
    unsigned flags = r.arms[0].flags;
    etp_arena_dispose(&arena);
    return flags;
}

static void shapes_of_launches(void **state)
{
    static const double k_plain[] = {100.3, 99.6, 100.1, 100.9, 99.2,
                                     100.5, 99.9, 100.0, 99.4,  100.7};
    assert_int_equal(flags_of(k_plain, 10), 0);
    static const double k_modes[] = {100.3, 107.6, 100.1, 108.9, 107.2,
                                     100.5, 99.9,  108.0, 99.4,  107.7};
    assert_int_equal(flags_of(k_modes, 10), ETP_FLAG_BIMODAL);
    assert_int_equal(flags_of(k_modes, 5), 0); // too few to tell
    static const double k_step[] = {100.3, 99.6,  100.1, 100.9, 107.2,
                                    108.5, 107.9, 108.0, 107.4, 108.7};
    assert_int_equal(flags_of(k_step, 10), ETP_FLAG_DRIFT);
    static const double k_one[] = {100.3, 99.6, 100.1, 115.0, 99.2,
                                   100.5, 99.9, 100.0, 99.4,  100.7};
    assert_int_equal(flags_of(k_one, 10), ETP_FLAG_HEAVY_TAIL);
    static const double k_near[] = {100.3, 99.6, 100.1, 105.0, 99.2,
                                    100.5, 99.9, 100.0, 99.4,  100.7};
    assert_int_equal(flags_of(k_near, 10), ETP_FLAG_HEAVY_TAIL); // 8 deviations of the others
    // A late step against a falling trend: no monotone drift, two modes, one change of side.
    static const double k_late[] = {100.9, 100.7, 100.5, 100.3, 100.1,
                                    99.9,  99.7,  99.5,  107.2, 107.9};
    assert_int_equal(flags_of(k_late, 10), ETP_FLAG_DRIFT);
    static const double k_slope[] = {100.3, 100.6, 102.1, 103.9, 103.2,
                                     105.5, 105.9, 107.0, 107.4, 109.7};
    assert_int_equal(flags_of(k_slope, 10), ETP_FLAG_DRIFT);
    static const double k_equal[] = {100, 100, 100, 100, 100, 100, 100, 100};
    assert_int_equal(flags_of(k_equal, 8), 0);
    static const double k_two_values[] = {100, 101, 100, 100, 101, 101, 100, 101};
    assert_int_equal(flags_of(k_two_values, 8), ETP_FLAG_BIMODAL);
    static const double k_one_off[] = {100, 100, 100, 101, 100, 100, 100, 100};
    assert_int_equal(flags_of(k_one_off, 8), ETP_FLAG_HEAVY_TAIL);
}

// Two arms of 200 iterations, every so-and-so-many-th of them a quarter slower, except a launch's
// first, which would be a warm-up.
static void tails(uint64_t every_a, uint64_t every_b, double share_a, double share_b,
                  unsigned flags_a)
{
    etp_arena arena = {0};
    etp_stats r;
    samples s = {0};
    for (uint32_t b = 0; b < 10; b++) {
        for (uint64_t i = 0; i < 20; i++) {
            uint64_t n = b * 20 + i + 1, ns = 100000 + i * 7 % 10 * 100;
            etp_sample x = {
                0, b, 1, i, ETP_SAMPLE_TIMED, ns + (i > 0 && n % every_a == 0 ? 25000 : 0), 0};
            etp_sample y = {
                1, b, 2, i, ETP_SAMPLE_TIMED, ns + (i > 0 && n % every_b == 0 ? 25000 : 0), 0};
            assert_true(ETP_PUSH(&arena, &s, x) && ETP_PUSH(&arena, &s, y));
        }
    }
    assert_int_equal(etp_stats_analyze(s.items, s.n, 2, NULL, &arena, &r, NULL), ETP_OK);
    near_rel(r.arms[0].tail_share, share_a, 1e-12, "tail share");
    near_rel(r.arms[1].tail_share, share_b, 1e-12, "tail share");
    assert_int_equal(r.arms[0].flags, flags_a);
    assert_int_equal(r.arms[1].flags, 0);
    etp_arena_dispose(&arena);
}

static void slow_iterations(void **state)
{
    tails(9, 1000, 21.0 / 200, 0, ETP_FLAG_HEAVY_TAIL);
    tails(9, 9, 21.0 / 200, 21.0 / 200, 0); // both alike
    tails(5, 7, 40.0 / 200, 26.0 / 200, 0); // seven points more, but not twice
    tails(23, 1000, 7.0 / 200, 0, 0);       // less than five points
}

// Arm 0 has ten timed launches as in k_timed and ten traced ones, 5 % slower, as in US (in µs).
static unsigned flags_with_traced(const double *us, bool as_traced)
{
    static const double k_timed[] = {100.3, 99.6, 100.1, 100.9, 99.2,
                                     100.5, 99.9, 100.0, 99.4,  100.7};
    etp_arena arena = {0};
    etp_stats r;
    samples s = {0};
    for (uint32_t b = 0; b < 10; b++) {
        etp_sample x = {0, b + 1, 1, 0, ETP_SAMPLE_TIMED, (uint64_t)(k_timed[b] * 1000), 0};
        etp_sample y = {1, b + 1, 2, 0, ETP_SAMPLE_TIMED, (uint64_t)(k_timed[9 - b] * 500), 0};
        etp_sample t = {0,
                        b + 1,
                        3,
                        0,
                        as_traced ? ETP_SAMPLE_TRACED : ETP_SAMPLE_UNUSED,
                        (uint64_t)(us[b] * 1050),
                        0};
        assert_true(ETP_PUSH(&arena, &s, x) && ETP_PUSH(&arena, &s, y) && ETP_PUSH(&arena, &s, t));
    }
    assert_int_equal(etp_stats_analyze(s.items, s.n, 2, NULL, &arena, &r, NULL), ETP_OK);
    near_rel((double)r.arms[0].median_ns, 100059, 2e-5, "traced launches are in no estimate");
    assert_int_equal(r.n_launches, 20);
    assert_int_equal(r.n_traced, as_traced ? 10 : 0);
    assert_int_equal(r.arms[1].flags, 0);
    unsigned flags = r.arms[0].flags;
    etp_arena_dispose(&arena);
    return flags;
}

static void traced_launches_show_shapes(void **state)
{
    static const double k_alike[] = {99.7, 100.4, 99.9, 100.2, 100.8,
                                     99.3, 100.0, 99.5, 100.6, 100.1};
    assert_int_equal(flags_with_traced(k_alike, true), 0); // what the tracer costs is no mode
    static const double k_slow[] = {99.7, 100.4, 108.9, 100.2, 100.8,
                                    99.3, 100.0, 108.5, 100.6, 100.1};
    assert_int_equal(flags_with_traced(k_slow, false), 0);
    assert_int_equal(flags_with_traced(k_slow, true), ETP_FLAG_BIMODAL);
    static const double k_one[] = {99.7, 100.4, 108.9, 100.2, 100.8,
                                   99.3, 100.0, 99.5,  100.6, 100.1};
    assert_int_equal(flags_with_traced(k_one, true), ETP_FLAG_HEAVY_TAIL);
}

// Equal shapes, spread over ±WIDE and ±CALM percent, without outliers or gaps.
static unsigned flags_of_scatter(double wide, double calm)
{
    static const int k_order[] = {3, 8, 0, 6, 1, 9, 4, 7, 2, 5};
    etp_arena arena = {0};
    etp_stats r;
    samples s = {0};
    for (uint32_t b = 0; b < 10; b++) {
        double at = (k_order[b] - 4.5) / 4.5 / 100, other = (k_order[9 - b] - 4.5) / 4.5 / 100;
        etp_sample x = {0, b + 1, 1, 0, ETP_SAMPLE_TIMED, (uint64_t)(1e8 * (1 + wide * at)), 0};
        etp_sample y = {1, b + 1, 2, 0, ETP_SAMPLE_TIMED, (uint64_t)(1e8 * (1 + calm * other)), 0};
        assert_true(ETP_PUSH(&arena, &s, x) && ETP_PUSH(&arena, &s, y));
    }
    assert_int_equal(etp_stats_analyze(s.items, s.n, 2, NULL, &arena, &r, NULL), ETP_OK);
    near_rel(r.arms[0].scatter_ln / r.arms[1].scatter_ln, wide / calm, 0.01, "scatter");
    near_rel(r.arms[0].kind_df[0], 9, 1e-9, "degrees of freedom");
    unsigned flags = r.arms[0].flags | r.arms[1].flags << 8;
    etp_arena_dispose(&arena);
    return flags;
}

static void unequal_scatter(void **state)
{
    // scipy.stats.f.isf(0.03, 9, 9) = 3.7914, its root 1.9471
    assert_int_equal(flags_of_scatter(4, 4 / 1.9), 0);
    assert_int_equal(flags_of_scatter(4, 4 / 2.0), ETP_FLAG_HEAVY_TAIL);
    assert_int_equal(flags_of_scatter(4 / 2.0, 4), ETP_FLAG_HEAVY_TAIL << 8);
    assert_int_equal(flags_of_scatter(0.7, 0.1), 0); // 0.45 %: within half the margin
    assert_int_equal(flags_of_scatter(0.9, 0.1), ETP_FLAG_HEAVY_TAIL);
    near_rel(etp_f_above(5.351128861148588, 9, 9), 0.01, 1e-8, "F");
    near_rel(etp_f_above(2, 18.5, 22), 0.06084266009125628, 1e-8, "F");
}

static void sessions_without_pairs(void **state)
{
    etp_arena *arena = *state;
    etp_stats r;
    static const uint64_t k_a[] = {401, 398, 405, 400, 399}, k_b[] = {100, 103, 99, 101, 102};
    samples s = {0};
    for (uint32_t i = 0; i < 5; i++) {
        etp_sample a = {0, i, 0, 0, ETP_SAMPLE_TIMED, k_a[i], 0},
                   b = {1, i + 5, 0, 0, ETP_SAMPLE_TIMED, k_b[i], 0};
        assert_true(ETP_PUSH(arena, &s, a) && ETP_PUSH(arena, &s, b));
    }
    assert_int_equal(etp_stats_analyze(s.items, s.n, 2, NULL, arena, &r, NULL), ETP_OK);
    assert_int_equal(r.blocks, 0);
    assert_int_equal(r.blocks_dropped, 10);
    assert_int_equal(r.comparisons[0].paired.verdict, ETP_VERDICT_UNKNOWN);
    // median, 3rd and 23rd of the 25 sorted differences of logarithms; 2 of C(10, 5) orders
    near_rel(exp(r.comparisons[0].unpaired.shift), 401.0 / 101, 1e-12, "shift");
    near_rel(exp(r.comparisons[0].unpaired.lo), 400.0 / 103, 1e-12, "lo");
    near_rel(exp(r.comparisons[0].unpaired.hi), 405.0 / 100, 1e-12, "hi");
    near_rel(r.comparisons[0].unpaired.p, 2.0 / 252, 1e-12, "p");
}

static void odd_sessions(void **state)
{
    etp_arena *arena = *state;
    etp_error err;
    etp_stats r;
    etp_sample s[] = {
        {0, 1, 1, 0, ETP_SAMPLE_TIMED,   200, 0},
        {1, 1, 2, 0, ETP_SAMPLE_TIMED,   100, 0},
        {0, 2, 3, 0, ETP_SAMPLE_CONTROL, 100, 0},
    };
    assert_int_equal(etp_stats_analyze(s, 3, 2, NULL, arena, &r, &err), ETP_OK);
    near_rel(r.comparisons[0].paired.estimate, 2, 1e-14, "one block");
    assert_true(isnan(r.comparisons[0].paired.lo));
    assert_int_equal(r.comparisons[0].paired.verdict, ETP_VERDICT_UNKNOWN);
    assert_int_equal(r.comparisons[0].more_blocks, UINT32_MAX);
    assert_int_equal(r.blocks, 1);
    assert_int_equal(r.blocks_dropped, 1); // block 2 has a control and nothing to hold it against
    assert_int_equal(r.control_blocks, 0);
    assert_true(isnan(r.noise_floor));
    // The control of an arm that is not the first: its own launches are compared, 100 with 80.
    etp_sample twin[] = {
        s[0], s[1], {1, 1, 4, 0, ETP_SAMPLE_CONTROL, 80, 0}
    };
    assert_int_equal(etp_stats_analyze(twin, 3, 2, NULL, arena, &r, &err), ETP_OK);
    assert_int_equal(r.control_blocks, 1);
    near_rel(r.control.estimate, 1.25, 1e-14, "control of arm 1");
    // An arm that never ran does not make every block incomplete.
    assert_int_equal(etp_stats_analyze(s, 3, 3, NULL, arena, &r, &err), ETP_OK);
    assert_int_equal(r.blocks, 1);
    assert_int_equal(r.arms[2].median_ns, -1);
    assert_true(isnan(r.comparisons[1].paired.estimate));
    assert_int_equal(r.comparisons[1].paired.blocks, 0);
    assert_int_equal(etp_stats_analyze(s, 3, 1, NULL, arena, &r, &err), ETP_CORRUPT);
    assert_int_equal(etp_stats_analyze(s + 2, 1, 1, NULL, arena, &r, &err), ETP_UNKNOWN);
    s[1].duration_ns = 0;
    assert_int_equal(etp_stats_analyze(s, 3, 2, NULL, arena, &r, &err), ETP_CORRUPT);
    etp_stats_options bad = {.baseline = 2};
    assert_int_equal(etp_stats_analyze(s, 1, 2, &bad, arena, &r, &err), ETP_CORRUPT);
}

static void csv_tables(void **state)
{
    etp_sample_table t;
    etp_str text = ETP_STR("note,experiment,block,iteration,duration_ns,phase,launch\n"
                           "x,neon,1,0,300,timed,4\n"
                           "\"a,b\",sme2,1,0,100,timed,5\n"
                           ",neon,1,0,310,control,6\n"
                           ",neon,1,0,0,warmup,4\n"
                           ",neon,1,0,7,warmup,4\n"); // unused rows may repeat
    assert_int_equal(etp_samples_read_csv(text, *state, &t, NULL), ETP_OK);
    assert_int_equal(t.n_samples, 5);
    assert_int_equal(t.n_arms, 2);
    assert_true(etp_str_eqz(t.arms[0], "neon") && etp_str_eqz(t.arms[1], "sme2"));
    assert_int_equal(t.samples[0].duration_ns, 300);
    assert_int_equal(t.samples[2].use, ETP_SAMPLE_UNUSED);
    assert_int_equal(t.samples[3].use, ETP_SAMPLE_CONTROL);
    assert_int_equal(t.samples[4].arm, 1);
}

static void csv_refusals(void **state)
{
#define HEAD "experiment,block,iteration,duration_ns\n"
    static const struct {
        const char *text, *message;
        uint64_t offset;
    } k_bad[] = {
        {"",                                    "empty; a table",                                       0 },
        {"experiment,block,iteration\na,1,0\n", "line 1: no column 'duration_ns'",                      0 },
        {HEAD,                                  "a header and no rows",                                 39},
        {HEAD "a,1,0\n",                        "line 2: 3 cells, the header has 4",                    39},
        {HEAD "a,1,0,5\n\na,1,1,-5\n",          "line 4: duration_ns '-5' is not a whole number",       48},
        {HEAD "a,1,0,0\n",                      "line 2: duration_ns '0' is not a whole number from 1", 39},
        {HEAD "a,1,0,1e6\n",                    "line 2: duration_ns '1e6'",                            39},
        {HEAD "a,1,0,99999999999999999999\n",   "line 2: duration_ns '99999999999999999999'",           39},
        {HEAD "a,one,0,5\n",                    "line 2: block 'one' is not a whole number",            39},
        {HEAD "a,4294967296,0,5\n",             "line 2: block '4294967296'",                           39},
        {HEAD "a,1,0,0x10\n",                   "line 2: duration_ns '0x10' is not a whole number",     39},
        {HEAD ",1,0,5\n",                       "line 2: experiment '' is not a name",                  39},
        {HEAD "a,1,0,5\na,1,1,5\na,1,0,6\n",
         "line 4: experiment 'a', block 1, iteration 0 was on line 2 already",                          55},
        {HEAD "\"a,1,0,5\n",                    "a quoted cell is not closed",                          39},
    };
    for (size_t i = 0; i < N(k_bad); i++) {
        etp_error err;
        etp_sample_table t;
        assert_int_equal(etp_samples_read_csv(etp_str_from(k_bad[i].text), *state, &t, &err),
                         ETP_CORRUPT);
        if (!strstr(err.msg, k_bad[i].message) || err.offset != k_bad[i].offset) {
            fail_msg("case %zu: [%s] at %llu", i, err.msg, (unsigned long long)err.offset);
        }
    }
}

// Every prefix and every single changed byte either parses or fails cleanly.
static void csv_survives_damage(void **state)
{
    etp_arena *arena = *state;
    static const char k_text[] = "experiment,block,iteration,duration_ns,phase\n"
                                 "\"a\"\"b\",1,0,300,timed\nb,1,0,200,control\r\nc,2,3,4,x";
    char copy[sizeof k_text];
    for (size_t at = 0; at < sizeof k_text - 1; at++) {
        for (int byte = -1; byte < 256; byte += byte < 0 ? 1 : 7) {
            etp_error err;
            etp_sample_table t;
            memcpy(copy, k_text, sizeof k_text);
            size_t len = byte < 0 ? at : sizeof k_text - 1;
            if (byte >= 0) {
                copy[at] = (char)byte;
            }
            etp_status st = etp_samples_read_csv((etp_str){copy, len}, arena, &t, &err);
            assert_true(st == ETP_OK || st == ETP_CORRUPT);
            if (st == ETP_OK) {
                etp_stats r;
                st = etp_stats_analyze(t.samples, t.n_samples, t.n_arms, NULL, arena, &r, &err);
                assert_true(st == ETP_OK || st == ETP_UNKNOWN);
            }
        }
    }
}

static void check_baseline(const char *names, const int *ranks, const char *wanted,
                           const char *config, const char *expected)
{
    etp_arm_name arms[8];
    size_t n = 0;
    for (const char *p = names; *p; n++) {
        size_t len = strcspn(p, " ");
        arms[n] = (etp_arm_name){
            {p, len},
            ranks ? ranks[n] : -1
        };
        p += len + (p[len] == ' ');
    }
    uint32_t found = 99;
    assert_int_equal(
        etp_choose_baseline(arms, n, etp_str_from(wanted), etp_str_from(config), &found, NULL),
        ETP_OK);
    if (!etp_str_eqz(arms[found].name, expected)) {
        fail_msg("[%s]: %.*s, should be %s", names, ETP_STR_ARG(arms[found].name), expected);
    }
}

static void baselines(void **state)
{
    static const int k_sme2_neon[] = {0, 2}, k_neon_sme2[] = {2, 0}, k_three[] = {0, 2, 1};
    static const int k_same[] = {1, 1}, k_partly[] = {-1, 0, -1};
    check_baseline("sme2 neon", k_sme2_neon, "", "", "neon");
    check_baseline("neon sme2", k_neon_sme2, "", "", "neon");
    check_baseline("sme2 neon sme1", k_three, "", "", "neon");
    check_baseline("sme2 neon", k_sme2_neon, "sme2", "", "sme2");
    check_baseline("sme2 neon", k_sme2_neon, "sme2", "neon", "sme2");
    check_baseline("a b", NULL, "", "b", "b");
    check_baseline("mac_sme2_on mac_sme2_off", NULL, "", "", "mac_sme2_off");
    check_baseline("mac_sme2_off mac_sme2_on", NULL, "", "", "mac_sme2_off");
    check_baseline("neon sme2off", k_neon_sme2, "", "", "sme2off");
    check_baseline("on off", NULL, "", "", "off");
    check_baseline("a b", NULL, "", "", "a");
    check_baseline("a b", k_same, "", "", "a");
    check_baseline("a b c", k_partly, "", "", "b");
    etp_arm_name arm = {ETP_STR("a"), -1};
    uint32_t found;
    etp_error err;
    assert_int_equal(etp_choose_baseline(&arm, 1, ETP_STR("b"), (etp_str){0}, &found, &err),
                     ETP_USAGE);
    assert_string_equal(err.msg, "baseline: no arm is named 'b'; the first is 'a'");
    assert_int_equal(etp_choose_baseline(&arm, 0, (etp_str){0}, (etp_str){0}, &found, &err),
                     ETP_USAGE);
}
