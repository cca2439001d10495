// SPDX-License-Identifier: Apache-2.0
// Names and places inside a run folder, and where the folder itself goes.
#include "base/json.h"
#include "base/path.h"
#include "base/utf8.h"
#include "os/os.h"
#include "store/internal.h"

bool etp_run_name_ok(etp_str name)
{
    if (name.len == 0 || name.len > 200 || etp_str_eqz(name, ".") || etp_str_eqz(name, "..")) {
        return false;
    }
    for (etp_str rest = name; rest.len > 0;) { // file systems and JSON want text
        bool valid;
        size_t n = etp_utf8_next(rest, &valid);
        if (!valid || etp_is_deceptive(etp_utf8_code_point((const unsigned char *)rest.ptr, n))) {
            return false;
        }
        rest = (etp_str){rest.ptr + n, rest.len - n};
    }
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == '/' || name.ptr[i] == '\\' ||
            name.ptr[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

bool etp_run_path_ok(etp_str path)
{
    bool more = true, ok = true;
    for (etp_str name; more && ok;) {
        more = etp_str_cut(&path, "/", &name);
        ok = etp_run_name_ok(name);
    }
    return ok;
}

// What a launch leaves, as it is or compressed.
static bool is_of_launch(etp_str relative)
{
    static const char *const k_ends[] = {".etdump", ".samples", ".code"};
    if (etp_str_ends(relative, ETP_STR(ETP_OS_PACKED))) {
        relative.len -= sizeof ETP_OS_PACKED - 1;
    }
    for (size_t i = 0; i < sizeof k_ends / sizeof *k_ends; i++) {
        if (etp_str_ends(relative, etp_str_from(k_ends[i]))) {
            return true;
        }
    }
    return false;
}

bool etp_run_is_raw(etp_str relative)
{
    return etp_str_eqz(relative, ETP_RUN_MANIFEST) || etp_str_eqz(relative, ETP_RUN_SAMPLES) ||
           etp_str_eqz(relative, ETP_RUN_ENVIRONMENT) || etp_str_eqz(relative, ETP_RUN_DERIVED) ||
           etp_str_eqz(relative, ETP_RUN_ROOFS) || etp_str_eqz(relative, ETP_RUN_LOCK) ||
           is_of_launch(relative) || etp_str_ends(relative, ETP_STR(".log")) ||
           etp_str_starts(relative, ETP_STR(ETP_RUN_PROGRAMS "/")) ||
           etp_str_find(relative, ETP_STR("/outputs/")) < relative.len ||
           etp_str_find(relative, ETP_STR("/outputs_again/")) < relative.len;
}

static etp_status check_members(const char *dir, int depth, uint32_t *left, etp_error *err)
{
    enum { MAX_DEPTH = 16 };
    etp_arena arena = {0};
    etp_dir_list list;
    etp_status st = etp_os_list(dir, &arena, &list, err);
    for (size_t i = 0; st == ETP_OK && i < list.n; i++) {
        const char *path = etp_arena_printf(&arena, "%s/%s", dir, list.items[i].name);
        if (list.items[i].is_other) {
            st = etp_fail(
                err, ETP_UNSUPPORTED,
                "%s/%s is a link, or no regular file: a run folder holds files and folders of "
                "its own only; remove it, or put the file itself there",
                dir, list.items[i].name);
        } else if (*left == 0 || depth == MAX_DEPTH) {
            st = etp_fail(err, ETP_UNSUPPORTED,
                          "%s holds more files or levels of folders than a session makes", dir);
        } else if (list.items[i].is_dir) {
            st = check_members(path, depth + 1, left, err);
        }
        *left -= *left > 0;
    }
    etp_arena_dispose(&arena);
    return st;
}

etp_status etp_run_check_members(const char *dir, etp_error *err)
{
    uint32_t left = 2000000; // far above what arms and blocks within their limits make
    return check_members(dir, 0, &left, err);
}

const char *etp_run_path(etp_arena *arena, const char *dir, etp_str relative)
{
    return etp_arena_printf(arena, "%s/%.*s", dir, ETP_STR_ARG(relative));
}

const char *etp_run_dump_name(etp_arena *arena, const etp_run_arm *arm, uint32_t block,
                              const char *suffix)
{
    if (block <= 1) {
        return etp_arena_printf(arena, "%.*s/%.*s%s", ETP_STR_ARG(arm->name),
                                ETP_STR_ARG(arm->prefix), suffix);
    }
    return etp_arena_printf(arena, "%.*s/%.*s_b%u%s", ETP_STR_ARG(arm->name),
                            ETP_STR_ARG(arm->prefix), block, suffix);
}

const char *etp_run_stored(etp_arena *arena, const char *dir, const char *name)
{
    const char *path = etp_run_path(arena, dir, etp_str_from(name));
    const char *packed = etp_arena_printf(arena, "%s" ETP_OS_PACKED, name);
    if (etp_os_is_file(path)) {
        return name;
    }
    path = etp_run_path(arena, dir, etp_str_from(packed));
    return etp_os_is_file(path) ? packed : name;
}

const char *etp_run_sampled_name(etp_arena *arena, const etp_run_arm *arm, uint32_t block,
                                 uint32_t nth, const char *suffix)
{
    const char *end = nth <= 1 ? suffix : etp_arena_printf(arena, "_r%u%s", nth, suffix);
    return etp_run_dump_name(arena, arm, block, end);
}

const char *etp_run_outputs_name(etp_arena *arena, const etp_run_arm *arm)
{
    return etp_arena_printf(arena, "%.*s/outputs", ETP_STR_ARG(arm->name));
}

const char *etp_run_outputs_again_name(etp_arena *arena, const etp_run_arm *arm)
{
    return etp_arena_printf(arena, "%.*s/outputs_again", ETP_STR_ARG(arm->name));
}

// "<model>_<backend>_<precision>" → "<model>": our exporter's names. Others stay as they are.
etp_str etp_run_model_name(etp_str stem)
{
    static const char *const k_backends[] = {"_xnnpack_", "_portable_"};
    for (size_t i = 0; i < sizeof k_backends / sizeof *k_backends; i++) {
        size_t at = etp_str_find(stem, etp_str_from(k_backends[i]));
        if (at > 0 && at < stem.len) {
            return (etp_str){stem.ptr, at};
        }
    }
    return stem;
}

const char *etp_run_default_dir(etp_arena *arena, const char *model_path, const char *platform)
{
    etp_str path = etp_str_from(model_path);
    // …/out_<model>/artifacts/x.pte: the session belongs beside artifacts/.
    for (size_t at = 0; at < path.len;) {
        size_t n = etp_str_find((etp_str){path.ptr + at, path.len - at}, ETP_STR("/"));
        etp_str part = {path.ptr + at, n};
        if (at + n < path.len && etp_str_starts(part, ETP_STR("out_"))) {
            return etp_arena_printf(arena, "%.*s/runs/%s", (int)(at + n), path.ptr, platform);
        }
        at += n + 1;
    }
    etp_str stem = etp_path_last(path);
    if (etp_str_ends(stem, ETP_STR(".pte"))) {
        stem.len -= 4;
    }
    etp_str model = etp_run_model_name(stem);
    return etp_arena_printf(arena, "out_%.*s/runs/%s", ETP_STR_ARG(model), platform);
}

etp_status etp_run_create_folder(const char *wanted, bool exact, etp_arena *arena,
                                 const char **out_dir, etp_error *err)
{
    *out_dir = wanted;
    if (exact) {
        ETP_TRY(etp_os_mkdirs(wanted, err));
        etp_dir_list list;
        ETP_TRY(etp_os_list(wanted, arena, &list, err));
        if (list.n > 0) {
            return etp_fail(err, ETP_USAGE, "folder %s is not empty: give a new one, or remove it",
                            wanted);
        }
        return ETP_OK;
    }
    const etp_str parent = etp_path_folder(wanted);
    if (parent.len > 0) {
        ETP_TRY(etp_os_mkdirs(etp_arena_strdup(arena, parent), err));
    }
    for (unsigned i = 1; i < 100000; i++) {
        bool taken;
        *out_dir = i == 1 ? wanted : etp_arena_printf(arena, "%s.%u", wanted, i);
        ETP_TRY(etp_os_mkdir_new(*out_dir, &taken, err));
        if (!taken) {
            return ETP_OK;
        }
    }
    return etp_fail(err, ETP_IO, "folder %s and its numbered successors are all taken", wanted);
}

etp_status etp_run_lock(const char *dir, etp_arena *arena, etp_os_lock *out, etp_error *err)
{
    int64_t holder;
    *out = (etp_os_lock){0};
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_LOCK));
    ETP_TRY(etp_os_lock_take(path, out, &holder, err));
    if (holder > 0) {
        return etp_fail(err, ETP_USAGE,
                        "%s: its session still runs (pid %lld): wait for it, or end it first", dir,
                        (long long)holder);
    }
    return holder == 0 ? ETP_OK
                       : etp_fail(err, ETP_USAGE,
                                  "%s: another session writes into it: wait for its end", dir);
}

void etp_run_remove_dead_lock(const char *dir, etp_arena *arena)
{
    etp_os_lock lock;
    int64_t holder;
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_LOCK));
    if (path && etp_os_is_file(path) && etp_os_lock_take(path, &lock, &holder, NULL) == ETP_OK) {
        etp_os_lock_release(&lock); // holds nothing when a session runs here
    }
}

uint32_t etp_run_arm_find(const etp_run *run, etp_str name, uint32_t hint)
{
    if (hint < run->arms.n && etp_str_eq(run->arms.items[hint].name, name)) {
        return hint;
    }
    for (uint32_t i = 0; i < run->arms.n; i++) {
        if (etp_str_eq(run->arms.items[i].name, name)) {
            return i;
        }
    }
    return ETP_NO_INDEX;
}
