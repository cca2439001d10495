// SPDX-License-Identifier: Apache-2.0
// The blocks of the page as JSON: what build.js makes of them is markup. Texts are as they are
// shown; a figure has its raw value beside, by which the page sorts and copies.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "report/html_parts.h"
#include "report/svg.h"

const char *const k_etp_css_severity[5] = {"", "info", "good", "warn", "bad"};

// What is 0 or empty is left out: a page has hundreds of each.
static void put(etp_json *j, const char *key, etp_str s)
{
    if (s.len) {
        etp_json_kv_str(j, key, s);
    }
}

static void put_true(etp_json *j, const char *key, bool v)
{
    if (v) {
        etp_json_kv_bool(j, key, true);
    }
}

// ---- tables ----

static void write_column(etp_json *j, const etp_table *t, size_t k, const etp_view *v)
{
    const etp_column *col = &t->columns[k];
    const bool number = etp_column_is_number(col);
    etp_json_begin_object(j);
    etp_json_kv_z(j, "title", col->title);
    if (v->unit && !v->suffix) {
        etp_json_kv_z(j, "unit", v->unit);
    }
    put(j, "help", etp_str_from(ETP_OR(col->help, "")));
    put_true(j, "figures", number || (col->flags & ETP_COL_FIGURES));
    if (!(col->flags & ETP_COL_FIGURES)) {
        etp_json_kv_z(j, "sort", number ? "n" : "t");
    }
    put_true(j, "choice", col->flags & ETP_COL_CHOICE);
    put_true(j, "code", col->flags & ETP_COL_CODE);
    double most = etp_bar_max(t, k);
    if (most > 0) {
        etp_json_kv_double(j, "most", most);
    }
    etp_json_end(j);
}

// A script keeps 53 bits of a whole number: a longer one is written as text.
static bool is_exact(const etp_cell *c)
{
    const int64_t most = (int64_t)1 << 53;
    return c->type == ETP_CELL_U64 ? c->v.u64 <= (uint64_t)most
                                   : c->v.i64 >= -most && c->v.i64 <= most;
}

static void write_raw(etp_json *j, const etp_column *col, const etp_cell *c)
{
    char buf[ETP_NUMBER_CHARS];
    if (!isfinite(etp_cell_number(c))) {
        etp_json_null(j);
    } else if (c->type == ETP_CELL_DOUBLE) {
        if (col->kind == ETP_KIND_RATIO || col->kind == ETP_KIND_PERCENT) {
            etp_json_ratio(j, c->v.d);
        } else {
            etp_json_double(j, c->v.d);
        }
    } else if (is_exact(c)) {
        etp_json_i64(j, c->v.i64); // of an unsigned one, too: it has the same bits
    } else if (c->type == ETP_CELL_I64) {
        snprintf(buf, sizeof buf, "%" PRId64, c->v.i64);
        etp_json_z(j, buf);
    } else {
        snprintf(buf, sizeof buf, "%" PRIu64, c->v.u64);
        etp_json_z(j, buf);
    }
}

// null, the text alone, or a list of the text, its raw value, severity, colour, and 1 where people
// read it in the place of another name; without what is empty at its end.
static void write_cell(etp_json *j, const etp_column *col, const etp_view *v, const etp_cell *c)
{
    char buf[ETP_VIEW_CHARS];
    if (c->type == ETP_CELL_MISSING) {
        etp_json_null(j);
        return;
    }
    const bool has[] = {isfinite(etp_cell_number(c)), c->severity != ETP_PLAIN, c->color > 0,
                        c->called.len > 0};
    size_t n = sizeof has / sizeof *has;
    const etp_str shown = etp_view_cell(v, c, buf);
    while (n > 0 && !has[n - 1]) {
        n--;
    }
    if (n == 0) {
        etp_json_str(j, shown);
        return;
    }
    etp_json_begin_array(j);
    etp_json_str(j, shown);
    write_raw(j, col, c);
    if (n > 1) {
        etp_json_z(j, k_etp_css_severity[c->severity]);
    }
    if (n > 2) {
        etp_json_u64(j, c->color ? (c->color - 1) % ETP_SVG_COLORS + 1 : 0);
    }
    if (n > 3) {
        etp_json_u64(j, 1);
    }
    etp_json_end(j);
}

