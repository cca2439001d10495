// SPDX-License-Identifier: Apache-2.0
// The FlatBuffers verifier. Writers share vtables, so what a vtable says about a schema's table is
// worked out once per (schema, vtable) and kept in a small cache; a table then costs a few
// compares.
#include "base/choice.h"
#include "flatbuf/flatbuf.h"

#include <assert.h>

#include "flatbuf/repeat.h"

#define DEFAULT_DEPTH 64
#define CACHE_SLOTS 64 // power of two
#define MAX_REFS 16    // offset fields in one table of a schema
#define SHAPES 4       // repeating elements are compared with
#define MAX_SHAPE_MISSES 16

typedef struct ref {
    uint16_t off; // in the table
    uint8_t id;
    uint8_t kind; // etp_fb_kind of the field
} ref;

typedef struct vtable_map {      // what one vtable means for one schema
    const etp_fb_schema *schema; // NULL: free slot
    size_t vtable;
    uint32_t table_size;
    uint32_t align_mask, align_want; // (pos & mask) == want, or 8-byte fields are misaligned
    uint32_t lonely_union;           // id of a union with a type field but no value; 0: none
    uint32_t n_refs;
    ref refs[MAX_REFS];
} vtable_map;

typedef struct verifier {
    const uint8_t *p;
    size_t len;
    uint64_t base;
    size_t max_align;
    uint64_t tables_left, bytes_left;
    unsigned max_depth;
    etp_error *err;
    vtable_map cache[CACHE_SLOTS];
    etp_fb_repeats *repeats;
    etp_fb_shape shapes[SHAPES];
    uint32_t followed_by[SHAPES]; // shape that came after it last time
} verifier;

static etp_status verify_table(verifier *v, const etp_fb_schema *s, size_t pos, unsigned depth);

static bool misaligned(const verifier *v, size_t pos, size_t align)
{
    return (pos & (ETP_MIN(align, v->max_align) - 1)) != 0;
}

static etp_status fail_field(verifier *v, size_t pos, const etp_fb_schema *s, unsigned id,
                             const char *what)
{
    return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos, "%s.%s: %s", s->name, s->fields[id].name,
                       what);
}

// ---- vtables ----

static size_t inline_size(const etp_fb_field *f)
{
    return f->kind == ETP_FB_SCALAR ? f->width : 4;
}

static etp_status make_vtable_map(verifier *v, const etp_fb_schema *s, size_t pos, size_t vt,
                                  vtable_map *out)
{
    if ((vt & 1) != 0) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos, "%s: vtable at odd position %llu",
                           s->name, (unsigned long long)(v->base + vt));
    }
    if (v->len - vt < 4) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + vt, "%s: vtable cut off by the end",
                           s->name);
    }
    size_t vt_len = etp_load_u16(v->p + vt);
    size_t table_size = etp_load_u16(v->p + vt + 2);
    if (vt_len < 4 || (vt_len & 1) != 0 || vt_len > v->len - vt || table_size < 4) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + vt,
                           "%s: vtable of %zu bytes for a table of %zu bytes, %zu bytes remain",
                           s->name, vt_len, table_size, v->len - vt);
    }
    *out = (vtable_map){.schema = NULL, .vtable = vt, .table_size = (uint32_t)table_size};
    out->align_mask = 3;
    size_t n = (vt_len - 4) / 2;
    for (unsigned id = 0; id < s->n_fields; id++) {
        const etp_fb_field *f = &s->fields[id];
        size_t off = id < n ? etp_load_u16(v->p + vt + 4 + 2 * (size_t)id) : 0;
        if (off == 0) {
            if (f->required) {
                return fail_field(v, pos, s, id, "required field is missing");
            }
            if (f->kind == ETP_FB_UNION) {
                out->lonely_union = id;
            }
            continue;
        }
        if (f->kind == ETP_FB_IGNORE) {
            continue;
        }
        size_t size = inline_size(f);
        if (off < 4 || size > table_size || off > table_size - size) {
            return fail_field(v, vt + 4 + 2 * (size_t)id, s, id, "field lies outside its table");
        }
        // Adds field ID at OFF of the table to what PLAN demands of a table's position.
        uint32_t mask = (uint32_t)ETP_MIN(size, v->max_align) - 1;
        uint32_t want = (uint32_t)(0 - off) & mask;
        uint32_t both = mask & out->align_mask;
        if ((want & both) != (out->align_want & both)) {
            return fail_field(v, vt + 4 + 2 * (size_t)id, s, id, "field cannot be aligned");
        }
        out->align_mask |= mask;
        out->align_want |= want;
        if (f->kind != ETP_FB_SCALAR) {
            assert(out->n_refs < MAX_REFS);
            out->refs[out->n_refs++] = (ref){(uint16_t)off, (uint8_t)id, (uint8_t)f->kind};
        }
    }
    out->schema = s;
    return ETP_OK;
}

