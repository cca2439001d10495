// SPDX-License-Identifier: Apache-2.0
// The states of an arm, block by block: loading, first inference, steady, with the
// tracer. Each is compared as the headline is: one log ratio per block, t over the
// blocks.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <etprof/stats.h>

#include "compare/session.h"

// ---- once per launch ----

#define COST(what, unit_is_bytes, member) \
    {.title = what, .bytes = unit_is_bytes, .of_launch = offsetof(etp_run_launch, member)}
#define COLD(what, member) \
    {.title = what, .of_launch = offsetof(etp_run_launch, member), .kind = ETP_LAUNCH_COLD}
const etp_cost_row k_etp_costs[ETP_COSTS] = {
    [ETP_COST_LOAD] = COST("loading", false, load_ns),
    [ETP_COST_COLD_LOAD] = COLD("loading, cold page cache", load_ns),
    [ETP_COST_FIRST] = COST("first inference", false, first_ns),
    [ETP_COST_PEAK] = COST("peak memory", true, peak_rss_bytes),
    [ETP_COST_DIRTY] = COST("dirty memory", true, dirty_bytes),
    [ETP_COST_CLEAN] = COST("clean memory", true, clean_bytes),
};

uint64_t etp_cost_of(const etp_run_launch *l, etp_cost cost)
{
    uint64_t is;
    memcpy(&is, (const char *)l + k_etp_costs[cost].of_launch, sizeof is);
    return l->kind == k_etp_costs[cost].kind && l->cached_bytes == 0 ? is : 0;
}

// Per block and arm, ln; NAN where a launch does not tell.
typedef struct states {
    double *costs[ETP_COSTS], *traced; // [block * n_arms + arm]
    uint32_t n_arms;
} states;

size_t etp_ab_block_index(const etp_stats *st, uint32_t block)
{
    size_t low = 0, high = st->n_blocks_seen;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        *(st->block_numbers[mid] < block ? &low : &high) =
            st->block_numbers[mid] < block ? mid + 1 : mid;
    }
    return low < st->n_blocks_seen && st->block_numbers[low] == block ? low : SIZE_MAX;
}

// Where the runner did not write its iterations down, what the recording holds of them:
// Method::execute.
static void take_recorded(const etp_ab_session *s, states *x, double *scratch)
{
    for (size_t d = 0; d < s->in.dumps.n; d++) {
        const etp_ab_dump *dump = &s->in.dumps.items[d];
        size_t b = dump->trace && dump->arm < x->n_arms ? etp_ab_block_index(&s->stats, dump->block)
                                                        : SIZE_MAX;
        if (b == SIZE_MAX || isfinite(x->traced[b * x->n_arms + dump->arm])) {
            continue;
        }
        const etp_trace_block *only = NULL;
        size_t kinds = 0;
        for (size_t i = 0; i < etp_trace_block_count(dump->trace); i++) {
            const etp_trace_block *block = etp_trace_block_at(dump->trace, i);
            only = block->has_execute ? block : only;
            kinds += block->has_execute;
        }
        if (kinds != 1) {
            continue;
        }
        const uint64_t *ns = etp_trace_durations(only, only->execute);
        size_t n = 0;
        for (size_t i = 0; i < only->n_runs && n < s->run.samples.n; i++) {
            if (ns[i] > 0) {
                scratch[n++] = log((double)ns[i]);
            }
        }
        x->traced[b * x->n_arms + dump->arm] = etp_median(scratch, n);
    }
}

// exp of the mean difference of two columns over the blocks that have both. WIDEN: as the headline.
static etp_paired ratio_of(const etp_ab_session *s, const double *top, uint32_t top_arm,
                           const double *bottom, uint32_t bottom_arm, bool widen, double *scratch)
{
    const etp_stats *st = &s->stats;
    size_t k = 0;
    for (uint32_t b = 0; b < st->n_blocks_seen; b++) {
        double v =
            top[(size_t)b * st->n_arms + top_arm] - bottom[(size_t)b * st->n_arms + bottom_arm];
        if (isfinite(v)) {
            scratch[k++] = v;
        }
    }
    if (k == 0) {
        return (etp_paired){.blocks = 0};
    }
    etp_paired p =
        etp_paired_estimate(scratch, k, st->margin, st->confidence, s->run.settings.seed);
    if (widen) {
        etp_paired_widen(&p, etp_sequential_widening(k), st->margin);
    }
    return p;
}

