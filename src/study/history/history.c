// SPDX-License-Identifier: Apache-2.0
// Where histories come from, and where they change.
#include "study/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/number.h"
#include "judge/open.h"
#include "os/os.h"
#include "store/store.h"
#include "study/history/internal.h"

#define DEPTH_MAX 4
#define SERIES_MAX 5000 // each arm of a session is one or two

void etp_history_put_attributes(etp_history *h)
{
    static const char *const k_attributes[] = {"program", "runner", "executorch", "etprof", "cpu"};
    for (size_t i = 0; i < sizeof k_attributes / sizeof *k_attributes; i++) {
        ETP_ADD(h->arena, &h->attributes, etp_str_from(k_attributes[i]));
    }
}

// ---- run folders ----

// Figures are collected first and put into series when all sessions are known: a series has room
// for every run, and runs are sorted by time, not in the order they are found.
typedef struct found { // a session and its figures
    etp_history_run run;
    const char *path;
    struct {
        struct figure {
            etp_str name, phase;
            double value;
        } *items;
        size_t n, cap;
    } figures;
} found;

typedef struct finder {
    etp_arena *arena;
    size_t left_out;
    struct {
        found *items;
        size_t n, cap;
    } sessions;
} finder;

// One of an arm: its files' prefix says model, experiment (a phase is part of it) and threads.
static void add_figure(finder *f, found *to, const etp_run_arm *arm, etp_series_unit unit,
                       etp_str phase, double value)
{
    if (isfinite(value)) {
        const char *name = etp_arena_printf(f->arena, "%.*s%s", ETP_STR_ARG(arm->prefix),
                                            etp_series_unit_end(unit));
        struct figure x = {etp_str_from(name), phase, value};
        ETP_ADD(f->arena, &to->figures, x);
    }
}

// By name: the answer of a later phase has that phase's arms alone, the run has all.
static const etp_run_arm *arm_called(const etp_run *run, const char *name)
{
    for (size_t i = 0; i < run->arms.n; i++) {
        if (etp_str_eqz(run->arms.items[i].name, name)) {
            return &run->arms.items[i];
        }
    }
    return NULL;
}

static void take_part(finder *f, const etp_ab *ab, const etp_run *run, found *to)
{
    etp_str phase = {0};
    if (ab->phase) {
        // Copied: the session that owns it is closed before the history is written.
        phase = etp_str_from(etp_arena_strdup(f->arena, etp_str_from(ab->phase->name)));
    }
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        const etp_run_arm *arm = arm_called(run, ab->arms[a].name);
        int64_t median = ab->arms[a].median_ns;
        double ns = median != ETP_NS_UNKNOWN && median > 0 ? (double)median : (double)NAN;
        if (arm) {
            add_figure(f, to, arm, ETP_SERIES_TIME, phase, ns);
            add_figure(f, to, arm, ETP_SERIES_RATE, phase,
                       etp_history_ratio(etp_ab_token_rate(ab, a)));
        }
    }
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        const etp_run_arm *arm = arm_called(run, ab->arms[c->candidate].name);
        if (arm) {
            add_figure(f, to, arm, ETP_SERIES_SPEEDUP, phase,
                       c->withheld ? (double)NAN : etp_history_ratio(c->estimate));
        }
    }
}

// "sha256:" keeps one that has digits alone from being read back as a number.
static void add_hash(etp_strbuf *to, etp_str sha)
{
    etp_strbuf_printf(to, "%ssha256:%.*s", to->len ? " " : "", sha.len < 12 ? (int)sha.len : 12,
                      sha.ptr);
}

etp_str etp_history_short_hashes(etp_str hashes, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t at = 0; at < hashes.len;) {
        etp_str rest = {hashes.ptr + at, hashes.len - at};
        size_t n = etp_str_find(rest, ETP_STR(" "));
        add_hash(&text, (etp_str){rest.ptr, n});
        at += n + 1;
    }
    return etp_strbuf_str(&text);
}

static void take_attributes(finder *f, const etp_run *run, found *to)
{
    etp_strbuf programs;
    etp_strbuf_init(&programs, f->arena);
    etp_str *to_set = ETP_NEW_ARRAY(f->arena, etp_str, ETP_HISTORY_ATTRIBUTES);
    for (size_t i = 0; i < run->models.n; i++) {
        add_hash(&programs, run->models.items[i].sha256);
    }
    to_set[ETP_HISTORY_RUNNER] = etp_history_short_hashes(
        run->arms.n > 0 ? run->arms.items[0].runner_sha256 : (etp_str){0}, f->arena);
    to_set[ETP_HISTORY_PROGRAM] = etp_strbuf_str(&programs);
    to_set[ETP_HISTORY_EXECUTORCH] = run->executorch.version;
    to_set[ETP_HISTORY_ETPROF] = run->tool_version;
    to_set[ETP_HISTORY_CPU] = etp_run_fact_of(run, "cpu");
    to->run = (etp_history_run){run->generated_at, to_set};
}

