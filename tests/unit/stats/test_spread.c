// SPDX-License-Identifier: Apache-2.0
// The spread of launches against generalised least squares by dense matrices (numpy.linalg.lstsq on
// blocks + kinds, weights 1/(B + e), B by bisection).
#include <math.h>

#include "near.h"
#include "stats/internal.h"
#include "unit.h"

#define LAUNCH(arm_, block_, control_, x, within, kept)                 \
    {                                                                   \
        .arm = (arm_),                                                  \
        .block = (block_),                                              \
        .control = (control_),                                          \
        .iterations = (kept) + 2,                                       \
        .warmup = {.kind = ETP_WARM_WARMUP, .change = 2, .dropped = 2}, \
        .value_ln = (x),                                                \
        .within_ln = (within) \
}

// Arm 2 and block 4, in which arm 1 is missing, have to be passed over.
static const etp_launch_stats k_launches[] = {
    LAUNCH(0, 1, false, 15.700, .010, 20), LAUNCH(0, 1, true, 15.712, .012, 20),
    LAUNCH(1, 1, false, 14.300, .011, 40), LAUNCH(2, 1, false, 9, .5, 40),
    LAUNCH(1, 2, false, 14.329, .010, 40), LAUNCH(0, 2, false, 15.735, .009, 20),
    LAUNCH(0, 2, true, 15.722, .011, 20),  LAUNCH(0, 3, false, 15.681, .012, 20),
    LAUNCH(1, 3, false, 14.291, .010, 40), LAUNCH(0, 4, false, 17, .012, 20),
    LAUNCH(0, 4, true, 11, .012, 20),
};
static const etp_launch_stats k_traced[] = {
    LAUNCH(0, 1, false, 15.741, .020, 10), LAUNCH(1, 1, false, 14.335, .018, 10),
    LAUNCH(1, 2, false, 14.341, .022, 10), LAUNCH(0, 2, false, 15.765, .019, 10),
    LAUNCH(2, 2, false, 9, .022, 10),      LAUNCH(0, 3, false, 15.729, .021, 10),
    LAUNCH(1, 3, false, 14.309, .020, 10), LAUNCH(0, 4, false, 18, .021, 10),
};

static etp_spread spread_of(const etp_launch_stats *traced, size_t n_traced)
{
    etp_arena arena = {0};
    etp_launch_set set = {k_launches, N(k_launches), traced, n_traced};
    etp_spread out;
    assert_int_equal(etp_spread_find(&set, 0, 1, &arena, &out, NULL), ETP_OK);
    etp_arena_dispose(&arena);
    return out;
}

static void all_launches(void **state)
{
    etp_spread s = spread_of(k_traced, N(k_traced));
    assert_int_equal(s.blocks, 3);
    assert_int_equal(s.launches, 14);
    assert_true(s.traced && !s.arms_differ);
    near_rel(s.between_var, 5.90184658917699e-05, 1e-9, "between");
    near_rel(s.noise_var, 1.34695785022662e-05, 1e-12, "noise");
    near_rel(s.doubt, 2.10060200533633e-09, 1e-9, "doubt");
    near_rel(s.df, 5.00286733681418, 1e-9, "df");
    near_rel(etp_spread_df(&s, 0), 2 * s.between_var * s.between_var / s.doubt, 1e-12,
             "df without noise");
}

static void tracer_scatters(void **state)
{
    etp_launch_stats traced[N(k_traced)];
    memcpy(traced, k_traced, sizeof traced);
    for (size_t i = 0; i < N(traced); i++) { // by 5 % to and fro, the arms against each other
        traced[i].value_ln += (traced[i].block % 2 ? -0.05 : 0.05) * (traced[i].arm == 1 ? 1 : -1);
    }
    etp_spread s = spread_of(traced, N(traced));
    assert_false(s.traced);
    assert_int_equal(s.launches, 8);
    near_rel(s.between_var, 2 * 4.91070418032510e-05, 1e-9, "between, timed launches");
}

