// SPDX-License-Identifier: Apache-2.0
// Parquet. A batch becomes a row group; a column of it one data page, texts with a dictionary page
// before. Numbers are PLAIN, texts RLE_DICTIONARY (the same few names in every row), nulls by
// definition levels.
#include "convert/parquet.h"

#include <stdio.h>
#include <zstd.h>

#include "convert/thrift.h"
#include "convert/varint.h"

#include <etprof/version.h>

enum { BOOLEAN = 0, INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 }; // Type
enum { REQUIRED = 0, OPTIONAL = 1 };                         // FieldRepetitionType
enum { UTF8 = 0, TIMESTAMP_MICROS = 10 };                    // ConvertedType
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };             // Encoding
enum { UNCOMPRESSED = 0, ZSTD = 6 };                         // CompressionCodec
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };                 // PageType
enum {
    LOGICAL_STRING = 1,
    LOGICAL_TIMESTAMP = 8,
    MICROS = 2
}; // fields of LogicalType and TimeUnit
#define ZSTD_LEVEL 3

typedef struct writer {
    etp_sink *sink;
    uint64_t at; // bytes written
    bool plain;
    etp_arena arena;   // of the file
    etp_strbuf groups; // RowGroup structs so far
    size_t n_groups;
    uint64_t rows;
    const etp_column_def *defs;
    size_t n_columns;
    etp_run_table table;
    // of the row group
    etp_arena group_arena;
    uint32_t *numbers; // ETP_BATCH_ROWS
    ZSTD_CCtx *zstd;   // its tables are as large as a page
} writer;

typedef struct chunk {                // of a column, where it went
    uint64_t start, dictionary, data; // positions; dictionary 0: none
    uint64_t raw_bytes, stored_bytes; // page headers included
} chunk;

static void emit(writer *w, etp_str s)
{
    etp_sink_write(w->sink, s);
    w->at += s.len;
}

// ---- values ----

static void packed(etp_strbuf *out, const uint32_t *values, size_t n, unsigned width)
{
    etp_varint(out, (uint64_t)((n + 7) / 8) << 1 | 1);
    uint64_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < (n + 7) / 8 * 8; i++) { // whole groups of eight
        bits |= (uint64_t)(i < n ? values[i] : 0) << have;
        for (have += width; have >= 8; have -= 8) {
            etp_little_endian(out, bits & 0xff, 1);
            bits >>= 8;
        }
    }
}

void etp_parquet_runs(etp_strbuf *out, const uint32_t *values, size_t n, unsigned width)
{
    unsigned bytes = (width + 7) / 8;
    size_t runs = 0;
    for (size_t i = 0; i < n; i++) {
        runs += i == 0 || values[i] != values[i - 1];
    }
    if (runs * (bytes + 2) > n * width / 8) { // two bytes for the length of a usual run
        packed(out, values, n, width);
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t start = i;
        while (i < n && values[i] == values[start]) {
            i++;
        }
        etp_varint(out, (uint64_t)(i - start) << 1);
        etp_little_endian(out, values[start], bytes);
    }
}

static void levels(writer *w, const etp_batch *b, size_t column, etp_strbuf *page)
{
    if (!b->defs[column].nullable) {
        return;
    }
    for (size_t i = 0; i < b->rows; i++) {
        w->numbers[i] = b->columns[column].present[i];
    }
    etp_strbuf runs;
    etp_strbuf_init(&runs, &w->group_arena);
    etp_parquet_runs(&runs, w->numbers, b->rows, 1);
    etp_little_endian(page, runs.len, 4);
    etp_strbuf_append(page, etp_strbuf_str(&runs));
    page->failed = page->failed || runs.failed;
}

static void numbers(const etp_batch *b, const etp_batch_column *c, etp_strbuf *page)
{
    enum { SOME = 512 };
    unsigned char bytes[SOME * 8];
    size_t n = 0;
    for (size_t i = 0; i < b->rows; i++) {
        if (c->present[i]) {
            uint64_t bits;
            memcpy(&bits, &c->cells[i], sizeof bits);
            for (unsigned k = 0; k < 8; k++) { // one store, where the machine has this order
                bytes[n * 8 + k] = (unsigned char)(bits >> (8 * k));
            }
            n++;
        }
        if (n == SOME || (n > 0 && i + 1 == b->rows)) {
            etp_strbuf_append(page, (etp_str){(const char *)bytes, n * 8});
            n = 0;
        }
    }
}

static void truths(const etp_batch *b, const etp_batch_column *c, etp_strbuf *page)
{
    unsigned bits = 0, have = 0;
    for (size_t i = 0; i < b->rows; i++) {
        if (c->present[i]) {
            bits |= (unsigned)c->cells[i].i << have++;
        }
        if (have == 8 || (have > 0 && i + 1 == b->rows)) {
            etp_little_endian(page, bits, 1);
            bits = have = 0;
        }
    }
}