static etp_status add_session(finder *f, const char *path, const etp_ab *ab, const etp_run *run)
{
    found x = {.path = path};
    take_attributes(f, run, &x);
    for (size_t i = 0; i < (ab->n_phases ? ab->n_phases : 1); i++) {
        take_part(f, ab->n_phases ? ab->phases[i].ab : ab, run, &x);
    }
    ETP_ADD(f->arena, &f->sessions, x);
    return ETP_OK;
}

// With a guard of its own, since its caller holds the session that AB is of.
static etp_status guarded_add(finder *f, const char *path, const etp_ab *ab, const etp_run *run,
                              etp_error *err)
{
    ETP_GUARDED(f->arena, err, "the history", add_session(f, path, ab, run));
}

// A session counts when its figures are final and of a real device. Which phases it has, and
// whether its ratios are withheld, its own answer says.
static etp_status take_folder(void *ctx, const char *path, etp_error *err)
{
    finder *f = ctx;
    etp_run run;
    ETP_TRY(etp_run_open(path, f->arena, &run, err));
    bool timed = false;
    for (size_t i = 0; i < run.samples.n; i++) {
        timed = timed || run.samples.items[i].phase == ETP_PHASE_TIMED;
    }
    if (run.emulated || run.state != ETP_RUN_FINISHED || !timed || run.baseline >= run.arms.n) {
        f->left_out++;
        return ETP_OK;
    }
    if (f->sessions.n >= ETP_HISTORY_MAX_RUNS) {
        return etp_fail(err, ETP_UNSUPPORTED, "more than %d run folders", ETP_HISTORY_MAX_RUNS);
    }
    // Figures are those of the session's own answer: no speedup that it withholds.
    etp_ab_session *session;
    etp_status st = etp_ab_open(&path, 1, &(etp_ab_options){0}, &session, err);
    if (st == ETP_OK) {
        st = guarded_add(f, path, etp_ab_answer(session), &run, err);
        etp_ab_close(session);
    }
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", path);
}

