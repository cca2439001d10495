// SPDX-License-Identifier: Apache-2.0
// What the HTML page shows of an answer and the other formats do not: what decides comes first, and
// each operator, finding and fix has a drawer of its own.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "compare/phases.h"
#include "show/graph.h"
#include "show/times.h"
#include "show/whatif_data.h"

// ---- what to do next ----

// Gains are on the untraced scale where there is one, and so is what they are a part of.
static double whole_ns(const etp_ab *ab)
{
    const etp_ab_arm *arm = &ab->arms[ab->bottleneck_arm];
    return etp_known_ns(arm->median_ns != ETP_NS_UNKNOWN ? arm->median_ns : arm->traced_ns);
}

bool etp_ab_fix_pays(const etp_ab *ab, const etp_ab_fix *f)
{
    double ns = etp_known_ns(f->expected_ns != ETP_NS_UNKNOWN ? f->expected_ns : f->hi_ns);
    return f->kind != ETP_FIX_SLOWER && ns >= 0.01 * whole_ns(ab);
}

// The first that pays from AT on; n: none.
static size_t paying(const etp_ab *ab, size_t at)
{
    while (at < ab->fixes.n && !etp_ab_fix_pays(ab, &ab->fixes.items[at])) {
        at++;
    }
    return at;
}

static void action(const etp_ab *ab, const etp_ab_fix *f, const char *of, etp_report *r,
                   etp_arena *arena)
{
    const char *phase = of ? NULL : ab->phase;
    etp_action a = {
        .id = f->id,
        .of = of,
        .text = phase ? etp_arena_printf(arena, "%s: %s", phase, f->text) : f->text,
        .advice = f->advice,
        .command = f->typed,
        .whole = whole_ns(ab),
        .gain = (double)NAN,
        .lo = (double)NAN,
        .hi = (double)NAN,
    };
    if (!etp_ab_recording_hides(ab)) { // gains are parts of what was recorded
        a.gain = etp_known_ns(f->expected_ns);
        a.lo = etp_known_ns(f->lo_ns);
        a.hi = etp_known_ns(f->hi_ns);
    }
    etp_report_action(r, &a);
}

// Why there is nothing to do: a page without cards says it in their place.
static const char *no_fix(const etp_ab *ab)
{
    if (ab->fixes.n > 0) {
        return "No known fix gains 1 % of an inference.";
    }
    return ab->n_operators == 0 ? "No operators were recorded, so there is nothing to suggest."
                                : "No known fix applies to the recorded operators.";
}

// Of each phase the first, then of each the second: their gains are of different times.
static void actions(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    size_t said = 0;
    size_t *at = ETP_NEW_ARRAY(arena, size_t, ab->n_phases + 1); // of each the next that pays
    size_t left = at ? ab->n_phases : 0;
    while (left > 0) {
        left = 0;
        for (size_t p = 0; p < ab->n_phases; p++) {
            const etp_ab *one = etp_ab_answer_at(ab, p);
            at[p] = paying(one, at[p]);
            if (at[p] >= one->fixes.n) {
                continue;
            }
            etp_report_scope(r, p ? etp_ab_phase_scope(p, arena) : NULL, NULL);
            action(one, &one->fixes.items[at[p]++], NULL, r, arena);
            left++;
            said++;
        }
    }
    etp_report_scope(r, NULL, NULL);
    if (said == 0) {
        etp_report_no_action(r, "%s", no_fix(ab));
    }
}

// ---- of several answers ----

typedef struct choice {
    const struct etp_ab_view *view;
    const etp_ab_fix *fix;
    double share;  // of an inference
    size_t others; // answers that want the same
} choice;

// Views and fixes are elements of arrays, so their addresses are in the order of the answers.
static int by_share(const void *pa, const void *pb)
{
    const choice *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(b->share, a->share),
                          etp_order_then(ETP_ORDER(a->view, b->view), ETP_ORDER(a->fix, b->fix)));
}