static void write_table(etp_json *j, const etp_table *t, size_t most)
{
    etp_view views[ETP_TABLE_MAX_COLUMNS];
    bool empty[ETP_TABLE_MAX_COLUMNS];
    size_t plain = 0;
    put(j, "caption", t->caption);
    etp_json_key(j, "columns");
    etp_json_begin_array(j);
    for (size_t k = 0; k < t->n_columns; k++) {
        // A column without any figure says nothing. The first one names the rows and stays.
        empty[k] = k > 0;
        for (size_t i = 0; empty[k] && i < t->rows.n; i++) {
            empty[k] = t->rows.items[i].cells[k].type == ETP_CELL_MISSING;
        }
        views[k] = etp_view_column(t, k);
        if (!empty[k]) {
            write_column(j, t, k, &views[k]);
        }
    }
    etp_json_end(j);
    etp_json_key(j, "rows");
    etp_json_begin_array(j);
    for (size_t i = 0; i < t->rows.n; i++) {
        const etp_row *row = &t->rows.items[i];
        plain += !row->total;
        if (i >= most && !row->total) {
            continue;
        }
        etp_json_begin_object(j);
        etp_json_key(j, "cells");
        etp_json_begin_array(j);
        for (size_t k = 0; k < t->n_columns; k++) {
            if (!empty[k]) {
                write_cell(j, &t->columns[k], &views[k], &row->cells[k]);
            }
        }
        etp_json_end(j);
        put(j, "link", row->link);
        put(j, "scope", row->scope);
        put_true(j, "total", row->total);
        etp_json_end(j);
    }
    etp_json_end(j);
    if (most < plain) {
        etp_json_kv_u64(j, "of", plain); // rows that it has, totals left out
    }
}

// ---- the others ----

static void write_keys(etp_json *j, const etp_keys *k)
{
    put(j, "title", k->title);
    etp_json_key(j, "pairs");
    etp_json_begin_array(j);
    for (size_t i = 0; i < k->pairs.n; i++) {
        const etp_key_value *pair = &k->pairs.items[i];
        etp_json_begin_object(j);
        etp_json_kv_str(j, "key", pair->key);
        etp_json_kv_str(j, "value", pair->value);
        put(j, "severity", etp_str_from(k_etp_css_severity[pair->severity]));
        put(j, "scope", pair->scope);
        put(j, "runs", pair->histogram);
        etp_json_end(j);
    }
    etp_json_end(j);
}

// What is taken from the page's own markup, where it is read without scripts (html.c).
bool etp_html_is_placed(const etp_block *b)
{
    return b->kind == ETP_BLOCK_CHART || b->kind == ETP_BLOCK_ACTIONS || b->kind == ETP_BLOCK_DATA;
}

void etp_html_block(etp_json *j, const etp_block *b, size_t rows)
{
    static const char *const k_kind[] = {
        [ETP_BLOCK_SECTION] = "section", [ETP_BLOCK_FOLD] = "fold",   [ETP_BLOCK_DRAWER] = "drawer",
        [ETP_BLOCK_PICTURE] = "picture", [ETP_BLOCK_TEXT] = "text",   [ETP_BLOCK_CODE] = "code",
        [ETP_BLOCK_KEYS] = "keys",       [ETP_BLOCK_TABLE] = "table", [ETP_BLOCK_CHART] = "placed",
        [ETP_BLOCK_ACTIONS] = "placed",  [ETP_BLOCK_DATA] = "placed",
    };
    etp_json_begin_object(j);
    etp_json_kv_z(j, "kind", rows ? k_kind[b->kind] : "left");
    if (b->tab) {
        etp_json_kv_u64(j, "tab", b->tab);
    }
    if (rows && b->kind == ETP_BLOCK_PICTURE) {
        etp_json_kv_str(j, "picture", b->caption);
        etp_json_key(j, "data");
        etp_json_raw(j, b->text);
    } else if (rows && !etp_html_is_placed(b)) {
        put(j, "scope", b->scope);
        put(j, "text", b->text);
        put(j, "severity", etp_str_from(k_etp_css_severity[b->severity]));
        if (b->kind == ETP_BLOCK_SECTION) {
            etp_json_kv_u64(j, "level", (uint64_t)b->level);
            etp_json_kv_str(j, "id", b->id);
            put_true(j, "part", b->part);
            put_true(j, "parts", b->parts);
            put_true(j, "inner", b->inner);
            put_true(j, "folded", b->folded);
            put(j, "command", b->caption);
        } else if (b->kind == ETP_BLOCK_DRAWER) {
            etp_json_kv_str(j, "id", b->id);
            put(j, "of", b->caption);
        } else if (b->kind == ETP_BLOCK_CODE) {
            put(j, "caption", b->caption);
            put_true(j, "line", b->line);
        } else if (b->kind == ETP_BLOCK_KEYS) {
            write_keys(j, b->keys);
        } else if (b->kind == ETP_BLOCK_TABLE) {
            write_table(j, b->table, rows);
        }
    }
    etp_json_end(j);
}
