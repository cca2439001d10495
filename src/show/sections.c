// SPDX-License-Identifier: Apache-2.0
// The tables and pictures of an ab report.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "show/report.h"
#include "show/times.h"

#define MAX_COLUMNS 24 // wider ones are written with a row for each arm: tables_long.c

// Columns for speedups: one for each comparison; an emulator's times give none.
static size_t speedups_of(const etp_ab *ab)
{
    return ab->emulated ? 0 : ab->n_comparisons;
}

// ---- categories ----

// Who did the work: delegates, kernels outside them, or nobody's operators.
void etp_ab_delegation_chart(const etp_ab *ab, etp_report *r)
{
    bool any = false;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        any = any || ab->comparisons[i].shift.portable_before >= 0.01 ||
              ab->comparisons[i].shift.portable_after >= 0.01;
    }
    if (!any) {
        return;
    }
    etp_chart *c = etp_report_chart(r, ETP_CHART_STACKED, "delegation",
                                    "One inference by where the work is done", ETP_KIND_NS);
    etp_chart_describe(c,
                       "Mean time of one traced inference in operators of delegates, in kernels "
                       "outside them, and in neither.%s",
                       etp_if(ab->emulated, " Times of an emulator."));
    etp_chart_only_names(c);
    // Colours that no category has.
    etp_chart_series_colored(c, "Delegated", 17);
    etp_chart_series_colored(c, "Outside delegates", 18);
    etp_chart_series_colored(c, "Neither", 8);
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_profile *p = ab->arms[ab->shown[i]].profile;
        double values[3] = {0};
        for (size_t k = 0; p && k < p->n_rows; k++) {
            int at = p->rows[k].kind == ETP_ROW_PORTABLE ? 1 : 2;
            at = p->rows[k].kind == ETP_ROW_OPERATOR ? 0 : at;
            values[at] += etp_profile_mean(p, &p->rows[k]);
        }
        if (p) {
            // What lies outside operators is a difference of two clocks and may come out below 0,
            // where a bar cannot go.
            values[2] = ETP_MAX(values[2], 0);
            etp_chart_row(c, ab->arms[ab->shown[i]].measured, values, 3);
        }
    }
}

// What an inference takes beside its operators: the chart has it, so that its bars are whole.
// A rest below 0 (clocks that disagree) is shown as none.
static int64_t outside_ns(const etp_ab *ab, uint32_t arm)
{
    int64_t rest = ab->arms[arm].traced_ns;
    for (size_t k = 0; k < ab->n_categories && rest != ETP_NS_UNKNOWN; k++) {
        int64_t ns = ab->categories[k].ns[arm];
        rest -= ns == ETP_NS_UNKNOWN ? 0 : ns;
    }
    return rest == ETP_NS_UNKNOWN || rest < 0 ? 0 : rest;
}

enum { CATEGORY_COLUMNS = MAX_COLUMNS + 3 }; // with those that are left out

static void category_row(const etp_ab *ab, const etp_ab_category *c, etp_table *t, size_t n)
{
    etp_cell cells[CATEGORY_COLUMNS] = {
        etp_cell_colored(etp_cell_z(etp_category_name(c->category)),
                         etp_ab_category_color(c->category)),
        etp_cell_z(etp_kit_category_name(etp_kit_category_of(c->category)))};
    size_t at = 2;
    for (size_t a = 0; a < ab->n_arms; a++) {
        cells[at++] = etp_cell_ns(c->ns[ab->shown[a]]);
        cells[at++] = etp_cell_double(c->share[ab->shown[a]]);
    }
    for (size_t i = 0; i < speedups_of(ab); i++) {
        cells[at++] = etp_cell_gain(c->speedup[i], c->lo[i], c->hi[i]);
    }
    if (ab->n_comparisons > 0) {
        cells[at] = etp_cell_double(c->lo[0]);
        cells[at + 1] = etp_cell_double(c->hi[0]);
    }
    cells[at + 2] = etp_cell_double(c->ceiling[ab->bottleneck_arm]);
    etp_table_add_row(t, cells, n);
}

