// SPDX-License-Identifier: Apache-2.0
// Shapes of verified table trees, and the masked comparison with others.
#include "flatbuf/repeat.h"
#include "base/choice.h"

#define MAX_BYTES ((size_t)1 << 20) // of one tree
#define BLOCK 64                    // words compared between looks at the result

typedef struct walk {
    etp_fb_shape *shape;
    const uint8_t *lo, *hi; // bounds so far (first pass)
    bool marking;           // second pass
    bool failed;
    uint64_t touched;
} walk;

// ---- taking a shape ----

static void touch(walk *w, const uint8_t *p, size_t n)
{
    w->lo = ETP_MIN(p, w->lo);
    w->hi = ETP_MAX(p + n, w->hi);
    w->touched += n;
}

// N bytes at P have to be the same.
static void fix(walk *w, const uint8_t *p, size_t n)
{
    if (!w->marking) {
        touch(w, p, n);
        return;
    }
    size_t at = (size_t)(p - w->lo);
    for (size_t i = 0; i < n; i++, at++) {
        if (w->shape->moves[at / 4] != 0) {
            w->failed = true; // a word that is two things at once
            return;
        }
        w->shape->mask[at / 4] |= (uint32_t)0xff << (8 * (at % 4));
    }
}

// The word at P is the distance from a table to its vtable.
static void move(walk *w, const uint8_t *p)
{
    int32_t distance = (int32_t)etp_load_u32(p);
    w->shape->nearest = ETP_MIN(distance, w->shape->nearest);
    w->shape->farthest = ETP_MAX(distance, w->shape->farthest);
    if (!w->marking) {
        touch(w, p, 4);
        return;
    }
    size_t i = (size_t)(p - w->lo) / 4;
    w->failed = w->failed || w->shape->mask[i] != 0;
    w->shape->mask[i] = UINT32_MAX;
    w->shape->moves[i] = UINT32_MAX;
}

static void walk_table(walk *w, const etp_fb_schema *s, etp_fb_table t);

static void walk_string(walk *w, const uint8_t *p)
{
    fix(w, p, (size_t)etp_load_u32(p) + 5); // length, text and NUL
    w->shape->bytes += etp_load_u32(p);
}

static void walk_vector(walk *w, const etp_fb_field *f, const uint8_t *p)
{
    size_t n = etp_load_u32(p), width = f->kind == ETP_FB_VECTOR ? f->width : 4;
    size_t align = ETP_OR(f->align, width);
    w->shape->align = ETP_MAX(align, w->shape->align);
    w->shape->bytes += n * width;
    fix(w, p, 4 + n * width);
    for (size_t i = 0; i < n && !w->failed; i++) {
        if (f->kind == ETP_FB_VECTOR_TABLE) {
            walk_table(w, f->table, etp_fb_vec_table((etp_fb_vector){p + 4, (uint32_t)n}, i));
        } else if (f->kind == ETP_FB_VECTOR_STRING) {
            walk_string(w, etp_fb_follow(p + 4 + 4 * i));
        } else {
            break;
        }
    }
}

static void walk_union(walk *w, const etp_fb_schema *s, unsigned id, etp_fb_table t,
                       const uint8_t *p)
{
    static const etp_fb_schema k_any = ETP_FB_SCHEMA_EMPTY("unknown");
    const etp_fb_members *m = s->fields[id].members;
    unsigned type = etp_fb_u8(t, id - 1, 0);
    const etp_fb_schema *member = type < m->n ? m->tables[type] : NULL;
    walk_table(w, member ? member : &k_any, etp_fb_table_at(etp_fb_follow(p)));
}

