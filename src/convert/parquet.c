// SPDX-License-Identifier: Apache-2.0
// A file of row groups: their places, and the footer that says what all is.
#include "convert/parquet.h"

#include <stdio.h>

#include "convert/thrift.h"
#include "convert/varint.h"

#include <etprof/version.h>

// Numbers of parquet.thrift; so are the ids of fields below, which stand in the order of their
// structs.
enum { BOOLEAN = 0, INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 }; // Type
enum { REQUIRED = 0, OPTIONAL = 1 };                         // FieldRepetitionType
enum { UTF8 = 0, TIMESTAMP_MICROS = 10 };                    // ConvertedType
enum { UNCOMPRESSED = 0, ZSTD = 6 };                         // CompressionCodec
enum {
    LOGICAL_STRING = 1,
    LOGICAL_TIMESTAMP = 8,
    MICROS = 2
}; // fields of LogicalType and TimeUnit

static void emit(etp_parquet_file *w, etp_str s)
{
    etp_sink_write(w->sink, s);
    w->at += s.len;
}

void etp_parquet_begin(etp_parquet_file *w)
{
    w->at = w->rows = 0;
    w->n_groups = 0;
    w->arena = (etp_arena){0};
    etp_strbuf_init(&w->groups, &w->arena);
    emit(w, ETP_STR("PAR1"));
}

void etp_parquet_dispose(etp_parquet_file *w)
{
    etp_arena_dispose(&w->arena);
}

// Times and texts are numbers and bytes to the file; what they mean is the schema's logical type.
static int physical(etp_column_type type)
{
    static const int k_types[] = {[ETP_COLUMN_I64] = INT64,
                                  [ETP_COLUMN_F64] = DOUBLE,
                                  [ETP_COLUMN_BOOL] = BOOLEAN,
                                  [ETP_COLUMN_TEXT] = BYTE_ARRAY,
                                  [ETP_COLUMN_TIME] = INT64};
    return k_types[type];
}

// Fields 5 and 6 are the maximum and the minimum. The older pair (1 and 2) is deprecated.
static void statistics(etp_thrift *t, const etp_parquet_chunk *c)
{
    etp_thrift_begin(t, 12);
    etp_thrift_i64(t, 3, (int64_t)c->nulls);
    if (c->ranged) {
        const uint64_t ends[] = {(uint64_t)c->hi, (uint64_t)c->lo};
        for (int k = 0; k < 2; k++) {
            char bytes[8];
            for (unsigned i = 0; i < 8; i++) {
                bytes[i] = (char)(ends[k] >> (8 * i) & 0xff);
            }
            etp_thrift_binary(t, 5 + k, (etp_str){bytes, 8});
        }
    }
    etp_thrift_end(t);
}

static void column_metadata(etp_thrift *t, const etp_column_def *def, const etp_parquet_chunk *c,
                            uint64_t begin, size_t rows)
{
    bool plain = c->encoding == ETP_PARQUET_PLAIN;
    etp_thrift_begin(t, 0); // ColumnChunk
    etp_thrift_i64(t, 2, (int64_t)(begin + c->start));
    etp_thrift_begin(t, 3); // ColumnMetaData
    etp_thrift_i32(t, 1, physical(def->type));
    // All encodings that occur in the chunk: that of its values, that of a dictionary's values
    // (plain), and that of its definition levels (runs).
    etp_thrift_list(t, 2, ETP_THRIFT_I32, plain ? 2 : 1 + (size_t)c->dictionary + 1);
    if (plain || c->dictionary) {
        etp_thrift_item_i32(t, ETP_PARQUET_PLAIN);
    }
    etp_thrift_item_i32(t, ETP_PARQUET_RLE);
    if (!plain) {
        etp_thrift_item_i32(t, c->encoding);
    }
    etp_thrift_list(t, 3, ETP_THRIFT_BINARY, 1);
    etp_thrift_item_binary(t, etp_str_from(def->name));
    etp_thrift_i32(t, 4, c->compressed ? ZSTD : UNCOMPRESSED);
    etp_thrift_i64(t, 5, (int64_t)rows);
    etp_thrift_i64(t, 6, (int64_t)c->raw_bytes);
    etp_thrift_i64(t, 7, (int64_t)c->stored_bytes);
    etp_thrift_i64(t, 9, (int64_t)(begin + c->data));
    if (c->dictionary) {
        etp_thrift_i64(t, 11, (int64_t)(begin + c->start));
    }
    statistics(t, c);
    etp_thrift_end(t);
    etp_thrift_end(t);
}

etp_status etp_parquet_put(etp_parquet_file *w, const etp_parquet_group *g, etp_error *err)
{
    uint64_t begin = w->at, raw = 0;
    emit(w, etp_strbuf_str(&g->bytes));
    etp_thrift t = {.out = &w->groups};
    etp_thrift_begin(&t, 0);
    etp_thrift_list(&t, 1, ETP_THRIFT_STRUCT, w->n_columns);
    for (size_t i = 0; i < w->n_columns; i++) {
        column_metadata(&t, &w->defs[i], &g->chunks[i], begin, g->rows);
        raw += g->chunks[i].raw_bytes;
    }
    etp_thrift_i64(&t, 2, (int64_t)raw);
    etp_thrift_i64(&t, 3, (int64_t)g->rows);
    etp_thrift_i64(&t, 5, (int64_t)begin);
    etp_thrift_i64(&t, 6, (int64_t)g->bytes.len);
    etp_thrift_end(&t);
    w->n_groups++;
    w->rows += g->rows;
    return w->groups.failed ? etp_fail_nomem(err, "the footer") : ETP_OK;
}

// Older readers know only the converted type (field 6), newer ones look at the logical type (field
// 10), so a column has both.
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

etp_status etp_parquet_end(etp_parquet_file *w, etp_error *err)
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
    int n = snprintf(name, sizeof name, "etprof.%s/1", w->table);
    etp_thrift_list(&t, 5, ETP_THRIFT_STRUCT, 1);
    etp_thrift_begin(&t, 0);
    etp_thrift_binary(&t, 1, ETP_STR("etprof.table"));
    etp_thrift_binary(&t, 2, (etp_str){name, (size_t)n});
    etp_thrift_end(&t);
    // Readers parse this text by a fixed pattern to know a writer's faults.
    etp_thrift_binary(&t, 6, ETP_STR("etprof version " ETP_VERSION " (build 0)"));
    etp_thrift_list(&t, 7, ETP_THRIFT_STRUCT, w->n_columns);
    for (size_t i = 0; i < w->n_columns; i++) { // minima and maxima are ordered as the type says
        etp_thrift_begin(&t, 0);
        etp_thrift_begin(&t, 1);
        etp_thrift_end(&t);
        etp_thrift_end(&t);
    }
    etp_thrift_end(&t);
    // A reader starts at the file's end: magic word, the footer's length in front of it, and in
    // front of that the footer.
    etp_little_endian(&footer, footer.len, 4);
    etp_strbuf_append(&footer, ETP_STR("PAR1"));
    if (footer.failed || footer.len > INT32_MAX) {
        return etp_fail_nomem(err, "the footer");
    }
    emit(w, etp_strbuf_str(&footer));
    return ETP_OK;
}
