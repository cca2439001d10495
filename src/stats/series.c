// SPDX-License-Identifier: Apache-2.0
// Values over time: drift inside a session (Theil–Sen, Mann–Kendall), correlation with what was
// recorded beside it (Spearman), change points in a history (E-divisive with Student's t).
#include "base/choice.h"
#include "stats/internal.h"

#include <math.h>

#include "base/guard.h"

#define KENDALL_EXACT_MAX 50
// Two million slopes, 16 MB.
#define DRIFT_MAX 2000

// ---- drift ----

// P(at least this many concordant-minus-discordant pairs, either way) for n values without ties:
// the number of inversions of a random permutation is a sum of uniform 0 … i.
static double kendall_exact(size_t n, double s)
{
    double p[KENDALL_EXACT_MAX * (KENDALL_EXACT_MAX - 1) / 2 + 1] = {1};
    double next[sizeof p / sizeof *p];
    size_t pairs = 0;
    for (size_t i = 1; i < n; i++) {
        double window = 0;
        for (size_t k = 0; k <= pairs + i; k++) {
            window += k <= pairs ? p[k] : 0;
            window -= k > i ? p[k - i - 1] : 0;
            next[k] = window / (double)(i + 1);
        }
        pairs += i;
        memcpy(p, next, (pairs + 1) * sizeof *p);
    }
    double sum = 0;
    for (size_t k = 0; k <= pairs; k++) {
        if (fabs((double)pairs - 2 * (double)k) >= fabs(s)) {
            sum += p[k];
        }
    }
    return fmin(1, sum);
}

// What ties take from the variance of Kendall's S: Σ t(t−1)(2t+5); OUT_LINEAR: whether there are
// any.
static double tie_sum(const double *y, size_t n, etp_arena *scratch, double *out_linear)
{
    uint32_t *order = etp_arena_alloc_raw(scratch, n, sizeof *order);
    etp_order_by(y, n, order);
    double sum = 0;
    *out_linear = 0;
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && y[order[to]] == y[order[from]]) {
            to++;
        }
        double t = (double)(to - from);
        sum += t * (t - 1) * (2 * t + 5);
        *out_linear += t - 1;
    }
    return sum;
}

static double kendall_p(size_t n, double s, double ties, bool has_ties)
{
    if (!has_ties && n <= KENDALL_EXACT_MAX) {
        return kendall_exact(n, s);
    }
    double size = (double)n;
    double variance = (size * (size - 1) * (2 * size + 5) - ties) / 18;
    if (!(variance > 0) || s == 0) {
        return 1;
    }
    return fmin(1, 2 * etp_normal_cdf(-(fabs(s) - 1) / sqrt(variance)));
}

etp_drift etp_drift_of(const double *t, const double *y, size_t n, etp_arena *scratch)
{
    etp_drift out = {(double)NAN, (double)NAN, (double)NAN};
    if (n < 2) {
        return out;
    }
    size_t step = (n + DRIFT_MAX - 1) / DRIFT_MAX; // long series: every step-th value tells enough
    size_t m = (n + step - 1) / step, n_slopes = 0;
    double *slopes = etp_arena_alloc_raw(scratch, m * (m - 1) / 2 + m, sizeof *slopes);
    double *values = etp_arena_alloc_raw(scratch, m, sizeof *values);
    double s = 0, tied = 0;
    for (size_t i = 0; i < m; i++) {
        values[i] = y[i * step];
        for (size_t j = 0; j < i; j++) {
            double dt = t[i * step] - t[j * step], dy = values[i] - values[j];
            if (dt != 0) {
                slopes[n_slopes++] = dy / dt;
                s += (dy > 0) == (dt > 0) ? (dy != 0) : -(dy != 0);
            }
        }
    }
    if (n_slopes == 0) {
        return out;
    }
    out.slope = etp_median(slopes, n_slopes);
    for (size_t i = 0; i < m; i++) {
        slopes[i] = values[i] - out.slope * t[i * step];
    }
    out.intercept = etp_median(slopes, m);
    double ties = tie_sum(values, m, scratch, &tied);
    out.p = kendall_p(m, s, ties, tied > 0 || n_slopes < m * (m - 1) / 2);
    return out;
}

etp_status etp_drift_find(const double *t, const double *y, size_t n, etp_arena *scratch,
                          etp_drift *out, etp_error *err)
{
    ETP_GUARDED(scratch, err, "drift", (*out = etp_drift_of(t, y, n, scratch), ETP_OK));
}

