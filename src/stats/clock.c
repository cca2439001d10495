// SPDX-License-Identifier: Apache-2.0
// A ratio of times taken apart into work, clock and waiting.
#include <etprof/stats.h>

#include <math.h>

enum { SPEEDUP, CYCLES, CLOCK, BUSY, INSTRUCTIONS, PER_CYCLE, FACTORS };

// Every factor as a log ratio that is above 0 where it makes the candidate faster.
static bool factors_of(const etp_counted *b, const etp_counted *c, double out[FACTORS])
{
    out[SPEEDUP] = b->time_ln - c->time_ln;
    out[CYCLES] = b->cycles_ln - c->cycles_ln;
    out[CLOCK] = (c->cycles_ln - c->cpu_ln) - (b->cycles_ln - b->cpu_ln);
    out[BUSY] = (c->cpu_ln - c->time_ln) - (b->cpu_ln - b->time_ln);
    out[INSTRUCTIONS] = b->instructions_ln - c->instructions_ln;
    out[PER_CYCLE] = (c->instructions_ln - c->cycles_ln) - (b->instructions_ln - b->cycles_ln);
    return isfinite(out[SPEEDUP]) && isfinite(out[CYCLES]) && isfinite(out[CLOCK]) &&
           isfinite(out[BUSY]);
}

etp_status etp_clock_split_of(const etp_counted *baseline, const etp_counted *candidate, size_t n,
                              const etp_stats_options *options, etp_arena *scratch,
                              etp_clock_split *out, etp_error *err)
{
    double margin = options->margin > 0 ? options->margin : ETP_MARGIN_DEFAULT;
    double confidence = options->confidence > 0 ? options->confidence : ETP_CONFIDENCE;
    double *column[FACTORS];
    size_t k[FACTORS] = {0};
    for (int f = 0; f < FACTORS; f++) {
        column[f] = ETP_NEW_ARRAY(scratch, double, n + 1);
        ETP_NEED(column[f], err, "cycles and clock");
    }
    for (size_t b = 0; b < n; b++) {
        double v[FACTORS];
        bool whole = factors_of(&baseline[b], &candidate[b], v);
        for (int f = 0; whole && f < FACTORS; f++) {
            if (isfinite(v[f])) { // instructions may be missing
                column[f][k[f]++] = v[f];
            }
        }
    }
    etp_paired *const into[FACTORS] = {&out->speedup, &out->cycles,       &out->clock,
                                       &out->busy,    &out->instructions, &out->per_cycle};
    for (int f = 0; f < FACTORS; f++) {
        *into[f] = etp_paired_estimate(column[f], k[f], margin, confidence, options->seed);
        if (options->sequential) {
            etp_paired_widen(into[f], etp_sequential_widening(k[f]), margin);
        }
    }
    return ETP_OK;
}
