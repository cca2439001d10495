# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=test_x.c -DMAIN=test_x_main.c -P unit_main.cmake: the main function of a unit test, whose tests are the
# functions that take cmocka's state, in the order of the file. Each begins with an arena, unless the file or a header of
# it names others as SET_UP and TEAR_DOWN.
file(STRINGS ${SOURCE} tests REGEX "^static void [a-z0-9_]+\\(void \\*\\*state\\)$")
list(TRANSFORM tests REPLACE "^static void ([a-z0-9_]+).*"
  "        cmocka_unit_test_setup_teardown(\\1, SET_UP, TEAR_DOWN),")
list(JOIN tests "\n" tests)
file(WRITE ${MAIN} "#include \"${SOURCE}\"

#ifndef SET_UP
#define SET_UP arena_begin
#define TEAR_DOWN arena_end
#endif
#ifndef RESULT
#define RESULT(failed) (failed)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
${tests}
    };
    return RESULT(cmocka_run_group_tests(tests, NULL, NULL));
}
")
