// SPDX-License-Identifier: Apache-2.0
// The Arrow C stream: batches whose number columns are the ones that were filled, without a copy.
//
// What a consumer holds lives in a shared block, which goes with the last of its structs: the
// interface lets consumers move a column out of its batch and release it later, on another thread.
#include <errno.h>
#include <stdatomic.h>

#include "base/guard.h"
#include "convert/table.h"

typedef struct shared {
    etp_arena arena; // owns this struct
    etp_batch batch;
    atomic_size_t holders;
} shared;

static void drop(shared *s)
{
    if (s && atomic_fetch_sub(&s->holders, 1) == 1) {
        etp_batch_dispose(&s->batch);
        etp_arena arena = s->arena; // it goes with its owner
        etp_arena_dispose(&arena);
    }
}

static etp_status new_shared(shared **out, etp_error *err)
{
    etp_arena arena = {0};
    *out = ETP_NEW(&arena, shared);
    ETP_NEED(*out, err, "a batch");
    (*out)->arena = arena;
    atomic_init(&(*out)->holders, 1);
    return ETP_OK;
}

// ---- schema ----

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release) { // else it was moved out
            schema->children[i]->release(schema->children[i]);
        }
    }
    schema->release = NULL;
    drop(schema->private_data);
}

static const char *format_of(etp_column_type type)
{
    static const char *const k_formats[] = {[ETP_COLUMN_I64] = "l",
                                            [ETP_COLUMN_F64] = "g",
                                            [ETP_COLUMN_BOOL] = "b",
                                            [ETP_COLUMN_TEXT] = "u",
                                            [ETP_COLUMN_TIME] = "tsu:UTC"};
    return k_formats[type];
}

// The names are copied: a schema outlives the stream.
// Each child and the parent hold the block, so n + 1 of them have to be released before it goes.
// The count is set when nothing can fail any more; until then the one of new_shared is ours.
static etp_status fill_schema(shared *s, const etp_column_def *defs, size_t n,
                              struct ArrowSchema *out)
{
    struct ArrowSchema *children = ETP_NEW_ARRAY(&s->arena, struct ArrowSchema, n);
    struct ArrowSchema **list = ETP_NEW_ARRAY(&s->arena, struct ArrowSchema *, n);
    for (size_t i = 0; i < n; i++) {
        const char *name = etp_arena_strdup(&s->arena, etp_str_from(defs[i].name));
        children[i] = (struct ArrowSchema){.format = format_of(defs[i].type),
                                           .name = name,
                                           .flags = defs[i].nullable ? ARROW_FLAG_NULLABLE : 0,
                                           .release = release_schema,
                                           .private_data = s};
        list[i] = &children[i];
    }
    atomic_store(&s->holders, n + 1);
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = (int64_t)n,
                                .children = list,
                                .release = release_schema,
                                .private_data = s};
    return ETP_OK;
}

static etp_status make_schema(shared *s, const etp_column_def *defs, size_t n,
                              struct ArrowSchema *out, etp_error *err)
{
    ETP_GUARDED(&s->arena, err, "schema", fill_schema(s, defs, n, out));
}

// ---- arrays ----

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release) {
            array->children[i]->release(array->children[i]);
        }
    }
    array->release = NULL;
    drop(array->private_data);
}

static void set_bit(uint8_t *bits, size_t i, bool v)
{
    bits[i / 8] = (uint8_t)(bits[i / 8] | (unsigned)v << (i % 8));
}

static uint8_t *new_bits(etp_arena *arena, size_t n)
{
    return etp_arena_alloc(arena, n / 8 + 1);
}

// Offsets and bytes of a column of texts. A batch is full long before 2^31 bytes of text.
static void lay_out_texts(shared *s, const etp_batch_column *c, const void **buffers)
{
    size_t n = s->batch.rows, total = 0;
    int32_t *offsets = ETP_NEW_ARRAY(&s->arena, int32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        total += c->present[i] ? c->texts.items[c->cells[i].i].len : 0;
    }
    // Offsets have 32 bits: more is refused as if memory had ended.
    char *bytes = etp_arena_alloc_raw(&s->arena, total <= INT32_MAX ? total + 1 : SIZE_MAX, 1);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        etp_str t = c->present[i] ? c->texts.items[c->cells[i].i] : ETP_STR("");
        if (t.len > 0) {
            memcpy(bytes + at, t.ptr, t.len);
        }
        at += t.len;
        offsets[i + 1] = (int32_t)at;
    }
    buffers[1] = offsets;
    buffers[2] = bytes;
}

