// SPDX-License-Identifier: Apache-2.0
// What the arms cost: steady and first inference, loading, memory, size on disk; each beside the
// other arm's, with its interval and verdict as the headline has them. And the section "Cold, warm,
// traced", which has the same rows.
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "base/shell.h"
#include "compare/phases.h"
#include "document/document.h"
#include "show/report.h"
#include "show/screen.h"
#include "show/times.h"

static const char k_not_known[] = "not known here";

// From here on a difference is worth a line of the first screen.
#define CLEARLY 1.1
#define LEAST_NS 1e6
#define LEAST_BYTES 1e6

enum { TABLES_OF_MEMORY = 3 }; // cells have many comparisons

typedef struct row {
    const char *what;
    bool bytes;             // else nanoseconds
    int64_t is[2];          // of the baseline and the candidate
    etp_cell shown[2];      // the same, for people
    const char *unknown[2]; // why it is not known; NULL: as ever
    double ratio, lo, hi;   // NAN: none
    uint32_t blocks;        // 0: no ratio, or none over blocks
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

static etp_cell cost_cell(const etp_ab_arm *arm, etp_cost cost, etp_arena *arena)
{
    int64_t is = arm->costs[cost];
    if (!k_etp_costs[cost].bytes) {
        return etp_ab_time_cell(arena, etp_known_ns(is));
    }
    return etp_cell_z(is == ETP_NS_UNKNOWN ? NULL
                                           : etp_arena_printf(arena, "%.1f MB", (double)is / 1e6));
}

// Of bytes nothing is fast.
static const char *cost_verdict(const etp_paired *r, etp_cost cost, double margin, etp_arena *arena)
{
    static const char *const k_of_bytes[] = {
        [ETP_VERDICT_FASTER] = "less", [ETP_VERDICT_SLOWER] = "more", [ETP_VERDICT_SAME] = NULL};
    const char *word = k_etp_costs[cost].bytes ? k_of_bytes[r->verdict] : NULL;
    if (!word) {
        word = etp_verdict_cell(arena, r->verdict, r->lo, r->hi, r->blocks, margin);
    }
    bool turned = r->verdict == ETP_VERDICT_SLOWER;
    if (isfinite(r->estimate) || (r->verdict != ETP_VERDICT_FASTER && !turned)) {
        return word;
    }
    return etp_arena_printf(arena, "%s, at least %s×", word,
                            ETP_DIGITS(turned ? 1 / r->hi : r->lo, 3));
}

static row row_of(const char *what, bool bytes, int64_t b, int64_t x)
{
    return (row){
        .what = what, .bytes = bytes, .is = {b, x},
                .ratio = NAN, .lo = NAN, .hi = NAN
    };
}

// C NULL: of one arm alone.
static row steady_row(const etp_ab_arm *b, const etp_ab_arm *x, const etp_ab_comparison *c,
                      etp_arena *arena)
{
    row r = row_of("steady inference", false, b->median_ns, x->median_ns);
    r.shown[0] = etp_ab_time_cell(arena, etp_known_ns(b->median_ns));
    r.shown[1] = etp_ab_time_cell(arena, etp_known_ns(x->median_ns));
    if (c && c->withheld) {
        r.verdict = "withheld";
    } else if (c) {
        r.ratio = c->estimate, r.lo = c->lo, r.hi = c->hi, r.blocks = c->blocks;
        r.verdict = etp_verdict_cell(arena, c->verdict, c->lo, c->hi, c->blocks, c->margin);
    }
    return r;
}

static row cost_row(etp_cost cost, const etp_ab_arm *b, const etp_ab_arm *x,
                    const etp_ab_comparison *c, etp_arena *arena)
{
    const etp_paired *ratio = c ? &c->costs[cost] : NULL;
    row r =
        row_of(k_etp_costs[cost].title, k_etp_costs[cost].bytes, b->costs[cost], x->costs[cost]);
    r.shown[0] = cost_cell(b, cost, arena), r.unknown[0] = unknown_words(b, cost);
    r.shown[1] = cost_cell(x, cost, arena), r.unknown[1] = unknown_words(x, cost);
    if (ratio && ratio->blocks > 0) {
        r.ratio = ratio->estimate, r.lo = ratio->lo, r.hi = ratio->hi, r.blocks = ratio->blocks;
        r.verdict = cost_verdict(ratio, cost, c->margin, arena);
    } else if (c && c->withheld && r.is[0] != ETP_NS_UNKNOWN && r.is[1] != ETP_NS_UNKNOWN) {
        r.verdict = "withheld";
    }
    return r;
}

static etp_cell disk_cell(int64_t bytes, etp_arena *arena)
{
    return bytes == ETP_NS_UNKNOWN
               ? etp_cell_missing()
               : etp_cell_z(etp_arena_strdup(arena, etp_str_from(ETP_BYTES((uint64_t)bytes))));
}

// ---- the price ----

static void put(etp_table *t, row r, etp_arena *arena)
{
    const etp_cell unit =
        r.bytes ? etp_cell_called("bytes", "size") : etp_cell_called("ns", "time");
    ETP_ROW(t, etp_cell_z(r.what), unit, amount(&r, 0, arena), amount(&r, 1, arena),
            etp_cell_double(r.ratio), etp_cell_double(r.lo), etp_cell_double(r.hi),
            etp_cell_z(r.verdict));
}

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
    put(t, steady_row(b, x, c, arena), arena);
    put(t, cost_row(ETP_COST_FIRST, b, x, c, arena), arena);
    put(t, cost_row(ETP_COST_LOAD, b, x, c, arena), arena);
    put(t, cost_row(ETP_COST_COLD_LOAD, b, x, c, arena), arena);
    for (etp_cost cost = ETP_COST_PEAK; cost < ETP_COSTS; cost++) {
        put(t, cost_row(cost, b, x, c, arena), arena);
    }
    // A size is no estimate: it has no interval.
    row disk = row_of("size on disk", true, b->disk_bytes, x->disk_bytes);
    disk.shown[0] = disk_cell(b->disk_bytes, arena);
    disk.shown[1] = disk_cell(x->disk_bytes, arena);
    if (b->disk_bytes != ETP_NS_UNKNOWN && x->disk_bytes != ETP_NS_UNKNOWN) {
        disk.ratio = (double)b->disk_bytes / (double)x->disk_bytes;
        disk.verdict = x->disk_bytes < b->disk_bytes ? "less" : "more";
        disk.verdict = x->disk_bytes == b->disk_bytes ? "same" : disk.verdict;
    }
    put(t, disk, arena);
}

