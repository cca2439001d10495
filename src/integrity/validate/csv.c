// SPDX-License-Identifier: Apache-2.0
// The tables of a run folder: are all columns there, does every row have all its cells, is every
// number a number, and do the cells of a row agree?
#include <math.h>

#include "base/csv.h"
#include "base/index.h"
#include "base/number.h"
#include "base/utf8.h"
#include "document/layouts.h"
#include "integrity/validate/parts.h"

// A table of operators has some columns for each of a session's arms, of which there are at most
// 1,024. More than this many are no table of ours, and a header is as long as its file.
#define MOST_COLUMNS 16384

// One table on its way through the reader. COLUMNS are those of the header as they stand; where the
// layout knows a column, its kind and its rules replace what the name suggests.
typedef struct reading {
    etp_validator *v;
    etp_valid_file *f;
    const etp_layout *layout;
    etp_csv_row *row;
    size_t n_columns; // of the header
    etp_layout_column *columns;
    uint64_t rows;
    struct {
        uint64_t *items;
        size_t n, cap;
    } execute;
} reading;

// A cell is cut to 60 bytes: a table that lost its line breaks is one cell of megabytes.
static bool fail_row(const reading *r, const char *id, const char *expected, const char *fix,
                     const char *column, etp_str cell)
{
    int n = cell.len > 60 ? 60 : (int)cell.len;
    etp_valid_note(r->v, r->f->name, id, false, expected, fix, "line %llu, column %s: '%.*s'",
                   (unsigned long long)r->row->line, column, n, cell.ptr ? cell.ptr : "");
    return false;
}

#define AGAIN                                                                                   \
    "the file is not as it was written: make it again with 'etprof report' or 'etprof analyze " \
    "--out'"

static bool check_cell(const reading *r, size_t column, etp_str cell)
{
    const etp_layout_column *c = &r->columns[column];
    double d;
    int64_t i;
    const char *name = c->name;
    if (cell.len == 0) {
        return c->may_be_empty || fail_row(r, "csv.empty_cell", "a value", AGAIN, name, cell);
    }
    if (c->kind == ETP_LAYOUT_NUMBER) {
        return (etp_parse_double(cell, &d) && isfinite(d)) ||
               fail_row(r, "csv.number", "a finite number", AGAIN, name, cell);
    }
    if (c->kind == ETP_LAYOUT_INTEGER) {
        return etp_parse_i64(cell, &i) ||
               fail_row(r, "csv.integer", "a whole number", AGAIN, name, cell);
    }
    return true;
}

// By name, since Arm's kit and etprof have further columns behind the common ones. NAN fails no
// comparison below: a column that is not there is not judged.
static double cell_number(const reading *r, const char *name)
{
    double d = NAN;
    for (size_t i = 0; i < r->n_columns; i++) {
        if (strcmp(r->columns[i].name, name) == 0 && etp_parse_double(r->row->cells[i], &d)) {
            return d;
        }
    }
    return NAN;
}

static etp_str cell_text(const reading *r, const char *name)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        if (strcmp(r->columns[i].name, name) == 0) {
            return r->row->cells[i];
        }
    }
    return (etp_str){0};
}

// Rounding of decimal milliseconds and of microseconds since a far origin.
static bool near(double a, double b, double absolute)
{
    return fabs(a - b) <= absolute + 1e-9 * fmax(fabs(a), fabs(b));
}

// Microseconds count from an origin that may be far away: a double has some 16 digits, and the
// larger the start, the fewer of them are left behind the point.
static bool check_timeline_row(reading *r)
{
    double ms = cell_number(r, "duration_ms"), ns = cell_number(r, "duration_ns");
    double start = cell_number(r, "start_us"), end = cell_number(r, "end_us");
    if (ms < 0) {
        return fail_row(r, "timeline.negative", "durations of 0 or more", AGAIN, "duration_ms",
                        cell_text(r, "duration_ms"));
    }
    if (!near(end - start, ms * 1000, 0.002 + 1e-6 * fabs(start))) {
        return fail_row(r, "timeline.end", "end_us = start_us + duration", AGAIN, "end_us",
                        cell_text(r, "end_us"));
    }
    if (isfinite(ns) && !near(ns, ms * 1e6, 0.5)) {
        return fail_row(r, "timeline.units", "duration_ns is duration_ms", AGAIN, "duration_ns",
                        cell_text(r, "duration_ns"));
    }
    // Run −1 is what belongs to no whole execution: loading, and executions that failed.
    if (cell_number(r, "run_index") >= 0 && etp_str_eqz(cell_text(r, "name"), "Method::execute")) {
        ETP_ADD(r->v->arena, &r->execute, (uint64_t)llround(ms * 1e6));
    }
    return true;
}

// Both figures are rounded to decimals of a millisecond, so their quotient is off by that much.
static bool check_mean_row(const reading *r, const char *count)
{
    double n = cell_number(r, count), total = cell_number(r, "total_ms"),
           avg = cell_number(r, "avg_ms");
    if (!(n > 0) || !isfinite(total) || near(total / n, avg, 2e-6 + 1e-6 * fabs(avg))) {
        return true;
    }
    return fail_row(r, "csv.mean", "avg_ms = total_ms / count", AGAIN, "avg_ms",
                    cell_text(r, "avg_ms"));
}

