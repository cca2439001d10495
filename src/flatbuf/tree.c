// SPDX-License-Identifier: Apache-2.0
// FlatBuffers as trees that may be changed, and back.
#include "flatbuf/tree.h"

#include "base/sink.h"

#define MAX_BYTES ((size_t)INT32_MAX)

// ---- reading ----

typedef struct lifting {
    etp_arena *arena;
    etp_error *err;
} lifting;

static etp_status lift(const lifting *l, etp_fb_table t, const etp_fb_schema *schema,
                       etp_fb_node **out);

static etp_status lift_field(const lifting *l, etp_fb_table t, const etp_fb_schema *schema,
                             unsigned id, etp_fb_node *node)
{
    const etp_fb_field *f = &schema->fields[id];
    etp_fb_slot *s = &node->slots[id];
    const etp_fb_schema *table = f->table;
    s->present = f->kind != ETP_FB_IGNORE && etp_fb_has(t, id);
    if (!s->present) {
        return ETP_OK;
    }
    switch (f->kind) {
    case ETP_FB_SCALAR:
        memcpy(&s->scalar, etp_fb_field_ptr(t, id), f->width);
        return ETP_OK;
    case ETP_FB_STRING:
    case ETP_FB_VECTOR: {
        etp_fb_vector v = etp_fb_vec(t, id);
        s->items = v.items;
        s->n = v.n;
        return ETP_OK;
    }
    case ETP_FB_VECTOR_TABLE: {
        etp_fb_vector v = etp_fb_vec(t, id);
        s->tables = ETP_NEW_ARRAY(l->arena, etp_fb_node *, v.n);
        s->n = v.n;
        for (uint32_t i = 0; i < v.n; i++) {
            ETP_TRY(lift(l, etp_fb_vec_table(v, i), table, &s->tables[i]));
        }
        return ETP_OK;
    }
    case ETP_FB_UNION: {
        uint8_t type = etp_fb_u8(t, id - 1, 0);
        table = type < f->members->n ? f->members->tables[type] : NULL;
        break;
    }
    default:
        break;
    }
    if (!table) {
        return etp_fail(l->err, ETP_UNSUPPORTED, "%s has a %s that this version does not know",
                        schema->name, f->name);
    }
    s->tables = ETP_NEW(l->arena, etp_fb_node *);
    s->n = 1;
    return lift(l, etp_fb_table_field(t, id), table, s->tables);
}

static etp_status lift(const lifting *l, etp_fb_table t, const etp_fb_schema *schema,
                       etp_fb_node **out)
{
    *out = etp_fb_node_new(schema, l->arena);
    for (unsigned id = 0; id < schema->n_fields; id++) {
        ETP_TRY(lift_field(l, t, schema, id, *out));
    }
    for (unsigned id = (unsigned)schema->n_fields; 4 + 2 * id < t.vtable_len; id++) {
        if (etp_fb_has(t, id)) {
            return etp_fail(l->err, ETP_UNSUPPORTED,
                            "%s has field %u, which this version does not "
                            "know",
                            schema->name, id);
        }
    }
    return ETP_OK;
}

etp_status etp_fb_tree(etp_fb_table root, const etp_fb_schema *schema, etp_arena *arena,
                       etp_fb_node **out, etp_error *err)
{
    return lift(&(lifting){arena, err}, root, schema, out);
}

// ---- writing ----

// Everything that a table refers to lies behind it, as offsets only point forward.
typedef struct writing {
    etp_strbuf bytes;
    bool full;
} writing;

static uint8_t *take(writing *w, size_t n, size_t align, size_t before)
{
    size_t at = w->bytes.len, pad = (align - (at + before) % align) % align;
    w->full = w->full || n > MAX_BYTES - pad || at > MAX_BYTES - pad - n;
    if (w->full || !etp_strbuf_reserve(&w->bytes, pad + n)) {
        return NULL;
    }
    memset(w->bytes.ptr + at, 0, pad + n);
    w->bytes.len = at + pad + n;
    return (uint8_t *)w->bytes.ptr + at + pad;
}