// As wide as there are arms and comparisons, so columns are put together here; with one comparison
// there is room for its interval too.
void etp_ab_category_columns(const etp_ab *ab, bool page, etp_report *r)
{
    const unsigned minor = page ? 0 : ETP_COL_MINOR, limit = ab->emulated ? ETP_COL_ABSENT : minor;
    const unsigned interval = ab->n_comparisons == 1 ? limit : ETP_COL_ABSENT;
    etp_column columns[CATEGORY_COLUMNS] = {
        {.key = "category", .title = "category"},
        {.key = "five", .title = "group", .flags = page ? ETP_COL_ABSENT : ETP_COL_MINOR},
    };
    size_t n = 2;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *arm = &ab->arms[ab->shown[i]];
        columns[n++] = etp_ab_time_column(ab, arm);
        columns[n++] = etp_ab_share_column(ab, arm);
    }
    for (size_t i = 0; i < speedups_of(ab); i++) {
        columns[n++] = etp_ab_speedup_column(ab, i);
    }
    columns[n++] =
        (etp_column){.key = "speedup_lo",
                     .title = page ? "from" : "low",
                     .kind = ETP_KIND_RATIO,
                     .flags = interval,
                     .help = "95 % interval over the blocks, and what the clocks can have cut off"};
    columns[n++] = (etp_column){.key = "speedup_hi",
                                .title = page ? "to" : "high",
                                .kind = ETP_KIND_RATIO,
                                .flags = interval};
    // If the category took no time in the arm that is explained.
    columns[n++] = (etp_column){.key = "ceiling",
                                .title = "if it took none",
                                .kind = ETP_KIND_RATIO,
                                .flags = limit,
                                .help = "speedup of a whole inference without the category"};
    etp_table *t = etp_report_table(r, page ? "categories-page" : "categories",
                                    etp_z_if(!page, "Operator Category Breakdown"), columns, n);
    for (size_t k = 0; k < ab->n_categories; k++) {
        category_row(ab, &ab->categories[k], t, n);
    }
    if (page) { // so that the column adds up, as the bars of the chart do
        etp_cell cells[CATEGORY_COLUMNS] = {etp_cell_colored(etp_cell_z("Outside operators"), 8)};
        for (size_t a = 0; a < ab->n_arms; a++) {
            const int64_t ns = outside_ns(ab, ab->shown[a]);
            const double whole = etp_known_ns(ab->arms[ab->shown[a]].traced_ns);
            cells[2 + 2 * a] = etp_cell_ns(ns);
            cells[3 + 2 * a] = etp_cell_double((double)ns / whole);
        }
        etp_table_add_row(t, cells, n);
    }
}

static void category_table(const etp_ab *ab, etp_report *r)
{
    // The first half keeps the sum from overflowing. 2 stand before the arms' columns, 1 behind
    // them; an interval comes with one comparison, where there is room.
    if (ab->n_arms > MAX_COLUMNS || 2 + 2 * ab->n_arms + speedups_of(ab) + 1 > MAX_COLUMNS) {
        etp_ab_long_category_table(ab, r);
        return;
    }
    etp_ab_category_columns(ab, false, r);
    size_t short_ones = 0;
    for (size_t k = 0; k < ab->n_categories && speedups_of(ab) > 0; k++) {
        short_ones += etp_ab_category_below_clock(ab, &ab->categories[k], 0, false);
    }
    if (short_ones > 0) {
        etp_report_note(r, ETP_PLAIN,
                        "no speedup for %zu %s: in one of the arms less than five times what the "
                        "clocks can have cut off%s",
                        short_ones, short_ones == 1 ? "category" : "categories",
                        etp_if(ab->n_comparisons == 1, " (the interval holds what is possible)"));
    }
}

void etp_ab_category_section(const etp_ab *ab, etp_report *r)
{
    if (ab->n_categories == 0) {
        return;
    }
    etp_report_section(r, 1, "categories", "Where the time goes");
    etp_chart_only_names(
        etp_ab_breakdown_chart(&(etp_ab_views){&(struct etp_ab_view){.ab = ab}, 1}, r));
    etp_ab_fold_recorded(ab, r);
    etp_ab_delegation_chart(ab, r);
    category_table(ab, r);
}

// ---- ledger ----

