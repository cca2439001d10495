// SPDX-License-Identifier: Apache-2.0
// Noise of each row, carried from operator to operator.
#include "numerics/noise.h"

#include <math.h>

#include "base/guard.h"

// Makes PARTS, the last of which is nobody's, NOISE in all; what is missing becomes OWN's, but for
// ROUNDING.
static void settle(double *parts, size_t n, double noise, size_t own, double rounding)
{
    double all = 0;
    for (size_t i = 0; i < n; i++) {
        all += parts[i];
    }
    const double more = fmax(noise - all, 0);
    for (size_t i = 0; noise < all && i < n; i++) {
        parts[i] *= noise / all;
    }
    parts[n - 1] += fmin(more, rounding);
    parts[own] += fmax(more - rounding, 0);
}

void etp_noise_shares(const etp_ops *ops, const etp_noise_point *points, size_t n_rows,
                      uint32_t output, double noise, etp_arena *arena, double *shares)
{
    const size_t n = n_rows + 1;
    etp_arena scratch;
    etp_arena_scratch(&scratch, arena);
    double *parts = ETP_NEW_ARRAY(&scratch, double, (ops->n + 1) * n);
    for (size_t i = 0; i < ops->n; i++) {
        const etp_noise_point *p = &points[i];
        uint32_t *sources, n_sources = etp_op_sources(ops, &ops->items[i], &scratch, &sources);
        for (uint32_t k = 0; k < n_sources; k++) {
            // How much of the relative noise of a source is found behind an operator, unless that
            // changes it: one is added to another as it is, and larger results make less of it.
            const etp_noise_point *source = &points[sources[k]];
            const bool known = isfinite(p->noise) && isfinite(source->noise) && p->power > 0;
            const double weight =
                etp_op_adds(&ops->items[i]) && known ? source->power / p->power : 1;
            for (size_t r = 0; r < n; r++) {
                parts[i * n + r] += weight * parts[sources[k] * n + r];
            }
        }
        if (isfinite(p->noise)) {
            settle(&parts[i * n], n, p->noise, p->row == ETP_NO_INDEX ? n_rows : p->row,
                   p->rounding);
        }
    }
    double *end = &parts[ops->n * n];
    for (size_t r = 0; output != ETP_NO_INDEX && r < n; r++) {
        end[r] = parts[output * n + r];
    }
    settle(end, n, noise, n_rows, 0);
    for (size_t r = 0; r < n_rows; r++) {
        shares[r] = noise > 0 ? end[r] / noise : 0;
    }
    etp_arena_dispose(&scratch);
}
