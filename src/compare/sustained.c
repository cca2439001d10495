// SPDX-License-Identifier: Apache-2.0
// The two ends of a long session, by the blocks that began in them.
#include <math.h>

#include <etprof/stats.h>

#include "base/number.h"
#include "compare/session.h"

// In seconds on the device's steady clock; NAN unknown.
static double begin_of(const etp_run_block *b)
{
    return b && b->start.time_ns != UINT64_MAX ? (double)b->start.time_ns / 1e9 : (double)NAN;
}

typedef struct sums {
    double celsius, khz;
    size_t n_celsius, n_khz;
} sums;

// Of the blocks that began FROM to TO. LOGS: room for one a block.
static void take_end(const etp_ab_session *s, size_t end, double from, double to, double *logs,
                     etp_ab_comparison *c)
{
    const etp_stats *st = &s->stats;
    etp_interval ln = {NAN, NAN, NAN};
    size_t n = 0;
    sums state = {0};
    for (size_t i = 0; i < st->n_blocks_seen; i++) {
        const etp_run_block *b = etp_run_block_of(&s->run, st->block_numbers[i]);
        double at = begin_of(b), was = st->value_ln[i * st->n_arms + c->baseline],
               is = st->value_ln[i * st->n_arms + c->candidate];
        if (at >= from && at <= to && isfinite(was - is)) {
            logs[n++] = was - is;
            if (isfinite(b->end.temperature_c)) {
                state.celsius += b->end.temperature_c;
                state.n_celsius++;
            }
            if (b->end.freq_max_khz != UINT64_MAX && b->end.freq_max_khz != 0) {
                state.khz += (double)b->end.freq_max_khz;
                state.n_khz++;
            }
        }
    }
    if (n >= ETP_MIN_BLOCKS) {
        ln = etp_mean_interval(logs, n, ETP_CONFIDENCE);
    }
    c->sustained.blocks[end] = n;
    c->sustained.ratio[end] = (etp_interval){exp(ln.estimate), exp(ln.lo), exp(ln.hi)};
    c->sustained.temperature_c[end] = etp_share(state.celsius, (double)state.n_celsius);
    c->sustained.clock_khz[end] = etp_share(state.khz, (double)state.n_khz);
}

void etp_ab_find_ends(const etp_ab_session *s, etp_ab_comparison *c)
{
    const etp_stats *st = &s->stats;
    double first = (double)NAN, last = (double)NAN;
    for (size_t i = 0; i < st->n_blocks_seen; i++) {
        double at = begin_of(etp_run_block_of(&s->run, st->block_numbers[i]));
        if (at < last) {
            return; // the device was started again in between: its clock began anew
        }
        first = isfinite(first) ? first : at;
        last = isfinite(at) ? at : last;
    }
    double *logs = ETP_NEW_ARRAY(s->ab.arena, double, st->n_blocks_seen + 1);
    if (!(last - first >= ETP_SUSTAINED_LEAST_S)) {
        return;
    }
    take_end(s, 0, first, first + ETP_SUSTAINED_S, logs, c);
    take_end(s, 1, last - ETP_SUSTAINED_S, last, logs, c);
    const etp_interval *a = &c->sustained.ratio[0], *z = &c->sustained.ratio[1];
    c->sustained.seconds = last - first;
    c->sustained.changed = z->hi < a->lo || z->lo > a->hi; // false for NAN
    c->sustained.turned = (a->lo > 1 && z->hi < 1) || (a->hi < 1 && z->lo > 1);
}

const char *etp_ab_sustained_words(const etp_ab_comparison *c, etp_arena *arena)
{
    const double seconds = c->sustained.seconds;
    const etp_interval *a = &c->sustained.ratio[0], *b = &c->sustained.ratio[1];
    const double *celsius = c->sustained.temperature_c, *khz = c->sustained.clock_khz;
    const char *heat = "", *clock = "";
    if (!(seconds > 0) || !isfinite(a->estimate) || !isfinite(b->estimate)) {
        return NULL;
    }
    if (isfinite(celsius[0]) && isfinite(celsius[1])) {
        heat = etp_arena_printf(arena, ", %.0f → %.0f °C", celsius[0], celsius[1]);
    }
    if (isfinite(khz[0]) && isfinite(khz[1])) {
        clock = etp_arena_printf(arena, ", %.2f → %.2f GHz", khz[0] / 1e6, khz[1] / 1e6);
    }
    return etp_arena_printf(arena, "%s in the first minute, %s in the last of %.1f min%s%s",
                            ETP_ESTIMATE(a->estimate, a->lo, a->hi, 2),
                            ETP_ESTIMATE(b->estimate, b->lo, b->hi, 2), seconds / 60, heat, clock);
}
