// SPDX-License-Identifier: Apache-2.0
// Were the arms measured, or the other programs? CPU time beside the clock, and the A/A control
// beside the effect.
#include "base/choice.h"
#include "stats/internal.h"

#include <math.h>

#define INTERRUPTED 0.02 // of an iteration's time; a reading of the CPU time takes less
#define COUNTED 20   // one of so many kept iterations has a CPU time, or the launch's is not known
#define SAME_REACH 3 // margins that the A/A control may reach beside "same"

void etp_noise_of_launch(const etp_sample *const *kept, size_t n, double *scratch,
                         etp_launch_stats *out)
{
    // What a reading of the CPU time adds to it, more than the runner knows: some hundred ns, by
    // those that say more than the clock. Of an iteration that was interrupted nobody can tell.
    size_t asked = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept[i]->cpu_ns > kept[i]->duration_ns) {
            scratch[asked++] = (double)(kept[i]->cpu_ns - kept[i]->duration_ns);
        }
    }
    const double reading = asked > 0 ? etp_median(scratch, asked) : 0;
    double wall = 0, ran = 0;
    out->cpu_ln = out->waited = (double)NAN;
    for (size_t i = 0; i < n; i++) {
        double ns = (double)kept[i]->duration_ns, cpu = fmin((double)kept[i]->cpu_ns, ns);
        if (kept[i]->cpu_ns == 0) {
            continue;
        }
        // Nobody waits less than nothing, but the CPU's own median needs both sides of it: cut off
        // at the clock it would be the clock's.
        scratch[out->timed_cpu++] = log(fmax((double)kept[i]->cpu_ns - reading, 1));
        out->interrupted += ns - cpu > INTERRUPTED * ns;
        wall += ns;
        ran += cpu;
    }
    if (out->timed_cpu * COUNTED < n || out->timed_cpu == 0) {
        return;
    }
    out->waited = 1 - ran / wall;
    out->cpu_ln = etp_median(scratch, out->timed_cpu);
    if (out->timed_cpu == n) {
        return;
    }
    // An iteration that is asked runs longer than its neighbours, by a tenth where it takes one µs:
    // its CPU time is held against its own time, the difference against that of all.
    for (size_t i = 0, k = 0; i < n; i++) {
        if (kept[i]->cpu_ns > 0) {
            scratch[k++] = log((double)kept[i]->duration_ns);
        }
    }
    out->cpu_ln += out->value_ln - etp_median(scratch, out->timed_cpu);
}

void etp_noise_of_arm(const etp_stats *s, uint32_t arm, double otherwise, etp_stats_arm *out)
{
    double share = 0;
    uint64_t launches = 0, counted = 0, interrupted = 0;
    for (size_t i = 0; i < s->n_launches; i++) {
        const etp_launch_stats *l = &s->launches[i];
        if (l->arm == arm && isfinite(l->waited)) {
            share += l->waited;
            launches++;
            counted += l->timed_cpu;
            interrupted += l->interrupted;
        }
    }
    out->waited = launches > 0 ? share / (double)launches : otherwise;
    out->interrupted = etp_share_of(interrupted, counted);
}

// Over the blocks in which every launch of both arms has a CPU time.
static etp_paired by_cpu(const etp_stats *s, const etp_stats_comparison *c, double *ratios,
                         uint64_t seed)
{
    size_t k = 0, at = 0;
    for (size_t b = 0; b < s->n_blocks_seen; b++) {
        double sum[2] = {0, 0};
        size_t n[2] = {0, 0};
        for (; at < s->n_launches && s->launches[at].block == s->block_numbers[b]; at++) {
            const etp_launch_stats *l = &s->launches[at];
            if (!l->control && (l->arm == c->baseline || l->arm == c->candidate)) {
                sum[l->arm == c->candidate] += l->cpu_ln;
                n[l->arm == c->candidate]++;
            }
        }
        if (s->block_complete[b] && n[0] > 0 && n[1] > 0 && isfinite(sum[0] - sum[1])) {
            ratios[k++] = sum[0] / (double)n[0] - sum[1] / (double)n[1];
        }
    }
    return etp_paired_estimate(ratios, k, s->margin, s->confidence, seed);
}

static etp_contention contention_of(const etp_stats *s, const etp_stats_comparison *c)
{
    const etp_stats_arm *a = &s->arms[c->baseline], *b = &s->arms[c->candidate];
    const etp_paired *p = &c->paired;
    double reach = etp_interval_reach(&s->control);
    if (a->waited > ETP_WAIT_MOST || b->waited > ETP_WAIT_MOST) {
        return ETP_CONTENTION_WAITED;
    }
    // Of one launch nothing is known of its scatter: then a difference of the margin is enough.
    double most =
        isfinite(p->half_width_ln) ? fmax(p->half_width_ln, log1p(s->margin)) : log1p(s->margin);
    if (c->cpu.blocks > 0 && c->cpu.blocks == p->blocks &&
        fabs(c->cpu.mean_ln - p->mean_ln) > most) {
        return ETP_CONTENTION_CLOCKS;
    }
    if (reach > log1p(ETP_NOISE_MOST) && reach > fabs(p->mean_ln) / 2) {
        return ETP_CONTENTION_NOISE;
    }
    return ETP_CONTENTION_NONE;
}

double etp_interval_reach(const etp_interval *ratio)
{
    return ratio->lo > 0 && isfinite(ratio->hi) // zeroed: there is none
               ? fmax(fabs(log(ratio->lo)), fabs(log(ratio->hi)))
               : (double)NAN;
}

etp_verdict etp_verdict_beside(const etp_paired *p, const etp_interval *control, double margin)
{
    double reach = etp_interval_reach(control); // NAN: below neither
    bool lost = p->verdict == ETP_VERDICT_SAME ? reach > SAME_REACH * log1p(margin)
                                               : fabs(p->mean_ln) <= reach;
    return lost ? ETP_VERDICT_UNKNOWN : p->verdict;
}

void etp_noise_of_comparisons(etp_stats *s)
{
    for (uint32_t i = 0; i < s->n_comparisons; i++) {
        etp_stats_comparison *c = &s->comparisons[i];
        c->contention = contention_of(s, c);
        etp_verdict verdict = etp_verdict_beside(&c->paired, &s->control, s->margin);
        if (verdict != c->paired.verdict) {
            c->paired.verdict = verdict;
            c->more_blocks = ETP_BLOCKS_UNKNOWN; // more blocks narrow the interval, not the noise
        }
    }
}

void etp_noise_by_cpu(etp_stats *s, double *ratios, const etp_stats_options *options)
{
    for (uint32_t i = 0; i < s->n_comparisons; i++) {
        etp_stats_comparison *c = &s->comparisons[i];
        c->cpu = by_cpu(s, c, ratios, options->seed);
        if (options->sequential) {
            etp_paired_widen(&c->cpu, etp_sequential_widening(c->cpu.blocks), s->margin);
        }
    }
}
