// SPDX-License-Identifier: Apache-2.0
// Members of an object of JSON, their types checked.
#include <math.h>

#include "base/choice.h"
#include "base/json_read.h"

void etp_json_reject(const etp_json_object *o, const char *key, const char *expected)
{
    if (*o->status == ETP_OK) {
        *o->status = etp_fail(o->err, ETP_CORRUPT, "%s%s%s is not %s", o->where,
                              etp_if(o->where[0], "."), key, expected);
    }
}

// An object that is absent has no members: getters of it give zero values, without a question at
// each.
static const json_t *member(const etp_json_object *o, const char *key)
{
    const json_t *v = o->object ? json_object_get(o->object, key) : NULL;
    return v && !json_is_null(v) ? v : NULL;
}

etp_str etp_json_get_str(const etp_json_object *o, const char *key)
{
    const json_t *v = member(o, key);
    if (!v) {
        return ETP_STR("");
    }
    if (!json_is_string(v)) {
        etp_json_reject(o, key, "a string");
        return ETP_STR("");
    }
    char *copy = etp_arena_strdup(o->arena, (etp_str){json_string_value(v), json_string_length(v)});
    if (!copy) {
        if (*o->status == ETP_OK) {
            *o->status = etp_fail_nomem(o->err, "a text");
        }
        return ETP_STR("");
    }
    return (etp_str){copy, json_string_length(v)};
}

uint64_t etp_json_get_u64(const etp_json_object *o, const char *key, uint64_t max)
{
    const json_t *v = member(o, key);
    if (!v) {
        return 0;
    }
    // jansson refuses whole numbers beyond int64 while it parses, so none arrives here cut.
    json_int_t i = json_is_integer(v) ? json_integer_value(v) : -1;
    if (i < 0 || (uint64_t)i > max) {
        etp_json_reject(o, key, "a number in its range");
        return 0;
    }
    return (uint64_t)i;
}

uint32_t etp_json_get_u32(const etp_json_object *o, const char *key, uint32_t max)
{
    return (uint32_t)etp_json_get_u64(o, key, max);
}

double etp_json_get_double(const etp_json_object *o, const char *key)
{
    const json_t *v = member(o, key);
    if (!v) {
        return 0;
    }
    if (!json_is_number(v) || !isfinite(json_number_value(v))) {
        etp_json_reject(o, key, "a number");
        return 0;
    }
    return json_number_value(v);
}

bool etp_json_get_bool(const etp_json_object *o, const char *key)
{
    const json_t *v = member(o, key);
    if (v && !json_is_boolean(v)) {
        etp_json_reject(o, key, "true or false");
    }
    return v && json_is_true(v);
}

static const char *inner_name(const etp_json_object *o, const char *key, const size_t *i)
{
    const char *dot = etp_if(o->where[0], ".");
    const char *name = i ? etp_arena_printf(o->arena, "%s%s%s[%zu]", o->where, dot, key, *i)
                         : etp_arena_printf(o->arena, "%s%s%s", o->where, dot, key);
    return ETP_OR(name, key);
}

etp_json_object etp_json_get_object(const etp_json_object *o, const char *key)
{
    etp_json_object inner = *o;
    inner.object = member(o, key);
    inner.where = inner_name(o, key, NULL);
    if (inner.object && !json_is_object(inner.object)) {
        etp_json_reject(o, key, "an object");
        inner.object = NULL;
    }
    return inner;
}

size_t etp_json_get_array(const etp_json_object *o, const char *key, size_t max, const json_t **out)
{
    *out = member(o, key);
    if (!*out) {
        return 0;
    }
    if (!json_is_array(*out)) {
        etp_json_reject(o, key, "an array");
        return 0;
    }
    size_t n = json_array_size(*out);
    if (n > max) {
        etp_json_reject(o, key, "an array of that few entries");
        return 0;
    }
    return n;
}

etp_json_object etp_json_element(const etp_json_object *o, const char *key, const json_t *array,
                                 size_t i)
{
    etp_json_object inner = *o;
    inner.object = json_array_get(array, i);
    inner.where = inner_name(o, key, &i);
    if (!json_is_object(inner.object)) {
        etp_json_reject(o, inner.where, "an object");
        inner.object = NULL;
    }
    return inner;
}
