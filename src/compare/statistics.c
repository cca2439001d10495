// SPDX-License-Identifier: Apache-2.0
// What the samples and launches of a run folder say of each arm and each comparison.
#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/order.h"
#include "compare/session.h"

// Rows of one launch stand beside each other, in the order of the launches; *AT: where the last
// was.
static const etp_run_launch *launch_of(const etp_run *run, const etp_run_sample *in, size_t *at)
{
    etp_launch_kind kind = in->phase == ETP_PHASE_CONTROL ? ETP_LAUNCH_CONTROL : ETP_LAUNCH_TIMED;
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[(*at + i) % run->launches.n];
        if (l->launch == in->launch && l->block == in->block && l->kind == kind) {
            *at = (*at + i) % run->launches.n;
            return l;
        }
    }
    return NULL;
}

etp_stats_options etp_ab_stats_options(const etp_run *run, uint32_t baseline, double margin)
{
    // The coarsest of the phases that RUN has arms of: one, where each phase is answered by itself.
    uint64_t clock_ns = 0;
    for (size_t i = 0; i < run->arms.n; i++) {
        uint32_t phase = run->arms.items[i].phase;
        if (phase < run->phases.n) {
            clock_ns = ETP_MAX(run->phases.items[phase].clock_ns, clock_ns);
        }
    }
    return (etp_stats_options){.baseline = baseline,
                               .margin = margin,
                               .seed = run->settings.seed,
                               .sequential = etp_run_is_widened(run),
                               .clock_ns = (double)clock_ns};
}

void etp_ab_samples_of(const etp_run *run, etp_arena *arena, etp_sample **out)
{
    static const etp_sample_use k_uses[ETP_PHASES] = {
        [ETP_PHASE_WARMUP] = ETP_SAMPLE_UNUSED,   [ETP_PHASE_TIMED] = ETP_SAMPLE_TIMED,
        [ETP_PHASE_TRACED] = ETP_SAMPLE_TRACED,   [ETP_PHASE_SAMPLED] = ETP_SAMPLE_UNUSED,
        [ETP_PHASE_CONTROL] = ETP_SAMPLE_CONTROL,
    };
    *out = ETP_NEW_ARRAY(arena, etp_sample, run->samples.n);
    size_t at = 0;
    for (size_t i = 0; i < run->samples.n; i++) {
        const etp_run_sample *in = &run->samples.items[i];
        etp_sample_use use = k_uses[in->phase];
        bool compared = use == ETP_SAMPLE_TIMED || use == ETP_SAMPLE_CONTROL;
        const etp_run_launch *launch = compared ? launch_of(run, in, &at) : NULL;
        // Of several threads the CPU time is a sum, which says nothing of waiting.
        bool alone = launch && launch->arm == in->arm && run->arms.items[in->arm].threads == 1;
        bool known = alone && in->iteration < launch->counted.n;
        (*out)[i] = (etp_sample){.arm = in->arm,
                                 .block = in->block,
                                 .launch = in->launch,
                                 .iteration = in->iteration,
                                 .use = use,
                                 .duration_ns = in->duration_ns,
                                 .cpu_ns = known ? launch->counted.items[in->iteration].cpu_ns : 0};
    }
}

const double *etp_ab_waited_of(const etp_run *run, etp_arena *arena)
{
    double *out = ETP_NEW_ARRAY(arena, double, run->arms.n + 1);
    for (uint32_t arm = 0; arm < run->arms.n; arm++) {
        uint64_t span = 0, wait = 0;
        for (size_t i = 0; i < run->launches.n; i++) {
            const etp_run_launch *l = &run->launches.items[i];
            bool counts = l->arm == arm && l->kind == ETP_LAUNCH_TIMED;
            span += counts ? l->run_span_ns : 0;
            wait += counts ? l->run_wait_ns : 0;
        }
        out[arm] = etp_value_if(span > 0, fmin(1, (double)wait / (double)span));
    }
    return out;
}

etp_status etp_ab_run_statistics(const etp_ab_session *s, double margin,
                                 const etp_ab_session *whole, etp_stats *out, bool *out_known,
                                 etp_error *err)
{
    const etp_run *run = &s->run;
    etp_sample *samples;
    size_t timed = 0;
    *out_known = false;
    etp_ab_samples_of(run, s->ab.arena, &samples);
    for (size_t i = 0; i < run->samples.n; i++) {
        timed += samples[i].use == ETP_SAMPLE_TIMED;
    }
    if (timed == 0) {
        return ETP_OK;
    }
    etp_stats_options o = etp_ab_stats_options(run, s->ab.baseline, margin);
    o.waited = etp_ab_waited_of(run, s->ab.arena);
    ETP_TRY(etp_stats_analyze(samples, run->samples.n, (uint32_t)s->ab.n_arms, &o, s->ab.arena, out,
                              err));
    if (whole) {
        etp_stats_take_control(out, &whole->stats);
    }
    *out_known = true;
    return ETP_OK;
}

