// SPDX-License-Identifier: Apache-2.0
// A table of a fleet as files of Parquet, in the folders of a lake:
// "day=2026-11-21/device=pixel9/part-000001.parquet". What a folder's name says is no column of
// its files.
#include <stdio.h>

#include "convert/fleet_rows.h"
#include "convert/parquet.h"
#include "os/os.h"

#define MAX_KEYS 3

typedef struct piece { // rows on end of one batch
    uint32_t batch;
    size_t from, n;
} piece;

typedef struct partition {
    etp_str values[MAX_KEYS]; // ptr NULL: null
    struct {
        piece *items;
        size_t n, cap;
    } pieces;
} partition;

// Texts are moved by number: each is looked at once for a group, not once for a row.
typedef struct moved { // where a text of the batch at work went, when it did
    uint32_t group;    // in which group; 0: in none
    uint32_t to;
} moved;

typedef struct writer {
    etp_arena arena;
    const etp_kept_rows *rows;
    const char *root, *table;
    size_t keys[MAX_KEYS], n_keys; // columns
    struct {
        partition *items;
        size_t n, cap;
    } partitions;
    etp_index index;
    // of a file
    size_t *columns; // those that are no keys
    etp_batch batch;
    moved **texts; // by column, then by text of the batch they come from
    etp_arena texts_arena;
    uint32_t texts_batch, group;
    etp_parquet_encoder encoder;
    etp_parquet_group bytes;
} writer;

// ---- partitions ----

static bool same_place(const void *ctx, uint32_t position)
{
    const struct {
        const writer *w;
        const etp_str *values;
    } *k = ctx;
    const partition *p = &k->w->partitions.items[position];
    bool same = true;
    for (size_t i = 0; i < k->w->n_keys; i++) {
        same = same && !p->values[i].ptr == !k->values[i].ptr &&
               etp_str_eq(p->values[i], k->values[i]);
    }
    return same;
}

// NULL: out of memory.
static partition *partition_of(writer *w, const etp_str *values)
{
    const struct {
        const writer *w;
        const etp_str *values;
    } key = {w, values};
    uint64_t hash = ETP_HASH_START;
    for (size_t i = 0; i < w->n_keys; i++) {
        hash = etp_hash_bytes(hash, values[i].ptr ? values[i].ptr : "", values[i].len + 1);
    }
    uint32_t at = etp_index_find(&w->index, hash, same_place, &key);
    if (at == ETP_NO_INDEX) {
        partition p = {0};
        for (size_t i = 0; i < w->n_keys; i++) {
            p.values[i] = values[i];
        }
        at = (uint32_t)w->partitions.n;
        if (!ETP_PUSH(&w->arena, &w->partitions, p) ||
            !etp_index_insert(&w->index, &w->arena, hash, at)) {
            return NULL;
        }
    }
    return &w->partitions.items[at];
}

// The first row after ROW that says something else in C.
// Rows of one source follow each other and say the same, so a batch has few pieces, and finding
// them takes time by changes, not by rows.
static size_t next_change(const etp_batch_column *c, size_t row, size_t rows)
{
    while (row + 1 < c->stored && c->cells[row + 1].i == c->cells[row].i &&
           c->present[row + 1] == c->present[row]) {
        row++;
    }
    return row + 1 < c->stored ? row + 1 : rows;
}

static bool sort_batch(writer *w, uint32_t number)
{
    const etp_batch *b = &w->rows->batches.items[number];
    size_t changes[MAX_KEYS] = {0}; // of each key, the next
    for (size_t from = 0; from < b->rows;) {
        size_t to = b->rows;
        etp_str values[MAX_KEYS] = {0};
        for (size_t i = 0; i < w->n_keys; i++) {
            const etp_batch_column *c = &b->columns[w->keys[i]];
            size_t row = etp_batch_row(c, from);
            if (changes[i] <= from) {
                changes[i] = next_change(c, row, b->rows);
            }
            to = changes[i] < to ? changes[i] : to;
            if (c->present[row]) {
                // Borrowed from the batch, which outlives the writer.
                values[i] = c->texts.items[c->cells[row].i];
            }
        }
        partition *p = partition_of(w, values);
        const piece found = {number, from, to - from};
        if (!p || !ETP_PUSH(&w->arena, &p->pieces, found)) {
            return false;
        }
        from = to;
    }
    return true;
}

