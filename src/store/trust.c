// SPDX-License-Identifier: Apache-2.0
// Did this machine make a run folder? Sessions note in the user's own state folder the hash of
// their manifest without what they find out; a folder whose manifest says anything else is data.
#include <stdio.h>

#include "base/sha256.h"
#include "store/internal.h"

static etp_status hash_of(const etp_run *run, etp_arena *arena, char *out_hex, etp_error *err)
{
    etp_str text;
    json_t *json;
    ETP_TRY(etp_run_manifest_write(run, arena, &text, err));
    ETP_TRY(etp_json_read(text, &json, err));
    etp_status st = etp_run_hash_named(json, out_hex, err);
    json_decref(json);
    return st;
}

etp_status etp_run_trust(const char *state_dir, const etp_run *run, etp_error *err)
{
    etp_arena arena = {0};
    char hex[ETP_SHA256_HEX_CHARS] = "";
    etp_status st = hash_of(run, &arena, hex, err);
    const char *folder = etp_arena_printf(&arena, "%s/made", state_dir);
    const char *path = etp_arena_printf(&arena, "%s/%s", folder, hex);
    if (st == ETP_OK) {
        st = etp_arena_check(&arena, err, "the note");
    }
    if (st == ETP_OK) {
        st = etp_os_mkdirs(folder, err);
    }
    if (st == ETP_OK && !etp_os_is_file(path)) {
        st = etp_os_write_atomic(path, ETP_STR(""), err);
    }
    etp_arena_dispose(&arena);
    return st;
}

bool etp_run_trusted(const char *state_dir, const etp_run *run)
{
    etp_arena arena = {0};
    bool can = state_dir && run->named_sha256.len > 0;
    const char *path =
        can ? etp_arena_printf(&arena, "%s/made/%.*s", state_dir, ETP_STR_ARG(run->named_sha256))
            : NULL;
    bool known = path && etp_os_is_file(path);
    etp_arena_dispose(&arena);
    return known;
}

// ---- files that no hash is known of ----

// Does PATH lie below DIR (absolute, without links)? *seen: it exists.
static bool beneath(const char *dir, etp_str path, bool *seen, etp_arena *arena)
{
    const char *name = etp_arena_strdup(arena, path);
    const char *real = etp_os_absolute(name, arena);
    size_t n = strlen(dir);
    *seen = *seen || real != NULL;
    return name && (!real || (strncmp(real, dir, n) == 0 && real[n] == '/'));
}

// TEXT as one path, and as it is when a "#CASE" is taken off: whichever is meant lies below DIR.
static bool all_beneath(const char *dir, etp_str text, bool *seen, etp_arena *arena)
{
    bool ok = beneath(dir, text, seen, arena);
    for (size_t i = 0; ok && i < text.len; i++) {
        ok = text.ptr[i] != '#' || i == 0 || beneath(dir, (etp_str){text.ptr, i}, seen, arena);
    }
    return ok;
}

// FILE,…: each exists below DIR, and so does the whole if that is a name.
static bool list_beneath(const char *dir, etp_str list, etp_arena *arena)
{
    bool seen = false, ok = all_beneath(dir, list, &seen, arena);
    bool more = true;
    for (etp_str one; ok && more;) {
        more = etp_str_cut(&list, ",", &one);
        seen = false;
        ok = all_beneath(dir, one, &seen, arena) && seen;
    }
    return ok;
}

const char *etp_run_outside(const etp_run *run, etp_arena *arena)
{
    const char *given = etp_arena_strdup(arena, run->dir);
    const char *dir = etp_os_absolute(given, arena);
    const char *inputs = run->settings.inputs, *tokenizer = run->settings.tokenizer;
    const char *data = run->settings.data;
    bool seen = false;
    if (data && !(dir && list_beneath(dir, etp_str_from(data), arena))) {
        return data;
    }
    if (run->settings.kernels_lib) {
        return run->settings.kernels_lib;
    }
    if (tokenizer && !(dir && beneath(dir, etp_str_from(tokenizer), &seen, arena) && seen)) {
        return tokenizer;
    }
    bool made = etp_input_kind_of(inputs) != ETP_INPUTS_FILES;
    return etp_z_if(!(made || (dir && list_beneath(dir, etp_str_from(inputs), arena))), inputs);
}

static etp_status file_is(etp_str file, etp_str sha256, const char *what, etp_arena *arena,
                          etp_error *err)
{
    const char *path = etp_arena_strdup(arena, file);
    char hex[ETP_SHA256_HEX_CHARS];
    ETP_NEED(path, err, what);
    ETP_TRY(etp_os_hash_file(path, hex, NULL, err));
    return etp_str_eqz(sha256, hex) ? ETP_OK
                                    : etp_fail(err, ETP_USAGE,
                                               "%s is not the %s that was measured: its hash "
                                               "differs from the manifest's; measure it in a new "
                                               "session",
                                               path, what);
}

static etp_status files_are(const char *files, etp_str hashes, const char *what, etp_arena *arena,
                            etp_error *err)
{
    etp_str file, sha256 = {0}, rest = etp_str_from(ETP_OR(files, ""));
    while (hashes.len > 0 && etp_settings_next_file(&rest, &file)) {
        // One hash too few is that of a file that was never measured.
        sha256.len = etp_str_part(&hashes, ',', &sha256) ? sha256.len : 0;
        ETP_TRY(file_is(file, sha256, what, arena, err));
    }
    return ETP_OK;
}

etp_status etp_run_inputs_are(const etp_run *run, etp_arena *arena, etp_error *err)
{
    const etp_settings *set = &run->settings;
    const etp_run_hashes *hashes = &run->hashes;
    for (size_t i = 0; i < run->models.n; i++) {
        const etp_run_model *m = &run->models.items[i];
        ETP_TRY(file_is(m->path, m->sha256, "model", arena, err));
    }
    ETP_TRY(files_are(set->data, hashes->data, "data file", arena, err));
    ETP_TRY(files_are(set->inputs, hashes->inputs, "input", arena, err));
    ETP_TRY(files_are(set->kernels_lib, hashes->kernels_lib, "library", arena, err));
    return files_are(set->tokenizer, hashes->tokenizer, "tokenizer", arena, err);
}

const char *etp_run_names_used(const etp_run *run, etp_arena *arena)
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
    for (size_t i = 0; i < run->builds.n; i++) {
        etp_strbuf_printf(&s, ", the build %.*s", ETP_STR_ARG(run->builds.items[i].path));
    }
    for (size_t i = 0; i < run->models.n; i++) {
        etp_strbuf_printf(&s, ", the model %.*s", ETP_STR_ARG(run->models.items[i].path));
    }
    const char *const files[] = {run->settings.data, run->settings.tokenizer,
                                 run->settings.kernels_lib};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i]) {
            etp_strbuf_printf(&s, ", the file %s", files[i]);
        }
    }
    if (run->settings.inputs && strchr(run->settings.inputs, '/')) {
        etp_strbuf_printf(&s, ", the inputs %s", run->settings.inputs);
    }
    return etp_z_if(!s.failed, s.ptr);
}
