// SPDX-License-Identifier: Apache-2.0
// Writes as JSON what tables of members describe.
#include "document/fields.h"

#include <math.h>
#include <stdarg.h>

#include "base/number.h"

static uint64_t unsigned_at(const void *value, size_t size)
{
    return size == 4 ? *(const uint32_t *)value : *(const uint64_t *)value;
}

// Does the value say that nothing is known?
static bool is_unknown(const etp_field *f, const void *value)
{
    switch (f->kind) {
    case ETP_FIELD_TEXT: {
        const char *z = *(const char *const *)value;
        return z ? (f->flags & ETP_EMPTY) && !z[0] : !(f->flags & ETP_BLANK);
    }
    case ETP_FIELD_STR:
        return (f->flags & ETP_EMPTY) && ((const etp_str *)value)->len == 0;
    case ETP_FIELD_TRISTATE:
        return *(const int *)value < 0;
    case ETP_FIELD_UINT: {
        uint64_t v = unsigned_at(value, f->size);
        uint64_t most = f->size == 4 ? UINT32_MAX : UINT64_MAX;
        return ((f->flags & ETP_ZERO) && v == 0) || ((f->flags & ETP_MAX_IS_NULL) && v == most);
    }
    case ETP_FIELD_NS:
        return *(const int64_t *)value == ETP_NS_UNKNOWN;
    case ETP_FIELD_RATIO:
    case ETP_FIELD_NUMBER:
    case ETP_FIELD_ROUNDED:
        return !isfinite(*(const double *)value) ||
               ((f->flags & ETP_ZERO) && !(*(const double *)value > 0));
    default:
        return false;
    }
}

static void write_members(etp_json *j, const etp_shape *shape, const etp_json_cursor *at);
static void write_object(etp_json *j, const etp_shape *shape, const etp_json_cursor *at);

static const void *root_of(const etp_field *f, const void *object, const etp_json_cursor *at)
{
    return f->root ? f->root(object, at) : at->root;
}

static void write_one(etp_json *j, const etp_field *f, const void *value, const etp_json_cursor *at)
{
    if (is_unknown(f, value)) {
        etp_json_null(j);
        return;
    }
    switch (f->kind) {
    case ETP_FIELD_TEXT:
        etp_json_str(j, etp_str_from(*(const char *const *)value));
        return;
    case ETP_FIELD_CHARS:
        etp_json_z(j, value);
        return;
    case ETP_FIELD_STR:
        etp_json_str(j, *(const etp_str *)value);
        return;
    case ETP_FIELD_BOOL:
        etp_json_bool(j, *(const bool *)value);
        return;
    case ETP_FIELD_NOT:
        etp_json_bool(j, !*(const bool *)value);
        return;
    case ETP_FIELD_TRISTATE:
        etp_json_bool(j, *(const int *)value > 0);
        return;
    case ETP_FIELD_UINT:
        etp_json_u64(j, unsigned_at(value, f->size));
        return;
    case ETP_FIELD_INT:
        etp_json_i64(j, f->size == 4 ? *(const int32_t *)value : *(const int64_t *)value);
        return;
    case ETP_FIELD_NS:
        etp_json_i64(j, *(const int64_t *)value);
        return;
    case ETP_FIELD_RATIO:
        etp_json_ratio(j, *(const double *)value);
        return;
    case ETP_FIELD_NUMBER:
        etp_json_double(j, *(const double *)value);
        return;
    case ETP_FIELD_ROUNDED:
        etp_json_rounded(j, *(const double *)value);
        return;
    case ETP_FIELD_WORD:
        etp_json_z(j, f->words->text(at->root, unsigned_at(value, 4)));
        return;
    case ETP_FIELD_OBJECT:
        write_object(j, f->shape, &(etp_json_cursor){root_of(f, value, at), value, at->index, at});
        return;
    }
}

static void begin(etp_json *j, bool array, bool one_line)
{
    if (array) {
        (one_line ? etp_json_begin_array_inline : etp_json_begin_array)(j);
    } else {
        (one_line ? etp_json_begin_object_inline : etp_json_begin_object)(j);
    }
}

