// SPDX-License-Identifier: Apache-2.0
// The tables of the store, version by version. A version that was released is never changed: what
// is new is one more script.
#include "archive/internal.h"

#define APPLICATION_ID 1702129264 // "etp0", so that `file` and we know whose database it is

// Columns mean what they mean in docs/tables.md; unknown is NULL. The operators of a session are
// most of its rows: they, the arms and the comparisons lie in the order they are asked for.
static const char k_1[] =
    "CREATE TABLE sessions ("
    " id INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, folder TEXT NOT NULL,"
    " generated_at TEXT NOT NULL, platform TEXT, device TEXT, cpu TEXT, emulated INTEGER NOT NULL,"
    " models TEXT, programs TEXT, runner_sha256 TEXT, executorch TEXT, etprof TEXT, blocks INTEGER,"
    " arms INTEGER NOT NULL, grade TEXT, command TEXT, config TEXT, entered_by TEXT NOT NULL);"
    "CREATE INDEX sessions_time ON sessions (generated_at, folder);"
    "CREATE INDEX sessions_folder ON sessions (folder);"
    "CREATE TABLE arms ("
    " session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, arm INTEGER NOT NULL,"
    " phase TEXT, experiment TEXT NOT NULL, level TEXT, threads INTEGER, model TEXT,"
    " model_sha256 TEXT, baseline INTEGER NOT NULL, median_ns REAL, lo_ns REAL, hi_ns REAL,"
    " traced_ns REAL, load_ns REAL, first_ns REAL, peak_rss_bytes REAL, tokens_per_s REAL, "
    "launches INTEGER,"
    " samples INTEGER, proof TEXT, block_ns TEXT, PRIMARY KEY (session, arm)) WITHOUT ROWID;"
    "CREATE INDEX arms_model ON arms (model);"
    "CREATE TABLE comparisons ("
    " session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,"
    " candidate INTEGER NOT NULL, baseline INTEGER NOT NULL, phase TEXT, estimate REAL, lo REAL,"
    " hi REAL, blocks INTEGER, verdict TEXT, withheld TEXT, margin REAL, noise_floor REAL,"
    " sign_flip_p REAL, PRIMARY KEY (session, candidate)) WITHOUT ROWID;"
    "CREATE TABLE operators ("
    " session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, arm INTEGER NOT NULL,"
    " operator INTEGER NOT NULL, id TEXT NOT NULL, label TEXT, category TEXT,"
    " delegated INTEGER NOT NULL, names TEXT, ns REAL, macs REAL, engaged TEXT,"
    " PRIMARY KEY (session, arm, operator)) WITHOUT ROWID;";

// The first comparison once more beside its session: the list is one walk over one table.
static const char k_2[] =
    "ALTER TABLE sessions ADD COLUMN candidate TEXT;"
    "ALTER TABLE sessions ADD COLUMN withheld TEXT;"
    "ALTER TABLE sessions ADD COLUMN estimate REAL;"
    "ALTER TABLE sessions ADD COLUMN lo REAL;"
    "ALTER TABLE sessions ADD COLUMN hi REAL;"
    "UPDATE sessions SET (candidate, withheld, estimate, lo, hi) ="
    " (SELECT r.experiment, c.withheld, c.estimate, c.lo, c.hi FROM comparisons c"
    " JOIN arms r ON r.session = c.session AND r.arm = c.candidate"
    " WHERE c.session = sessions.id ORDER BY c.candidate LIMIT 1)";

const char *const k_etp_archive_scripts[ETP_ARCHIVE_SCHEMA] = {k_1, k_2};

// An empty file (version 0, no id) is a store that begins; a database with another id is somebody
// else's.
static etp_status check(const etp_archive *a, int n, int64_t *version, etp_error *err)
{
    int64_t id, tables;
    ETP_TRY(etp_archive_number(a, "PRAGMA application_id", &id, err));
    ETP_TRY(etp_archive_number(a, "PRAGMA user_version", version, err));
    ETP_TRY(etp_archive_number(a, "SELECT count(*) FROM sqlite_master", &tables, err));
    if (id != APPLICATION_ID && (id != 0 || tables != 0 || *version != 0)) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s is a database of another program, not a store of etprof; it is left as "
                        "it is: name another file with --store or ETPROF_STORE",
                        a->path);
    }
    if (*version > n) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s was written by a newer etprof: its schema is %lld, this one knows %d; "
                        "it is left as it is: use that etprof, or another file (--store)",
                        a->path, (long long)*version, n);
    }
    return ETP_OK;
}

static etp_status steps(const etp_archive *a, const char *const *scripts, int n, etp_error *err)
{
    int64_t version;
    ETP_TRY(check(a, n, &version, err)); // another process may have been faster
    for (; version < n; version++) {
        char now[80];
        sqlite3_snprintf(sizeof now, now, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                         APPLICATION_ID, (int)version + 1);
        ETP_TRY(etp_archive_run(a, scripts[version], err));
        ETP_TRY(etp_archive_run(a, now, err));
    }
    return ETP_OK;
}

etp_status etp_archive_migrate(const etp_archive *a, const char *const *scripts, int n,
                               etp_error *err)
{
    int64_t version;
    // One moment of the file: another process may be making it.
    ETP_TRY(etp_archive_run(a, "BEGIN", err));
    ETP_TRY(etp_archive_end(a, check(a, n, &version, err), err));
    if (version == n) {
        return ETP_OK;
    }
    if (sqlite3_db_readonly(a->db, "main") == 1) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s has schema %lld and cannot be written: etprof brings it to schema %d "
                        "where it can",
                        a->path, (long long)version, n);
    }
    // Readers go on beside a writer then. Where the file system cannot do it, it stays as it was.
    (void)sqlite3_exec(a->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    ETP_TRY(etp_archive_run(a, "BEGIN IMMEDIATE", err));
    return etp_archive_end(a, steps(a, scripts, n, err), err);
}
