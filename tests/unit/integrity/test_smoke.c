// SPDX-License-Identifier: Apache-2.0
// What the first line of `etprof smoke` says: no more than the steps below it do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sink.h"
#include "integrity/smoke.h"

// The report of a smoke test whose steps ended as OK says: 1 yes, 0 no, -1 cannot be told.
static void headline(const int *ok, size_t n, const char *expected, const char *not_said)
{
    etp_arena arena = {0};
    etp_smoke s = {0};
    for (size_t i = 0; i < n; i++) {
        etp_smoke_note(&s, &arena, (etp_smoke_id)i, ok[i], "a fix", "found %zu", i);
    }
    etp_strbuf text;
    etp_strbuf_init(&text, &arena);
    etp_sink out = etp_sink_strbuf(&text);
    etp_report_style style = {.width = 120};
    etp_error err = {0};
    assert_int_equal(
        etp_report_write(etp_smoke_report(&s, &arena), ETP_FORMAT_TEXT, &style, &out, &err),
        ETP_OK);
    if (!strstr(text.ptr, expected) || (not_said && strstr(text.ptr, not_said))) {
        fail_msg("\"%s\" is not there, or \"%s\" is, in\n%s", expected, not_said ? not_said : "",
                 text.ptr);
    }
    etp_arena_dispose(&arena);
}

static void all_steps_work(void **state)
{
    (void)state;
    headline((const int[]){1, 1, 1, 1, 1, 1, 1}, 7, "ok: yes: all 7 steps work", "told");
}

static void a_step_that_cannot_be_told_is_not_said_to_work(void **state)
{
    (void)state;
    headline((const int[]){1, 1, -1, 1, 1, 1, 1}, 7,
             "note: 6 of 7 steps work, none failed; whether evidence works cannot be told here",
             "all 7 steps work");
    headline((const int[]){1, -1, -1, 1}, 4,
             "2 of 4 steps work, none failed; whether measure, evidence work cannot be told here",
             "yes:");
}

static void a_failed_step_comes_first(void **state)
{
    (void)state;
    headline((const int[]){1, 0, -1, 1}, 4, "problem: no: 1 of 4 steps failed", "steps work");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_steps_work),
        cmocka_unit_test(a_step_that_cannot_be_told_is_not_said_to_work),
        cmocka_unit_test(a_failed_step_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
