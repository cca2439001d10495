// SPDX-License-Identifier: Apache-2.0
// A folder of Arm's kit in words and as etprof.kit/1.
#include "kit/folder.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"
#include "document/rows.h"
#include "show/report.h"

static const char *side_name(etp_kit_side side)
{
    static const char *const k_names[] = {NULL, "on", "off"};
    return k_names[side];
}

// 1 the same figure, 0 another, -1 its files give none.
// Equal to the last bit: both are the same arithmetic on the same decimals.
static int reproduced(const etp_kit_unit *u)
{
    return !isfinite(u->reported_median_ms) || !isfinite(u->kit_median_ms)
               ? -1
               : u->reported_median_ms == u->kit_median_ms;
}

// ---- document ----

// A closed set of one word, for the schema: a pair of single launches never has another verdict.
static const char *verdict_of_one_launch(int none)
{
    (void)none;
    return "unknown";
}
WORDS(k_side, side_name, etp_kit_side, ETP_KIT_OFF + 1)
WORDS(k_verdict, verdict_of_one_launch, int, 1)
AXIS(k_five, etp_kit_folder, ETP_KIT_CATEGORY_COUNT, etp_kit_category_name((etp_kit_category)i))
ITS_LENGTH(k_registered, etp_kernel_log, it->kernels.n)
KNOWN(has_logs, etp_kit_folder, it->logged[0] != NULL)
FIND(unit_reproduced, etp_kit_unit, etp_kit_folder, MAKE(maybe, reproduced(it)))
FIND(unit_five, etp_kit_unit, etp_kit_folder, it->profile ? &it->five_ns[at->index] : NULL)
FIND(registered, etp_kernel_log, etp_kit_folder, &it->kernels.items[at->index].name)
FIND(pair_model, etp_kit_pair, etp_kit_folder, &doc->units.items[it->on].model)
FIND(pair_threads, etp_kit_pair, etp_kit_folder, MAKE(number, doc->units.items[it->on].threads))
FIND(pair_off, etp_kit_pair, etp_kit_folder, &doc->units.items[it->off].stem)
FIND(pair_on, etp_kit_pair, etp_kit_folder, &doc->units.items[it->on].stem)
FIND(pair_verdict, etp_kit_pair, etp_kit_folder, MAKE(maybe, 0))

#define OF etp_kit_unit
static const etp_field k_kit_rows[] = {
    FIELD("median_ms", NUMBER, kit_median_ms, "by the kit's rule", .range = ETP_SIGNED),
    FIELD("runs", UINT, kit_runs, "by the kit's rule"),
    FIELD("reported_median_ms", NUMBER, reported_median_ms, "as its files say",
          .range = ETP_SIGNED),
    COMPUTED("reproduced", TRISTATE, unit_reproduced, "the same; null: its files give none"),
};
static SHAPE_ON_ONE_LINE(k_kit, k_kit_rows);
static const etp_field k_unit_rows[] = {
    FIELD("folder", TEXT, dir, "below the folder; empty: at the top", .flags = ETP_BLANK),
    FIELD("stem", TEXT, stem, "what its files begin with", .flags = ETP_SET),
    FIELD("model", TEXT, model, "null: unknown"),
    FIELD("experiment", TEXT, experiment, "", .flags = ETP_SET),
    FIELD("threads", UINT, threads, "null: unknown", .flags = ETP_ZERO),
    FIELD("side", WORD, side, "by its name", .words = &k_side),
    FIELD("dump", TEXT, dump, "the recording"),
    FIELD("timeline", TEXT, timeline, "the table of executions"),
    FIELD("problem", TEXT, problem, "why its figures are missing"),
    GROUP("kit", &k_kit, "end to end, as the kit says"),
    FIELD("runs", UINT, n_runs, "executions, from the recording, else from the table"),
    FIELD("median_ns", NUMBER, median_ns, "of these", .range = ETP_SIGNED),
    COMPUTED_PER("five_ns", INT, unit_five, &k_five, "mean of an inference by the kit's category",
                 .range = ETP_SIGNED, .flags = ETP_SKIP | ETP_ONE_LINE),
};
static SHAPE(k_unit, k_unit_rows);
#undef OF
#define OF etp_kit_pair
static const etp_field k_pair_rows[] = {
    COMPUTED("model", TEXT, pair_model, "of both"),
    COMPUTED("threads", UINT, pair_threads, "of both; 0: unknown", .flags = ETP_SET),
    COMPUTED("baseline", TEXT, pair_off, "stem of the one that is off", .flags = ETP_SET),
    COMPUTED("candidate", TEXT, pair_on, "of the one that is on", .flags = ETP_SET),
    FIELD("traced_medians", RATIO, ratio, "off ÷ on, of one launch each", .range = ETP_SIGNED),
    COMPUTED("verdict", WORD, pair_verdict, "one launch each decides nothing", .words = &k_verdict,
             .flags = ETP_SET),
};
static SHAPE(k_pair, k_pair_rows);
#undef OF
#define OF etp_kernel_log
static const etp_field k_log_rows[] = {
    FIELD("stem", TEXT, title, "of the experiment", .flags = ETP_SET),
    COMPUTED_PER("registered", STR, registered, &k_registered, "names, most lines first",
                 .flags = ETP_SKIP),
};
static SHAPE(k_log, k_log_rows);
#undef OF
#define OF etp_kit_folder
static const etp_field k_kernels_rows[] = {
    FIELD("on", OBJECT, logs[0], "of the one that is on", .shape = &k_log),
    FIELD("off", OBJECT, logs[1], "of the one that is off", .shape = &k_log),
};
static SHAPE(k_kernels, k_kernels_rows);
static const etp_field k_folder_rows[] = {
    VECTOR("experiments", OBJECT, units, "by model, experiment, threads, place", .shape = &k_unit,
           .least = 1),
    VECTOR("comparisons", OBJECT, pairs, "off against on of one model, thread count and place",
           .shape = &k_pair),
    GROUP("kernels", &k_kernels, "registered, where both sides logged them", .when = has_logs),
};
static SHAPE(k_folder, k_folder_rows);
#undef OF