// ---- rows of a partition ----

// NUMBER is the batch that rows come from. The table of moved texts is as large as its columns have
// texts, and is kept while one partition after the other takes rows from the same batch.
static bool new_batch(writer *w, uint32_t number)
{
    const etp_batch *from = &w->rows->batches.items[number];
    if (w->texts && w->texts_batch == number) {
        return true;
    }
    etp_arena_dispose(&w->texts_arena);
    w->texts = ETP_NEW_ARRAY(&w->texts_arena, moved *, from->n_columns);
    for (size_t i = 0; w->texts && i < from->n_columns; i++) {
        w->texts[i] = ETP_NEW_ARRAY(&w->texts_arena, moved, from->columns[i].texts.n);
        if (!w->texts[i]) {
            w->texts = NULL;
        }
    }
    w->texts_batch = number;
    return w->texts != NULL;
}

// The position of text AT of FROM in the texts of TO.
static int64_t moved_text(writer *w, size_t column, const etp_batch_column *from, int64_t at,
                          etp_batch_column *to)
{
    moved *m = &w->texts[column][at];
    if (m->group != w->group) {
        if (!ETP_PUSH(&w->batch.text_arena, &to->texts, from->texts.items[at])) {
            w->batch.failed = true;
            return 0;
        }
        *m = (moved){w->group, (uint32_t)(to->texts.n - 1)};
    }
    return m->to;
}

static void add_piece(writer *w, const piece *p)
{
    const etp_batch *from = &w->rows->batches.items[p->batch];
    for (size_t i = 0; i < w->batch.n_columns; i++) {
        size_t column = w->columns[i];
        const etp_batch_column *c = &from->columns[column];
        etp_batch_column *to = &w->batch.columns[i];
        size_t first = etp_batch_row(c, p->from), last = etp_batch_row(c, p->from + p->n - 1);
        bool texts = from->defs[column].type == ETP_COLUMN_TEXT;
        for (size_t row = first; row <= last; row++) { // the rest is as the last
            etp_batch_cell cell = c->cells[row];
            if (texts && c->present[row]) {
                cell.i = moved_text(w, column, c, cell.i, to);
            }
            etp_batch_set(to, w->batch.rows + (row - first), cell, c->present[row]);
        }
    }
    w->batch.rows += p->n;
}

// A row group is what one batch has of the partition: texts then come from one table.
static etp_status put_rows(writer *w, const partition *p, etp_parquet_file *file, etp_error *err)
{
    for (size_t i = 0; i < p->pieces.n;) {
        uint32_t batch = p->pieces.items[i].batch;
        etp_batch_clear(&w->batch);
        w->group++;
        ETP_NEED(new_batch(w, batch), err, "a lake");
        for (; i < p->pieces.n && p->pieces.items[i].batch == batch; i++) {
            add_piece(w, &p->pieces.items[i]);
        }
        ETP_NEED(!w->batch.failed, err, "a lake");
        ETP_TRY(etp_parquet_encode(&w->encoder, &w->batch, &w->bytes, err));
        ETP_TRY(etp_parquet_put(file, &w->bytes, err));
    }
    return etp_parquet_end(file, err);
}

// ---- files ----

// As engines read it: what a path or a name=value cannot hold is written %XX.
// The word for null is Hive's, which other engines took over.
static void append_value(etp_strbuf *out, etp_str value)
{
    if (!value.ptr) {
        etp_strbuf_appendz(out, "__HIVE_DEFAULT_PARTITION__");
    }
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if (c < 0x20 || c == 0x7f || strchr("\"#%'*/:=?\\{[]^", c)) {
            etp_strbuf_printf(out, "%%%02X", (unsigned)c);
        } else {
            etp_strbuf_append(out, (etp_str){value.ptr + i, 1});
        }
    }
}