// The interval of a sum is not the sum of the intervals, and the ledger has none for it. What a
// category below its clock gained is the boundary's as much as its own: the two are one step.
size_t etp_ab_step_of(const etp_ab *ab, size_t at, etp_category category, etp_row_kind kind,
                      bool ties, etp_ledger_row *out)
{
    const etp_ledger *l = &ab->ledgers[at];
    bool operators = category != ETP_CATEGORY_COUNT, below[ETP_CATEGORY_COUNT + 1] = {false};
    size_t rows = 0;
    *out = (etp_ledger_row){
        .label = operators ? etp_category_name(category) : etp_row_kind_name(kind),
        .lo_ns = ETP_NS_UNKNOWN,
        .hi_ns = ETP_NS_UNKNOWN,
    };
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        below[c->category] = etp_ab_category_below_clock(ab, c, at, true);
        if (below[c->category] && !operators && kind == ETP_ROW_BOUNDARY) {
            out->label = "short + boundary";
        }
    }
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *row = &l->items[i];
        bool own = row->category == category && !below[category] &&
                   (operators || (row->kind == kind && (ties || !row->ties)));
        if (own || (below[row->category] && !operators && kind == ETP_ROW_BOUNDARY)) {
            out->delta_ns += row->delta_ns;
            out->lo_ns = row->lo_ns; // of a single row
            out->hi_ns = row->hi_ns;
            rows++;
        }
    }
    if (rows > 1) {
        out->lo_ns = out->hi_ns = ETP_NS_UNKNOWN;
    }
    return rows;
}

static void waterfall_step(const etp_ab *ab, size_t at, etp_category category, etp_row_kind kind,
                           etp_chart *c)
{
    bool operators = category != ETP_CATEGORY_COUNT;
    etp_ledger_row s;
    // A step that no rule explains is drawn pale: it is no work of the model's.
    bool muted = !operators && kind == ETP_ROW_UNEXPLAINED;
    if (etp_ab_step_of(ab, at, category, kind, false, &s) > 0) {
        etp_chart_step(c, s.label, operators ? "operator" : etp_row_kind_name(kind), muted,
                       (double)s.delta_ns, etp_known_ns(s.lo_ns), etp_known_ns(s.hi_ns));
    }
}

// Its steps are those of an inference that is recorded: what recording costs is no reason for the
// difference, and the table of the ledger says it.
void etp_ab_waterfall(const etp_ab *ab, size_t at, etp_report *r)
{
    const etp_ledger *l = &ab->ledgers[at];
    if (!etp_ab_told(ab, at)) {
        etp_report_note(r, ETP_WARN, "differences are withheld: %s",
                        etp_ab_withheld_text(ab->comparisons[at].withheld));
        return;
    }
    // The rows that tie the recording to the headline (`ties`: around, tracer, iterations) are
    // taken off both ends, so that the picture leads from one recorded inference to the other.
    int64_t ends[2] = {l->baseline_ns, l->candidate_ns};
    bool ties = false;
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].ties) {
            ends[0] -= l->items[i].baseline_ns;
            ends[1] -= l->items[i].candidate_ns;
            ties = true;
        }
    }
    const char *base = ab->arms[ab->comparisons[at].baseline].measured;
    const char *cand = ab->arms[ab->comparisons[at].candidate].measured;
    char id[32];
    snprintf(id, sizeof id, "waterfall-%zu", at + 1);
    etp_chart *c =
        etp_report_chart(r, ETP_CHART_WATERFALL, id, "From baseline to candidate", ETP_KIND_NS);
    if (ties) {
        etp_chart_describe(c,
                           "Every step from %s to %s, of inferences that are recorded; the steps "
                           "add up exactly. Without recording: %s → %s.",
                           base, cand, ETP_NS((double)l->baseline_ns),
                           ETP_NS((double)l->candidate_ns));
    } else {
        etp_chart_describe(c, "Every step from %s to %s; the steps add up exactly.", base, cand);
    }
    etp_chart_total(c, base, (double)ends[0]);
    for (size_t k = 0; k < ab->n_categories; k++) {
        waterfall_step(ab, at, ab->categories[k].category, ETP_ROW_OPERATOR, c);
    }
    static const etp_row_kind k_kinds[] = {ETP_ROW_BOUNDARY, ETP_ROW_FRAMEWORK,
                                           ETP_ROW_UNEXPLAINED};
    for (size_t i = 0; i < sizeof k_kinds / sizeof *k_kinds; i++) {
        waterfall_step(ab, at, ETP_CATEGORY_COUNT, k_kinds[i], c);
    }
    etp_chart_total(c, cand, (double)ends[1]);
}