static void walk_table(walk *w, const etp_fb_schema *s, etp_fb_table t)
{
    w->shape->tables++;
    move(w, t.ptr);
    if (!w->marking) {
        touch(w, t.ptr, etp_load_u16(t.vtable + 2));
        w->failed = w->failed || (size_t)(w->hi - w->lo) > MAX_BYTES;
    }
    for (unsigned id = 0; id < s->n_fields && !w->failed; id++) {
        const etp_fb_field *f = &s->fields[id];
        const uint8_t *p = etp_fb_field_ptr(t, id);
        if (!p || f->kind == ETP_FB_IGNORE) {
            continue;
        }
        if (f->kind == ETP_FB_SCALAR) {
            w->shape->align = ETP_MAX(f->width, w->shape->align);
            if (!f->varies) {
                fix(w, p, f->width);
            }
            continue;
        }
        fix(w, p, 4);
        switch (f->kind) {
        case ETP_FB_STRING:
            walk_string(w, etp_fb_follow(p));
            break;
        case ETP_FB_TABLE:
            walk_table(w, f->table, etp_fb_table_at(etp_fb_follow(p)));
            break;
        case ETP_FB_UNION:
            walk_union(w, s, id, t, p);
            break;
        default:
            walk_vector(w, f, etp_fb_follow(p));
            break;
        }
    }
}

static bool reserve(etp_fb_shape *s, size_t n_words, etp_arena *arena)
{
    if (n_words > s->cap_words) {
        s->words = etp_arena_alloc_raw(arena, n_words, 3 * sizeof *s->words);
        if (!s->words) {
            s->cap_words = 0;
            return false;
        }
        s->cap_words = n_words;
    }
    s->n_words = n_words;
    s->mask = s->words + n_words;
    s->moves = s->mask + n_words;
    memset(s->mask, 0, 2 * n_words * sizeof *s->mask);
    return true;
}

bool etp_fb_shape_take(etp_fb_shape *shape, const etp_fb_schema *schema, etp_bytes bytes,
                       const uint8_t *table, etp_arena *arena)
{
    static const union {
        uint16_t word;
        uint8_t first;
    } k_order = {1};
    shape->table = NULL;
    shape->tables = shape->bytes = 0;
    shape->align = 4;
    shape->nearest = INT32_MAX;
    shape->farthest = INT32_MIN;
    walk w = {.shape = shape, .lo = table, .hi = table};
    if (k_order.first != 1) {
        return false; // the comparison reads words in the machine's own order
    }
    walk_table(&w, schema, etp_fb_table_at(table));
    size_t len = (size_t)(w.hi - w.lo);
    if (w.failed || len > 4 * w.touched) {
        return false;
    }
    // Whole words; the last one may not reach behind the file.
    size_t n_words = (len + 3) / 4;
    if (n_words * 4 > (size_t)(bytes.ptr + bytes.len - w.lo) || !reserve(shape, n_words, arena)) {
        return false;
    }
    memcpy(shape->words, w.lo, n_words * 4);
    uint64_t tables = shape->tables, counted = shape->bytes;
    w.marking = true;
    walk_table(&w, schema, etp_fb_table_at(table));
    shape->tables = tables;
    shape->bytes = counted;
    shape->before = (size_t)(table - w.lo);
    shape->len = n_words * 4;
    shape->table = w.failed ? NULL : table;
    return !w.failed;
}

// ---- comparing ----

bool etp_fb_shape_repeats(const etp_fb_shape *shape, etp_bytes bytes, const uint8_t *table)
{
    size_t at = (size_t)(table - bytes.ptr);
    if (!shape->table || at < shape->before || shape->len > bytes.len - (at - shape->before)) {
        return false;
    }
    // The vtables stay where they are, so the distances to them grow by how far the tree has moved,
    // and have to remain what 32 bits can hold.
    const int64_t moved = (int64_t)at - (int64_t)(shape->table - bytes.ptr);
    if (((uint64_t)moved & (shape->align - 1)) != 0 ||
        moved > INT32_MAX - (int64_t)shape->farthest ||
        moved < INT32_MIN - (int64_t)shape->nearest) {
        return false;
    }
    const uint32_t shift = (uint32_t)moved;
    const uint8_t *p = table - shape->before;
    const uint32_t *words = shape->words, *mask = shape->mask, *moves = shape->moves;
    for (size_t i = 0; i < shape->n_words;) {
        size_t end = shape->n_words - i < BLOCK ? shape->n_words : i + BLOCK;
        uint32_t diff = 0;
        for (; i < end; i++) {
            uint32_t word;
            memcpy(&word, p + 4 * i, 4);
            diff |= (word - words[i] - (moves[i] & shift)) & mask[i];
        }
        if (diff != 0) {
            return false;
        }
    }
    return true;
}
