// SPDX-License-Identifier: Apache-2.0
// Run folders that got a name. A name is a file in the user's own state folder with one line as
// sha256sum writes it: the hash of the folder's manifest and where that is. A manifest names its
// raw files with their hashes, so a folder that was measured again or swapped is seen.
#include <string.h>

#include "base/sha256.h"
#include "store/internal.h"

#define LONGEST_NAME 64
#define LONGEST_NOTE 8192
#define HEX (ETP_SHA256_HEX_CHARS - 1)

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

bool etp_baseline_name_ok(const char *name)
{
    size_t n = strlen(name);
    bool ok = n > 0 && n <= LONGEST_NAME && name[0] != '.' && name[0] != '-';
    for (size_t i = 0; ok && i < n; i++) {
        ok = is_name_char(name[i]);
    }
    return ok;
}

etp_status etp_baseline_check(const char *state_dir, const char *name, etp_error *err)
{
    if (!etp_baseline_name_ok(name)) {
        return etp_fail(err, ETP_USAGE,
                        "'%s' is not a name for a baseline: letters, digits, '.', '_' and '-', at "
                        "most %d, and no '.' or '-' first",
                        name, LONGEST_NAME);
    }
    if (!state_dir) {
        return etp_fail(err, ETP_USAGE,
                        "there is no folder to keep names of baselines in: set HOME or "
                        "XDG_STATE_HOME");
    }
    return ETP_OK;
}

static bool is_hex(etp_str s)
{
    bool ok = s.len >= HEX;
    for (size_t i = 0; ok && i < HEX; i++) {
        ok = (s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f');
    }
    return ok;
}

// "HASH  /FOLDER/manifest.json\n"
static bool parse(etp_str text, etp_arena *arena, etp_baseline *out)
{
    static const char k_end[] = "/manifest.json\n";
    size_t end = sizeof k_end - 1;
    if (!is_hex(text) || text.len < HEX + 3 + end || memcmp(text.ptr + HEX, "  /", 3) != 0 ||
        memcmp(text.ptr + text.len - end, k_end, end) != 0) {
        return false;
    }
    etp_str dir = {text.ptr + HEX + 2, text.len - HEX - 2 - end};
    if (memchr(dir.ptr, '\n', dir.len) || memchr(dir.ptr, '\0', dir.len)) {
        return false;
    }
    memcpy(out->sha256, text.ptr, HEX);
    out->sha256[HEX] = '\0';
    out->dir = etp_arena_strdup(arena, dir);
    return out->dir != NULL;
}

static etp_status manifest_hash(const char *dir, etp_arena *arena,
                                char out_hex[static ETP_SHA256_HEX_CHARS], etp_error *err)
{
    return etp_os_hash_file(etp_arena_printf(arena, "%s/manifest.json", dir), out_hex, NULL, err);
}

etp_status etp_baseline_find(const char *state_dir, const char *name, etp_arena *arena,
                             etp_baseline *out, etp_error *err)
{
    *out = (etp_baseline){.state = ETP_BASELINE_NONE};
    if (!state_dir || !etp_baseline_name_ok(name)) {
        return ETP_OK;
    }
    const char *path = etp_arena_printf(arena, "%s/baselines/%s", state_dir, name);
    out->name = etp_arena_strdup(arena, etp_str_from(name));
    if (etp_os_is_file(path)) {
        etp_str text;
        char found[ETP_SHA256_HEX_CHARS];
        ETP_TRY(etp_os_read_text(path, LONGEST_NOTE, arena, &text, err));
        if (!parse(text, arena, out)) {
            out->state = ETP_BASELINE_UNREADABLE;
        } else if (!etp_run_is(out->dir) || manifest_hash(out->dir, arena, found, NULL) != ETP_OK) {
            out->state = ETP_BASELINE_MOVED;
        } else {
            out->state = strcmp(found, out->sha256) == 0 ? ETP_BASELINE_SAME : ETP_BASELINE_CHANGED;
        }
    }
    return etp_arena_check(arena, err, "a baseline"); // one that is not there is another answer
}

etp_status etp_baseline_list(const char *state_dir, etp_arena *arena, etp_baselines *out,
                             etp_error *err)
{
    *out = (etp_baselines){0};
    const char *folder = etp_arena_printf(arena, "%s/baselines", ETP_OR(state_dir, ""));
    if (!state_dir || !etp_os_is_dir(folder)) {
        return ETP_OK;
    }
    etp_dir_list list;
    ETP_TRY(etp_os_list(folder, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        etp_baseline one;
        ETP_TRY(etp_baseline_find(state_dir, list.items[i].name, arena, &one, err));
        if (one.state != ETP_BASELINE_NONE) {
            ETP_ADD(arena, out, one);
        }
    }
    return ETP_OK;
}

etp_status etp_baseline_save(const char *state_dir, const char *name, const char *dir,
                             etp_arena *arena, etp_error *err)
{
    ETP_TRY(etp_baseline_check(state_dir, name, err));
    etp_run run;
    char hex[ETP_SHA256_HEX_CHARS];
    ETP_TRY(etp_run_open(dir, arena, &run, err));
    if (run.state != ETP_RUN_FINISHED) {
        return etp_fail(
            err, ETP_USAGE,
            "%s is not finished, so it is not a baseline yet: etprof ab --resume %s goes "
            "on with it",
            dir, dir);
    }
    const char *whole = etp_os_absolute(dir, arena);
    const char *folder = etp_arena_printf(arena, "%s/baselines", state_dir);
    const char *path = etp_arena_printf(arena, "%s/baselines/%s", state_dir, name);
    ETP_TRY(etp_arena_check(arena, err, "a baseline"));
    if (!whole || strchr(whole, '\n')) {
        return etp_fail(err, ETP_USAGE, "%s is at no path that can be written on one line", dir);
    }
    ETP_TRY(manifest_hash(whole, arena, hex, err));
    const char *note = etp_arena_printf(arena, "%s  %s/manifest.json\n", hex, whole);
    ETP_TRY(etp_arena_check(arena, err, "a baseline"));
    ETP_TRY(etp_os_mkdirs(folder, err));
    return etp_os_write_atomic(path, etp_str_from(note), err);
}

etp_status etp_baseline_remove(const char *state_dir, const char *name, etp_arena *arena,
                               etp_error *err)
{
    ETP_TRY(etp_baseline_check(state_dir, name, err));
    const char *path = etp_arena_printf(arena, "%s/baselines/%s", state_dir, name);
    if (path && !etp_os_is_file(path)) {
        return etp_fail(err, ETP_USAGE,
                        "no baseline is called '%s'; 'etprof gate --list' lists those there are",
                        name);
    }
    return etp_os_unlink(path, err);
}