static void lay_out(shared *s, size_t column, struct ArrowArray *out)
{
    etp_batch_spread(&s->batch, column);
    const etp_batch_column *c = &s->batch.columns[column];
    etp_column_type type = s->batch.defs[column].type;
    size_t n = s->batch.rows;
    const void **buffers = ETP_NEW_ARRAY(&s->arena, const void *, 3);
    uint8_t *present = new_bits(&s->arena, n),
            *truths = type == ETP_COLUMN_BOOL ? new_bits(&s->arena, n) : NULL;
    for (size_t i = 0; i < n; i++) {
        set_bit(present, i, c->present[i]);
        if (truths) {
            set_bit(truths, i, c->cells[i].i != 0);
        }
    }
    // The interface allows to leave the validity bits out where nothing is null.
    buffers[0] = c->nulls > 0 ? present : NULL;
    buffers[1] = truths ? (const void *)truths : c->cells;
    if (type == ETP_COLUMN_TEXT) {
        lay_out_texts(s, c, buffers);
    }
    *out = (struct ArrowArray){.length = (int64_t)n,
                               .null_count = (int64_t)c->nulls,
                               .n_buffers = type == ETP_COLUMN_TEXT ? 3 : 2,
                               .buffers = buffers,
                               .release = release_array,
                               .private_data = s};
}

static etp_status fill_array(shared *s, struct ArrowArray *out)
{
    size_t n = s->batch.n_columns;
    struct ArrowArray *children = ETP_NEW_ARRAY(&s->arena, struct ArrowArray, n);
    struct ArrowArray **list = ETP_NEW_ARRAY(&s->arena, struct ArrowArray *, n);
    const void **buffers = ETP_NEW_ARRAY(&s->arena, const void *, 1); // no row is null
    for (size_t i = 0; i < n; i++) {
        lay_out(s, i, &children[i]);
        list[i] = &children[i];
    }
    atomic_store(&s->holders, n + 1);
    *out = (struct ArrowArray){.length = (int64_t)s->batch.rows,
                               .n_buffers = 1,
                               .n_children = (int64_t)n,
                               .buffers = buffers,
                               .children = list,
                               .release = release_array,
                               .private_data = s};
    return ETP_OK;
}

static etp_status make_array(shared *s, struct ArrowArray *out, etp_error *err)
{
    ETP_GUARDED(&s->arena, err, "a batch", fill_array(s, out));
}

// ---- stream ----

typedef struct stream {
    etp_arena arena; // owns this struct
    etp_rows rows;
    etp_error err;
    int failed; // errno of the first failure: a stream that broke stays broken
} stream;

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    stream *s = self->private_data;
    shared *block;
    etp_status status = new_shared(&block, &s->err);
    if (status == ETP_OK) {
        status = make_schema(block, s->rows.defs, s->rows.n_defs, out, &s->err);
    }
    if (status != ETP_OK) {
        drop(block);
    }
    return status == ETP_OK ? 0 : ENOMEM;
}

static int errno_of(const etp_error *err)
{
    switch (err->status) {
    case ETP_NOMEM:
        return ENOMEM;
    case ETP_IO:
    case ETP_ENVIRONMENT:
        return EIO;
    default:
        return EINVAL;
    }
}

// The end of a stream is an array that is released already, and no error.
static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    stream *s = self->private_data;
    *out = (struct ArrowArray){0}; // released: the end
    if (s->failed) {
        return s->failed;
    }
    shared *block;
    etp_status status = new_shared(&block, &s->err);
    if (status == ETP_OK) {
        status = etp_batch_init(&block->batch, s->rows.defs, s->rows.n_defs, &s->err);
    }
    if (status == ETP_OK) {
        status = s->rows.next(s->rows.source, &block->batch, &s->err);
    }
    bool more = status == ETP_OK && block->batch.rows > 0;
    if (more) {
        status = make_array(block, out, &s->err);
    }
    if (!more || status != ETP_OK) {
        drop(block);
    }
    s->failed = status == ETP_OK ? 0 : errno_of(&s->err);
    return s->failed;
}

static const char *get_last_error(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;
    return s->err.msg[0] ? s->err.msg : NULL;
}

static void release_stream(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;
    s->rows.close(s->rows.source);
    etp_arena arena = s->arena; // it goes with its owner
    etp_arena_dispose(&arena);
    self->release = NULL;
}

etp_status etp_rows_stream(const etp_rows *rows, struct ArrowArrayStream *out, etp_error *err)
{
    *out = (struct ArrowArrayStream){0};
    etp_arena arena = {0};
    stream *s = ETP_NEW(&arena, stream);
    if (!s) {
        rows->close(rows->source);
        return etp_fail_nomem(err, "a stream");
    }
    s->arena = arena;
    s->rows = *rows;
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = release_stream,
                                     .private_data = s};
    return ETP_OK;
}
