// SPDX-License-Identifier: Apache-2.0
// A validator for the part of JSON Schema that our schemas use: type, enum, const, required,
// properties, additionalProperties, items, oneOf, allOf, limits, and $ref into another of them. A
// keyword it does not know is a problem of the schema and reported as one: nothing is passed over
// in silence.

#include "base/guard.h"
#include "base/number.h"
#include "integrity/validate/parts.h"

typedef struct place { // where we are in the document, innermost first
    const struct place *up;
    const char *key; // NULL: an array element
    size_t index;
} place;

typedef struct other_schema { // that a $ref named: the entries of a list name it again and again
    struct other_schema *next;
    const char *name;
    json_t *schema;
} other_schema;

// One problem is enough: the first in the order of the schema. `oneOf` tries alternatives with a
// matcher of its own, whose problems are not told.
typedef struct matcher {
    etp_arena *arena;
    etp_schema_problem *out;
    other_schema **others;
} matcher;

etp_str etp_schema_text(const char *name)
{
    for (const etp_embedded *s = k_etp_schemas; s->name; s++) {
        if (strcmp(s->name, name) == 0) {
            return s->text;
        }
    }
    return (etp_str){0};
}

// A place is a chain on the stack and becomes text only where something does not fit: what fits,
// however large the document is, costs none.
static const char *where_text(const place *at, etp_arena *arena)
{
    const char *text = "";
    for (; at; at = at->up) {
        const char *dot = text[0] && text[0] != '[' ? "." : "";
        text = at->key ? etp_arena_printf(arena, "%s%s%s", at->key, dot, text)
                       : etp_arena_printf(arena, "[%zu]%s%s", at->index, dot, text);
    }
    return text[0] ? text : "the document";
}

