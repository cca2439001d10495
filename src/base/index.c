// SPDX-License-Identifier: Apache-2.0
// Hash index with linear probing.
#include "base/index.h"

uint64_t etp_hash_bytes(uint64_t hash, const void *ptr, size_t len)
{
    const uint8_t *p = ptr;
    for (size_t i = 0; i < len; i++) {
        // The prime of 64-bit FNV-1a; ETP_HASH_START is its offset basis.
        hash = (hash ^ p[i]) * 1099511628211u;
    }
    return hash;
}

uint32_t etp_index_find(const etp_index *index, uint64_t hash, etp_index_equal *equal,
                        const void *ctx)
{
    if (index->n_slots == 0) {
        return ETP_NO_INDEX;
    }
    // n_slots is a power of two, and a quarter of the slots is free: the walk ends.
    size_t mask = index->n_slots - 1;
    for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
        const etp_index_slot *slot = &index->slots[at];
        if (slot->position_plus_1 == 0) {
            return ETP_NO_INDEX;
        }
        if (slot->hash == hash && equal(ctx, slot->position_plus_1 - 1)) {
            return slot->position_plus_1 - 1;
        }
    }
}

static void place(etp_index *index, etp_index_slot slot)
{
    size_t mask = index->n_slots - 1;
    size_t at = (size_t)slot.hash & mask;
    while (index->slots[at].position_plus_1) {
        at = (at + 1) & mask;
    }
    index->slots[at] = slot;
}

bool etp_index_insert(etp_index *index, etp_arena *arena, uint64_t hash, uint32_t position)
{
    if ((index->used + 1) * 4 > index->n_slots * 3) { // at most three quarters full
        etp_index bigger = {.n_slots = index->n_slots ? index->n_slots * 2 : 64};
        bigger.slots = ETP_NEW_ARRAY(arena, etp_index_slot, bigger.n_slots);
        if (!bigger.slots) {
            return false;
        }
        for (size_t i = 0; i < index->n_slots; i++) {
            if (index->slots[i].position_plus_1) {
                place(&bigger, index->slots[i]);
            }
        }
        bigger.used = index->used;
        *index = bigger;
    }
    place(index, (etp_index_slot){hash, position + 1});
    index->used++;
    return true;
}