// Answers of different lengths are compared by share: a millisecond is much for one model and
// nothing for another.
static double share_of(const etp_ab *ab, const etp_ab_fix *f)
{
    double most = etp_known_ns(f->expected_ns), whole = whole_ns(ab);
    most = isfinite(most) ? most : etp_known_ns(f->hi_ns);
    return isfinite(most) && whole > 0 ? most / whole : 0;
}

void etp_ab_page_actions(const etp_ab_views *v, etp_report *r, etp_arena *arena)
{
    enum { MOST = 12 };
    size_t n = 0, operators = 0;
    for (size_t i = 0; i < v->n; i++) {
        n += v->items[i].ab->fixes.n;
        operators += v->items[i].ab->n_operators;
    }
    choice *all = ETP_NEW_ARRAY(arena, choice, n + 1);
    if (n == 0 || !all) {
        if (v->n) {
            etp_report_no_action(r, "%s", no_fix(&(etp_ab){.n_operators = operators}));
        }
        return;
    }
    n = 0;
    for (size_t i = 0; i < v->n; i++) {
        const etp_ab *ab = v->items[i].ab;
        for (size_t f = paying(ab, 0); f < ab->fixes.n; f = paying(ab, f + 1)) {
            const etp_ab_fix *fix = &ab->fixes.items[f];
            all[n++] = (choice){&v->items[i], fix, share_of(ab, fix), 0};
        }
    }
    qsort(all, n, sizeof *all, by_share);
    // What several answers want is said once, of the one where it is worth most.
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        // The same kind and recipe is the same thing to do; the list is sorted, so the first is the
        // one that is worth most.
        while (k < kept && (all[k].fix->kind != all[i].fix->kind ||
                            strcmp(all[k].fix->recipe, all[i].fix->recipe) != 0)) {
            k++;
        }
        if (k < kept) {
            all[k].others += all[k].view != all[i].view;
        } else {
            all[kept++] = all[i];
        }
    }
    for (size_t i = 0; i < kept && i < MOST; i++) {
        const struct etp_ab_view *view = all[i].view;
        const char *of = all[i].others ? etp_arena_printf(arena, "%s, and %zu more want it",
                                                          view->run, all[i].others)
                                       : view->run;
        etp_report_scope(r, view->scope, NULL);
        action(view->ab, all[i].fix, of, r, arena);
    }
    etp_report_scope(r, NULL, NULL);
}

// ---- categories ----

enum { PAGE_COLUMNS = 24 };

// The table is what the picture's colours mean, with their figures.
static void categories(const etp_ab *ab, etp_report *r)
{
    // One column before the arms', three behind the comparisons'. Wider ones have a row for each
    // arm.
    if (ab->n_categories == 0 || 2 * ab->n_arms + ab->n_comparisons + 4 > PAGE_COLUMNS) {
        etp_ab_category_section(ab, r);
        return;
    }
    etp_report_section(r, 1, "categories", "Where the time goes");
    if (!etp_ab_pictures_first(ab, r)) {
        etp_chart_only_names(
            etp_ab_breakdown_chart(&(etp_ab_views){&(struct etp_ab_view){.ab = ab}, 1}, r));
    }
    etp_ab_fold_recorded(ab, r);
    etp_ab_category_columns(ab, true, r);
}

// ---- operators ----

enum { BEHIND_TIMES = 8 }; // columns of `operators`, and cells of its rows, in one order