// N: tables so far.
static void price_of(const etp_ab *ab, size_t *n, etp_report *r, etp_arena *arena)
{
    size_t pairs = ab->n_comparisons;
    for (size_t i = 0; i < ETP_OR(pairs, ab->n_arms); i++) {
        const etp_ab_comparison *c = pairs ? &ab->comparisons[i] : NULL;
        const char *id =
            (*n)++ ? etp_arena_printf(arena, ETP_AB_TABLE_PRICE "-%zu", *n) : ETP_AB_TABLE_PRICE;
        price_table(id, &ab->arms[c ? c->baseline : i], &ab->arms[c ? c->candidate : i], c, r,
                    arena);
        if (c && c->withheld) {
            etp_report_note(r, ETP_WARN, "Withheld: %s.", etp_ab_withheld_text(c->withheld));
        }
    }
}

const etp_report *etp_ab_price_report(const etp_ab *ab, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, ab->title);
    etp_report_subtitle(r, "what it costs%s", etp_if(ab->emulated, " (emulated)"));
    const bool phases = ab->n_phases > 1;
    size_t n = 0, holders = 0, stages = 0, loads = 0;
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *one = etp_ab_answer_at(ab, p);
        const char *id =
            phases ? etp_arena_printf(arena, "price-section-%zu", p + 1) : "price-section";
        etp_report_section(r, 1, id, phases ? one->phase : "Price");
        price_of(one, &n, r, arena);
        etp_ab_memory_tables(one, &holders, &stages, r, arena);
        etp_ab_plan_pictures(one, r, arena);
        etp_ab_loading_tables(one, &loads, r, arena);
    }
    if (!phases) {
        etp_ab_load_fix_section(ab, r);
    }
    // What the rows mean, and why some are not known.
    uint64_t cached = 0; // most that an arm could not drop from the page cache
    bool cold = false, pages = false, foreign = false;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *arm = &ab->arms[i];
        cached = ETP_MAX(arm->cached_bytes, cached);
        cold = cold || arm->costs[ETP_COST_COLD_LOAD] != ETP_NS_UNKNOWN;
        pages = pages || arm->costs[ETP_COST_DIRTY] != ETP_NS_UNKNOWN;
        foreign = foreign || arm->foreign;
    }
    etp_report_text(r, "%sLoading packs the weights, with the program in the page cache.%s",
                    etp_if(ab->n_comparisons > 0,
                           "Ratios are baseline ÷ candidate: below 1 the candidate costs more. "),
                    etp_if(cold,
                           " For the row of a cold one, launches of their own drop the program, "
                           "its data and its packed weights from it just before."));
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
            "Another runner tells when it has loaded and how long it computes, and the system its "
            "peak memory. Only etprof's own runner tells what holds the memory, what loading is "
            "made of and how long it takes with a cold page cache.");
    }
    return r;
}

