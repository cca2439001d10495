// SPDX-License-Identifier: Apache-2.0
// What is quoted for a device's sh comes out of a real sh as it went in.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shell.h"
#include "device/remote.h"
#include "unit.h"

static void words_survive_a_shell(void **state)
{
    static const char *const k_words[] = {
        "",
        " ",
        "a b",
        "'",
        "''",
        "a'b'c",
        "\"",
        "$HOME",
        "$(id)",
        "`id`",
        "\\",
        "a\\'b",
        "; exit 3",
        "& |<>*?[]{}~#!",
        "line\nline\n",
        "\t\r\x01\x7f",
        "\xff\xfe",
        "-n",
        "%s",
        "=",
    };
    etp_arena *arena = *state;
    for (size_t i = 0; i < sizeof k_words / sizeof *k_words; i++) {
        const char *q = etp_shell_quoted(arena, k_words[i]);
        assert_non_null(q);
        const char *const argv[] = {"/bin/sh", "-c",
                                    etp_arena_printf(arena, "printf '[%%s]' %s", q), NULL};
        const etp_process_spec spec = {.argv = argv};
        etp_process p;
        etp_str out, log;
        assert_int_equal(
            etp_process_capture(&spec, 10000000000u, 4096, arena, &p, &out, &log, NULL), ETP_OK);
        assert_true(etp_str_eqz(out, etp_arena_printf(arena, "[%s]", k_words[i])));
        assert_int_equal(p.exit_code, 0);
        // Once more, as for a login shell that gets a script for sh.
        const char *script = etp_arena_printf(arena, "printf '[%%s]' %s", q);
        const etp_remote r = {
            .prefix = {"/bin/sh", "-c"},
              .n_prefix = 2, .wrap = true
        };
        const etp_process_spec twice = {.argv = etp_remote_argv(&r, script, arena)};
        assert_int_equal(
            etp_process_capture(&twice, 10000000000u, 4096, arena, &p, &out, &log, NULL), ETP_OK);
        assert_true(etp_str_eqz(out, etp_arena_printf(arena, "[%s]", k_words[i])));
    }
}

// Half of it is too little where other work runs beside.
#define SILENCE_NS 2000000000u

// A device whose scripts run here.
static etp_status do_here(const char *script, const char *path, uint64_t most, double *seconds,
                          etp_error *err)
{
    etp_arena arena = {0};
    etp_remote r = {
        .prefix = {"/bin/sh", "-c"},
          .n_prefix = 2, .name = "here", .silence_limit_ns = SILENCE_NS
    };
    etp_device d = {.data = &r};
    etp_remote_call call = {.script = script, .output_path = path, .most_bytes = most};
    uint64_t begin = etp_os_now_ns();
    etp_status st = etp_remote_do(&d, &call, &arena, err);
    *seconds = (double)(etp_os_now_ns() - begin) / 1e9;
    etp_arena_dispose(&arena);
    return st;
}

static void what_a_device_sends_is_bounded(void **state)
{
    char path[] = "/tmp/etprof-remote-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    etp_error err;
    double seconds;
    static const char k_endless[] = "while :; do head -c 100000 /dev/zero; done";
    // By kind of answer: a text, what is said beside it, a file.
    assert_int_equal(do_here(k_endless, NULL, 0, &seconds, &err), ETP_CHILD);
    assert_non_null(strstr(err.msg, "sent more than"));
    assert_int_equal(
        do_here("while :; do head -c 100000 /dev/zero >&2; done", NULL, 0, &seconds, &err),
        ETP_CHILD);
    assert_int_equal(do_here(k_endless, path, 300000, &seconds, &err), ETP_CHILD);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size <= 300000);
    assert_int_equal(do_here("head -c 300000 /dev/zero", path, 300000, &seconds, &err), ETP_OK);
    // A byte now and then does not begin the time anew.
    assert_int_equal(
        do_here("for i in $(seq 100); do echo; sleep 0.3; done", NULL, 0, &seconds, &err),
        ETP_CHILD);
    assert_non_null(strstr(err.msg, "did not end"));
    assert_true(seconds < 20); // all of it takes 30
    // A full disk ends it at the first write that fails.
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(do_here(k_endless, "/dev/full", UINT64_MAX, &seconds, &err), ETP_IO);
        assert_non_null(strstr(err.msg, "disk is full"));
    }
    unlink(path);
}

// Files that come one after the other, each of them in time, have a time for all.
static void a_folder_has_a_time(void **state)
{
    char home[] = "/tmp/etprof-pull-XXXXXX";
    assert_non_null(mkdtemp(home));
    etp_arena *arena = *state;
    const char *tools = etp_arena_printf(arena, "%s/bin", home);
    const char *make = etp_arena_printf(
        arena,
        "mkdir %s %s/from && printf '#!/bin/sh\\nsleep 0.5; exec /bin/cat \"$@\"\\n' >%s/cat && "
        "chmod +x %s/cat && cd %s/from && touch $(seq 40)",
        tools, home, tools, tools, home);
    assert_int_equal(system(make), 0);
    etp_remote r = {
        .prefix = {"/usr/bin/env", etp_arena_printf(arena, "PATH=%s:%s", tools, getenv("PATH")),
                   "/bin/sh", "-c"},
        .n_prefix = 4,
        .name = "here",
        .silence_limit_ns = SILENCE_NS
    };
    etp_device d = {.data = &r};
    etp_error err;
    assert_int_equal(etp_remote_pull(&d, etp_arena_printf(arena, "%s/from", home),
                                     etp_arena_printf(arena, "%s/to", home), &err),
                     ETP_CHILD);
    assert_non_null(strstr(err.msg, "in time"));
    etp_dir_list came;
    const char *to = etp_arena_printf(arena, "%s/to", home);
    assert_int_equal(etp_os_list(to, arena, &came, &err), ETP_OK);
    assert_in_range(came.n, 1, 39);
    assert_int_equal(etp_os_remove_tree(home, NULL), ETP_OK);
}

// Answers of which none is too large do not fill the disk one after the other.
static void a_session_is_bounded(void **state)
{
    char home[] = "/tmp/etprof-pull-XXXXXX";
    assert_non_null(mkdtemp(home));
    etp_arena *arena = *state;
    const char *from = etp_arena_printf(arena, "%s/from", home);
    const char *to = etp_arena_printf(arena, "%s/to", home);
    assert_int_equal(etp_os_write_atomic(from, ETP_STR("0123456789"), NULL), ETP_OK);
    etp_remote r = {
        .prefix = {"/bin/sh", "-c"},
        .n_prefix = 2,
        .name = "here",
        .silence_limit_ns = SILENCE_NS,
        .pulled = ETP_REMOTE_SESSION_BYTES - 25
    };
    etp_device d = {.data = &r};
    etp_error err;
    assert_int_equal(etp_remote_pull(&d, from, to, &err), ETP_OK);
    assert_int_equal(etp_remote_pull(&d, from, to, &err), ETP_OK);
    assert_int_equal(etp_remote_pull(&d, from, to, &err), ETP_CHILD);
    assert_non_null(strstr(err.msg, "sent more than"));
    assert_int_equal(etp_os_remove_tree(home, NULL), ETP_OK);
}