// The total is that of the ledger's ends and not summed up here: rows that did not add up would
// show.
static void ledger_table(const etp_ab *ab, size_t at, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "id", .flags = ETP_COL_MINOR},
        {.key = "label", .title = "row", .flags = ETP_COL_CODE},
        {.key = "kind", .title = "kind"},
        {.key = "category", .title = "category", .flags = ETP_COL_MINOR},
        {.key = "baseline_ns", .title = "baseline", .kind = ETP_KIND_NS},
        {.key = "candidate_ns", .title = "candidate", .kind = ETP_KIND_NS},
        {.key = "delta_ns", .title = "difference", .kind = ETP_KIND_NS, .flags = ETP_COL_SIGNED},
        {.key = "lo_ns",
         .title = "low",
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_SIGNED | ETP_COL_MINOR},
        {.key = "hi_ns",
         .title = "high",
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_SIGNED | ETP_COL_MINOR},
        {.key = "q",
         .title = "q",
         .kind = ETP_KIND_DOUBLE,
         .flags = ETP_COL_MINOR,
         .help = "chance of a false claim among all operators with this or a smaller q"},
        {.key = "bound_ns", .title = "truncation ≤", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
    };
    const etp_ledger *l = &ab->ledgers[at];
    char id[32];
    snprintf(id, sizeof id, at ? "ledger-%zu" : "ledger", at + 1);
    etp_table *t = etp_report_table(r, id, NULL, k_columns, 11);
    // All rows: a ledger with rows left out would not add up before the reader's eyes.
    etp_table_limit(t, 0);
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *row = &l->items[i];
        ETP_ROW(t, etp_cell_z(row->id), etp_cell_z(row->label),
                etp_cell_z(etp_row_kind_name(row->kind)),
                etp_cell_z(row->category == ETP_CATEGORY_COUNT ? NULL
                                                               : etp_category_name(row->category)),
                etp_cell_ns(row->baseline_ns), etp_cell_ns(row->candidate_ns),
                etp_cell_judged(etp_ab_delta_cell(ab, at, row->delta_ns), etp_ab_row_change(row)),
                etp_cell_ns(row->lo_ns), etp_cell_ns(row->hi_ns), etp_cell_double(row->q),
                etp_cell_ns(row->bound_ns));
    }
    ETP_ROW(t, etp_cell_z("total"), etp_cell_z("total"), etp_cell_missing(), etp_cell_missing(),
            etp_cell_ns(l->baseline_ns), etp_cell_ns(l->candidate_ns),
            etp_ab_delta_cell(ab, at, l->delta_ns), etp_cell_missing(), etp_cell_missing(),
            etp_cell_missing(), etp_cell_missing());
    etp_table_row_is_total(t);
}

void etp_ab_ledger_section(const etp_ab *ab, etp_report *r)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        if (ab->ledgers[i].n == 0) {
            continue;
        }
        char id[32], title[160];
        snprintf(id, sizeof id, i ? "ledger-section-%zu" : "ledger-section", i + 1);
        snprintf(title, sizeof title, "Ledger: %s to %s",
                 ab->arms[ab->comparisons[i].baseline].measured,
                 ab->arms[ab->comparisons[i].candidate].measured);
        etp_report_section(r, 1, id, title);
        etp_report_section_is_detail(r);
        etp_report_text(r,
                        "Exclusive times, means over the executions around the median of each "
                        "traced launch; integer nanoseconds "
                        "that add up to the two ends exactly.%s",
                        etp_if(ab->emulated, " These are times of an emulator."));
        etp_ab_waterfall(ab, i, r);
        ledger_table(ab, i, r);
    }
}

// ---- operators ----

