// SPDX-License-Identifier: Apache-2.0
// How many blocks of how many iterations: from a pilot's variance components (Kalibera and Jones).
//
//   one block's log ratio has variance  v(n) = B + π·W/n
// with W the variance of ln durations inside a launch (the median of n normal values has π/2 · W/n,
// and a ratio has two medians) and B what differs from launch to launch. With a launch costing L
// and an iteration C, time for a given precision is least at  n* = √(π·W/B · L/C).
#include "stats/internal.h"

#include <math.h>

#define ITERATIONS_MIN 10
#define ITERATIONS_MAX 1000
#define BLOCKS_MAX 100000

static const double k_pi = 3.14159265358979323846;

// E[s] / σ of a normal sample of k: s underestimates in small samples (0.798 for two).
static double expected_sd(uint32_t k)
{
    // √(2/(k−1)) Γ(k/2)/Γ((k−1)/2), by the recurrence c(k+1) = √((k−1)/k) / c(k)
    double c = sqrt(2 / k_pi);
    for (uint32_t i = 2; i < k && i < 1000; i++) {
        c = sqrt((i - 1) / (double)i) / c;
    }
    return c;
}

// Degrees of freedom of combined variances are no whole numbers; expected_sd takes a sample's size.
static uint32_t whole_df(double df)
{
    return df > 1 ? (uint32_t)fmin(round(df), 999) : 1;
}

double etp_plan_half_width(double sd_ln, uint32_t k)
{
    if (k < 2) {
        return (double)NAN;
    }
    double t = etp_t_quantile(0.5 + ETP_CONFIDENCE / 2, k - 1.0);
    return expm1(t * expected_sd(k) * sd_ln / sqrt(k));
}

double etp_plan_mde(double sd_ln, uint32_t k)
{
    if (k < 2) {
        return (double)NAN;
    }
    double t = etp_t_quantile(0.5 + ETP_CONFIDENCE / 2, k - 1.0) + etp_t_quantile(0.8, k - 1.0);
    return expm1(t * sd_ln / sqrt(k));
}

// F that is exceeded with probability 1 − P.
static double f_quantile(double p, double df_above, double df_below)
{
    double low = 0, high = 1;
    while (etp_f_above(high, df_above, df_below) > 1 - p && high < 1e9) {
        high *= 2;
    }
    for (int i = 0; i < 60; i++) {
        double mid = (low + high) / 2;
        *(etp_f_above(mid, df_above, df_below) > 1 - p ? &low : &high) = mid;
    }
    return (low + high) / 2;
}

// Half width that ETP_PLAN_SURE of sessions of K blocks do not exceed. The spread of a session to
// come is to that of the pilot as F: both are estimates of one. SD_LN as etp_spread_sd has it, from
// DF degrees of freedom.
static double likely_width(double sd_ln, double df, uint32_t k)
{
    double seen = sd_ln * expected_sd(whole_df(df) + 1);
    double t = etp_t_quantile(0.5 + ETP_CONFIDENCE / 2, k - 1.0);
    return expm1(t * seen * sqrt(f_quantile(ETP_PLAN_SURE, k - 1.0, df) / k));
}

static double expected_width(double sd_ln, double df, uint32_t k)
{
    (void)df;
    return etp_plan_half_width(sd_ln, k);
}

typedef double width_of(double sd_ln, double df, uint32_t k); // falls as k grows

static uint32_t blocks_for(width_of *width, double sd_ln, double df, double target_rel)
{
    uint32_t low = ETP_MIN_BLOCKS, high = ETP_MIN_BLOCKS;
    while (width(sd_ln, df, high) > target_rel) {
        if (high >= BLOCKS_MAX) {
            return UINT32_MAX;
        }
        low = high;
        high *= 2;
    }
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (width(sd_ln, df, mid) <= target_rel) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return high;
}

double etp_spread_sd(const etp_spread *s, double sd_ln, size_t k, double *out_df)
{
    bool known = s->df > 0;
    *out_df = known ? s->df : (double)k - 1;
    return (known ? sqrt(s->between_var + s->noise_var) : sd_ln) /
           expected_sd(whole_df(*out_df) + 1);
}

