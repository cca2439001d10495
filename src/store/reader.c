// SPDX-License-Identifier: Apache-2.0
// Opens a run folder.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/sha256.h"
#include "os/os.h"
#include "store/internal.h"

bool etp_run_is(const char *dir)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", dir, ETP_RUN_MANIFEST);
    if (n < 0 || (size_t)n >= sizeof path) {
        return false;
    }
    // A manifest that is a link or a FIFO makes it a run folder that nobody opens, not a folder of
    // something else.
    if (etp_os_is_other(path)) {
        return true;
    }
    etp_file file;
    etp_status st =
        etp_os_is_file(path) ? etp_file_open(path, ETP_RUN_MANIFEST_LIMIT, &file, NULL) : ETP_NO;
    if (st != ETP_OK) {
        return st == ETP_NOMEM; // who opens it then says what is wrong
    }
    etp_str text = {(const char *)file.bytes.ptr, file.bytes.len};
    bool ours = etp_str_find(text, ETP_STR("\"etprof.run/")) < text.len;
    etp_file_close(&file);
    return ours;
}

etp_status etp_run_expect(const char *dir, etp_error *err)
{
    if (etp_run_is(dir)) {
        return ETP_OK;
    }
    if (!etp_os_is_dir(dir) && !etp_os_is_file(dir)) {
        etp_file file; // what hinders says so
        ETP_TRY(etp_file_open(dir, UINT64_MAX, &file, err));
        etp_file_close(&file);
    }
    return etp_os_is_dir(dir)
               ? etp_fail(err, ETP_USAGE,
                          "%s is not a run folder (no manifest.json of etprof in it)", dir)
               : etp_fail(err, ETP_USAGE,
                          "%s is a file, not a run folder; 'etprof validate FILE' looks at one",
                          dir);
}

typedef etp_status (*part_reader)(etp_str text, etp_arena *arena, etp_run *run, etp_error *err);

static etp_status read_file(const char *dir, const char *name, size_t limit, bool optional,
                            part_reader read, etp_arena *arena, etp_run *run, etp_error *err)
{
    const char *path = etp_run_path(arena, dir, etp_str_from(name));
    if (optional && !etp_os_is_file(path)) {
        return ETP_OK;
    }
    etp_file file;
    ETP_TRY(etp_file_open(path, limit, &file, err));
    etp_str text = {(const char *)file.bytes.ptr, file.bytes.len};
    etp_status status = read(text, arena, run, err);
    etp_file_close(&file);
    if (status != ETP_OK) {
        etp_fail_ctx(err, "%s", path);
    }
    return status;
}

// Reads one file of the folder with READ, which has it mapped and its JSON in memory meanwhile. An
// absent one is fine when OPTIONAL.
static etp_status read_part(const char *dir, const char *name, size_t limit, bool optional,
                            part_reader read, etp_arena *arena, etp_run *run, etp_error *err)
{
    ETP_UNGUARDED(arena, read_file(dir, name, limit, optional, read, arena, run, err));
}

static int by_name(const void *key, const void *entry)
{
    return strcmp(key, ((const etp_dir_entry *)entry)->name);
}

// What lies in ARM's folder under NAME, which begins with the folder's.
static const etp_dir_entry *entry_of(const etp_dir_list *list, const char *name,
                                     const etp_run_arm *arm)
{
    return name ? bsearch(name + arm->name.len + 1, list->items, list->n, sizeof *list->items,
                          by_name)
                : NULL;
}

// Looked up in the list of what is there: a manifest may speak of many more than the disk has.
static etp_status find_dumps_of(const char *dir, uint32_t arm, etp_arena *scratch, etp_arena *arena,
                                etp_run *run, etp_error *err)
{
    const etp_run_arm *a = &run->arms.items[arm];
    const char *folder = etp_run_path(scratch, dir, a->name);
    etp_dir_list list = {0};
    ETP_NEED(folder, err, "dumps");
    if (!etp_os_is_dir(folder)) {
        return ETP_OK;
    }
    ETP_TRY(etp_os_list(folder, scratch, &list, err));
    for (uint32_t block = 1; list.n > 0 && block <= run->blocks_done; block++) {
        const char *name = etp_run_dump_name(scratch, a, block, ".etdump");
        const etp_dir_entry *e = entry_of(&list, name, a);
        if (!e) {
            name = etp_arena_printf(scratch, "%s" ETP_OS_PACKED, name);
            e = entry_of(&list, name, a);
        }
        if (e && !e->is_dir) {
            const char *path = etp_arena_strdup(arena, etp_str_from(name));
            etp_run_dump d = {arm, block, etp_str_from(path)};
            ETP_ADD(arena, &run->dumps, d);
        }
    }
    return etp_arena_check(scratch, err, "dumps");
}

