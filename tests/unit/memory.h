// SPDX-License-Identifier: Apache-2.0
// Memory that ends: an allocator that gives as many blocks as it is told, and counts them.
#ifndef ETP_TESTS_MEMORY_H
#define ETP_TESTS_MEMORY_H

#include <stdlib.h>

#include <etprof/arena.h>

typedef struct memory {
    int left, alive; // blocks that may still be had, blocks that are
} memory;

static inline void *limited(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    memory *m = ctx;
    if (new_size == 0) {
        m->alive -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (m->left-- <= 0) {
        return NULL;
    }
    m->alive += ptr == NULL;
    return realloc(ptr, new_size);
}

#endif
