// SPDX-License-Identifier: Apache-2.0
// The macros that tables of members are made with. Around each table, OF is defined as the struct;
// after the text that says what it means, a row may set further members (.flags, .range …).
// A row whose kind is not that of the struct's member does not compile.
#ifndef ETP_DOCUMENT_ROWS_H
#define ETP_DOCUMENT_ROWS_H

#include "document/fields.h"

#define ETP_IS_TEXT(m) _Generic(&(m), const char *const *: 1, const char **: 1, default: 0)
#define ETP_IS_CHARS(m) _Generic((m), const char *: 1, default: 0)
#define ETP_IS_STR(m) _Generic((m), etp_str: 1, default: 0)
#define ETP_IS_BOOL(m) _Generic((m), bool: 1, default: 0)
#define ETP_IS_NOT(m) ETP_IS_BOOL(m)
#define ETP_IS_TRISTATE(m) _Generic((m), int: 1, default: 0)
#define ETP_IS_UINT(m) \
    _Generic((m), unsigned: 1, unsigned long: 1, unsigned long long: 1, default: 0)
#define ETP_IS_INT(m) _Generic((m), int: 1, long: 1, long long: 1, default: 0)
#define ETP_IS_NS(m) _Generic((m), int64_t: 1, default: 0)
#define ETP_IS_RATIO(m) _Generic((m), double: 1, default: 0)
#define ETP_IS_NUMBER(m) ETP_IS_RATIO(m)
#define ETP_IS_ROUNDED(m) ETP_IS_RATIO(m)
#define ETP_IS_WORD(m) (sizeof(m) == 4)
#define ETP_IS_OBJECT(m) 1