etp_status etp_rank_correlation(const double *x, const double *y, size_t n, etp_arena *scratch,
                                double *out, etp_error *err)
{
    *out = (double)NAN;
    if (n < 3) {
        return ETP_OK;
    }
    uint32_t *order = etp_arena_alloc_raw(scratch, n, sizeof *order);
    uint32_t *rx = etp_arena_alloc_raw(scratch, n, sizeof *rx);
    uint32_t *ry = etp_arena_alloc_raw(scratch, n, sizeof *ry);
    ETP_NEED(order && rx && ry, err, "ranks");
    etp_order_by(x, n, order);
    (void)etp_double_ranks(x, order, n, rx);
    etp_order_by(y, n, order);
    (void)etp_double_ranks(y, order, n, ry);
    double mean = (double)n + 1, xx = 0, yy = 0, xy = 0; // of doubled ranks
    for (size_t i = 0; i < n; i++) {
        double dx = rx[i] - mean, dy = ry[i] - mean;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    if (xx > 0 && yy > 0) {
        *out = xy / sqrt(xx * yy);
    }
    return ETP_OK;
}

double etp_rank_correlation_p(double rho, size_t n)
{
    if (n < 4 || !isfinite(rho)) {
        return (double)NAN;
    }
    double orders = 1; // n!
    for (size_t i = 2; i <= n; i++) {
        orders *= (double)i;
    }
    double rest = fmax(0, 1 - rho * rho), df = (double)n - 2;
    double p = rest > 0 ? 2 * etp_t_cdf(-fabs(rho) * sqrt(df / rest), df) : 0;
    return fmax(p, 2 / orders);
}

// ---- change points ----

#define CHANGE_MAX 10000
#define SEGMENT_MIN 3

// The split of x[0…n) that maximises the energy distance between its sides,
//   m·r/(m+r) · (2·mean|left − right| − mean|left − left'| − mean|right − right'|).
// One value changes sides at a time, so each step costs n.
static size_t best_divide(const double *x, size_t n)
{
    double left = 0, right = 0, cross = 0, best = -(double)INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            right += fabs(x[i] - x[j]);
        }
    }
    for (size_t m = 1; m < n; m++) {
        double moved = x[m - 1], to_left = 0, to_right = 0;
        for (size_t j = 0; j + 1 < m; j++) {
            to_left += fabs(moved - x[j]);
        }
        for (size_t j = m; j < n; j++) {
            to_right += fabs(moved - x[j]);
        }
        left += to_left;
        right -= to_right;
        cross += to_right - to_left;
        double a = (double)m, b = (double)(n - m);
        if (m < SEGMENT_MIN || n - m < SEGMENT_MIN) {
            continue;
        }
        double q = a * b / (a + b) *
                   (2 * cross / (a * b) - 2 * left / (a * (a - 1)) - 2 * right / (b * (b - 1)));
        if (q > best) {
            best = q;
            at = m;
        }
    }
    return at;
}

// Student's t with the pooled variance, which a short side cannot make small by chance; its p times
// the number of places where the split might have been, since the best of many splits looks
// significant in pure noise.
static etp_change describe(const double *x, size_t from, size_t at, size_t to)
{
    double va, vb, a = (double)(at - from), b = (double)(to - at);
    etp_change c = {.at = at, .p = 1};
    c.before = etp_mean(x + from, at - from, &va);
    c.after = etp_mean(x + at, to - at, &vb);
    if (c.before == c.after) {
        return c;
    }
    double pooled = ((a - 1) * va + (b - 1) * vb) / (a + b - 2);
    if (!(pooled > 0)) {
        c.p = 0; // two constant levels
        return c;
    }
    double t = fabs(c.before - c.after) / sqrt(pooled * (1 / a + 1 / b));
    double p = 2 * etp_t_cdf(-t, a + b - 2);
    c.p = fmin(1, p * (double)(to - from - 2 * SEGMENT_MIN + 1));
    return c;
}

// Splits as long as halves differ at a looser level: a strong change next to it may hide a weaker
// one at first sight. cuts[] has room for n + 1 entries and starts as {0, n}.
static size_t divide(const double *x, size_t *cuts, size_t n_cuts, double loose_p)
{
    for (size_t i = 0; i + 1 < n_cuts;) {
        size_t from = cuts[i], to = cuts[i + 1];
        size_t at = to - from >= 2 * SEGMENT_MIN ? best_divide(x + from, to - from) : 0;
        if (at == 0 || describe(x, from, from + at, to).p > loose_p) {
            i++;
            continue;
        }
        memmove(cuts + i + 2, cuts + i + 1, (n_cuts - i - 1) * sizeof *cuts);
        cuts[i + 1] = from + at;
        n_cuts++;
    }
    return n_cuts;
}

etp_status etp_change_points(const double *x, size_t n, double max_p, double min_rel,
                             etp_arena *arena, etp_change **out, size_t *out_n, etp_error *err)
{
    *out = NULL;
    *out_n = 0;
    if (n > CHANGE_MAX) {
        return etp_fail(err, ETP_UNSUPPORTED, "a history of %zu values; %d at most", n, CHANGE_MAX);
    }
    size_t *cuts = ETP_NEW_ARRAY(arena, size_t, n + 2);
    etp_change *changes = ETP_NEW_ARRAY(arena, etp_change, n + 1);
    ETP_NEED(cuts && changes, err, "change points");
    cuts[1] = n;
    size_t n_cuts = divide(x, cuts, n > 0 ? 2 : 1, fmin(0.1, 10 * max_p));
    // Take back the least certain change until all that are left hold against their neighbours.
    for (;;) {
        size_t worst = 0;
        double worst_p = -1;
        for (size_t i = 1; i + 1 < n_cuts; i++) {
            changes[i - 1] = describe(x, cuts[i - 1], cuts[i], cuts[i + 1]);
            // Relative to the segment before: "7 % more than it was".
            const etp_change *c = &changes[i - 1];
            bool kept = c->p <= max_p && fabs(c->after - c->before) >= min_rel * fabs(c->before);
            if (!kept && c->p > worst_p) {
                worst_p = c->p;
                worst = i;
            }
        }
        if (worst == 0) {
            break;
        }
        memmove(cuts + worst, cuts + worst + 1, (n_cuts - worst - 1) * sizeof *cuts);
        n_cuts--;
    }
    *out = changes;
    *out_n = ETP_LESS(n_cuts, 2);
    return ETP_OK;
}
