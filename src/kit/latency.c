// SPDX-License-Identifier: Apache-2.0
// Reading the latencies of timeline CSVs; statistics of one, comparison of two.
#include "kit/latency.h"

#include <math.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/number.h"
#include "document/rows.h"

#define NAME_BYTES 100 // of each stem in <a>_vs_<b>…: file names end at 255

typedef struct execution {
    int64_t run;
    size_t order;
    double ms;
} execution;

typedef struct columns {
    int name, ms, run, model, level; // model, level: or -1
} columns;

// Both columns: of the kit's tables only timelines have a line for each event and execution. Only
// the header is asked: what is broken further down is told by the reader, with its line.
bool etp_kit_is_timeline(etp_str text)
{
    size_t end = etp_str_find(text, ETP_STR("\n"));
    etp_str head = {text.ptr, end};
    return etp_str_find(head, ETP_STR("duration_ms")) < end &&
           etp_str_find(head, ETP_STR("run_index")) < end;
}

static etp_status bad_cell(const etp_csv_row *row, const char *column, etp_str cell, etp_error *err)
{
    return etp_fail_at(err, ETP_CORRUPT, row->offset,
                       "line %llu, column %s: '%.*s' is not a number",
                       (unsigned long long)row->line, column, cell.len > 40 ? 40 : (int)cell.len,
                       ETP_OR(cell.ptr, ""));
}

// Within one index the file's order decides: the kit adds in that order, and in another one its
// sum could differ in the last bit.
static int by_run(const void *pa, const void *pb)
{
    const execution *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->run, b->run), ETP_ORDER(a->order, b->order));
}

static etp_status read_timeline(etp_str text, etp_arena *arena, etp_kit_timeline *out,
                                etp_error *err)
{
    *out = (etp_kit_timeline){0};
    etp_csv_reader reader;
    etp_csv_row row = {0};
    bool more;
    struct {
        execution *items;
        size_t n, cap;
    } e = {0};
    etp_csv_open(&reader, text, arena);
    ETP_TRY(etp_csv_next(&reader, &row, &more, err));
    ETP_TRY(etp_csv_refuse_others(&row, err));
    const columns at = {etp_csv_column(&row, "name"), etp_csv_column(&row, "duration_ms"),
                        etp_csv_column(&row, "run_index"), etp_csv_column(&row, "model_id"),
                        etp_csv_column(&row, "level")};
    if (at.name < 0 || at.ms < 0 || at.run < 0) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "no timeline: it needs the columns name, duration_ms and run_index");
    }
    size_t width = row.n;
    for (;;) {
        double ms;
        int64_t run;
        ETP_TRY(etp_csv_next(&reader, &row, &more, err));
        if (!more) {
            break;
        }
        // A line that is too short is where the file was cut off: without asking, the executions
        // behind it would be missed without a word.
        if (row.n != width) {
            return etp_fail_at(err, ETP_CORRUPT, row.offset,
                               "line %llu has %zu cells, the header %zu",
                               (unsigned long long)row.line, row.n, width);
        }
        // 9e9 ms are 9e15 ns, just below 2^53: up to there a double holds every nanosecond.
        if (!etp_parse_double(row.cells[at.ms], &ms) || !(ms >= 0) || ms > 9e9) {
            return bad_cell(&row, "duration_ms", row.cells[at.ms], err);
        }
        if (!etp_parse_i64(row.cells[at.run], &run)) {
            return bad_cell(&row, "run_index", row.cells[at.run], err);
        }
        // Our own tables have run index -1 for what is no finished execution.
        if (!etp_str_eqz(row.cells[at.name], "Method::execute") || run < 0) {
            continue;
        }
        if (at.model >= 0 && !out->model_id) {
            out->model_id = etp_arena_strdup(arena, row.cells[at.model]);
        }
        etp_str level = at.level >= 0 ? row.cells[at.level] : (etp_str){0};
        level = etp_str_eqz(level, ETP_CSV_UNKNOWN) ? (etp_str){0} : level;
        out->level = e.n == 0 || etp_str_eq(level, out->level) ? level : (etp_str){0};
        ETP_ADD(arena, &e, ((execution){run, e.n, ms}));
    }
    if (e.n == 0) {
        return etp_fail(err, ETP_UNKNOWN,
                        "no Method::execute in it: nothing finished while it was recorded");
    }
    qsort(e.items, e.n, sizeof *e.items, by_run);
    out->ns = ETP_NEW_ARRAY(arena, uint64_t, e.n);
    out->run = ETP_NEW_ARRAY(arena, int64_t, e.n);
    out->kit_ms = ETP_NEW_ARRAY(arena, double, e.n);
    out->kit_run = ETP_NEW_ARRAY(arena, int64_t, e.n);
    for (size_t i = 0; i < e.n; i++) {
        const execution *one = &e.items[i];
        out->ns[out->n] = (uint64_t)llround(one->ms * 1e6);
        out->run[out->n++] = one->run;
        if (i == 0 || one->run != one[-1].run) {
            out->kit_run[out->kit_n++] = one->run;
        }
        // In milliseconds as they stand in the table, not in whole nanoseconds: so does the kit.
        out->kit_ms[out->kit_n - 1] += one->ms;
    }
    return ETP_OK;
}

