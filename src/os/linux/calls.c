// SPDX-License-Identifier: Apache-2.0
// What posix/ asks Linux to do in its own way.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "os/system.h"

void etp_os_child_follow_parent(pid_t parent)
{
    // Asked for after the fork, so a parent that is gone already must be looked for afterwards.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { // it died in between
        _exit(127);
    }
}

extern char **environ;

char **etp_os_environ(void)
{
    return environ;
}

// getrusage(2) has it in KiB.
uint64_t etp_os_rss_bytes(long ru_maxrss)
{
    return (uint64_t)ru_maxrss * 1024u;
}

// What a child had of its maker's memory before exec counts as its own for ever (exec_mmap keeps
// the high-water mark), so that a peak up to the maker's says nothing of the program.
bool etp_os_peak_is_inherited(const struct rusage *child, const struct rusage *maker)
{
    return child->ru_maxrss <= maker->ru_maxrss;
}

bool etp_os_full_sync(int fd)
{
    return fsync(fd) == 0;
}
