// SPDX-License-Identifier: Apache-2.0
// Tests of the os room against the real system: files survive, facts are there, locks hold.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "unit.h"

#define FOLDER "os-test"
#include "base/guard.h"
#include "fixture.h"
#ifdef __linux__
#include "os/linux/proc.h"
#endif

static void small_files_are_read_and_large_ones_mapped(void **state)
{
    fixture *f = *state;
    const char *path = in_dir(f, "file");
    etp_file file;
    etp_error err;
    assert_int_equal(etp_os_write_atomic(path, ETP_STR("hello"), &err), ETP_OK);
    assert_int_equal(etp_file_open(path, 5, &file, &err), ETP_OK);
    assert_int_equal(file.bytes.len, 5);
    assert_memory_equal(file.bytes.ptr, "hello", 5);
    assert_null(file.mapping);
    etp_file_close(&file);
    assert_int_equal(etp_file_open(path, 4, &file, &err), ETP_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "too large"));

    size_t len = (size_t)ETP_OS_MAP_BYTES;
    char *big = etp_arena_alloc_raw(&f->arena, len, 1);
    memset(big, 'x', len);
    assert_int_equal(etp_os_write_atomic(path, (etp_str){big, len}, &err), ETP_OK);
    assert_int_equal(etp_file_open(path, UINT64_MAX, &file, &err), ETP_OK);
    assert_non_null(file.mapping);
    assert_int_equal(file.bytes.len, len);
    assert_int_equal(file.bytes.ptr[len - 1], 'x');
    etp_file_close(&file);
}

static void pipes_and_devices_are_written_to_not_replaced(void **state)
{
    const char *path = in_dir(*state, "fifo");
    char got[8] = "";
    struct stat st;
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(etp_os_write_atomic(path, ETP_STR("hello"), NULL), ETP_OK);
    assert_int_equal(read(fd, got, sizeof got), 5);
    assert_string_equal(got, "hello");
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    close(fd);
}

