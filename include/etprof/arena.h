// SPDX-License-Identifier: Apache-2.0
// The one way etprof allocates: everything derived from a document lives in its arena and is
// freed with it. Out of memory gives NULL, and the arena remembers it: from then on it hands out
// nothing. So who makes texts and pushes to lists asks nothing; who hands over the document asks
// once, with etp_arena_check. What is written into at once (an array, a struct) is asked for.
//
// Thread rule: one thread at a time per arena. While a function of this library has one, nothing
// else is made in it, by the caller's allocator either: where memory ends, the function returns at
// once.
#ifndef ETPROF_ARENA_H
#define ETPROF_ARENA_H

#include <stddef.h>

#include <etprof/bytes.h>
#include <etprof/error.h>

ETP_C_BEGIN

// realloc-shaped: new_size 0 frees. It returns, NULL when there is no memory; only then are
// functions of this library left by a jump, and never one of the caller's. NULL in etp_arena_init
// means the C library's.
typedef struct etp_allocator {
    void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void *ctx;
} etp_allocator;

typedef struct etp_arena_block etp_arena_block;
typedef struct etp_guard etp_guard;

typedef struct etp_arena { // a zeroed arena is a valid empty one on the C library's allocator
    etp_arena_block *head;
    const etp_allocator *alloc;
    size_t next_block; // size of the next block; grows
    size_t total;      // bytes handed out
    bool failed;       // out of memory once: what was made is incomplete, nothing more is made
    etp_guard *guard;  // of this library's own functions, while they make a document
    struct etp_arena *older; // the next arena that ends with the same guard
} etp_arena;

ETP_API void etp_arena_init(etp_arena *arena, const etp_allocator *alloc);
ETP_API void etp_arena_dispose(etp_arena *arena); // safe on a zeroed arena; leaves it empty

// Zeroed memory aligned for any object, or NULL. A request of 0 bytes gives a valid pointer.
ETP_API void *etp_arena_alloc(etp_arena *arena, size_t size);
// As above for n elements, NULL also when the product would wrap.
ETP_API void *etp_arena_alloc_array(etp_arena *arena, size_t n, size_t elem_size);
// Not zeroed: for big arrays that the caller fills at once.
ETP_API void *etp_arena_alloc_raw(etp_arena *arena, size_t n, size_t elem_size);
// NUL-terminated copy (the NUL is not counted), NULL on out of memory.
ETP_API char *etp_arena_strdup(etp_arena *arena, etp_str s);
ETP_API char *etp_arena_printf(etp_arena *arena, const char *fmt, ...) ETP_PRINTF(2, 3);

// ETP_NOMEM where the arena has failed: what was made in it is incomplete. WHAT names it.
ETP_API ETP_NODISCARD etp_status etp_arena_check(const etp_arena *arena, etp_error *err,
                                                 const char *what);

#define ETP_NEW(arena, type) ((type *)etp_arena_alloc((arena), sizeof(type)))
#define ETP_NEW_ARRAY(arena, type, n) ((type *)etp_arena_alloc_array((arena), (n), sizeof(type)))

// Grows *ptr (n_cap elements) to hold at least `need` elements; false on out of memory.
ETP_API bool etp_arena_grow(etp_arena *arena, void *ptr_to_array, size_t *cap, size_t need,
                            size_t elem_size);

// ETP_PUSH(arena, v, item): v is a struct with fields `items`, `n`, `cap`. Gives false on out of
// memory. `struct { T *items; size_t n, cap; }` zeroed is the empty vector.
#define ETP_PUSH(arena, v, item)                                                       \
    (((v)->n < (v)->cap ||                                                             \
      etp_arena_grow((arena), &(v)->items, &(v)->cap, (v)->n + 1, sizeof *(v)->items)) \
         ? ((v)->items[(v)->n++] = (item), true)                                       \
         : false)

// The same as a statement, where nobody looks at the last element afterwards: what could not be
// pushed is noticed with the document.
#define ETP_ADD(arena, v, item)                                                                \
    do {                                                                                       \
        if ((v)->n < (v)->cap ||                                                               \
            etp_arena_grow((arena), &(v)->items, &(v)->cap, (v)->n + 1, sizeof *(v)->items)) { \
            (v)->items[(v)->n++] = (item);                                                     \
        }                                                                                      \
    } while (0)

// Checked size arithmetic: false when the result would wrap.
static inline bool etp_mul_size(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

static inline bool etp_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

ETP_API etp_status etp_fail_nomem(etp_error *err, const char *what);

// Goes on where there was memory: a pointer that is not NULL, a push that was true. Else the
// function ends with ETP_NOMEM. For what is used at once (an array that is filled, a path that is
// opened), and not where something has to be released first.
#define ETP_NEED(given, err, what)                \
    do {                                          \
        if (!(given)) {                           \
            return etp_fail_nomem((err), (what)); \
        }                                         \
    } while (0)

ETP_C_END

#endif