const etp_document k_etp_kit_document = {
    "etprof.kit/1", "what analyze and report print of a folder that Arm's kit left", &k_folder};

// ---- report ----

// A recording that lay there before was taken for a new one: its table has other times (more than
// the nanosecond that its decimals may lose), or an earlier experiment has the same.
static void stale(const etp_kit_folder *f, const etp_kit_unit *u, etp_report *r)
{
    if (!isfinite(u->dump_median_ns)) {
        return;
    }
    if (u->kit_runs == u->n_runs && fabs(u->table_median_ns - u->dump_median_ns) > 1) {
        etp_report_note(r, ETP_WARN,
                        "%s: median %s ms by its table, %s ms by the dump beside it: one of the "
                        "two is of another measurement",
                        u->stem, ETP_DIGITS(u->table_median_ns / 1e6, 9),
                        ETP_DIGITS(u->dump_median_ns / 1e6, 9));
    }
    for (const etp_kit_unit *o = f->units.items; o < u; o++) {
        if (o->dump && u->n_runs > 1 && o->n_runs == u->n_runs &&
            memcmp(o->ns, u->ns, u->n_runs * sizeof *u->ns) == 0) {
            etp_report_note(r, ETP_WARN,
                            "%s and %s have the same recording: one of the two is of "
                            "another measurement",
                            u->stem, o->stem);
            return;
        }
    }
}

static void units_table(const etp_kit_folder *f, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "model", .title = "model"},
        {.key = "experiment", .title = "experiment"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "runs", .title = "runs", .kind = ETP_KIND_INT},
        {.key = "median_ns", .title = "median", .kind = ETP_KIND_NS},
        {.key = "kit_median_ns", .title = "the kit's", .kind = ETP_KIND_NS},
        {.key = "reproduced", .title = "as reported"},
        {.key = "folder", .title = "folder", .flags = ETP_COL_MINOR},
    };
    etp_table *t =
        etp_report_table(r, "experiments", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        const int same = reproduced(u);
        const char *word = etp_yes_no(same);
        ETP_ROW(t, etp_cell_z(u->model), etp_cell_z(u->experiment),
                etp_cell_if(u->threads, etp_cell_u64(u->threads)), etp_cell_u64(u->n_runs),
                etp_cell_double(u->median_ns), etp_cell_double(u->kit_median_ms * 1e6),
                etp_cell_z(etp_z_if(!(same < 0), word)), etp_cell_z(u->dir[0] ? u->dir : NULL));
    }
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        if (u->problem) {
            etp_report_note(r, ETP_WARN, "not used: %s", u->problem);
        }
        // It follows the kit's own rule on its own table, so another result means another table.
        if (reproduced(u) == 0) {
            etp_report_note(r, ETP_WARN, "%s: %s says %s ms, its own table gives %s ms", u->stem,
                            u->robust, ETP_DIGITS(u->reported_median_ms, 9),
                            ETP_DIGITS(u->kit_median_ms, 9));
        }
        stale(f, u, r);
    }
}