static void operator_row(const etp_ab *ab, const etp_ab_operator *op, uint32_t candidate,
                         etp_severity change, etp_table *t, etp_arena *arena)
{
    etp_cell cells[PAGE_COLUMNS] = {etp_cell_z(op->label),
                                    etp_cell_colored(etp_cell_z(etp_category_name(op->category)),
                                                     etp_ab_category_color(op->category))};
    size_t n = 2;
    for (size_t a = 0; a < ab->n_arms; a++) {
        cells[n++] = etp_cell_ns(op->ns[ab->shown[a]]);
    }
    const int64_t before = op->ns[ab->baseline], after = op->ns[candidate];
    const bool both = before != ETP_NS_UNKNOWN && after != ETP_NS_UNKNOWN;
    const double whole = etp_known_ns(ab->arms[ab->bottleneck_arm].traced_ns);
    const etp_roof_place *p = op->roofs ? &op->roofs[ab->bottleneck_arm] : NULL;
    const etp_severity engaged = op->engaged.state == ETP_ENGAGED ? ETP_GOOD : ETP_PLAIN;
    // Without its folders: those of the exporting machine say nothing to a reader, and the drawer
    // has them.
    const char *file = op->source_file ? etp_path_name(op->source_file) : NULL;
    const etp_cell behind[BEHIND_TIMES] = {
        etp_cell_judged(etp_cell_ns(both ? before - after : ETP_NS_UNKNOWN), change),
        etp_cell_judged(etp_cell_double(etp_ab_told(ab, 0) ? op->speedup[0] : (double)NAN), change),
        etp_cell_double(etp_known_ns(op->ns[ab->bottleneck_arm]) / whole),
        etp_cell_double(p ? p->efficiency : (double)NAN),
        etp_cell_judged(etp_cell_z(etp_ab_engaged_word(op->engaged.state)), engaged),
        etp_cell_z(etp_why_name(op->why)),
        etp_cell_z(etp_ab_fixes_of(ab, op->id, arena)),
        etp_cell_z(file ? etp_arena_printf(arena, "%s:%u", file, op->source_line) : NULL),
    };
    memcpy(cells + n, behind, sizeof behind);
    etp_table_add_row(t, cells, n + BEHIND_TIMES);
    etp_table_row_link(t, op->id);
}

static void operators(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    uint32_t candidate = ab->n_comparisons ? ab->comparisons[0].candidate : ab->baseline;
    etp_column columns[PAGE_COLUMNS] = {
        {.key = "operator", .title = "operator", .flags = ETP_COL_CODE  },
        {.key = "category", .title = "category", .flags = ETP_COL_CHOICE},
    };
    size_t n = 2;
    for (size_t i = 0; i < ab->n_arms; i++) {
        columns[n] = etp_ab_time_column(ab, &ab->arms[ab->shown[i]]);
        columns[n++].flags = ETP_COL_BAR;
    }
    unsigned sources = ETP_COL_ABSENT;
    for (size_t i = 0; i < ab->n_operators; i++) {
        sources = ab->operators[i].source_file ? 0 : sources;
    }
    const unsigned compared = etp_ab_told(ab, 0) ? 0 : ETP_COL_ABSENT;
    const unsigned roofs = ab->roofs ? 0 : ETP_COL_ABSENT;
    const unsigned fixes = ab->fixes.n ? 0 : ETP_COL_ABSENT;
    etp_column behind[BEHIND_TIMES] = {
        {.key = "saved_ns",
         .title = "saved",
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_SIGNED | compared,
         .help = "time of an inference that it no longer takes"},
        etp_ab_speedup_column(ab, 0),
        {.key = "share",
         .title = "share",
         .kind = ETP_KIND_PERCENT,
         .help = "of a recorded inference"},
        {.key = "of_roof",
         .title = "of roof",
         .kind = ETP_KIND_PERCENT,
         .flags = roofs,
         .help = "least time that its work can take on this device, of the time it took"},
        {.key = "engaged", .title = "feature", .flags = ETP_COL_CHOICE},
        {.key = "why", .title = "why", .flags = ETP_COL_CHOICE, .help = ETP_AB_WHY_HELP},
        {.key = "fixes", .title = "fixes", .flags = ETP_COL_CHOICE | fixes},
        {.key = "source", .title = "source", .flags = ETP_COL_CODE | sources},
    };
    behind[1].flags = compared;
    memcpy(columns + n, behind, sizeof behind);
    n += BEHIND_TIMES;
    etp_report_section(r, 1, "operators", "Operators");
    if (!ab->emulated) {
        etp_ab_clock_note(ab, "", r);
    }
    etp_table *t = etp_report_table(r, "operators-page", NULL, columns, n);
    const etp_severity *changes = etp_ab_operator_changes(ab, 0, arena);
    for (size_t i = 0; i < ab->n_operators; i++) {
        uint32_t op = ab->by_time[i];
        operator_row(ab, &ab->operators[op], candidate, changes ? changes[op] : ETP_PLAIN, t,
                     arena);
    }
    etp_ab_short_note(ab, r);
}

