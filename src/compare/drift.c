// SPDX-License-Identifier: Apache-2.0
// Times that change over the session, and what changed with them: the hottest zone, the fastest
// clock.
#include <math.h>

#include <etprof/stats.h>

#include "compare/session.h"

static double clock_of(uint64_t khz)
{
    return khz == UINT64_MAX || khz == 0 ? (double)NAN : (double)khz;
}

// Correlation of ARM's launch values with one of the two; NAN when it was not read or did not
// change.
static etp_status correlate(const etp_ab_session *s, uint32_t arm, bool clock, double *out,
                            etp_error *err)
{
    const etp_stats *st = &s->stats;
    double *values = ETP_NEW_ARRAY(s->ab.arena, double, st->n_blocks_seen + 1);
    double *with = ETP_NEW_ARRAY(s->ab.arena, double, st->n_blocks_seen + 1);
    size_t n = 0;
    for (uint32_t b = 0; b < st->n_blocks_seen; b++) {
        double was = NAN, value = st->value_ln[(size_t)b * st->n_arms + arm];
        const etp_run_block *block = etp_run_block_of(&s->run, st->block_numbers[b]);
        if (block && clock) {
            was = etp_run_between(clock_of(block->start.freq_max_khz),
                                  clock_of(block->end.freq_max_khz));
        } else if (block) {
            was = etp_run_between(block->start.temperature_c, block->end.temperature_c);
        }
        if (isfinite(value) && isfinite(was)) {
            values[n] = value;
            with[n++] = was;
        }
    }
    *out = (double)NAN;
    return n >= ETP_MIN_BLOCKS ? etp_rank_correlation(values, with, n, s->ab.arena, out, err)
                               : ETP_OK;
}

etp_status etp_ab_drift_of(const etp_ab_session *s, uint32_t arm, etp_ab_arm *out, etp_error *err)
{
    out->drift.per_block = s->stats.arms[arm].drift_per_block;
    out->drift.p = s->stats.arms[arm].drift_p;
    out->drift.known = isfinite(out->drift.per_block);
    ETP_TRY(correlate(s, arm, false, &out->drift.with_temperature, err));
    return correlate(s, arm, true, &out->drift.with_clock, err);
}
