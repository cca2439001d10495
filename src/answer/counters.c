// SPDX-License-Identifier: Apache-2.0
// Builds the counters' part of an answer, and shows it as JSON and as a section.
#include "answer/counters.h"

#include <math.h>
#include <string.h>

#include "answer/ab/build.h"
#include "answer/document.h"
#include "base/number.h"

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

static size_t block_index(const etp_stats *st, uint32_t block)
{
    size_t i = 0;
    while (i < st->n_blocks_seen && st->block_numbers[i] != block) {
        i++;
    }
    return i;
}

// Rows of misses lie beside those of the etp_counted.
static etp_status take_launches(const etp_run *run, const etp_stats *st, etp_counted *cells,
                                double *misses, etp_arena *arena, etp_counters *out, etp_error *err)
{
    size_t longest = 1;
    for (size_t i = 0; i < st->n_launches; i++) {
        longest = st->launches[i].iterations > longest ? st->launches[i].iterations : longest;
    }
    columns work = {.n = {0}};
    for (int k = 0; k < COUNTS; k++) {
        work.v[k] = ETP_NEW_ARRAY(arena, double, longest);
        if (!work.v[k]) {
            return etp_fail_nomem(err, "counters");
        }
    }
    for (size_t i = 0; i < st->n_launches; i++) {
        const etp_launch_stats *l = &st->launches[i];
        const etp_run_launch *launch =
            l->control ? NULL : etp_run_launch_find(run, l->block, l->launch, ETP_LAUNCH_TIMED);
        size_t block = block_index(st, l->block);
        if (!launch || launch->counted.n == 0 || block == st->n_blocks_seen ||
            l->arm >= st->n_arms) {
            continue;
        }
        collect(launch, l, &work);
        uint64_t kept = l->iterations - l->warmup.dropped;
        etp_counted *at = &cells[block * st->n_arms + l->arm];
        *at = (etp_counted){st->value_ln[block * st->n_arms + l->arm], value(&work, CPU, kept),
                            value(&work, CYCLES, kept), value(&work, INSTRUCTIONS, kept)};
        misses[block * st->n_arms + l->arm] =
            launch->counted.cache.len ? value(&work, MISSES, kept) : (double)NAN;
        out->events = out->events ? out->events : etp_arena_strdup(arena, launch->counted.events);
        if (launch->counted.cache.len && !out->cache) {
            out->cache = etp_arena_strdup(arena, launch->counted.cache);
        }
        out->scaled += launch->counted.scaled;
        out->counted += launch->counted.n;
    }
    return ETP_OK;
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
            sum[k] += isfinite(v[k]) ? v[k] : 0;
            n[k] += isfinite(v[k]) ? 1u : 0u;
        }
    }
    double mean[5];
    for (int k = 0; k < 5; k++) {
        mean[k] = n[k] ? exp(sum[k] / n[k]) : (double)NAN;
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
    double *misses = ETP_NEW_ARRAY(arena, double, n + 1);
    *out = (etp_counters){.arms = ETP_NEW_ARRAY(arena, etp_counters_arm, st->n_arms + 1),
                          .splits = ETP_NEW_ARRAY(arena, etp_clock_split, st->n_comparisons + 1)};
    if (!cells || !side[0] || !side[1] || !misses || !out->arms || !out->splits) {
        return etp_fail_nomem(err, "counters");
    }
    double none = (double)NAN;
    for (size_t i = 0; i < n; i++) {
        cells[i] = (etp_counted){none, none, none, none};
        misses[i] = none;
    }
    ETP_TRY(take_launches(run, st, cells, misses, arena, out, err));
    take_reason(run, arena, out);
    for (uint32_t a = 0; a < st->n_arms; a++) {
        out->arms[a] = arm_of(st, a, cells, misses);
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

// ---- JSON ----

void etp_counters_arm_json(const etp_counters *c, uint32_t arm, etp_json *j)
{
    const etp_counters_arm *a = c->events ? &c->arms[arm] : NULL;
    etp_json_key(j, "counters");
    if (!a || a->blocks == 0) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "events", c->events);
    etp_json_kv_u64(j, "blocks", a->blocks);
    etp_json_kv_ratio(j, "cycles", a->cycles);
    etp_json_kv_ratio(j, "instructions", a->instructions);
    etp_json_kv_ratio(j, "per_cycle", a->per_cycle);
    etp_json_kv_ratio(j, "clock_ghz", a->clock_ghz);
    etp_json_kv_ratio(j, "busy", a->busy);
    etp_json_kv_ratio(j, "cache_misses", a->cache_misses);
    etp_json_kv_z(j, "cache", c->cache);
    etp_json_end(j);
}

static void factor_json(etp_json *j, const char *key, const etp_paired *p)
{
    etp_json_key(j, key);
    if (p->blocks == 0) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_estimate_members(j, p->estimate, p->lo, p->hi);
    etp_json_kv_z(j, "verdict", etp_verdict_name(p->verdict));
    etp_json_end(j);
}

void etp_counters_split_json(const etp_counters *c, uint32_t comparison, bool withheld, etp_json *j)
{
    const etp_clock_split *s = c->splits && !withheld ? &c->splits[comparison] : NULL;
    etp_json_key(j, "counters");
    if (!s || s->cycles.blocks == 0) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "blocks", s->cycles.blocks);
    factor_json(j, "speedup", &s->speedup);
    factor_json(j, "cycles", &s->cycles);
    factor_json(j, "clock", &s->clock);
    factor_json(j, "busy", &s->busy);
    factor_json(j, "instructions", &s->instructions);
    factor_json(j, "per_cycle", &s->per_cycle);
    etp_json_end(j);
}

// ---- section ----