static etp_status bad_vtable_offset(verifier *v, const etp_fb_schema *s, size_t pos)
{
    return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos,
                       "%s: vtable offset %ld leads outside the buffer of %zu bytes", s->name,
                       (long)(int32_t)etp_load_u32(v->p + pos), v->len);
}

// The map of the table at POS; NULL with *status set when there is none. It stays valid until the
// next call, which may need its slot.
static inline const vtable_map *find_vtable_map(verifier *v, const etp_fb_schema *s, size_t pos,
                                                etp_status *status)
{
    // Modulo 2^64, so that offsets in front of the buffer are behind its end too.
    size_t vt = pos - (size_t)(int64_t)(int32_t)etp_load_u32(v->p + pos);
    if (vt >= v->len) {
        *status = bad_vtable_offset(v, s, pos);
        return NULL;
    }
    // Which slot is taken changes speed only, never the result.
    vtable_map *slot = &v->cache[(vt / 2 + (uintptr_t)s / 8) & (CACHE_SLOTS - 1)];
    if (slot->schema != s || slot->vtable != vt) {
        slot->schema = NULL;
        *status = make_vtable_map(v, s, pos, vt, slot);
        if (*status != ETP_OK) {
            return NULL;
        }
    }
    return slot;
}

// ---- what offsets lead to ----

// Follows the offset word at AT (inside the buffer) to something that begins with a 4-byte word.
static inline bool follow(const verifier *v, size_t at, size_t *out)
{
    size_t u = etp_load_u32(v->p + at);
    if (u == 0 || u > v->len - at || v->len - at - u < 4 || misaligned(v, at + u, 4)) {
        return false;
    }
    *out = at + u;
    return true;
}

static etp_status bad_offset(verifier *v, size_t at, const etp_fb_schema *s, unsigned id)
{
    return etp_fail_at(v->err, ETP_CORRUPT, v->base + at,
                       "%s.%s: offset %lu does not lead to an aligned place before the end at %llu",
                       s->name, s->fields[id].name, (unsigned long)etp_load_u32(v->p + at),
                       (unsigned long long)(v->base + v->len));
}

// N elements of WIDTH bytes behind the length word at POS.
static inline bool take_vector(verifier *v, size_t pos, size_t width, uint64_t n)
{
    uint64_t room = v->len - pos - 4;
    if (n > room / width || n * width > v->bytes_left) {
        return false;
    }
    v->bytes_left -= n * width;
    return true;
}

static etp_status bad_vector(verifier *v, size_t pos, const etp_fb_schema *s, unsigned id,
                             size_t width)
{
    uint64_t n = etp_load_u32(v->p + pos);
    uint64_t room = v->len - pos - 4;
    if (n > room / width) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos,
                           "%s.%s: %llu elements of %zu bytes, but only %llu bytes remain", s->name,
                           s->fields[id].name, (unsigned long long)n, width,
                           (unsigned long long)room);
    }
    return fail_field(v, pos, s, id, "strings and vectors overlap beyond the size budget");
}

static inline etp_status check_string(verifier *v, const etp_fb_schema *s, unsigned id, size_t at)
{
    size_t pos = 0;
    if (!follow(v, at, &pos)) {
        return bad_offset(v, at, s, id);
    }
    size_t n = etp_load_u32(v->p + pos);
    if (!take_vector(v, pos, 1, n)) {
        return bad_vector(v, pos, s, id, 1);
    }
    if (v->len - pos - 4 == n || v->p[pos + 4 + n] != 0) {
        return fail_field(v, pos, s, id, "string does not end in NUL");
    }
    return ETP_OK;
}