// ---- cold, warm, traced ----

static const etp_column k_states[] = {
    {.key = "what", .title = "what"},
    {.key = "candidate_arm", .title = "of", .flags = ETP_COL_CODE},
    {.key = "baseline", .title = "baseline", .flags = ETP_COL_FIGURES},
    {.key = "candidate", .title = "candidate", .flags = ETP_COL_FIGURES},
    {.key = "ratio", .title = "ratio", .kind = ETP_KIND_RATIO},
    {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO},
    {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO},
    {.key = "blocks", .title = "blocks", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
    {.key = "verdict", .title = "verdict"},
};

// A row without blocks has no ratio to show.
static void put_state(etp_table *t, const etp_ab_arm *of, row r)
{
    if (r.blocks > 0) {
        ETP_ROW(t, etp_cell_z(r.what), etp_cell_called(of->name, of->measured), r.shown[0],
                r.shown[1], etp_cell_double(r.ratio), etp_cell_double(r.lo), etp_cell_double(r.hi),
                etp_cell_u64(r.blocks), etp_cell_z(r.verdict));
    }
}

// PAGE: its headline has the steady ratio.
static void states_table(const etp_ab *ab, bool page, etp_report *r, etp_arena *arena)
{
    etp_table *t = etp_report_table(r, page ? "states-page" : "states",
                                    "Baseline ÷ candidate; loading packs the weights", k_states, 9);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        const etp_ab_arm *b = &ab->arms[c->baseline], *x = &ab->arms[c->candidate];
        row steady = steady_row(b, x, c, arena);
        steady.what = "steady";
        for (etp_cost cost = 0; cost < ETP_COSTS; cost++) {
            if (cost == ETP_COST_PEAK && !page) {
                put_state(t, x, steady);
            }
            put_state(t, x, cost_row(cost, b, x, c, arena));
        }
    }
}

