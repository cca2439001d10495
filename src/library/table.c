// SPDX-License-Identifier: Apache-2.0
// Cells of a report's table into typed columns.
#include "library/table.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "base/number.h"
#include "convert/table.h"

typedef struct source { // lives in its arena, as the report does
    etp_arena arena;
    const etp_table *table;
    etp_column_def *defs;
    size_t n_defs, next;
} source;

// Columns of a report may share a name ("share" of each arm), those of a data frame may not.
static const char *unique_name(source *s, size_t column, const char *key)
{
    const char *name = key;
    size_t n = 1;
    for (size_t k = 0; name && k < column;) {
        bool taken = s->defs[k].name && strcmp(s->defs[k].name, name) == 0;
        name = taken ? etp_arena_printf(&s->arena, "%s_%zu", key, ++n) : name;
        k = taken ? 0 : k + 1;
    }
    return name;
}

static void put_text(etp_batch *batch, const etp_cell *c)
{
    char buf[ETP_NUMBER_CHARS];
    switch (c->type) {
    case ETP_CELL_TEXT:
        etp_batch_text(batch, c->v.text);
        break;
    case ETP_CELL_I64:
        snprintf(buf, sizeof buf, "%" PRId64, c->v.i64);
        etp_batch_text(batch, etp_str_from(buf));
        break;
    case ETP_CELL_U64:
        snprintf(buf, sizeof buf, "%" PRIu64, c->v.u64);
        etp_batch_text(batch, etp_str_from(buf));
        break;
    case ETP_CELL_DOUBLE:
        etp_batch_text(batch, etp_str_from(etp_format_double(c->v.d, buf)));
        break;
    case ETP_CELL_MISSING:
        etp_batch_null(batch);
        break;
    }
}

// A column of doubles takes whole numbers too; those above 2^53 lose their last digits, as in any
// reader of JSON.
static double number_of(const etp_cell *c)
{
    if (c->type == ETP_CELL_DOUBLE) {
        return c->v.d;
    }
    return c->type == ETP_CELL_I64 ? (double)c->v.i64 : (double)c->v.u64;
}

static void put(etp_batch *batch, etp_column_type type, const etp_cell *c)
{
    if (type == ETP_COLUMN_TEXT) {
        put_text(batch, c);
    } else if (type == ETP_COLUMN_F64) {
        etp_batch_f64_if(batch, c->type == ETP_CELL_MISSING ? 0 : number_of(c),
                         c->type != ETP_CELL_MISSING);
    } else if (c->type == ETP_CELL_I64) {
        etp_batch_i64(batch, c->v.i64);
    } else {
        etp_batch_i64_if(batch, c->v.u64, c->type == ETP_CELL_U64);
    }
}

// Called for each batch that the consumer asks for, until no row is left.
static etp_status next(void *ctx, etp_batch *batch, etp_error *err)
{
    source *s = ctx;
    const etp_cell *cells;
    // A batch is as many rows as one call of the stream's get_next gives.
    while (!etp_batch_full(batch) && (cells = etp_table_cells(s->table, s->next)) != NULL) {
        for (size_t k = 0; k < s->n_defs; k++) {
            put(batch, s->defs[k].type, &cells[k]);
        }
        ETP_TRY(etp_batch_end_row(batch, err));
        s->next++;
    }
    return ETP_OK;
}

static void close(void *ctx)
{
    source *s = ctx;
    etp_arena arena = s->arena; // it goes with its owner
    etp_arena_dispose(&arena);
}

static etp_status open_source(etp_report_author *make, const void *about, const char *id, source *s,
                              etp_error *err)
{
    const etp_report *report = make(about, &s->arena);
    ETP_TRY(etp_arena_check(&s->arena, err, "report")); // a table may be missing
    s->table = etp_report_table_named(report, id);
    if (!s->table) {
        return id ? etp_fail(err, ETP_USAGE, "this answer has no table named '%s'", id)
                  : etp_fail(err, ETP_USAGE, "this answer has no table");
    }
    const etp_column *columns = etp_table_columns(s->table, &s->n_defs);
    s->defs = ETP_NEW_ARRAY(&s->arena, etp_column_def, s->n_defs);
    ETP_NEED(s->defs, err, "columns");
    // The kind says how a column is shown: what is shown as a ratio is a double in each cell, and a
    // time or a count is a whole number, as it stands in the JSON document. A column may still have
    // a cell of another type than its kind promises. One type must do for all rows of a stream, so
    // the first pass over the table finds the widest.
    for (size_t k = 0; k < s->n_defs; k++) {
        const etp_kind kind = columns[k].kind;
        bool real = kind == ETP_KIND_RATIO || kind == ETP_KIND_PERCENT || kind == ETP_KIND_DOUBLE;
        etp_column_type type = real ? ETP_COLUMN_F64 : ETP_COLUMN_I64;
        type = kind == ETP_KIND_TEXT ? ETP_COLUMN_TEXT : type;
        const etp_cell *cells;
        for (size_t i = 0; (cells = etp_table_cells(s->table, i)) != NULL; i++) {
            if (cells[k].type == ETP_CELL_TEXT) {
                type = ETP_COLUMN_TEXT;
            } else if (cells[k].type == ETP_CELL_DOUBLE && type == ETP_COLUMN_I64) {
                type = ETP_COLUMN_F64;
            }
        }
        s->defs[k] = (etp_column_def){unique_name(s, k, columns[k].key), type, true};
    }
    return etp_arena_check(&s->arena, err, "columns");
}

etp_status etp_table_stream(etp_report_author *make, const void *about, const char *id,
                            const char *fallback, struct ArrowArrayStream *out, etp_error *err)
{
    *out = (struct ArrowArrayStream){0};
    etp_arena arena = {0};
    source *s = ETP_NEW(&arena, source);
    ETP_NEED(s, err, "a stream");
    s->arena = arena;
    etp_status st = open_source(make, about, ETP_OR(id, fallback), s, err);
    if (st != ETP_OK) {
        close(s);
        return st;
    }
    const etp_rows rows = {
        .defs = s->defs, .n_defs = s->n_defs, .source = s, .next = next, .close = close};
    return etp_rows_stream(&rows, out, err);
}

static etp_status fill_name(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    etp_sink_write(sink, *(const etp_str *)ctx);
    return ETP_OK;
}

etp_status etp_table_name(etp_report_author *make, const void *about, size_t index, etp_buffer *out,
                          etp_error *err)
{
    *out = (etp_buffer){0};
    etp_arena arena = {0};
    const etp_report *report = make(about, &arena);
    etp_status st = etp_arena_check(&arena, err, "report");
    const etp_table *table = st == ETP_OK ? etp_report_table_at(report, index) : NULL;
    if (table) {
        etp_str id = etp_table_id(table);
        st = etp_buffer_make(fill_name, &id, out, err);
    }
    etp_arena_dispose(&arena);
    return st;
}
