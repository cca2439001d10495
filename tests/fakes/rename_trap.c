// SPDX-License-Identifier: Apache-2.0
// Loaded before libc (LD_PRELOAD): the Nth rename to a file of a name fails as on a full disk, or
// the process is killed before or right after it. RENAME_TRAP="NAME N fail|kill|after".
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Is it this rename's turn? HOW says what happens then.
static bool its_turn(const char *to, char how[8])
{
    static unsigned seen;
    char name[64];
    unsigned nth;
    const char *trap = getenv("RENAME_TRAP"), *slash = strrchr(to, '/');
    return trap && sscanf(trap, "%63s %u %7s", name, &nth, how) == 3 &&
           strcmp(slash ? slash + 1 : to, name) == 0 && ++seen == nth;
}

// Fills errno, or ends the process, when it is this rename's turn and not to be done before.
static bool trapped(bool turn, const char *how)
{
    if (turn && strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    }
    errno = ENOSPC;
    return turn && strcmp(how, "after") != 0;
}

static int done(int result, bool turn)
{
    if (turn) {
        raise(SIGKILL);
    }
    return result;
}

int rename(const char *from, const char *to)
{
    union { // dlsym has only one type to answer with
        void *object;
        int (*function)(const char *, const char *);
    } next = {.object = dlsym(RTLD_NEXT, "rename")};
    char how[8];
    bool turn = its_turn(to, how);
    return trapped(turn, how) ? -1 : done(next.function(from, to), turn);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    union {
        void *object;
        int (*function)(int, const char *, int, const char *);
    } next = {.object = dlsym(RTLD_NEXT, "renameat")};
    char how[8];
    bool turn = its_turn(to, how);
    return trapped(turn, how) ? -1 : done(next.function(from_folder, from, to_folder, to), turn);
}
