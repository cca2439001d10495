// SPDX-License-Identifier: Apache-2.0
// Tests of the os room against the real system: children are bounded and leave nobody behind.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define FOLDER "os-process-test"
#include "fixture.h"

typedef struct ran {
    etp_process p;
    etp_str out, err_text;
    etp_status status;
    etp_error err;
} ran;

static ran capture(fixture *f, const char *script, uint64_t seconds)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const set[] = {"ETP_TEST_A=1 2", NULL};
    const char *const unset[] = {"HOME", NULL};
    const etp_process_spec spec = {.argv = argv, .cwd = f->dir, .env_set = set, .env_unset = unset};
    ran r;
    r.status = etp_process_capture(&spec, seconds * SECOND, 1000, &f->arena, &r.p, &r.out,
                                   &r.err_text, &r.err);
    return r;
}

static void a_child_gets_its_arguments_environment_and_folder(void **state)
{
    fixture *f = *state;
    ran r = capture(f, "echo \"$ETP_TEST_A\" ${HOME-none}; pwd; echo oops >&2; exit 3", 60);
    assert_int_equal(r.status, ETP_OK);
    const char *dir = etp_os_absolute(f->dir, &f->arena);
    const char *expected = etp_arena_printf(&f->arena, "1 2 none\n%s\n", dir);
    assert_true(etp_str_eqz(r.out, expected));
    assert_true(etp_str_eqz(r.err_text, "oops\n"));
    assert_true(r.p.ended);
    assert_int_equal(r.p.exit_code, 3);
    assert_int_equal(r.p.signal, 0);
}

// Of the program alone: what the maker holds when it forks is not the program's.
static void peak_memory_is_that_of_the_program(void **state)
{
    const size_t held = (size_t)64 << 20;
    char *ours = malloc(held);
    assert_non_null(ours);
    memset(ours, 1, held);
    ran r = capture(*state, "exit 0", 60);
    assert_int_equal(r.status, ETP_OK);
    assert_true(r.p.usage.peak_rss_bytes < held);
    r = capture(*state, "exec dd if=/dev/zero of=/dev/null bs=256M count=1", 60);
    assert_int_equal(r.status, ETP_OK);
    assert_true(r.p.usage.peak_rss_bytes > (uint64_t)256 << 20);
    assert_true(r.p.usage.peak_rss_bytes < (uint64_t)320 << 20);
    free(ours);
}

// At once: it does not go on until the time is over.
static void output_beyond_the_limit_is_an_error(void **state)
{
    uint64_t begin = etp_os_now_ns();
    static const char *const k_endless[] = {"exec yes", "exec yes >&2"};
    for (size_t i = 0; i < 2; i++) {
        ran r = capture(*state, k_endless[i], 60);
        assert_int_equal(r.status, ETP_CHILD);
        assert_non_null(strstr(r.err.msg, "wrote more than"));
        assert_true(r.out.len <= 1000 && r.err_text.len <= 1000);
    }
    assert_true(etp_os_now_ns() - begin < 30 * (uint64_t)SECOND);
    ran r = capture(*state, "printf %1000s x", 60);
    assert_int_equal(r.status, ETP_OK);
    assert_int_equal(r.out.len, 1000);
}

static void a_signal_is_told_from_an_exit(void **state)
{
    ran r = capture(*state, "kill -SEGV $$", 60);
    assert_int_equal(r.status, ETP_OK);
    assert_int_equal(r.p.signal, SIGSEGV);
}

static void a_program_that_cannot_start_is_named(void **state)
{
    etp_process p;
    etp_error err;
    const char *const missing[] = {"/nonexistent/program", NULL};
    etp_process_spec spec = {.argv = missing};
    assert_int_equal(etp_process_start(&spec, &p, &err), ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "/nonexistent/program"));
    assert_int_equal(err.os_errno, ENOENT);
    etp_process_dispose(&p);
    const char *text = in_dir(*state, "no-program");
    assert_int_equal(etp_os_write_atomic(text,
                                         ETP_STR("\x7f"
                                                 "ELFgarbage"),
                                         &err),
                     ETP_OK);
    assert_int_equal(chmod(text, 0755), 0);
    const char *const wrong[] = {text, NULL};
    spec.argv = wrong;
    assert_int_equal(etp_process_start(&spec, &p, &err), ETP_ENVIRONMENT);
    assert_int_equal(err.os_errno, ENOEXEC);
}

static bool gone(int64_t pid)
{
    for (int i = 0; i < 200; i++) { // an orphan's death takes a moment to be collected
        if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
            return true;
        }
        char path[64];
        snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
        FILE *stat_file = fopen(path, "re");
        char line[256] = "";
        if (stat_file) {
            if (!fgets(line, sizeof line, stat_file)) {
                line[0] = '\0';
            }
            fclose(stat_file);
        }
        if (strstr(line, ") Z ")) { // dead, its new parent has not looked yet
            return true;
        }
        etp_os_sleep_ns(5000000);
    }
    return false;
}

