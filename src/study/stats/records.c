// SPDX-License-Identifier: Apache-2.0
// What a run folder wrote down, held against its samples: why iterations were slow, and whether the
// blocks' times go with temperature or clock.
#include <math.h>

#include "base/guard.h"
#include "study/stats/answer.h"

static double clock_of(const etp_run_moment *m)
{
    return m->freq_max_khz == UINT64_MAX || m->freq_max_khz == 0 ? (double)NAN
                                                                 : (double)m->freq_max_khz;
}

static double block_clock(const etp_run *run, uint32_t number)
{
    const etp_run_block *b = etp_run_block_of(run, number);
    return b ? etp_run_between(clock_of(&b->start), clock_of(&b->end)) : (double)NAN;
}

static double block_temperature(const etp_run *run, uint32_t number)
{
    const etp_run_block *b = etp_run_block_of(run, number);
    return b ? etp_run_between(b->start.temperature_c, b->end.temperature_c) : (double)NAN;
}

static etp_status link_blocks(const etp_stats *s, const etp_run *run,
                              double (*reading)(const etp_run *, uint32_t), etp_arena *arena,
                              struct etp_stats_link *out, etp_error *err)
{
    double *x = ETP_NEW_ARRAY(arena, double, s->n_blocks_seen);
    double *y = ETP_NEW_ARRAY(arena, double, s->n_blocks_seen);
    *out = (struct etp_stats_link){(double)NAN, (double)NAN, 0};
    for (size_t b = 0; b < s->n_blocks_seen; b++) {
        // A block without a reading or without values is overwritten by the next.
        x[out->n] = reading(run, s->block_numbers[b]);
        y[out->n] = etp_stats_block_mean(s, b);
        out->n += isfinite(x[out->n]) && isfinite(y[out->n]);
    }
    ETP_TRY(etp_rank_correlation(x, y, out->n, arena, &out->rho, err));
    out->p = etp_rank_correlation_p(out->rho, out->n);
    return ETP_OK;
}

// NAN is not recorded: no cause is made of what nobody looked at. The clock is that of the block,
// since nothing reads it launch by launch.
static etp_launch_record record_of(const etp_run *run, const etp_launch_stats *launch)
{
    etp_launch_record out = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    const etp_run_launch *l = etp_run_timed_launch(run, launch->block, launch->launch);
    if (l) {
        etp_run_wait waited = {0};
        etp_run_wait_add(&waited, l);
        // While the inferences ran, where that is recorded; else of the launch with its loading.
        out.waited_share = l->run_span_ns > 0 ? (double)l->run_wait_ns / (double)l->run_span_ns
                                              : etp_run_wait_share(&waited);
        out.migrations = etp_value_if(l->migrations != UINT64_MAX, (double)l->migrations);
        out.major_faults = (double)l->major_faults;
        out.switches = (double)l->involuntary_switches;
    }
    out.clock = block_clock(run, launch->block);
    return out;
}

static etp_status take_records(etp_stats_answer *a, const etp_run *run, etp_arena *arena,
                               etp_error *err)
{
    const etp_stats *s = &a->stats;
    double *clocks = ETP_NEW_ARRAY(arena, double, run->blocks.n + 1);
    a->slow = etp_arena_alloc_array(arena, s->n_arms, sizeof *a->slow);
    // Over all blocks of the session, against which a single block's clock is low or not.
    size_t n = 0;
    for (size_t i = 0; i < run->blocks.n; i++) {
        clocks[n] = block_clock(run, run->blocks.items[i].block);
        n += isfinite(clocks[n]) != 0;
    }
    double usual = etp_median(clocks, n);
    for (size_t i = 0; i < s->n_launches; i++) {
        const etp_launch_stats *l = &s->launches[i];
        // tail counts the slow iterations of the launch. All of them get the launch's cause:
        // nothing finer is recorded.
        if (l->tail > 0 && !l->control) {
            etp_launch_record record = record_of(run, l);
            a->slow[l->arm][etp_slow_cause_of(&record, l->tail, usual)] += l->tail;
        }
    }
    ETP_TRY(link_blocks(s, run, block_temperature, arena, &a->temperature, err));
    ETP_TRY(etp_counters_build(run, s, arena, &a->counters, err));
    return link_blocks(s, run, block_clock, arena, &a->clock, err);
}

etp_status etp_stats_take_records(etp_stats_answer *a, const etp_run *run, etp_arena *arena,
                                  etp_error *err)
{
    ETP_GUARDED(arena, err, "records", take_records(a, run, arena, err));
}

etp_status etp_stats_take_withheld(etp_stats_answer *a, const etp_ab *ab, etp_arena *arena,
                                   etp_error *err)
{
    // Samples and answer were read one after the other: an arm of the later is no index of the
    // earlier unless both have the same.
    if (ab->n_arms != a->stats.n_arms) {
        return etp_fail(err, ETP_CORRUPT,
                        "%s: %zu experiments, %u when its samples were read; is it being written? "
                        "Try again when its session has ended",
                        ab->dir, (size_t)ab->n_arms, (unsigned)a->stats.n_arms);
    }
    a->withheld = ETP_NEW_ARRAY(arena, etp_withheld, a->stats.n_arms);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        a->withheld[ab->comparisons[i].candidate] = ab->comparisons[i].withheld;
    }
    return ETP_OK;
}
