// SPDX-License-Identifier: Apache-2.0
// Hash index from keys the caller keeps in an array to their positions: open addressing, never
// removes. Hostile keys cost at most a linear probe over equal hashes; the hash is FNV-1a.
#ifndef ETP_BASE_INDEX_H
#define ETP_BASE_INDEX_H

#include <etprof/arena.h>

typedef struct etp_index_slot {
    uint64_t hash;
    uint32_t position_plus_1; // 0: free
} etp_index_slot;

typedef struct etp_index { // zeroed is empty; storage lives in the arena given to insert
    etp_index_slot *slots;
    size_t n_slots, used;
} etp_index;

// True when the caller's element at POSITION equals the key in CTX.
typedef bool etp_index_equal(const void *ctx, uint32_t position);

uint32_t etp_index_find(const etp_index *index, uint64_t hash, etp_index_equal *equal,
                        const void *ctx);
// Adds POSITION under HASH; the caller has checked that the key is new. False on out of memory.
bool etp_index_insert(etp_index *index, etp_arena *arena, uint64_t hash, uint32_t position);

#define ETP_HASH_START 14695981039346656037u
uint64_t etp_hash_bytes(uint64_t hash, const void *ptr, size_t len);

#endif