etp_status etp_kit_timeline_read(etp_str text, etp_arena *arena, etp_kit_timeline *out,
                                 etp_error *err)
{
    ETP_GUARDED(arena, err, "latencies", read_timeline(text, arena, out, err));
}

static etp_status describe_all(const etp_kit_timeline *timelines, const char *const *stems,
                               const char *const *names, size_t n, etp_arena *arena,
                               etp_kit_latencies *out)
{
    *out = (etp_kit_latencies){.n = n};
    for (size_t i = 0; i < n; i++) {
        const etp_kit_timeline *t = &timelines[i];
        const etp_kit_series series = {stems[i], t->ns, t->run, t->n, t->level};
        out->names[i] = ETP_OR(names[i], stems[i]);
        // Statistics are of the executions as they are; what the kit would add up is only told.
        out->summed[i] = t->kit_n;
        out->robust[i] = etp_kit_robust_of(&series, arena);
    }
    return ETP_OK;
}

etp_status etp_kit_latencies_of(const etp_kit_timeline *timelines, const char *const *stems,
                                const char *const *names, size_t n, etp_arena *arena,
                                etp_kit_latencies *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "statistics of latencies",
                describe_all(timelines, stems, names, n, arena, out));
}

// ---- the comparison of two ----

static double ratio(double a, double b)
{
    return etp_value_if(a > 0 && b > 0, a / b);
}

// The kit says "faster" and "slower" here. Two single launches do not carry that, so this says only
// how long the medians are.
static const char *describe(const etp_kit_latencies *x, char *buf, size_t size)
{
    double s = ratio(x->robust[0].kept.median, x->robust[1].kept.median);
    if (!isfinite(s)) {
        snprintf(buf, size, "unknown: a median is 0");
    } else if (s == 1) {
        snprintf(buf, size, "the medians are equal");
    } else {
        snprintf(buf, size, "%s's median is %.2f times as long as %s's; no interval, no verdict",
                 x->names[s < 1], s < 1 ? 1 / s : s, x->names[s > 1]);
    }
    return buf;
}

#define LATENCIES(name, expression) FIND(name, etp_kit_latencies, etp_kit_latencies, expression)
#define KEPT(i) it->robust[i].kept
FIND(side_name, etp_kit_robust, etp_kit_latencies, &doc->names[it - doc->robust])
FIND(level, etp_kit_robust, etp_kit_latencies, it->of.level.len > 0 ? &it->of.level : NULL)
FIND(side_median, etp_kit_robust, etp_kit_latencies, MAKE(real, it->kept.median / 1e6))
FIND(side_trimmed, etp_kit_robust, etp_kit_latencies, MAKE(real, it->trimmed_5 / 1e6))
LATENCIES(by_medians, MAKE(real, ratio(KEPT(0).median, KEPT(1).median)))
LATENCIES(by_trimmed, MAKE(real, ratio(it->robust[0].trimmed_5, it->robust[1].trimmed_5)))
LATENCIES(more_variable, isfinite(KEPT(0).cv_percent) && isfinite(KEPT(1).cv_percent) &&
                                 KEPT(0).cv_percent != KEPT(1).cv_percent
                             ? &it->names[KEPT(1).cv_percent > KEPT(0).cv_percent]
                             : NULL)