static void a_hanging_child_is_killed_with_its_children(void **state)
{
    uint64_t start = etp_os_now_ns();
    // The grandchild ignores the end of its input and of its parent.
    ran r = capture(*state, "trap '' TERM HUP INT; sleep 60 & echo $!; wait", 3);
    assert_int_equal(r.status, ETP_CHILD);
    assert_true(etp_os_now_ns() - start < 30 * (uint64_t)SECOND);
    assert_int_equal(r.p.signal, SIGKILL);
    assert_true(gone(atol(r.out.ptr)));
}

static void what_a_child_leaves_behind_is_ended(void **state)
{
    ran r = capture(*state, "sleep 60 </dev/null >/dev/null 2>&1 & echo $!", 60);
    assert_int_equal(r.status, ETP_OK);
    assert_int_equal(r.p.exit_code, 0);
    assert_true(gone(atol(r.out.ptr)));
}

static void a_child_dies_with_a_killed_parent(void **state)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t middle = fork();
    if (middle == 0) { // stands for etprof, and is killed like kill -9 does
        const char *const argv[] = {"/bin/sleep", "60", NULL};
        const etp_process_spec spec = {.argv = argv};
        etp_process p;
        int64_t pid = etp_process_start(&spec, &p, NULL) == ETP_OK ? p.pid : 0;
        ssize_t n = write(fds[1], &pid, sizeof pid);
        (void)n;
        raise(SIGKILL);
    }
    int64_t child = 0;
    assert_int_equal(read(fds[0], &child, sizeof child), sizeof child);
    close(fds[0]);
    close(fds[1]);
    waitpid(middle, NULL, 0);
    assert_true(child > 0);
    assert_true(gone(child));
}

// A helper that does all it can to get away: a session of its own, no environment, a parent that is
// gone.
#define ESCAPED "env -i setsid sleep 60 </dev/null >/dev/null 2>&1 & echo $!; "

// The first line that a child prints, as a number.
static int64_t first_number(etp_process *p)
{
    char buf[32] = "";
    size_t got;
    if (etp_process_read(p, 60 * (uint64_t)SECOND, buf, sizeof buf - 1, &got) != ETP_PROCESS_OUT) {
        return 0;
    }
    return atol(buf);
}

// Its exec'd form is there: before that it is still its parent's image, in the parent's session.
static bool has_left(int64_t pid)
{
    for (int i = 0; i < 400; i++) {
        if (getsid((pid_t)pid) == (pid_t)pid) {
            return true;
        }
        etp_os_sleep_ns(5000000);
    }
    return false;
}

static void what_escaped_dies_with_a_killed_parent(void **state)
{
    static const char *const k_scripts[] = {
        ESCAPED "wait",          // it has its parent when we die
        ESCAPED "exec sleep 60", // so it has, but a parent that does not know it
        "( " ESCAPED "); cat",   // it was somebody else's
    };
    for (size_t i = 0; i < sizeof k_scripts / sizeof *k_scripts; i++) {
        int fds[2];
        assert_int_equal(pipe(fds), 0);
        pid_t middle = fork();
        if (middle == 0) {
            const char *const argv[] = {"/bin/sh", "-c", k_scripts[i], NULL};
            const etp_process_spec spec = {.argv = argv};
            etp_process p;
            int64_t pid = etp_process_start(&spec, &p, NULL) == ETP_OK ? first_number(&p) : 0;
            pid = has_left(pid) ? pid : 0;
            ssize_t n = write(fds[1], &pid, sizeof pid);
            (void)n;
            raise(SIGKILL);
        }
        int64_t helper = 0;
        assert_int_equal(read(fds[0], &helper, sizeof helper), sizeof helper);
        close(fds[0]);
        close(fds[1]);
        waitpid(middle, NULL, 0);
        assert_true(helper > 0);
        assert_true(gone(helper));
    }
}

static void what_escaped_ends_as_its_spec_says(void **state)
{
    fixture *f = *state;
    const char *const argv[] = {
        "/bin/sh", "-c", ESCAPED "until [ \"$(cut -d' ' -f6 /proc/$!/stat)\" = $! ]; do :; done",
        NULL};
    etp_process_spec spec = {.argv = argv};
    etp_str out, err_text;
    for (int leaves = ETP_PROCESS_LEAVES_NOTHING; leaves <= ETP_PROCESS_LEAVES_OTHERS; leaves++) {
        etp_process p;
        spec.leaves = (etp_process_leaves)leaves;
        assert_int_equal(etp_process_capture(&spec, 60 * (uint64_t)SECOND, 1000, &f->arena, &p,
                                             &out, &err_text, NULL),
                         ETP_OK);
        int64_t helper = atol(out.ptr);
        assert_true(helper > 0);
        assert_int_equal(kill((pid_t)helper, 0) == 0, leaves != ETP_PROCESS_LEAVES_NOTHING);
        etp_process_dispose(&p);
        assert_int_equal(kill((pid_t)helper, 0) == 0, leaves == ETP_PROCESS_LEAVES_OTHERS);
        if (leaves == ETP_PROCESS_LEAVES_OTHERS) {
            assert_int_equal(kill((pid_t)helper, SIGKILL), 0);
        }
    }
}

