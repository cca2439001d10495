// SPDX-License-Identifier: Apache-2.0
// Normal, beta and Student-t distributions to about 13 digits, so that no table ends at 30 degrees
// of freedom and no libm decides an interval.
#include "base/choice.h"
#include "stats/internal.h"

#include <float.h>
#include <math.h>

static const double k_pi = 3.14159265358979323846;

// ln Γ(x), x > 0: recurrence up to where Stirling's series is exact to rounding. The library's
// lgamma keeps a sign in a global variable.
static double log_gamma(double x)
{
    double product = 1;
    while (x < 15) {
        product *= x;
        x += 1;
    }
    double y = 1 / (x * x);
    double series =
        1.0 / 12 +
        y * (-1.0 / 360 +
             y * (1.0 / 1260 + y * (-1.0 / 1680 + y * (1.0 / 1188 + y * (-691.0 / 360360)))));
    return (x - 0.5) * log(x) - x + 0.5 * log(2 * k_pi) + series / x - log(product);
}

double etp_normal_cdf(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
}

double etp_normal_quantile(double p)
{
    if (!(p > 0 && p < 1)) {
        return (double)NAN;
    }
    double tail = p < 0.5 ? p : 1 - p;
    if (tail == 0.5) {
        return 0;
    }
    // Start: the classic rational approximation (4.5e-4); then Halley's steps on the tail.
    double s = sqrt(-2 * log(tail));
    double z = s - (2.515517 + s * (0.802853 + s * 0.010328)) /
                       (1 + s * (1.432788 + s * (0.189269 + s * 0.001308)));
    for (int i = 0; i < 4; i++) {
        double error = 0.5 * erfc(z / sqrt(2.0)) - tail;
        double density = exp(-z * z / 2) / sqrt(2 * k_pi);
        if (density <= 0) {
            break;
        }
        double step = error / density;
        z += step / (1 - z * step / 2);
    }
    return p < 0.5 ? -z : z;
}

// Continued fraction of the incomplete beta function by Lentz's method; converges fast for
// x < (a + 1) / (a + b + 2).
static double beta_fraction(double a, double b, double x, double one_minus_x)
{
    const double tiny = 1e-300;
    double c = 1, d = (1 - b + (a + b) * one_minus_x) / (a + 1); // = 1 − (a + b) x / (a + 1)
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        double step = d * c;
        h *= step;
        if (fabs(step - 1) < 4 * DBL_EPSILON) {
            break;
        }
    }
    return h;
}

// ln of Γ(a+b) / (Γ(a) Γ(b)); for one large and one small argument the difference of the two large
// terms is taken from Stirling's series, where it does not cancel.
static double log_beta_inverse(double a, double b)
{
    double big = ETP_MAX(a, b), small = ETP_MIN(b, a);
    if (big < 1e4) {
        return log_gamma(a + b) - log_gamma(a) - log_gamma(b);
    }
    double sum = big + small;
    double growth = (big - 0.5) * log1p(small / big) + small * log(sum) - small;
    return growth + 1 / (12 * sum) - 1 / (12 * big) - log_gamma(small);
}

double etp_beta_cdf2(double a, double b, double x, double one_minus_x)
{
    if (x <= 0) {
        return 0;
    }
    if (one_minus_x <= 0) {
        return 1;
    }
    double lx = x < 0.5 ? log(x) : log1p(-one_minus_x);
    double ly = x < 0.5 ? log1p(-x) : log(one_minus_x);
    double front = exp(log_beta_inverse(a, b) + a * lx + b * ly);
    if (x < (a + 1) / (a + b + 2)) {
        return front * beta_fraction(a, b, x, one_minus_x) / a;
    }
    return 1 - front * beta_fraction(b, a, one_minus_x, x) / b;
}

// P(T > t) for t ≥ 0.
static double t_tail(double t, double df)
{
    double square = t * t;
    if (df > 1e5 && square < 100) {
        // Fisher's expansion about the normal distribution: here the fraction would lose digits.
        double s = square, density = exp(-s / 2) / sqrt(2 * k_pi);
        double first = (s + 1) / 4, second = (((3 * s - 7) * s - 5) * s - 3) / 96;
        return 0.5 * erfc(t / sqrt(2.0)) + density * t * (first + second / df) / df;
    }
    return 0.5 * etp_beta_cdf2(df / 2, 0.5, df / (df + square), square / (df + square));
}

double etp_t_cdf(double t, double df)
{
    return t < 0 ? t_tail(-t, df) : 1 - t_tail(t, df);
}

static double t_density(double t, double df)
{
    return exp(log_beta_inverse(df / 2, 0.5) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df);
}

double etp_t_quantile(double p, double df)
{
    if (!(p > 0 && p < 1) || !(df > 0)) {
        return (double)NAN;
    }
    if (p == 0.5) {
        return 0;
    }
    double tail = p < 0.5 ? p : 1 - p;
    double low = 0, high = 1;
    while (t_tail(high, df) > tail && high < 1e300) {
        low = high;
        high *= 2;
    }
    // Newton's method, kept inside the bracket by bisection.
    double t = low + (high - low) / 2;
    for (int i = 0; i < 200; i++) {
        double error = t_tail(t, df) - tail;
        if (error > 0) {
            low = t;
        } else {
            high = t;
        }
        double next = t + error / t_density(t, df);
        if (!(next > low && next < high)) {
            next = low + (high - low) / 2;
        }
        bool done = fabs(next - t) <= 2 * DBL_EPSILON * fabs(t);
        t = next;
        if (done) {
            break;
        }
    }
    return p < 0.5 ? -t : t;
}

double etp_f_above(double f, double df_above, double df_below)
{
    double scaled = df_above * f, all = df_below + scaled;
    return etp_beta_cdf2(df_below / 2, df_above / 2, df_below / all, scaled / all);
}