static bool check_latency_row(const reading *r)
{
    double lo = cell_number(r, "min_ms"), avg = cell_number(r, "avg_ms"),
           hi = cell_number(r, "max_ms");
    if (lo > avg * (1 + 1e-6) || avg > hi * (1 + 1e-6)) {
        return fail_row(r, "e2e.order", "min_ms <= avg_ms <= max_ms", AGAIN, "avg_ms",
                        cell_text(r, "avg_ms"));
    }
    return check_mean_row(r, "num_runs");
}

// "warmup, timed, … or resident"
static const char *all_phases(etp_arena *arena)
{
    const char *all = etp_phase_name(0);
    for (etp_phase i = 1; i < ETP_PHASES; i++) {
        const char *between = i + 1 < ETP_PHASES ? ", " : " or ";
        all = etp_arena_printf(arena, "%s%s%s", all, between, etp_phase_name(i));
    }
    return all;
}

static bool check_sample_row(const reading *r)
{
    etp_str phase = cell_text(r, "phase");
    for (etp_phase i = 0; i < ETP_PHASES; i++) {
        if (etp_str_eqz(phase, etp_phase_name(i))) {
            return true;
        }
    }
    return fail_row(r, "samples.phase", all_phases(r->v->arena),
                    "samples.csv is raw: restore it from a copy, or measure again", "phase", phase);
}

static bool ends(etp_str s, const char *suffix)
{
    return etp_str_ends(s, etp_str_from(suffix));
}

// Cells first, then what they say together: a cell that is no number must be told as such, not as a
// sum that is wrong.
static bool check_row(reading *r)
{
    const char *file = r->f->name;
    if (r->row->n != r->n_columns) {
        etp_valid_note(r->v, file, "csv.row", false,
                       etp_arena_printf(r->v->arena, "%zu cells as in the header", r->n_columns),
                       AGAIN, "line %llu has %zu cells", (unsigned long long)r->row->line,
                       r->row->n);
        return false;
    }
    for (size_t i = 0; i < r->n_columns; i++) {
        if (!check_cell(r, i, r->row->cells[i])) {
            return false;
        }
    }
    return r->layout == etp_layout_of(ETP_LAYOUT_TIMELINE)    ? check_timeline_row(r)
           : r->layout == etp_layout_of(ETP_LAYOUT_OPS_STATS) ? check_mean_row(r, "count")
           : r->layout == etp_layout_of(ETP_LAYOUT_LATENCY)   ? check_latency_row(r)
           : r->layout == etp_layout_of(ETP_LAYOUT_SAMPLES)   ? check_sample_row(r)
                                                              : true;
}

// What our own further columns hold follows from their names.
// CONTRIBUTING asks for units in names, so a column that ends in _ns holds whole nanoseconds
// whichever table it is in.
static etp_layout_kind kind_of_name(etp_str name)
{
    static const char *const k_integers[] = {"_ns",         "chain",         "instruction",
                                             "parent",      "threads",       "calls",
                                             "event_block", "session_block", "occurrence"};
    static const char *const k_numbers[] = {"_ms", "_us", "_pct", "speedup", "share"};
    for (size_t i = 0; i < sizeof k_integers / sizeof *k_integers; i++) {
        if (ends(name, k_integers[i])) {
            return ETP_LAYOUT_INTEGER;
        }
    }
    for (size_t i = 0; i < sizeof k_numbers / sizeof *k_numbers; i++) {
        if (ends(name, k_numbers[i])) {
            return ETP_LAYOUT_NUMBER;
        }
    }
    return ETP_LAYOUT_TEXT;
}

static bool bad_columns(const reading *r, const char *expected, const char *found)
{
    etp_valid_note(r->v, r->f->name, "csv.columns", false, expected,
                   "columns were renamed, moved or lost: " AGAIN, "%s", found);
    return false;
}

// "category,<a>_ms,<b>_ms,speedup,<a>_pct,<b>_pct"
static bool comparison_columns(const reading *r)
{
    static const char *const k_ends[] = {"category", "_ms", "_ms", "speedup", "_pct", "_pct"};
    for (size_t i = 0; i < 6; i++) {
        if (i >= r->n_columns || !ends(etp_str_from(r->columns[i].name), k_ends[i])) {
            return bad_columns(
                r, "category,<baseline>_ms,<candidate>_ms,speedup,<baseline>_pct,<candidate>_pct",
                i < r->n_columns ? r->columns[i].name : "fewer columns");
        }
    }
    return true;
}

typedef struct wanted_column {
    const etp_layout_column *columns;
    const char *name;
} wanted_column;

static bool has_name(const void *ctx, uint32_t position)
{
    const wanted_column *wanted = ctx;
    return strcmp(wanted->columns[position].name, wanted->name) == 0;
}

