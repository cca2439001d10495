// SPDX-License-Identifier: Apache-2.0
// Several measurements of one thing, each with an error of its own, and a spread between them.
#include <math.h>

#include "stats/internal.h"

// The mean that is weighted for TAU2, and how far the values are from it for their errors.
static double weighted(const double *y, const double *var, size_t n, double tau2, double *out_mean,
                       double *out_weight)
{
    double sum = 0, weight = 0, q = 0;
    for (size_t i = 0; i < n; i++) {
        weight += 1 / (var[i] + tau2);
        sum += y[i] / (var[i] + tau2);
    }
    for (size_t i = 0; i < n; i++) {
        double d = y[i] - sum / weight;
        q += d * d / (var[i] + tau2);
    }
    *out_mean = sum / weight;
    *out_weight = weight;
    return q;
}

// Paule and Mandel: tau² is the value at which the weighted squares equal their degrees of freedom;
// 0 where the measurements' own errors explain them already.
etp_effects etp_random_effects(const double *y, const double *var, size_t n, double confidence)
{
    const double nan = (double)NAN;
    etp_effects out = {
        {nan, nan, nan},
        nan
    };
    double low = INFINITY, high = -INFINITY, mean, weight;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(y[i]) || !isfinite(var[i]) || !(var[i] > 0)) {
            return out;
        }
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    if (n < 2) {
        out.mean.estimate = n == 1 ? y[0] : nan;
        return out;
    }
    double df = (double)(n - 1), q = weighted(y, var, n, 0, &mean, &weight);
    double below = 0, above = (high - low) * (high - low); // no variance of n values is larger
    if (q > df) {
        for (int i = 0; i < 200 && above > below; i++) { // q falls as tau2 grows
            double middle = below + (above - below) / 2;
            double found = weighted(y, var, n, middle, &mean, &weight);
            *(found > df ? &below : &above) = middle;
        }
    } else {
        above = 0;
    }
    weighted(y, var, n, above, &mean, &weight);
    double half = etp_t_quantile(0.5 + confidence / 2, df) / sqrt(weight);
    return (etp_effects){
        {mean, mean - half, mean + half},
        above
    };
}
