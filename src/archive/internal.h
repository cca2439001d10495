// SPDX-License-Identifier: Apache-2.0
// Private to the files of the store of sessions.
#ifndef ETP_ARCHIVE_INTERNAL_H
#define ETP_ARCHIVE_INTERNAL_H

#include <sqlite3.h>

#include "archive/archive.h"

struct etp_archive {
    etp_arena arena;
    sqlite3 *db;
    const char *path;
};

#define ETP_ARCHIVE_WAIT_MS 10000 // for another writer: an entry takes milliseconds

// sql.c: what SQLite said about the file, in words; ETP_OK for SQLITE_OK, _ROW and _DONE.
ETP_NODISCARD etp_status etp_archive_fail(const etp_archive *a, int code, etp_error *err);
// Statements without values.
ETP_NODISCARD etp_status etp_archive_run(const etp_archive *a, const char *sql, etp_error *err);
ETP_NODISCARD etp_status etp_archive_number(const etp_archive *a, const char *sql, int64_t *out,
                                            etp_error *err);
// Ends a transaction: COMMIT, or ROLLBACK unless SO_FAR is ETP_OK.
ETP_NODISCARD etp_status etp_archive_end(const etp_archive *a, etp_status so_far, etp_error *err);

// schema.c: SCRIPTS[v] leads from version v to v + 1. All of them or none.
extern const char *const k_etp_archive_scripts[ETP_ARCHIVE_SCHEMA];
ETP_NODISCARD etp_status etp_archive_migrate(const etp_archive *a, const char *const *scripts,
                                             int n, etp_error *err);
#endif
