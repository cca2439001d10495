// SPDX-License-Identifier: Apache-2.0
// Sorting of indices, and ranks with ties.
#include "stats/internal.h"

static void sift_down(uint32_t *order, size_t root, size_t n, etp_before before, const void *ctx)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n) {
            return;
        }
        if (child + 1 < n && before(ctx, order[child], order[child + 1])) {
            child++;
        }
        if (!before(ctx, order[root], order[child])) {
            return;
        }
        uint32_t t = order[root];
        order[root] = order[child];
        order[child] = t;
        root = child;
    }
}

void etp_sort_order(uint32_t *order, size_t n, etp_before before, const void *ctx)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(order, i, n, before, ctx);
    }
    for (size_t i = n; i-- > 1;) {
        uint32_t t = order[0];
        order[0] = order[i];
        order[i] = t;
        sift_down(order, 0, i, before, ctx);
    }
}

static bool smaller_key(const void *ctx, uint32_t a, uint32_t b)
{
    const double *key = ctx;
    return key[a] < key[b] || (key[a] == key[b] && a < b);
}

void etp_order_by(const double *key, size_t n, uint32_t *order)
{
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
    }
    etp_sort_order(order, n, smaller_key, key);
}

double etp_double_ranks(const double *key, const uint32_t *order, size_t n, uint32_t *out_by_index)
{
    double ties = 0;
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && key[order[to]] == key[order[from]]) {
            to++;
        }
        double t = (double)(to - from);
        ties += t * t * t - t;
        for (size_t i = from; i < to; i++) {
            out_by_index[order[i]] = (uint32_t)(from + to + 1); // first + last rank
        }
    }
    return ties;
}