static void what_is_no_file_is_refused(void **state)
{
    fixture *f = *state;
    etp_file file;
    etp_error err;
    assert_int_equal(etp_file_open(in_dir(f, "absent"), 10, &file, &err), ETP_IO);
    assert_int_equal(err.os_errno, ENOENT);
    assert_int_equal(etp_file_open(f->dir, 10, &file, &err), ETP_IO);
    assert_non_null(strstr(err.msg, "a folder, not a file"));
    const char *fifo = in_dir(f, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(etp_file_open(fifo, 10, &file, &err), ETP_UNSUPPORTED); // and does not wait
}

// `etprof stats <(zcat samples.csv.gz)`: the other end of a pipe writes when it has something.
static void a_pipe_is_read_until_its_writer_ends(void **state)
{
    fixture *f = *state;
    int ends[2];
    char path[32];
    etp_str text;
    etp_error err;
    assert_int_equal(pipe(ends), 0);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        close(ends[0]);
        for (int i = 0; i < 2; i++) {
            usleep(50 * 1000); // the reader comes first, and again between two lines
            if (write(ends[1], "line\n", 5) != 5) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    etp_status read = etp_os_read_text(path, 100, &f->arena, &text, &err);
    close(ends[0]);
    waitpid(writer, NULL, 0);
    assert_int_equal(read, ETP_OK);
    assert_true(etp_str_eqz(text, "line\nline\n"));
}

// "cannot create folder /home: Permission denied" says nothing of what was to be made.
static void a_folder_that_cannot_be_made_is_named_whole(void **state)
{
    fixture *f = *state;
    etp_error err;
    assert_int_equal(etp_os_write_atomic(in_dir(f, "file"), ETP_STR("x"), NULL), ETP_OK);
    const char *part = in_dir(f, "file/a"), *whole = in_dir(f, "file/a/b");
    assert_int_equal(etp_os_mkdirs(whole, &err), ETP_IO);
    assert_non_null(strstr(err.msg, part));
    assert_non_null(strstr(err.msg, whole));
    assert_int_equal(etp_os_mkdirs(part, &err), ETP_IO);
    assert_null(strstr(err.msg, "on the way"));
}

static void append_adds_and_truncate_cuts(void **state)
{
    fixture *f = *state;
    const char *path = in_dir(f, "log");
    etp_str text;
    assert_int_equal(etp_os_append_below(f->dir, "log", ETP_STR("one\n"), NULL), ETP_OK);
    assert_int_equal(etp_os_append_below(f->dir, "log", ETP_STR("two\n"), NULL), ETP_OK);
    assert_int_equal(etp_os_read_text(path, 100, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "one\ntwo\n"));
    assert_int_equal(etp_os_truncate_below(f->dir, "log", 4, NULL), ETP_OK);
    assert_int_equal(etp_os_read_text(path, 100, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "one\n"));
    assert_int_equal(etp_os_read_text(path, 3, &f->arena, &text, NULL), ETP_UNSUPPORTED);
}

static void a_full_disk_keeps_the_old_file(void **state)
{
    fixture *f = *state;
    const char *path = in_dir(f, "log");
    assert_int_equal(etp_os_append_below(f->dir, "log", ETP_STR("0123456789"), NULL), ETP_OK);
    // A size limit of 15 bytes takes the place of a full disk: 5 bytes still fit, then EFBIG.
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 15;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    etp_error append_err, write_err;
    etp_status append =
        etp_os_append_below(f->dir, "log", ETP_STR("aaaaaaaaaaaaaaaaaaaa"), &append_err);
    etp_status atomic = etp_os_write_atomic(path, ETP_STR("bbbbbbbbbbbbbbbbbbbb"), &write_err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(append, ETP_IO);
    assert_int_equal(append_err.os_errno, EFBIG);
    assert_int_equal(atomic, ETP_IO);
    assert_int_equal(write_err.os_errno, EFBIG);
    etp_str text;
    assert_int_equal(etp_os_read_text(path, 100, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "0123456789"));
    etp_dir_list list; // and no temporary file stays
    assert_int_equal(etp_os_list(f->dir, &f->arena, &list, NULL), ETP_OK);
    assert_int_equal(list.n, 1);
}

typedef struct pieces {
    size_t n; // lines of 10 bytes
    etp_status result;
} pieces;

static etp_status fill_pieces(void *ctx, etp_sink *sink, etp_error *err)
{
    pieces *p = ctx;
    for (size_t i = 0; i < p->n; i++) {
        etp_sink_printf(sink, "%09zu\n", i);
    }
    return p->result == ETP_OK ? ETP_OK : etp_fail(err, p->result, "no more pieces");
}

static void content_in_pieces_is_whole_or_not_there(void **state)
{
    fixture *f = *state;
    const char *path = in_dir(f, "pieces");
    etp_error err;
    pieces p = {.n = 20000}; // more than any buffer on the way
    etp_str text;
    assert_int_equal(etp_os_replace_by(path, fill_pieces, &p, &err), ETP_OK);
    assert_int_equal(etp_os_read_text(path, 1 << 20, &f->arena, &text, NULL), ETP_OK);
    assert_int_equal(text.len, 200000);
    assert_memory_equal(text.ptr + 199990, "000019999\n", 10);
    p = (pieces){.n = 3, .result = ETP_CORRUPT};
    assert_int_equal(etp_os_replace_by(path, fill_pieces, &p, &err), ETP_CORRUPT);
    assert_string_equal(err.msg, "no more pieces");
    assert_int_equal(etp_os_read_text(path, 1 << 20, &f->arena, &text, NULL), ETP_OK);
    assert_int_equal(text.len, 200000); // the old one
    etp_dir_list list;
    assert_int_equal(etp_os_list(f->dir, &f->arena, &list, NULL), ETP_OK);
    assert_int_equal(list.n, 1);
}

static void folders_are_made_listed_and_removed(void **state)
{
    fixture *f = *state;
    etp_error err;
    assert_int_equal(etp_os_mkdirs(in_dir(f, "a/b/c"), &err), ETP_OK);
    assert_int_equal(etp_os_mkdirs(in_dir(f, "a/b/c"), &err), ETP_OK);
    assert_int_equal(etp_os_write_atomic(in_dir(f, "a/z"), ETP_STR("12"), &err), ETP_OK);
    assert_int_equal(etp_os_mkdirs(in_dir(f, "a/z"), &err), ETP_IO);
    assert_int_equal(etp_os_mkdirs(in_dir(f, "a/z/y"), &err), ETP_IO);
    etp_dir_list list;
    assert_int_equal(etp_os_list(in_dir(f, "a"), &f->arena, &list, &err), ETP_OK);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.items[0].name, "b");
    assert_true(list.items[0].is_dir);
    assert_string_equal(list.items[1].name, "z");
    assert_int_equal(list.items[1].size, 2);
    bool taken;
    assert_int_equal(etp_os_mkdir_new(in_dir(f, "a"), &taken, &err), ETP_OK);
    assert_true(taken);
    // A link to a folder is removed, the folder behind it stays.
    assert_int_equal(etp_os_mkdirs(in_dir(f, "kept/inner"), &err), ETP_OK);
    const char *target = etp_os_absolute(in_dir(f, "kept"), &f->arena);
    assert_int_equal(symlink(target, in_dir(f, "a/link")), 0);
    assert_int_equal(etp_os_remove_tree(in_dir(f, "a"), &err), ETP_OK);
    assert_false(etp_os_is_dir(in_dir(f, "a")));
    assert_true(etp_os_is_dir(in_dir(f, "kept/inner")));
    assert_int_equal(etp_os_remove_tree(in_dir(f, "a"), &err), ETP_OK);
}

static void moving_replaces_and_crosses_file_systems(void **state)
{
    fixture *f = *state;
    etp_str text;
    assert_int_equal(etp_os_mkdirs(in_dir(f, "from/sub"), NULL), ETP_OK);
    assert_int_equal(etp_os_write_atomic(in_dir(f, "from/sub/x"), ETP_STR("new"), NULL), ETP_OK);
    assert_int_equal(etp_os_mkdirs(in_dir(f, "to/old"), NULL), ETP_OK);
    assert_int_equal(etp_os_move(in_dir(f, "from"), in_dir(f, "to"), NULL), ETP_OK);
    assert_false(etp_os_is_dir(in_dir(f, "from")));
    assert_false(etp_os_is_dir(in_dir(f, "to/old")));
    struct stat here, there;
    if (stat("/dev/shm", &there) != 0 || stat(f->dir, &here) != 0 || here.st_dev == there.st_dev) {
        print_message("not tried: /dev/shm is no other file system here\n");
        return;
    }
    const char *other;
    assert_int_equal(etp_os_temp_dir("/dev/shm", "etprof-test", &f->arena, &other, NULL), ETP_OK);
    const char *target = etp_arena_printf(&f->arena, "%s/moved", other);
    assert_int_equal(etp_os_move(in_dir(f, "to"), target, NULL), ETP_OK);
    assert_false(etp_os_is_dir(in_dir(f, "to")));
    const char *file = etp_arena_printf(&f->arena, "%s/sub/x", target);
    assert_int_equal(etp_os_read_text(file, 10, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "new"));
    assert_int_equal(etp_os_remove_tree(other, NULL), ETP_OK);
}

static void facts_are_there(void **state)
{
    fixture *f = *state;
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    assert_true(facts.cpus >= 1);
    assert_true(facts.memory_bytes > 64 << 20);
    assert_true(strlen(facts.triple) > 5);
    etp_os_state now;
    etp_os_state_read(&now);
    assert_true(now.time_ns > 0);
    etp_details details;
    assert_int_equal(etp_os_details_read(&f->arena, &details, NULL), ETP_OK);
    for (size_t i = 0; i < details.n; i++) {
        assert_true(details.items[i].value[0] != '\0');
    }
    etp_process_sched sched;
    etp_process_sched_read(etp_os_self_pid(), &sched);
    assert_true(sched.wait_ns == UINT64_MAX || sched.wait_ns < 3600 * (uint64_t)SECOND);
    etp_process_sched_read(INT32_MAX, &sched);
    assert_true(sched.wait_ns == UINT64_MAX && sched.migrations == UINT64_MAX);
    etp_process_counters counters;
    etp_process_counters_read(etp_os_self_pid(), &counters);
    assert_true(counters.fast_cycles <= counters.cycles);
    etp_process_counters_read(INT32_MAX, &counters);
    assert_true(counters.cycles == 0 && counters.energy_nj == 0);
    assert_true(etp_process_alive(etp_os_self_pid()));
    assert_false(etp_process_alive(INT32_MAX));
    const char *self = etp_os_self_exe(&f->arena);
    assert_non_null(self);
    assert_non_null(strstr(self, "test_os"));
    assert_true(etp_os_is_executable(self));
    assert_true(etp_os_free_bytes(f->dir) > 0);
    uint64_t a = etp_os_now_ns();
    etp_os_sleep_ns(2000000);
    assert_true(etp_os_now_ns() - a >= 2000000);
}

static void a_lock_has_one_holder(void **state)
{
    fixture *f = *state;
    const char *path = etp_arena_printf(&f->arena, "%s/session.lock", f->dir);
    etp_os_lock lock, other;
    int64_t holder = -2;
    assert_int_equal(etp_os_lock_take(path, &lock, &holder, NULL), ETP_OK);
    assert_int_equal(holder, 0);
    assert_int_equal(etp_os_lock_take(path, &other, &holder, NULL), ETP_OK);
    assert_int_equal(holder, etp_os_self_pid());
    etp_os_lock_release(&other); // holds nothing: nothing happens
    assert_true(etp_os_is_file(path));
    etp_os_lock_release(&lock);
    assert_false(etp_os_is_file(path));
    etp_os_lock_release(&lock);
    // What a killed process leaves behind binds nobody, whatever it says.
    static const char *const k_left[] = {"", "999999999\n", "1\n", "no number", "-5\n"};
    for (size_t i = 0; i < sizeof k_left / sizeof *k_left; i++) {
        assert_int_equal(etp_os_write_atomic(path, etp_str_from(k_left[i]), NULL), ETP_OK);
        assert_int_equal(etp_os_lock_take(path, &lock, &holder, NULL), ETP_OK);
        assert_int_equal(holder, 0);
        etp_os_lock_release(&lock);
    }
    // A child does not inherit it: it goes with this process alone.
    assert_int_equal(etp_os_lock_take(path, &lock, &holder, NULL), ETP_OK);
    const char *const argv[] = {"/bin/sleep", "60", NULL};
    const etp_process_spec spec = {.argv = argv};
    etp_process child;
    assert_int_equal(etp_process_start(&spec, &child, NULL), ETP_OK);
    etp_os_lock_release(&lock);
    assert_int_equal(etp_os_lock_take(path, &lock, &holder, NULL), ETP_OK);
    assert_int_equal(holder, 0);
    // A folder in its place, and one that was removed under it.
    assert_int_equal(etp_os_unlink(path, NULL), ETP_OK);
    assert_int_equal(etp_os_mkdirs(path, NULL), ETP_OK);
    assert_int_equal(etp_os_lock_take(path, &other, &holder, NULL), ETP_IO);
    etp_os_lock_release(&lock); // not ours any more: stays
    assert_true(etp_os_is_dir(path));
    etp_process_kill(&child);
    etp_process_dispose(&child);
}

// Last: it changes the process's signal handling.
static void a_signal_wakes_a_reader(void **state)
{
    signal(SIGTERM, SIG_DFL); // whoever started us may have had it ignored
    assert_int_equal(etp_os_catch_signals(NULL), ETP_OK);
    const char *const argv[] = {"/bin/sleep", "60", NULL};
    const etp_process_spec spec = {.argv = argv};
    etp_process p;
    char buf[8];
    size_t got;
    assert_int_equal(etp_process_start(&spec, &p, NULL), ETP_OK);
    assert_int_equal(etp_os_interrupted(), 0);
    raise(SIGTERM);
    assert_int_equal(etp_process_read(&p, 60 * (uint64_t)SECOND, buf, sizeof buf, &got),
                     ETP_PROCESS_WAKE);
    assert_int_equal(etp_os_interrupted(), SIGTERM);
    etp_process_dispose(&p);
}

// Somebody who may write into the folder knows the temporary name in advance.
static void nothing_is_written_through_a_link(void **state)
{
    fixture *f = *state;
    const char *path = in_dir(f, "report.json"), *victim = in_dir(f, "victim");
    const char *temp = etp_arena_printf(&f->arena, "%s.tmp-%ld", path, (long)getpid());
    etp_str text;
    assert_int_equal(etp_os_write_atomic(victim, ETP_STR("mine"), NULL), ETP_OK);
    assert_int_equal(symlink("victim", temp), 0);
    assert_int_equal(etp_os_write_atomic(path, ETP_STR("new"), NULL), ETP_OK);
    assert_int_equal(etp_os_read_text(victim, 100, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "mine"));
    assert_int_equal(etp_os_read_text(path, 100, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "new"));
    assert_false(etp_os_is_other(path));

    const char *link = in_dir(f, "samples.csv"), *fifo = in_dir(f, "fifo");
    assert_int_equal(symlink("victim", link), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_true(etp_os_is_other(link) && etp_os_is_other(fifo) && !etp_os_is_other(victim));
    assert_int_equal(etp_os_append_below(f->dir, "samples.csv", ETP_STR("more"), NULL), ETP_IO);
    assert_int_equal(etp_os_truncate_below(f->dir, "samples.csv", 1, NULL), ETP_IO);
    assert_int_equal(etp_os_append_below(f->dir, "fifo", ETP_STR("more"), NULL),
                     ETP_IO); // and does not wait for a reader
    assert_int_equal(etp_os_read_text(victim, 100, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "mine"));
}

// A folder on the way that is a link now, whatever it was when the run folder was checked.
static void nothing_goes_below_a_folder_through_a_link(void **state)
{
    fixture *f = *state;
    const char *root = in_dir(f, "run"), *outside = in_dir(f, "outside");
    const char *from = in_dir(f, "from"), *kept = in_dir(f, "outside/kept");
    etp_error err;
    etp_str text;
    etp_dir_list list;
    assert_int_equal(etp_os_mkdirs(root, NULL), ETP_OK);
    assert_int_equal(etp_os_mkdirs(outside, NULL), ETP_OK);
    assert_int_equal(etp_os_write_atomic(kept, ETP_STR("mine"), NULL), ETP_OK);
    assert_int_equal(etp_os_write_atomic(from, ETP_STR("new"), NULL), ETP_OK);
    assert_int_equal(symlink("../outside", in_dir(f, "run/arm")), 0);
    assert_int_equal(symlink("run", in_dir(f, "way")), 0);
    etp_str s = ETP_STR("x");
    assert_int_equal(etp_os_write_below(root, "arm/kept", s, &err), ETP_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "run/arm/kept: arm is a link"));
    assert_int_equal(etp_os_replace_below(root, "arm/a", fill_pieces, &(pieces){1, ETP_OK}, NULL),
                     ETP_UNSUPPORTED);
    assert_int_equal(etp_os_stage_below(root, "arm/a", fill_pieces, &(pieces){1, ETP_OK}, NULL),
                     ETP_UNSUPPORTED);
    assert_int_equal(etp_os_unstage_below(root, "arm/a", true, NULL), ETP_UNSUPPORTED);
    assert_int_equal(etp_os_append_below(root, "arm/kept", s, NULL), ETP_UNSUPPORTED);
    assert_int_equal(etp_os_truncate_below(root, "arm/kept", 0, NULL), ETP_UNSUPPORTED);
    assert_int_equal(etp_os_mkdirs_below(root, "arm/new", NULL), ETP_UNSUPPORTED);
    assert_int_equal(etp_os_mkdirs_below(root, "arm", NULL), ETP_UNSUPPORTED);
    assert_int_equal(etp_os_move_below(from, root, "arm/kept", NULL), ETP_UNSUPPORTED);
    assert_int_equal(etp_os_remove_below(root, "arm/kept", NULL), ETP_UNSUPPORTED);
    assert_int_equal(etp_os_write_below(root, "../x", s, NULL), ETP_INTERNAL);
    assert_int_equal(etp_os_write_below(root, "a/../../x", s, NULL), ETP_INTERNAL);
    assert_int_equal(etp_os_write_below(root, "/x", s, NULL), ETP_INTERNAL);
    assert_int_equal(etp_os_read_text(kept, 100, &f->arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "mine"));
    assert_int_equal(etp_os_list(outside, &f->arena, &list, NULL), ETP_OK);
    assert_int_equal(list.n, 1);
    // The folder itself may be named through one, and the link itself may go.
    assert_int_equal(etp_os_write_below(in_dir(f, "way"), "own/a", s, NULL), ETP_OK);
    assert_true(etp_os_is_file(in_dir(f, "run/own/a")));
    assert_int_equal(etp_os_remove_below(root, "arm", NULL), ETP_OK);
    assert_true(etp_os_is_file(kept));
}

// ---- memory that ends ----

static etp_status read_both(const char *dir, const char *file, etp_arena *arena)
{
    etp_dir_list list;
    etp_str text;
    etp_arena_alloc(arena, 1); // the first block is of whoever makes the document
    etp_status st = etp_os_list(dir, arena, &list, NULL);
    return st == ETP_OK ? etp_os_read_text(file, (size_t)1 << 20, arena, &text, NULL) : st;
}

static etp_status guarded_both(const char *dir, const char *file, etp_arena *arena)
{
    ETP_GUARDED(arena, NULL, "both", read_both(dir, file, arena));
}

static void nothing_stays_open_when_memory_ends_at_a_guard(void **state)
{
    fixture *f = *state;
    const char *file = in_dir(f, "file");
    static char big[100000];
    memset(big, 'x', sizeof big);
    assert_int_equal(etp_os_write_atomic(file, (etp_str){big, sizeof big}, NULL), ETP_OK);
    for (int i = 0; i < 100; i++) { // more names than a block has room for
        char name[100];
        snprintf(name, sizeof name, "%090d", i);
        assert_int_equal(etp_os_write_atomic(in_dir(f, name), ETP_STR(""), NULL), ETP_OK);
    }
    int lowest = dup(STDERR_FILENO), short_of = 0;
    close(lowest);
    for (etp_status st = ETP_NOMEM; st != ETP_OK; short_of++) {
        memory m = {.left = short_of};
        const etp_allocator alloc = {limited, &m};
        etp_arena arena;
        etp_arena_init(&arena, &alloc);
        st = guarded_both(f->dir, file, &arena);
        assert_true(st == ETP_OK || st == ETP_NOMEM);
        etp_arena_dispose(&arena);
        int next = dup(STDERR_FILENO);
        close(next);
        assert_int_equal(next, lowest);
    }
    assert_true(short_of > 3); // in the list, in the text, and in neither
}

#ifdef __linux__
static void group(fixture *f, const char *folder, const char *file, const char *text)
{
    const char *dir = in_dir(f, folder);
    assert_int_equal(etp_os_mkdirs(dir, NULL), ETP_OK);
    const char *path = etp_arena_printf(&f->arena, "%s/%s", dir, file);
    assert_int_equal(etp_os_write_atomic(path, etp_str_from(text), NULL), ETP_OK);
}
#endif

// Layouts as in the kernel's cgroup-v2.rst and sched-bwc.rst.
static void the_tightest_quota_of_the_groups_counts(void **state)
{
#ifdef __linux__
    fixture *f = *state;
    etp_str v2 = ETP_STR("0::/a/b\n"), v1 = ETP_STR("4:cpuset:/x\n3:cpu,cpuacct:/box\n0::/\n");
    const char *root = in_dir(f, "two");
    assert_true(etp_cgroup_cpus(root, v2, &f->arena) == 0); // nothing is mounted
    group(f, "two/a/b", "cpu.max", "max 100000\n");
    assert_true(etp_cgroup_cpus(root, v2, &f->arena) == 0);
    group(f, "two/a", "cpu.max", "150000 100000\n"); // a group above
    assert_true(etp_cgroup_cpus(root, v2, &f->arena) == 1.5);
    group(f, "two", "cpu.max", "20000 100000\n"); // as containers see their own
    assert_true(etp_cgroup_cpus(root, v2, &f->arena) == 0.2);
    assert_true(etp_cgroup_cpus(root, ETP_STR(""), &f->arena) == 0.2); // no /proc
    root = in_dir(f, "one");
    group(f, "one/cpu/box", "cpu.cfs_period_us", "100000\n");
    group(f, "one/cpu/box", "cpu.cfs_quota_us", "-1\n");
    assert_true(etp_cgroup_cpus(root, v1, &f->arena) == 0);
    group(f, "one/cpu/box", "cpu.cfs_quota_us", "50000\n");
    assert_true(etp_cgroup_cpus(root, v1, &f->arena) == 0.5);
    assert_true(etp_cgroup_cpus(root, ETP_STR("3:cpuset:/box\n"), &f->arena) == 0);
#else
    (void)state;
    print_message("skipped: groups of processes are Linux's\n");
    skip();
#endif
}