// Values of its own, or made one by one by the row's function.
static void write_per(etp_json *j, const etp_field *f, const char *items, const etp_json_cursor *at)
{
    size_t n = f->axis->n(at);
    if (f->key) {
        begin(j, !f->axis->name, f->flags & ETP_ONE_LINE);
    }
    for (size_t i = 0; i < n; i++) {
        etp_made made;
        const etp_json_cursor inner = {at->root, at->object, i, at->outer};
        const void *value = f->find ? f->find(&inner, &made) : items + i * f->size;
        if (!value && (f->flags & ETP_SKIP)) {
            continue;
        }
        if (f->axis->name) {
            etp_json_key(j, f->axis->name(at, i));
        }
        if (value) {
            write_one(j, f, value, &inner);
        } else {
            etp_json_null(j);
        }
    }
    if (f->key) {
        etp_json_end(j);
    }
}

// Where the value is, or the first of them; NULL is unknown.
static const void *value_of(const etp_field *f, const etp_json_cursor *at, etp_made *made)
{
    const char *place = (const char *)at->object + f->offset;
    if (f->write || (f->many == ETP_PER && f->find)) {
        return place;
    }
    if (f->find) {
        return f->find(at, made);
    }
    const char *value = f->pointer ? *(const char *const *)(const void *)place : place;
    return value && f->many == ETP_AT ? value + at->index * f->size : value;
}

static void write_member(etp_json *j, const etp_field *f, const etp_json_cursor *at)
{
    etp_made made;
    const void *value = value_of(f, at, &made);
    bool is_known = value || f->many == ETP_COUNTED;
    if (f->many == ETP_ONE || f->many == ETP_AT) {
        is_known =
            is_known && (!f->when || f->when(value, at)) && (f->write || !is_unknown(f, value));
    }
    if (!is_known && (f->flags & ETP_ABSENT)) {
        return;
    }
    if (is_known && !f->key && f->kind == ETP_FIELD_OBJECT && f->many == ETP_ONE) {
        write_members(j, f->shape,
                      &(etp_json_cursor){root_of(f, value, at), value, at->index, at->outer});
        return;
    }
    if (f->key) {
        etp_json_key(j, f->key);
    }
    if (!is_known) {
        etp_json_null(j);
    } else if (f->write) {
        f->write(j, at);
    } else if (f->many == ETP_COUNTED) {
        const char *items = value;
        size_t n = unsigned_at((const char *)at->object + f->n_offset, f->n_size);
        begin(j, true, f->flags & ETP_ONE_LINE);
        for (size_t i = 0; i < n; i++) {
            if (!f->when || f->when(items + i * f->size, at)) {
                write_one(j, f, items + i * f->size, at);
            }
        }
        etp_json_end(j);
    } else if (f->many == ETP_PER) {
        write_per(j, f, value, at);
    } else {
        write_one(j, f, value, at);
    }
}

static void write_members(etp_json *j, const etp_shape *shape, const etp_json_cursor *at)
{
    for (size_t i = 0; i < shape->n; i++) {
        write_member(j, &shape->fields[i], at);
    }
}

static void write_object(etp_json *j, const etp_shape *shape, const etp_json_cursor *at)
{
    begin(j, false, shape->one_line);
    write_members(j, shape, at);
    etp_json_end(j);
}

const void *etp_itself(const void *object, const etp_json_cursor *at)
{
    (void)at;
    return object;
}

const void *etp_made_text(etp_made *made, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(made->own.chars, sizeof made->own.chars, format, args);
    va_end(args);
    size_t most = sizeof made->own.chars - 1, len = n < 0 ? 0 : (size_t)n;
    made->own.str = (etp_str){made->own.chars, ETP_MIN(len, most)};
    return &made->own.str;
}

void etp_object_write(etp_json *j, const etp_shape *shape, const void *object, const void *root)
{
    write_object(j, shape, &(etp_json_cursor){root, object, 0, NULL});
}

void etp_document_write(etp_json *j, const etp_document *document, const void *object,
                        const void *root)
{
    etp_json_begin_object(j);
    etp_json_key(j, "schema");
    etp_json_z(j, document->name);
    write_members(j, document->shape, &(etp_json_cursor){root, object, 0, NULL});
    etp_json_end(j);
    if (j->depth == 0) { // else it is a member of another
        etp_json_end_document(j);
    }
}
