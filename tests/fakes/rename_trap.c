// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): the Nth rename to a file of a name fails as on a full disk, or
// is never reached because somebody killed the process. RENAME_TRAP="NAME N fail|kill".
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Fills errno, or ends the process, when it is this rename's turn.
static bool trapped(const char *to)
{
    static unsigned seen;
    char name[64], how[8];
    unsigned nth;
    const char *trap = getenv("RENAME_TRAP"), *slash = strrchr(to, '/');
    if (!trap || sscanf(trap, "%63s %u %7s", name, &nth, how) != 3 ||
        strcmp(slash ? slash + 1 : to, name) != 0 || ++seen != nth) {
        return false;
    }
    if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    }
    errno = ENOSPC;
    return true;
}

int rename(const char *from, const char *to)
{
    union { // dlsym has only one type to answer with
        void *object;
        int (*function)(const char *, const char *);
    } next = {.object = dlsym(RTLD_NEXT, "rename")};
    return trapped(to) ? -1 : next.function(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    union {
        void *object;
        int (*function)(int, const char *, int, const char *);
    } next = {.object = dlsym(RTLD_NEXT, "renameat")};
    return trapped(to) ? -1 : next.function(from_folder, from, to_folder, to);
}