// Copied out of the reader, which reuses its cells for the next row.
static bool name_columns(reading *r)
{
    etp_arena *arena = r->v->arena;
    etp_index names = {0};
    if (r->row->n > MOST_COLUMNS) {
        return bad_columns(r, etp_arena_printf(arena, "at most %d columns", MOST_COLUMNS),
                           etp_arena_printf(arena, "%zu columns", r->row->n));
    }
    r->n_columns = r->row->n;
    r->columns = ETP_NEW_ARRAY(arena, etp_layout_column, r->n_columns);
    for (size_t i = 0; i < r->n_columns; i++) {
        etp_layout_column *c = &r->columns[i];
        *c = (etp_layout_column){.name = etp_arena_strdup(arena, r->row->cells[i]),
                                 .kind = kind_of_name(r->row->cells[i]),
                                 .may_be_empty = true};
        uint64_t hash = etp_hash_bytes(ETP_HASH_START, c->name, strlen(c->name));
        wanted_column wanted = {r->columns, c->name};
        if (etp_index_find(&names, hash, has_name, &wanted) != ETP_NO_INDEX) {
            return bad_columns(r, "every column once",
                               etp_arena_printf(arena, "column %s twice", c->name));
        }
        etp_index_insert(&names, arena, hash, (uint32_t)i);
    }
    return true;
}

// The first columns are the kit's, in its order; further ones may follow.
static bool check_header(reading *r)
{
    const etp_layout *layout = r->layout;
    if (!name_columns(r)) {
        return false;
    }
    for (size_t i = 0; i < layout->n_required; i++) {
        if (i >= r->n_columns || strcmp(layout->columns[i].name, r->columns[i].name) != 0) {
            char wanted[200];
            etp_layout_required(layout, wanted, sizeof wanted);
            return bad_columns(r, etp_arena_printf(r->v->arena, "%s", wanted),
                               etp_arena_printf(r->v->arena, "column %zu is %s", i + 1,
                                                i < r->n_columns ? r->columns[i].name : "missing"));
        }
    }
    for (size_t i = 0; i < r->n_columns; i++) {
        for (size_t k = 0; k < layout->n_columns; k++) {
            if (strcmp(layout->columns[k].name, r->columns[i].name) == 0) {
                r->columns[i] = layout->columns[k];
            }
        }
    }
    return layout != etp_layout_of(ETP_LAYOUT_COMPARISON) || comparison_columns(r);
}

// The first problem ends the reading: a file that was cut or edited would give one for each row.
static bool read_rows(reading *r, etp_csv_reader *csv)
{
    etp_error why = {.offset = ETP_NO_OFFSET};
    bool more = false;
    for (bool header = true;; header = false) {
        if (etp_csv_next(csv, r->row, &more, &why) != ETP_OK) {
            etp_valid_note(r->v, r->f->name, "csv.quotes", false, "quotes that close",
                           "the file is cut off or was edited: " AGAIN, "%s", why.msg);
            return false;
        }
        if (!more) {
            if (header || (r->rows == 0 && !r->layout->may_be_empty)) {
                etp_valid_note(r->v, r->f->name, "csv.no_rows", false, "a header and rows", AGAIN,
                               header ? "the file is empty" : "only a header");
                return false;
            }
            return true;
        }
        if (header ? !check_header(r) : !check_row(r)) {
            return false;
        }
        r->rows += !header;
    }
}

// Written line by line, so a file that does not end with a line break was cut.
static bool check_text(const reading *r, etp_str text)
{
    for (size_t at = 0; at < text.len;) {
        bool valid = true;
        at += etp_utf8_next((etp_str){text.ptr + at, text.len - at}, &valid);
        if (!valid) {
            etp_valid_note(r->v, r->f->name, "csv.utf8", false, "UTF-8",
                           "the file was saved in another encoding: " AGAIN, "byte %zu is none",
                           at - 1);
            return false;
        }
    }
    if (text.len && text.ptr[text.len - 1] != '\n') {
        etp_valid_note(r->v, r->f->name, "csv.cut", false, "a line break at the end",
                       "the last line is cut off: " AGAIN, "none");
        return false;
    }
    return true;
}

void etp_valid_csv(etp_validator *v, etp_valid_file *f, etp_str text)
{
    etp_csv_reader csv;
    etp_csv_row row = {0};
    reading r = {.v = v, .f = f, .row = &row};
    // Layouts are told by the end of the name, as Arm's kit names its files.
    for (etp_layout_id i = 0; i < ETP_LAYOUT_COUNT && !r.layout; i++) {
        const etp_layout *layout = etp_layout_of(i);
        bool it = layout->is_checked && ends(etp_str_from(f->name), layout->suffix);
        r.layout = it ? layout : NULL;
    }
    if (!r.layout) {
        return; // somebody else's table
    }
    etp_csv_open(&csv, text, ',', v->arena);
    if (!check_text(&r, text) || !read_rows(&r, &csv)) {
        return;
    }
    f->readable = true;
    f->execute_ns = r.execute.items;
    f->n_execute = r.execute.n;
    etp_valid_note(v, f->name, "csv", true, "columns and cells of its kind", NULL, "%llu rows",
                   (unsigned long long)r.rows);
}
