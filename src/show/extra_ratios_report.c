// SPDX-License-Identifier: Apache-2.0
// The section "Cold, warm, traced": every state of the arms, one against the other, as a table.
#include <math.h>

#include "base/number.h"
#include "document/document.h"
#include "show/report.h"
#include "show/times.h"

enum { TABLES_OF_MEMORY = 3 }; // cells have many comparisons

typedef struct row { // what is compared
    const char *what;
    etp_cell baseline, candidate;
    const etp_ab_ratio *ratio;
    const char *verdict;
} row;

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

etp_cell etp_ab_cost_cell(const etp_ab_arm *arm, etp_cost cost, etp_arena *arena)
{
    int64_t is = arm->costs[cost];
    if (!k_etp_costs[cost].bytes) {
        return etp_ab_time_cell(arena, etp_known_ns(is));
    }
    return etp_cell_z(is == ETP_NS_UNKNOWN ? NULL
                                           : etp_arena_printf(arena, "%.1f MB", (double)is / 1e6));
}

static void put(etp_table *t, etp_cell of, const row *r)
{
    if (r->ratio->blocks == 0) {
        return;
    }
    ETP_ROW(t, etp_cell_z(r->what), of, r->baseline, r->candidate,
            etp_cell_double(r->ratio->estimate), etp_cell_double(r->ratio->lo),
            etp_cell_double(r->ratio->hi), etp_cell_u64(r->ratio->blocks), etp_cell_z(r->verdict));
}

// Of bytes nothing is fast.
const char *etp_ab_cost_verdict(const etp_ab_ratio *r, etp_cost cost, double margin,
                                etp_arena *arena)
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

// PAGE: its headline has the steady ratio.
// Rows without blocks are not shown (put), which is how a withheld steady ratio stays away.
static void put_comparison(etp_table *t, const struct etp_ab_view *view, const etp_ab_comparison *c,
                           bool page, etp_arena *arena)
{
    const etp_ab *ab = view->ab;
    const etp_ab_arm *b = &ab->arms[c->baseline], *x = &ab->arms[c->candidate];
    const etp_ab_ratio steady = {c->estimate, c->lo, c->hi, c->withheld || page ? 0 : c->blocks,
                                 c->verdict};
    const etp_cell of = view->run ? etp_cell_z(view->run) : etp_cell_called(x->name, x->measured);
    const row inference = {
        "steady", etp_ab_time_cell(arena, etp_known_ns(b->median_ns)),
        etp_ab_time_cell(arena, etp_known_ns(x->median_ns)), &steady,
        etp_verdict_cell(arena, steady.verdict, steady.lo, steady.hi, steady.blocks, c->margin)};
    for (etp_cost cost = 0; cost < ETP_COSTS; cost++) {
        const etp_ab_ratio *ratio = &c->costs[cost];
        if (cost == ETP_COST_PEAK) {
            put(t, of, &inference);
        }
        put(t, of,
            &(row){k_etp_costs[cost].title, etp_ab_cost_cell(b, cost, arena),
                   etp_ab_cost_cell(x, cost, arena), ratio,
                   etp_ab_cost_verdict(ratio, cost, c->margin, arena)});
    }
}

static void states_table(const etp_ab_views *v, bool page, etp_report *r, etp_arena *arena)
{
    etp_table *t = etp_report_table(r, page ? "states-page" : "states",
                                    "Baseline ÷ candidate; loading packs the weights", k_states, 9);
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        for (size_t i = 0; i < ab->n_comparisons; i++) {
            put_comparison(t, &v->items[k], &ab->comparisons[i], page, arena);
        }
    }
}

static void observer_table(const etp_ab *ab, etp_report *r)
{
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
        const etp_ab_ratio *c = &a->cold, *o = &a->tracing_overhead;
        double none = (double)NAN;
        ETP_ROW(
            t, etp_cell_called(a->name, a->measured),
            etp_cell_double(c->blocks ? c->estimate : none),
            etp_cell_double(c->blocks ? c->lo : none), etp_cell_double(c->blocks ? c->hi : none),
            etp_cell_double(o->blocks ? o->estimate : none),
            etp_cell_double(o->blocks ? o->lo : none), etp_cell_double(o->blocks ? o->hi : none));
    }
}

void etp_ab_states_section(const etp_ab_views *v, const etp_ab *arms, etp_report *r,
                           etp_arena *arena)
{
    bool any = false;
    size_t compared = 0;
    for (size_t a = 0; a < arms->n_arms; a++) {
        any = any || arms->arms[a].cold.blocks > 0 || arms->arms[a].tracing_overhead.blocks > 0;
    }
    if (!any) {
        return;
    }
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        for (size_t i = 0; i < ab->n_comparisons; i++) {
            compared += !ab->comparisons[i].withheld;
        }
    }
    etp_report_section(r, 1, "states", "Cold, warm, traced");
    etp_report_section_is_detail(r);
    etp_medium medium = etp_report_medium(r, ETP_OFF_PAGE);
    if (compared > 0 && medium != ETP_ON_PAGE) {
        states_table(v, false, r, arena);
    }
    etp_report_medium(r, ETP_ON_PAGE);
    if (compared > 0 && medium != ETP_OFF_PAGE) {
        states_table(v, true, r, arena);
    }
    etp_report_medium(r, medium);
    observer_table(arms, r);
    size_t tables = 0, stages = 0;
    if (arms->n_comparisons <= TABLES_OF_MEMORY) {
        etp_ab_memory_tables(arms, &tables, &stages, r, arena);
        etp_ab_plan_pictures(arms, r, arena);
    }
}
