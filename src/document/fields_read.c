// SPDX-License-Identifier: Apache-2.0
// Reads from JSON what tables of members describe.
#include "document/fields.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/guard.h"
#include "base/json_read.h"

// "a, b or c"
static const char *list_of_words(const etp_json_object *o, const etp_words *words)
{
    const char *text = NULL;
    unsigned n = 0;
    for (unsigned i = words->n; i-- > 0;) {
        const char *word = words->text(NULL, i);
        if (word) {
            const char *more = n == 1 ? " or " : ", ";
            text = etp_arena_printf(o->arena, "%s%s%s", word, etp_if(n, more), ETP_OR(text, ""));
            n++;
        }
    }
    return ETP_OR(text, "one of its words");
}

static uint32_t read_word(const etp_json_object *o, const etp_field *f)
{
    etp_str s = etp_json_get_str(o, f->key);
    for (unsigned i = 0; i < f->words->n; i++) {
        const char *word = f->words->text(NULL, i);
        if (word ? etp_str_eqz(s, word) : s.len == 0 && !(f->flags & ETP_SET)) {
            return i;
        }
    }
    if (!(f->flags & ETP_OPEN)) {
        etp_json_reject(o, f->key, list_of_words(o, f->words));
    }
    return 0;
}

// Absent, or null.
static bool is_unknown(const etp_json_object *o, const char *key)
{
    return !o->object || !json_object_get(o->object, key) ||
           json_is_null(json_object_get(o->object, key));
}

static uint64_t read_number(const etp_json_object *o, const etp_field *f)
{
    uint64_t of_32 = f->kind == ETP_FIELD_INT ? INT32_MAX : UINT32_MAX;
    uint64_t fits = f->size == 8 ? INT64_MAX : of_32;
    uint64_t least = f->range == ETP_FROM_1, most = ETP_OR(f->most, fits);
    if (is_unknown(o, f->key)) {
        return f->flags & ETP_MAX_IS_NULL ? UINT64_MAX : 0;
    }
    const json_t *v = json_object_get(o->object, f->key);
    json_int_t i = json_is_integer(v) ? json_integer_value(v) : -1;
    if (i < 0 || (uint64_t)i < least || (uint64_t)i > most) {
        etp_json_reject(o, f->key,
                        etp_arena_printf(o->arena, "a whole number from %llu to %llu",
                                         (unsigned long long)least, (unsigned long long)most));
        return least;
    }
    return (uint64_t)i;
}

static double read_real(const etp_json_object *o, const etp_field *f)
{
    if (is_unknown(o, f->key)) {
        return f->flags & ETP_ZERO ? 0 : (double)NAN;
    }
    double v = etp_json_get_double(o, f->key);
    double most = f->most ? (double)f->most : HUGE_VAL;
    double least = f->range == ETP_SIGNED ? -most : 0; // no document that is read has other ranges
    if (v < least || v > most) {
        etp_json_reject(o, f->key,
                        isfinite(most)
                            ? etp_arena_printf(o->arena, "a number from %.0f to %.0f", least, most)
                            : etp_arena_printf(o->arena, "a number of %.0f or more", least));
    }
    return v;
}

static void read_one(const etp_json_object *o, const etp_field *f, void *value)
{
    switch (f->kind) {
    case ETP_FIELD_TEXT: {
        etp_str s = etp_json_get_str(o, f->key);
        *(const char **)value = etp_z_if(s.len > 0 || (f->flags & (ETP_SET | ETP_EMPTY)), s.ptr);
        return;
    }
    case ETP_FIELD_STR:
        *(etp_str *)value = etp_json_get_str(o, f->key);
        return;
    case ETP_FIELD_BOOL:
        *(bool *)value = etp_json_get_bool(o, f->key);
        return;
    case ETP_FIELD_NOT:
        *(bool *)value = o->object && !etp_json_get_bool(o, f->key);
        return;
    case ETP_FIELD_TRISTATE:
        *(int *)value = is_unknown(o, f->key) ? -1 : etp_json_get_bool(o, f->key);
        return;
    case ETP_FIELD_INT: // no document that is read has negative ones
    case ETP_FIELD_UINT:
        if (f->size == 8) {
            *(uint64_t *)value = read_number(o, f);
        } else {
            *(uint32_t *)value = (uint32_t)read_number(o, f);
        }
        return;
    case ETP_FIELD_RATIO:
    case ETP_FIELD_NUMBER:
        *(double *)value = read_real(o, f);
        return;
    case ETP_FIELD_WORD:
        *(uint32_t *)value = read_word(o, f);
        return;
    case ETP_FIELD_CHARS:
    case ETP_FIELD_NS:
    case ETP_FIELD_ROUNDED:
    case ETP_FIELD_OBJECT:
        assert(!"no document that is read has these");
    }
}

