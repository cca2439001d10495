// SPDX-License-Identifier: Apache-2.0
// Rows into columns.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "convert/table.h"

etp_status etp_batch_init(etp_batch *b, const etp_column_def *defs, size_t n, etp_error *err)
{
    *b = (etp_batch){.defs = defs, .n_columns = n, .rest_null = {.row = SIZE_MAX}};
    b->columns = ETP_NEW_ARRAY(&b->arena, etp_batch_column, b->n_columns);
    for (size_t i = 0; b->columns && i < b->n_columns; i++) {
        etp_batch_column *c = &b->columns[i];
        c->last = ETP_NO_INDEX;
        c->cells = etp_arena_alloc_raw(&b->arena, ETP_BATCH_ROWS, sizeof *c->cells);
        c->present = etp_arena_alloc_raw(&b->arena, ETP_BATCH_ROWS, 1);
        b->failed = b->failed || !c->cells || !c->present;
    }
    return b->columns && !b->failed ? ETP_OK : etp_fail_nomem(err, "columns");
}

void etp_batch_dispose(etp_batch *b)
{
    etp_arena_dispose(&b->arena);
    etp_arena_dispose(&b->text_arena);
    *b = (etp_batch){0};
}

void etp_batch_repeat(etp_batch *b, size_t n, size_t text_bytes)
{
    assert(b->rows > 0 && b->at == 0 && n <= b->n_columns);
    b->text_bytes += text_bytes;
    b->at = n;
}

// Text counts too: Arrow's offsets have 32 bits, and memory grows with it.
bool etp_batch_full(const etp_batch *b)
{
    return b->rows == ETP_BATCH_ROWS || b->text_bytes >= ETP_BATCH_TEXT;
}

// Rows up to ROWS, the first of them there, are stored.
static void store_up_to(etp_batch_column *c, size_t rows)
{
    if (c->stored < rows) {
        etp_batch_cell cell = c->cells[c->stored - 1];
        uint8_t present = c->present[c->stored - 1];
        for (size_t i = c->stored; i < rows; i++) {
            c->cells[i] = cell;
        }
        memset(c->present + c->stored, present, rows - c->stored);
        c->nulls += present ? 0 : rows - c->stored;
        c->stored = rows;
    }
}

void etp_batch_spread(etp_batch *b, size_t column)
{
    store_up_to(&b->columns[column], b->rows);
}

// A cell that says what the last stored one does is not stored: that one holds for all rows after
// it. The first that differs stores all rows up to its own.
void etp_batch_set(etp_batch_column *c, size_t row, etp_batch_cell cell, bool present)
{
    if (c->stored > 0) {
        if (c->cells[c->stored - 1].i == cell.i && c->present[c->stored - 1] == present) {
            return;
        }
        store_up_to(c, row);
    }
    c->cells[row] = cell;
    c->present[row] = present;
    c->nulls += !present;
    c->stored = row + 1;
}

static void put(etp_batch *b, etp_column_type type, etp_batch_cell cell, bool present)
{
    assert(b->at < b->n_columns && b->rows < ETP_BATCH_ROWS);
    assert(present ? b->defs[b->at].type == type : b->defs[b->at].nullable);
    (void)type;
    etp_batch_set(&b->columns[b->at++], b->rows, present ? cell : (etp_batch_cell){0}, present);
}

void etp_batch_null(etp_batch *b)
{
    put(b, ETP_COLUMN_I64, (etp_batch_cell){0}, false);
}

void etp_batch_rest_null(etp_batch *b)
{
    size_t first = b->at;
    // The row before was null from here on, too, so every column of the rest already ends in a null
    // that goes on.
    bool as_before = b->rows > 0 && b->rest_null.row == b->rows - 1 && b->rest_null.column <= first;
    b->rest_null.row = b->rows;
    b->rest_null.column = first;
    while (!as_before && b->at < b->n_columns) {
        etp_batch_null(b);
    }
    b->at = b->n_columns; // the rest of the row before goes on
}

