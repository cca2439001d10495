// SPDX-License-Identifier: Apache-2.0
// The store among faults: processes that write at once or are killed, files that cannot grow or be
// written. Each with real processes; what was entered before is there afterwards, whole.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "../folder.h"
#include "archive/internal.h"
#include "made_session.h"

#define NOBODY 65534

static folder s_folder;
static const char *s_path;

static int set_up(void **state)
{
    (void)state;
    folder_make(&s_folder);
    s_path = folder_path(&s_folder, "sessions.sqlite");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(&s_folder);
    return 0;
}

// Enters sessions FIRST … FIRST + N − 1 and says each in a byte. In a child: its own connection.
static etp_status enter(unsigned first, unsigned n, int tell, etp_error *err)
{
    etp_archive *a;
    ETP_TRY(etp_archive_open(s_path, ETP_ARCHIVE_WRITE, &a, err));
    etp_status st = ETP_OK;
    for (unsigned i = first; st == ETP_OK && i < first + n; i++) {
        etp_arena arena = {0};
        etp_archive_added added;
        etp_archive_session s = made_session(i, 3, 2, &arena);
        st = etp_archive_put(a, &s, false, &added, err);
        etp_arena_dispose(&arena);
        if (st == ETP_OK && tell >= 0 && write(tell, ".", 1) != 1) {
            st = ETP_INTERNAL;
        }
    }
    etp_archive_close(a);
    return st;
}

// A child that ends with 0 when WORK was ETP_OK, else with 1 and its words on standard error.
static pid_t child(unsigned first, unsigned n, int tell)
{
    pid_t pid = fork();
    if (pid == 0) {
        etp_error err = ERROR_NONE;
        etp_status st = enter(first, n, tell, &err);
        if (st != ETP_OK) {
            fprintf(stderr, "%s\n", err.msg);
        }
        _exit(st == ETP_OK ? 0 : 1);
    }
    assert_true(pid > 0);
    return pid;
}

static int ended(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

// SQLite finds the file sound and every session in it whole; how many there are.
static int64_t sound(void)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(s_path, &db), SQLITE_OK);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_integrity_check"
                                " WHERE integrity_check <> 'ok'"),
                     0);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(number(db, "SELECT count(*) FROM sessions s WHERE"
                                " (SELECT count(*) FROM arms WHERE session = s.id) <> 2 OR"
                                " (SELECT count(*) FROM comparisons WHERE session = s.id) <> 1 OR"
                                " (SELECT count(*) FROM operators WHERE session = s.id) <> 60"),
                     0);
    int64_t n = number(db, "SELECT count(*) FROM sessions");
    sqlite3_close(db);
    return n;
}

static void two_writers(void **state)
{
    (void)state;
    // Both also make the file, and a third of the sessions is the same.
    pid_t one = child(0, 150, -1), other = child(100, 150, -1);
    assert_int_equal(ended(one), 0);
    assert_int_equal(ended(other), 0);
    assert_int_equal(sound(), 250);
}

static int other_ends(void *other, int times)
{
    return times == 0 && etp_archive_run(other, "COMMIT", NULL) == ETP_OK;
}

