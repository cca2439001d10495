// SPDX-License-Identifier: Apache-2.0
// A build without SQLite: no store, and a sentence that says so.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "archive/archive.h"

static void says_so(void **state)
{
    (void)state;
    etp_archive *a;
    etp_error err = {0};
    assert_false(etp_archive_built());
    assert_int_equal(etp_archive_open("/tmp/none", ETP_ARCHIVE_WRITE, &a, &err), ETP_UNSUPPORTED);
    assert_null(a);
    assert_non_null(strstr(err.msg, "built without SQLite"));
    etp_archive_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
