// SPDX-License-Identifier: Apache-2.0
// What to be careful about in an arm's launches: two modes, outlying launches, drift; and launches
// or iterations that reach farther than those of the other arm (the arms' noise may then have
// different shapes). Flags change no number.
//
// The launches looked at are more than those in the ratio: the control and the traced ones too,
// whose own cost is taken away. A rare slow launch that missed the timed ones may be among them.
//
// False flags of two arms with normal launches alike: about one session in eleven.
//   two modes   sort, split where the sum of squares inside both parts (each ≥ 2 values) is least;
//               distance of the means ÷ pooled standard deviation inside, against simulated limits
//               (0.5 % of arms)
//   outlier     Grubbs: the most distant value against mean and deviation of the others (0.25 %)
//   scatter     ratio of the arms' variances by F (3 % each way, shared by the comparisons). It
//   also
//               flags an arm whose launches are normal and only wider, which harms no interval:
//               twenty launches cannot tell that from a tail
// Distances and scatter below half the margin of a verdict are not worth a flag.
// A trend that Mann–Kendall finds (p ≤ 0.01) is taken away first (Theil–Sen): always taking it
// would hide modes, whose chance order looks like a slope. Two modes that follow each other in time
// once are a step of the machine, not of the launches: that is drift.
#include "base/choice.h"
#include "stats/internal.h"

#include <math.h>

#define TAIL_MORE 0.05 // share of slow iterations beyond the other arm's, from here on flagged
#define TAIL_TIMES 2   // and so many times the other's: busy machines give every arm a tail
#define TAIL_COUNT 10  // and at least so many, lest three of sixty count
#define OUTLIER_FALSE 0.0025
#define SCATTER_FALSE 0.03 // each way
#define KINDS_ALIKE_P 0.01 // each way
#define SCATTER_MAX 1000   // launches looked at