// Looking a session up and entering it are under one lock, which is waited for. A reader that turns
// writer while another writes is refused at once, without being asked whether it would wait.
static void waits_for_the_other(void **state)
{
    (void)state;
    etp_archive *a = NULL, *b = NULL;
    etp_arena arena = {0};
    etp_archive_added added;
    etp_error err = ERROR_NONE;
    etp_archive_session s = made_session(1, 3, 2, &arena);
    assert_int_equal(etp_archive_open(s_path, ETP_ARCHIVE_WRITE, &a, NULL), ETP_OK);
    assert_int_equal(etp_archive_open(s_path, ETP_ARCHIVE_WRITE, &b, NULL), ETP_OK);
    assert_int_equal(etp_archive_run(a, "BEGIN IMMEDIATE", NULL), ETP_OK);
    assert_int_equal(sqlite3_busy_handler(b->db, other_ends, a), SQLITE_OK);
    if (etp_archive_put(b, &s, false, &added, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    etp_archive_close(a);
    etp_archive_close(b);
    etp_arena_dispose(&arena);
    assert_int_equal(sound(), 1);
}

static void killed_writer(void **state)
{
    (void)state;
    unsigned told = 0;
    for (unsigned round = 0; round < 5; round++) {
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        pid_t pid = child(round * 100000, 100000, ends[1]);
        close(ends[1]);
        for (unsigned i = 0; i < 20 + round; i++) {
            assert_int_equal(read(ends[0], &byte, 1), 1);
            told++;
        }
        assert_int_equal(kill(pid, SIGKILL), 0);
        int status = ended(pid); // macOS takes its address
        assert_true(WIFSIGNALED(status));
        while (read(ends[0], &byte, 1) == 1) {
            told++;
        }
        close(ends[0]);
        // What was told to be in is in; the one it was at may be, whole.
        int64_t n = sound();
        assert_true(n >= told && n <= told + round + 1);
    }
    etp_error err = ERROR_NONE;
    if (enter(900000, 3, -1, &err) != ETP_OK) { // and nothing waits for the dead
        fail_msg("%s", err.msg);
    }
}

// Killed while its transaction was open, after a part of the session was written.
static void killed_within(void **state)
{
    (void)state;
    assert_int_equal(enter(0, 3, -1, NULL), ETP_OK);
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        etp_archive *a = NULL;
        bool ok = etp_archive_open(s_path, ETP_ARCHIVE_WRITE, &a, NULL) == ETP_OK &&
                  etp_archive_run(a,
                                  "BEGIN IMMEDIATE; INSERT INTO sessions (run_id, folder, "
                                  "generated_at, emulated, arms, entered_by)"
                                  " VALUES ('half', '/', '', 0, 2, '')",
                                  NULL) == ETP_OK;
        if (!ok || write(ends[1], ".", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(kill(pid, SIGKILL), 0);
    (void)ended(pid);
    close(ends[0]);
    close(ends[1]);
    etp_error err = ERROR_NONE;
    if (enter(10, 2, -1, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(sound(), 5);
}

// No file of this process may grow beyond a limit: as a disk that is full.
static void full(void **state)
{
    (void)state;
    assert_int_equal(enter(0, 5, -1, NULL), ETP_OK);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit most = {300000, 300000};
        etp_error err = ERROR_NONE;
        signal(SIGXFSZ, SIG_IGN);
        bool ok = setrlimit(RLIMIT_FSIZE, &most) == 0;
        etp_status st = ok ? enter(10, 1000, ends[1], &err) : ETP_OK;
        bool words = strstr(err.msg, s_path) &&
                     (strstr(err.msg, "could not be written") || strstr(err.msg, "full"));
        fprintf(stderr, "%s\n", err.msg);
        _exit(st == ETP_IO && words ? 0 : 1);
    }
    close(ends[1]);
    assert_int_equal(ended(pid), 0);
    int64_t told = 0;
    for (char byte; read(ends[0], &byte, 1) == 1;) {
        told++;
    }
    close(ends[0]);
    assert_true(told > 0);
    assert_int_equal(sound(), 5 + told);
    etp_error err = ERROR_NONE;
    if (enter(2000, 2, -1, &err) != ETP_OK) { // there is room again
        fail_msg("%s", err.msg);
    }
    assert_int_equal(sound(), 7 + told);
}

// The disk itself is full: SQLite gets no page more. What was in stays in, and the words say why.
static void no_page_more(void **state)
{
    (void)state;
    assert_int_equal(enter(0, 5, -1, NULL), ETP_OK);
    etp_archive *a = NULL;
    etp_error err = ERROR_NONE;
    int64_t pages;
    char most[64];
    assert_int_equal(etp_archive_open(s_path, ETP_ARCHIVE_WRITE, &a, NULL), ETP_OK);
    assert_int_equal(etp_archive_number(a, "PRAGMA page_count", &pages, NULL), ETP_OK);
    snprintf(most, sizeof most, "PRAGMA max_page_count = %d", (int)pages);
    assert_int_equal(etp_archive_run(a, most, NULL), ETP_OK);
    etp_status st = ETP_OK;
    int64_t entered = 0;
    for (unsigned i = 10; st == ETP_OK && i < 100; i++) {
        etp_arena arena = {0};
        etp_archive_added added;
        etp_archive_session s = made_session(i, 3, 2, &arena);
        st = etp_archive_put(a, &s, false, &added, &err);
        entered += st == ETP_OK;
        etp_arena_dispose(&arena);
    }
    etp_archive_close(a);
    assert_int_equal(st, ETP_IO);
    assert_non_null(strstr(err.msg, "the disk is full"));
    assert_int_equal(sound(), 5 + entered);
    assert_int_equal(enter(2000, 2, -1, NULL), ETP_OK); // there is room again
    assert_int_equal(sound(), 7 + entered);
}

static void only_readable(void **state)
{
    (void)state;
    assert_int_equal(enter(0, 5, -1, NULL), ETP_OK);
    assert_int_equal(chmod(s_path, 0444), 0);
    assert_int_equal(chmod(s_folder.path, 0555), 0);
    pid_t pid = fork();
    if (pid == 0) {
        etp_error err = ERROR_NONE;
        etp_arena arena = {0};
        etp_archive *a = NULL;
        etp_archive_list list = {0};
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(2);
        }
        etp_status st = enter(10, 1, -1, &err);
        bool refuses = st == ETP_IO && strstr(err.msg, s_path);
        fprintf(stderr, "%s\n", err.msg);
        bool reads =
            etp_archive_open(s_path, ETP_ARCHIVE_READ, &a, &err) == ETP_OK && a &&
            etp_archive_sessions(a, &(etp_archive_filter){0}, &arena, &list, &err) == ETP_OK;
        if (!reads) {
            fprintf(stderr, "%s\n", err.msg);
        }
        etp_archive_close(a);
        etp_arena_dispose(&arena);
        _exit(refuses && reads && list.n == 5 ? 0 : 1);
    }
    int status = ended(pid);
    assert_int_equal(chmod(s_folder.path, 0755), 0);
    assert_int_equal(status, 0);
    assert_int_equal(sound(), 5);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(two_writers), CASE(waits_for_the_other), CASE(killed_writer), CASE(killed_within),
        CASE(full),        CASE(no_page_more),        CASE(only_readable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