static unsigned width_of(size_t n)
{
    unsigned width = 1; // zero bits for one text would do, but not every reader knows it
    while (width < 32 && n > (size_t)1 << width) {
        width++;
    }
    return width;
}

static void indices(writer *w, const etp_batch *b, const etp_batch_column *c, etp_strbuf *page)
{
    size_t n = 0;
    for (size_t i = 0; i < b->rows; i++) {
        if (c->present[i]) {
            w->numbers[n++] = (uint32_t)c->cells[i].i;
        }
    }
    unsigned width = width_of(c->texts.n);
    etp_little_endian(page, width, 1);
    etp_parquet_runs(page, w->numbers, n, width);
}

// ---- pages ----

static etp_status compressed(writer *w, etp_str raw, etp_str *out, etp_error *err)
{
    *out = raw;
    if (w->plain) {
        return ETP_OK;
    }
    size_t cap = ZSTD_compressBound(raw.len);
    char *to = etp_arena_alloc_raw(&w->group_arena, cap, 1);
    size_t n = to ? ZSTD_compressCCtx(w->zstd, to, cap, raw.ptr, raw.len, ZSTD_LEVEL) : 0;
    if (!to || ZSTD_isError(n)) {
        return etp_fail_nomem(err, "zstd");
    }
    *out = (etp_str){to, n};
    return ETP_OK;
}

static etp_status put_page(writer *w, int kind, const etp_strbuf *page, size_t n_values,
                           int encoding, chunk *out, etp_error *err)
{
    etp_str raw = etp_strbuf_str(page), stored;
    ETP_NEED(!page->failed, err, "a page");
    if (raw.len > INT32_MAX / 2) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "a page of %zu bytes: the texts of one row are too long", raw.len);
    }
    ETP_TRY(compressed(w, raw, &stored, err));
    etp_strbuf header;
    etp_strbuf_init(&header, &w->group_arena);
    etp_thrift t = {.out = &header};
    etp_thrift_begin(&t, 0);
    etp_thrift_i32(&t, 1, kind);
    etp_thrift_i32(&t, 2, (int32_t)raw.len);
    etp_thrift_i32(&t, 3, (int32_t)stored.len);
    etp_thrift_begin(&t, kind == DATA_PAGE ? 5 : 7);
    etp_thrift_i32(&t, 1, (int32_t)n_values);
    etp_thrift_i32(&t, 2, encoding);
    if (kind == DATA_PAGE) {
        etp_thrift_i32(&t, 3, RLE); // definition levels
        etp_thrift_i32(&t, 4, RLE); // repetition levels: there are none
    }
    etp_thrift_end(&t);
    etp_thrift_end(&t);
    ETP_NEED(!header.failed, err, "a page");
    emit(w, etp_strbuf_str(&header));
    emit(w, stored);
    out->raw_bytes += header.len + raw.len;
    out->stored_bytes += header.len + stored.len;
    return ETP_OK;
}

static etp_status put_dictionary(writer *w, const etp_batch_column *c, chunk *out, etp_error *err)
{
    etp_strbuf page;
    etp_strbuf_init(&page, &w->group_arena);
    for (size_t i = 0; i < c->texts.n; i++) {
        etp_little_endian(&page, c->texts.items[i].len, 4);
        etp_strbuf_append(&page, c->texts.items[i]);
    }
    out->dictionary = w->at;
    return put_page(w, DICTIONARY_PAGE, &page, c->texts.n, PLAIN, out, err);
}

static etp_status put_column(writer *w, const etp_batch *b, size_t column, chunk *out,
                             etp_error *err)
{
    const etp_batch_column *c = &b->columns[column];
    bool dictionary = c->texts.n > 0;
    *out = (chunk){.start = w->at};
    if (dictionary) {
        ETP_TRY(put_dictionary(w, c, out, err));
    }
    etp_strbuf page;
    etp_strbuf_init(&page, &w->group_arena);
    levels(w, b, column, &page);
    if (dictionary) {
        indices(w, b, c, &page);
    } else if (b->defs[column].type == ETP_COLUMN_BOOL) {
        truths(b, c, &page);
    } else if (b->defs[column].type != ETP_COLUMN_TEXT) { // of a text: nulls alone
        numbers(b, c, &page);
    }
    out->data = w->at;
    return put_page(w, DATA_PAGE, &page, b->rows, dictionary ? RLE_DICTIONARY : PLAIN, out, err);
}

// ---- metadata ----