LATENCIES(cv_ratio, MAKE(real, ratio(fmax(KEPT(0).cv_percent, KEPT(1).cv_percent),
                                     fmin(KEPT(0).cv_percent, KEPT(1).cv_percent))))
KNOWN(are_two, etp_kit_latencies, it->n == 2)
static const void *description(const etp_json_cursor *at, etp_made *made)
{
    (void)describe(at->object, made->own.chars, sizeof made->own.chars);
    made->own.str = etp_str_from(made->own.chars);
    return &made->own.str;
}

#define OF etp_kit_robust
#define LEVEL \
    COMPUTED("level", STR, level, "CPU-feature level that ran; null: unknown", .flags = ETP_LATER)
static const etp_field k_side_rows[] = {
    COMPUTED("name", TEXT, side_name, "of people", .flags = ETP_SET),
    LEVEL,
    COMPUTED("median_ms", NUMBER, side_median, "without outliers", .flags = ETP_SET),
    COMPUTED("trimmed_mean_ms", NUMBER, side_trimmed, "without 5 % at either end",
             .flags = ETP_SET),
    FIELD("cv_percent", RATIO, kept.cv_percent, "standard deviation ÷ mean, without outliers"),
    FIELD("count", UINT, of.n, "of executions"),
};
static SHAPE(k_side, k_side_rows);
static const etp_field k_one_rows[] = {
    GROUP(NULL, &k_etp_kit_robust, ""),
    LEVEL,
};
static SHAPE(k_one, k_one_rows);
#undef OF
#define OF etp_kit_latencies
static const etp_field k_speedup_rows[] = {
    COMPUTED("median_based", RATIO, by_medians, "config1 ÷ config2"),
    COMPUTED("trimmed_mean_based", RATIO, by_trimmed, "likewise"),
    COMPUTED("description", STR, description, "for people", .flags = ETP_SET),
};
static SHAPE(k_speedup, k_speedup_rows);
static const etp_field k_variability_rows[] = {
    FIELD("config1_cv", RATIO, robust[0].kept.cv_percent, "in percent"),
    FIELD("config2_cv", RATIO, robust[1].kept.cv_percent, "in percent"),
    COMPUTED("more_variable", TEXT, more_variable, "name of one; null: neither"),
    COMPUTED("cv_ratio", RATIO, cv_ratio, "the larger ÷ the smaller"),
};
static SHAPE(k_variability, k_variability_rows);
static const etp_field k_comparison_rows[] = {
    FIELD("config1", OBJECT, robust[0], "the first", .shape = &k_side),
    FIELD("config2", OBJECT, robust[1], "the second", .shape = &k_side),
    GROUP("speedup", &k_speedup, "descriptions of two launches, no verdict"),
    GROUP("variability", &k_variability, "of each"),
};
static SHAPE(k_comparison, k_comparison_rows);
static const etp_field k_latency_rows[] = {
    ARRAY("latencies", OBJECT, robust, n, "of each timeline", .shape = &k_one, .least = 1),
    GROUP("comparison", &k_comparison, "of two", .when = are_two),
};
static SHAPE(k_latency, k_latency_rows);
#undef OF

const etp_document k_etp_latency_document = {"etprof.latency/1", "what stats prints of timelines",
                                             &k_latency};
const etp_document k_etp_robust_comparison_document = {
    "robust_comparison.json", "…_robust_comparison.json: two latencies side by side",
    &k_comparison};

