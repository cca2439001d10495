// SPDX-License-Identifier: Apache-2.0
// Schema-driven FlatBuffers reader: a buffer is verified once against small const tables, after
// which the inline getters below are safe on it and cannot fail.
//
//   static const etp_fb_field k_point_fields[] = {
//       {"x", ETP_FB_SCALAR, .width = 4},          // field id = index in the array
//       {.name = "name", .kind = ETP_FB_STRING},
//   };
//   static const etp_fb_schema k_point = ETP_FB_SCHEMA("Point", k_point_fields);
//
//   etp_fb_table root;
//   ETP_TRY(etp_fb_verify(bytes, &k_point, &(etp_fb_options){.identifier = "PT01"}, &root, err));
//   int32_t x = etp_fb_i32(root, 0, 0);            // default when the field is absent
//   etp_str name = etp_fb_str(root, 1);            // borrows from bytes
//
// What the verifier guarantees for every field that the schema lists: tables, vtables, vectors and
// strings lie inside the buffer, strings end in NUL, elements are aligned, union types match their
// values, depth and total work are bounded by the size of the buffer. Fields the schema does not
// list (newer writers) are ignored; an unknown union type is only checked to be some table.
// Cycles cannot occur: FlatBuffers offsets only point forward, and an offset of 0 is refused.
//
// Everything borrows from the verified bytes. Thread rule: no state, any number of readers.
#ifndef ETP_FLATBUF_FLATBUF_H
#define ETP_FLATBUF_FLATBUF_H

#include <etprof/arena.h>
#include <etprof/bytes.h>
#include <etprof/error.h>

typedef enum etp_fb_kind {
    ETP_FB_IGNORE = 0,    // deprecated or uninteresting: not looked at, do not read it
    ETP_FB_SCALAR,        // .width bytes (1, 2, 4, 8)
    ETP_FB_STRING,        //
    ETP_FB_TABLE,         // .table
    ETP_FB_UNION,         // .members; its type is the field before it, a scalar of width 1
    ETP_FB_VECTOR,        // of scalars of .width bytes; .align when the schema says force_align
    ETP_FB_VECTOR_STRING, //
    ETP_FB_VECTOR_TABLE   // .table
} etp_fb_kind;

typedef struct etp_fb_schema etp_fb_schema;

// The tables a union may hold, by type code; a NULL entry is a type that is not looked into.
typedef struct etp_fb_members {
    const etp_fb_schema *const *tables;
    size_t n;
} etp_fb_members;

typedef struct etp_fb_field {
    const char *name; // for error messages
    etp_fb_kind kind;
    uint8_t width;
    uint8_t align; // of a VECTOR's first element; 0 means its width
    bool required;
    bool varies;  // of a SCALAR: differs between trees that are otherwise repetitions
    bool repeats; // of a VECTOR_TABLE: its elements often repeat each other, see etp_fb_options
    const etp_fb_schema *table;
    const etp_fb_members *members;
} etp_fb_field;

struct etp_fb_schema {
    const char *name;
    const etp_fb_field *fields;
    size_t n_fields;
};

#define ETP_FB_COUNT(array) (sizeof(array) / sizeof *(array))
#define ETP_FB_SCHEMA(name, fields) {(name), (fields), ETP_FB_COUNT(fields)}
#define ETP_FB_SCHEMA_EMPTY(name) {(name), NULL, 0}
#define ETP_FB_MEMBERS(tables) {(tables), ETP_FB_COUNT(tables)}

typedef struct etp_fb_options { // a zeroed struct means the defaults
    const char *identifier;     // 4 characters expected after the root offset; NULL: not checked
    size_t root_at;             // where the root offset lies: 0, or 4 behind a size prefix
    // Alignment is counted from bytes.ptr[0], so give size-prefixed buffers with their prefix.
    unsigned max_align;  // alignments above this are not checked; 0: all are. Use 4 for a buffer
                         // whose prefix was cut off, where 8-byte fields sit at 4 mod 8
    unsigned max_depth;  // of nested tables; default 64
    uint64_t max_tables; // visits; default len / 4 + 64: without sharing each visit costs an offset
    uint64_t max_bytes;  // of strings and vectors, shared ones counted each time; default
                         // 16 × len + 1 MiB
    struct etp_fb_repeats *repeats; // NULL: every element is looked at in full
} etp_fb_options;

// Elements of the (one) vector that the schema marks `repeats`: an element which equals an earlier
// one bit for bit, but for fields marked `varies`, is verified by a plain comparison with it and
// noted here. Speed only; accepted and refused are the same files.
typedef struct etp_fb_repeats {
    etp_arena *arena;  // for SAME_AS and the working memory, a few MiB at most
    uint32_t *same_as; // out, by element: itself, or an earlier element with the same layout and
    size_t n;          // contents; NULL when the vector is absent or memory was short
} etp_fb_repeats;

typedef struct etp_fb_table { // a verified table; a zeroed one is "absent" and has no fields
    const uint8_t *ptr;
    const uint8_t *vtable;
    uint32_t vtable_len; // bytes
} etp_fb_table;

typedef struct etp_fb_vector { // a zeroed one is empty
    const uint8_t *items;
    uint32_t n;
} etp_fb_vector;

// Verifies BYTES (which the caller keeps) from the root table down. Errors: ETP_CORRUPT with the
// absolute byte position (bytes.base + position), ETP_UNSUPPORTED when the identifier differs.
ETP_NODISCARD etp_status etp_fb_verify(etp_bytes bytes, const etp_fb_schema *root,
                                       const etp_fb_options *options, etp_fb_table *out_root,
                                       etp_error *err);