// 99.5 % quantiles of the distance on normal samples, 400,000 draws each.
static const struct {
    double k, modes;
} k_limits[] = {
    {6,   11.12},
    {7,   9.02 },
    {8,   7.90 },
    {9,   7.13 },
    {10,  6.60 },
    {12,  5.92 },
    {15,  5.31 },
    {20,  4.73 },
    {30,  4.15 },
    {50,  3.66 },
    {100, 3.28 },
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
    return t > etp_t_quantile(1 - OUTLIER_FALSE / (2 * n), n - 2);
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

// X: an arm's launch values in block order without a trend. SCRATCH: k doubles.
static unsigned launch_flags(const double *x, size_t k, double matters, double *scratch)
{
    double border = 0;
    memcpy(scratch, x, k * sizeof *x);
    etp_sort_doubles(scratch, k);
    if (two_modes(scratch, k, matters, &border) > modes_limit(k)) {
        size_t changes = 0; // of side over the whole session: one is a step
        for (size_t i = 1; i < k; i++) {
            changes += (x[i] > border) != (x[i - 1] > border);
        }
        return changes == 1 ? ETP_FLAG_DRIFT : ETP_FLAG_BIMODAL;
    }
    return has_outlier(x, k, matters) ? ETP_FLAG_HEAVY_TAIL : 0;
}

// Takes away what the tracer costs: the median of all differences between traced and other
// launches. Two modes do not pull it, as they would a difference of medians. SCRATCH: n² / 4
// doubles.
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

void etp_find_flags(const etp_flag_input *in, etp_arena *arena, etp_stats_arm *arm)
{
    size_t k = in->k, n = in->n_launches;
    if (k < 4) {
        return;
    }
    etp_drift drift = etp_drift_of(in->times, in->values, k, arena);
    arm->drift_per_block = expm1(drift.slope);
    arm->drift_p = drift.p;
    if (drift.p <= ETP_TREND_P &&
        fabs(drift.slope) * (in->times[k - 1] - in->times[0]) > log1p(in->margin)) {
        arm->flags |= ETP_FLAG_DRIFT;
    }
    if (k < ETP_MIN_BLOCKS) {
        return;
    }
    n = ETP_MIN(n, SCATTER_MAX);
    double *rest = etp_arena_alloc_raw(arena, n + n + n * n / 4 + n, sizeof *rest);
    double *when = rest + n, *scratch = when + n;
    for (size_t i = 0; i < n; i++) {
        rest[i] = in->launches[i].value_ln;
        when[i] = in->launches[i].time;
    }
    take_tracer(rest, in->launches, n, scratch);
    drift = etp_drift_of(when, rest, n, arena); // more launches see it sooner
    if (drift.p <= ETP_TREND_P) {
        for (size_t i = 0; i < n; i++) {
            rest[i] -= drift.slope * when[i];
        }
        take_tracer(rest, in->launches, n, scratch); // traced launches come later in their block
    }
    // Variance between launches of either kind: one may be noisier, or one arm may have more of it
    // (the control), so they are compared kind by kind.
    double sum = 0;
    size_t kinds = 0;
    for (int traced = 0; traced < 2; traced++) {
        etp_moments m = {0};
        for (size_t i = 0; i < n; i++) {
            if (in->launches[i].traced == (traced == 1)) {
                etp_moments_add(&m, rest[i]);
            }
        }
        if (m.n >= ETP_MIN_BLOCKS) {
            arm->kind_var[traced] = etp_moments_variance(&m);
            arm->kind_df[traced] = (double)(m.n - 1);
            sum += arm->kind_var[traced];
            kinds++;
        }
    }
    arm->scatter_ln = etp_value_if(kinds > 0 && sum > 0, sqrt(sum / (double)kinds));
    unsigned shape = launch_flags(rest, n, log1p(in->margin) / 2, scratch);
    if (shape & ETP_FLAG_DRIFT) { // the step is no scatter
        arm->scatter_ln = (double)NAN;
    }
    arm->flags |= shape;
}

// P of WIDE's variance being so much larger. Launches of both kinds count alike unless the calm arm
// shows that one kind is noisier; then the mean of the kinds is compared (Satterthwaite).
static double wider_p(const etp_stats_arm *wide, const etp_stats_arm *calm)
{
    const etp_stats_arm *arms[2] = {wide, calm};
    double variance[2], df[2];
    double f = calm->kind_var[1] / calm->kind_var[0], p = 0.5;
    if (calm->kind_df[0] > 0 && calm->kind_df[1] > 0) {
        p = etp_f_above(f, calm->kind_df[1], calm->kind_df[0]);
    }
    bool alike = p > KINDS_ALIKE_P && p < 1 - KINDS_ALIKE_P;
    for (int i = 0; i < 2; i++) {
        const double *v = arms[i]->kind_var, *n = arms[i]->kind_df;
        double squares = v[0] * n[0] + v[1] * n[1], sum = v[0] + v[1];
        double doubt = (n[0] > 0 ? v[0] * v[0] / n[0] : 0) + (n[1] > 0 ? v[1] * v[1] / n[1] : 0);
        df[i] = alike ? n[0] + n[1] : sum * sum / doubt;
        variance[i] = alike ? squares / df[i] : sum;
    }
    return etp_f_above(variance[0] / variance[1], df[0], df[1]);
}

void etp_compare_scatter(etp_stats_arm *a, etp_stats_arm *b, double margin, uint32_t n_comparisons)
{
    etp_stats_arm *wide = a->scatter_ln > b->scatter_ln ? a : b, *calm = wide == a ? b : a;
    if (!(wide->scatter_ln >= log1p(margin) / 2) || !(calm->scatter_ln > 0) ||
        (wide->flags & (ETP_FLAG_BIMODAL | ETP_FLAG_DRIFT))) {
        return; // unknown, too small to matter, or known why
    }
    if (wider_p(wide, calm) <= SCATTER_FALSE / n_comparisons) {
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