static inline etp_status check_child(verifier *v, const etp_fb_schema *s, unsigned id,
                                     const etp_fb_schema *child, size_t at, unsigned depth)
{
    size_t pos = 0;
    if (!follow(v, at, &pos)) {
        return bad_offset(v, at, s, id);
    }
    return verify_table(v, child, pos, depth + 1);
}

static bool repeats_shape(verifier *v, const etp_fb_shape *shape, size_t pos)
{
    if (shape->tables > v->tables_left || shape->bytes > v->bytes_left ||
        !etp_fb_shape_repeats(shape, (etp_bytes){v->p, v->len, v->base}, v->p + pos)) {
        return false;
    }
    v->tables_left -= shape->tables;
    v->bytes_left -= shape->bytes;
    return true;
}

// The N tables of the vector that is marked `repeats`. Which shapes are kept, and in what order
// they are tried, changes speed only.
static etp_status check_repeating(verifier *v, const etp_fb_schema *s, unsigned id, size_t first,
                                  size_t n, unsigned depth)
{
    etp_fb_repeats *r = v->repeats;
    uint32_t *same_as = etp_arena_alloc_raw(r->arena, n, sizeof *same_as);
    size_t hits = 0, misses = 0, last = 0;
    r->same_as = same_as;
    r->n = same_as ? n : 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = first + 4 * i, pos = 0;
        if (!follow(v, at, &pos)) {
            return bad_offset(v, at, s, id);
        }
        size_t k = v->followed_by[last], tried = 0;
        while (tried < SHAPES && !repeats_shape(v, &v->shapes[k], pos)) {
            k = (k + 1) % SHAPES;
            tried++;
        }
        if (tried == SHAPES) {
            ETP_TRY(verify_table(v, s->fields[id].table, pos, depth + 1));
            k = misses % SHAPES;
            bool worth_it = same_as && i + 1 < n && misses++ < MAX_SHAPE_MISSES + hits / 8;
            if (worth_it &&
                etp_fb_shape_take(&v->shapes[k], s->fields[id].table,
                                  (etp_bytes){v->p, v->len, v->base}, v->p + pos, r->arena)) {
                v->shapes[k].index = (uint32_t)i;
            }
        } else {
            hits++;
        }
        if (same_as) {
            same_as[i] = tried == SHAPES ? (uint32_t)i : v->shapes[k].index;
        }
        v->followed_by[last] = (uint32_t)k;
        last = k;
    }
    return ETP_OK;
}

static etp_status check_vector(verifier *v, const etp_fb_schema *s, unsigned id, size_t at,
                               unsigned depth)
{
    const etp_fb_field *f = &s->fields[id];
    size_t width = f->kind == ETP_FB_VECTOR ? f->width : 4;
    size_t pos = 0;
    if (!follow(v, at, &pos)) {
        return bad_offset(v, at, s, id);
    }
    size_t n = etp_load_u32(v->p + pos);
    if (!take_vector(v, pos, width, n)) {
        return bad_vector(v, pos, s, id, width);
    }
    size_t first = pos + 4;
    if (n > 0 && misaligned(v, first, ETP_OR(f->align, width))) {
        return fail_field(v, first, s, id, "vector is misaligned");
    }
    if (f->repeats && v->repeats) {
        return check_repeating(v, s, id, first, n, depth);
    }
    if (f->kind == ETP_FB_VECTOR_TABLE) {
        for (size_t i = 0; i < n; i++) {
            ETP_TRY(check_child(v, s, id, f->table, first + 4 * i, depth));
        }
    } else if (f->kind == ETP_FB_VECTOR_STRING) {
        for (size_t i = 0; i < n; i++) {
            ETP_TRY(check_string(v, s, id, first + 4 * i));
        }
    }
    return ETP_OK;
}

static etp_status check_union(verifier *v, const etp_fb_schema *s, unsigned id, size_t at,
                              unsigned type, unsigned depth)
{
    static const etp_fb_schema k_any = ETP_FB_SCHEMA_EMPTY("table of an unknown union type");
    const etp_fb_members *m = s->fields[id].members;
    if (type == 0) {
        return fail_field(v, at, s, id, "union has a value but no type");
    }
    const etp_fb_schema *member = type < m->n ? m->tables[type] : NULL;
    return check_child(v, s, id, member ? member : &k_any, at, depth);
}