const etp_report *etp_kit_latencies_report(const etp_kit_latencies *x, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "timeline", .flags = ETP_COL_CODE},
        {.key = "count", .title = "runs", .kind = ETP_KIND_INT},
        {.key = "median_ns", .title = "median", .kind = ETP_KIND_NS},
        {.key = "mean_ns", .title = "mean", .kind = ETP_KIND_NS},
        {.key = "min_ns", .title = "min", .kind = ETP_KIND_NS},
        {.key = "max_ns", .title = "max", .kind = ETP_KIND_NS},
        {.key = "trimmed_mean_5_ns",
         .title = "5 % trimmed",
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_MINOR},
        {.key = "cv", .title = "CV", .kind = ETP_KIND_PERCENT},
        {.key = "outliers", .title = "outliers", .kind = ETP_KIND_INT},
        {.key = "level", .title = "level"},
    };
    char text[300];
    etp_report *r = etp_report_create(arena, "latencies of traced inferences");
    etp_report_section(r, 1, "latencies", "Method::execute");
    etp_table *t =
        etp_report_table(r, "latencies", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < x->n; i++) {
        const etp_kit_robust *b = &x->robust[i];
        ETP_ROW(t, etp_cell_z(x->names[i]), etp_cell_u64(b->of.n), etp_cell_double(b->all.median),
                etp_cell_double(b->all.mean), etp_cell_double(b->all.min),
                etp_cell_double(b->all.max), etp_cell_double(b->trimmed_5),
                etp_cell_double(b->all.cv_percent / 100), etp_cell_u64(b->of.n - b->kept.n),
                b->of.level.len > 0 ? etp_cell_str(b->of.level) : etp_cell_z(ETP_CSV_UNKNOWN));
        if (x->summed[i] < b->of.n) {
            etp_report_note(
                r, ETP_WARN,
                "%s: several executions have one run index; Arm's kit adds them up and sees "
                "%zu runs instead of %zu",
                x->names[i], x->summed[i], b->of.n);
        }
    }
    if (x->n == 2) {
        etp_report_text(r, "%s", describe(x, text, sizeof text));
    }
    etp_report_text(r, "Descriptions of single launches with a tracer attached: two of them cannot "
                       "tell a speedup from "
                       "drift. 'etprof ab' measures in pairs.");
    return r;
}

typedef struct writing {
    const etp_kit_latencies *x;
    size_t i; // 2: the comparison
} writing;

static etp_status fill_file(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    const writing *w = ctx;
    etp_json j;
    etp_json_init(&j, sink, true);
    if (w->i == 2) {
        etp_object_write(&j, &k_comparison, w->x, w->x);
    } else {
        etp_object_write(&j, &k_one, &w->x->robust[w->i], w->x);
    }
    etp_json_end_document(&j);
    return ETP_OK;
}

static etp_status write_all(const etp_kit_latencies *x, const char *dir, etp_kit_kept *kept,
                            etp_arena *arena, etp_error *err)
{
    ETP_TRY(etp_os_mkdirs(dir, err));
    for (size_t i = 0; i < x->n + (x->n == 2); i++) {
        writing w = {x, i};
        const char *path =
            i < x->n
                ? etp_arena_printf(arena, "%s/%s_robust_stats.json", dir, x->robust[i].of.name)
                : etp_arena_printf(arena, "%s/%.*s_vs_%.*s_robust_comparison.json", dir, NAME_BYTES,
                                   x->robust[0].of.name, NAME_BYTES, x->robust[1].of.name);
        bool keep = false;
        ETP_TRY(etp_kit_keep_recorded(kept, path, &keep, err));
        if (!keep) {
            ETP_TRY(etp_os_replace_by(path, fill_file, &w, err));
        }
    }
    return ETP_OK;
}

etp_status etp_kit_latencies_write(const etp_kit_latencies *x, const char *dir, etp_kit_kept *kept,
                                   etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, dir, write_all(x, dir, kept, arena, err));
}
