// SPDX-License-Identifier: Apache-2.0
// Parts as integers that add up exactly to an integer whole.
#include "stats/internal.h"

#include <math.h>

// Largest fractional part first, then the earlier one: a total order. Heap sort, because qsort
// cannot see the values and recursion is not wanted on an array as long as a model.
static bool goes_before(const double *v, uint32_t a, uint32_t b)
{
    double fa = v[a] - floor(v[a]), fb = v[b] - floor(v[b]);
    return fa > fb || (fa == fb && a < b);
}

static void sift_down(const double *v, uint32_t *order, size_t root, size_t n)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n) {
            return;
        }
        if (child + 1 < n && goes_before(v, order[child], order[child + 1])) {
            child++;
        }
        if (!goes_before(v, order[root], order[child])) {
            return;
        }
        uint32_t t = order[root];
        order[root] = order[child];
        order[child] = t;
        root = child;
    }
}

static void sort_by_fraction(const double *v, uint32_t *order, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(v, order, i, n);
    }
    for (size_t i = n; i-- > 1;) {
        uint32_t t = order[0];
        order[0] = order[i];
        order[i] = t;
        sift_down(v, order, 0, i);
    }
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
    sort_by_fraction(v, scratch, n);
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
