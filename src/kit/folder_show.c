// SPDX-License-Identifier: Apache-2.0
// A folder of Arm's kit in words and as etprof.kit/1.
#include "kit/folder.h"

#include <math.h>

#include "show/report.h"

static const char *side_name(etp_kit_side side)
{
    return side == ETP_KIT_ON ? "on" : side == ETP_KIT_OFF ? "off" : NULL;
}

// 1 the same figure, 0 another, -1 its files give none.
static int reproduced(const etp_kit_unit *u)
{
    return !isfinite(u->reported_median_ms) || !isfinite(u->kit_median_ms)
               ? -1
               : u->reported_median_ms == u->kit_median_ms;
}

static void put_unit(const etp_kit_unit *u, etp_json *j)
{
    etp_json_begin_object(j);
    etp_json_kv_z(j, "folder", u->dir);
    etp_json_kv_z(j, "stem", u->stem);
    etp_json_kv_z(j, "model", u->model);
    etp_json_kv_z(j, "experiment", u->experiment);
    etp_json_key(j, "threads");
    u->threads ? etp_json_u64(j, u->threads) : etp_json_null(j);
    etp_json_kv_z(j, "side", side_name(u->side));
    etp_json_kv_z(j, "dump", u->dump);
    etp_json_kv_z(j, "timeline", u->timeline);
    etp_json_kv_z(j, "problem", u->problem);
    etp_json_key(j, "kit");
    etp_json_begin_object_inline(j);
    etp_json_kv_double(j, "median_ms", u->kit_median_ms);
    etp_json_kv_u64(j, "runs", u->kit_runs);
    etp_json_kv_double(j, "reported_median_ms", u->reported_median_ms);
    int same = reproduced(u);
    etp_json_key(j, "reproduced");
    same < 0 ? etp_json_null(j) : etp_json_bool(j, same);
    etp_json_end(j);
    etp_json_kv_u64(j, "runs", u->n_runs);
    etp_json_kv_double(j, "median_ns", u->median_ns);
    etp_json_key(j, "five_ns");
    etp_json_begin_object_inline(j);
    for (int c = 0; u->profile && c < ETP_KIT_CATEGORY_COUNT; c++) {
        etp_json_kv_i64(j, etp_kit_category_name((etp_kit_category)c), u->five_ns[c]);
    }
    etp_json_end(j);
    etp_json_end(j);
}

// Names per side, both sides' own order: most lines first.
static void put_kernels(const etp_kit_folder *f, etp_json *j)
{
    etp_json_begin_object(j);
    for (int i = 0; i < 2; i++) {
        etp_json_key(j, i ? "off" : "on");
        etp_json_begin_object(j);
        etp_json_kv_z(j, "stem", f->logs[i].title);
        etp_json_key(j, "registered");
        etp_json_begin_array(j);
        for (size_t k = 0; k < f->logs[i].kernels.n; k++) {
            etp_json_str(j, f->logs[i].kernels.items[k].name);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_kit_folder_json(const void *folder, etp_json *j)
{
    const etp_kit_folder *f = folder;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.kit/1");
    etp_json_key(j, "experiments");
    etp_json_begin_array(j);
    for (size_t i = 0; i < f->units.n; i++) {
        put_unit(&f->units.items[i], j);
    }
    etp_json_end(j);
    etp_json_key(j, "comparisons");
    etp_json_begin_array(j);
    for (size_t i = 0; i < f->pairs.n; i++) {
        const etp_kit_unit *off = &f->units.items[f->pairs.items[i].off],
                           *on = &f->units.items[f->pairs.items[i].on];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "model", on->model);
        etp_json_kv_u64(j, "threads", on->threads);
        etp_json_kv_z(j, "baseline", off->stem);
        etp_json_kv_z(j, "candidate", on->stem);
        etp_json_kv_ratio(j, "traced_medians", f->pairs.items[i].ratio);
        etp_json_kv_z(j, "verdict", "unknown");
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "kernels");
    if (f->logged[0]) {
        put_kernels(f, j);
    } else {
        etp_json_null(j);
    }
    etp_json_key(j, "differences");
    etp_json_begin_array(j);
    for (size_t i = 0; i < f->differences.n; i++) {
        const etp_kit_difference *d = &f->differences.items[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "defect", d->defect);
        etp_json_kv_z(j, "where", d->where);
        etp_json_kv_z(j, "kit", d->kit);
        etp_json_kv_z(j, "etprof", d->etprof);
        etp_json_kv_z(j, "why", d->why);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
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
        int same = reproduced(u);
        ETP_ROW(t, etp_cell_z(u->model), etp_cell_z(u->experiment),
                u->threads ? etp_cell_u64(u->threads) : etp_cell_missing(), etp_cell_u64(u->n_runs),
                etp_cell_double(u->median_ns), etp_cell_double(u->kit_median_ms * 1e6),
                etp_cell_z(same < 0 ? NULL
                           : same   ? "yes"
                                    : "no"),
                etp_cell_z(u->dir[0] ? u->dir : NULL));
    }
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        if (u->problem) {
            etp_report_note(r, ETP_WARN, "not used: %s", u->problem);
        }
        if (reproduced(u) == 0) {
            etp_report_note(r, ETP_WARN, "%s: %s says %.9g ms, its own table gives %.9g ms",
                            u->stem, u->robust, u->reported_median_ms, u->kit_median_ms);
        }
    }
}

// One bar per experiment: where its traced inference went, by the kit's five groups.
static void picture(const etp_kit_folder *f, etp_report *r, etp_arena *arena)
{
    bool any = false;
    for (size_t i = 0; i < f->units.n; i++) {
        any = any || f->units.items[i].profile;
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
        etp_chart_series(c, etp_kit_category_name((etp_kit_category)k));
    }
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        const char *label =
            etp_arena_printf(arena, u->threads ? "%s t%u" : "%s", u->experiment, u->threads);
        double values[ETP_KIT_CATEGORY_COUNT];
        for (int k = 0; k < ETP_KIT_CATEGORY_COUNT; k++) {
            values[k] = (double)u->five_ns[k];
        }
        if (u->profile && label) {
            etp_chart_row(c, label, values, ETP_KIT_CATEGORY_COUNT);
        }
    }
}