static void store(uint8_t *at, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static size_t place(const writing *w, const uint8_t *p)
{
    return (size_t)(p - (const uint8_t *)w->bytes.ptr);
}

static void point(writing *w, size_t from, size_t to)
{
    store((uint8_t *)w->bytes.ptr + from, to - from, 4);
}

static size_t lower(writing *w, const etp_fb_node *node);

static size_t lower_vector(writing *w, const etp_fb_field *f, const etp_fb_slot *s)
{
    const bool tables = f->kind == ETP_FB_VECTOR_TABLE;
    const size_t flat = f->kind == ETP_FB_STRING ? 1 : f->width, width = tables ? 4 : flat;
    size_t align = ETP_MAX(f->align, width), n = s->n * width;
    uint8_t *p = take(w, 4 + n + (f->kind == ETP_FB_STRING), ETP_MAX(align, 4), 4);
    if (!p) {
        return 0;
    }
    size_t at = place(w, p);
    store(p, s->n, 4);
    if (!tables && n) {
        memcpy(p + 4, s->items, n);
    }
    for (uint32_t i = 0; tables && i < s->n && !w->full; i++) {
        size_t table = lower(w, s->tables[i]);
        point(w, at + 4 + (size_t)4 * i, table);
    }
    return at;
}

static size_t width_of(const etp_fb_field *f)
{
    return f->kind == ETP_FB_SCALAR ? f->width : 4;
}

// The vtable right before its table, the widest fields first, so that nothing is padded.
static size_t lower(writing *w, const etp_fb_node *node)
{
    const etp_fb_schema *schema = node->schema;
    size_t wide = 0, n_vtable = 4 + 2 * schema->n_fields, size = 4;
    for (size_t i = 0; i < schema->n_fields; i++) {
        wide += node->slots[i].present && width_of(&schema->fields[i]) == 8;
    }
    for (size_t i = 0; i < schema->n_fields; i++) {
        size += node->slots[i].present ? width_of(&schema->fields[i]) : 0;
    }
    size += wide ? 4 : 0;
    uint8_t *p = take(w, n_vtable + size, wide ? 8 : 4, n_vtable);
    if (!p) {
        return 0;
    }
    size_t vtable = place(w, p), at = vtable + n_vtable, next = wide ? 8 : 4;
    store(p, n_vtable, 2);
    store(p + 2, size, 2);
    store(p + n_vtable, n_vtable, 4);
    for (size_t width = 8; width > 0; width /= 2) {
        for (size_t i = 0; i < schema->n_fields; i++) {
            const etp_fb_slot *s = &node->slots[i];
            if (s->present && width_of(&schema->fields[i]) == width) {
                store(p + 4 + 2 * i, next, 2);
                if (schema->fields[i].kind == ETP_FB_SCALAR) {
                    store(p + n_vtable + next, s->scalar, width);
                }
                next += width;
            }
        }
    }
    for (size_t i = 0; i < schema->n_fields && !w->full; i++) {
        const etp_fb_field *f = &schema->fields[i];
        const etp_fb_slot *s = &node->slots[i];
        if (s->present && f->kind != ETP_FB_SCALAR) {
            bool one = f->kind == ETP_FB_TABLE || f->kind == ETP_FB_UNION;
            size_t to = one ? lower(w, s->tables[0]) : lower_vector(w, f, s);
            const uint8_t *v = (const uint8_t *)w->bytes.ptr + vtable + 4 + 2 * i;
            point(w, at + etp_load_u16(v), to);
        }
    }
    return at;
}

etp_status etp_fb_write(const etp_fb_node *root, const char identifier[4], size_t reserved,
                        etp_arena *arena, etp_bytes *out, etp_error *err)
{
    writing w = {0};
    etp_strbuf_init(&w.bytes, arena);
    uint8_t *head = take(&w, 8 + reserved, 8, 0);
    if (head) {
        memcpy(head + 4, identifier, 4);
        point(&w, 0, lower(&w, root));
        take(&w, 0, 8, 0);
    }
    if (w.full) {
        return etp_fail(err, ETP_UNSUPPORTED, "more than 2 GiB do not fit in a FlatBuffer");
    }
    *out = (etp_bytes){(const uint8_t *)w.bytes.ptr, w.bytes.len, 0};
    return etp_arena_check(arena, err, "the program");
}

// ---- changes ----

etp_fb_node *etp_fb_node_new(const etp_fb_schema *schema, etp_arena *arena)
{
    etp_fb_node *node = ETP_NEW(arena, etp_fb_node);
    *node = (etp_fb_node){schema, ETP_NEW_ARRAY(arena, etp_fb_slot, schema->n_fields)};
    return node;
}

void etp_fb_put(etp_fb_node *node, unsigned id, uint64_t scalar)
{
    node->slots[id] = (etp_fb_slot){.present = true, .scalar = scalar};
}

void etp_fb_put_u32s(etp_fb_node *node, unsigned id, const uint32_t *numbers, uint32_t n,
                     etp_arena *arena)
{
    uint8_t *items = etp_arena_alloc_array(arena, n, 4);
    for (uint32_t i = 0; i < n; i++) {
        store(items + (size_t)4 * i, numbers[i], 4);
    }
    etp_fb_put_bytes(node, id, items, n);
}

void etp_fb_put_bytes(etp_fb_node *node, unsigned id, const void *items, uint32_t n)
{
    node->slots[id] = (etp_fb_slot){.present = true, .items = items, .n = n};
}

void etp_fb_add(etp_fb_node *node, unsigned id, etp_fb_node *table, etp_arena *arena)
{
    etp_fb_slot *s = &node->slots[id];
    etp_fb_node **tables = ETP_NEW_ARRAY(arena, etp_fb_node *, (size_t)s->n + 1);
    if (s->n) {
        memcpy(tables, s->tables, s->n * sizeof *tables);
    }
    tables[s->n] = table;
    *s = (etp_fb_slot){.present = true, .tables = tables, .n = s->n + 1};
}
