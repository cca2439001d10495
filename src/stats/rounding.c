// SPDX-License-Identifier: Apache-2.0
// Parts as integers that add up exactly to an integer whole.
#include "stats/internal.h"

#include <math.h>

// Largest fractional part first, then the earlier one: a total order.
static bool larger_part(const void *ctx, uint32_t a, uint32_t b)
{
    const double *v = ctx;
    double fa = v[a] - floor(v[a]), fb = v[b] - floor(v[b]);
    return fa > fb || (fa == fb && a < b);
}

void etp_round_to_sum(const double *v, size_t n, int64_t total, uint32_t *scratch, int64_t *out)
{
    if (n == 0) {
        return;
    }
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = (int64_t)floor(v[i]);
        sum += out[i];
        scratch[i] = (uint32_t)i;
    }
    etp_sort_order(scratch, n, larger_part, v);
    // |missing| is below n when Σ v = TOTAL; whole rounds only cover a caller's inexact sum.
    int64_t missing = total - sum;
    int64_t each = missing / (int64_t)n, rest = missing % (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        out[i] += each;
    }
    for (size_t i = 0; i < n && rest > 0; i++, rest--) {
        out[scratch[i]]++;
    }
    for (size_t i = n; i-- > 0 && rest < 0; rest++) {
        out[scratch[i]]--;
    }
}