static void parts(const etp_kit_folder *f, etp_report *r, etp_arena *arena)
{
    size_t silent = 0;
    for (size_t i = 0; i < f->pairs.n; i++) {
        const etp_kit_pair *p = &f->pairs.items[i];
        silent += !p->session;
        if (p->session) {
            char id[32];
            snprintf(id, sizeof id, "pair-%zu", i + 1);
            etp_report_begin_part(r, id, p->label);
            etp_report_section_is_detail(r);
            etp_ab_answer_lines(etp_ab_answer(p->session), r, arena);
            etp_ab_reason_sections(etp_ab_answer(p->session), r, arena);
            etp_report_end_part(r);
        }
    }
    if (silent) {
        etp_report_note(r, ETP_INFO, "%zu %s not explained here; 'etprof compare OFF ON' does one",
                        silent, silent == 1 ? "pair is" : "pairs are");
    }
}

// Of every pair that is explained.
static void drawers(const etp_kit_folder *f, etp_report *r, etp_arena *arena)
{
    struct etp_ab_view *views = ETP_NEW_ARRAY(arena, struct etp_ab_view, f->pairs.n);
    size_t n = 0;
    for (size_t i = 0; views && i < f->pairs.n; i++) {
        const etp_kit_pair *p = &f->pairs.items[i];
        if (p->session) {
            views[n++] = (struct etp_ab_view){.ab = etp_ab_answer(p->session),
                                              .run = p->label,
                                              .scope = etp_arena_printf(arena, "pair-%zu", i + 1)};
        }
    }
    if (n) {
        etp_report_medium(r, ETP_ON_PAGE);
        etp_ab_drawers(&(etp_ab_views){views, n}, r, arena);
        etp_report_medium(r, ETP_EVERYWHERE);
    }
}

const etp_report *etp_kit_folder_report(const etp_kit_folder *f, etp_arena *arena)
{
    static const etp_column k_pairs[] = {
        {.key = "model", .title = "model"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "baseline_ns", .title = "off", .kind = ETP_KIND_NS},
        {.key = "candidate_ns", .title = "on", .kind = ETP_KIND_NS},
        {.key = "traced_medians", .title = "off ÷ on", .kind = ETP_KIND_RATIO},
        {.key = "verdict", .title = "verdict"},
    };
    etp_report *r = etp_report_create(arena, "a folder of Arm's kit");
    etp_report_section(r, 1, "experiments", "End to end, traced");
    units_table(f, r);
    picture(f, r, arena);
    etp_report_section(r, 1, "comparisons", "SME2 off against on");
    if (f->pairs.n) {
        etp_table *t =
            etp_report_table(r, "comparisons", NULL, k_pairs, sizeof k_pairs / sizeof *k_pairs);
        for (size_t i = 0; i < f->pairs.n; i++) {
            const etp_kit_unit *off = &f->units.items[f->pairs.items[i].off],
                               *on = &f->units.items[f->pairs.items[i].on];
            ETP_ROW(t, etp_cell_z(on->model),
                    on->threads ? etp_cell_u64(on->threads) : etp_cell_missing(),
                    etp_cell_double(off->median_ns), etp_cell_double(on->median_ns),
                    etp_cell_double(f->pairs.items[i].ratio), etp_cell_z("unknown: no interval"));
        }
        const etp_kit_unit *off = &f->units.items[f->pairs.items[0].off],
                           *on = &f->units.items[f->pairs.items[0].on];
        etp_report_text(r,
                        "One launch each decides nothing; 'etprof ab' measures in pairs. Where the "
                        "time went: --full, or "
                        "etprof compare %s/%s %s/%s",
                        f->path, off->dump ? off->dump : off->timeline, f->path,
                        on->dump ? on->dump : on->timeline);
    } else {
        etp_report_note(
            r, ETP_INFO,
            "no experiment that is off has a partner that is on, with the same model and threads");
    }
    if (f->logged[0]) {
        const etp_kernel_logs both = {.logs = f->logs, .n = 2};
        etp_report_section(r, 1, "kernels", "Kernels registered, on and off");
        etp_kernel_logs_view(&both, r, arena);
        etp_report_text(
            r, "Present means registered for this CPU, not run. More: etprof kernels LOG LOG");
    }
    etp_report_section(r, 1, "differences", "Where the kit's conclusions differ");
    etp_keys *k = f->differences.n ? etp_report_keys(r, NULL) : NULL;
    for (size_t i = 0; i < f->differences.n; i++) {
        const etp_kit_difference *d = &f->differences.items[i];
        etp_keys_add(k, ETP_PLAIN, d->defect, "%s: the kit: %s; etprof: %s. %s", d->where, d->kit,
                     d->etprof, d->why);
    }
    etp_report_text(r, "Defects are numbered as in docs/from-the-kit.md.");
    parts(f, r, arena);
    drawers(f, r, arena);
    return r;
}
