// SPDX-License-Identifier: Apache-2.0
// The raw numbers of a report as JSON, carried inside the HTML page. What is for the page alone has
// its raw numbers in the cells.
#include <math.h>

#include "base/json.h"
#include "report/html_parts.h"

// "</script" or "<!--" in a text would end the element or change how it is read. In JSON '<' occurs
// in strings alone, where \u003c is the same character.
static bool write_script(etp_sink *sink, const char *ptr, size_t len)
{
    etp_sink *page = sink->target;
    size_t start = 0;
    for (size_t i = 0; i < len; i++) {
        if (ptr[i] == '<') {
            etp_sink_write(page, (etp_str){ptr + start, i - start});
            etp_sink_z(page, "\\u003c");
            start = i + 1;
        }
    }
    etp_sink_write(page, (etp_str){ptr + start, len - start});
    return !page->failed;
}

etp_sink etp_script_sink(etp_sink *page)
{
    return (etp_sink){.write = write_script, .target = page};
}

void etp_script_json(etp_sink *sink, etp_str json)
{
    write_script(&(etp_sink){.target = sink}, json.ptr, json.len);
}

static const char *const k_kind[] = {"text", "int", "ns", "bytes", "ratio", "percent", "double"};
static const char *const k_chart[] = {"stacked", "waterfall", "intervals", "blocks", "lines"};

static void write_cell(etp_json *j, const etp_column *col, const etp_cell *c)
{
    switch (c->type) {
    case ETP_CELL_MISSING:
        etp_json_null(j);
        break;
    case ETP_CELL_TEXT:
        etp_json_str(j, c->v.text);
        break;
    case ETP_CELL_I64:
        etp_json_i64(j, c->v.i64);
        break;
    case ETP_CELL_U64:
        etp_json_u64(j, c->v.u64);
        break;
    case ETP_CELL_DOUBLE:
        if (col->kind == ETP_KIND_RATIO || col->kind == ETP_KIND_PERCENT) {
            etp_json_ratio(j, c->v.d);
        } else {
            etp_json_double(j, c->v.d);
        }
        break;
    }
}

static void write_table(etp_json *j, const etp_table *t)
{
    etp_json_begin_object(j);
    etp_json_kv_str(j, "id", t->id);
    etp_json_kv_str(j, "caption", t->caption);
    etp_json_key(j, "columns");
    etp_json_begin_array(j);
    for (size_t k = 0; k < t->n_columns; k++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "key", t->columns[k].key);
        etp_json_kv_z(j, "kind", k_kind[t->columns[k].kind]);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "rows");
    etp_json_begin_array(j);
    // All rows: what a table's limit hides is hidden from people, not from programs.
    for (size_t i = 0; i < t->rows.n; i++) {
        etp_json_begin_array_inline(j);
        for (size_t k = 0; k < t->n_columns; k++) {
            write_cell(j, &t->columns[k], &t->rows.items[i].cells[k]);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

static bool any_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isfinite(values[i])) {
            return true;
        }
    }
    return false;
}

static void write_values(etp_json *j, const char *key, const double *values, size_t n)
{
    etp_json_key(j, key);
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < n; i++) {
        etp_json_double(j, values[i]);
    }
    etp_json_end(j);
}

static void write_chart(etp_json *j, const etp_chart *c)
{
    etp_json_begin_object(j);
    etp_json_kv_str(j, "id", c->id);
    etp_json_kv_str(j, "title", c->title);
    etp_json_kv_z(j, "chart", k_chart[c->chart]);
    etp_json_kv_z(j, "kind", k_kind[c->kind]);
    etp_json_key(j, "series");
    etp_json_begin_array_inline(j);
    for (size_t k = 0; k < c->series.n; k++) {
        etp_json_str(j, c->series.items[k]);
    }
    etp_json_end(j);
    etp_json_key(j, "entries");
    etp_json_begin_array(j);
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        etp_json_begin_object_inline(j);
        if (c->chart == ETP_CHART_LINES) {
            etp_json_kv_double(j, "x", e->x);
        } else {
            etp_json_kv_str(j, "label", e->label);
        }
        if (e->note.len) {
            etp_json_kv_str(j, e->role == ETP_ROLE_STEP ? "group" : "note", e->note);
        }
        if (e->role != ETP_ROLE_VALUE) {
            etp_json_kv_bool(j, "total", e->role == ETP_ROLE_TOTAL);
        }
        write_values(j, "values", e->values, e->n_values);
        // Most charts have no intervals: lists of nulls would be most of their data.
        if (any_finite(e->lo, e->n_values) || any_finite(e->hi, e->n_values)) {
            write_values(j, "lo", e->lo, e->n_values);
            write_values(j, "hi", e->hi, e->n_values);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

void etp_report_write_data(const etp_report *r, etp_sink *sink)
{
    etp_sink escaped = etp_script_sink(sink);
    etp_json j;
    etp_json_init(&j, &escaped, false);
    etp_json_begin_object(&j);
    etp_json_kv_str(&j, "title", r->title);
    etp_json_key(&j, "tables");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < r->blocks.n; i++) {
        if (r->blocks.items[i].table && r->blocks.items[i].medium == ETP_EVERYWHERE) {
            write_table(&j, r->blocks.items[i].table);
        }
    }
    etp_json_end(&j);
    etp_json_key(&j, "charts");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < r->blocks.n; i++) {
        if (r->blocks.items[i].chart && r->blocks.items[i].medium == ETP_EVERYWHERE) {
            write_chart(&j, r->blocks.items[i].chart);
        }
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
}