static const etp_column k_factors[] = {
    {.key = "what", .title = "what"},
    {.key = "candidate_arm", .title = "of", .flags = ETP_COL_CODE},
    {.key = "baseline", .title = "baseline"},
    {.key = "candidate", .title = "candidate"},
    {.key = "factor", .title = "factor", .kind = ETP_KIND_RATIO, .decimals = 3},
    {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO, .decimals = 3},
    {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO, .decimals = 3},
    {.key = "blocks", .title = "blocks", .kind = ETP_KIND_INT},
    {.key = "verdict", .title = "verdict"},
};

static etp_cell time_cell(double ns, etp_arena *arena)
{
    char text[ETP_NUMBER_CHARS];
    return etp_cell_z(isfinite(ns) ? etp_arena_printf(arena, "%s", etp_format_ns(ns, text)) : NULL);
}

// 3 significant digits with k, M, G.
static etp_cell count_cell(double v, etp_arena *arena)
{
    static const char *const k_units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    for (; v >= 999.5 && unit < 4; unit++) {
        v /= 1000;
    }
    return etp_cell_z(isfinite(v) ? etp_arena_printf(arena, "%.3g%s", v, k_units[unit]) : NULL);
}

static etp_cell number_cell(double v, const char *unit, etp_arena *arena)
{
    return etp_cell_z(isfinite(v) ? etp_arena_printf(arena, "%.3g%s", v, unit) : NULL);
}

static void put(etp_table *t, const char *what, const char *of, etp_cell before, etp_cell after,
                const etp_paired *p)
{
    if (p->blocks > 0) {
        ETP_ROW(t, etp_cell_z(what), etp_cell_z(of), before, after, etp_cell_double(p->estimate),
                etp_cell_double(p->lo), etp_cell_double(p->hi), etp_cell_u64(p->blocks),
                etp_cell_z(etp_verdict_name(p->verdict)));
    }
}

static void put_split(const etp_counters *c, const etp_counters_names *who,
                      const etp_clock_split *s, etp_table *t, etp_arena *arena)
{
    const etp_counters_arm *b = &c->arms[who->baseline_arm], *x = &c->arms[who->candidate_arm];
    const char *of = who->candidate;
    put(t, "speedup", of, time_cell(b->time_ns, arena), time_cell(x->time_ns, arena), &s->speedup);
    put(t, "= cycles", of, count_cell(b->cycles, arena), count_cell(x->cycles, arena), &s->cycles);
    put(t, "× clock", of, number_cell(b->clock_ghz, " GHz", arena),
        number_cell(x->clock_ghz, " GHz", arena), &s->clock);
    put(t, "× CPUs at work", of, number_cell(b->busy, "", arena), number_cell(x->busy, "", arena),
        &s->busy);
    put(t, "instructions", of, count_cell(b->instructions, arena),
        count_cell(x->instructions, arena), &s->instructions);
    put(t, "per cycle", of, number_cell(b->per_cycle, "", arena),
        number_cell(x->per_cycle, "", arena), &s->per_cycle);
}

static void arms_alone(const etp_counters *c, const etp_counters_names *who, etp_table *t,
                       etp_arena *arena)
{
    const uint32_t arms[2] = {who->baseline_arm, who->candidate_arm};
    const etp_counters_arm *b = &c->arms[arms[0]], *x = &c->arms[arms[1]];
    if (!c->cache) {
        return;
    }
    etp_cell none = etp_cell_missing();
    ETP_ROW(t, etp_cell_z("cache misses"), etp_cell_z(who->candidate),
            count_cell(b->cache_misses, arena), count_cell(x->cache_misses, arena), none, none,
            none, etp_cell_u64(b->blocks < x->blocks ? b->blocks : x->blocks), none);
}

void etp_counters_section(const etp_counters *c, const etp_counters_names *comparisons, size_t n,
                          etp_report *r, etp_arena *arena)
{
    if (!c->events && !c->why) {
        return; // folders of before
    }
    etp_report_section(r, 1, "counters", "Cycles and clock");
    etp_report_section_is_detail(r);
    if (!c->events) {
        etp_report_note(r, ETP_INFO, "not counted: %s%s%s", c->why,
                        c->fix ? "; what would allow it: " : "", c->fix ? c->fix : "");
        return;
    }
    etp_table *t = NULL;
    for (size_t i = 0; i < n; i++) {
        const etp_clock_split *s = &c->splits[i];
        if (s->cycles.blocks == 0 || comparisons[i].withheld) {
            continue;
        }
        t = t ? t
              : etp_report_table(r, "clock_split", "Above 1: makes the candidate faster", k_factors,
                                 9);
        put_split(c, &comparisons[i], s, t, arena);
        arms_alone(c, &comparisons[i], t, arena);
    }
    if (!t) {
        etp_report_note(
            r, ETP_INFO,
            "nothing to take apart: no comparison has blocks with counted launches of both arms");
    }
    if (t) {
        etp_report_note(r, ETP_PLAIN,
                        "speedup = cycles × clock × CPUs at work, where clock is cycles ÷ CPU time "
                        "and CPUs at work are CPU time ÷ time; "
                        "cycles = instructions ÷ per cycle. Counted in %s, all threads%s%s.",
                        strcmp(c->events, "process") == 0 ? "the whole process, kernel included"
                                                          : "user space",
                        c->cache ? "; cache misses: " : "", c->cache ? c->cache : "");
    }
    if (c->scaled > 0) {
        etp_report_note(r, ETP_WARN,
                        "in %llu of %llu iterations the counters were shared with other programs: "
                        "what they saw was extrapolated",
                        (unsigned long long)c->scaled, (unsigned long long)c->counted);
    }
}
