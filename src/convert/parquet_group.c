// SPDX-License-Identifier: Apache-2.0
// A batch as a row group: a column of it is one data page. Texts, and numbers that are the same in
// every row, have a dictionary page before it; other whole numbers are differences; nulls are
// definition levels.
#include "convert/parquet_group.h"

#include "base/guard.h"
#include "convert/parquet_values.h"
#include "convert/thrift.h"
#include "convert/varint.h"

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 }; // PageType
// The fastest: numbers are differences and texts are numbered before they come here.
#define ZSTD_LEVEL 1
#define FEW_BYTES 128 // not worth a compressor's start
#define FEW_ROWS 8    // whose differences need more bytes than they do

static etp_status make_room(etp_parquet_encoder *e)
{
    e->numbers = etp_arena_alloc_raw(&e->arena, ETP_BATCH_ROWS, sizeof *e->numbers);
    e->values = etp_arena_alloc_raw(&e->arena, ETP_BATCH_ROWS, sizeof *e->values);
    etp_strbuf_init(&e->page, &e->arena);
    etp_strbuf_init(&e->dictionary, &e->arena);
    etp_strbuf_init(&e->runs, &e->arena);
    etp_strbuf_init(&e->packed, &e->arena);
    return ETP_OK;
}

etp_status etp_parquet_encoder_init(etp_parquet_encoder *e, bool plain, etp_error *err)
{
    *e = (etp_parquet_encoder){.zstd = plain ? NULL : ZSTD_createCCtx()};
    ETP_NEED(plain || e->zstd, err, "parquet");
    ETP_GUARDED(&e->arena, err, "parquet", make_room(e));
}

void etp_parquet_encoder_dispose(etp_parquet_encoder *e)
{
    (void)ZSTD_freeCCtx(e->zstd); // NULL is fine
    etp_arena_dispose(&e->arena);
    *e = (etp_parquet_encoder){0};
}

void etp_parquet_group_dispose(etp_parquet_group *g)
{
    etp_arena_dispose(&g->arena);
    *g = (etp_parquet_group){0};
}

typedef struct column { // while it is encoded
    const etp_batch_column *c;
    const etp_column_def *def;
    size_t rows, nulls;
    bool constant; // but for nulls: there are none then, or nothing else
} column;

// ---- values ----

// Definition levels of a flat column are one bit a row: 1 where there is a value. A data page of
// version 1 has their length in front; a column that cannot be null has none.
static void levels(etp_parquet_encoder *e, const column *k)
{
    if (!k->def->nullable) {
        return;
    }
    e->runs.len = 0;
    if (k->nulls == 0 || k->nulls == k->rows) {
        etp_parquet_run(&e->runs, k->nulls == 0, k->rows, 1);
    } else {
        for (size_t i = 0; i < k->rows; i++) {
            e->numbers[i] = k->c->present[i];
        }
        etp_parquet_runs(&e->runs, e->numbers, k->rows, 1);
    }
    etp_little_endian(&e->page, e->runs.len, 4);
    etp_strbuf_append(&e->page, etp_strbuf_str(&e->runs));
}

// The cells that are there, one after the other, in the page's order of bytes.
static void numbers(etp_parquet_encoder *e, const column *k)
{
    etp_strbuf_reserve(&e->page, (k->rows - k->nulls) * 8);
    char *to = e->page.ptr + e->page.len;
    for (size_t i = 0; i < k->rows; i++) {
        if (k->c->present[i]) {
            uint64_t bits;
            memcpy(&bits, &k->c->cells[i], sizeof bits);
            for (unsigned b = 0; b < 8; b++) { // one store, where the machine has this order
                to[b] = (char)(bits >> (8 * b) & 0xff);
            }
            to += 8;
        }
    }
    e->page.len += (k->rows - k->nulls) * 8;
    e->page.ptr[e->page.len] = '\0';
}

// Plain booleans are packed eight to a byte, the first in the lowest bit. Nulls take no bit.
static void truths(etp_parquet_encoder *e, const column *k)
{
    unsigned bits = 0, have = 0;
    for (size_t i = 0; i < k->rows; i++) {
        size_t row = etp_batch_row(k->c, i);
        if (k->c->present[row]) {
            bits |= (unsigned)k->c->cells[row].i << have++;
        }
        if (have == 8 || (have > 0 && i + 1 == k->rows)) {
            etp_little_endian(&e->page, bits, 1);
            bits = have = 0;
        }
    }
}