void etp_ab_states_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    bool any = false;
    size_t compared = 0;
    for (size_t a = 0; a < ab->n_arms; a++) {
        any = any || ab->arms[a].cold.blocks > 0 || ab->arms[a].tracing_overhead.blocks > 0;
    }
    if (!any) {
        return;
    }
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        compared += !ab->comparisons[i].withheld;
    }
    etp_report_section(r, 1, "states", "Cold, warm, traced");
    etp_report_section_is_detail(r);
    etp_medium medium = etp_report_medium(r, ETP_OFF_PAGE);
    if (compared > 0 && medium != ETP_ON_PAGE) {
        states_table(ab, false, r, arena);
    }
    etp_report_medium(r, ETP_ON_PAGE);
    if (compared > 0 && medium != ETP_OFF_PAGE) {
        states_table(ab, true, r, arena);
    }
    etp_report_medium(r, medium);
    static const etp_column k_columns[] = {
        {.key = "arm",       .title = "arm",                .flags = ETP_COL_CODE },
        {.key = "cold",      .title = "first ÷ steady",    .kind = ETP_KIND_RATIO},
        {.key = "cold_lo",   .title = "from",               .kind = ETP_KIND_RATIO},
        {.key = "cold_hi",   .title = "to",                 .kind = ETP_KIND_RATIO},
        {.key = "traced",    .title = "traced ÷ untraced", .kind = ETP_KIND_RATIO},
        {.key = "traced_lo", .title = "from",               .kind = ETP_KIND_RATIO},
        {.key = "traced_hi", .title = "to",                 .kind = ETP_KIND_RATIO},
    };
    etp_table *t = etp_report_table(r, "observer", "Each arm against itself", k_columns, 7);
    for (size_t k = 0; k < ab->n_arms; k++) {
        const etp_ab_arm *a = &ab->arms[ab->shown[k]];
        const etp_paired *c = &a->cold, *o = &a->tracing_overhead;
        double none = (double)NAN;
        ETP_ROW(
            t, etp_cell_called(a->name, a->measured),
            etp_cell_double(c->blocks ? c->estimate : none),
            etp_cell_double(c->blocks ? c->lo : none), etp_cell_double(c->blocks ? c->hi : none),
            etp_cell_double(o->blocks ? o->estimate : none),
            etp_cell_double(o->blocks ? o->lo : none), etp_cell_double(o->blocks ? o->hi : none));
    }
    size_t tables = 0, stages = 0;
    if (ab->n_comparisons <= TABLES_OF_MEMORY) {
        etp_ab_memory_tables(ab, &tables, &stages, r, arena);
        etp_ab_plan_pictures(ab, r, arena);
    }
}

// ---- the first screen ----

static bool clearly_more(const etp_ab_arm *b, const etp_ab_arm *x, etp_cost cost,
                         const etp_paired *ratio)
{
    double least = k_etp_costs[cost].bytes ? LEAST_BYTES : LEAST_NS;
    return ratio->blocks > 0 && ratio->verdict == ETP_VERDICT_SLOWER && 1 / ratio->hi >= CLEARLY &&
           (double)x->costs[cost] - (double)b->costs[cost] >= least;
}

// How much COST changed for the candidate, whichever way.
static void say(const etp_ab *ab, const etp_ab_comparison *c, etp_cost cost, etp_screen *s,
                etp_arena *arena)
{
    const etp_ab_arm *b = &ab->arms[c->baseline], *x = &ab->arms[c->candidate];
    const bool gain = c->costs[cost].verdict == ETP_VERDICT_FASTER;
    double ratio = c->costs[cost].estimate, lo = c->costs[cost].lo, hi = c->costs[cost].hi;
    etp_cell from = cost_cell(b, cost, arena), to = cost_cell(x, cost, arena);
    etp_ratio_as_said(c->costs[cost].verdict, &ratio, &lo, &hi);
    const char *times = etp_arena_printf(arena, "%s%s×", etp_if(!isfinite(ratio), "at least "),
                                         ETP_DIGITS(isfinite(ratio) ? ratio : lo, 3));
    const char *better = k_etp_costs[cost].bytes ? "less" : "faster";
    const char *change = gain ? etp_arena_printf(arena, "%s %s with %s", times, better, x->measured)
                              : etp_arena_printf(arena, "%s costs %s as much", x->measured, times);
    etp_screen_remark(s, gain ? ETP_GOOD : ETP_WARN,
                      etp_arena_printf(arena, "%s: %s, 95 %% [%s, %s]: %.*s → %.*s (--price)",
                                       k_etp_costs[cost].title, change, ETP_DIGITS(lo, 3),
                                       ETP_DIGITS(hi, 3), ETP_STR_ARG(from.v.text),
                                       ETP_STR_ARG(to.v.text)));
}

void etp_ab_cache_gains(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    static const etp_cost k_gains[] = {ETP_COST_LOAD, ETP_COST_DIRTY};
    for (size_t i = 0; i < 2 * ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i / 2];
        const etp_paired *ratio = &c->costs[k_gains[i % 2]];
        if (ab->arms[c->baseline].cache && ab->arms[c->candidate].cache && ratio->blocks > 0 &&
            ratio->verdict == ETP_VERDICT_FASTER) {
            say(ab, c, k_gains[i % 2], s, arena);
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
        const etp_paired *costs = c->costs;
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
