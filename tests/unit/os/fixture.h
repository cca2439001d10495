// SPDX-License-Identifier: Apache-2.0
// What the tests of the os room stand on: a folder of their own (FOLDER, one of each program), and
// an arena.
#ifndef ETP_TESTS_OS_FIXTURE_H
#define ETP_TESTS_OS_FIXTURE_H

#include <etprof/arena.h>

#include "os/os.h"

#define SECOND 1000000000u

typedef struct fixture {
    etp_arena arena;
    const char *dir;
} fixture;

static inline int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    *state = &f;
    return etp_os_temp_dir(FOLDER, "t", &f.arena, &f.dir, NULL) == ETP_OK ? 0 : -1;
}

static inline int tear_down(void **state)
{
    fixture *f = *state;
    etp_status st = etp_os_remove_tree(FOLDER, NULL);
    etp_arena_dispose(&f->arena);
    return st == ETP_OK ? 0 : -1;
}

static inline const char *in_dir(fixture *f, const char *name)
{
    return etp_arena_printf(&f->arena, "%s/%s", f->dir, name);
}

#define SET_UP set_up
#define TEAR_DOWN tear_down

#endif
