// SPDX-License-Identifier: Apache-2.0
// A document described once. Each object of a document is a shape: a table of its members, one row
// each, with the place in the C struct, the kind, what is unknown and what it means. From the rows
// come what is written as JSON (fields.c), what is read where we read it back
// (fields_read.c), and the JSON Schema and docs/documents.md (tests/documents). rows.h has
// the macros that make rows.
#ifndef ETP_DOCUMENT_FIELDS_H
#define ETP_DOCUMENT_FIELDS_H

#include "base/json.h"

// What the C struct holds, and how it is written.
typedef enum etp_field_kind {
    ETP_FIELD_TEXT,     // const char *; NULL is null
    ETP_FIELD_CHARS,    // char[], with a NUL
    ETP_FIELD_STR,      // etp_str
    ETP_FIELD_BOOL,     // bool
    ETP_FIELD_NOT,      // bool, written as its opposite
    ETP_FIELD_TRISTATE, // int: 1 true, 0 false, less null
    ETP_FIELD_UINT,     // unsigned of 4 or 8 bytes
    ETP_FIELD_INT,      // signed of 4 or 8 bytes
    ETP_FIELD_NS,       // int64_t; ETP_NS_UNKNOWN is null
    ETP_FIELD_RATIO,    // double, six significant digits; what is not finite is null
    ETP_FIELD_NUMBER,   // double, all digits; likewise
    ETP_FIELD_ROUNDED,  // double, the nearest whole number; likewise
    ETP_FIELD_WORD,     // a number of 4 bytes (an enum, an index), written as a text
    ETP_FIELD_OBJECT    // a struct that a shape describes
} etp_field_kind;

typedef enum etp_field_many {
    ETP_ONE,
    ETP_COUNTED, // an array of them, with its length in the struct
    ETP_PER,     // one for each entry of an axis: an object where the axis has names, else an array
    ETP_AT       // inside PER: the entry's own, of an array with one for each entry
} etp_field_many;

typedef enum etp_field_flag {
    ETP_ABSENT = 1,       // what is unknown is left out, not null
    ETP_ONE_LINE = 2,     // of an array: written on one line
    ETP_SHA256 = 128,     // 64 hexadecimal digits
    ETP_SET = 4,          // a text that is never empty, a number that is never unknown
    ETP_EMPTY = 8,        // an empty text is null
    ETP_BLANK = 256,      // TEXT: NULL is an empty text
    ETP_ZERO = 16,        // 0 is null; NUMBER: less, too
    ETP_MAX_IS_NULL = 32, // the largest number is null
    ETP_LATER = 64,       // was added: documents that lack it are sound
    ETP_SKIP = 512,       // PER: entries without a value are left out, not null
    ETP_OPEN = 1024, // WORD: one that is not in the table, of a later version, is the first in it
    ETP_NO_COLUMN =
        2048 // tables (Parquet, Arrow) have no column of it, for a reason said beside it
} etp_field_flag;

typedef enum etp_field_range { // of numbers
    ETP_FROM_0,
    ETP_SIGNED,
    ETP_FROM_1,
    ETP_0_TO_1,
    ETP_ABOVE_0_TO_1,
    ETP_WITHIN_1 // −1 to 1
} etp_field_range;

typedef struct etp_json_cursor { // of a member that is being written
    const void *root;            // the document's struct
    const void *object;          // the struct that the row belongs to
    size_t index;                // in the innermost axis
    const struct etp_json_cursor
        *outer; // of the object that this one is a member of; NULL at the top
} etp_json_cursor;

typedef union etp_made { // room for a value that no struct holds
    const char *text;
    uint64_t number;
    int64_t integer;
    double real;
    int maybe;
    bool yes;
    struct { // a text made here
        etp_str str;
        char chars[300];
    } own;
} etp_made;

typedef struct etp_words { // of numbers that are written as texts
    const char *(*text)(const void *root, uint64_t value);
    unsigned n; // texts of 0 … n − 1 are all there are; 0: not a closed set
} etp_words;

typedef struct etp_axis {
    size_t (*n)(const etp_json_cursor *at);
    const char *(*name)(const etp_json_cursor *at, size_t i); // NULL: an array
} etp_axis;

struct etp_field;
struct etp_json_object; // base/json_read.h
typedef struct etp_shape {
    const struct etp_field *fields;
    size_t n, size; // of the table, of the struct
    bool one_line;
    // Refuses what was read into OBJECT and cannot be relied on.
    void (*check)(const struct etp_json_object *o, const void *object, const void *root);
} etp_shape;

typedef struct etp_field {
    const char *key; // NULL: what is in it belongs to the object that the row is of
    etp_field_kind kind;
    etp_field_many many;
    unsigned flags;
    bool pointer; // the struct holds where the value is, or the first of them; NULL is unknown
    etp_field_range range;
    uint32_t offset, size;                 // size: of one value
    uint32_t n_offset, n_size, cap_offset; // of a list: where its length is
    uint32_t cap;                          // of an array in the struct
    uint64_t most;  // that is read: a number, the length of a list; 0: what fits the type
    unsigned least; // the fewest entries that a list may have
    const etp_shape *shape;
    // Of an object: what is in it takes this for the document's struct.
    const void *(*root)(const void *object, const etp_json_cursor *at);
    const etp_words *words;
    const etp_axis *axis;
    // Whether VALUE is known, whatever it says itself; of a list, whether this element is listed.
    bool (*when)(const void *value, const etp_json_cursor *at);
    // Instead of an offset: where the value is, or COMPUTED filled with it; NULL is unknown.
    const void *(*find)(const etp_json_cursor *at, etp_made *made);
    // Instead of all: writes the value; SCHEMA is its JSON Schema, compact.
    void (*write)(etp_json *j, const etp_json_cursor *at);
    const char *schema;
    // Instead of reading what the row says; ROOT is the document's struct.
    void (*read)(const struct etp_json_object *o, void *object, void *root);
    const char *doc;
} etp_field;

typedef struct etp_document {
    const char *name;  // "etprof.ab/1"
    const char *title; // of the schema, with the file name
    const etp_shape *shape;
} etp_document;

// OBJECT as a value. ROOT is what the shape's functions take for the document.
void etp_object_write(etp_json *j, const etp_shape *shape, const void *object, const void *root);
// A whole document: the object, "schema" first. Inside another one it is a member; else it ends
// there.
void etp_document_write(etp_json *j, const etp_document *document, const void *object,
                        const void *root);
// Both as a text in ARENA, which is empty where memory ended: an object on one line without an end
// of line, a document PRETTY or on one line.
etp_str etp_object_text(const etp_shape *shape, const void *object, const void *root,
                        etp_arena *arena);
etp_str etp_document_text(const etp_document *document, const void *object, const void *root,
                          bool pretty, etp_arena *arena);
// A root that is the object itself.
const void *etp_itself(const void *object, const etp_json_cursor *at);
// Fills COMPUTED with a text, cut to the room there is; for a row of STR.
const void *etp_made_text(etp_made *made, const char *format, ...) ETP_PRINTF(2, 3);
// All that SHAPE says, into OBJECT, which is zeroed. fields_read.c
void etp_object_read(const struct etp_json_object *o, const etp_shape *shape, void *object,
                     void *root);
// The same of TEXT, an object that is its own root; texts live in ARENA.
ETP_NODISCARD etp_status etp_object_of_text(etp_str text, const etp_shape *shape, void *object,
                                            etp_arena *arena, etp_error *err);

#endif
