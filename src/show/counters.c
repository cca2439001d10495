// SPDX-License-Identifier: Apache-2.0
// What the processor counted, as JSON and as a section.
#include "show/counters.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "document/document.h"
#include "document/rows.h"
#include "show/report.h"
#include "show/times.h"

// ---- JSON ----

WORDS(k_events, etp_counter_events_name, etp_counter_events, ETP_EVENTS_KINDS)
KNOWN(has_paired_blocks, etp_paired, it->blocks > 0)

#define OF etp_counters_arm
#define MEAN(key, what) FIELD(#key, RATIO, key, what)
static const etp_field k_arm_rows[] = {
    FIELD("events", WORD, events, "what was counted", .words = &k_events),
    FIELD("blocks", UINT, blocks, "with counted launches", .range = ETP_FROM_1),
    MEAN(cycles, "of all threads"),
    MEAN(instructions, "likewise"),
    MEAN(per_cycle, "instructions ÷ cycles"),
    MEAN(clock_ghz, "cycles ÷ CPU time"),
    MEAN(busy, "CPU time ÷ time"),
    MEAN(cache_misses, "of what `cache` says"),
    FIELD("cache", TEXT, cache, "what cache misses are counted"),
};
SHAPE_ON_ONE_LINE(k_etp_counters_arm, k_arm_rows);
#undef OF
#define OF etp_paired
static const etp_field k_factor_rows[] = {
    ESTIMATE("above 1: makes the candidate faster"),
    FIELD("verdict", WORD, verdict, "of the candidate", .words = &k_etp_verdict_words),
};
static SHAPE_ON_ONE_LINE(k_factor, k_factor_rows);
#undef OF
#define OF etp_clock_split
#define FACTOR(key, what) \
    FIELD(#key, OBJECT, key, what, .shape = &k_factor, .when = has_paired_blocks)
static const etp_field k_split_rows[] = {
    FIELD("blocks", UINT, cycles.blocks, "in which both arms were counted", .range = ETP_FROM_1),
    FACTOR(speedup, "of these blocks: cycles × clock × busy"),
    FACTOR(cycles, "baseline ÷ candidate: instructions × per_cycle"),
    FACTOR(clock, "candidate ÷ baseline"),
    FACTOR(busy, "CPUs at work, candidate ÷ baseline"),
    FACTOR(instructions, "baseline ÷ candidate"),
    FACTOR(per_cycle, "candidate ÷ baseline"),
};
SHAPE(k_etp_counters_split, k_split_rows);
#undef OF

// Arms exist where anything was counted at all; one whose launches were not has 0 blocks.
const etp_counters_arm *etp_counters_arm_at(const etp_counters *c, size_t arm)
{
    return c->events && c->arms[arm].blocks > 0 ? &c->arms[arm] : NULL;
}

const etp_clock_split *etp_counters_split_at(const etp_counters *c, size_t comparison)
{
    return c->splits && c->splits[comparison].cycles.blocks > 0 ? &c->splits[comparison] : NULL;
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

// 3 significant digits with k, M, G.
static etp_cell count_cell(double v, etp_arena *arena)
{
    static const char *const k_units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    // Three digits of 999.5 would read 1000.
    for (; v >= 999.5 && unit < 4; unit++) {
        v /= 1000;
    }
    return etp_cell_z(isfinite(v) ? etp_arena_printf(arena, "%s%s", ETP_DIGITS(v, 3), k_units[unit])
                                  : NULL);
}

static etp_cell number_cell(double v, const char *unit, etp_arena *arena)
{
    return etp_cell_z(isfinite(v) ? etp_arena_printf(arena, "%s%s", ETP_DIGITS(v, 3), unit) : NULL);
}

// Units differ from row to row, so the arms' figures are texts; only the factor is a number that
// can be sorted.
static void put(etp_table *t, const char *what, const char *of, etp_cell before, etp_cell after,
                const etp_paired *p, double margin, etp_arena *arena)
{
    if (p->blocks > 0) {
        ETP_ROW(t, etp_cell_z(what), etp_cell_z(of), before, after, etp_cell_double(p->estimate),
                etp_cell_double(p->lo), etp_cell_double(p->hi), etp_cell_u64(p->blocks),
                etp_cell_z(etp_verdict_cell(arena, p->verdict, p->lo, p->hi, p->blocks, margin)));
    }
}

// The first four rows are the identity speedup = cycles × clock × CPUs at work; the last two take
// cycles apart in the same way.
static void put_split(const etp_counters *c, const etp_counters_names *who,
                      const etp_clock_split *s, etp_table *t, etp_arena *arena)
{
    const etp_counters_arm *b = &c->arms[who->baseline_arm], *x = &c->arms[who->candidate_arm];
    const char *of = who->candidate;
    const double margin = who->margin;
    put(t, "speedup", of, etp_ab_time_cell(arena, b->time_ns), etp_ab_time_cell(arena, x->time_ns),
        &s->speedup, margin, arena);
    put(t, "= cycles", of, count_cell(b->cycles, arena), count_cell(x->cycles, arena), &s->cycles,
        margin, arena);
    put(t, "× clock", of, number_cell(b->clock_ghz, " GHz", arena),
        number_cell(x->clock_ghz, " GHz", arena), &s->clock, margin, arena);
    put(t, "× CPUs at work", of, number_cell(b->busy, "", arena), number_cell(x->busy, "", arena),
        &s->busy, margin, arena);
    put(t, "instructions", of, count_cell(b->instructions, arena),
        count_cell(x->instructions, arena), &s->instructions, margin, arena);
    put(t, "per cycle", of, number_cell(b->per_cycle, "", arena),
        number_cell(x->per_cycle, "", arena), &s->per_cycle, margin, arena);
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
                        etp_if(c->fix, "; what would allow it: "), ETP_OR(c->fix, ""));
        return;
    }
    etp_table *t = NULL;
    for (size_t i = 0; i < n; i++) {
        const etp_clock_split *s = &c->splits[i];
        if (s->cycles.blocks == 0 || comparisons[i].withheld) {
            continue;
        }
        if (!t) {
            t = etp_report_table(r, "clock_split", "Above 1: makes the candidate faster", k_factors,
                                 9);
        }
        const etp_counters_names *who = &comparisons[i];
        put_split(c, who, s, t, arena);
        if (c->cache) {
            const etp_counters_arm *b = &c->arms[who->baseline_arm],
                                   *x = &c->arms[who->candidate_arm];
            etp_cell none = etp_cell_missing();
            ETP_ROW(t, etp_cell_z("cache misses"), etp_cell_z(who->candidate),
                    count_cell(b->cache_misses, arena), count_cell(x->cache_misses, arena), none,
                    none, none, etp_cell_u64(ETP_MIN(b->blocks, x->blocks)), none);
        }
    }
    if (!t) {
        etp_report_note(
            r, ETP_INFO,
            "no breakdown: no comparison has blocks in which launches of both arms were counted");
    }
    if (t) {
        etp_report_note(r, ETP_PLAIN,
                        "speedup = cycles × clock × CPUs at work, where clock is cycles ÷ CPU time "
                        "and CPUs at work are CPU time ÷ time; "
                        "cycles = instructions ÷ per cycle. Counted in %s, all threads%s%s.",
                        c->events == ETP_EVENTS_PROCESS ? "the whole process, kernel included"
                                                        : "user space",
                        etp_if(c->cache, "; cache misses: "), ETP_OR(c->cache, ""));
    }
    if (c->scaled > 0) {
        etp_report_note(r, ETP_WARN,
                        "in %llu of %llu iterations the counters were shared with other programs: "
                        "what they saw was extrapolated",
                        (unsigned long long)c->scaled, (unsigned long long)c->counted);
    }
}

void etp_ab_counters_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_counters_names *names = ETP_NEW_ARRAY(arena, etp_counters_names, ab->n_comparisons + 1);
    for (size_t i = 0; names && i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        names[i] = (etp_counters_names){ab->arms[c->baseline].measured,
                                        ab->arms[c->candidate].measured,
                                        c->baseline,
                                        c->candidate,
                                        c->withheld != ETP_WITHHELD_NOT,
                                        c->margin};
    }
    if (names) {
        etp_counters_section(&ab->counters, names, ab->n_comparisons, r, arena);
    }
}
