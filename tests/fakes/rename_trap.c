// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): the Nth rename to a file of a name fails as on a full disk, or
// is never reached because somebody killed the process. RENAME_TRAP="NAME N fail|kill".
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rename(const char *from, const char *to)
{
    static unsigned seen;
    char name[64], how[8];
    unsigned nth;
    const char *trap = getenv("RENAME_TRAP"), *slash = strrchr(to, '/');
    if (trap && sscanf(trap, "%63s %u %7s", name, &nth, how) == 3 &&
        strcmp(slash ? slash + 1 : to, name) == 0 && ++seen == nth) {
        if (strcmp(how, "kill") == 0) {
            raise(SIGKILL);
        }
        errno = ENOSPC;
        return -1;
    }
    union { // dlsym has only one type to answer with
        void *object;
        int (*function)(const char *, const char *);
    } next = {.object = dlsym(RTLD_NEXT, "rename")};
    return next.function(from, to);
}
