// SPDX-License-Identifier: Apache-2.0
// The hash of a manifest by which a session's folder is known again (trust.c).
#include "store/internal.h"

// What a session finds out. Nothing of it says what is started, contacted or read when the folder
// is measured again; every other member does, or may one day.
static const char *const k_found[] = {"state", "blocks_done", "signal", "stopped", "selftest",
                                      "lost",  "unreadable",  "notes",  "files",   "results"};
static const char *const k_found_in_plan[] = {"iterations", "order"};
#define FOUND_OF_AN_ARM "sampling"

static int hash_more(const char *text, size_t len, void *hash)
{
    etp_sha256_update(hash, text, len);
    return 0;
}

etp_status etp_run_hash_named(json_t *manifest, char out_hex[static ETP_SHA256_HEX_CHARS],
                              etp_error *err)
{
    for (size_t i = 0; i < sizeof k_found / sizeof *k_found; i++) {
        json_object_del(manifest, k_found[i]);
    }
    json_t *plan = json_object_get(manifest, "plan");
    for (size_t i = 0; i < sizeof k_found_in_plan / sizeof *k_found_in_plan; i++) {
        json_object_del(plan, k_found_in_plan[i]);
    }
    const json_t *arms = json_object_get(plan, "arms");
    for (size_t i = 0; i < json_array_size(arms); i++) {
        json_object_del(json_array_get(arms, i), FOUND_OF_AN_ARM);
    }
    // In canonical form: members in order of their names, nothing between them.
    etp_sha256 h;
    etp_sha256_init(&h);
    int done = json_dump_callback(manifest, hash_more, &h, JSON_SORT_KEYS | JSON_COMPACT);
    etp_sha256_hex(&h, out_hex);
    return done == 0 ? ETP_OK : etp_fail_nomem(err, "a hash of JSON");
}
