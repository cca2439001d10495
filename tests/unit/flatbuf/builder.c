// SPDX-License-Identifier: Apache-2.0
// FlatBuffers writer.
#include "builder.h"

#include <assert.h>

void etp_fbb_init(etp_fbb *b, etp_arena *arena)
{
    *b = (etp_fbb){.arena = arena, .align = 4};
}

// Makes room for N bytes in front and gives their place, or NULL.
static uint8_t *push(etp_fbb *b, size_t n)
{
    if (b->failed || n > UINT32_MAX - b->used) {
        b->failed = true;
        return NULL;
    }
    if (n > b->cap - b->used) {
        size_t cap = b->cap ? b->cap : 1024;
        while (cap - b->used < n) {
            cap *= 2;
        }
        uint8_t *buf = etp_arena_alloc_raw(b->arena, cap, 1);
        if (!buf) {
            b->failed = true;
            return NULL;
        }
        if (b->used) {
            memcpy(buf + cap - b->used, b->buf + b->cap - b->used, b->used);
        }
        b->buf = buf;
        b->cap = cap;
    }
    b->used += n;
    return b->buf ? b->buf + b->cap - b->used : NULL; // nothing asked for of nothing
}

static void put_le(uint8_t *p, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++) {
        p[i] = (uint8_t)(value >> (8 * i));
    }
}

static void push_le(etp_fbb *b, size_t width, uint64_t value)
{
    uint8_t *p = push(b, width);
    if (p) {
        put_le(p, width, value);
    }
}

// Pads so that after N more bytes the start is aligned.
static void pad(etp_fbb *b, size_t n, size_t align)
{
    b->align = align > b->align ? align : b->align;
    size_t zeros = (align - (b->used + n) % align) % align;
    uint8_t *p = push(b, zeros);
    if (p && zeros) {
        memset(p, 0, zeros);
    }
}

static etp_fbb_ref here(const etp_fbb *b)
{
    return b->failed ? 0 : (etp_fbb_ref)b->used;
}

static void push_offset(etp_fbb *b, etp_fbb_ref ref)
{
    pad(b, 4, 4);
    push_le(b, 4, b->used + 4 - ref);
}

etp_fbb_ref etp_fbb_str(etp_fbb *b, etp_str s)
{
    pad(b, s.len + 1, 4);
    uint8_t *p = push(b, s.len + 1);
    if (p) {
        if (s.len) {
            memcpy(p, s.ptr, s.len);
        }
        p[s.len] = 0;
    }
    push_le(b, 4, s.len);
    return here(b);
}

etp_fbb_ref etp_fbb_vec(etp_fbb *b, const void *items, size_t n, size_t width, size_t align)
{
    align = align ? align : width;
    pad(b, n * width, align < 4 ? 4 : align);
    uint8_t *p = push(b, n * width);
    for (size_t i = 0; p && i < n; i++) {
        uint64_t v = 0;
        const uint8_t *src = (const uint8_t *)items + i * width;
        switch (width) {
        case 1:
            v = *src;
            break;
        case 2: {
            uint16_t v16;
            memcpy(&v16, src, 2);
            v = v16;
            break;
        }
        case 4: {
            uint32_t v32;
            memcpy(&v32, src, 4);
            v = v32;
            break;
        }
        default:
            memcpy(&v, src, 8);
            break;
        }
        put_le(p + i * width, width, v);
    }
    push_le(b, 4, n);
    return here(b);
}

etp_fbb_ref etp_fbb_vec_refs(etp_fbb *b, const etp_fbb_ref *refs, size_t n)
{
    pad(b, 4 * n, 4);
    for (size_t i = n; i-- > 0;) {
        push_offset(b, refs[i]);
    }
    push_le(b, 4, n);
    return here(b);
}

void etp_fbb_begin(etp_fbb *b)
{
    memset(b->field_at, 0, sizeof b->field_at);
    b->table_start = b->used;
}

void etp_fbb_add(etp_fbb *b, unsigned id, size_t width, uint64_t value)
{
    assert(id < ETP_FBB_MAX_FIELDS);
    pad(b, width, width);
    push_le(b, width, value);
    b->field_at[id] = b->used;
}

void etp_fbb_add_ref(etp_fbb *b, unsigned id, etp_fbb_ref ref)
{
    assert(id < ETP_FBB_MAX_FIELDS);
    if (ref) {
        push_offset(b, ref);
        b->field_at[id] = b->used;
    }
}

static bool same_vtable(const etp_fbb *b, etp_fbb_ref ref, const uint8_t *bytes, size_t len)
{
    const uint8_t *old = b->buf + b->cap - ref;
    return etp_load_u16(old) == len && memcmp(old, bytes, len) == 0;
}

etp_fbb_ref etp_fbb_end(etp_fbb *b)
{
    pad(b, 4, 4);
    push_le(b, 4, 0); // offset to the vtable, set below
    size_t table = b->used;
    size_t n = ETP_FBB_MAX_FIELDS;
    while (n > 0 && b->field_at[n - 1] == 0) {
        n--;
    }
    uint8_t vtable[4 + 2 * ETP_FBB_MAX_FIELDS];
    size_t len = 4 + 2 * n;
    put_le(vtable, 2, len);
    put_le(vtable + 2, 2, table - b->table_start);
    for (size_t id = 0; id < n; id++) {
        put_le(vtable + 4 + 2 * id, 2, b->field_at[id] ? table - b->field_at[id] : 0);
    }
    etp_fbb_ref at = 0;
    for (size_t i = b->vtables.n; i-- > 0 && at == 0 && !b->failed;) {
        if (same_vtable(b, b->vtables.items[i], vtable, len)) {
            at = b->vtables.items[i];
        }
    }
    if (at == 0) {
        uint8_t *p = push(b, len);
        if (p) {
            memcpy(p, vtable, len);
        }
        at = here(b);
        if (!ETP_PUSH(b->arena, &b->vtables, at)) {
            b->failed = true;
        }
    }
    if (b->failed) {
        return 0;
    }
    put_le(b->buf + b->cap - table, 4, (uint32_t)at - (uint32_t)table);
    return (etp_fbb_ref)table;
}

etp_bytes etp_fbb_finish(etp_fbb *b, etp_fbb_ref root, const char identifier[4], bool size_prefix)
{
    size_t head = (identifier ? 8U : 4U) + (size_prefix ? 4U : 0U);
    pad(b, head, b->align);
    if (identifier) {
        uint8_t *p = push(b, 4);
        if (p) {
            memcpy(p, identifier, 4);
        }
    }
    push_offset(b, root);
    if (size_prefix) {
        push_le(b, 4, b->used);
    }
    if (b->failed || root == 0) {
        return (etp_bytes){NULL, 0, 0};
    }
    return (etp_bytes){b->buf + b->cap - b->used, b->used, 0};
}