double etp_sd_factor(double p, double df)
{
    // χ²/df is F with all the degrees there are below
    double low = 0, high = 1;
    while (etp_f_above(high, df, 1e9) > p && high < 1e9) {
        high *= 2;
    }
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;
        *(etp_f_above(mid, df, 1e9) > p ? &low : &high) = mid;
    }
    return 1 / sqrt((low + high) / 2);
}

// (t₁₋α/₂ + t_power)·σ/√k ≤ ln(1 + effect), as the smallest effect found (etp_plan_mde), solved for
// k.
uint32_t etp_plan_find(double sd_ln, double effect_rel, double power, double alpha)
{
    // In steps of 0.2 % from 1000 on: no plan is that exact.
    for (uint32_t k = ETP_MIN_BLOCKS; k <= BLOCKS_MAX; k += k < 1000 ? 1 : k / 500) {
        double t = etp_t_quantile(1 - alpha / 2, k - 1.0) + etp_t_quantile(power, k - 1.0);
        if (t * sd_ln / sqrt(k) <= log1p(effect_rel)) {
            return k;
        }
    }
    return UINT32_MAX;
}

uint32_t etp_plan_sequential(double sd_ln, double target_rel)
{
    for (uint32_t n = ETP_MIN_BLOCKS; n <= BLOCKS_MAX; n += n < 1000 ? 2 : n / 500 * 2) {
        double width = log1p(etp_plan_half_width(sd_ln, n)) * etp_sequential_widening(n);
        if (width <= log1p(target_rel)) {
            return n;
        }
    }
    return UINT32_MAX;
}

// Variance of a block's log ratio in the pilot, without bias, and its degrees of freedom.
static double pilot_variance(const etp_pilot *pilot, double *out_df)
{
    double variance, sd;
    (void)etp_mean(pilot->log_ratios, pilot->blocks, &variance);
    sd = etp_spread_sd(&pilot->spread, sqrt(variance), pilot->blocks, out_df);
    return sd * sd;
}

etp_plan etp_plan_make(const etp_pilot *pilot, double target_rel)
{
    double df, variance = pilot_variance(pilot, &df);
    double inner = k_pi * pilot->within_var;
    bool known = pilot->spread.df > 0;
    // What iterations explain in the pilot is taken away; the rest no number of iterations would
    // remove.
    double noise = known ? pilot->spread.noise_var : inner / pilot->iterations;
    etp_plan out = {.between_var = fmax(0, variance - noise)};
    // Launches that do not differ at all: the longest ones are the cheapest way.
    double n = ITERATIONS_MAX;
    if (out.between_var > 0) {
        n = sqrt(inner / out.between_var * pilot->launch_ns / pilot->iteration_ns);
    }
    n = fmin(fmax(ceil(n), ITERATIONS_MIN), ITERATIONS_MAX);
    out.iterations = (uint32_t)n;
    out.sd_ln = sqrt(out.between_var + inner / n);
    out.df = known ? etp_spread_df(&pilot->spread, inner / n) : df;
    out.blocks = blocks_for(likely_width, out.sd_ln, out.df, target_rel);
    out.blocks_lo = blocks_for(
        expected_width, out.sd_ln * etp_sd_factor(0.5 - ETP_PLAN_RANGE / 2, out.df), 0, target_rel);
    out.blocks_hi = blocks_for(
        expected_width, out.sd_ln * etp_sd_factor(0.5 + ETP_PLAN_RANGE / 2, out.df), 0, target_rel);
    uint32_t k = out.blocks == UINT32_MAX ? BLOCKS_MAX : out.blocks;
    out.half_width_rel = etp_plan_half_width(out.sd_ln, k);
    out.mde_rel = etp_plan_mde(out.sd_ln, k);
    out.block_ns = pilot->arms * (pilot->launch_ns + n * pilot->iteration_ns);
    out.total_ns = (double)k * out.block_ns;
    return out;
}
