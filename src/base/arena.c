// SPDX-License-Identifier: Apache-2.0
// Arena allocator: a list of blocks, bump pointer in the newest one.
#include <etprof/arena.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/choice.h"
#include "base/guard.h"

#define ALIGN sizeof(max_align_t)
#ifndef FIRST_BLOCK // a test builds with 1 and 1: each object has a block of its own
#define FIRST_BLOCK ((size_t)4096)
#define MAX_BLOCK ((size_t)1 << 20)
#endif

struct etp_arena_block {
    etp_arena_block *next;
    size_t size; // of data
    size_t used;
    max_align_t data[];
};

// realloc to 0 bytes is left to each C library; here it always frees.
static void *libc_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static const etp_allocator k_libc = {libc_resize, NULL};

static const etp_allocator *allocator(const etp_arena *arena)
{
    return arena->alloc ? arena->alloc : &k_libc;
}

void etp_arena_init(etp_arena *arena, const etp_allocator *alloc)
{
    *arena = (etp_arena){.alloc = alloc};
}

// SCRATCH no longer ends with its guard. It is among the newest: who began it last ends it first.
static void let_go(const etp_arena *scratch)
{
    for (etp_guard *g = scratch->guard; g; g = g->outer) {
        for (etp_arena **at = &g->scratch; *at; at = &(*at)->older) {
            if (*at == scratch) {
                *at = scratch->older;
                return;
            }
        }
    }
}

void etp_arena_dispose(etp_arena *arena)
{
    const etp_allocator *alloc = allocator(arena);
    etp_arena_block *b = arena->head;
    let_go(arena);
    while (b) {
        etp_arena_block *next = b->next;
        alloc->resize(alloc->ctx, b, sizeof *b + b->size, 0);
        b = next;
    }
    // An arena that is emptied under its guard goes on under it; one of etp_arena_scratch is over.
    etp_guard *guard = arena->guard && arena->guard->arena == arena ? arena->guard : NULL;
    *arena = (etp_arena){.alloc = arena->alloc, .guard = guard};
}

// An arena of a guard may have a guard of its own, with arenas of that: those first.
static void end_scratch(etp_guard *guard)
{
    while (guard->scratch) {
        etp_arena *newest = guard->scratch;
        for (etp_guard *g = newest->guard; g != guard; g = g->outer) {
            end_scratch(g);
        }
        etp_arena_dispose(newest);
    }
}

// From now on the arena hands out nothing: who finishes the document learns of it
// (etp_arena_check), however small what was asked for afterwards is.
static void *refuse(etp_arena *arena)
{
    arena->failed = true;
    if (arena->head) {
        arena->head->used = arena->head->size; // so that handing out needs no question of its own
    }
    if (arena->guard) {
        etp_guard *guard = arena->guard;
        for (etp_guard *g = guard->arena->guard; g && g != guard; g = g->outer) {
            end_scratch(g); // ARENA is of an outer guard, and this one is passed over
        }
        end_scratch(guard);
        longjmp(guard->back, 1);
    }
    return NULL;
}

void etp_guard_enter(etp_guard *guard, etp_arena *arena)
{
    guard->arena = arena;
    guard->outer = arena->guard;
    guard->scratch = NULL;
    arena->guard = guard;
}

void etp_guard_leave(etp_guard *guard)
{
    guard->arena->guard = guard->outer;
}

etp_guard *etp_guard_pause(etp_arena *arena)
{
    etp_guard *guard = arena->guard;
    arena->guard = NULL;
    return guard;
}

void etp_guard_resume(etp_arena *arena, etp_guard *guard)
{
    arena->guard = guard;
}

void etp_arena_scratch(etp_arena *scratch, etp_arena *arena)
{
    *scratch = (etp_arena){.alloc = arena->alloc, .guard = arena->guard};
    if (arena->guard) {
        scratch->older = arena->guard->scratch;
        arena->guard->scratch = scratch;
    }
}

