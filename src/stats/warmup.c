// SPDX-License-Identifier: Apache-2.0
// The warm-up rule: the best single split of a launch's ln durations in the sense of least absolute
// deviations, and whether the part before it is slower by more than noise.
//
//   cost(w) = Σ_{i<w} |x_i − median(x_0…x_{w−1})| + Σ_{i≥w} |x_i − median(x_w…x_{n−1})|
//   w* = smallest w in 0 … ⌊n/2⌋ that minimises it
//   drop the prefix when median(prefix) − median(rest) > max(0.02, 3·1.4826·MAD(rest)/√w*)
#include "stats/internal.h"

#include <math.h>

// A growing sample with its median and Σ|x − median|: the smaller half in a max-heap at the front
// of the storage, the larger half in a min-heap at its end (mirrored).
typedef struct halves {
    double *store;
    size_t cap;
    size_t n_low, n_high;
    double sum_low, sum_high;
} halves;

// Heap element i of the low side, or of the mirrored high side; comparing sign·value makes both
// max-heaps.
static double *slot(halves *h, bool high, size_t i)
{
    return high ? &h->store[h->cap - 1 - i] : &h->store[i];
}

static void heap_push(halves *h, bool high, double x)
{
    double sign = high ? -1 : 1;
    size_t *n = high ? &h->n_high : &h->n_low;
    *(high ? &h->sum_high : &h->sum_low) += x;
    size_t i = (*n)++;
    while (i > 0 && sign * *slot(h, high, (i - 1) / 2) < sign * x) {
        *slot(h, high, i) = *slot(h, high, (i - 1) / 2);
        i = (i - 1) / 2;
    }
    *slot(h, high, i) = x;
}

static double heap_pop(halves *h, bool high)
{
    double sign = high ? -1 : 1;
    size_t *n = high ? &h->n_high : &h->n_low;
    double top = *slot(h, high, 0);
    *(high ? &h->sum_high : &h->sum_low) -= top;
    double x = *slot(h, high, --*n);
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= *n) {
            break;
        }
        if (child + 1 < *n && sign * *slot(h, high, child + 1) > sign * *slot(h, high, child)) {
            child++;
        }
        if (sign * *slot(h, high, child) <= sign * x) {
            break;
        }
        *slot(h, high, i) = *slot(h, high, child);
        i = child;
    }
    *slot(h, high, i) = x;
    return top;
}

static void halves_add(halves *h, double x)
{
    bool high = h->n_low > 0 && x > *slot(h, false, 0);
    heap_push(h, high, x);
    if (h->n_low > h->n_high + 1) {
        heap_push(h, true, heap_pop(h, false));
    } else if (h->n_high > h->n_low) {
        heap_push(h, false, heap_pop(h, true));
    }
}

// Any point between the halves serves as median here; the low side's top is one.
static double halves_cost(halves *h)
{
    if (h->n_low + h->n_high == 0) {
        return 0;
    }
    double median = *slot(h, false, 0);
    return (median * (double)h->n_low - h->sum_low) + (h->sum_high - median * (double)h->n_high);
}

// Values are taken relative to the first one: sums stay small, and a constant series costs exactly
// 0.
static size_t best_split(const double *ln, size_t n, double *scratch)
{
    double *prefix_cost = scratch; // [n / 2 + 1]
    halves h = {.store = scratch + n, .cap = n};
    for (size_t w = 0; w <= n / 2; w++) {
        prefix_cost[w] = halves_cost(&h);
        halves_add(&h, ln[w] - ln[0]);
    }
    h = (halves){.store = scratch + n, .cap = n};
    for (size_t w = n; w-- > 0;) {
        halves_add(&h, ln[w] - ln[0]);
        if (w <= n / 2) {
            prefix_cost[w] += halves_cost(&h);
        }
    }
    // Sums of the same terms in another order differ in their last digits: such ties go to the
    // smaller split.
    double slack = 1e-12 * prefix_cost[0];
    size_t best = 0;
    for (size_t w = 1; w <= n / 2; w++) {
        if (prefix_cost[w] < prefix_cost[best] - slack) {
            best = w;
        }
    }
    return best;
}

etp_warmup etp_warmup_find(const double *ln, size_t n, double *scratch)
{
    etp_warmup out = {.kind = n < 8 ? ETP_WARM_SHORT : ETP_WARM_FLAT};
    if (n < 8) {
        return out;
    }
    size_t w = best_split(ln, n, scratch);
    if (w == 0) {
        return out;
    }
    memcpy(scratch, ln, n * sizeof *ln);
    double before = etp_median(scratch, w);
    double after = etp_median(scratch + w, n - w);
    double spread = 1.4826 * etp_mad(scratch + w, n - w);
    double bound = fmax(0.02, 3 * spread / sqrt((double)w));
    double step = before - after;
    if (fabs(step) <= bound) {
        return out;
    }
    out.change = w;
    out.kind = step > 0 ? ETP_WARM_WARMUP : ETP_WARM_SLOWDOWN;
    out.dropped = step > 0 ? w : 0;
    return out;
}
