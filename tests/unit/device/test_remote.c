// SPDX-License-Identifier: Apache-2.0
// What is quoted for a device's sh comes out of a real sh as it went in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/shell.h"
#include "device/remote.h"

static void words_survive_a_shell(void **state)
{
    (void)state;
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
    etp_arena arena = {0};
    for (size_t i = 0; i < sizeof k_words / sizeof *k_words; i++) {
        const char *q = etp_shell_quoted(&arena, k_words[i]);
        assert_non_null(q);
        const char *const argv[] = {"/bin/sh", "-c",
                                    etp_arena_printf(&arena, "printf '[%%s]' %s", q), NULL};
        const etp_process_spec spec = {.argv = argv};
        etp_process p;
        etp_str out, log;
        assert_int_equal(
            etp_process_capture(&spec, 10000000000u, 4096, &arena, &p, &out, &log, NULL), ETP_OK);
        assert_true(etp_str_eqz(out, etp_arena_printf(&arena, "[%s]", k_words[i])));
        assert_int_equal(p.exit_code, 0);
        // Once more, as for a login shell that gets a script for sh.
        const char *script = etp_arena_printf(&arena, "printf '[%%s]' %s", q);
        const etp_remote r = {
            .prefix = {"/bin/sh", "-c"},
              .n_prefix = 2, .wrap = true
        };
        const etp_process_spec twice = {.argv = etp_remote_argv(&r, script, &arena)};
        assert_int_equal(
            etp_process_capture(&twice, 10000000000u, 4096, &arena, &p, &out, &log, NULL), ETP_OK);
        assert_true(etp_str_eqz(out, etp_arena_printf(&arena, "[%s]", k_words[i])));
    }
    etp_arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_survive_a_shell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
