// SPDX-License-Identifier: Apache-2.0
// Statements without rows, and what an answer of SQLite's means.
#include <string.h>

#include "archive/internal.h"

// SQLite has one code for all failures of the system. Which call it was tells a full disk from one
// that cannot be read.
static bool writes(int extended)
{
    switch (extended) {
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMMAP:
        return true;
    default:
        return false;
    }
}

etp_status etp_archive_fail(const etp_archive *a, int code, etp_error *err)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return ETP_OK;
    case SQLITE_NOMEM:
        return etp_fail_nomem(err, "the store of sessions");
    case SQLITE_NOTADB:
        return etp_fail(err, ETP_CORRUPT,
                        "%s is no SQLite file, so no store of etprof; it is left as it is: name "
                        "another file with --store or ETPROF_STORE",
                        a->path);
    case SQLITE_CORRUPT:
        return etp_fail(err, ETP_CORRUPT,
                        "%s is damaged (%s): move it away, and 'etprof history rebuild FOLDER...' "
                        "makes it again from the run folders",
                        a->path, sqlite3_errmsg(a->db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return etp_fail(err, ETP_IO, "%s: another process has been writing to it for %d s", a->path,
                        ETP_ARCHIVE_WAIT_MS / 1000);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return etp_fail(err, ETP_IO, "%s cannot be written: %s", a->path, sqlite3_errmsg(a->db));
    case SQLITE_FULL:
        return etp_fail(err, ETP_IO, "%s cannot grow: the disk is full", a->path);
    case SQLITE_IOERR: // of the system's own number nothing is left by now
        return writes(sqlite3_extended_errcode(a->db))
                   ? etp_fail(err, ETP_IO,
                              "%s could not be written (%s): is the disk, a quota or a limit of "
                              "file sizes reached?",
                              a->path, sqlite3_errmsg(a->db))
                   : etp_fail(err, ETP_IO, "reading %s failed (%s)", a->path,
                              sqlite3_errmsg(a->db));
    case SQLITE_CANTOPEN: {
        int number = a->db ? sqlite3_system_errno(a->db) : 0;
        return etp_fail(err, ETP_IO, "cannot open %s: %s", a->path,
                        number ? strerror(number) : "SQLite says no more");
    }
    default:
        return etp_fail(err, ETP_IO, "%s: %s", a->path,
                        a->db ? sqlite3_errmsg(a->db) : sqlite3_errstr(code));
    }
}

etp_status etp_archive_run(const etp_archive *a, const char *sql, etp_error *err)
{
    return etp_archive_fail(a, sqlite3_exec(a->db, sql, NULL, NULL, NULL), err);
}

etp_status etp_archive_number(const etp_archive *a, const char *sql, int64_t *out, etp_error *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(a->db, sql, -1, &s, NULL);
    code = code == SQLITE_OK ? sqlite3_step(s) : code;
    *out = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    etp_status st = etp_archive_fail(a, code, err);
    (void)sqlite3_finalize(s);
    return st;
}

etp_status etp_archive_end(const etp_archive *a, etp_status so_far, etp_error *err)
{
    if (so_far == ETP_OK) {
        so_far = etp_archive_run(a, "COMMIT", err);
    }
    if (so_far != ETP_OK) {
        (void)sqlite3_exec(a->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return so_far;
}
