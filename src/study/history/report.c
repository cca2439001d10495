// SPDX-License-Identifier: Apache-2.0
// A history as a document, as a report and as a table.
#include <math.h>

#include "base/csv.h"
#include "base/number.h"
#include "document/rows.h"
#include "study/history/internal.h"

#define MAX_CARDS 3 // changes on the first screen

LENGTH(k_runs, etp_history, doc->runs.n)
FIND(change_time, etp_history_change, etp_history, &doc->runs.items[it->run].time)
// A mean over runs: of times in whole nanoseconds.
static double mean_of(const etp_place *at, double v)
{
    const etp_history_series *s = at->outer->object;
    return s->unit == ETP_SERIES_TIME ? round(v) : etp_history_ratio(v);
}
FIND(before, etp_history_change, etp_history, MAKE(real, mean_of(at, it->before)))
FIND(after, etp_history_change, etp_history, MAKE(real, mean_of(at, it->after)))
FIND(relative, etp_history_change, etp_history,
     MAKE(real, it->before != 0 ? it->after / it->before - 1 : (double)NAN))

static void write_attributes(etp_json *j, const etp_place *at)
{
    const etp_history *h = at->root;
    etp_json_begin_array_inline(j);
    for (size_t a = 0; a < h->attributes.n; a++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "name", h->attributes.items[a]);
        etp_json_kv_str(j, "value", ((const etp_history_run *)at->object)->attributes[a]);
        etp_json_end(j);
    }
    etp_json_end(j);
}

#define OF etp_history_run
static const etp_field k_run_rows[] = {
    FIELD("time", STR, time, "as written; ISO 8601 for run folders", .flags = ETP_SET),
    WRITTEN("attributes", write_attributes,
            "{\"type\": \"array\", \"items\": {\"type\": \"object\", "
            "\"required\": [\"name\", \"value\"], \"properties\": "
            "{\"name\": {\"type\": \"string\"}, \"value\": {\"type\": \"string\"}}}}",
            "`name` and `value`, empty unknown"),
};
static SHAPE_ON_ONE_LINE(k_run, k_run_rows);
#undef OF
#define OF etp_history_change
static const etp_field k_change_rows[] = {
    FIELD("run", UINT, run, "index of the first of the new segment"),
    MADE("time", STR, change_time, "of it", .flags = ETP_SET),
    MADE("before", NUMBER, before, "mean of the segment before", .range = ETP_SIGNED),
    MADE("after", NUMBER, after, "of the new one", .range = ETP_SIGNED),
    MADE("change", RATIO, relative, "after ÷ before − 1", .range = ETP_SIGNED),
    FIELD("p", RATIO, p, "of no change", .range = ETP_0_TO_1),
    FIELD("also_changed", STR, also, "attributes, comma-separated"),
};
static SHAPE_ON_ONE_LINE(k_change, k_change_rows);
#undef OF
#define OF etp_history_series
static const etp_field k_series_rows[] = {
    FIELD("name", STR, name,
          "ends in _ns for times, in _speedup for ratios, in _tokens_per_s for rates",
          .flags = ETP_SET),
    FIELD("phase", STR, phase, "that it is a figure of; absent: none, or not known",
          .flags = ETP_EMPTY | ETP_ABSENT),
    PER("values", NUMBER, values, &k_runs, "by run", .range = ETP_SIGNED, .flags = ETP_ONE_LINE),
    LIST("changes", OBJECT, changes, n_changes, "in order", .shape = &k_change),
};
static SHAPE(k_series, k_series_rows);
#undef OF
#define OF etp_history
static const etp_field k_rows[] = {
    FIELD("min_change", RATIO, min_change, "smaller changes are left out", .flags = ETP_SET),
    VECTOR("runs", OBJECT, runs, "in the order of time", .shape = &k_run),
    VECTOR("series", OBJECT, series, "one figure over the runs", .shape = &k_series),
};
static SHAPE(k_history, k_rows);
#undef OF
const etp_document k_etp_history_document = {"etprof.history/1", "What history prints", &k_history};