static int physical(etp_column_type type)
{
    static const int k_types[] = {[ETP_COLUMN_I64] = INT64,
                                  [ETP_COLUMN_F64] = DOUBLE,
                                  [ETP_COLUMN_BOOL] = BOOLEAN,
                                  [ETP_COLUMN_TEXT] = BYTE_ARRAY,
                                  [ETP_COLUMN_TIME] = INT64};
    return k_types[type];
}

// The smallest and the largest number, by which readers leave out row groups.
static void statistics(etp_thrift *t, const etp_batch *b, size_t column)
{
    const etp_batch_column *c = &b->columns[column];
    etp_thrift_begin(t, 12);
    etp_thrift_i64(t, 3, (int64_t)c->nulls);
    if (physical(b->defs[column].type) == INT64 && c->nulls < b->rows) {
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (size_t i = 0; i < b->rows; i++) {
            int64_t v = c->cells[i].i;
            lo = c->present[i] && v < lo ? v : lo;
            hi = c->present[i] && v > hi ? v : hi;
        }
        etp_arena arena = {0};
        etp_strbuf text;
        etp_strbuf_init(&text, &arena);
        etp_little_endian(&text, (uint64_t)hi, 8);
        etp_little_endian(&text, (uint64_t)lo, 8);
        if (text.failed) {
            t->out->failed = true;
        } else {
            etp_thrift_binary(t, 5, (etp_str){text.ptr, 8});
            etp_thrift_binary(t, 6, (etp_str){text.ptr + 8, 8});
        }
        etp_arena_dispose(&arena);
    }
    etp_thrift_end(t);
}

static void column_metadata(writer *w, etp_thrift *t, const etp_batch *b, size_t column,
                            const chunk *c)
{
    etp_thrift_begin(t, 0); // ColumnChunk
    etp_thrift_i64(t, 2, (int64_t)c->start);
    etp_thrift_begin(t, 3); // ColumnMetaData
    etp_thrift_i32(t, 1, physical(b->defs[column].type));
    etp_thrift_list(t, 2, ETP_THRIFT_I32, c->dictionary ? 3 : 2);
    etp_thrift_item_i32(t, PLAIN);
    etp_thrift_item_i32(t, RLE);
    if (c->dictionary) {
        etp_thrift_item_i32(t, RLE_DICTIONARY);
    }
    etp_thrift_list(t, 3, ETP_THRIFT_BINARY, 1);
    etp_thrift_item_binary(t, etp_str_from(b->defs[column].name));
    etp_thrift_i32(t, 4, w->plain ? UNCOMPRESSED : ZSTD);
    etp_thrift_i64(t, 5, (int64_t)b->rows);
    etp_thrift_i64(t, 6, (int64_t)c->raw_bytes);
    etp_thrift_i64(t, 7, (int64_t)c->stored_bytes);
    etp_thrift_i64(t, 9, (int64_t)c->data);
    if (c->dictionary) {
        etp_thrift_i64(t, 11, (int64_t)c->dictionary);
    }
    statistics(t, b, column);
    etp_thrift_end(t);
    etp_thrift_end(t);
}

static etp_status put_group(writer *w, const etp_batch *b, etp_error *err)
{
    uint64_t start = w->at, raw = 0, stored = 0;
    chunk *chunks = ETP_NEW_ARRAY(&w->arena, chunk, w->n_columns);
    ETP_NEED(chunks, err, "a row group");
    for (size_t i = 0; i < w->n_columns; i++) {
        etp_status status = put_column(w, b, i, &chunks[i], err);
        etp_arena_dispose(&w->group_arena);
        ETP_TRY(status);
        raw += chunks[i].raw_bytes;
        stored += chunks[i].stored_bytes;
    }
    etp_thrift t = {.out = &w->groups};
    etp_thrift_begin(&t, 0);
    etp_thrift_list(&t, 1, ETP_THRIFT_STRUCT, w->n_columns);
    for (size_t i = 0; i < w->n_columns; i++) {
        column_metadata(w, &t, b, i, &chunks[i]);
    }
    etp_thrift_i64(&t, 2, (int64_t)raw);
    etp_thrift_i64(&t, 3, (int64_t)b->rows);
    etp_thrift_i64(&t, 5, (int64_t)start);
    etp_thrift_i64(&t, 6, (int64_t)stored);
    etp_thrift_end(&t);
    w->n_groups++;
    w->rows += b->rows;
    return w->groups.failed ? etp_fail_nomem(err, "the footer") : ETP_OK;
}

