// SPDX-License-Identifier: Apache-2.0
// How many blocks a precision takes, by how much the blocks so far scatter.
#include "stats/internal.h"

#include <math.h>

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

// The smallest number of blocks after which a session that looks at each block has ended.
static uint32_t blocks_until(double target_rel, double sd_ln, double df, bool sure)
{
    // In steps of 0.4 % from 1000 on: no plan is that exact.
    for (uint32_t n = ETP_MIN_BLOCKS; n <= BLOCKS_MAX; n += n < 1000 ? 2 : n / 500 * 2) {
        double width = sure ? likely_width(sd_ln, df, n) : etp_plan_half_width(sd_ln, n);
        if (log1p(width) * etp_sequential_widening(n) <= log1p(target_rel)) {
            return n;
        }
    }
    return UINT32_MAX;
}

uint32_t etp_plan_sequential(double sd_ln, double target_rel)
{
    return blocks_until(target_rel, sd_ln, 0, false);
}

uint32_t etp_plan_sure(double sd_ln, double df, double target_rel)
{
    return blocks_until(target_rel, sd_ln, df, true);
}