static void a_killed_supervisor_takes_its_child_along(void **state)
{
    const char *const argv[] = {"/bin/sleep", "60", NULL};
    const etp_process_spec spec = {.argv = argv};
    etp_process p;
    assert_int_equal(etp_process_start(&spec, &p, NULL), ETP_OK);
    int64_t pid = p.pid;
    assert_int_equal(kill((pid_t)p.supervisor, SIGKILL), 0);
    assert_true(etp_process_wait(&p, 30 * (uint64_t)SECOND));
    assert_int_equal(p.signal, SIGKILL);
    etp_process_dispose(&p);
    assert_true(gone(pid));
}

// nohup and some daemons start us so.
static void an_ignored_sigchld_hides_no_exit_code(void **state)
{
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    ran r = capture(*state, "exit 3", 60);
    signal(SIGCHLD, before);
    assert_int_equal(r.status, ETP_OK);
    assert_int_equal(r.p.exit_code, 3);
}

// A stopped supervisor, and a child that the supervisor's stop left without anybody to end it.
static void a_stopped_supervisor_is_woken(void **state)
{
    const char *const argv[] = {"/bin/sleep", "60", NULL};
    const etp_process_spec spec = {.argv = argv};
    etp_process p;
    assert_int_equal(etp_process_start(&spec, &p, NULL), ETP_OK);
    int64_t pid = p.pid;
    assert_int_equal(kill((pid_t)p.supervisor, SIGSTOP), 0);
    etp_process_dispose(&p);
    assert_true(gone(pid));
}

static void conversation_over_pipes(void **state)
{
    const char *const argv[] = {"/bin/cat", NULL};
    const etp_process_spec spec = {.argv = argv};
    etp_process p;
    etp_error err;
    char buf[64];
    size_t got;
    assert_int_equal(etp_process_start(&spec, &p, &err), ETP_OK);
    assert_int_equal(etp_process_read(&p, SECOND / 50, buf, sizeof buf, &got), ETP_PROCESS_TIMEOUT);
    assert_int_equal(etp_process_write(&p, ETP_STR("ping"), SECOND, &err), ETP_OK);
    assert_int_equal(etp_process_read(&p, 60 * (uint64_t)SECOND, buf, sizeof buf, &got),
                     ETP_PROCESS_OUT);
    assert_int_equal(got, 4);
    assert_memory_equal(buf, "ping", 4);
    assert_false(etp_process_wait(&p, SECOND / 50));
    etp_process_close_input(&p);
    assert_int_equal(etp_process_read(&p, 60 * (uint64_t)SECOND, buf, sizeof buf, &got),
                     ETP_PROCESS_EOF);
    assert_true(etp_process_wait(&p, 30 * (uint64_t)SECOND));
    assert_int_equal(p.exit_code, 0);
    // Writing to the dead: an error, not a SIGPIPE that ends the test.
    assert_int_equal(etp_process_write(&p, ETP_STR("x"), SECOND, &err), ETP_CHILD);
    etp_process_dispose(&p);
}

static void writing_to_a_child_that_left_is_an_error(void **state)
{
    const char *const argv[] = {"/bin/sh", "-c", "exec <&-; sleep 60", NULL};
    const etp_process_spec spec = {.argv = argv};
    etp_process p;
    etp_error err;
    assert_int_equal(etp_process_start(&spec, &p, &err), ETP_OK);
    etp_status st = ETP_OK;
    for (int i = 0; i < 200 && st == ETP_OK; i++) {
        st = etp_process_write(&p, ETP_STR("x"), SECOND, &err);
        etp_os_sleep_ns(10000000);
    }
    assert_int_equal(st, ETP_CHILD);
    assert_int_equal(err.os_errno, EPIPE);
    int64_t pid = p.pid;
    etp_process_dispose(&p);
    etp_process_dispose(&p); // twice is fine
    assert_true(gone(pid));
}

static void descriptors_do_not_leak(void **state)
{
    int before = dup(0);
    close(before);
    for (int i = 0; i < 20; i++) {
        etp_process p;
        assert_int_equal(capture(*state, "exit 0", 60).status, ETP_OK);
        const char *const missing[] = {"/nonexistent/program", NULL};
        const etp_process_spec spec = {.argv = missing};
        assert_int_equal(etp_process_start(&spec, &p, NULL), ETP_ENVIRONMENT);
    }
    int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}