// Position of a table of BYTES in the file, for error messages.
static inline uint64_t etp_fb_position(etp_bytes bytes, etp_fb_table t)
{
    return bytes.base + (uint64_t)(t.ptr - bytes.ptr);
}

// ---- getters; only on what etp_fb_verify has accepted, with the kinds the schema states ----

static inline etp_fb_table etp_fb_table_at(const uint8_t *ptr)
{
    // The signed offset from a table to its vtable is subtracted, modulo the address space.
    const uint8_t *vtable = ptr - (int32_t)etp_load_u32(ptr);
    return (etp_fb_table){ptr, vtable, etp_load_u16(vtable)};
}

static inline const uint8_t *etp_fb_field_ptr(etp_fb_table t, unsigned id) // NULL when absent
{
    uint32_t at = 4 + 2 * id;
    uint32_t off = at < t.vtable_len ? etp_load_u16(t.vtable + at) : 0;
    return off ? t.ptr + off : NULL;
}

static inline bool etp_fb_has(etp_fb_table t, unsigned id)
{
    return etp_fb_field_ptr(t, id) != NULL;
}

static inline uint8_t etp_fb_u8(etp_fb_table t, unsigned id, uint8_t def)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? *p : def;
}

static inline int8_t etp_fb_i8(etp_fb_table t, unsigned id, int8_t def)
{
    return (int8_t)etp_fb_u8(t, id, (uint8_t)def);
}

static inline bool etp_fb_bool(etp_fb_table t, unsigned id, bool def)
{
    return etp_fb_u8(t, id, def) != 0;
}

static inline uint16_t etp_fb_u16(etp_fb_table t, unsigned id, uint16_t def)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? etp_load_u16(p) : def;
}

static inline int16_t etp_fb_i16(etp_fb_table t, unsigned id, int16_t def)
{
    return (int16_t)etp_fb_u16(t, id, (uint16_t)def);
}

static inline uint32_t etp_fb_u32(etp_fb_table t, unsigned id, uint32_t def)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? etp_load_u32(p) : def;
}

static inline int32_t etp_fb_i32(etp_fb_table t, unsigned id, int32_t def)
{
    return (int32_t)etp_fb_u32(t, id, (uint32_t)def);
}

static inline uint64_t etp_fb_u64(etp_fb_table t, unsigned id, uint64_t def)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? etp_load_u64(p) : def;
}

static inline int64_t etp_fb_i64(etp_fb_table t, unsigned id, int64_t def)
{
    return (int64_t)etp_fb_u64(t, id, (uint64_t)def);
}

static inline float etp_fb_load_f32(const uint8_t *p)
{
    uint32_t bits = etp_load_u32(p);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double etp_fb_load_f64(const uint8_t *p)
{
    uint64_t bits = etp_load_u64(p);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline float etp_fb_f32(etp_fb_table t, unsigned id, float def)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? etp_fb_load_f32(p) : def;
}

static inline double etp_fb_f64(etp_fb_table t, unsigned id, double def)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? etp_fb_load_f64(p) : def;
}

static inline etp_str etp_fb_str_at(const uint8_t *p) // P: the string's length word
{
    return (etp_str){(const char *)p + 4, etp_load_u32(p)};
}

static inline const uint8_t *etp_fb_follow(const uint8_t *p) // P: an offset word
{
    return p + etp_load_u32(p);
}

static inline etp_str etp_fb_str(etp_fb_table t, unsigned id) // {NULL, 0} when absent
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? etp_fb_str_at(etp_fb_follow(p)) : (etp_str){NULL, 0};
}

// Also for unions: check the type first. Absent: a table without fields, ptr NULL.
static inline etp_fb_table etp_fb_table_field(etp_fb_table t, unsigned id)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    return p ? etp_fb_table_at(etp_fb_follow(p)) : (etp_fb_table){NULL, NULL, 0};
}

static inline etp_fb_vector etp_fb_vec(etp_fb_table t, unsigned id)
{
    const uint8_t *p = etp_fb_field_ptr(t, id);
    if (!p) {
        return (etp_fb_vector){NULL, 0};
    }
    p = etp_fb_follow(p);
    return (etp_fb_vector){p + 4, etp_load_u32(p)};
}

// A vector of bytes as a range of the file that BYTES is.
static inline etp_bytes etp_fb_vec_bytes(etp_bytes bytes, etp_fb_vector v)
{
    if (!v.items) {
        return (etp_bytes){NULL, 0, bytes.base};
    }
    return (etp_bytes){v.items, v.n, bytes.base + (uint64_t)(v.items - bytes.ptr)};
}

// Elements; I < v.n is the caller's promise.
static inline etp_fb_table etp_fb_vec_table(etp_fb_vector v, size_t i)
{
    return etp_fb_table_at(etp_fb_follow(v.items + 4 * i));
}

static inline etp_str etp_fb_vec_str(etp_fb_vector v, size_t i)
{
    return etp_fb_str_at(etp_fb_follow(v.items + 4 * i));
}

static inline uint32_t etp_fb_vec_u32(etp_fb_vector v, size_t i)
{
    return etp_load_u32(v.items + 4 * i);
}

static inline uint64_t etp_fb_vec_u64(etp_fb_vector v, size_t i)
{
    return etp_load_u64(v.items + 8 * i);
}

static inline int64_t etp_fb_vec_i64(etp_fb_vector v, size_t i)
{
    return (int64_t)etp_fb_vec_u64(v, i);
}

#endif