void etp_history_json(const void *history, etp_json *j)
{
    etp_document_write(j, &k_etp_history_document, history, history);
}

static etp_cell name_cell(const etp_history_series *s, etp_arena *arena)
{
    etp_cell c = etp_cell_str(s->name);
    etp_str called = etp_history_called(s->name, arena);
    c.called = etp_str_eq(called, s->name) ? (etp_str){"", 0} : called;
    return c;
}

// ---- first screen ----

typedef struct newest { // the last change of a series
    const etp_history_series *series;
    const etp_history_change *change;
} newest;

// The relative size, up or down alike.
static double size_of(const etp_history_change *c)
{
    return fabs(c->after - c->before) / fabs(c->before);
}

static bool stands_before(const newest *x, const newest *y)
{
    return x->change->run != y->change->run ? x->change->run > y->change->run
                                            : size_of(x->change) > size_of(y->change);
}

static void change_card(const etp_history *h, const newest *x, etp_report *r, etp_arena *arena)
{
    const etp_history_change *c = x->change;
    const char *label = etp_arena_printf(
        arena, "%.*s since %.*s", ETP_STR_ARG(etp_history_called(x->series->name, arena)),
        ETP_STR_ARG(etp_history_shown_time(h->runs.items[c->run].time, arena)));
    const char *figures =
        etp_arena_printf(arena, "%s, %s before", etp_history_figure(x->series, c->after, arena),
                         etp_history_figure(x->series, c->before, arena));
    etp_history_change_card(x->series, c, label, figures, r, arena);
}

// What changed: the last change of each series, the latest first.
// The MAX_CARDS first of them are kept sorted in FIRST while the series are walked.
static void change_cards(const etp_history *h, etp_report *r, etp_arena *arena)
{
    newest first[MAX_CARDS];
    size_t n = 0, alone = 0;
    for (size_t i = 0; i < h->series.n; i++) {
        const etp_history_series *s = &h->series.items[i];
        newest x = {s, s->n_changes ? &s->changes[s->n_changes - 1] : NULL};
        size_t at = n;
        while (x.change && at > 0 && stands_before(&x, &first[at - 1])) {
            at--;
        }
        if (!x.change || at == MAX_CARDS) {
            continue;
        }
        n += n < MAX_CARDS;
        for (size_t k = n - 1; k > at; k--) {
            first[k] = first[k - 1];
        }
        first[at] = x;
    }
    for (size_t i = 0; i < n; i++) {
        change_card(h, &first[i], r, arena);
        alone += first[i].change->also.len == 0;
    }
    etp_history_beside_fact(alone, n, r);
    if (n == 0) {
        // A segment has three values at least (etp_change_points): below six there can be no two.
        bool few = h->runs.n < 6;
        etp_headline card = {.label = etp_arena_printf(arena, "in %zu series over %zu run%s",
                                                       h->series.n, h->runs.n,
                                                       h->runs.n == 1 ? "" : "s"),
                             .verdict = few ? "too few runs to find a change" : "no change",
                             .severity = ETP_INFO,
                             .value = (double)NAN,
                             .lo = (double)NAN,
                             .hi = (double)NAN,
                             .reference = (double)NAN};
        etp_report_headline(r, &card);
    }
}

// ---- tables ----

static bool has_phases(const etp_history *h)
{
    for (size_t i = 0; i < h->series.n; i++) {
        if (h->series.items[i].phase.len > 0) {
            return true;
        }
    }
    return false;
}

