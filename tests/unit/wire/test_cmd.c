// SPDX-License-Identifier: Apache-2.0
// Commands on the runner's stdin.
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "wire/wire.h"

static etp_wire_cmd cmd;
static char why[200];

static bool parse(const char *line)
{
    return etp_wire_cmd_parse(line, strlen(line), &cmd, why, sizeof why);
}

static void good(void **state)
{
    assert_true(parse("run 50\n"));
    assert_int_equal(cmd.verb, ETP_WIRE_RUN);
    assert_int_equal(cmd.n, 50);
    assert_true(parse("run 1000000"));
    assert_true(parse("dump /a/b c.etdump\r\n"));
    assert_int_equal(cmd.verb, ETP_WIRE_DUMP);
    assert_string_equal(cmd.path, "/a/b c.etdump");
    assert_true(parse("outputs out"));
    assert_int_equal(cmd.verb, ETP_WIRE_OUTPUTS);
    assert_string_equal(cmd.path, "out");
    assert_true(parse("samples s.csv"));
    assert_int_equal(cmd.verb, ETP_WIRE_SAMPLES);
    assert_true(parse("memory"));
    assert_int_equal(cmd.verb, ETP_WIRE_MEMORY);
    assert_false(parse("memory all"));
    assert_true(parse("quit"));
    assert_int_equal(cmd.verb, ETP_WIRE_QUIT);
    assert_true(parse("\n"));
    assert_int_equal(cmd.verb, ETP_WIRE_VERB_NONE);
    assert_true(parse(""));
}

static void bad(void **state)
{
    static const char *const k_bad[] = {
        "run",
        "run 0",
        "run -1",
        "run 1000001",
        "run 5x",
        "run 5 6",
        "run 99999999999999999999",
        "dump",
        "dump ",
        "outputs",
        "samples",
        "quit now",
        "RUN 5",
        "runs 5",
        "dumpfile",
        " run 5",
        "execute",
        "run 0x5",
        "run 1.5",
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof k_bad[0]; i++) {
        if (parse(k_bad[i])) {
            fail_msg("accepted '%s'", k_bad[i]);
        }
        assert_true(strncmp(why, "byte ", 5) == 0);
    }
    assert_false(etp_wire_cmd_parse("dump a\0b", 8, &cmd, why, sizeof why));
    char *longest = malloc(ETP_WIRE_LINE_MAX + 1);
    assert_non_null(longest);
    memset(longest, 'x', ETP_WIRE_LINE_MAX + 1);
    memcpy(longest, "dump ", 5);
    assert_false(etp_wire_cmd_parse(longest, ETP_WIRE_LINE_MAX + 1, &cmd, why, sizeof why));
    assert_true(etp_wire_cmd_parse(longest, ETP_WIRE_LINE_MAX, &cmd, why, sizeof why));
    assert_int_equal(strlen(cmd.path), ETP_WIRE_LINE_MAX - 5);
    free(longest);
}