static void operator_table(const etp_ab *ab, etp_report *r)
{
    size_t fixed = (ab->roofs ? 6 : 4) + (ab->misnamed ? ab->n_arms : 0); // shown, behind the arms'
    if (ab->n_arms > MAX_COLUMNS || 3 + ab->n_arms + speedups_of(ab) + fixed > MAX_COLUMNS) {
        etp_ab_long_operator_table(ab, r);
        return;
    }
    etp_column columns[MAX_COLUMNS + 2] = {
        {.key = "id",       .title = "id",       .flags = ETP_COL_MINOR},
        {.key = "label",    .title = "operator", .flags = ETP_COL_CODE },
        {.key = "category", .title = "category", .flags = ETP_COL_MINOR},
    };
    size_t n = 3;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *arm = &ab->arms[ab->shown[i]];
        columns[n] = etp_ab_time_column(ab, arm);
        columns[n++].flags = i == 0 ? ETP_COL_BAR : 0;
    }
    for (size_t i = 0; i < speedups_of(ab); i++) {
        columns[n++] = etp_ab_speedup_column(ab, i);
    }
    etp_ab_operator_tail(ab, columns + n);
    n += ETP_AB_OPERATOR_TAIL;
    // Beside names of experiments that say what did not run: who reads the CSV reads no finding.
    for (size_t i = 0; ab->misnamed && i < ab->n_arms; i++) {
        const etp_ab_arm *arm = &ab->arms[ab->shown[i]];
        columns[n++] =
            (etp_column){.key = etp_arena_printf(ab->arena, "%s_level", arm->name),
                         .title = etp_arena_printf(ab->arena, "%s ran at", arm->measured),
                         .flags = ETP_COL_MINOR};
    }
    etp_table *t = etp_report_table(r, ETP_AB_TABLE_OPERATORS, NULL, columns, n);
    // Text and Markdown show the longest; CSV and HTML have all.
    etp_table_limit(t, 15);
    const etp_severity *changes[MAX_COLUMNS] = {NULL};
    for (size_t c = 0; c < speedups_of(ab) && c < MAX_COLUMNS; c++) {
        changes[c] = etp_ab_operator_changes(ab, c, ab->arena);
    }
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[ab->by_time[i]];
        etp_cell cells[MAX_COLUMNS + 2] = {etp_cell_z(op->id), etp_cell_z(op->label),
                                           etp_cell_z(etp_category_name(op->category))};
        size_t at = 3;
        for (; at < 3 + ab->n_arms; at++) {
            cells[at] = etp_cell_ns(op->ns[ab->shown[at - 3]]);
        }
        for (size_t c = 0; c < speedups_of(ab); c++) {
            etp_severity change =
                c < MAX_COLUMNS && changes[c] ? changes[c][ab->by_time[i]] : ETP_PLAIN;
            cells[at++] = etp_cell_judged(etp_cell_double(op->speedup[c]), change);
        }
        etp_ab_operator_tail_cells(ab, op, ab->bottleneck_arm, cells + at);
        at += ETP_AB_OPERATOR_TAIL;
        for (size_t a = 0; at < n; at++, a++) {
            cells[at] = etp_cell_z(ab->arms[ab->shown[a]].level_name);
        }
        etp_table_add_row(t, cells, n);
    }
}

// Of one arm alone; where arms are compared speedups are left out and say why.
void etp_ab_short_note(const etp_ab *ab, etp_report *r)
{
    size_t n = 0;
    bool single = ab->n_arms == 1 && !ab->emulated;
    for (size_t i = 0; single && i < ab->n_operators; i++) {
        const etp_ab_clocked_time part = etp_ab_operator_time(ab, &ab->operators[i], 0);
        n += ab->operators[i].delegated && etp_ab_time_below_clock(&part);
    }
    if (n > 0) {
        etp_report_note(r, ETP_PLAIN,
                        "%zu operator%s below the clock: it can have cut off more than the time "
                        "that is told (XNNPACK records whole microseconds)",
                        n, etp_if(n != 1, "s"));
    }
}

void etp_ab_operator_section(const etp_ab *ab, etp_report *r)
{
    if (ab->n_operators == 0) {
        return;
    }
    etp_report_section(r, 1, "operators", "Operators");
    uint32_t candidate = ab->n_comparisons ? ab->comparisons[0].candidate : ab->baseline;
    operator_table(ab, r);
    size_t short_ones = 0;
    bool known = false, placed = false;
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        known = known || (op->facts && op->facts->op.work.known);
        placed = placed || (op->roofs && op->roofs[ab->bottleneck_arm].verdict != ETP_ROOF_UNKNOWN);
        const etp_ab_clocked_time before = etp_ab_operator_time(ab, op, ab->baseline),
                                  after = etp_ab_operator_time(ab, op, candidate);
        short_ones +=
            ab->n_comparisons > 0 && etp_ab_below_clock(ab, 0, op->speedup[0], &before, &after);
    }
    if (short_ones > 0) {
        etp_report_note(r, ETP_PLAIN,
                        "no speedup for %zu operator%s below what the clock resolves in one of the "
                        "arms (under 5 µs: XNNPACK records whole microseconds)",
                        short_ones, etp_if(short_ones != 1, "s"));
    }
    etp_ab_short_note(ab, r);
    // Where the roofs are from, or how to get some: only where the work is known that they are for.
    // Three cases: no roofs at all, none for this arm's level and threads, or those that were used.
    if (!known || ab->emulated) {
        return;
    }
    const etp_ab_arm *arm = &ab->arms[ab->bottleneck_arm];
    if (!ab->roofs) {
        etp_report_note(
            r, ETP_PLAIN,
            ab->bare ? "roofs: none; measure the device with 'etprof roofs --format json' and "
                       "name the file with --roofs-file"
                     : "roofs: none; 'etprof roofs' measures them for the next session");
    } else if (!placed) {
        etp_report_note(r, ETP_WARN,
                        "roofs: none for %s with %u threads at level %s; 'etprof roofs --threads' "
                        "measures more",
                        arm->measured, ETP_MAX(arm->threads, 1),
                        ETP_OR(arm->level_name, "(not recorded)"));
    } else {
        etp_report_note(r, ETP_PLAIN, "roofs: of %s, %s%s", etp_ab_roofs_device(ab), arm->measured,
                        etp_if(!arm->threads, "; its thread count is unknown, 1 is assumed"));
    }
}