static void schema_element(etp_thrift *t, const etp_column_def *d)
{
    etp_thrift_begin(t, 0);
    etp_thrift_i32(t, 1, physical(d->type));
    etp_thrift_i32(t, 3, d->nullable ? OPTIONAL : REQUIRED);
    etp_thrift_binary(t, 4, etp_str_from(d->name));
    if (d->type == ETP_COLUMN_TEXT) {
        etp_thrift_i32(t, 6, UTF8);
        etp_thrift_begin(t, 10);
        etp_thrift_begin(t, LOGICAL_STRING);
        etp_thrift_end(t);
        etp_thrift_end(t);
    } else if (d->type == ETP_COLUMN_TIME) {
        etp_thrift_i32(t, 6, TIMESTAMP_MICROS);
        etp_thrift_begin(t, 10);
        etp_thrift_begin(t, LOGICAL_TIMESTAMP);
        etp_thrift_bool(t, 1, true); // UTC
        etp_thrift_begin(t, 2);
        etp_thrift_begin(t, MICROS);
        etp_thrift_end(t);
        etp_thrift_end(t);
        etp_thrift_end(t);
        etp_thrift_end(t);
    }
    etp_thrift_end(t);
}

static etp_status put_footer(writer *w, etp_error *err)
{
    etp_strbuf footer;
    etp_strbuf_init(&footer, &w->arena);
    etp_thrift t = {.out = &footer};
    etp_thrift_begin(&t, 0);
    etp_thrift_i32(&t, 1, 2); // version
    etp_thrift_list(&t, 2, ETP_THRIFT_STRUCT, w->n_columns + 1);
    etp_thrift_begin(&t, 0); // the root
    etp_thrift_binary(&t, 4, ETP_STR("schema"));
    etp_thrift_i32(&t, 5, (int32_t)w->n_columns);
    etp_thrift_end(&t);
    for (size_t i = 0; i < w->n_columns; i++) {
        schema_element(&t, &w->defs[i]);
    }
    etp_thrift_i64(&t, 3, (int64_t)w->rows);
    etp_thrift_list(&t, 4, ETP_THRIFT_STRUCT, w->n_groups);
    etp_strbuf_append(&footer, etp_strbuf_str(&w->groups));
    char name[64];
    int n = snprintf(name, sizeof name, "etprof.%s/1", etp_run_table_name(w->table));
    etp_thrift_list(&t, 5, ETP_THRIFT_STRUCT, 1);
    etp_thrift_begin(&t, 0);
    etp_thrift_binary(&t, 1, ETP_STR("etprof.table"));
    etp_thrift_binary(&t, 2, (etp_str){name, (size_t)n});
    etp_thrift_end(&t);
    etp_thrift_binary(&t, 6, ETP_STR("etprof version " ETP_VERSION " (build 0)"));
    etp_thrift_list(&t, 7, ETP_THRIFT_STRUCT, w->n_columns);
    for (size_t i = 0; i < w->n_columns; i++) { // minima and maxima are ordered as the type says
        etp_thrift_begin(&t, 0);
        etp_thrift_begin(&t, 1);
        etp_thrift_end(&t);
        etp_thrift_end(&t);
    }
    etp_thrift_end(&t);
    etp_little_endian(&footer, footer.len, 4);
    etp_strbuf_append(&footer, ETP_STR("PAR1"));
    if (footer.failed || footer.len > INT32_MAX) {
        return etp_fail_nomem(err, "the footer");
    }
    emit(w, etp_strbuf_str(&footer));
    return ETP_OK;
}

static etp_status put_groups(writer *w, etp_run_table_source *source, etp_error *err)
{
    etp_batch batch;
    etp_status status = etp_batch_init(&batch, w->defs, w->n_columns, err);
    for (bool more = true; status == ETP_OK && more && !w->sink->failed;) {
        status = etp_run_table_next(source, &batch, err);
        more = status == ETP_OK && batch.rows > 0;
        if (more) {
            status = put_group(w, &batch, err);
        }
        etp_batch_clear(&batch);
    }
    etp_batch_dispose(&batch);
    return status;
}

etp_status etp_parquet_write(etp_run_table_source *source, const etp_parquet_options *options,
                             etp_sink *sink, uint64_t *out_rows, etp_error *err)
{
    writer w = {.sink = sink, .plain = options->plain, .table = etp_run_table_of(source)};
    w.defs = etp_run_table_columns(w.table, &w.n_columns);
    etp_strbuf_init(&w.groups, &w.arena);
    w.numbers = etp_arena_alloc_raw(&w.arena, ETP_BATCH_ROWS, sizeof *w.numbers);
    w.zstd = ZSTD_createCCtx();
    etp_status status = w.numbers && w.zstd ? ETP_OK : etp_fail_nomem(err, "parquet");
    if (status == ETP_OK) {
        emit(&w, ETP_STR("PAR1"));
        status = put_groups(&w, source, err);
    }
    if (status == ETP_OK && !sink->failed) {
        status = put_footer(&w, err);
    }
    *out_rows = w.rows;
    (void)ZSTD_freeCCtx(w.zstd); // NULL is fine
    etp_arena_dispose(&w.group_arena);
    etp_arena_dispose(&w.arena);
    return status;
}
