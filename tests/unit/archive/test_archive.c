// SPDX-License-Identifier: Apache-2.0
// The store of sessions: what is entered comes back, once; files of others and of newer programs
// are left alone. SQLite itself is asked beside the code under test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../folder.h"
#include "archive/internal.h"
#include "made_session.h"

static folder s_folder;

static int set_up(void **state)
{
    (void)state;
    folder_make(&s_folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&s_folder);
    return 0;
}

static etp_archive *opened(const char *path, etp_archive_use use)
{
    etp_error err = ERROR_NONE;
    etp_archive *a = NULL;
    if (etp_archive_open(path, use, &a, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    return a;
}

static etp_archive_added put(etp_archive *a, const etp_archive_session *s, bool again)
{
    etp_error err = ERROR_NONE;
    etp_archive_added added = ETP_ARCHIVE_NOT;
    if (etp_archive_put(a, s, again, &added, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    return added;
}

static int64_t counted(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return n;
}

static etp_archive_list listed(etp_archive *a, const etp_archive_filter *filter)
{
    etp_error err = ERROR_NONE;
    etp_archive_list list;
    if (etp_archive_sessions(a, filter, &s_folder.arena, &list, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    return list;
}

#define SAME(x, y) assert_true(etp_str_eq((x), (y)))

static void comes_back(void **state)
{
    (void)state;
    const char *path = folder_path(&s_folder, "deeper/than/that/sessions.sqlite");
    assert_null(opened(path, ETP_ARCHIVE_READ)); // reading makes no file
    etp_archive *a = opened(path, ETP_ARCHIVE_WRITE);
    etp_archive_session in = made_session(7, 3, 2, &s_folder.arena), out;
    in.comparisons.items[0].withheld = ETP_STR("noise_floor");
    in.comparisons.items[0].estimate = (double)NAN;
    assert_int_equal(put(a, &in, false), ETP_ARCHIVE_NEW);
    etp_archive_close(a);

    a = opened(path, ETP_ARCHIVE_READ);
    bool found = false;
    assert_int_equal(etp_archive_get(a, in.run_id.ptr, &s_folder.arena, &out, &found, NULL),
                     ETP_OK);
    assert_true(found);
    SAME(out.folder, in.folder);
    SAME(out.generated_at, in.generated_at);
    SAME(out.programs, in.programs);
    assert_int_equal(out.config.len, 0);
    assert_int_equal(out.arms.n, MADE_ARMS);
    for (size_t i = 0; i < MADE_ARMS; i++) {
        const etp_archive_arm *x = &in.arms.items[i], *y = &out.arms.items[i];
        SAME(x->experiment, y->experiment);
        assert_true(x->median_ns == y->median_ns && x->peak_rss_bytes == y->peak_rss_bytes);
        assert_int_equal(x->n_blocks, y->n_blocks);
        for (size_t b = 0; b < x->n_blocks; b++) {
            assert_true(x->block_ns[b] == y->block_ns[b]); // every bit
        }
    }
    assert_int_equal(out.comparisons.n, 1);
    SAME(out.comparisons.items[0].withheld, ETP_STR("noise_floor"));
    assert_true(isnan(out.comparisons.items[0].estimate));
    assert_true(isnan(out.comparisons.items[0].sign_flip_p));
    assert_int_equal(out.operators.n, MADE_ARMS * MADE_OPERATORS);
    SAME(out.operators.items[31].label, in.operators.items[31].label);
    assert_int_equal(etp_archive_get(a, "none", &s_folder.arena, &out, &found, NULL), ETP_OK);
    assert_false(found);
    etp_archive_close(a);
    // What other programs are told in docs/history.md.
    assert_int_equal(counted(path, "SELECT count(*) FROM arms, json_each(arms.block_ns)"), 20);
    assert_int_equal(counted(path, "SELECT estimate IS NULL FROM comparisons"), 1);
}

static void once(void **state)
{
    (void)state;
    const char *path = folder_path(&s_folder, "sessions.sqlite");
    etp_archive *a = opened(path, ETP_ARCHIVE_WRITE);
    etp_archive_session s = made_session(1, 3, 2, &s_folder.arena);
    assert_int_equal(put(a, &s, false), ETP_ARCHIVE_NEW);
    assert_int_equal(put(a, &s, false), ETP_ARCHIVE_KNOWN);
    s.folder = ETP_STR("/moved/there");
    assert_int_equal(put(a, &s, false), ETP_ARCHIVE_KNOWN);
    assert_string_equal(listed(a, &(etp_archive_filter){0}).items[0].folder.ptr, "/moved/there");
    s.grade = ETP_STR("B");
    assert_int_equal(put(a, &s, true), ETP_ARCHIVE_RENEWED);
    etp_archive_list list = listed(a, &(etp_archive_filter){0});
    assert_int_equal(list.n, 1);
    assert_string_equal(list.items[0].grade.ptr, "B");

    // The session went on: the same folder and beginning, another manifest.
    etp_archive_session more = s;
    more.run_id = ETP_STR("feed");
    assert_int_equal(put(a, &more, false), ETP_ARCHIVE_RENEWED);
    assert_int_equal(listed(a, &(etp_archive_filter){0}).n, 1);
    // Another session in the place of the first, as on a build server: both stay.
    etp_archive_session next = s;
    next.run_id = ETP_STR("beef");
    next.generated_at = ETP_STR("2026-12-01T00:00:00Z");
    assert_int_equal(put(a, &next, false), ETP_ARCHIVE_NEW);
    assert_int_equal(listed(a, &(etp_archive_filter){0}).n, 2);
    etp_archive_close(a);
    assert_int_equal(counted(path, "SELECT count(*) FROM operators"),
                     2 * MADE_ARMS * MADE_OPERATORS); // nothing is left of what was replaced
}

static void filters(void **state)
{
    (void)state;
    const char *path = folder_path(&s_folder, "sessions.sqlite");
    etp_archive *a = opened(path, ETP_ARCHIVE_WRITE);
    for (unsigned i = 0; i < 60; i++) {
        etp_archive_session s = made_session(i, 3, 2, &s_folder.arena);
        s.emulated = i == 5;
        assert_int_equal(put(a, &s, false), ETP_ARCHIVE_NEW);
    }
    etp_archive_list all = listed(a, &(etp_archive_filter){0});
    assert_int_equal(all.n, 60);
    for (size_t i = 1; i < all.n; i++) { // newest first
        assert_true(etp_str_cmp(all.items[i - 1].generated_at, all.items[i].generated_at) >= 0);
    }
    assert_string_equal(all.items[0].candidate.ptr, "linux_vnni");
    assert_true(all.items[0].estimate == 1.5);
    assert_int_equal(listed(a, &(etp_archive_filter){.model = "model_2"}).n, 20);
    assert_int_equal(listed(a, &(etp_archive_filter){.device = "ssh:device_1"}).n, 30);
    assert_int_equal(listed(a, &(etp_archive_filter){.device = "AMD EPYC 9B45"}).n, 60);
    assert_int_equal(listed(a, &(etp_archive_filter){.model = "model_2' OR 1 --"}).n, 0);
    assert_int_equal(listed(a, &(etp_archive_filter){.since = "2026-01-06"}).n, 30);
    etp_archive_trend trend;
    etp_archive_filter one = {.model = "model_2", .device = "ssh:device_1"};
    assert_int_equal(etp_archive_points(a, &one, &s_folder.arena, &trend, NULL), ETP_OK);
    assert_int_equal(trend.n, 9 * MADE_ARMS); // without the emulated one
    assert_false(trend.items[0].compared);
    assert_true(trend.items[1].compared && trend.items[1].estimate == 1.5);
    assert_true(etp_str_cmp(trend.items[0].generated_at, trend.items[2].generated_at) < 0);
    etp_archive_close(a);
}

// What stands in the file before and after.
static void refused(const char *name, etp_status expected, const char *words)
{
    const char *path = folder_path(&s_folder, name);
    etp_str before = folder_read(&s_folder, name);
    for (int use = ETP_ARCHIVE_READ; use <= ETP_ARCHIVE_WRITE; use++) {
        etp_error err = ERROR_NONE;
        etp_archive *a = NULL;
        assert_int_equal(etp_archive_open(path, (etp_archive_use)use, &a, &err), expected);
        assert_null(a);
        if (!strstr(err.msg, words)) {
            fail_msg("'%s' lacks '%s'", err.msg, words);
        }
    }
    SAME(before, folder_read(&s_folder, name));
}

static void changed_by(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void foreign(void **state)
{
    (void)state;
    changed_by(folder_path(&s_folder, "other.sqlite"),
               "CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x')");
    refused("other.sqlite", ETP_UNSUPPORTED, "another program");
    changed_by(folder_path(&s_folder, "marked.sqlite"), "PRAGMA application_id = 77");
    refused("marked.sqlite", ETP_UNSUPPORTED, "another program");
    assert_int_equal(etp_os_write_atomic(folder_path(&s_folder, "letter.txt"),
                                         ETP_STR("Dear Sir or Madam, this is no database."), NULL),
                     ETP_OK);
    refused("letter.txt", ETP_CORRUPT, "no SQLite file");
    etp_error err = ERROR_NONE;
    etp_archive *a = NULL;
    assert_int_equal(etp_archive_open(s_folder.path, ETP_ARCHIVE_WRITE, &a, &err), ETP_IO);
    assert_non_null(strstr(err.msg, "is no file"));
}

static void newer(void **state)
{
    (void)state;
    const char *path = folder_path(&s_folder, "sessions.sqlite");
    etp_archive *a = opened(path, ETP_ARCHIVE_WRITE);
    etp_archive_session s = made_session(1, 3, 2, &s_folder.arena);
    put(a, &s, false);
    etp_archive_close(a);
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", ETP_ARCHIVE_SCHEMA + 1);
    changed_by(path, sql);
    refused("sessions.sqlite", ETP_UNSUPPORTED, "newer etprof");
    assert_int_equal(counted(path, "SELECT count(*) FROM sessions"), 1);
}

static void torn(void **state)
{
    (void)state;
    const char *path = folder_path(&s_folder, "sessions.sqlite");
    etp_archive *a = opened(path, ETP_ARCHIVE_WRITE);
    for (unsigned i = 0; i < 40; i++) {
        etp_archive_session s = made_session(i, 3, 2, &s_folder.arena);
        put(a, &s, false);
    }
    etp_archive_close(a);
    assert_int_equal(truncate(path, 4096 * 3), 0);
    etp_error err = ERROR_NONE;
    etp_status st = etp_archive_open(path, ETP_ARCHIVE_WRITE, &a, &err);
    etp_archive_list list;
    if (st == ETP_OK) { // its first pages are sound
        st = etp_archive_sessions(a, &(etp_archive_filter){0}, &s_folder.arena, &list, &err);
        etp_archive_close(a);
    }
    assert_int_equal(st, ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "history rebuild"));
}

// Versions of a schema that there is not: each script once, and all of them or none.
static void migrates(void **state)
{
    (void)state;
    static const char *const k_steps[] = {"CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y",
                                          "CREATE TABLE b (z)"};
    static const char *const k_wrong[] = {"CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y",
                                          "CREATE TABLE b (z)", "CREATE TABLE c (x); NOT SQL"};
    etp_archive a = {.path = folder_path(&s_folder, "m.sqlite")};
    assert_int_equal(sqlite3_open(a.path, &a.db), SQLITE_OK);
    int64_t n;
    assert_int_equal(etp_archive_migrate(&a, k_steps, 1, NULL), ETP_OK);
    assert_int_equal(etp_archive_run(&a, "INSERT INTO a VALUES (5)", NULL), ETP_OK);
    assert_int_equal(etp_archive_migrate(&a, k_steps, 3, NULL), ETP_OK);
    assert_int_equal(etp_archive_number(&a, "SELECT count(*) FROM a WHERE y IS NULL", &n, NULL),
                     ETP_OK);
    assert_int_equal(n, 1);
    assert_int_not_equal(etp_archive_migrate(&a, k_wrong, 4, NULL), ETP_OK);
    assert_int_equal(etp_archive_number(&a, "PRAGMA user_version", &n, NULL), ETP_OK);
    assert_int_equal(n, 3);
    assert_int_equal(
        etp_archive_number(&a, "SELECT count(*) FROM sqlite_master WHERE name = 'c'", &n, NULL),
        ETP_OK);
    assert_int_equal(n, 0);
    assert_int_equal(sqlite3_close(a.db), SQLITE_OK);
}

// A file of the first schema: what was in it is there, and the list says the same as before.
static void first_schema(void **state)
{
    (void)state;
    etp_archive old = {.path = folder_path(&s_folder, "old.sqlite")};
    assert_int_equal(sqlite3_open(old.path, &old.db), SQLITE_OK);
    assert_int_equal(etp_archive_migrate(&old, k_etp_archive_scripts, 1, NULL), ETP_OK);
    assert_int_equal(sqlite3_close(old.db), SQLITE_OK);
    changed_by(old.path,
               "INSERT INTO sessions (run_id, folder, generated_at, emulated, arms, entered_by)"
               " VALUES ('aa', '/a', '2026-01-01', 0, 2, 'x'), ('bb', '/b', '2026-01-02', 0, 2, "
               "'x');"
               "INSERT INTO arms (session, arm, experiment, baseline) VALUES"
               " (1, 0, 'off', 1), (1, 1, 'on', 0), (1, 2, 'more', 0);"
               "INSERT INTO comparisons (session, candidate, baseline, estimate, lo, hi) VALUES"
               " (1, 2, 0, 3.0, 2.9, 3.1), (1, 1, 0, 2.0, 1.9, 2.1)");
    etp_archive *a = opened(old.path, ETP_ARCHIVE_READ); // reading brings it to our schema
    etp_archive_list list = listed(a, &(etp_archive_filter){0});
    assert_int_equal(list.n, 2);
    assert_true(isnan(list.items[0].estimate) && list.items[0].candidate.len == 0);
    assert_string_equal(list.items[1].candidate.ptr, "on");
    assert_true(list.items[1].estimate == 2.0 && list.items[1].hi == 2.1);
    etp_archive_close(a);
    assert_int_equal(counted(old.path, "PRAGMA user_version"), ETP_ARCHIVE_SCHEMA);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {CASE(comes_back), CASE(once),        CASE(filters),
                                       CASE(foreign),    CASE(newer),       CASE(torn),
                                       CASE(migrates),   CASE(first_schema)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