#define ETP_HAS(member) (((const OF *)0)->member)
#define ETP_OFFSET(kind, member, value)                                          \
    .offset = (uint32_t)(offsetof(OF, member) / (ETP_IS_##kind(value) ? 1 : 0)), \
    .size = (uint32_t)sizeof(value)

#define ETP_MEMBER(key_, kind_, member, value) \
    .key = key_, .kind = ETP_FIELD_##kind_, ETP_OFFSET(kind_, member, value)
#define ETP_LENGTH(count)                                           \
    .many = ETP_COUNTED, .n_offset = (uint32_t)offsetof(OF, count), \
    .n_size = (uint32_t)sizeof(ETP_HAS(count))

// A member of the struct; a struct that it points to.
#define FIELD(key_, kind_, member, ...) \
    {ETP_MEMBER(key_, kind_, member, ETP_HAS(member)), .doc = __VA_ARGS__}
#define POINTER(key_, member, shape_, ...)                                                 \
    {ETP_MEMBER(key_, OBJECT, member, *ETP_HAS(member)), .pointer = true, .shape = shape_, \
     .doc = __VA_ARGS__}
// Values with their number in the struct: behind a pointer, or in the struct itself.
#define LIST(key_, kind_, member, count, ...)                                                 \
    {ETP_MEMBER(key_, kind_, member, ETP_HAS(member)[0]), ETP_LENGTH(count), .pointer = true, \
     .doc = __VA_ARGS__}
#define ARRAY(key_, kind_, member, count, ...)                               \
    {ETP_MEMBER(key_, kind_, member, ETP_HAS(member)[0]), ETP_LENGTH(count), \
     .cap = sizeof ETP_HAS(member) / sizeof ETP_HAS(member)[0], .doc = __VA_ARGS__}
// A struct {items, n, cap}.
#define VECTOR(key_, kind_, vector, ...)                                                    \
    {ETP_MEMBER(key_, kind_, vector.items, ETP_HAS(vector.items)[0]), ETP_LENGTH(vector.n), \
     .cap_offset = (uint32_t)offsetof(OF, vector.cap), .pointer = true, .doc = __VA_ARGS__}
// Behind a pointer a value for each entry of an axis; inside it, the entry's own value.
#define PER(key_, kind_, member, axis_, ...)                                              \
    {ETP_MEMBER(key_, kind_, member, ETP_HAS(member)[0]), .many = ETP_PER, .axis = axis_, \
     .pointer = true, .doc = __VA_ARGS__}
#define AT(key_, kind_, member, ...)                                                       \
    {ETP_MEMBER(key_, kind_, member, ETP_HAS(member)[0]), .many = ETP_AT, .pointer = true, \
     .doc = __VA_ARGS__}
// Members of the same struct in an object of their own; in one for each entry of an axis.
#define GROUP(key_, shape_, ...) \
    {.key = key_, .kind = ETP_FIELD_OBJECT, .shape = shape_, .size = sizeof(OF), .doc = __VA_ARGS__}
#define GROUP_PER(key_, axis_, shape_, ...) \
    {.key = key_,                           \
     .kind = ETP_FIELD_OBJECT,              \
     .many = ETP_PER,                       \
     .axis = axis_,                         \
     .shape = shape_,                       \
     .doc = __VA_ARGS__}
// A value that a function finds or makes, one such for each entry of an axis, one that a function
// writes.
#define COMPUTED(key_, kind_, find_, ...) \
    {.key = key_, .kind = ETP_FIELD_##kind_, .find = find_, .size = 8, .doc = __VA_ARGS__}
#define COMPUTED_PER(key_, kind_, find_, axis_, ...) \
    {.key = key_,                                    \
     .kind = ETP_FIELD_##kind_,                      \
     .many = ETP_PER,                                \
     .find = find_,                                  \
     .axis = axis_,                                  \
     .size = 8,                                      \
     .doc = __VA_ARGS__}
#define WRITTEN(key_, write_, schema_, ...) \
    {.key = key_, .write = write_, .schema = schema_, .doc = __VA_ARGS__}

#define SHAPE(name, rows) \
    const etp_shape name = {.fields = rows, .n = sizeof rows / sizeof *rows, .size = sizeof(OF)}
#define SHAPE_CHECKED(name, rows, check_) \
    const etp_shape name = {              \
        .fields = rows, .n = sizeof rows / sizeof *rows, .size = sizeof(OF), .check = check_}
#define SHAPE_ON_ONE_LINE(name, rows) \
    const etp_shape name = {          \
        .fields = rows, .n = sizeof rows / sizeof *rows, .size = sizeof(OF), .one_line = true}

// The words of an enum: NAME is made of FUNCTION, const char *(TYPE), for 0 … COUNT − 1.
#define WORDS_FUNCTION(name, function, type)                         \
    static const char *name##_text(const void *root, uint64_t value) \
    {                                                                \
        (void)root;                                                  \
        return function((type)value);                                \
    }
#define WORDS(name, function, type, count) \
    WORDS_FUNCTION(name, function, type)   \
    static const etp_words name = {name##_text, count};
#define SHARED_WORDS(name, function, type, count) \
    WORDS_FUNCTION(name, function, type)          \
    const etp_words name = {name##_text, count};

// The functions that rows name, of one expression each: DOC is the document's struct, IT the one
// that the row is of (or the value, for KNOWN), i a number that stands for a text.
#define TEXT_OF(name, document, expression)               \
    static const char *name(const void *root, uint64_t i) \
    {                                                     \
        const document *doc = root;                       \
        return expression;                                \
    }
#define LENGTH_OF(name, document, expression)     \
    static size_t name(const etp_json_cursor *at) \
    {                                             \
        const document *doc = at->root;           \
        (void)doc;                                \
        return expression;                        \
    }
#define AXIS(name, document, length, text)                              \
    LENGTH_OF(name##_length, document, length)                          \
    static const char *name##_name(const etp_json_cursor *at, size_t i) \
    {                                                                   \
        const document *doc = at->root;                                 \
        (void)doc;                                                      \
        return text;                                                    \
    }                                                                   \
    static const etp_axis name = {name##_length, name##_name};
#define LENGTH(name, document, length)         \
    LENGTH_OF(name##_length, document, length) \
    static const etp_axis name = {name##_length, NULL};
// The same of a list in the struct that the row is of.
#define ITS_LENGTH(name, type, length)                     \
    static size_t name##_length(const etp_json_cursor *at) \
    {                                                      \
        const type *it = at->object;                       \
        return length;                                     \
    }                                                      \
    static const etp_axis name = {name##_length, NULL};
#define FIND(name, type, document, expression)                         \
    static const void *name(const etp_json_cursor *at, etp_made *made) \
    {                                                                  \
        const document *doc = at->root;                                \
        const type *it = at->object;                                   \
        (void)doc, (void)it, (void)made;                               \
        return expression;                                             \
    }
#define MAKE(member, value) ((made->member = (value)), (const void *)made)
#define KNOWN(name, type, expression)                              \
    static bool name(const void *value, const etp_json_cursor *at) \
    {                                                              \
        const type *it = value;                                    \
        (void)at;                                                  \
        return expression;                                         \
    }

#endif
