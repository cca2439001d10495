// SPDX-License-Identifier: Apache-2.0
// Opening the store, and what can be wrong with a file.
#include <string.h>

#include "archive/internal.h"
#include "base/path.h"
#include "os/os.h"

bool etp_archive_built(void)
{
    return true;
}

// A name of SQLite's for a path: what its form gives a meaning to is written as %XX.
static const char *name_of(const char *path, const char *how, etp_arena *arena)
{
    etp_strbuf name;
    etp_strbuf_init(&name, arena);
    etp_strbuf_appendz(&name, path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p)) {
            etp_strbuf_printf(&name, "%%%02X", (unsigned)(unsigned char)*p);
        } else {
            etp_strbuf_append(&name, (etp_str){p, 1});
        }
    }
    etp_strbuf_appendz(&name, how);
    return name.failed ? NULL : name.ptr;
}

// SQLite opens lazily, so the schema is asked for at once: a file that is none says so here and not
// in the midst of an entry. NOMUTEX, because a store is used by one thread at a time.
static etp_status connect(etp_archive *a, const char *how, int flags, etp_error *err)
{
    (void)sqlite3_close(a->db);
    a->db = NULL;
    const char *name = name_of(a->path, how, &a->arena);
    ETP_NEED(name, err, "the store of sessions");
    int code = sqlite3_open_v2(name, &a->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_busy_timeout(a->db, ETP_ARCHIVE_WAIT_MS);
        // The file is not ours before it was asked: nothing in it is run.
        (void)sqlite3_db_config(a->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        (void)sqlite3_db_config(a->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        code = sqlite3_exec(a->db, "PRAGMA schema_version", NULL, NULL, NULL);
    }
    return etp_archive_fail(a, code, err);
}

static etp_status open_to_read(etp_archive *a, etp_error *err)
{
    int64_t version;
    etp_status st = connect(a, "", SQLITE_OPEN_READONLY, err);
    int code = st == ETP_IO ? sqlite3_errcode(a->db) & 0xff : SQLITE_OK;
    if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY) {
        // Beside a file in a folder that cannot be written no index of its log fits.
        st = connect(a, "?immutable=1", SQLITE_OPEN_READONLY, err);
    }
    if (st == ETP_OK) {
        st = etp_archive_number(a, "PRAGMA user_version", &version, err);
    }
    // Only to bring an older schema up to date does reading ask for more than to read.
    if (st == ETP_OK && version < ETP_ARCHIVE_SCHEMA && etp_os_is_writable(a->path)) {
        st = connect(a, "", SQLITE_OPEN_READWRITE, err);
    }
    return st;
}

static etp_status make_folder(const etp_archive *a, etp_error *err)
{
    const etp_str above = etp_path_folder(a->path);
    if (above.len == 0) {
        return ETP_OK;
    }
    etp_arena arena = {0};
    const char *folder = etp_arena_strdup(&arena, above);
    etp_status st = etp_os_mkdirs(folder, err);
    etp_arena_dispose(&arena);
    return st;
}

static etp_status open_file(etp_archive *a, etp_archive_use use, etp_error *err)
{
    if (etp_os_is_dir(a->path) || (!etp_os_is_file(a->path) && etp_os_is_other(a->path))) {
        return etp_fail(err, ETP_IO, "%s is no file; a store of sessions is one", a->path);
    }
    if (use == ETP_ARCHIVE_READ) {
        ETP_TRY(open_to_read(a, err));
    } else {
        ETP_TRY(make_folder(a, err));
        ETP_TRY(connect(a, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err));
    }
    ETP_TRY(etp_archive_migrate(a, k_etp_archive_scripts, ETP_ARCHIVE_SCHEMA, err));
    // A run folder can make an entry again: it is enough that a crash leaves the file whole.
    return use == ETP_ARCHIVE_WRITE ? etp_archive_run(a, "PRAGMA synchronous = NORMAL", err)
                                    : ETP_OK;
}

etp_status etp_archive_open(const char *path, etp_archive_use use, etp_archive **out,
                            etp_error *err)
{
    *out = NULL;
    if (use == ETP_ARCHIVE_READ && !etp_os_is_file(path) && !etp_os_is_dir(path) &&
        !etp_os_is_other(path)) {
        return ETP_OK;
    }
    etp_arena arena = {0};
    etp_archive *a = ETP_NEW(&arena, etp_archive);
    ETP_NEED(a, err, "the store of sessions");
    a->arena = arena;
    a->path = etp_arena_strdup(&a->arena, etp_str_from(path));
    etp_status st = etp_arena_check(&a->arena, err, "the store of sessions");
    st = st == ETP_OK ? open_file(a, use, err) : st;
    if (st != ETP_OK) {
        etp_archive_close(a);
        return st;
    }
    *out = a;
    return ETP_OK;
}

void etp_archive_close(etp_archive *a)
{
    if (a) {
        etp_arena arena = a->arena; // A itself lies in it
        (void)sqlite3_close(a->db);
        etp_arena_dispose(&arena);
    }
}
