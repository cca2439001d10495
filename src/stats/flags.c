// SPDX-License-Identifier: Apache-2.0
// What to be careful about in an arm's launches: two modes, outlying launches, drift; and heavy
// tails of its iterations. Flags change no number.
//
// Both launch tests are calibrated on normal samples to raise a false flag in 1 % of arms:
//   two modes   sort, split where the sum of squares inside both parts (each ≥ 2 values) is least;
//               distance of the means ÷ pooled standard deviation inside
//   outlier     largest |x − median| ÷ (1.4826·MAD)
// Values are taken after removing a linear trend (Theil–Sen). Two modes that follow each other in
// time once are a step of the machine, not of the launches: that is drift.
#include "stats/internal.h"

#include <math.h>

#define TAIL_SHARE 0.05 // of iterations, from here on called a heavy tail

// 99 % quantiles on normal samples, 120,000 and more draws each.
static const struct {
    double k, modes, outlier;
} k_limits[] = {
    {6, 9.23, 10.1},  {7, 7.89, 10.7},  {8, 7.02, 7.95},  {9, 6.46, 8.24},
    {10, 6.02, 6.89}, {12, 5.47, 6.26}, {15, 4.98, 5.96}, {20, 4.50, 5.21},
    {30, 3.98, 4.79}, {50, 3.56, 4.47}, {100, 3.22, 4.31},
};

// Linear in 1/k between the rows, the last row beyond.
static void limits_for(size_t k, double *modes, double *outlier)
{
    size_t last = sizeof k_limits / sizeof *k_limits - 1, i = 0;
    while (i < last && k_limits[i + 1].k <= (double)k) {
        i++;
    }
    *modes = k_limits[i].modes;
    *outlier = k_limits[i].outlier;
    if (i < last) {
        double a = 1 / k_limits[i].k, b = 1 / k_limits[i + 1].k;
        double part = (a - 1 / (double)k) / (a - b);
        *modes += part * (k_limits[i + 1].modes - *modes);
        *outlier += part * (k_limits[i + 1].outlier - *outlier);
    }
}

// The split of SORTED with the least squares inside; its distance in units of the spread inside,
// and the value that separates.
static double two_modes(const double *sorted, size_t k, double *out_border)
{
    double total = 0, squares = 0, sum = 0, sum2 = 0, best = INFINITY, distance = 0;
    double origin = sorted[0]; // keeps the sums of squares from cancelling
    for (size_t i = 0; i < k; i++) {
        double v = sorted[i] - origin;
        total += v;
        squares += v * v;
    }
    for (size_t m = 1; m + 2 <= k; m++) {
        double v = sorted[m - 1] - origin;
        sum += v;
        sum2 += v * v;
        double a = (double)m, b = (double)(k - m), rest = total - sum;
        double inside = (sum2 - sum * sum / a) + (squares - sum2 - rest * rest / b);
        if (m >= 2 && inside < best) {
            best = inside;
            *out_border = (sorted[m - 1] + sorted[m]) / 2;
            distance = rest / b - sum / a;
        }
    }
    if (!(best > 0)) {
        return distance > 0 ? INFINITY : 0;
    }
    return distance / sqrt(best / ((double)k - 2));
}

// One change of side over the whole session.
static bool is_one_step(const double *in_order, size_t k, double border)
{
    size_t changes = 0;
    for (size_t i = 1; i < k; i++) {
        changes += (in_order[i] > border) != (in_order[i - 1] > border);
    }
    return changes == 1;
}

// X: an arm's launch values in block order without their trend. SCRATCH: k doubles.
static unsigned launch_flags(const double *x, size_t k, double *scratch)
{
    double modes_limit, outlier_limit, border = 0;
    limits_for(k, &modes_limit, &outlier_limit);
    memcpy(scratch, x, k * sizeof *x);
    double median = etp_median(scratch, k), largest = 0;
    double mad = etp_mad(scratch, k);
    for (size_t i = 0; i < k; i++) {
        largest = fmax(largest, fabs(x[i] - median));
    }
    memcpy(scratch, x, k * sizeof *x);
    etp_sort_doubles(scratch, k);
    if (two_modes(scratch, k, &border) > modes_limit) {
        return is_one_step(x, k, border) ? ETP_FLAG_DRIFT : ETP_FLAG_BIMODAL;
    }
    return largest > outlier_limit * 1.4826 * mad ? ETP_FLAG_HEAVY_TAIL : 0;
}

etp_status etp_find_flags(const double *values, const double *times, size_t k, double margin,
                          etp_arena *arena, etp_stats_arm *arm, etp_error *err)
{
    if (arm->iterations >= 20 && arm->tail_share >= TAIL_SHARE) {
        arm->flags |= ETP_FLAG_HEAVY_TAIL;
    }
    etp_drift drift;
    ETP_TRY(etp_drift_find(times, values, k, arena, &drift, err));
    if (k < 4) {
        return ETP_OK;
    }
    arm->drift_per_block = expm1(drift.slope);
    arm->drift_p = drift.p;
    if (drift.p <= 0.01 && fabs(drift.slope) * (times[k - 1] - times[0]) > log1p(margin)) {
        arm->flags |= ETP_FLAG_DRIFT;
    }
    if (k < ETP_MIN_BLOCKS) {
        return ETP_OK;
    }
    double *rest = etp_arena_alloc_raw(arena, k, 2 * sizeof *rest);
    if (!rest) {
        return etp_fail_nomem(err, "flags");
    }
    for (size_t i = 0; i < k; i++) {
        rest[i] = values[i] - drift.slope * times[i];
    }
    arm->flags |= launch_flags(rest, k, rest + k);
    return ETP_OK;
}