// ---- raw blocks ----

// A cumulative distribution: medians hide whether an arm has two speeds or a long tail.
static void spread_chart(const etp_ab *ab, etp_report *r)
{
    enum { MAX_SERIES = 12 };
    size_t arms = 0;
    double most = 0, usual = 0;
    uint32_t shown[MAX_SERIES];
    for (size_t i = 0; i < ab->n_arms && arms < MAX_SERIES; i++) {
        const double *spread = ab->arms[ab->shown[i]].spread;
        if (spread) {
            shown[arms++] = ab->shown[i];
            most = fmax(most, spread[ETP_AB_SPREAD - 1]);
            usual = fmax(usual, spread[ETP_AB_SPREAD - 2]); // without one interrupted iteration
        }
    }
    if (arms == 0 || ab->emulated) {
        return;
    }
    etp_chart *c =
        etp_report_chart(r, ETP_CHART_LINES, "spread", "Every timed iteration", ETP_KIND_NS);
    etp_chart_describe(c,
                       "Latency by percentile: x %% of an arm's timed iterations took y or less. "
                       "All launches, with their warm-up.");
    etp_chart_x_title(c, "per cent of the iterations");
    etp_chart_ceiling(c, most > 1.5 * usual ? 1.25 * usual : 0);
    for (size_t i = 0; i < arms; i++) {
        etp_chart_series(c, ab->arms[shown[i]].measured);
    }
    for (size_t q = 0; q < ETP_AB_SPREAD; q++) {
        double values[MAX_SERIES];
        for (size_t i = 0; i < arms; i++) {
            values[i] = ab->arms[shown[i]].spread[q];
        }
        etp_chart_point(c, 100.0 * (double)q / (ETP_AB_SPREAD - 1), values, arms);
    }
}

