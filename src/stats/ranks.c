// SPDX-License-Identifier: Apache-2.0
// Rank tests: signed-rank for block ratios, rank-sum with Hodges–Lehmann and Cliff's delta for
// samples without blocks. Exact distributions are counted over the ranks really present, so ties
// are exact as well.
#include "base/choice.h"
#include "stats/internal.h"

#include <float.h>
#include <math.h>

#include "base/guard.h"

#define SIGNED_EXACT_MAX 50
#define SUM_EXACT_MAX 60

// ---- signed ranks ----

// Distribution of the sum of the (doubled) ranks that get a plus, every sign with probability ½:
// P(sum ≤ w).
static double signed_cdf(const uint32_t *ranks, size_t n, uint64_t w, double *p, size_t size)
{
    memset(p, 0, size * sizeof *p);
    p[0] = 1;
    size_t top = 0;
    for (size_t i = 0; i < n; i++) {
        top += ranks[i];
        for (size_t s = top + 1; s-- > 0;) {
            p[s] = 0.5 * p[s] + (s >= ranks[i] ? 0.5 * p[s - ranks[i]] : 0);
        }
    }
    double sum = 0;
    for (size_t s = 0; s <= w && s < size; s++) {
        sum += p[s];
    }
    return sum;
}

double etp_wilcoxon(const double *x, size_t k, etp_arena *scratch)
{
    double *size = etp_arena_alloc_raw(scratch, k, sizeof *size);
    uint32_t *order = etp_arena_alloc_raw(scratch, k, sizeof *order);
    uint32_t *ranks = etp_arena_alloc_raw(scratch, k, sizeof *ranks);
    size_t n = 0;
    for (size_t i = 0; i < k; i++) {
        if (x[i] != 0) {
            size[n++] = fabs(x[i]);
        }
    }
    if (n == 0) {
        return (double)NAN;
    }
    etp_order_by(size, n, order);
    double ties = etp_double_ranks(size, order, n, ranks);
    uint64_t plus = 0, all = (uint64_t)n * (n + 1); // doubled
    for (size_t i = 0, at = 0; i < k; i++) {
        if (x[i] != 0) {
            plus += x[i] > 0 ? ranks[at] : 0;
            at++;
        }
    }
    uint64_t low = ETP_MIN(plus, all - plus); // symmetric: two-sided from the low end
    if (n <= SIGNED_EXACT_MAX) {
        double *p = etp_arena_alloc_raw(scratch, all + 1, sizeof *p);
        return fmin(1, 2 * signed_cdf(ranks, n, low, p, all + 1));
    }
    double size_n = (double)n;
    double variance = size_n * (size_n + 1) * (2 * size_n + 1) / 24 - ties / 48;
    double z = ((double)low / 2 - size_n * (size_n + 1) / 4) / sqrt(variance);
    return fmin(1, 2 * etp_normal_cdf(z));
}

etp_status etp_wilcoxon_p(const double *x, size_t k, etp_arena *scratch, double *out_p,
                          etp_error *err)
{
    ETP_GUARDED(scratch, err, "ranks", (*out_p = etp_wilcoxon(x, k, scratch), ETP_OK));
}

// ---- rank sums ----

typedef struct sums { // number of ways to pick m of the ranks with each sum
    double *ways;
    size_t top;
    double total;
} sums;

static sums count_sums(const uint32_t *ranks, size_t n, size_t m, etp_arena *scratch)
{
    size_t top = n * (n + 1); // of doubled ranks
    double *ways = ETP_NEW_ARRAY(scratch, double, (m + 1) * (top + 1));
    ways[0] = 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t picked = ETP_MIN(i + 1, m); picked > 0; picked--) {
            double *to = ways + picked * (top + 1), *from = to - (top + 1);
            for (size_t s = ranks[i]; s <= top; s++) {
                to[s] += from[s - ranks[i]];
            }
        }
    }
    sums out = {ways + m * (top + 1), top, 0};
    for (size_t s = 0; s <= top; s++) {
        out.total += out.ways[s];
    }
    return out;
}

// Largest c for which the c smallest and c largest of all differences may be cut off: the interval
// then keeps CONFIDENCE. From the distribution of U without ties.
static uint64_t cut_of(size_t n_a, size_t n_b, double confidence, etp_arena *scratch)
{
    double tail = (1 - confidence) / 2, a = (double)n_a, b = (double)n_b;
    if (n_a + n_b > SUM_EXACT_MAX) {
        double c = a * b / 2 + etp_normal_quantile(tail) * sqrt(a * b * (a + b + 1) / 12);
        return c < 1 ? 0 : (uint64_t)c;
    }
    uint32_t ranks[SUM_EXACT_MAX];
    for (uint32_t i = 0; i < n_a + n_b; i++) {
        ranks[i] = 2 * (i + 1);
    }
    sums d = count_sums(ranks, n_a + n_b, n_a, scratch);
    double sum = 0;
    size_t u = 0;
    for (; u < n_a * n_b; u++) { // U = rank sum − n_a (n_a + 1) / 2
        sum += d.ways[2 * u + n_a * (n_a + 1)];
        if (sum / d.total > tail) {
            break;
        }
    }
    return u;
}