static void read_texts(const etp_json_object *o, const etp_field *f, const json_t *array, size_t n,
                       etp_str *texts)
{
    for (size_t i = 0; i < n; i++) {
        const char *z = json_string_value(json_array_get(array, i)); // NULL when it is no string
        char *copy = z ? etp_arena_strdup(o->arena, etp_str_from(z)) : NULL;
        if (!z) {
            etp_json_reject(o, f->key, "a list of strings");
            return;
        }
        texts[i] = etp_str_from(copy);
    }
}

// The length is that of what has been read, so that an object's check sees those before it.
static void read_list(const etp_json_object *o, const etp_field *f, char *object, void *root)
{
    const json_t *array;
    size_t n = etp_json_get_array(o, f->key, f->most, &array);
    char *items = object + f->offset;
    size_t *length = (size_t *)(void *)(object + f->n_offset);
    *length = 0;
    if (f->pointer) {
        assert(f->cap_offset > 0);
        items = n > 0 ? etp_arena_alloc_array(o->arena, n, f->size) : NULL;
        if (n > 0 && !items) {
            *o->status = *o->status == ETP_OK ? etp_fail_nomem(o->err, f->key) : *o->status;
            return;
        }
        *(void **)(void *)(object + f->offset) = items;
        *(size_t *)(void *)(object + f->cap_offset) = n;
    } else {
        n = ETP_MIN(n, f->cap);
    }
    if (f->kind == ETP_FIELD_STR) {
        read_texts(o, f, array, n, (etp_str *)(void *)items);
        *length = n;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        etp_json_object element = etp_json_element(o, f->key, array, i);
        etp_object_read(&element, f->shape, items + i * f->size, root);
        *length = i + 1;
    }
}

void etp_object_read(const etp_json_object *o, const etp_shape *shape, void *object, void *root)
{
    for (size_t i = 0; i < shape->n; i++) {
        const etp_field *f = &shape->fields[i];
        char *value = (char *)object + f->offset;
        if (f->read) {
            f->read(o, object, root);
        } else if (f->find || f->write) {
            continue; // follows from the others
        } else if (f->many == ETP_COUNTED) {
            read_list(o, f, object, root);
        } else if (f->kind == ETP_FIELD_OBJECT && f->key) {
            etp_json_object inner = etp_json_get_object(o, f->key);
            etp_object_read(&inner, f->shape, value, root);
        } else if (f->kind == ETP_FIELD_OBJECT) {
            etp_object_read(o, f->shape, value, root);
        } else {
            read_one(o, f, value);
        }
    }
    if (shape->check && o->object) {
        shape->check(o, object, root);
    }
}

static etp_status of_text(etp_str text, const etp_shape *shape, void *object, etp_arena *arena,
                          etp_error *err)
{
    json_t *json;
    ETP_TRY(etp_json_read(text, &json, err));
    etp_status status = ETP_OK;
    const etp_json_object root = {
        .object = json, .where = "", .arena = arena, .err = err, .status = &status};
    etp_object_read(&root, shape, object, object);
    json_decref(json);
    ETP_TRY(etp_arena_check(arena, err, "a document")); // before what is missing is a fault
    return status;
}

// The JSON is held meanwhile.
etp_status etp_object_of_text(etp_str text, const etp_shape *shape, void *object, etp_arena *arena,
                              etp_error *err)
{
    ETP_UNGUARDED(arena, of_text(text, shape, object, arena, err));
}