static etp_arena_block *add_block(etp_arena *arena, size_t size)
{
    if (arena->failed) {
        return NULL;
    }
    size_t next = ETP_OR(arena->next_block, FIRST_BLOCK);
    size_t data = ETP_MAX(size, next);
    size_t bytes = 0;
    if (!etp_add_size(sizeof(etp_arena_block), data, &bytes)) {
        return NULL;
    }
    const etp_allocator *alloc = allocator(arena);
    etp_arena_block *b = alloc->resize(alloc->ctx, NULL, 0, bytes);
    if (!b) {
        return NULL;
    }
    b->size = data;
    b->used = 0;
    // Doubling keeps a large document to few blocks, the limit keeps the last one from being half
    // empty and huge.
    arena->next_block = next < MAX_BLOCK ? next * 2 : MAX_BLOCK;
    // A big object gets its own block behind the current one, which stays in use for small ones.
    if (size > next && arena->head) {
        b->next = arena->head->next;
        arena->head->next = b;
    } else {
        b->next = arena->head;
        arena->head = b;
    }
    return b;
}

static void *bump(etp_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGN) {
        return refuse(arena);
    }
    // An object of no bytes has a place too: NULL means that memory ran out and nothing else.
    size_t rounded = size == 0 ? ALIGN : (size + ALIGN - 1) / ALIGN * ALIGN;
    etp_arena_block *b = arena->head;
    if (!b || rounded > b->size - b->used) {
        b = add_block(arena, rounded);
        if (!b) {
            return refuse(arena);
        }
    }
    void *p = (char *)b->data + b->used;
    b->used += rounded;
    arena->total += rounded;
    return p;
}

void *etp_arena_alloc(etp_arena *arena, size_t size)
{
    void *p = bump(arena, size);
    if (p) {
        memset(p, 0, size);
    }
    return p;
}

void *etp_arena_alloc_array(etp_arena *arena, size_t n, size_t elem_size)
{
    size_t size = 0;
    return etp_mul_size(n, elem_size, &size) ? etp_arena_alloc(arena, size) : refuse(arena);
}

void *etp_arena_alloc_raw(etp_arena *arena, size_t n, size_t elem_size)
{
    size_t size = 0;
    return etp_mul_size(n, elem_size, &size) ? bump(arena, size) : refuse(arena);
}

char *etp_arena_strdup(etp_arena *arena, etp_str s)
{
    char *p = s.len < SIZE_MAX ? bump(arena, s.len + 1) : refuse(arena);
    if (p) {
        if (s.len) {
            memcpy(p, s.ptr, s.len);
        }
        p[s.len] = '\0';
    }
    return p;
}

char *etp_arena_printf(etp_arena *arena, const char *fmt, ...)
{
    if (arena->failed) {
        return refuse(arena); // what is to be shown may be a text that could not be had
    }
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? refuse(arena) : bump(arena, (size_t)n + 1);
    if (p) {
        va_start(ap, fmt);
        vsnprintf(p, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    return p;
}

bool etp_arena_grow(etp_arena *arena, void *ptr_to_array, size_t *cap, size_t need,
                    size_t elem_size)
{
    size_t new_cap = ETP_MAX(*cap, 8);
    while (new_cap < need) {
        if (new_cap > SIZE_MAX / 2) {
            refuse(arena);
            return false;
        }
        new_cap *= 2;
    }
    // ETP_PUSH asks when the array is full, whatever NEED says. The old array stays in the arena.
    if (new_cap <= *cap) {
        new_cap = *cap * 2;
    }
    // PTR_TO_ARRAY is a T ** of any T, which may not be read as a void **: its bytes are copied
    // instead.
    void *old = NULL;
    memcpy(&old, ptr_to_array, sizeof old);
    void *fresh = etp_arena_alloc_raw(arena, new_cap, elem_size);
    if (!fresh) {
        return false;
    }
    if (*cap) {
        memcpy(fresh, old, *cap * elem_size);
    }
    memcpy(ptr_to_array, &fresh, sizeof fresh);
    *cap = new_cap;
    return true;
}

etp_status etp_arena_check(const etp_arena *arena, etp_error *err, const char *what)
{
    return arena->failed ? etp_fail_nomem(err, what) : ETP_OK;
}

etp_status etp_fail_nomem(etp_error *err, const char *what)
{
    return etp_fail(err, ETP_NOMEM, "out of memory (%s)", what);
}