// ---- differences of all pairs, of which there may be too many to hold ----

typedef struct pairs { // sorted; a difference is a[i] − b[j] as computed
    const double *a, *b;
    size_t n_a, n_b;
} pairs;

// Pairs whose difference is at most V. In a row of them it falls, and where it passes V moves to
// the right from row to row.
static uint64_t pairs_up_to(const pairs *d, double v)
{
    uint64_t count = 0;
    size_t j = 0;
    for (size_t i = 0; i < d->n_a; i++) {
        while (j < d->n_b && d->a[i] - d->b[j] > v) {
            j++;
        }
        count += d->n_b - j;
    }
    return count;
}

// Keys are ordered as the doubles are.
static uint64_t key_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double of_key(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x + 0.0; // never −0
}

// The difference that has K below it or beside it: bisection over the doubles between the smallest
// and the largest, at most 64 counts.
static double nth_difference(const pairs *d, uint64_t k)
{
    uint64_t lo = key_of(d->a[0] - d->b[d->n_b - 1]), hi = key_of(d->a[d->n_a - 1] - d->b[0]);
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (pairs_up_to(d, of_key(mid)) > k) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return of_key(lo);
}

etp_unpaired etp_unpaired_of(const double *a, size_t n_a, const double *b, size_t n_b,
                             double confidence, etp_arena *scratch)
{
    size_t n = n_a + n_b;
    etp_unpaired out = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, false};
    if (n_a == 0 || n_b == 0) {
        return out;
    }
    double *all = etp_arena_alloc_raw(scratch, n, sizeof *all);
    uint32_t *order = etp_arena_alloc_raw(scratch, n, sizeof *order);
    uint32_t *ranks = etp_arena_alloc_raw(scratch, n, sizeof *ranks);
    memcpy(all, a, n_a * sizeof *a);
    memcpy(all + n_a, b, n_b * sizeof *b);
    etp_order_by(all, n, order);
    double ties = etp_double_ranks(all, order, n, ranks);
    bool a_is_small = n_a <= n_b;
    size_t m = a_is_small ? n_a : n_b;
    uint64_t seen = 0;
    for (size_t i = 0; i < m; i++) {
        seen += ranks[a_is_small ? i : n_a + i];
    }
    double mean = (double)m * (double)(n + 1); // doubled
    out.exact = n <= SUM_EXACT_MAX;
    if (out.exact) {
        sums s = count_sums(ranks, n, m, scratch);
        // Two-sided: all sums at least as far from the mean as the one seen.
        double distance = fabs((double)seen - mean), hits = 0;
        for (size_t i = 0; i <= s.top; i++) {
            if (fabs((double)i - mean) >= distance) {
                hits += s.ways[i];
            }
        }
        out.p = fmin(1, hits / s.total);
    } else {
        double s = (double)n;
        double variance = (double)n_a * (double)n_b / 12 * (s + 1 - ties / (s * (s - 1)));
        double z = (fabs((double)seen - mean) / 2 - 0.5) / sqrt(variance); // continuity
        out.p = variance > 0 ? fmin(1, 2 * etp_normal_cdf(-z)) : 1;
    }
    uint64_t n_pairs = (uint64_t)n_a * n_b;
    double *sorted = etp_arena_alloc_raw(scratch, n, sizeof *sorted);
    for (size_t i = 0, of_a = 0, of_b = n_a; i < n; i++) {
        sorted[order[i] < n_a ? of_a++ : of_b++] = all[order[i]];
    }
    const pairs d = {sorted, sorted + n_a, n_a, n_b};
    double above = (double)(n_pairs - pairs_up_to(&d, 0)),
           below = (double)pairs_up_to(&d, -DBL_TRUE_MIN);
    out.cliffs_delta = (above - below) / (double)n_pairs;
    out.shift = nth_difference(&d, n_pairs / 2);
    if (n_pairs % 2 == 0) {
        out.shift = (nth_difference(&d, n_pairs / 2 - 1) + out.shift) / 2;
    }
    uint64_t cut = cut_of(n_a, n_b, confidence, scratch);
    out.lo = out.hi = (double)NAN;
    if (cut > 0) {
        out.lo = nth_difference(&d, cut - 1);
        out.hi = nth_difference(&d, n_pairs - cut);
    }
    return out;
}

etp_status etp_unpaired_compare(const double *a, size_t n_a, const double *b, size_t n_b,
                                double confidence, etp_arena *scratch, etp_unpaired *out,
                                etp_error *err)
{
    ETP_GUARDED(scratch, err, "ranks",
                (*out = etp_unpaired_of(a, n_a, b, n_b, confidence, scratch), ETP_OK));
}