static void series_table(const etp_history *h, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "series", .title = "series", .flags = ETP_COL_CODE},
        {.key = "runs", .title = "runs", .kind = ETP_KIND_INT},
        {.key = "first", .title = "first", .flags = ETP_COL_FIGURES},
        {.key = "last", .title = "last", .flags = ETP_COL_FIGURES},
        {.key = "difference",
         .title = "last against first",
         .kind = ETP_KIND_PERCENT,
         .flags = ETP_COL_SIGNED},
        {.key = "changes", .title = "changes", .kind = ETP_KIND_INT},
        {.key = "phase", .title = "phase", .flags = ETP_COL_CHOICE}, // where there are any
    };
    const size_t n = sizeof k_columns / sizeof *k_columns - !has_phases(h);
    etp_table *t = etp_report_table(r, "series", NULL, k_columns, n);
    for (size_t i = 0; i < h->series.n; i++) {
        const etp_history_series *s = &h->series.items[i];
        double first = (double)NAN, last = (double)NAN;
        for (size_t k = 0; k < h->runs.n; k++) {
            if (!isnan(s->values[k])) {
                first = isnan(first) ? s->values[k] : first;
                last = s->values[k];
            }
        }
        const etp_cell cells[] = {
            name_cell(s, arena),
            etp_cell_u64(s->n_known),
            etp_cell_z(etp_history_figure(s, first, arena)),
            etp_cell_z(etp_history_figure(s, last, arena)),
            etp_cell_double(last / first - 1),
            etp_cell_u64(s->n_changes),
            s->phase.len ? etp_cell_str(s->phase) : etp_cell_missing(),
        };
        etp_table_add_row(t, cells, n);
    }
}

// By run, then by series: what changed in one session stands together.
static void changes_table(const etp_history *h, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "time", .title = "from"},
        {.key = "series", .title = "series", .flags = ETP_COL_CODE},
        {.key = "before", .title = "before", .flags = ETP_COL_FIGURES},
        {.key = "after", .title = "after", .flags = ETP_COL_FIGURES},
        {.key = "change", .title = "change", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_SIGNED},
        {.key = "p", .title = "p", .kind = ETP_KIND_DOUBLE, .decimals = 6, .flags = ETP_COL_MINOR},
        {.key = "also_changed", .title = "what else changed there"},
    };
    etp_table *t =
        etp_report_table(r, "changes", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t run = 0; run < h->runs.n; run++) {
        for (size_t i = 0; i < h->series.n; i++) {
            const etp_history_series *s = &h->series.items[i];
            for (size_t k = 0; k < s->n_changes; k++) {
                const etp_history_change *c = &s->changes[k];
                if (c->run == run) {
                    ETP_ROW(t, etp_cell_str(etp_history_shown_time(h->runs.items[run].time, arena)),
                            name_cell(s, arena),
                            etp_cell_z(etp_history_figure(s, c->before, arena)),
                            etp_cell_z(etp_history_figure(s, c->after, arena)),
                            etp_cell_judged(etp_cell_double(c->after / c->before - 1),
                                            etp_history_judgement(s, c)),
                            etp_cell_double(c->p),
                            c->also.len ? etp_cell_str(c->also) : etp_cell_missing());
                }
            }
        }
    }
}

static void chart(const etp_history *h, size_t at, etp_report *r, etp_arena *arena)
{
    const etp_history_series *s = &h->series.items[at];
    const char *id = etp_arena_printf(arena, "series-%zu", at + 1);
    const char *name = etp_arena_strdup(arena, etp_history_called(s->name, arena));
    etp_chart *c = etp_report_chart(r, ETP_CHART_LINES, id, name,
                                    s->unit == ETP_SERIES_TIME ? ETP_KIND_NS : ETP_KIND_DOUBLE);
    etp_chart_describe(c, "One point per run; the line of means moves where the series changed.");
    etp_chart_axes(c, "run", NULL);
    etp_chart_series(c, "run");
    etp_chart_series(c, "mean of its segment");
    double sum = 0;
    size_t n = 0, next = 0;
    for (size_t i = 0; i < h->runs.n; i++) {
        sum += isnan(s->values[i]) ? 0 : s->values[i];
        n += isnan(s->values[i]) ? 0 : 1;
    }
    // The line of means begins with that of the first segment; without changes there is one
    // segment.
    double level = s->n_changes > 0 ? s->changes[0].before : sum / (double)n;
    for (size_t i = 0; i < h->runs.n; i++) {
        if (next < s->n_changes && s->changes[next].run == i) {
            level = s->changes[next++].after;
        }
        const double values[] = {s->values[i], level};
        etp_chart_point(c, (double)(i + 1), values, NULL, NULL, 2);
    }
}