// Controls that contradict the ratios are not taken for their spread: a slow minute in which only
// they ran.
static void controls_scatter(void **state)
{
    etp_launch_stats launches[24];
    static const double k_x[] = {.001, -.002, .003, -.001, .002, -.003, .0005, -.0005};
    for (uint32_t b = 0; b < 8; b++) {
        launches[3 * b] = (etp_launch_stats)LAUNCH(0, b + 1, false, 15 + k_x[b], .001, 20);
        launches[3 * b + 1] = (etp_launch_stats)LAUNCH(
            0, b + 1, true, 15 + k_x[(b + 3) % 8] + (b % 3 == 1 ? .2 : 0), .001, 20);
        launches[3 * b + 2] = (etp_launch_stats)LAUNCH(1, b + 1, false, 14 + k_x[7 - b], .001, 20);
    }
    etp_arena *arena = *state;
    etp_launch_set set = {launches, N(launches), NULL, 0};
    etp_spread s;
    assert_int_equal(etp_spread_find(&set, 0, 1, arena, &s, NULL), ETP_OK);
    assert_true(s.df == 0 && s.blocks == 8); // only the ratios are left
    for (uint32_t b = 0; b < 8; b++) {
        launches[3 * b + 1].value_ln = 15 + k_x[(b + 3) % 8];
    }
    assert_int_equal(etp_spread_find(&set, 0, 1, arena, &s, NULL), ETP_OK);
    assert_int_equal(s.launches, 24);
}

static void arms_differ(void **state)
{
    etp_launch_stats launches[N(k_launches)], traced[N(k_traced)];
    memcpy(launches, k_launches, sizeof launches);
    memcpy(traced, k_traced, sizeof traced);
    for (size_t i = 0; i < N(launches); i++) {
        if (launches[i].arm == 1) {
            launches[i].value_ln -= launches[i].block % 2 ? -0.2 : 0.2;
        }
    }
    for (size_t i = 0; i < N(traced); i++) {
        if (traced[i].arm == 1) {
            traced[i].value_ln += traced[i].block % 2 ? -0.2 : 0.2;
        }
    }
    etp_launch_set set = {launches, N(launches), traced, N(traced)};
    etp_spread s;
    assert_int_equal(etp_spread_find(&set, 0, 1, *state, &s, NULL), ETP_OK);
    assert_true(s.arms_differ && s.traced);
    near_rel(s.between_var, 0.102875857614113, 1e-9, "between");
    near_rel(s.doubt, 0.0105824759221002, 1e-9, "doubt");
}

static void nothing_beside_the_ratios(void **state)
{
    etp_arena *arena = *state;
    const etp_launch_stats two[] = {
        LAUNCH(0, 1, false, 15.70, .01, 20),
        LAUNCH(1, 1, false, 14.30, .01, 20),
        LAUNCH(0, 2, false, 15.73, .01, 20),
        LAUNCH(1, 2, false, 14.31, .01, 20),
    };
    etp_spread s;
    double df;
    const etp_launch_set set = {two, N(two), NULL, 0}, none = {0};
    assert_int_equal(etp_spread_find(&set, 0, 1, arena, &s, NULL), ETP_OK);
    assert_true(s.df == 0 && s.launches == 0);
    near_rel(etp_spread_sd(&s, 0.02, 2, &df), 0.02 / 0.7978845608028654, 1e-12, "sd ÷ c4(2)");
    assert_true(df == 1);
    assert_int_equal(etp_spread_find(&none, 0, 1, arena, &s, NULL), ETP_OK);
    assert_true(s.df == 0);
}

// scipy.stats.chi2.ppf: √(df ÷ quantile)
static void factors(void **state)
{
    near_rel(etp_sd_factor(0.1, 5), sqrt(5 / 9.236356899781123), 1e-7, "5 df, low");
    near_rel(etp_sd_factor(0.9, 5), sqrt(5 / 1.6103079869623227), 1e-7, "5 df, high");
    near_rel(etp_sd_factor(0.9, 1), sqrt(1 / 0.015790774093431218), 1e-7, "1 df, high");
    near_rel(etp_sd_factor(0.5, 21), sqrt(21 / 20.337227563547934), 1e-7, "21 df, median");
}