etp_status etp_run_open_manifest(const char *dir, etp_arena *arena, etp_run *out, etp_error *err)
{
    *out = (etp_run){.dir = etp_str_from(etp_arena_strdup(arena, etp_str_from(dir)))};
    if (!etp_os_is_dir(dir)) {
        return etp_fail(err, ETP_IO, "%s is not a folder", dir);
    }
    ETP_TRY(etp_run_check_members(dir, err));
    etp_status st = read_part(dir, ETP_RUN_MANIFEST, ETP_RUN_MANIFEST_LIMIT, false,
                              etp_run_manifest_read, arena, out, err);
    ETP_TRY(etp_arena_check(arena, err, ETP_RUN_MANIFEST)); // before what is missing is a fault
    return st;
}

etp_status etp_run_open(const char *dir, etp_arena *arena, etp_run *out, etp_error *err)
{
    ETP_TRY(etp_run_open_manifest(dir, arena, out, err));
    bool empty = out->blocks_done == 0;
    ETP_TRY(read_part(dir, ETP_RUN_SAMPLES, ETP_RUN_ROWS_LIMIT, empty, etp_run_samples_read, arena,
                      out, err));
    ETP_TRY(read_part(dir, ETP_RUN_ENVIRONMENT, ETP_RUN_ROWS_LIMIT, empty, etp_run_environment_read,
                      arena, out, err));
    for (uint32_t arm = 0; arm < out->arms.n; arm++) {
        etp_arena scratch;
        etp_arena_scratch(&scratch, arena);
        etp_status st = find_dumps_of(dir, arm, &scratch, arena, out, err);
        etp_arena_dispose(&scratch);
        ETP_TRY(st);
    }
    return etp_arena_check(arena, err, "the run folder");
}

etp_status etp_run_file_is(const etp_run *run, const etp_run_file *f, const char *path, bool *out,
                           etp_error *err)
{
    char hex[ETP_SHA256_HEX_CHARS];
    etp_file file;
    ETP_TRY(etp_file_open(path, UINT64_MAX, &file, err));
    bool longer = file.bytes.len > f->bytes && etp_run_grows(run, f->path);
    size_t bytes = longer ? (size_t)f->bytes : file.bytes.len;
    etp_sha256_of(file.bytes.ptr, bytes, hex);
    etp_file_close(&file);
    *out = bytes == f->bytes && etp_str_eqz(f->sha256, hex);
    return ETP_OK;
}

bool etp_run_has_hashes(const etp_run *run)
{
    return run->blocks_done == 0 || etp_run_recorded(run, ETP_RUN_SAMPLES);
}

etp_status etp_run_check_files(const etp_run *run, etp_arena *arena, const char **out_bad,
                               etp_error *err)
{
    const char *bad = NULL;
    etp_status status = ETP_OK;
    const char *dir = etp_arena_strdup(arena, run->dir);
    if (!etp_run_has_hashes(run)) {
        bad = etp_run_path(arena, dir, ETP_STR(ETP_RUN_SAMPLES));
        status = etp_fail(err, ETP_NO, "the manifest has no hash of %s", bad);
    }
    for (size_t i = 0; i < run->files.n && !bad; i++) {
        const etp_run_file *f = &run->files.items[i];
        bool same = false;
        const char *path = etp_run_path(arena, dir, f->path);
        etp_status st = etp_run_file_is(run, f, path, &same, err);
        if (st == ETP_NOMEM) {
            return st;
        }
        if (st != ETP_OK) {
            bad = path;
            status = ETP_NO;
            if (err) {
                err->status = ETP_NO;
            }
        } else if (!same) {
            bad = path;
            status = etp_fail(err, ETP_NO, "%s is not what was recorded", path);
        }
    }
    if (out_bad) {
        *out_bad = bad;
    }
    return status;
}