static void differences(etp_parquet_encoder *e, const column *k)
{
    if (k->nulls == 0) {
        etp_parquet_deltas(&e->page, &k->c->cells[0].i, k->rows);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < k->rows; i++) {
        e->values[n] = k->c->cells[i].i;
        n += k->c->present[i];
    }
    etp_parquet_deltas(&e->page, e->values, n);
}

static unsigned width_of(size_t n)
{
    unsigned width = 1; // zero bits for one text would do, but not every reader knows it
    while (width < 32 && n > (size_t)1 << width) {
        width++;
    }
    return width;
}

static void indices(etp_parquet_encoder *e, const column *k, size_t n_distinct)
{
    unsigned width = width_of(n_distinct);
    etp_little_endian(&e->page, width, 1);
    if (k->constant || n_distinct == 1) {
        bool first = n_distinct == 1; // the only one, or what others have left is in it too
        etp_parquet_run(&e->page, first ? 0 : (uint32_t)k->c->cells[0].i, k->rows - k->nulls,
                        width);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < k->rows; i++) {
        e->numbers[n] = (uint32_t)k->c->cells[i].i;
        n += k->c->present[i];
    }
    etp_parquet_runs(&e->page, e->numbers, n, width);
}

// ---- pages ----

static etp_status compressed(etp_parquet_encoder *e, etp_str raw, etp_str *out, etp_error *err)
{
    size_t cap = ZSTD_compressBound(raw.len);
    e->packed.len = 0;
    etp_strbuf_reserve(&e->packed, cap);
    size_t n = ZSTD_compressCCtx(e->zstd, e->packed.ptr, cap, raw.ptr, raw.len, ZSTD_LEVEL);
    ETP_NEED(!ZSTD_isError(n), err, "zstd");
    *out = (etp_str){e->packed.ptr, n};
    return ETP_OK;
}

static etp_status put_page(etp_parquet_encoder *e, int kind, size_t n_values,
                           etp_parquet_group *out, etp_parquet_chunk *chunk, etp_error *err)
{
    const etp_strbuf *page = kind == DATA_PAGE ? &e->page : &e->dictionary;
    etp_str raw = etp_strbuf_str(page), stored = raw;
    if (raw.len > INT32_MAX / 2) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "a page of %zu bytes: the texts of one row are too long", raw.len);
    }
    if (chunk->compressed) {
        ETP_TRY(compressed(e, raw, &stored, err));
    }
    size_t before = out->bytes.len;
    etp_thrift t = {.out = &out->bytes};
    // Numbers here and below are the ids that parquet.thrift gives to the fields of PageHeader.
    etp_thrift_begin(&t, 0);
    etp_thrift_i32(&t, 1, kind);
    etp_thrift_i32(&t, 2, (int32_t)raw.len);
    etp_thrift_i32(&t, 3, (int32_t)stored.len);
    etp_thrift_begin(&t, kind == DATA_PAGE ? 5 : 7);
    etp_thrift_i32(&t, 1, (int32_t)n_values);
    etp_thrift_i32(&t, 2, kind == DATA_PAGE ? chunk->encoding : ETP_PARQUET_PLAIN);
    if (kind == DATA_PAGE) {
        etp_thrift_i32(&t, 3, ETP_PARQUET_RLE); // definition levels
        etp_thrift_i32(&t, 4, ETP_PARQUET_RLE); // repetition levels: there are none
    }
    etp_thrift_end(&t);
    etp_thrift_end(&t);
    size_t header = out->bytes.len - before;
    etp_strbuf_append(&out->bytes, stored);
    chunk->raw_bytes += header + raw.len;
    chunk->stored_bytes += header + stored.len;
    return ETP_OK;
}

static bool is_whole(etp_column_type type)
{
    return type == ETP_COLUMN_I64 || type == ETP_COLUMN_TIME;
}

static void fill_dictionary(etp_parquet_encoder *e, const column *k, size_t n)
{
    if (k->def->type != ETP_COLUMN_TEXT) {
        uint64_t bits;
        memcpy(&bits, &k->c->cells[0], sizeof bits);
        etp_little_endian(&e->dictionary, bits, 8);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        etp_str s = k->c->texts.items[i];
        etp_little_endian(&e->dictionary, s.len, 4);
        etp_strbuf_append(&e->dictionary, s);
    }
}