static void spread_of(const etp_ab_session *s, uint32_t arm, const double **out)
{
    const etp_run *run = &s->run;
    etp_arena scratch;
    etp_arena_scratch(&scratch, s->ab.arena);
    double *all = ETP_NEW_ARRAY(&scratch, double, run->samples.n + 1);
    double *spread = ETP_NEW_ARRAY(s->ab.arena, double, ETP_AB_SPREAD);
    size_t n = 0;
    for (size_t i = 0; i < run->samples.n; i++) {
        const etp_run_sample *one = &run->samples.items[i];
        if (one->arm == arm && one->phase == ETP_PHASE_TIMED) {
            all[n++] = (double)one->duration_ns;
        }
    }
    if (n > 0) {
        qsort(all, n, sizeof *all, etp_order_double);
        for (size_t q = 0; q < ETP_AB_SPREAD; q++) {
            spread[q] = all[(size_t)llround((double)(q * (n - 1)) / (ETP_AB_SPREAD - 1))];
        }
        *out = spread;
    }
    etp_arena_dispose(&scratch);
}

size_t etp_ab_time_arm(const etp_stats *st, uint32_t arm, double *ln, etp_ab_arm *out)
{
    size_t n = 0;
    for (uint32_t b = 0; b < st->n_blocks_seen; b++) {
        double value = st->value_ln[(size_t)b * st->n_arms + arm];
        if (st->block_complete[b] && isfinite(value)) {
            ln[n++] = value;
        }
    }
    const etp_stats_arm *in = &st->arms[arm];
    const etp_interval ci = n ? etp_mean_interval(ln, n, ETP_CONFIDENCE)
                              : (etp_interval){(double)NAN, (double)NAN, (double)NAN};
    // A few equal medians do not show that there is no spread.
    bool shown = n >= ETP_MIN_BLOCKS || ci.lo < ci.hi;
    out->launches = in->launches;
    out->samples = in->iterations;
    out->median_ns = in->median_ns < 0 ? ETP_NS_UNKNOWN : in->median_ns;
    out->lo_ns = etp_value_if(shown, exp(ci.lo));
    out->hi_ns = etp_value_if(shown, exp(ci.hi));
    out->waited = in->waited;
    out->interrupted = in->interrupted;
    return n;
}

void etp_ab_take_statistics(const etp_ab_session *s, etp_ab_arm *arms, etp_ab *out)
{
    const etp_stats *st = &s->stats;
    size_t n_values = (size_t)st->n_blocks_seen * st->n_arms;
    double *ln = ETP_NEW_ARRAY(s->ab.arena, double, st->n_blocks_seen + 1);
    double *values = ETP_NEW_ARRAY(s->ab.arena, double, n_values + 1);
    out->block_values = values;
    out->n_blocks = st->n_blocks_seen;
    for (uint32_t a = 0; a < st->n_arms; a++) {
        (void)etp_ab_time_arm(st, a, ln, &arms[a]);
        spread_of(s, a, &arms[a].spread);
    }
    for (size_t i = 0; i < n_values; i++) {
        values[i] = exp(st->value_ln[i]);
    }
}

static etp_ab_comparison paired_blocks(const etp_stats *st, uint32_t at)
{
    const etp_stats_comparison *c = &st->comparisons[at];
    return (etp_ab_comparison){
        .baseline = c->baseline,
        .candidate = c->candidate,
        .estimate = c->paired.estimate,
        .lo = c->paired.lo,
        .hi = c->paired.hi,
        .blocks = c->paired.blocks,
        .widening = c->paired.widening,
        .method = ETP_PAIRED_BLOCKS,
        .sign_flip_p = c->paired.sign_flip_p,
        .verdict = c->paired.verdict,
        .contention = c->contention,
        .by_cpu = c->cpu,
        .margin = st->margin,
        .noise_floor = st->noise_floor,
        .control = st->control,
        .control_blocks = st->control_blocks,
        .mann_whitney_p = NAN,
        .cliffs_delta = NAN,
    };
}

etp_ab_comparison *etp_ab_compare_times(const etp_ab_session *s, etp_withheld otherwise)
{
    const etp_stats *st = &s->stats;
    etp_ab_comparison *out = ETP_NEW_ARRAY(s->ab.arena, etp_ab_comparison, st->n_comparisons + 1);
    for (uint32_t i = 0; i < st->n_comparisons; i++) {
        const etp_ab_comparison measured = paired_blocks(st, i);
        out[i] = etp_ab_withhold(&s->ab, &measured, st->control_differs, otherwise);
    }
    return out;
}
