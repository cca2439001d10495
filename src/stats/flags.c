// SPDX-License-Identifier: Apache-2.0
// What to be careful about in an arm's launches: two modes, outlying launches, drift; and launches or
// iterations that reach farther than those of the other arm (the arms' noise may then have different
// shapes). Flags change no number.
//
// The launches looked at are more than those in the ratio: the control and the traced ones too, whose
// own cost is taken away. A rare slow launch that missed the timed ones may be among them.
//
// Each launch test raises a false flag in 1 % of arms with normal launches:
//   two modes   sort, split where the sum of squares inside both parts (each ≥ 2 values) is least;
//               distance of the means ÷ pooled standard deviation inside, against simulated limits
//   outlier     Grubbs: the most distant value against mean and deviation of the others
//   scatter     ratio of the arms' variances by F. It also flags an arm whose launches are normal and
//               only wider, which harms no interval: twenty launches cannot tell that from a tail
// Distances below half the margin of a verdict, and scatter below the margin, are not worth a flag.
// A trend that Mann–Kendall finds (p ≤ 0.01) is taken away first (Theil–Sen): always taking it would
// hide modes, whose chance order looks like a slope. Two modes that follow each other in time once
// are a step of the machine, not of the launches: that is drift.
#include "stats/internal.h"

#include <math.h>

#define TAIL_MORE 0.05 // share of slow iterations beyond the other arm's, from here on flagged
#define TAIL_TIMES 2   // and so many times the other's: busy machines give every arm a tail
#define TAIL_COUNT 10  // and at least so many, lest three of sixty count
#define TREND_P 0.01
#define FALSE_FLAGS 0.01
#define SCATTER_MAX 1000 // launches looked at

// 99 % quantiles of the distance on normal samples, 120,000 and more draws each.
static const struct {
    double k, modes;
} k_limits[] = {
    {6, 9.23},  {7, 7.89},  {8, 7.02},  {9, 6.46},  {10, 6.02},  {12, 5.47},
    {15, 4.98}, {20, 4.50}, {30, 3.98}, {50, 3.56}, {100, 3.22},
};

// Linear in 1/k between the rows, the last row beyond.
static double modes_limit(size_t k)
{
    size_t last = sizeof k_limits / sizeof *k_limits - 1, i = 0;
    while (i < last && k_limits[i + 1].k <= (double)k) {
        i++;
    }
    if (i == last) {
        return k_limits[last].modes;
    }
    double a = 1 / k_limits[i].k, b = 1 / k_limits[i + 1].k;
    double part = (a - 1 / (double)k) / (a - b);
    return k_limits[i].modes + part * (k_limits[i + 1].modes - k_limits[i].modes);
}

static bool has_outlier(const double *x, size_t k, double matters)
{
    double variance, mean = etp_mean(x, k, &variance), n = (double)k;
    double largest = 0;
    for (size_t i = 0; i < k; i++) {
        largest = fmax(largest, fabs(x[i] - mean));
    }
    if (largest < matters) {
        return false;
    }
    // From all k values to mean and deviation of the others: for the most distant value d,
    // rest variance = ((n−1)·s² − n/(n−1)·d²) / (n−2).
    double rest = ((n - 1) * variance - n / (n - 1) * largest * largest) / (n - 2);
    if (!(rest > 0)) {
        return true; // the others are equal
    }
    double t = largest * sqrt(n / (n - 1)) / sqrt(rest);
    return t > etp_t_quantile(1 - FALSE_FLAGS / (2 * n), n - 2);
}

// The split of SORTED with the least squares inside; its distance in units of the spread inside,
// and the value that separates.
static double two_modes(const double *sorted, size_t k, double matters, double *out_border)
{
    double total = 0, squares = 0, sum = 0, sum2 = 0, best = (double)INFINITY, distance = 0;
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
    if (distance < matters) {
        return 0;
    }
    return best <= 0 ? (double)INFINITY : distance / sqrt(best / ((double)k - 2));
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

// X: an arm's launch values in block order without a trend. SCRATCH: k doubles.
static unsigned launch_flags(const double *x, size_t k, double matters, double *scratch)
{
    double border = 0;
    memcpy(scratch, x, k * sizeof *x);
    etp_sort_doubles(scratch, k);
    if (two_modes(scratch, k, matters, &border) > modes_limit(k)) {
        return is_one_step(x, k, border) ? ETP_FLAG_DRIFT : ETP_FLAG_BIMODAL;
    }
    return has_outlier(x, k, matters) ? ETP_FLAG_HEAVY_TAIL : 0;
}

// Takes away what the tracer costs: the median of all differences between traced and other launches.
// Two modes do not pull it, as they would a difference of medians. SCRATCH: n² / 4 doubles.
static void take_tracer(double *x, const etp_shape_launch *l, size_t n, double *scratch)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; l[i].traced && j < n; j++) {
            if (!l[j].traced) {
                scratch[m++] = x[i] - x[j];
            }
        }
    }
    double cost = m > 0 ? etp_median(scratch, m) : 0;
    for (size_t i = 0; i < n; i++) {
        x[i] -= l[i].traced ? cost : 0;
    }
}