// Type code of the union ID of the table at POS, whose vtable is verified; 0 when absent.
static unsigned union_type(const verifier *v, const vtable_map *p, size_t pos, unsigned id)
{
    size_t at = 4 + 2 * ((size_t)id - 1);
    size_t off = at < etp_load_u16(v->p + p->vtable) ? etp_load_u16(v->p + p->vtable + at) : 0;
    return off ? v->p[pos + off] : 0;
}

// POS: 4-aligned, with 4 bytes inside the buffer.
static etp_status verify_table(verifier *v, const etp_fb_schema *s, size_t pos, unsigned depth)
{
    if (v->tables_left == 0) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos,
                           "%s: more tables than a buffer of %zu bytes can hold", s->name, v->len);
    }
    v->tables_left--;
    if (depth > v->max_depth) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos, "%s: nested deeper than %u tables",
                           s->name, v->max_depth);
    }
    etp_status status = ETP_OK;
    const vtable_map *p = find_vtable_map(v, s, pos, &status);
    if (!p) {
        return status;
    }
    if (p->table_size > v->len - pos) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos,
                           "%s: table of %lu bytes, but only %zu bytes remain", s->name,
                           (unsigned long)p->table_size, v->len - pos);
    }
    if ((pos & p->align_mask) != p->align_want) {
        return etp_fail_at(v->err, ETP_CORRUPT, v->base + pos, "%s: table is misaligned", s->name);
    }
    if (p->lonely_union != 0 && union_type(v, p, pos, p->lonely_union) != 0) {
        return fail_field(v, pos, s, p->lonely_union, "union has a type but no value");
    }
    for (unsigned i = 0, n = p->n_refs; i < n; i++) {
        size_t at = pos + p->refs[i].off;
        unsigned id = p->refs[i].id;
        switch (p->refs[i].kind) {
        case ETP_FB_STRING:
            ETP_TRY(check_string(v, s, id, at));
            continue;
        case ETP_FB_VECTOR:
            ETP_TRY(check_vector(v, s, id, at, depth));
            continue;
        case ETP_FB_TABLE:
            ETP_TRY(check_child(v, s, id, s->fields[id].table, at, depth));
            break;
        case ETP_FB_UNION:
            ETP_TRY(check_union(v, s, id, at, union_type(v, p, pos, id), depth));
            break;
        default:
            ETP_TRY(check_vector(v, s, id, at, depth));
            break;
        }
        if (i + 1 < n) { // what was just visited may have taken the slot
            p = find_vtable_map(v, s, pos, &status);
            if (!p) {
                return status;
            }
        }
    }
    return ETP_OK;
}

etp_status etp_fb_verify(etp_bytes bytes, const etp_fb_schema *root, const etp_fb_options *options,
                         etp_fb_table *out_root, etp_error *err)
{
    const etp_fb_options o = options ? *options : (etp_fb_options){0};
    verifier v = {.p = bytes.ptr, .len = bytes.len, .base = bytes.base, .err = err};
    v.max_align = o.max_align ? o.max_align : 1 << 15;
    v.max_depth = ETP_OR(o.max_depth, DEFAULT_DEPTH);
    v.tables_left = o.max_tables ? o.max_tables : bytes.len / 4 + 64;
    v.bytes_left = o.max_bytes ? o.max_bytes : (uint64_t)bytes.len * 16 + (1 << 20);
    v.repeats = o.repeats;
    size_t need = o.identifier ? 8 : 4;
    if (bytes.len < o.root_at || bytes.len - o.root_at < need) {
        return etp_fail_at(err, ETP_CORRUPT, bytes.base + bytes.len,
                           "%zu bytes are too few for a %s", bytes.len, root->name);
    }
    if (o.identifier && memcmp(v.p + o.root_at + 4, o.identifier, 4) != 0) {
        return etp_fail_at(err, ETP_UNSUPPORTED, bytes.base + o.root_at + 4,
                           "not a %s: the identifier \"%s\" is missing", root->name, o.identifier);
    }
    size_t pos = 0;
    if (!follow(&v, o.root_at, &pos)) {
        return etp_fail_at(err, ETP_CORRUPT, bytes.base + o.root_at,
                           "%s: root offset %lu leads outside the buffer of %zu bytes", root->name,
                           (unsigned long)etp_load_u32(v.p + o.root_at), bytes.len);
    }
    ETP_TRY(verify_table(&v, root, pos, 1));
    *out_root = etp_fb_table_at(v.p + pos);
    return ETP_OK;
}
