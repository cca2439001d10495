// SPDX-License-Identifier: Apache-2.0
// What the arms cost: steady and first inference, loading, memory, size on disk; each beside the
// other arm's, with its interval and verdict as the headline has them.
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "base/shell.h"
#include "document/document.h"
#include "show/report.h"
#include "show/screen.h"
#include "show/times.h"

static const char k_not_known[] = "not known here";

// From here on a difference is worth a line of the first screen.
#define CLEARLY 1.1
#define LEAST_NS 1e6
#define LEAST_BYTES 1e6

typedef struct row {
    const char *what;
    bool bytes;             // else nanoseconds
    int64_t is[2];          // of the baseline and the candidate
    etp_cell shown[2];      // the same, for people
    const char *unknown[2]; // why it is not known; NULL: as ever
    double ratio, lo, hi;   // NAN: none
    const char *verdict;    // NULL: none
} row;

// Why COST of ARM is not known.
static const char *unknown_words(const etp_ab_arm *arm, etp_cost cost)
{
    if (arm->foreign) {
        return "not told by its runner";
    }
    if (cost != ETP_COST_COLD_LOAD) {
        return NULL;
    }
    if (arm->emulated) {
        return "not in an emulator";
    }
    return arm->cached_bytes > 0 ? "stays cached" : "not measured";
}

// In a table for programs the whole number in the row's unit.
static etp_cell amount(const row *r, int side, etp_arena *arena)
{
    if (r->is[side] == ETP_NS_UNKNOWN || r->shown[side].type == ETP_CELL_MISSING) {
        return etp_cell_called("", r->unknown[side] ? r->unknown[side] : k_not_known);
    }
    etp_cell cell = etp_cell_z(etp_arena_printf(arena, "%" PRId64, r->is[side]));
    cell.called = r->shown[side].v.text;
    return cell;
}

static etp_cell disk_cell(int64_t bytes, etp_arena *arena)
{
    return bytes == ETP_NS_UNKNOWN
               ? etp_cell_missing()
               : etp_cell_z(etp_arena_strdup(arena, etp_str_from(ETP_BYTES((uint64_t)bytes))));
}

static void put(etp_table *t, const row *r, etp_arena *arena)
{
    const etp_cell unit =
        r->bytes ? etp_cell_called("bytes", "size") : etp_cell_called("ns", "time");
    ETP_ROW(t, etp_cell_z(r->what), unit, amount(r, 0, arena), amount(r, 1, arena),
            etp_cell_double(r->ratio), etp_cell_double(r->lo), etp_cell_double(r->hi),
            etp_cell_z(r->verdict));
}

static void put_steady(etp_table *t, const etp_ab_arm *b, const etp_ab_arm *x,
                       const etp_ab_comparison *c, etp_arena *arena)
{
    row r = {
        .what = "steady inference",
        .is = {b->median_ns, x->median_ns},
        .shown = {etp_ab_time_cell(arena, etp_known_ns(b->median_ns)),
               etp_ab_time_cell(arena, etp_known_ns(x->median_ns))},
        .ratio = NAN,
        .lo = NAN,
        .hi = NAN
    };
    if (c && c->withheld) {
        r.verdict = "withheld";
    } else if (c) {
        r.ratio = c->estimate, r.lo = c->lo, r.hi = c->hi;
        r.verdict = etp_verdict_cell(arena, c->verdict, c->lo, c->hi, c->blocks, c->margin);
    }
    put(t, &r, arena);
}

static void put_cost(etp_table *t, etp_cost cost, const etp_ab_arm *b, const etp_ab_arm *x,
                     const etp_ab_comparison *c, etp_arena *arena)
{
    row r = {
        .what = k_etp_costs[cost].title,
        .bytes = k_etp_costs[cost].bytes,
        .is = {b->costs[cost], x->costs[cost]},
        .shown = {etp_ab_cost_cell(b, cost, arena), etp_ab_cost_cell(x, cost, arena)},
        .unknown = {unknown_words(b, cost), unknown_words(x, cost)},
        .ratio = NAN,
        .lo = NAN,
        .hi = NAN
    };
    const etp_ab_ratio *ratio = c ? &c->costs[cost] : NULL;
    if (ratio && ratio->blocks > 0) {
        r.ratio = ratio->estimate, r.lo = ratio->lo, r.hi = ratio->hi;
        r.verdict = etp_ab_cost_verdict(ratio, cost, c->margin, arena);
    } else if (c && c->withheld && r.is[0] != ETP_NS_UNKNOWN && r.is[1] != ETP_NS_UNKNOWN) {
        r.verdict = "withheld";
    }
    put(t, &r, arena);
}

