// SPDX-License-Identifier: Apache-2.0
// realloc as the arenas of this program see it: the one number ETPROF_TEST_FAIL_AT gives NULL, as
// do all after it (a system that is out of memory stays so for a while), or only that one with
// ETPROF_TEST_FAIL_ONCE. How many there were goes to the file ETPROF_TEST_COUNT.
#include <stdio.h>
#include <stdlib.h>

void *__real_realloc(void *ptr, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

static unsigned long asked, fail_at;
static int once;

static void write_count(void)
{
    const char *path = getenv("ETPROF_TEST_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", asked);
        fclose(file);
    }
}

void *__wrap_realloc(void *ptr, size_t size)
{
    if (asked++ == 0) {
        const char *at = getenv("ETPROF_TEST_FAIL_AT");
        fail_at = at ? strtoul(at, NULL, 10) : 0;
        once = getenv("ETPROF_TEST_FAIL_ONCE") != NULL;
        atexit(write_count);
    }
    if (fail_at && (once ? asked == fail_at : asked >= fail_at)) {
        return NULL;
    }
    return __real_realloc(ptr, size);
}