typedef struct file_of {
    writer *w;
    const partition *p;
} file_of;

static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    const file_of *f = ctx;
    writer *w = f->w;
    etp_parquet_file file = {
        .sink = sink, .defs = w->batch.defs, .n_columns = w->batch.n_columns, .table = w->table};
    etp_parquet_begin(&file);
    etp_status status = put_rows(w, f->p, &file, err);
    etp_parquet_dispose(&file);
    return status;
}

// Replaced whole under its final name, so that an engine which reads meanwhile sees the old file or
// the new one.
static etp_status put_file(writer *w, const partition *p, const char *name, etp_error *err)
{
    etp_arena arena = {0};
    etp_strbuf place;
    etp_strbuf_init(&place, &arena);
    etp_strbuf_printf(&place, "%s/", w->table);
    for (size_t i = 0; i < w->n_keys; i++) {
        etp_strbuf_printf(&place, "%s=", w->rows->defs[w->keys[i]].name);
        append_value(&place, p->values[i]);
        etp_strbuf_appendz(&place, "/");
    }
    etp_strbuf_appendz(&place, name);
    etp_status status = place.failed
                            ? etp_fail_nomem(err, "a lake")
                            : etp_os_replace_below(w->root, place.ptr, fill, &(file_of){w, p}, err);
    etp_arena_dispose(&arena);
    return status;
}

static etp_status prepare(writer *w, const char *const *keys, size_t n_keys, etp_error *err)
{
    const etp_kept_rows *rows = w->rows;
    etp_column_def *defs = ETP_NEW_ARRAY(&w->arena, etp_column_def, rows->n_defs);
    w->columns = ETP_NEW_ARRAY(&w->arena, size_t, rows->n_defs);
    ETP_NEED(defs && w->columns, err, "a lake");
    size_t n = 0;
    for (size_t c = 0; c < rows->n_defs; c++) {
        bool key = false;
        for (size_t k = 0; k < n_keys; k++) {
            key = key || strcmp(rows->defs[c].name, keys[k]) == 0;
        }
        if (!key) {
            w->columns[n] = c;
            defs[n++] = rows->defs[c];
        }
    }
    for (size_t k = 0; k < n_keys; k++) {
        size_t c = 0;
        while (c < rows->n_defs && strcmp(rows->defs[c].name, keys[k]) != 0) {
            c++;
        }
        if (c == rows->n_defs || rows->defs[c].type != ETP_COLUMN_TEXT || w->n_keys == MAX_KEYS) {
            return etp_fail(err, ETP_USAGE, "%s has no column %s to make folders of", w->table,
                            keys[k]);
        }
        w->keys[w->n_keys++] = c;
    }
    ETP_TRY(etp_batch_init(&w->batch, defs, n, err));
    return etp_parquet_encoder_init(&w->encoder, false, err);
}

static etp_status put_all(writer *w, const char *name, etp_error *err)
{
    for (size_t i = w->rows->taken; i < w->rows->batches.n; i++) {
        ETP_NEED(sort_batch(w, (uint32_t)i), err, "a lake");
    }
    for (size_t i = 0; i < w->partitions.n; i++) {
        ETP_TRY(put_file(w, &w->partitions.items[i], name, err));
    }
    return ETP_OK;
}

etp_status etp_kept_write(const etp_kept_rows *rows, const char *table, const char *root,
                          const char *const *keys, size_t n_keys, const char *name, etp_error *err)
{
    writer w = {.rows = rows, .table = table, .root = root};
    etp_status status = prepare(&w, keys, n_keys, err);
    if (status == ETP_OK) {
        status = put_all(&w, name, err);
    }
    etp_parquet_group_dispose(&w.bytes);
    etp_parquet_encoder_dispose(&w.encoder);
    etp_batch_dispose(&w.batch);
    etp_arena_dispose(&w.texts_arena);
    etp_arena_dispose(&w.arena);
    return status;
}
