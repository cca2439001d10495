// SPDX-License-Identifier: Apache-2.0
// Did this machine make a run folder? Sessions note in the user's own state folder, by hash, what
// their folder says should be started, contacted and read; a folder that says anything else is
// data.
#include <stdio.h>

#include "base/sha256.h"
#include "store/internal.h"

// Lengths go in, too, so that no two lists of texts are the same bytes.
static void add(etp_sha256 *h, etp_str s)
{
    char length[24];
    int n = snprintf(length, sizeof length, "%zu:", s.len);
    etp_sha256_update(h, length, (size_t)n);
    etp_sha256_update(h, s.ptr, s.len);
}

static void hash_of(const etp_run *run, char out_hex[static ETP_SHA256_HEX_CHARS])
{
    etp_sha256 h;
    etp_sha256_init(&h);
    add(&h, ETP_STR("what a run folder names, 1"));
    add(&h, run->device_spec);
    add(&h, etp_run_fact_of(run, "prepare"));
    for (const etp_setting *row = k_etp_settings; row->key; row++) {
        const void *field = (const char *)&run->settings + row->offset;
        if (row->type == ETP_SETTING_TEXT) {
            add(&h, etp_str_from(*(const char *const *)field));
        }
    }
    for (size_t i = 0; i < run->models.n; i++) {
        add(&h, run->models.items[i].path);
        add(&h, run->models.items[i].sha256);
    }
    for (size_t i = 0; i < run->arms.n; i++) {
        add(&h, run->arms.items[i].level);
        add(&h, run->arms.items[i].runner);
    }
    etp_sha256_hex(&h, out_hex);
}

static const char *note_path(const char *state_dir, const etp_run *run, etp_arena *arena)
{
    char hex[ETP_SHA256_HEX_CHARS];
    hash_of(run, hex);
    return state_dir ? etp_arena_printf(arena, "%s/made/%s", state_dir, hex) : NULL;
}

etp_status etp_run_trust(const char *state_dir, const etp_run *run, etp_error *err)
{
    etp_arena arena = {0};
    const char *folder = etp_arena_printf(&arena, "%s/made", state_dir);
    const char *path = note_path(state_dir, run, &arena);
    etp_status st =
        folder && path ? etp_os_mkdirs(folder, err) : etp_fail_nomem(err, "the state folder");
    if (st == ETP_OK && !etp_os_is_file(path)) {
        st = etp_os_write_atomic(path, ETP_STR(""), err);
    }
    etp_arena_dispose(&arena);
    return st;
}

bool etp_run_trusted(const char *state_dir, const etp_run *run)
{
    etp_arena arena = {0};
    const char *path = note_path(state_dir, run, &arena);
    bool known = path && etp_os_is_file(path);
    etp_arena_dispose(&arena);
    return known;
}

const char *etp_run_wishes(const etp_run *run, etp_arena *arena)
{
    etp_strbuf s;
    etp_strbuf_init(&s, arena);
    etp_strbuf_printf(&s, "the device %.*s", ETP_STR_ARG(run->device_spec));
    for (size_t i = 0; i < run->arms.n; i++) {
        etp_str runner = run->arms.items[i].runner;
        if (runner.len > 0 && (i == 0 || !etp_str_eq(runner, run->arms.items[i - 1].runner))) {
            etp_strbuf_printf(&s, ", the program %.*s", ETP_STR_ARG(runner));
        }
    }
    for (size_t i = 0; i < run->models.n; i++) {
        etp_strbuf_printf(&s, ", the model %.*s", ETP_STR_ARG(run->models.items[i].path));
    }
    if (run->settings.data) {
        etp_strbuf_printf(&s, ", the file %s", run->settings.data);
    }
    if (run->settings.inputs && strchr(run->settings.inputs, '/')) {
        etp_strbuf_printf(&s, ", the inputs %s", run->settings.inputs);
    }
    return s.failed ? NULL : s.ptr;
}
