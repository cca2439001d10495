// SPDX-License-Identifier: Apache-2.0
// The ids lie one behind the other, and an index finds the position of one by its hash. Both only
// grow: what a lake has, it keeps.
// A set of ids.
#include "library/fleet_known.h"

#include <pthread.h>

#include "base/index.h"
#include "base/number.h"
#include "base/sha256.h"

#define ID_BYTES 32

typedef struct id_bytes {
    uint8_t bytes[ID_BYTES];
} id_bytes;

struct etp_fleet_known {
    etp_arena arena; // owns this struct
    pthread_mutex_t lock;
    // Insertion goes to both in one step under the lock; position I of the index is item I of this
    // list.
    struct {
        id_bytes *items;
        size_t n, cap;
    } ids;
    etp_index index;
};

etp_status etp_fleet_known_new(etp_fleet_known **out, etp_error *err)
{
    etp_arena arena = {0};
    *out = NULL;
    etp_fleet_known *known = ETP_NEW(&arena, etp_fleet_known);
    ETP_NEED(known, err, "known sources");
    known->arena = arena;
    (void)pthread_mutex_init(&known->lock, NULL);
    *out = known;
    return ETP_OK;
}

void etp_fleet_known_close(etp_fleet_known *known)
{
    if (known) {
        (void)pthread_mutex_destroy(&known->lock);
        etp_arena arena = known->arena; // it goes with its owner
        etp_arena_dispose(&arena);
    }
}

// Kept as 32 bytes, half of their hex. That they are hex at all has to be checked: ids come from
// programs.
static bool parsed(const char *id, id_bytes *out)
{
    return strlen(id) == (size_t)2 * ID_BYTES && etp_parse_hex(etp_str_from(id), out->bytes);
}

typedef struct id_key {
    const etp_fleet_known *known;
    id_bytes id;
} id_key;

static bool same_id(const void *ctx, uint32_t position)
{
    const id_key *k = ctx;
    return memcmp(k->known->ids.items[position].bytes, k->id.bytes, ID_BYTES) == 0;
}

static bool has(const id_key *key, uint64_t hash)
{
    return etp_index_find(&key->known->index, hash, same_id, key) != ETP_NO_INDEX;
}

// The id is a hash already, but its first bytes alone would not do for the index.
// Somebody may have made ids up so that their first bytes are alike.
static uint64_t hash_of(const id_bytes *id)
{
    return etp_hash_bytes(ETP_HASH_START, id->bytes, ID_BYTES);
}

bool etp_fleet_known_has(etp_fleet_known *known, const char *id)
{
    id_key key = {.known = known};
    if (!known || !parsed(id, &key.id)) {
        return false;
    }
    (void)pthread_mutex_lock(&known->lock);
    bool found = has(&key, hash_of(&key.id));
    (void)pthread_mutex_unlock(&known->lock);
    return found;
}

etp_status etp_fleet_known_add(etp_fleet_known *known, const char *id, bool *out_new,
                               etp_error *err)
{
    id_key key = {.known = known};
    *out_new = false;
    if (!parsed(id, &key.id)) {
        return etp_fail(err, ETP_USAGE, "\"%s\" is not an id of a source: 64 digits of hex", id);
    }
    uint64_t hash = hash_of(&key.id);
    (void)pthread_mutex_lock(&known->lock);
    *out_new = !has(&key, hash);
    // Asked and entered under one lock: of two threads that bring the same id, exactly one is told
    // that it was new.
    bool kept = !*out_new || (ETP_PUSH(&known->arena, &known->ids, key.id) &&
                              etp_index_insert(&known->index, &known->arena, hash,
                                               (uint32_t)(known->ids.n - 1)));
    (void)pthread_mutex_unlock(&known->lock);
    return kept ? ETP_OK : etp_fail_nomem(err, "known sources");
}
