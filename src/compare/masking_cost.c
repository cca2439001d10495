// SPDX-License-Identifier: Apache-2.0
// What it costs to hide features: the SDK asks the runner's hook while it executes.
#include <math.h>

#include "compare/session.h"

void etp_ab_take_masking_cost(const etp_run *run, uint32_t run_arm, int64_t median_ns,
                              etp_arena *arena, etp_ab_masking_cost *out)
{
    double *calls = ETP_NEW_ARRAY(arena, double, run->launches.n);
    double *each = ETP_NEW_ARRAY(arena, double, run->launches.n);
    size_t n = 0;
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->arm == run_arm && l->kind == ETP_LAUNCH_TIMED && l->hook_cost.call_ps > 0) {
            calls[n] = (double)l->hook_cost.calls;
            each[n++] = (double)l->hook_cost.call_ps / 1000;
        }
    }
    out->calls = etp_median(calls, n);
    out->call_ns = etp_median(each, n);
    out->share = median_ns > 0 ? out->calls * out->call_ns / (double)median_ns : (double)NAN;
}

const char *etp_ab_masking_cost_words(const etp_ab_masking_cost *hook, etp_arena *arena)
{
    if (!(hook->call_ns > 0) || !isfinite(hook->share)) {
        return "";
    }
    return etp_arena_printf(
        arena, "; its %.0f questions in an inference cost %s ns each, %s %% of it", hook->calls,
        ETP_DIGITS(hook->call_ns, 2), ETP_DIGITS(100 * hook->share, 2));
}