// A group has the colour that the category it is called after has in every picture.
// One page holds these pictures and those of the pairs, in etprof's own categories.
static const etp_category k_namesake[ETP_KIT_CATEGORY_COUNT] = {
    [ETP_KIT_CATEGORY_CONV] = ETP_CATEGORY_CONVOLUTION,
    [ETP_KIT_CATEGORY_GEMM] = ETP_CATEGORY_GEMM,
    [ETP_KIT_CATEGORY_DATA_MOVEMENT] = ETP_CATEGORY_DATA_MOVEMENT,
    [ETP_KIT_CATEGORY_ELEMENTWISE] = ETP_CATEGORY_ELEMENTWISE,
    [ETP_KIT_CATEGORY_OTHER] = ETP_CATEGORY_OTHER,
};

// A timeline of whole inferences has no operators: how they share its time is not known.
static bool has_groups(const etp_kit_unit *u)
{
    bool any = false;
    for (int k = 0; k < ETP_KIT_CATEGORY_COUNT; k++) {
        any = any || u->five_ns[k] > 0;
    }
    return u->profile && any;
}

// One bar per experiment: where its traced inference went, by the kit's five groups.
static void picture(const etp_kit_folder *f, etp_report *r, etp_arena *arena)
{
    bool any = false;
    for (size_t i = 0; i < f->units.n; i++) {
        any = any || has_groups(&f->units.items[i]);
    }
    if (!any) {
        return;
    }
    etp_chart *c = etp_report_chart(r, ETP_CHART_STACKED, ETP_AB_CHART_BREAKDOWN,
                                    "One inference by operator group", ETP_KIND_NS);
    etp_chart_describe(
        c,
        "Mean exclusive times of the operators of one traced inference, by the kit's five groups.");
    for (int k = 0; k < ETP_KIT_CATEGORY_COUNT; k++) {
        etp_chart_series_colored(c, etp_kit_category_name((etp_kit_category)k),
                                 etp_ab_category_color(k_namesake[k]));
    }
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        const char *label =
            etp_arena_printf(arena, u->threads ? "%s t%u" : "%s", u->experiment, u->threads);
        double values[ETP_KIT_CATEGORY_COUNT];
        for (int k = 0; k < ETP_KIT_CATEGORY_COUNT; k++) {
            values[k] = (double)u->five_ns[k];
        }
        if (has_groups(u) && label) {
            etp_chart_row(c, label, values, ETP_KIT_CATEGORY_COUNT);
        }
    }
}

static const char *file_of(const etp_kit_folder *f, size_t unit, etp_arena *arena)
{
    return etp_kit_recording_of(f, &f->units.items[unit], arena);
}

static const char *compare_command(const etp_kit_folder *f, const etp_kit_pair *p, etp_arena *arena)
{
    return etp_shell_command(arena, "etprof compare %s %s --format html -o answer.html",
                             file_of(f, p->off, arena), file_of(f, p->on, arena));
}

// Of every pair that is explained.
static etp_ab_views views_of(const etp_kit_folder *f, etp_arena *arena)
{
    // The scope is the id of the pair's part, so what an action links to is what that part shows.
    struct etp_ab_view *views = ETP_NEW_ARRAY(arena, struct etp_ab_view, f->pairs.n + 1);
    size_t n = 0;
    for (size_t i = 0; views && i < f->pairs.n; i++) {
        const etp_kit_pair *p = &f->pairs.items[i];
        if (p->session) {
            views[n++] = (struct etp_ab_view){.ab = etp_ab_answer(p->session),
                                              .run = p->label,
                                              .scope = etp_arena_printf(arena, "pair-%zu", i + 1)};
        }
    }
    return (etp_ab_views){views, n};
}

enum { MOST_CARDS = 6 };

// A card for each pair, before and after as bars. One launch each has no interval.
static void cards(const etp_kit_folder *f, etp_report *r)
{
    for (size_t i = 0; i < f->pairs.n && i < MOST_CARDS; i++) { // the table has all
        const etp_kit_pair *p = &f->pairs.items[i];
        const etp_kit_unit *off = &f->units.items[p->off], *on = &f->units.items[p->on];
        const double none = (double)NAN;
        const etp_headline h = {
            .label = ETP_OR(p->label, on->experiment),
            .verdict = "unknown: one launch each",
            .severity = ETP_WARN,
            .value = p->ratio,
            .lo = none,
            .hi = none,
            .ends = {{off->experiment, off->median_ns, none, none, NULL},
                     {on->experiment, on->median_ns, none, none, NULL}},
        };
        etp_report_headline(r, &h);
    }
}