// Nothing is looked for inside a run folder. Links and hidden folders are left aside: a link may
// lead back up.
static etp_status look_into(const char *path, int depth, etp_arena *arena, etp_history_visit *visit,
                            void *ctx, etp_error *err)
{
    if (etp_run_is(path)) {
        return visit(ctx, path, err);
    }
    if (depth == DEPTH_MAX || !etp_os_is_dir(path)) {
        return ETP_OK;
    }
    etp_dir_list list = {0};
    ETP_TRY(etp_os_list(path, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        if (list.items[i].is_dir && !list.items[i].is_other && list.items[i].name[0] != '.') {
            const char *inner = etp_arena_printf(arena, "%s/%s", path, list.items[i].name);
            ETP_NEED(inner, err, path);
            ETP_TRY(look_into(inner, depth + 1, arena, visit, ctx, err));
        }
    }
    return ETP_OK;
}

etp_status etp_history_each_folder(const char *path, etp_arena *arena, etp_history_visit *visit,
                                   void *ctx, etp_error *err)
{
    return look_into(path, 0, arena, visit, ctx, err);
}

// ISO 8601 in UTC sorts as text. Then by path, so that two sessions of one second have one order.
static int by_time(const void *pa, const void *pb)
{
    const found *a = pa, *b = pb;
    int order = etp_str_cmp(a->run.time, b->run.time);
    return order != 0 ? order : strcmp(a->path, b->path);
}

static etp_status add_series(etp_history *h, etp_str name, size_t n_runs, etp_history_series **out,
                             etp_error *err)
{
    for (size_t i = 0; i < h->series.n; i++) {
        if (etp_str_eq(h->series.items[i].name, name)) {
            *out = &h->series.items[i];
            return ETP_OK;
        }
    }
    etp_str stem;
    etp_history_series s = {.name = name,
                            .unit = etp_series_unit_of(name, &stem),
                            .values = ETP_NEW_ARRAY(h->arena, double, n_runs)};
    if (h->series.n == SERIES_MAX) {
        return etp_fail(err, ETP_UNSUPPORTED, "more than %d series", SERIES_MAX);
    }
    ETP_ADD(h->arena, &h->series, s);
    for (size_t i = 0; i < n_runs; i++) {
        s.values[i] = (double)NAN;
    }
    *out = &h->series.items[h->series.n - 1];
    return ETP_OK;
}

etp_status etp_history_put(etp_history *h, etp_str name, etp_str phase, size_t run, size_t n_runs,
                           double value, etp_error *err)
{
    etp_history_series *s = NULL;
    ETP_TRY(add_series(h, name, n_runs, &s, err));
    s->phase = phase;
    // A second value of the same run replaces the first and is not counted again.
    s->n_known += isnan(s->values[run]) ? 1 : 0;
    s->values[run] = value;
    return ETP_OK;
}

static etp_status fill(const finder *f, etp_history *out, etp_error *err)
{
    etp_history_put_attributes(out);
    for (size_t i = 0; i < f->sessions.n; i++) {
        const found *x = &f->sessions.items[i];
        ETP_ADD(out->arena, &out->runs, x->run);
        for (size_t k = 0; k < x->figures.n; k++) {
            const struct figure *y = &x->figures.items[k];
            ETP_TRY(etp_history_put(out, y->name, y->phase, i, f->sessions.n, y->value, err));
        }
    }
    return ETP_OK;
}

etp_status etp_history_of_folders(const char *const *paths, size_t n, etp_history *out,
                                  size_t *out_left_out, etp_error *err)
{
    finder f = {.arena = out->arena};
    for (size_t i = 0; i < n; i++) {
        if (!etp_os_is_dir(paths[i])) {
            return etp_fail(
                err, ETP_IO,
                "%s is no folder; a history is read from run folders or from one CSV file",
                paths[i]);
        }
        ETP_TRY(look_into(paths[i], 0, f.arena, take_folder, &f, err));
    }
    *out_left_out = f.left_out;
    if (f.sessions.n == 0) {
        return etp_fail(err, ETP_CORRUPT,
                        "no finished session that was measured on a real device%s",
                        f.left_out ? "; unfinished and emulated ones do not count" : " in there");
    }
    qsort(f.sessions.items, f.sessions.n, sizeof *f.sessions.items, by_time);
    ETP_GUARDED(out->arena, err, "the history", fill(&f, out, err));
}

// ---- tables ----

typedef struct table_of_rows { // header first
    etp_csv_row *items;
    size_t n, cap;
} table_of_rows;

static etp_status read_rows(etp_str text, etp_arena *arena, table_of_rows *out, etp_error *err)
{
    etp_csv_reader csv;
    etp_csv_open(&csv, text, ',', arena);
    for (;;) {
        etp_csv_row row = {0};
        bool more = false;
        ETP_TRY(etp_csv_next(&csv, &row, &more, err));
        if (!more) {
            break;
        }
        if (out->n > 0 && row.n != out->items[0].n) {
            return etp_fail_at(err, ETP_CORRUPT, row.offset,
                               "line %llu: %zu cells, the header has %zu",
                               (unsigned long long)row.line, row.n, out->items[0].n);
        }
        if (out->n > ETP_HISTORY_MAX_RUNS) {
            return etp_fail_at(err, ETP_UNSUPPORTED, row.offset, "more than %d rows",
                               ETP_HISTORY_MAX_RUNS);
        }
        ETP_ADD(arena, out, row);
    }
    return out->n > 1
               ? ETP_OK
               : etp_fail_at(err, ETP_CORRUPT, text.len,
                             "a header with a column 'time' and rows below it were expected");
}

// Without a single number it is an attribute that nobody filled in.
static bool is_series(const table_of_rows *t, size_t column)
{
    bool any = false;
    for (size_t i = 1; i < t->n; i++) {
        double v;
        etp_str cell = t->items[i].cells[column];
        if (cell.len > 0 && !etp_parse_double(cell, &v)) {
            return false;
        }
        any = any || cell.len > 0;
    }
    return any;
}

static etp_status read_column(etp_history *h, const table_of_rows *t, size_t column, etp_error *err)
{
    etp_str name = t->items[0].cells[column];
    if (is_series(t, column)) {
        for (size_t i = 1; i < t->n; i++) {
            double v;
            if (etp_parse_double(t->items[i].cells[column], &v)) {
                ETP_TRY(etp_history_put(h, name, (etp_str){0}, i - 1, t->n - 1, v, err));
            }
        }
        return ETP_OK;
    }
    for (size_t i = 1; i < t->n; i++) {
        // attributes.n is the place of this column until the line below counts it.
        h->runs.items[i - 1].attributes[h->attributes.n] = t->items[i].cells[column];
    }
    ETP_ADD(h->arena, &h->attributes, name);
    return ETP_OK;
}

// Series are found by name: two columns of one name would become one series of mixed values.
static etp_status refuse_twin_columns(const etp_csv_row *header, etp_error *err)
{
    for (size_t i = 0; i < header->n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (etp_str_eq(header->cells[i], header->cells[j])) {
                return etp_fail_at(err, ETP_CORRUPT, header->offset,
                                   "two columns are called '%.*s'", ETP_STR_ARG(header->cells[i]));
            }
        }
    }
    return ETP_OK;
}