// ---- steps ----

// The waterfall, and of the ledger what is no operator: those have their table.
static void steps(const etp_ab *ab, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "label", .title = "beside operators"},
        {.key = "baseline_ns", .title = "before", .kind = ETP_KIND_NS},
        {.key = "candidate_ns", .title = "after", .kind = ETP_KIND_NS},
        {.key = "delta_ns", .title = "difference", .kind = ETP_KIND_NS, .flags = ETP_COL_SIGNED},
    };
    for (size_t k = 0; k < ab->n_comparisons; k++) {
        const etp_ledger *l = &ab->ledgers[k];
        char id[48], title[160];
        if (l->n == 0) {
            continue;
        }
        snprintf(id, sizeof id, "steps-%zu", k + 1);
        snprintf(title, sizeof title, "From %s to %s",
                 ab->arms[ab->comparisons[k].baseline].measured,
                 ab->arms[ab->comparisons[k].candidate].measured);
        etp_report_section(r, 1, id, title);
        etp_report_section_is_folded(r);
        etp_ab_waterfall(ab, k, r);
        snprintf(id, sizeof id, "beside-%zu", k + 1);
        etp_table *t = etp_report_table(r, id, NULL, k_columns, 4);
        for (size_t i = 0; i < l->n; i++) {
            const etp_ledger_row *row = &l->items[i];
            if (row->category == ETP_CATEGORY_COUNT) {
                ETP_ROW(t, etp_cell_z(row->label), etp_cell_ns(row->baseline_ns),
                        etp_cell_ns(row->candidate_ns), etp_ab_delta_cell(ab, k, row->delta_ns));
            }
        }
        ETP_ROW(t, etp_cell_z("all of it, operators included"), etp_cell_ns(l->baseline_ns),
                etp_cell_ns(l->candidate_ns), etp_ab_delta_cell(ab, k, l->delta_ns));
        etp_table_row_is_total(t);
    }
}

void etp_ab_page_first(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    // The first screen has the actions of all phases; a phase within its tab has its own.
    if (ab->n_phases > 1 && !etp_report_in_part(r)) {
        actions(ab, r, arena);
    } else {
        for (size_t i = paying(ab, 0); i < ab->fixes.n; i = paying(ab, i + 1)) {
            action(ab, &ab->fixes.items[i], NULL, r, arena);
        }
        if (paying(ab, 0) == ab->fixes.n) {
            etp_report_no_action(r, "%s", no_fix(ab));
        }
    }
    categories(ab, r);
}

// From the most asked to the least: every operator, what if, the pictures, the steps, and within
// these what other formats have as sections.
void etp_ab_page_more(const etp_ab *ab, const char *whatif, etp_report *r, etp_arena *arena)
{
    const etp_ab_views one = {&(struct etp_ab_view){.ab = ab}, 1};
    // Ten columns beside the arms', when every one of them is there.
    if (ab->n_operators && ab->n_arms + 10 <= PAGE_COLUMNS) {
        operators(ab, r, arena);
    } else {
        etp_ab_operator_section(ab, r);
    }
    etp_ab_whatif_section(ab, whatif, r, arena);
    etp_ab_spans_section(ab, r, arena);
    etp_ab_graph_section(ab, r);
    etp_ab_roofline_section(ab, r);
    steps(ab, r);
    etp_report_inner(r, ab->n_comparisons > 0);
    etp_ab_split_section(&one, r, arena);
    etp_ab_delegation_chart(ab, r);
    etp_ab_kernel_section(&one, r, arena);
    etp_report_inner(r, false);
}
