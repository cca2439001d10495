// SPDX-License-Identifier: Apache-2.0
// Several results at once: false discovery rate over operators, geometric mean over models.
#include "stats/internal.h"

#include <math.h>

static bool smaller_p(const void *ctx, uint32_t a, uint32_t b)
{
    const double *p = ctx;
    bool gone_a = isnan(p[a]), gone_b = isnan(p[b]);
    if (gone_a || gone_b) {
        return gone_a != gone_b ? gone_b : a < b; // unknown ones last
    }
    return p[a] < p[b] || (p[a] == p[b] && a < b);
}

// ORDER sorts P, unknown ones last; how many are known. No q is known yet.
static size_t sort_known(const double *p, size_t n, uint32_t *order, double *out_q)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        known += isnan(p[i]) ? 0 : 1;
        out_q[i] = (double)NAN;
    }
    etp_sort_order(order, n, smaller_p, p);
    return known;
}

void etp_benjamini_hochberg(const double *p, size_t n, uint32_t *scratch, double *out_q)
{
    size_t known = sort_known(p, n, scratch, out_q);
    // q of rank i is the least p_j · n / j over j ≥ i
    double least = 1;
    for (size_t i = known; i-- > 0;) {
        double scaled = p[scratch[i]] * (double)known / (double)(i + 1);
        least = scaled < least ? scaled : least;
        out_q[scratch[i]] = least;
    }
}

void etp_benjamini_yekutieli(const double *p, size_t n, uint32_t *scratch, double *out_q)
{
    double harmonic = 0;
    size_t known = 0;
    etp_benjamini_hochberg(p, n, scratch, out_q);
    for (size_t i = 0; i < n; i++) {
        harmonic += isnan(p[i]) ? 0 : 1 / (double)++known;
    }
    // The least p_j · n · c / j over j ≥ i, at most 1: what bounds the former at 1 bounds this too.
    for (size_t i = 0; i < n; i++) {
        out_q[i] = fmin(out_q[i] * harmonic, isnan(p[i]) ? out_q[i] : 1);
    }
}

#define RESAMPLES 10000

etp_status etp_geometric_mean(const double *ratios, size_t n, uint64_t seed, etp_arena *scratch,
                              etp_interval *out, etp_error *err)
{
    *out = (etp_interval){(double)NAN, (double)NAN, (double)NAN};
    if (n == 0) {
        return ETP_OK;
    }
    double *ln = etp_arena_alloc_raw(scratch, n, sizeof *ln);
    double *means = etp_arena_alloc_raw(scratch, RESAMPLES, sizeof *means);
    ETP_NEED(ln && means, err, "geometric mean");
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(ratios[i] > 0) || !isfinite(ratios[i])) {
            return etp_fail(err, ETP_UNSUPPORTED, "geometric mean of a ratio that is not positive");
        }
        ln[i] = log(ratios[i]);
        sum += ln[i];
    }
    out->estimate = exp(sum / (double)n);
    if (n < 3) {
        return ETP_OK;
    }
    etp_rng rng;
    etp_rng_init(&rng, seed);
    for (size_t r = 0; r < RESAMPLES; r++) {
        double drawn = 0;
        for (size_t i = 0; i < n; i++) {
            drawn += ln[etp_rng_below(&rng, n)];
        }
        means[r] = drawn / (double)n;
    }
    out->lo = exp(etp_quantile(means, RESAMPLES, 0.025));
    out->hi = exp(etp_quantile(means, RESAMPLES, 0.975));
    return ETP_OK;
}
