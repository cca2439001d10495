// SPDX-License-Identifier: Apache-2.0
// Roofs of a device: measuring or remembering them, and their document.
#include "session/roofs.h"

#include <etprof/version.h>

#include "base/sha256.h"
#include "document/fields.h"
#include "store/roofs_file.h"

#define CACHE_LIMIT ((size_t)4 << 20)

// ---- cache ----

// One file per device, features, clock state and version of the tool: what was measured in another
// state is not found, so it cannot be used by mistake.
static const char *cache_path(const etp_roof_table *t, const char *dir, etp_arena *arena)
{
    char hex[ETP_SHA256_HEX_CHARS];
    const char *key = etp_arena_printf(arena, "%s|%s|%s|%s|%s|%u|%llu|%d", ETP_VERSION, t->device,
                                       t->cpu, t->features, t->governor, t->cpus,
                                       (unsigned long long)t->max_khz, t->boost);
    if (!key) {
        return NULL;
    }
    etp_sha256_of(key, strlen(key), hex);
    return etp_arena_printf(arena, "%s/%.16s.json", dir, hex);
}

// The file's name is a hash cut short, and the file may have been edited: what it says of its state
// is compared as well.
static bool same_state(const etp_roof_table *a, const etp_roof_table *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->cpu, b->cpu) == 0 &&
           strcmp(a->features, b->features) == 0 && strcmp(a->governor, b->governor) == 0 &&
           a->cpus == b->cpus && a->max_khz == b->max_khz && a->boost == b->boost &&
           a->emulated == b->emulated;
}

// A device is cleaned, updated, put elsewhere. A clock that was set back makes nothing younger.
static bool is_recent(const etp_roof_table *t)
{
    int64_t age_s = etp_os_wall_seconds() - t->measured_s;
    return age_s >= -86400 && age_s <= (int64_t)ETP_ROOFS_DAYS * 86400;
}

// Roofs of PATH that are of T's state; none when the file is missing or not to be believed.
static etp_roof_table read_cache(const char *path, const etp_roof_table *t, etp_arena *arena)
{
    etp_str text;
    etp_roof_table found = {0};
    bool ok = etp_os_is_file(path) &&
              etp_os_read_text(path, CACHE_LIMIT, arena, &text, NULL) == ETP_OK &&
              etp_roofs_read(text, arena, &found, NULL) == ETP_OK && same_state(&found, t) &&
              is_recent(&found) && !etp_roofs_doubt(&found, ETP_WAIT_MOST);
    return ok ? found : (etp_roof_table){0};
}

// The cost of a parallel region is measured with every thread count: where it is, all of that count
// is.
static bool has_threads(const etp_roof_table *t, uint32_t threads)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->items[i].threads == threads && t->items[i].what == ETP_ROOF_REGION) {
            return true;
        }
    }
    return false;
}

etp_status etp_roofs_cached(etp_device *device, const char *cache_dir, etp_arena *arena,
                            etp_roofs_answer *out, etp_error *err)
{
    *out = (etp_roofs_answer){.cached = true};
    ETP_TRY(etp_roofs_describe(device, arena, &out->table, err));
    const char *path = cache_path(&out->table, cache_dir, arena);
    etp_roof_table found = read_cache(path, &out->table, arena);
    out->table.items = found.items;
    out->table.n = out->table.cap = found.n;
    if (found.n > 0) {
        out->table.waited = found.waited;
        out->table.measured_s = found.measured_s;
    }
    return ETP_OK;
}

etp_status etp_roofs_of(etp_device *device, const char *cache_dir, const etp_roofs_options *options,
                        bool fresh, etp_arena *arena, etp_roofs_answer *out, etp_error *err)
{
    etp_roofs_options o = *options;
    ETP_TRY(etp_roofs_cached(device, cache_dir, arena, out, err));
    etp_roof_table known = out->table;
    if (o.n_threads == 0) {
        o.n_threads = etp_roof_default_threads(known.cpus, o.threads);
    }
    bool all = !fresh && known.n > 0;
    for (size_t i = 0; i < o.n_threads; i++) {
        all = all && has_threads(&known, o.threads[i]);
    }
    if (all) {
        return ETP_OK;
    }
    out->cached = false;
    out->table.items = NULL;
    out->table.n = out->table.cap = 0;
    ETP_TRY(etp_roofs_gather(device, &o, arena, &out->table, err));
    out->doubt = etp_roofs_doubt(&out->table, ETP_WAIT_MOST);
    // Of an emulator the loops were checked, nothing was timed: a cache of that would look like
    // roofs.
    if (out->table.emulated || out->doubt) {
        return ETP_OK;
    }
    return etp_roofs_keep(out, cache_dir, arena, err);
}

etp_status etp_roofs_keep(etp_roofs_answer *a, const char *cache_dir, etp_arena *arena,
                          etp_error *err)
{
    const char *path = cache_path(&a->table, cache_dir, arena);
    etp_roof_table known = read_cache(path, &a->table, arena);
    etp_str text;
    // What was known of thread counts that were not measured this time stays.
    etp_roof_table now = a->table;
    for (size_t i = 0; i < known.n; i++) {
        bool again = has_threads(&now, known.items[i].threads);
        for (size_t k = 0; k < now.n; k++) {
            again = again || etp_roof_same(&now.items[k], &known.items[i]);
        }
        if (!again) {
            a->table.measured_s = known.measured_s; // as old as the oldest of them
            ETP_ADD(arena, &a->table, known.items[i]);
        }
    }
    ETP_TRY(etp_roofs_document(a, arena, &text, err));
    ETP_TRY(etp_os_mkdirs(cache_dir, err));
    return etp_os_write_atomic(path, text, err);
}

etp_status etp_roofs_document(const etp_roofs_answer *a, etp_arena *arena, etp_str *out,
                              etp_error *err)
{
    *out = etp_document_text(&k_etp_roofs_document, &a->table, &a->table, true, arena);
    return etp_arena_check(arena, err, "roofs");
}
