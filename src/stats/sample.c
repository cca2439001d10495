// SPDX-License-Identifier: Apache-2.0
// Location and spread of one sample.
#include "base/choice.h"
#include "stats/internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

static void swap(double *x, size_t i, size_t j)
{
    double t = x[i];
    x[i] = x[j];
    x[j] = t;
}

// Hoare's selection with a median-of-three pivot; three-way, so that equal values cost nothing.
double etp_select(double *x, size_t n, size_t k)
{
    size_t low = 0, high = n; // x[k] lies in [low, high)
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (x[mid] < x[low]) {
            swap(x, mid, low);
        }
        if (x[high - 1] < x[low]) {
            swap(x, high - 1, low);
        }
        if (x[high - 1] < x[mid]) {
            swap(x, high - 1, mid);
        }
        double pivot = x[mid];
        size_t less = low, i = low, more = high;
        while (i < more) {
            if (x[i] < pivot) {
                swap(x, less++, i++);
            } else if (x[i] > pivot) {
                swap(x, i, --more);
            } else {
                i++;
            }
        }
        if (k < less) {
            high = less;
        } else if (k >= more) {
            low = more;
        } else {
            return pivot;
        }
    }
    return x[k];
}

void etp_sort_doubles(double *x, size_t n)
{
    if (n > 1) {
        qsort(x, n, sizeof *x, etp_order_double);
    }
}

double etp_median(double *x, size_t n)
{
    if (n == 0) {
        return (double)NAN;
    }
    double upper = etp_select(x, n, n / 2);
    if (n % 2 == 1) {
        return upper;
    }
    double lower = x[0]; // the largest of the smaller half, which selection moved to the front
    for (size_t i = 1; i < n / 2; i++) {
        lower = ETP_MAX(x[i], lower);
    }
    return lower + (upper - lower) / 2;
}

double etp_mad(double *x, size_t n)
{
    double median = etp_median(x, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = fabs(x[i] - median);
    }
    return etp_median(x, n);
}

// As numpy: from whichever end is nearer, so that the result never leaves [lower, upper].
static double between(double lower, double upper, double part)
{
    return part < 0.5 ? lower + (upper - lower) * part : upper - (upper - lower) * (1 - part);
}

double etp_quantile(double *x, size_t n, double q)
{
    if (n == 0) {
        return (double)NAN;
    }
    double at = (double)(n - 1) * q;
    size_t k = (size_t)at;
    double lower = etp_select(x, n, k);
    if (k + 1 >= n) {
        return lower;
    }
    double upper = x[k + 1]; // selection left the larger values behind it
    for (size_t i = k + 2; i < n; i++) {
        upper = ETP_MIN(x[i], upper);
    }
    return between(lower, upper, at - (double)k);
}

double etp_quantile_sorted(const double *x, size_t n, double q)
{
    if (n == 0) {
        return (double)NAN;
    }
    double at = (double)(n - 1) * q;
    size_t k = (size_t)at;
    return k + 1 < n ? between(x[k], x[k + 1], at - (double)k) : x[k];
}

void etp_moments_add(etp_moments *m, double x)
{
    m->n++;
    double delta = x - m->mean;
    m->mean += delta / (double)m->n;
    m->m2 += delta * (x - m->mean);
}

double etp_moments_variance(const etp_moments *m)
{
    return m->n < 2 ? (double)NAN : m->m2 / (double)(m->n - 1);
}

double etp_moments_sd(const etp_moments *m)
{
    return sqrt(etp_moments_variance(m));
}

double etp_mean(const double *x, size_t n, double *out_variance)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    double mean = etp_share(sum, (double)n);
    double squares = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        squares += d * d;
        rest += d; // what rounding left in the mean
    }
    *out_variance =
        n < 2 ? (double)NAN : fmax(0, squares - rest * rest / (double)n) / (double)(n - 1);
    return mean;
}

etp_interval etp_mean_interval(const double *x, size_t n, double confidence)
{
    double variance;
    etp_interval out = {.lo = (double)NAN, .hi = (double)NAN};
    out.estimate = etp_mean(x, n, &variance);
    if (n >= 2) {
        double t = etp_t_quantile(0.5 + confidence / 2, (double)(n - 1));
        double half = t * sqrt(variance / (double)n);
        out.lo = out.estimate - half;
        out.hi = out.estimate + half;
    }
    return out;
}

double etp_mean_p(const double *x, size_t n)
{
    double variance;
    double mean = etp_mean(x, n, &variance);
    if (n < 2) {
        return (double)NAN;
    }
    double error = sqrt(variance / (double)n);
    if (!(error > 0)) { // all alike: fakes and coarse clocks
        return mean == 0;
    }
    return 2 * etp_t_cdf(-fabs(mean) / error, (double)(n - 1));
}

// P(Binomial(n, q) ≤ k) by the incomplete beta function.
static double binomial_cdf(size_t k, size_t n, double q)
{
    return k >= n ? 1 : etp_beta_cdf2((double)(n - k), (double)k + 1, 1 - q, q);
}

bool etp_quantile_ranks(size_t n, double q, double confidence, size_t *out_lo, size_t *out_hi)
{
    double tail = (1 - confidence) / 2;
    if (n == 0 || binomial_cdf(0, n, q) > tail || 1 - binomial_cdf(n - 1, n, q) > tail) {
        return false;
    }
    // largest rank below the quantile, smallest above it, each wrong with probability ≤ tail
    size_t lo = 0, high = n;
    while (high - lo > 1) {
        size_t mid = lo + (high - lo) / 2;
        if (binomial_cdf(mid, n, q) <= tail) {
            lo = mid;
        } else {
            high = mid;
        }
    }
    size_t hi = n - 1, low = 0; // smallest h with P(X > h) ≤ tail lies in [low, hi]
    while (low < hi) {
        size_t mid = low + (hi - low) / 2;
        if (1 - binomial_cdf(mid, n, q) <= tail) {
            hi = mid;
        } else {
            low = mid + 1;
        }
    }
    *out_lo = lo;
    *out_hi = hi;
    return true;
}