static void pairs_table(const etp_kit_folder *f, etp_report *r, etp_arena *arena)
{
    static const etp_column k_pairs[] = {
        {.key = "model", .title = "model"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "baseline_ns", .title = "off", .kind = ETP_KIND_NS},
        {.key = "candidate_ns", .title = "on", .kind = ETP_KIND_NS},
        {.key = "traced_medians", .title = "off ÷ on", .kind = ETP_KIND_RATIO},
        {.key = "verdict", .title = "verdict"},
    };
    etp_report_section(r, 1, "comparisons", "SME2 off against on");
    if (f->pairs.n == 0) {
        etp_report_note(
            r, ETP_INFO,
            "no experiment that is off has a partner that is on, with the same model and threads");
        return;
    }
    // Cards have every figure of a row. Only with more pairs than cards does the page need the
    // table, too.
    bool in_cards = f->pairs.n <= MOST_CARDS; // which are the page's
    etp_medium medium = etp_report_medium(r, in_cards ? ETP_OFF_PAGE : ETP_EVERYWHERE);
    etp_table *t =
        etp_report_table(r, "comparisons", NULL, k_pairs, sizeof k_pairs / sizeof *k_pairs);
    size_t silent = 0;
    for (size_t i = 0; i < f->pairs.n; i++) {
        const etp_kit_unit *off = &f->units.items[f->pairs.items[i].off],
                           *on = &f->units.items[f->pairs.items[i].on];
        ETP_ROW(t, etp_cell_z(on->model), etp_cell_if(on->threads, etp_cell_u64(on->threads)),
                etp_cell_double(off->median_ns), etp_cell_double(on->median_ns),
                etp_cell_double(f->pairs.items[i].ratio), etp_cell_z("unknown: no interval"));
        silent += !f->pairs.items[i].session;
    }
    etp_report_medium(r, medium);
    const etp_kit_pair *p = &f->pairs.items[0];
    const char *command = etp_shell_command(arena, "etprof compare %s %s",
                                            file_of(f, p->off, arena), file_of(f, p->on, arena));
    etp_report_text(r, "One launch each decides nothing; 'etprof ab' measures in pairs. Where the "
                       "time went: --full, or");
    etp_report_line(r, NULL, ETP_OR(command, ""));
    if (silent) {
        etp_report_note(r, ETP_INFO, "%zu %s not explained here; 'etprof compare OFF ON' does one",
                        silent, silent == 1 ? "pair is" : "pairs are");
    }
}

const etp_report *etp_kit_folder_report(const etp_kit_folder *f, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "a folder of Arm's kit");
    bool days = strcmp(f->first_date, f->last_date) != 0;
    if (f->first_date[0]) {
        etp_report_subtitle(r, "written %s%s%s", f->first_date, etp_if(days, " to "),
                            etp_if(days, f->last_date));
    } else {
        etp_report_subtitle(r, "none of its files says when it was written");
    }
    const etp_ab_views views = views_of(f, arena);
    etp_report_medium(r, ETP_ON_PAGE);
    cards(f, r);
    etp_ab_page_actions(&views, r, arena);
    if (views.n == 0) {
        etp_report_no_action(r, "No pair of off and on has its operators recorded, so nothing says "
                                "where time can be saved.");
    }
    size_t models = 0;
    // An experiment whose model is unknown is of none that can be counted.
    for (size_t i = 0; i < f->units.n; i++) {
        size_t k = 0;
        const char *name = f->units.items[i].model;
        while (k < i &&
               (!name || !f->units.items[k].model || strcmp(name, f->units.items[k].model) != 0)) {
            k++;
        }
        models += name && k == i;
    }
    etp_report_fact(r, "experiments", "%zu of %zu model%s", f->units.n, models,
                    etp_if(models != 1, "s"));
    etp_report_fact(r, "pairs", "%zu of off and on", f->pairs.n);
    etp_report_medium(r, ETP_EVERYWHERE);
    etp_report_section(r, 1, "experiments", "End to end, traced");
    units_table(f, r);
    picture(f, r, arena);
    pairs_table(f, r, arena);
    if (f->logged[0]) {
        const etp_kernel_logs both = {.logs = f->logs, .n = 2};
        etp_report_section(r, 1, "kernels", "Kernels registered, on and off");
        etp_kernel_logs_view(&both, r, arena);
        etp_report_text(
            r, "Present means registered for this CPU, not run. More: etprof kernels LOG LOG");
    }
    etp_report_parts(r, "Pair by pair");
    for (size_t i = 0; i < f->pairs.n; i++) {
        const etp_kit_pair *p = &f->pairs.items[i];
        if (p->session) {
            char id[32];
            snprintf(id, sizeof id, "pair-%zu", i + 1);
            etp_report_begin_part(r, id, p->label);
            etp_report_section_whole(r, compare_command(f, p, arena));
            etp_report_section_is_detail(r);
            etp_ab_as_part(etp_ab_answer(p->session), r, arena);
            etp_report_end_part(r);
        }
    }
    if (views.n) {
        etp_report_medium(r, ETP_ON_PAGE);
        etp_ab_drawers(&views, r, arena);
    }
    return r;
}