const etp_report *etp_history_report(const etp_history *h, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "history");
    size_t changes = 0;
    for (size_t i = 0; i < h->series.n; i++) {
        changes += h->series.items[i].n_changes;
    }
    const etp_str first = etp_history_shown_time(h->runs.items[0].time, arena);
    const etp_str last = etp_history_shown_time(h->runs.items[h->runs.n - 1].time, arena);
    bool one = etp_str_eq(first, last);
    etp_report_subtitle(r, "%zu run%s, %.*s%s%.*s", h->runs.n, h->runs.n == 1 ? "" : "s",
                        ETP_STR_ARG(first), one ? "" : " to ", one ? 0 : (int)last.len, last.ptr);
    etp_report_medium(r, ETP_OFF_PAGE);
    change_cards(h, r, arena);
    etp_report_fact(r, "changes", "%zu in %zu series (at least %s %%, p ≤ %s, E-divisive)", changes,
                    h->series.n, ETP_DIGITS(100 * h->min_change, 6),
                    ETP_DIGITS(ETP_HISTORY_MAX_P, 6));
    etp_report_medium(r, ETP_ON_PAGE);
    etp_history_page_first(h, r, arena);
    etp_report_medium(r, ETP_EVERYWHERE);
    if (h->runs.n < 6) {
        etp_report_note(
            r, ETP_INFO,
            "a change needs three runs on either side: with fewer than six none is found");
    }
    etp_report_medium(r, ETP_OFF_PAGE);
    if (changes > 0) {
        etp_report_section(r, 1, "changes", "Changes");
        changes_table(h, r, arena);
    }
    etp_report_section(r, 1, "series", "Series");
    series_table(h, r, arena);
    // A dozen pictures at most; the table above has every series.
    for (size_t i = 0; i < h->series.n && i < 12; i++) {
        chart(h, i, r, arena);
    }
    etp_report_medium(r, ETP_ON_PAGE);
    etp_history_page(h, r, arena);
    return r;
}

// A missing value is an empty cell, never 0: etp_history_of_csv reads it back as none.
void etp_history_csv(const etp_history *h, etp_sink *sink)
{
    etp_sink_z(sink, "time");
    for (size_t a = 0; a < h->attributes.n; a++) {
        etp_sink_z(sink, ",");
        etp_csv_text(sink, h->attributes.items[a], ',');
    }
    for (size_t i = 0; i < h->series.n; i++) {
        etp_sink_z(sink, ",");
        etp_csv_text(sink, h->series.items[i].name, ',');
    }
    etp_sink_z(sink, "\n");
    for (size_t r = 0; r < h->runs.n; r++) {
        etp_csv_text(sink, h->runs.items[r].time, ',');
        for (size_t a = 0; a < h->attributes.n; a++) {
            etp_sink_z(sink, ",");
            etp_csv_text(sink, h->runs.items[r].attributes[a], ',');
        }
        for (size_t i = 0; i < h->series.n; i++) {
            char text[ETP_NUMBER_CHARS] = "";
            if (!isnan(h->series.items[i].values[r])) {
                (void)etp_format_double(h->series.items[i].values[r], text);
            }
            etp_sink_z(sink, ",");
            etp_sink_z(sink, text);
        }
        etp_sink_z(sink, "\n");
    }
}