static etp_status read_table(etp_str text, etp_history *out, etp_error *err)
{
    table_of_rows t = {0};
    ETP_TRY(read_rows(text, out->arena, &t, err));
    const etp_csv_row *header = &t.items[0];
    int time = etp_csv_column(header, "time");
    if (time < 0) {
        return etp_fail_at(err, ETP_CORRUPT, header->offset, "no column 'time' in the header");
    }
    if (header->n > SERIES_MAX) {
        return etp_fail_at(err, ETP_UNSUPPORTED, header->offset, "more than %d columns",
                           SERIES_MAX);
    }
    ETP_TRY(refuse_twin_columns(header, err));
    for (size_t i = 1; i < t.n; i++) {
        etp_history_run run = {t.items[i].cells[time],
                               ETP_NEW_ARRAY(out->arena, etp_str, header->n)};
        ETP_ADD(out->arena, &out->runs, run);
    }
    for (size_t c = 0; c < header->n; c++) {
        if (c != (size_t)time) {
            ETP_TRY(read_column(out, &t, c, err));
        }
    }
    return out->series.n > 0 ? ETP_OK
                             : etp_fail_at(err, ETP_CORRUPT, header->offset,
                                           "no column of numbers beside 'time'");
}

etp_status etp_history_of_csv(etp_str text, etp_history *out, etp_error *err)
{
    ETP_GUARDED(out->arena, err, "the history", read_table(text, out, err));
}

// ---- changes ----

static etp_str also_changed(const etp_history *h, size_t before, size_t run)
{
    etp_strbuf names;
    etp_strbuf_init(&names, h->arena);
    for (size_t a = 0; a < h->attributes.n; a++) {
        if (!etp_str_eq(h->runs.items[before].attributes[a], h->runs.items[run].attributes[a])) {
            etp_strbuf_printf(&names, "%s%.*s", names.len ? ", " : "",
                              ETP_STR_ARG(h->attributes.items[a]));
        }
    }
    return etp_strbuf_str(&names);
}

// Runs without the figure are left out before the search and put back afterwards by run_of, so "the
// run before" of a change is the last one that has the figure.
static etp_status find_changes(etp_history *h, etp_history_series *s, etp_error *err)
{
    double *known = ETP_NEW_ARRAY(h->arena, double, h->runs.n);
    size_t *run_of = ETP_NEW_ARRAY(h->arena, size_t, h->runs.n), n = 0;
    for (size_t i = 0; i < h->runs.n; i++) {
        if (!isnan(s->values[i])) {
            run_of[n] = i;
            known[n++] = s->values[i];
        }
    }
    etp_change *points = NULL;
    if (etp_change_points(known, n, ETP_HISTORY_MAX_P, h->min_change, h->arena, &points,
                          &s->n_changes, err) != ETP_OK) {
        return etp_fail_ctx(err, "series '%.*s'", ETP_STR_ARG(s->name));
    }
    s->changes = ETP_NEW_ARRAY(h->arena, etp_history_change, s->n_changes);
    for (size_t i = 0; i < s->n_changes; i++) {
        const etp_change *c = &points[i];
        // A change begins a segment behind another one, so at − 1 exists.
        s->changes[i] = (etp_history_change){run_of[c->at], c->before, c->after, c->p,
                                             also_changed(h, run_of[c->at - 1], run_of[c->at])};
    }
    return ETP_OK;
}

static etp_status find_all_changes(etp_history *h, etp_error *err)
{
    for (size_t i = 0; i < h->series.n; i++) {
        ETP_TRY(find_changes(h, &h->series.items[i], err));
    }
    return ETP_OK;
}

etp_status etp_history_find_changes(etp_history *h, double min_change, etp_error *err)
{
    h->min_change = min_change > 0 ? min_change : ETP_HISTORY_MIN_CHANGE;
    ETP_GUARDED(h->arena, err, "the history", find_all_changes(h, err));
}
