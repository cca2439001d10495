// SPDX-License-Identifier: Apache-2.0
// Shared inside the stats room.
#ifndef ETP_STATS_INTERNAL_H
#define ETP_STATS_INTERNAL_H

#include <etprof/stats.h>

// Reorders x so that x[k] is the k-th smallest, smaller values before it, larger after.
double etp_select(double *x, size_t n, size_t k);
void etp_sort_doubles(double *x, size_t n);
// Mean and n − 1 variance in two passes (the second corrected for rounding); variance NAN below 2.
double etp_mean(const double *x, size_t n, double *out_variance);
// I_x(a, b) when both x and 1 − x are known without cancellation.
double etp_beta_cdf2(double a, double b, double x, double one_minus_x);

#endif