// What is not known within a factor of two has no estimate. Where 1 lies outside its direction is
// known all the same, and the near end is what it is at least.
static etp_paired resolved(etp_paired r)
{
    if (r.hi > 2 * r.lo) {
        r.estimate = (double)NAN;
    }
    return r;
}

static double *unknown(const etp_ab_session *s, size_t cells)
{
    double *column = ETP_NEW_ARRAY(s->ab.arena, double, cells + 1);
    for (size_t i = 0; i < cells; i++) {
        column[i] = (double)NAN;
    }
    return column;
}

void etp_ab_take_extra_ratios(const etp_ab_session *s, etp_ab_arm *arms,
                              etp_ab_comparison *comparisons)
{
    if (!s->has_stats || s->ab.emulated) {
        return;
    }
    double *scratch = ETP_NEW_ARRAY(s->ab.arena, double, s->stats.n_blocks_seen + 1);
    const etp_stats *st = &s->stats;
    size_t cells = (size_t)st->n_blocks_seen * st->n_arms;
    const etp_run *run = &s->run;
    states x = {.n_arms = st->n_arms};
    for (etp_cost cost = 0; cost < ETP_COSTS; cost++) {
        x.costs[cost] = unknown(s, cells);
    }
    x.traced = unknown(s, cells);
    double *rows = ETP_NEW_ARRAY(s->ab.arena, double, run->samples.n + 1);
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        size_t b = etp_ab_block_index(st, l->block);
        for (etp_cost cost = 0; cost < ETP_COSTS && b != SIZE_MAX && l->arm < x.n_arms; cost++) {
            const uint64_t is = etp_cost_of(l, cost);
            if (is > 0) {
                x.costs[cost][b * x.n_arms + l->arm] = log((double)is);
            }
        }
    }
    // Median of each traced launch. Rows of a launch lie together.
    for (size_t i = 0; i < run->samples.n;) {
        const etp_run_sample *first = &run->samples.items[i];
        size_t n = 0;
        for (; i < run->samples.n && run->samples.items[i].launch == first->launch; i++) {
            const etp_run_sample *r = &run->samples.items[i];
            if (r->phase == ETP_PHASE_TRACED && r->duration_ns > 0) {
                rows[n++] = log((double)r->duration_ns);
            }
        }
        size_t b = etp_ab_block_index(st, first->block);
        if (n > 0 && b != SIZE_MAX && first->arm < x.n_arms) {
            x.traced[b * x.n_arms + first->arm] = etp_median(rows, n);
        }
    }
    take_recorded(s, &x, rows);
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        arms[a].cold =
            resolved(ratio_of(s, x.costs[ETP_COST_FIRST], a, st->value_ln, a, false, scratch));
        arms[a].tracing_overhead =
            resolved(ratio_of(s, x.traced, a, st->value_ln, a, false, scratch));
    }
    const bool widen = etp_run_is_widened(run);
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        etp_ab_comparison *c = &comparisons[i];
        // What makes times doubtful does not change how many bytes there are.
        bool times_only = c->withheld == ETP_WITHHELD_CONTENDED ||
                          c->withheld == ETP_WITHHELD_NOISE_FLOOR ||
                          c->withheld == ETP_WITHHELD_CROWDED;
        for (etp_cost cost = 0; cost < ETP_COSTS; cost++) {
            if (!c->withheld || (times_only && k_etp_costs[cost].bytes)) {
                const double *of = x.costs[cost];
                c->costs[cost] =
                    resolved(ratio_of(s, of, c->baseline, of, c->candidate, widen, scratch));
            }
        }
    }
}

bool etp_ab_recording_known(const etp_paired *o)
{
    return o->blocks > 0 && isfinite(o->estimate) &&
           (fabs(o->estimate - 1) <= ETP_RECORDING_MUCH || o->lo > 1 || o->hi < 1);
}

double etp_ab_recording_adds(const etp_ab *ab)
{
    double most = (double)NAN;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_paired *o = &ab->arms[i].tracing_overhead;
        if (etp_ab_recording_known(o) && !(fabs(o->estimate - 1) <= fabs(most))) {
            most = o->estimate - 1;
        }
    }
    return most;
}

bool etp_ab_recording_hides(const etp_ab *ab)
{
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_paired *o = &ab->arms[i].tracing_overhead;
        if (o->blocks > 1 && !isfinite(o->estimate)) {
            return true;
        }
    }
    return etp_ab_recording_adds(ab) >= ETP_RECORDING_MOST;
}