// A size is no estimate: it has no interval.
static void put_disk(etp_table *t, const etp_ab_arm *b, const etp_ab_arm *x, etp_arena *arena)
{
    row r = {
        .what = "size on disk",
        .bytes = true,
        .is = {b->disk_bytes, x->disk_bytes},
        .shown = {disk_cell(b->disk_bytes, arena), disk_cell(x->disk_bytes, arena)},
        .ratio = NAN,
        .lo = NAN,
        .hi = NAN
    };
    if (b->disk_bytes != ETP_NS_UNKNOWN && x->disk_bytes != ETP_NS_UNKNOWN) {
        r.ratio = (double)b->disk_bytes / (double)x->disk_bytes;
        r.verdict = x->disk_bytes < b->disk_bytes ? "less" : "more";
        r.verdict = x->disk_bytes == b->disk_bytes ? "same" : r.verdict;
    }
    put(t, &r, arena);
}

// C NULL: of one arm alone.
static void price_table(const char *id, const etp_ab_arm *b, const etp_ab_arm *x,
                        const etp_ab_comparison *c, etp_report *r, etp_arena *arena)
{
    const unsigned second = c ? 0 : ETP_COL_ABSENT;
    const etp_column columns[] = {
        {.key = "what", .title = "what"},
        {.key = "unit", .title = "kind", .flags = ETP_COL_MINOR},
        {.key = b->name, .title = b->measured, .flags = ETP_COL_FIGURES},
        {.key = x->name, .title = x->measured, .flags = ETP_COL_FIGURES | second},
        {.key = "ratio", .title = "ratio", .kind = ETP_KIND_RATIO, .flags = second},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO, .flags = second},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO, .flags = second},
        {.key = "verdict", .title = "verdict", .flags = second},
    };
    etp_table *t = etp_report_table(r, id, NULL, columns, 8);
    put_steady(t, b, x, c, arena);
    put_cost(t, ETP_COST_FIRST, b, x, c, arena);
    put_cost(t, ETP_COST_LOAD, b, x, c, arena);
    put_cost(t, ETP_COST_COLD_LOAD, b, x, c, arena);
    for (etp_cost cost = ETP_COST_PEAK; cost < ETP_COSTS; cost++) {
        put_cost(t, cost, b, x, c, arena);
    }
    put_disk(t, b, x, arena);
}

static const char *id_of(size_t n, etp_arena *arena)
{
    return n == 0 ? ETP_AB_TABLE_PRICE : etp_arena_printf(arena, ETP_AB_TABLE_PRICE "-%zu", n + 1);
}

// N: tables so far.
static void price_of(const etp_ab *ab, size_t *n, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        price_table(id_of((*n)++, arena), &ab->arms[c->baseline], &ab->arms[c->candidate], c, r,
                    arena);
        if (c->withheld) {
            etp_report_note(r, ETP_WARN, "Withheld: %s.", etp_ab_withheld_text(c->withheld));
        }
    }
    for (size_t i = 0; i < ab->n_arms && ab->n_comparisons == 0; i++) {
        price_table(id_of((*n)++, arena), &ab->arms[i], &ab->arms[i], NULL, r, arena);
    }
}

// What the rows mean, and why some are not known.
static void notes(const etp_ab *ab, etp_report *r)
{
    uint64_t cached = 0; // most that an arm could not drop from the page cache
    bool cold = false, pages = false, foreign = false;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *arm = &ab->arms[i];
        cached = arm->cached_bytes > cached ? arm->cached_bytes : cached;
        cold = cold || arm->costs[ETP_COST_COLD_LOAD] != ETP_NS_UNKNOWN;
        pages = pages || arm->costs[ETP_COST_DIRTY] != ETP_NS_UNKNOWN;
        foreign = foreign || arm->foreign;
    }
    etp_report_text(r, "%sLoading packs the weights, with the program in the page cache.%s",
                    ab->n_comparisons > 0
                        ? "Ratios are baseline ÷ candidate: below 1 the candidate costs more. "
                        : "",
                    cold ? " For the row of a cold one, launches of their own drop the program, "
                           "its data and its packed weights from it just before."
                         : "");
    if (cached > 0) {
        etp_report_note(r, ETP_WARN,
                        "%s of an arm's files could not be dropped from the page cache: another "
                        "program has them mapped, or their file system keeps them in memory.",
                        ETP_BYTES(cached));
    }
    if (pages) {
        etp_report_text(r, "Dirty and clean memory is what is resident after the measured "
                           "iterations: pages that the process has written, which only swap could "
                           "free, and pages of files, which the system can drop and read again.");
    }
    if (foreign) {
        etp_report_note(
            r, ETP_INFO,
            "A runner of others tells when it has loaded and how long it computes, and "
            "the system its peak memory: who holds the memory, the parts of loading and "
            "a load with a cold page cache are known of etprof's own runner alone.");
    }
}

