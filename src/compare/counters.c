// SPDX-License-Identifier: Apache-2.0
// What the processor counted: per arm and, as work, clock and waiting, per comparison.
#include "compare/counters.h"

#include <math.h>
#include <string.h>

#include "compare/session.h"

// ---- launch values ----

enum { CPU, CYCLES, INSTRUCTIONS, MISSES, COUNTS };

typedef struct columns { // ln of the kept iterations of one launch
    double *v[COUNTS];
    size_t n[COUNTS];
} columns;

static void add(columns *c, int which, uint64_t v)
{
    if (v > 0) {
        c->v[which][c->n[which]++] = log((double)v);
    }
}

// The same iterations that the launch's time is the median of: timed, and after what the warm-up
// rule dropped.
static void collect(const etp_run_launch *launch, const etp_launch_stats *l, columns *c)
{
    uint64_t first = launch->counted.n - l->iterations + l->warmup.dropped;
    memset(c->n, 0, sizeof c->n);
    if (l->iterations > launch->counted.n) { // not the launch that was timed
        return;
    }
    for (uint64_t i = first; i < launch->counted.n; i++) {
        const etp_run_counts *at = &launch->counted.items[i];
        add(c, CPU, at->cpu_ns);
        add(c, CYCLES, at->cycles);
        add(c, INSTRUCTIONS, at->instructions);
        add(c, MISSES, at->cache_misses);
    }
}

// Of short iterations the runner counts each 16th at the rarest. Where fewer were, something went
// wrong.
static double value(columns *c, int which, uint64_t kept)
{
    return c->n[which] * 20 >= kept && kept > 0 ? etp_median(c->v[which], c->n[which])
                                                : (double)NAN;
}

// ---- arms and comparisons ----

static etp_counters_arm arm_of(const etp_stats *st, uint32_t arm, const etp_counted *cells,
                               const double *misses)
{
    double sum[5] = {0};
    uint32_t n[5] = {0};
    for (size_t b = 0; b < st->n_blocks_seen; b++) {
        size_t at = b * st->n_arms + arm;
        const double v[5] = {cells[at].time_ln, cells[at].cpu_ln, cells[at].cycles_ln,
                             cells[at].instructions_ln, misses[at]};
        for (int k = 0; k < 5 && isfinite(cells[at].cycles_ln) && isfinite(cells[at].cpu_ln); k++) {
            sum[k] += etp_known_or_0(v[k]);
            n[k] += isfinite(v[k]) != 0;
        }
    }
    double mean[5];
    for (int k = 0; k < 5; k++) {
        mean[k] = exp(etp_share(sum[k], n[k]));
    }
    return (etp_counters_arm){.blocks = n[2],
                              .time_ns = mean[0],
                              .cpu_ns = mean[1],
                              .cycles = mean[2],
                              .instructions = mean[3],
                              .cache_misses = mean[4],
                              .clock_ghz = mean[2] / mean[1],
                              .busy = mean[1] / mean[0],
                              .per_cycle = mean[3] / mean[2]};
}

static void take_reason(const etp_run *run, etp_arena *arena, etp_counters *out)
{
    for (size_t i = 0; i < run->facts.n; i++) {
        etp_run_fact f = run->facts.items[i];
        if (etp_str_eqz(f.key, "counters")) {
            etp_str none = ETP_STR("none: ");
            bool refused = etp_str_starts(f.value, none);
            out->why = refused ? etp_arena_strdup(arena, (etp_str){f.value.ptr + none.len,
                                                                   f.value.len - none.len})
                               : "the runner can count, but no launch was counted";
        } else if (etp_str_eqz(f.key, "counters_fix")) {
            out->fix = etp_arena_strdup(arena, f.value);
        }
    }
}

etp_status etp_counters_build(const etp_run *run, const etp_stats *st, etp_arena *arena,
                              etp_counters *out, etp_error *err)
{
    size_t n = (size_t)st->n_blocks_seen * st->n_arms;
    etp_counted *cells = ETP_NEW_ARRAY(arena, etp_counted, n + 1);
    etp_counted *side[2] = {ETP_NEW_ARRAY(arena, etp_counted, st->n_blocks_seen + 1),
                            ETP_NEW_ARRAY(arena, etp_counted, st->n_blocks_seen + 1)};
    double *misses = ETP_NEW_ARRAY(arena, double, n + 1); // by the places of CELLS
    *out = (etp_counters){.arms = ETP_NEW_ARRAY(arena, etp_counters_arm, st->n_arms + 1),
                          .splits = ETP_NEW_ARRAY(arena, etp_clock_split, st->n_comparisons + 1)};
    double none = (double)NAN;
    for (size_t i = 0; i < n; i++) {
        cells[i] = (etp_counted){none, none, none, none};
        misses[i] = none;
    }
    size_t longest = 1;
    for (size_t i = 0; i < st->n_launches; i++) {
        longest = ETP_MAX(st->launches[i].iterations, longest);
    }
    columns work = {.n = {0}};
    for (int k = 0; k < COUNTS; k++) {
        work.v[k] = ETP_NEW_ARRAY(arena, double, longest);
    }
    for (size_t i = 0; i < st->n_launches; i++) {
        const etp_launch_stats *l = &st->launches[i];
        const etp_run_launch *launch =
            l->control ? NULL : etp_run_timed_launch(run, l->block, l->launch);
        size_t block = etp_ab_block_index(st, l->block);
        if (!launch || launch->counted.events == ETP_EVENTS_NONE || block == SIZE_MAX ||
            l->arm >= st->n_arms) {
            continue;
        }
        collect(launch, l, &work);
        uint64_t kept = l->iterations - l->warmup.dropped;
        size_t at = block * st->n_arms + l->arm;
        cells[at] = (etp_counted){st->value_ln[at], value(&work, CPU, kept),
                                  value(&work, CYCLES, kept), value(&work, INSTRUCTIONS, kept)};
        misses[at] = launch->counted.cache.len ? value(&work, MISSES, kept) : none;
        out->events = ETP_OR(out->events, launch->counted.events);
        if (launch->counted.cache.len && !out->cache) {
            out->cache = etp_arena_strdup(arena, launch->counted.cache);
        }
        out->scaled += launch->counted.scaled;
        out->counted += launch->counted.n;
    }
    take_reason(run, arena, out);
    for (uint32_t a = 0; a < st->n_arms; a++) {
        out->arms[a] = arm_of(st, a, cells, misses);
        out->arms[a].events = out->events;
        out->arms[a].cache = out->cache;
    }
    etp_stats_options how = etp_ab_stats_options(run, 0, st->margin);
    how.confidence = st->confidence;
    for (uint32_t i = 0; i < st->n_comparisons; i++) {
        const uint32_t arms[2] = {st->comparisons[i].baseline, st->comparisons[i].candidate};
        for (size_t b = 0; b < st->n_blocks_seen; b++) {
            side[0][b] = cells[b * st->n_arms + arms[0]];
            side[1][b] = cells[b * st->n_arms + arms[1]];
        }
        ETP_TRY(etp_clock_split_of(side[0], side[1], st->n_blocks_seen, &how, arena,
                                   &out->splits[i], err));
    }
    return ETP_OK;
}