// Variance between launches of one kind, the mean over both kinds: a kind that is noisier, or of
// which one arm has more (the control), then counts alike in both arms. Degrees of freedom by
// Satterthwaite.
static void find_scatter(const double *x, const etp_shape_launch *l, size_t n, etp_stats_arm *arm)
{
    double sum = 0, doubt = 0;
    size_t kinds = 0;
    for (int traced = 0; traced < 2; traced++) {
        etp_moments m = {0};
        for (size_t i = 0; i < n; i++) {
            if (l[i].traced == (traced == 1)) {
                etp_moments_add(&m, x[i]);
            }
        }
        if (m.n >= ETP_MIN_BLOCKS) {
            double variance = etp_moments_variance(&m);
            sum += variance;
            doubt += variance * variance / (double)(m.n - 1);
            kinds++;
        }
    }
    if (kinds > 0 && doubt > 0) {
        arm->scatter_ln = sqrt(sum / (double)kinds);
        arm->scatter_df = sum * sum / doubt;
    }
}

etp_status etp_find_flags(const etp_flag_input *in, etp_arena *arena, etp_stats_arm *arm,
                          etp_error *err)
{
    size_t k = in->k, n = in->n_launches;
    etp_drift drift;
    ETP_TRY(etp_drift_find(in->times, in->values, k, arena, &drift, err));
    if (k < 4) {
        return ETP_OK;
    }
    arm->drift_per_block = expm1(drift.slope);
    arm->drift_p = drift.p;
    if (drift.p <= TREND_P && fabs(drift.slope) * (in->times[k - 1] - in->times[0]) > log1p(in->margin)) {
        arm->flags |= ETP_FLAG_DRIFT;
    }
    if (k < ETP_MIN_BLOCKS) {
        return ETP_OK;
    }
    n = n < SCATTER_MAX ? n : SCATTER_MAX;
    double *rest = etp_arena_alloc_raw(arena, n + n + n * n / 4 + n, sizeof *rest);
    if (!rest) {
        return etp_fail_nomem(err, "flags");
    }
    double *when = rest + n, *scratch = when + n;
    for (size_t i = 0; i < n; i++) {
        rest[i] = in->launches[i].value_ln;
        when[i] = in->launches[i].time;
    }
    take_tracer(rest, in->launches, n, scratch);
    ETP_TRY(etp_drift_find(when, rest, n, arena, &drift, err)); // more launches see it sooner
    if (drift.p <= TREND_P) {
        for (size_t i = 0; i < n; i++) {
            rest[i] -= drift.slope * when[i];
        }
        take_tracer(rest, in->launches, n, scratch); // traced launches come later in their block
    }
    find_scatter(rest, in->launches, n, arm);
    unsigned shape = launch_flags(rest, n, log1p(in->margin) / 2, scratch);
    if (shape & ETP_FLAG_DRIFT) { // the step is no scatter
        arm->scatter_ln = (double)NAN;
    }
    arm->flags |= shape;
    return ETP_OK;
}

void etp_compare_scatter(etp_stats_arm *a, etp_stats_arm *b, double margin)
{
    etp_stats_arm *wide = a->scatter_ln > b->scatter_ln ? a : b, *calm = wide == a ? b : a;
    if (!(wide->scatter_ln >= log1p(margin)) || !(calm->scatter_ln > 0) ||
        (wide->flags & (ETP_FLAG_BIMODAL | ETP_FLAG_DRIFT))) {
        return; // unknown, too small to matter, or known why
    }
    double f = wide->scatter_ln / calm->scatter_ln;
    if (etp_f_above(f * f, wide->scatter_df, calm->scatter_df) <= FALSE_FLAGS) {
        wide->flags |= ETP_FLAG_HEAVY_TAIL;
    }
}

static bool has_longer_tail(const etp_stats_arm *a, const etp_stats_arm *than)
{
    return a->tail_share >= than->tail_share + TAIL_MORE &&
           a->tail_share >= TAIL_TIMES * than->tail_share &&
           a->tail_share * (double)a->iterations > TAIL_COUNT - 0.5;
}

void etp_compare_tails(etp_stats_arm *a, etp_stats_arm *b)
{
    if (has_longer_tail(a, b)) {
        a->flags |= ETP_FLAG_HEAVY_TAIL;
    } else if (has_longer_tail(b, a)) {
        b->flags |= ETP_FLAG_HEAVY_TAIL;
    }
}