const etp_report *etp_ab_price_report(const etp_ab *ab, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, ab->title);
    etp_report_subtitle(r, "what it costs%s", ab->emulated ? " (emulated)" : "");
    size_t n = 0, holders = 0, stages = 0, loads = 0;
    if (ab->n_phases < 2) {
        etp_report_section(r, 1, "price-section", "Price");
        price_of(ab, &n, r, arena);
        etp_ab_memory_tables(ab, &holders, &stages, r, arena);
        etp_ab_plan_pictures(ab, r, arena);
        etp_ab_loading_tables(ab, &loads, r, arena);
        etp_ab_load_fix_section(ab, r);
    }
    for (size_t p = 0; p < ab->n_phases && ab->n_phases > 1; p++) {
        const char *id = etp_arena_printf(arena, "price-section-%zu", p + 1);
        etp_report_section(r, 1, id, ab->phases[p].name);
        price_of(ab->phases[p].ab, &n, r, arena);
        etp_ab_memory_tables(ab->phases[p].ab, &holders, &stages, r, arena);
        etp_ab_plan_pictures(ab->phases[p].ab, r, arena);
        etp_ab_loading_tables(ab->phases[p].ab, &loads, r, arena);
    }
    notes(ab, r);
    return r;
}

// ---- the first screen ----

static bool clearly_more(const etp_ab_arm *b, const etp_ab_arm *x, etp_cost cost,
                         const etp_ab_ratio *ratio)
{
    double least = k_etp_costs[cost].bytes ? LEAST_BYTES : LEAST_NS;
    return ratio->blocks > 0 && ratio->verdict == ETP_VERDICT_SLOWER && 1 / ratio->hi >= CLEARLY &&
           (double)x->costs[cost] - (double)b->costs[cost] >= least;
}

static void say(const etp_ab *ab, const etp_ab_comparison *c, etp_cost cost, etp_screen *s,
                etp_arena *arena)
{
    const etp_ab_arm *b = &ab->arms[c->baseline], *x = &ab->arms[c->candidate];
    const etp_ab_ratio *ratio = &c->costs[cost];
    etp_cell from = etp_ab_cost_cell(b, cost, arena), to = etp_ab_cost_cell(x, cost, arena);
    bool wide = !isfinite(ratio->estimate);
    etp_screen_remark(
        s, ETP_WARN,
        etp_arena_printf(arena, "%s: %s costs %s%s× as much, 95 %% [%s, %s]: %.*s → %.*s (--price)",
                         k_etp_costs[cost].title, x->measured, wide ? "at least " : "",
                         ETP_DIGITS(1 / (wide ? ratio->hi : ratio->estimate), 3),
                         ETP_DIGITS(1 / ratio->hi, 3), ETP_DIGITS(1 / ratio->lo, 3),
                         ETP_STR_ARG(from.v.text), ETP_STR_ARG(to.v.text)));
}

static void say_gain(const etp_ab *ab, const etp_ab_comparison *c, etp_cost cost, etp_screen *s,
                     etp_arena *arena)
{
    const etp_ab_arm *b = &ab->arms[c->baseline], *x = &ab->arms[c->candidate];
    const etp_ab_ratio *ratio = &c->costs[cost];
    etp_cell from = etp_ab_cost_cell(b, cost, arena), to = etp_ab_cost_cell(x, cost, arena);
    if (ratio->blocks == 0 || ratio->verdict != ETP_VERDICT_FASTER) {
        return;
    }
    bool wide = !isfinite(ratio->estimate);
    etp_screen_remark(
        s, ETP_GOOD,
        etp_arena_printf(arena, "%s: %s%s× %s with %s, 95 %% [%s, %s]: %.*s → %.*s (--price)",
                         k_etp_costs[cost].title, wide ? "at least " : "",
                         ETP_DIGITS(wide ? ratio->lo : ratio->estimate, 3),
                         k_etp_costs[cost].bytes ? "less" : "faster", x->measured,
                         ETP_DIGITS(ratio->lo, 3), ETP_DIGITS(ratio->hi, 3),
                         ETP_STR_ARG(from.v.text), ETP_STR_ARG(to.v.text)));
}

void etp_ab_cache_gains(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        if (ab->arms[c->baseline].cache && ab->arms[c->candidate].cache) {
            say_gain(ab, c, ETP_COST_LOAD, s, arena);
            say_gain(ab, c, ETP_COST_DIRTY, s, arena);
        }
    }
    for (size_t i = 0; i < ab->load_fixes.n; i++) {
        const char *id = ab->load_fixes.items[i].id;
        etp_screen_remark(
            s, ETP_GOOD,
            etp_arena_printf(arena, "keep packed weights in a file (%s): %s", id,
                             etp_shell_command(arena, "etprof explain %s %s", id, ab->dir)));
    }
}

void etp_ab_price_remarks(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    static const etp_cost k_memory[] = {ETP_COST_PEAK, ETP_COST_DIRTY};
    bool load = false, memory = false;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        const etp_ab_arm *b = &ab->arms[c->baseline], *x = &ab->arms[c->candidate];
        const etp_ab_ratio *costs = c->costs;
        if (!load && clearly_more(b, x, ETP_COST_LOAD, &costs[ETP_COST_LOAD])) {
            load = true;
            say(ab, c, ETP_COST_LOAD, s, arena);
        }
        for (size_t k = 0; k < 2 && !memory; k++) {
            memory = clearly_more(b, x, k_memory[k], &costs[k_memory[k]]);
            if (memory) {
                say(ab, c, k_memory[k], s, arena);
            }
        }
    }
}