// Each arm once: its name in commands, what was measured of it, and how often. What compares arms
// is the headline's, or of the states; TIMES: not those that a headline or a picture has.
static void arms_of_page(const etp_ab *ab, bool times, etp_report *r)
{
    bool levels = false; // else the first column says them
    for (size_t i = 0; i < ab->n_arms; i++) {
        const char *word = etp_ab_level_word(&ab->arms[i]);
        levels = levels || !word || strcmp(word, ab->arms[i].measured) != 0;
    }
    const unsigned level = levels ? 0 : ETP_COL_ABSENT, time = times ? 0 : ETP_COL_ABSENT,
                   state = ab->n_comparisons == 0 ? 0 : ETP_COL_ABSENT;
    const etp_column columns[] = {
        {.key = "arm", .title = "arm"},
        {.key = "name", .title = "in commands", .flags = ETP_COL_CODE},
        {.key = "level", .title = "level", .flags = level},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "launches", .title = "launches", .kind = ETP_KIND_INT},
        {.key = "samples", .title = "iterations", .kind = ETP_KIND_INT},
        {.key = "untraced_ns", .title = "untraced", .kind = ETP_KIND_NS, .flags = time},
        {.key = "untraced_lo_ns", .title = "from", .kind = ETP_KIND_NS, .flags = time},
        {.key = "untraced_hi_ns", .title = "to", .kind = ETP_KIND_NS, .flags = time},
        {.key = "etdump_mean_ns", .title = "ETDump mean", .kind = ETP_KIND_NS},
        {.key = "etdump_median_ns", .title = "ETDump median", .kind = ETP_KIND_NS},
        {.key = "etdump_runs", .title = "executions", .kind = ETP_KIND_INT},
        {.key = "load_ns", .title = "load", .kind = ETP_KIND_NS, .flags = state},
        {.key = "first_ns", .title = "first run", .kind = ETP_KIND_NS, .flags = state},
        {.key = "peak_rss_bytes", .title = "peak memory", .kind = ETP_KIND_BYTES, .flags = state},
    };
    etp_table *t = etp_report_table(r, "arms-page", "Arms", columns, 15);
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[ab->shown[i]];
        ETP_ROW(t, etp_cell_z(a->measured), etp_cell_z(a->name),
                etp_cell_called(a->level_name, etp_ab_level_word(a)),
                etp_cell_if(a->threads, etp_cell_u64(a->threads)), etp_cell_u64(a->launches),
                etp_cell_u64(a->samples), etp_cell_ns(a->median_ns), etp_cell_rounded_ns(a->lo_ns),
                etp_cell_rounded_ns(a->hi_ns), etp_cell_ns(a->traced_mean_ns),
                etp_cell_rounded_ns(a->traced_median_ns),
                etp_cell_if(a->traced_runs, etp_cell_u64(a->traced_runs)),
                etp_cell_ns(a->costs[ETP_COST_LOAD]), etp_cell_ns(a->costs[ETP_COST_FIRST]),
                etp_cell_ns(a->costs[ETP_COST_PEAK]));
    }
    etp_report_text(
        r, "ETDump: Method::execute of traced launches, with what tracing costs. Iterations "
           "are untraced: no tracer is attached; the verdict rests on the geometric mean "
           "of the launches' medians.");
}

void etp_ab_blocks_section(const etp_ab *ab, bool times_above, etp_report *r)
{
    etp_report_section(r, 1, "latency-section", "Latency");
    etp_report_section_is_folded(r);
    etp_report_section_is_detail(r);
    const etp_ab_views one = {&(struct etp_ab_view){.ab = ab}, 1};
    etp_medium medium = etp_report_medium(r, ETP_OFF_PAGE);
    // Inside a part that is for one medium already, the other one's table must not appear: MEDIUM
    // is what the author around this wanted.
    if (medium != ETP_ON_PAGE) {
        etp_ab_latency_chart(&one, r);
        etp_ab_latency_table(&one, r);
    }
    etp_report_medium(r, ETP_ON_PAGE);
    if (medium != ETP_OFF_PAGE) {
        // The headline, a picture or a table above has the times of the arms; else their table.
        enum { DRAWN = 32 };
        // The headline has a bar for each of two arms: what it draws is drawn there alone.
        bool drawn = ab->n_arms == 2 && ab->n_comparisons == 1 && !ab->comparisons[0].withheld &&
                     !ab->emulated && ab->arms[0].median_ns != ETP_NS_UNKNOWN &&
                     ab->arms[1].median_ns != ETP_NS_UNKNOWN;
        bool headline = times_above || drawn;
        if (!headline && !(ab->n_arms > 2 && etp_ab_pictures_first(ab, r))) {
            etp_ab_latency_chart(&one, r);
        }
        arms_of_page(ab, !headline && ab->n_arms > DRAWN, r);
        spread_chart(ab, r);
    }
    etp_report_medium(r, medium);
    if (ab->n_blocks == 0 || ab->emulated) {
        return;
    }
    etp_chart *c = etp_report_chart(r, ETP_CHART_BLOCKS, "blocks", "Every launch", ETP_KIND_NS);
    enum { MAX_SERIES = 16 };
    double values[MAX_SERIES];
    size_t arms = ETP_MIN(ab->n_arms, MAX_SERIES);
    etp_chart_describe(c,
                       "One dot per launch: its median after warm-up. Launches of one block ran "
                       "right after each other and are joined.%s",
                       etp_if(arms < ab->n_arms, " The first sixteen arms are shown."));
    etp_chart_x_title(c, "block");
    if (!etp_ab_told(ab, 0)) {
        etp_chart_no_ratio(c);
    }
    for (size_t i = 0; i < arms; i++) {
        etp_chart_series(c, ab->arms[ab->shown[i]].measured);
    }
    for (uint32_t b = 0; b < ab->n_blocks; b++) {
        char label[16];
        snprintf(label, sizeof label, "%u", b + 1);
        for (size_t i = 0; i < arms; i++) {
            // block_values is a table, a row for each block; a block in which a launch was lost has
            // NAN there.
            values[i] = ab->block_values[(size_t)b * ab->n_arms + ab->shown[i]];
        }
        etp_chart_row(c, label, values, arms);
    }
}