void etp_batch_i64(etp_batch *b, int64_t v)
{
    // A time is a whole number of microseconds and comes through this function as well.
    etp_column_type type =
        b->defs[b->at].type == ETP_COLUMN_TIME ? ETP_COLUMN_TIME : ETP_COLUMN_I64;
    put(b, type, (etp_batch_cell){.i = v}, true);
}

void etp_batch_i64_if(etp_batch *b, uint64_t v, bool known)
{
    if (known && v <= INT64_MAX) {
        etp_batch_i64(b, (int64_t)v);
    } else {
        etp_batch_null(b);
    }
}

void etp_batch_f64_if(etp_batch *b, double v, bool known)
{
    put(b, ETP_COLUMN_F64, (etp_batch_cell){.f = v}, known && isfinite(v));
}

void etp_batch_bool(etp_batch *b, bool v)
{
    put(b, ETP_COLUMN_BOOL, (etp_batch_cell){.i = v}, true);
}

typedef struct text_key {
    const etp_batch_column *column;
    etp_str text;
} text_key;

static bool text_equal(const void *ctx, uint32_t position)
{
    const text_key *k = ctx;
    return etp_str_eq(k->column->texts.items[position], k->text);
}

static bool well_formed(etp_str s)
{
    bool valid = true;
    while (s.len > 0 && valid) {
        size_t n = etp_utf8_next(s, &valid);
        s = (etp_str){s.ptr + n, s.len - n};
    }
    return valid;
}

// S with U+FFFD in place of what is no UTF-8; empty on out of memory.
static etp_str repaired(etp_arena *arena, etp_str s)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    while (s.len > 0) {
        bool valid = false;
        size_t n = etp_utf8_next(s, &valid);
        etp_strbuf_append(&buf, valid ? (etp_str){s.ptr, n} : ETP_STR("\xEF\xBF\xBD"));
        s = (etp_str){s.ptr + n, s.len - n};
    }
    return buf.failed ? ETP_STR("") : etp_strbuf_str(&buf);
}

// Position of S in the column's texts.
// Most columns of text say the same as in the row before, which is asked before anything is hashed.
static uint32_t interned(etp_batch *b, etp_batch_column *c, etp_str s)
{
    if (c->last != ETP_NO_INDEX && etp_str_eq(c->texts.items[c->last], s)) {
        return c->last;
    }
    text_key key = {c, well_formed(s) ? s : repaired(&b->text_arena, s)};
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, key.text.ptr, key.text.len);
    c->last = etp_index_find(&c->index, hash, text_equal, &key);
    if (c->last == ETP_NO_INDEX) {
        char *copy = etp_arena_strdup(&b->text_arena, key.text);
        etp_str kept = {copy, key.text.len};
        if (!copy || !ETP_PUSH(&b->text_arena, &c->texts, kept) ||
            !etp_index_insert(&c->index, &b->text_arena, hash, (uint32_t)(c->texts.n - 1))) {
            b->failed = true;
            return 0;
        }
        c->last = (uint32_t)(c->texts.n - 1);
    }
    return c->last;
}

void etp_batch_text(etp_batch *b, etp_str s)
{
    assert(b->at < b->n_columns);
    etp_batch_column *c = &b->columns[b->at];
    uint32_t at = interned(b, c, s);
    b->text_bytes += b->failed ? 0 : c->texts.items[at].len;
    put(b, ETP_COLUMN_TEXT, (etp_batch_cell){.i = at}, true);
}

void etp_batch_text_at(etp_batch *b, uint32_t at)
{
    etp_batch_column *c = &b->columns[b->at];
    assert(at < c->texts.n);
    c->last = at;
    b->text_bytes += c->texts.items[at].len;
    put(b, ETP_COLUMN_TEXT, (etp_batch_cell){.i = at}, true);
}

void etp_batch_text_if(etp_batch *b, etp_str s)
{
    if (s.len > 0) {
        etp_batch_text(b, s);
    } else {
        etp_batch_null(b);
    }
}

etp_status etp_batch_end_row(etp_batch *b, etp_error *err)
{
    assert(b->at == b->n_columns);
    b->at = 0;
    b->rows++;
    return b->failed ? etp_fail_nomem(err, "columns") : ETP_OK;
}