// By which readers leave out row groups.
// Cells that are not stored repeat a stored one, so they cannot widen the range.
static void range(const column *k, etp_parquet_chunk *out)
{
    out->ranged = is_whole(k->def->type) && k->nulls < k->rows;
    if (!out->ranged) {
        return;
    }
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (size_t i = 0; i < k->c->stored; i++) {
        int64_t v = k->c->cells[i].i;
        lo = k->c->present[i] && v < lo ? v : lo;
        hi = k->c->present[i] && v > hi ? v : hi;
    }
    out->lo = lo;
    out->hi = hi;
}

// How many values the dictionary of K has; 0: it has none.
// A column that says the same in every row costs one value this way, whatever its type. Booleans
// have no dictionary in Parquet.
static size_t distinct(const column *k)
{
    if (k->nulls == k->rows) {
        return 0;
    }
    return k->def->type == ETP_COLUMN_TEXT ? k->c->texts.n
                                           : k->constant && k->def->type != ETP_COLUMN_BOOL;
}

// Gives the encoding.
// Whole numbers mostly count up or lie close together, so their differences are short. Ratios have
// no such neighbours and stay plain.
static int fill_page(etp_parquet_encoder *e, const column *k, size_t n_distinct)
{
    size_t there = k->rows - k->nulls;
    levels(e, k);
    if (n_distinct > 0) {
        indices(e, k, n_distinct);
        return ETP_PARQUET_DICTIONARY;
    }
    if (is_whole(k->def->type) && there >= FEW_ROWS) {
        differences(e, k);
        return ETP_PARQUET_DELTA;
    }
    if (k->def->type == ETP_COLUMN_BOOL) {
        truths(e, k);
    } else if (there > 0) {
        numbers(e, k);
    }
    return ETP_PARQUET_PLAIN;
}

static etp_status put_column(etp_parquet_encoder *e, etp_batch *b, size_t at,
                             etp_parquet_group *out, etp_error *err)
{
    column k = {.c = &b->columns[at],
                .def = &b->defs[at],
                .rows = b->rows,
                .nulls = etp_batch_nulls(b, at),
                // One stored row stands for all of them.
                .constant = b->columns[at].stored == 1};
    etp_parquet_chunk *chunk = &out->chunks[at];
    if (!k.constant) {
        etp_batch_spread(b, at);
    }
    e->page.len = e->dictionary.len = 0;
    size_t n_distinct = distinct(&k);
    if (n_distinct > 0) {
        fill_dictionary(e, &k, n_distinct);
    }
    *chunk = (etp_parquet_chunk){.start = out->bytes.len,
                                 .dictionary = n_distinct > 0,
                                 .nulls = k.nulls,
                                 .encoding = fill_page(e, &k, n_distinct)};
    // The codec is a property of the column's chunk, so both of its pages are compressed or none.
    chunk->compressed = e->zstd && e->dictionary.len + e->page.len > FEW_BYTES;
    range(&k, chunk);
    if (n_distinct > 0) {
        ETP_TRY(put_page(e, DICTIONARY_PAGE, n_distinct, out, chunk, err));
    }
    chunk->data = out->bytes.len;
    return put_page(e, DATA_PAGE, k.rows, out, chunk, err);
}

static etp_status put_columns(etp_parquet_encoder *e, etp_batch *b, etp_parquet_group *out,
                              etp_error *err)
{
    if (!out->chunks) {
        etp_strbuf_init(&out->bytes, &out->arena);
        out->chunks = ETP_NEW_ARRAY(&out->arena, etp_parquet_chunk, b->n_columns);
    }
    out->bytes.len = 0;
    out->rows = b->rows;
    for (size_t i = 0; i < b->n_columns; i++) {
        ETP_TRY(put_column(e, b, i, out, err));
    }
    return ETP_OK;
}

// Memory of two kinds is asked for: of the encoder, which goes on to the next group, and of the
// group.
static etp_status put_group(etp_parquet_encoder *e, etp_batch *b, etp_parquet_group *out,
                            etp_error *err)
{
    ETP_GUARDED(&out->arena, err, "a row group", put_columns(e, b, out, err));
}

static etp_status encode(etp_parquet_encoder *e, etp_batch *b, etp_parquet_group *out,
                         etp_error *err)
{
    ETP_GUARDED(&e->arena, err, "a row group", put_group(e, b, out, err));
}

// The encoder's guard is the outer one: where its memory ends, that of the group is passed over and
// would stay on an arena that its caller still disposes of.
etp_status etp_parquet_encode(etp_parquet_encoder *e, etp_batch *b, etp_parquet_group *out,
                              etp_error *err)
{
    etp_guard *before = etp_guard_pause(&out->arena);
    etp_status status = encode(e, b, out, err);
    etp_guard_resume(&out->arena, before);
    return status;
}