// ---- evidence ----

// Every line of evidence, also those that say nothing: a reviewer wants to see what was looked at.
static void proof_table(const etp_ab *ab, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "arm", .title = "arm", .flags = ETP_COL_CODE},
        {.key = "evidence", .title = "evidence"},
        {.key = "says", .title = "says"},
        {.key = "text", .title = "what was seen"},
    };
    etp_table *t = etp_report_table(r, "proof", "Proof", k_columns, 4);
    for (size_t i = 0; i < ab->n_arms; i++) {
        for (size_t k = 0; k < ab->arms[i].proof.lines.n; k++) {
            const etp_proof_line *line = &ab->arms[i].proof.lines.items[k];
            etp_cell says = etp_cell_z("nothing");
            if (line->contradicts) {
                says = etp_cell_judged(etp_cell_z("contradicted"), ETP_BAD);
            } else if (line->supports) {
                says = etp_cell_judged(etp_cell_z("confirmed"), ETP_GOOD);
            }
            ETP_ROW(t, etp_cell_called(ab->arms[i].name, ab->arms[i].measured),
                    etp_cell_z(etp_proof_kind_name(line->kind)), says, etp_cell_z(line->text));
        }
        if (ab->arms[i].proof.by_table) {
            ETP_ROW(t, etp_cell_called(ab->arms[i].name, ab->arms[i].measured),
                    etp_cell_z(etp_proof_kind_name(ETP_PROOF_NAMES)), etp_cell_missing(),
                    etp_cell_z(etp_proof_names_note(&ab->arms[i].proof)));
        }
    }
}

void etp_ab_evidence_section(const etp_ab *ab, etp_report *r)
{
    bool proof = false;
    for (size_t i = 0; i < ab->n_arms; i++) {
        proof = proof || ab->arms[i].proof.lines.n > 0;
    }
    if (!proof && ab->n_lost == 0 && ab->n_device == 0) {
        return;
    }
    etp_report_section(r, 1, "evidence", "Evidence");
    etp_report_section_is_folded(r);
    etp_report_section_is_detail(r);
    if (proof) {
        proof_table(ab, r);
    }
    if (ab->n_lost) {
        static const etp_column k_columns[] = {
            {.key = "arm", .title = "arm", .flags = ETP_COL_CODE},
            {.key = "block", .title = "block", .kind = ETP_KIND_INT},
            {.key = "text", .title = "what happened"},
            {.key = "recovered", .title = "recovered"},
        };
        etp_table *t = etp_report_table(r, "lost", "Lost launches", k_columns, 4);
        for (size_t i = 0; i < ab->n_lost; i++) {
            const etp_run_lost *l = &ab->lost[i];
            ETP_ROW(t, etp_cell_z(ab->arms[l->arm].name), etp_cell_u64(l->block),
                    etp_cell_z(ab->lost_texts[i]), etp_cell_z(etp_yes_no(l->recovered)));
        }
    }
    etp_keys *keys = etp_report_keys(r, "Device");
    for (size_t i = 0; i < ab->n_device; i++) {
        // "memory_bytes 25276502016" is "memory 25.3 GB". Keys are those of the manifest; people
        // get them without underscores, and sizes with a unit.
        const etp_detail *f = &ab->device[i];
        const etp_str end = ETP_STR("_bytes");
        uint64_t bytes;
        size_t n = strlen(f->key);
        bool is_size = n > end.len && strcmp(f->key + n - end.len, end.ptr) == 0 &&
                       etp_parse_u64(etp_str_from(f->value), &bytes);
        char *key = etp_arena_printf(ab->arena, "%.*s", (int)(is_size ? n - end.len : n), f->key);
        for (char *c = key; c && *c; c++) {
            *c = *c == '_' ? ' ' : *c;
        }
        etp_keys_add(keys, ETP_PLAIN, ETP_OR(key, f->key), "%s",
                     is_size ? ETP_BYTES(bytes) : f->value);
    }
}
