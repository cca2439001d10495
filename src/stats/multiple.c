// SPDX-License-Identifier: Apache-2.0
// Several results at once: false discovery rate over operators.
#include "base/choice.h"
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

void etp_benjamini_hochberg(const double *p, size_t n, uint32_t *scratch, double *out_q)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = (uint32_t)i;
        known += isnan(p[i]) == 0;
        out_q[i] = (double)NAN;
    }
    etp_sort_order(scratch, n, smaller_p, p); // unknown ones last
    // q of rank i is the least p_j · n / j over j ≥ i
    double least = 1;
    for (size_t i = known; i-- > 0;) {
        double scaled = p[scratch[i]] * (double)known / (double)(i + 1);
        least = ETP_MIN(scaled, least);
        out_q[scratch[i]] = least;
    }
}
