// SPDX-License-Identifier: Apache-2.0
// realloc as the arenas of this program see it: the one number ETPROF_TEST_FAIL_AT gives NULL, as
// do all after it (a system that is out of memory stays so for a while), or only that one with
// ETPROF_TEST_FAIL_ONCE. How many there were goes to the file ETPROF_TEST_COUNT, with the numbers
// of those that made room for the last rows of a block: few among thousands, and nothing is
// launched after them that would fail for the same reason. Who asked for each, as addresses from
// __wrap_realloc on, innermost first, goes to the file ETPROF_TEST_CALLERS.
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"

#define MOST_BLOCKS 16

void *__real_realloc(void *ptr, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
bool __real_etp_arena_grow(etp_arena *arena, void *ptr_to_array, size_t *cap, size_t need,
                           size_t elem_size);
bool __wrap_etp_arena_grow(etp_arena *arena, void *ptr_to_array, size_t *cap, size_t need,
                           size_t elem_size);
etp_status __real_etp_run_commit(etp_run_writer *w, const etp_run_sample *samples, size_t n_samples,
                                 const etp_run_launch *launches, size_t n_launches,
                                 const etp_str *environment, size_t n_environment, etp_error *err);
etp_status __wrap_etp_run_commit(etp_run_writer *w, const etp_run_sample *samples, size_t n_samples,
                                 const etp_run_launch *launches, size_t n_launches,
                                 const etp_str *environment, size_t n_environment, etp_error *err);

static FILE *callers;
static unsigned long asked, fail_at, rows_at, last_rows[MOST_BLOCKS];
static size_t n_blocks;
static int once;

static void write_count(void)
{
    const char *path = getenv("ETPROF_TEST_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", asked);
        for (size_t i = 0; i < n_blocks; i++) {
            fprintf(file, "%lu\n", last_rows[i]);
        }
        fclose(file);
    }
}

static void write_callers(void)
{
    void *frames[16];
    int n = backtrace(frames, 16);
    for (int i = 1; i < n; i++) {
        fprintf(callers, "%lld ", (long long)((uintptr_t)frames[i] - (uintptr_t)__wrap_realloc));
    }
    fputc('\n', callers);
}

void *__wrap_realloc(void *ptr, size_t size)
{
    if (asked++ == 0) {
        const char *at = getenv("ETPROF_TEST_FAIL_AT");
        fail_at = at ? strtoul(at, NULL, 10) : 0;
        once = getenv("ETPROF_TEST_FAIL_ONCE") != NULL;
        const char *path = getenv("ETPROF_TEST_CALLERS");
        callers = path ? fopen(path, "w") : NULL;
        atexit(write_count);
    }
    if (callers) {
        write_callers();
    }
    if (fail_at && (once ? asked == fail_at : asked >= fail_at)) {
        return NULL;
    }
    return __real_realloc(ptr, size);
}

bool __wrap_etp_arena_grow(etp_arena *arena, void *ptr_to_array, size_t *cap, size_t need,
                           size_t elem_size)
{
    if (elem_size == sizeof(etp_run_sample)) {
        rows_at = asked + 1;
    }
    return __real_etp_arena_grow(arena, ptr_to_array, cap, need, elem_size);
}

etp_status __wrap_etp_run_commit(etp_run_writer *w, const etp_run_sample *samples, size_t n_samples,
                                 const etp_run_launch *launches, size_t n_launches,
                                 const etp_str *environment, size_t n_environment, etp_error *err)
{
    if (n_blocks < MOST_BLOCKS) {
        last_rows[n_blocks++] = rows_at;
    }
    return __real_etp_run_commit(w, samples, n_samples, launches, n_launches, environment,
                                 n_environment, err);
}
