// SPDX-License-Identifier: Apache-2.0
// What every unit test begins with: cmocka, after the headers that it asks for, and an arena that
// lives as long as the test, its state. The main function is written by cmake/unit_main.cmake.
#ifndef ETP_TESTS_UNIT_H
#define ETP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <etprof/arena.h>
#include <etprof/error.h>

static inline int arena_begin(void **state)
{
    static etp_arena arena;
    arena = (etp_arena){0};
    *state = &arena;
    return 0;
}

static inline int arena_end(void **state)
{
    etp_arena_dispose(*state);
    return 0;
}

// What failed is told in its own words.
#define ASSERT_OK(status, err)         \
    do {                               \
        if ((status) != ETP_OK) {      \
            fail_msg("%s", (err).msg); \
        }                              \
    } while (0)

#endif