// Long texts and whole objects are only described: the message has to stay a line.
static const char *value_text(const json_t *value, etp_arena *arena)
{
    char buf[ETP_NUMBER_CHARS];
    switch (json_typeof(value)) {
    case JSON_STRING: {
        etp_str s = {json_string_value(value), json_string_length(value)};
        return s.len > 60 ? etp_arena_printf(arena, "text of %zu characters", s.len)
                          : etp_arena_printf(arena, "\"%.*s\"", ETP_STR_ARG(s));
    }
    case JSON_INTEGER:
        return etp_arena_printf(arena, "%lld", (long long)json_integer_value(value));
    case JSON_REAL:
        return etp_arena_printf(arena, "%s", etp_format_double(json_real_value(value), buf));
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return etp_arena_printf(arena, "an array of %zu", json_array_size(value));
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

static bool problem(const matcher *m, const place *at, const char *id, const char *found,
                    const char *expected)
{
    *m->out = (etp_schema_problem){id, where_text(at, m->arena), found, expected};
    return false;
}

static bool is_type(const json_t *v, const char *type)
{
    static const struct {
        const char *name;
        json_type a, b;
    } k_types[] = {
        {"string",  JSON_STRING,  JSON_STRING },
        {"number",  JSON_INTEGER, JSON_REAL   },
        {"integer", JSON_INTEGER, JSON_INTEGER},
        {"boolean", JSON_TRUE,    JSON_FALSE  },
        {"object",  JSON_OBJECT,  JSON_OBJECT },
        {"array",   JSON_ARRAY,   JSON_ARRAY  },
        {"null",    JSON_NULL,    JSON_NULL   },
    };
    for (size_t i = 0; i < sizeof k_types / sizeof *k_types; i++) {
        if (strcmp(type, k_types[i].name) == 0) {
            return json_typeof(v) == k_types[i].a || json_typeof(v) == k_types[i].b;
        }
    }
    return false;
}

static bool match_type(const matcher *m, const json_t *rule, const json_t *v, const place *at)
{
    if (json_is_string(rule)) {
        return is_type(v, json_string_value(rule)) ||
               problem(m, at, "schema.type", value_text(v, m->arena),
                       etp_arena_printf(m->arena, "%s", json_string_value(rule)));
    }
    const char *names = "";
    for (size_t i = 0; i < json_array_size(rule); i++) {
        const char *name = json_string_value(json_array_get(rule, i));
        if (name && is_type(v, name)) {
            return true;
        }
        names =
            etp_arena_printf(m->arena, "%s%s%s", names, names[0] ? " or " : "", name ? name : "?");
    }
    return problem(m, at, "schema.type", value_text(v, m->arena), names);
}

static bool match_enum(const matcher *m, const json_t *rule, const json_t *v, const place *at)
{
    const char *names = "";
    for (size_t i = 0; i < json_array_size(rule); i++) {
        if (json_equal(json_array_get(rule, i), v)) {
            return true;
        }
        names = etp_arena_printf(m->arena, "%s%s%s", names, names[0] ? ", " : "one of ",
                                 value_text(json_array_get(rule, i), m->arena));
    }
    return problem(m, at, "schema.value", value_text(v, m->arena), names);
}

static bool match_limit(const matcher *m, const char *keyword, const json_t *rule, const json_t *v,
                        const place *at)
{
    double limit = json_number_value(rule), x = json_number_value(v);
    const char *unit = "";
    bool applies = json_is_number(v), ok = true;
    if (strcmp(keyword, "minimum") == 0) {
        ok = x >= limit;
    } else if (strcmp(keyword, "maximum") == 0) {
        ok = x <= limit;
    } else if (strcmp(keyword, "exclusiveMinimum") == 0) {
        ok = x > limit;
    } else if (strcmp(keyword, "minItems") == 0 || strcmp(keyword, "maxItems") == 0) {
        applies = json_is_array(v);
        double n = (double)json_array_size(v);
        ok = strcmp(keyword, "minItems") == 0 ? n >= limit : n <= limit;
        unit = " entries";
    } else { // minLength, maxLength: bytes are enough for what we ask
        applies = json_is_string(v);
        double n = (double)json_string_length(v);
        ok = strcmp(keyword, "minLength") == 0 ? n >= limit : n <= limit;
        unit = " characters";
    }
    char buf[ETP_NUMBER_CHARS];
    return !applies || ok ||
           problem(
               m, at, "schema.range", value_text(v, m->arena),
               etp_arena_printf(m->arena, "%s %s%s", keyword, etp_format_double(limit, buf), unit));
}

static bool match(const matcher *m, const json_t *schema, const json_t *v, const place *at);

static bool match_required(const matcher *m, const json_t *rule, const json_t *v, const place *at)
{
    for (size_t i = 0; json_is_object(v) && i < json_array_size(rule); i++) {
        const char *key = json_string_value(json_array_get(rule, i));
        if (key && !json_object_get(v, key)) {
            return problem(m, at, "schema.missing_key", "absent",
                           etp_arena_printf(m->arena, "key \"%s\"", key));
        }
    }
    return true;
}

// Unknown keys are allowed unless the schema says additionalProperties: false (configs do, where a
// misspelt key would be ignored in silence).
static bool match_members(const matcher *m, const json_t *schema, const json_t *v, const place *at)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *member;
    if (!json_is_object(v) || (!properties && !others)) {
        return true;
    }
    // jansson's loop wants a pointer that is not const and changes nothing.
    json_object_foreach((json_t *)(uintptr_t)v, key, member)
    {
        const json_t *rule = json_object_get(properties, key);
        place inner = {at, key, 0};
        if (!rule && json_is_false(others)) {
            return problem(m, &inner, "schema.unknown_key", "a key the schema does not have",
                           "only known keys");
        }
        rule = rule ? rule : others;
        if (json_is_object(rule) && !match(m, rule, member, &inner)) {
            return false;
        }
    }
    return true;
}

static bool match_items(const matcher *m, const json_t *rule, const json_t *v, const place *at)
{
    for (size_t i = 0; json_is_array(v) && i < json_array_size(v); i++) {
        place inner = {at, NULL, i};
        if (!match(m, rule, json_array_get(v, i), &inner)) {
            return false;
        }
    }
    return true;
}

// Where nothing fits, the problem of the last alternative is told: "exactly one of" would not say
// what to mend.
// Schemas that an alternative refers to are kept for the next, also when it does not fit.
static bool match_one_of(const matcher *m, const json_t *rule, const json_t *v, const place *at)
{
    etp_schema_problem last = {0};
    matcher quiet = {m->arena, &last, m->others};
    size_t fits = 0;
    for (size_t i = 0; i < json_array_size(rule); i++) {
        fits += match(&quiet, json_array_get(rule, i), v, at);
    }
    if (fits == 1) {
        return true;
    }
    if (last.id && fits == 0) {
        *m->out = last;
        return false;
    }
    return problem(m, at, "schema.value", value_text(v, m->arena),
                   "exactly one of the alternatives");
}

// All of them are about the same value, so the place stays.
static bool match_all_of(const matcher *m, const json_t *rule, const json_t *v, const place *at)
{
    for (size_t i = 0; i < json_array_size(rule); i++) {
        if (!match(m, json_array_get(rule, i), v, at)) {
            return false;
        }
    }
    return true;
}

static const json_t *schema_of_name(const matcher *m, const char *name)
{
    for (const other_schema *o = *m->others; o; o = o->next) {
        if (strcmp(o->name, name) == 0) {
            return o->schema;
        }
    }
    etp_error why = {.offset = ETP_NO_OFFSET};
    other_schema *o = ETP_NEW(m->arena, other_schema);
    // A name that is none of our schemas has an empty text, which is no JSON.
    if (etp_json_parse(etp_schema_text(name), &o->schema, NULL, &why) != ETP_OK) {
        return NULL;
    }
    o->name = name;
    o->next = *m->others;
    *m->others = o;
    return o->schema;
}

// "ab.schema.json#/properties/comparisons/items": a part of another of our schemas.
static bool match_reference(const matcher *m, const json_t *rule, const json_t *v, const place *at)
{
    const char *text = json_is_string(rule) ? json_string_value(rule) : "";
    const char *end = strstr(text, ".schema.json#/");
    const char *name =
        end ? etp_arena_strdup(m->arena, (etp_str){text, (size_t)(end - text)}) : NULL;
    const json_t *part = name ? schema_of_name(m, name) : NULL;
    if (!part) {
        return problem(m, at, "schema.keyword", value_text(rule, m->arena),
                       "a schema that is there");
    }
    for (const char *key = strchr(end, '/'); key && part; key = strchr(key + 1, '/')) {
        part = json_object_getn(part, key + 1, strcspn(key + 1, "/"));
    }
    return part ? match(m, part, v, at)
                : problem(m, at, "schema.keyword", value_text(rule, m->arena),
                          "a part of the schema");
}

// `schema` is the object around the keyword: properties and additionalProperties are judged
// together, once.
static bool match_keyword(const matcher *m, const char *keyword, const json_t *rule,
                          const json_t *schema, const json_t *v, const place *at)
{
    static const char *const k_words[] = {"$schema",     "$id",     "title",
                                          "description", "default", "examples",
                                          "properties",  "$defs",   NULL};
    static const char *const k_limits[] = {"minimum",  "maximum",   "exclusiveMinimum", "minItems",
                                           "maxItems", "minLength", "maxLength",        NULL};
    // Words ask nothing of a value: they describe, or are read through a $ref. `properties` is the
    // only one of them with work to do.
    for (size_t i = 0; k_words[i]; i++) {
        if (strcmp(keyword, k_words[i]) == 0) {
            return strcmp(keyword, "properties") != 0 || match_members(m, schema, v, at);
        }
    }
    for (size_t i = 0; k_limits[i]; i++) {
        if (strcmp(keyword, k_limits[i]) == 0) {
            return match_limit(m, keyword, rule, v, at);
        }
    }
    if (strcmp(keyword, "type") == 0) {
        return match_type(m, rule, v, at);
    }
    if (strcmp(keyword, "enum") == 0) {
        return match_enum(m, rule, v, at);
    }
    if (strcmp(keyword, "const") == 0) {
        return json_equal(rule, v) ||
               problem(m, at, "schema.name", value_text(v, m->arena), value_text(rule, m->arena));
    }
    if (strcmp(keyword, "required") == 0) {
        return match_required(m, rule, v, at);
    }
    if (strcmp(keyword, "additionalProperties") == 0) { // with properties, where there are some
        return json_object_get(schema, "properties") || match_members(m, schema, v, at);
    }
    if (strcmp(keyword, "items") == 0) {
        return match_items(m, rule, v, at);
    }
    if (strcmp(keyword, "oneOf") == 0) {
        return match_one_of(m, rule, v, at);
    }
    if (strcmp(keyword, "allOf") == 0) {
        return match_all_of(m, rule, v, at);
    }
    if (strcmp(keyword, "$ref") == 0) {
        return match_reference(m, rule, v, at);
    }
    return problem(m, at, "schema.keyword", keyword, "a keyword this validator knows");
}

// Documents are at most ETP_JSON_MAX_NESTING deep, and so is this.
static bool match(const matcher *m, const json_t *schema, const json_t *v, const place *at)
{
    const char *keyword;
    json_t *rule;
    const json_t *type = json_object_get(schema, "type"); // first: says most
    if (type && !match_type(m, type, v, at)) {
        return false;
    }
    json_object_foreach((json_t *)(uintptr_t)schema, keyword, rule)
    {
        if (!match_keyword(m, keyword, rule, schema, v, at)) {
            return false;
        }
    }
    return true;
}

// The words of a problem may be those of a schema that is freed before they are told.
static etp_status match_all(const matcher *m, const json_t *schema, const json_t *value,
                            bool *out_fits)
{
    *out_fits = match(m, schema, value, NULL);
    if (!*out_fits) {
        m->out->found = etp_arena_strdup(m->arena, etp_str_from(m->out->found));
        m->out->expected = etp_arena_strdup(m->arena, etp_str_from(m->out->expected));
    }
    return ETP_OK;
}

static etp_status guarded_match(const matcher *m, const json_t *schema, const json_t *value,
                                bool *out_fits, etp_error *err)
{
    ETP_GUARDED(m->arena, err, "a schema", match_all(m, schema, value, out_fits));
}

etp_status etp_schema_fits(const json_t *schema, const json_t *value, etp_arena *arena,
                           bool *out_fits, etp_schema_problem *out, etp_error *err)
{
    other_schema *others = NULL;
    const matcher m = {arena, out, &others};
    etp_status st = guarded_match(&m, schema, value, out_fits, err);
    for (; others; others = others->next) {
        json_decref(others->schema);
    }
    return st;
}
