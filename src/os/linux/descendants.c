// SPDX-License-Identifier: Apache-2.0
// What a supervisor needs of Linux: orphans come to it, and /proc names its children.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/system.h"

void etp_os_become_supervisor(bool adopt)
{
    // killall and pkill by our name are meant for us: it shall outlive that.
    prctl(PR_SET_NAME, "supervisor");
    if (adopt) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
}

// Parent of the process that /proc calls NAME, 0 when it is no process or gone.
static pid_t parent_of(const char *name)
{
    char path[64], text[512];
    if (name[0] < '0' || name[0] > '9' ||
        snprintf(path, sizeof path, "/proc/%s/stat", name) >= (int)sizeof path) {
        return 0;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[ETP_MAX(n, 0)] = '\0';
    // "PID (NAME) STATE PARENT …": a name can hold anything, parentheses too.
    const char *end = strrchr(text, ')');
    int parent = 0;
    return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

// Children alone: when one is ended, what it had started becomes ours and is found by the next
// call.
size_t etp_os_descendants(pid_t *out, size_t cap)
{
    size_t n = 0;
    pid_t self = getpid();
    DIR *dir = opendir("/proc");
    for (const struct dirent *e; dir && n < cap && (e = readdir(dir));) {
        if (parent_of(e->d_name) == self) {
            out[n++] = (pid_t)strtol(e->d_name, NULL, 10);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}

static bool close_range_of(unsigned first, unsigned last)
{
#ifdef SYS_close_range
    return first > last || syscall(SYS_close_range, first, last, 0) == 0;
#else
    return false;
#endif
}

void etp_os_close_from(int first, int keep)
{
    // Two ranges around the one that is kept.
    if (keep >= first && close_range_of((unsigned)first, (unsigned)keep - 1) &&
        close_range_of((unsigned)keep + 1, ~0u)) {
        return;
    }
    long most = sysconf(_SC_OPEN_MAX); // before Linux 5.9
    for (int fd = first; fd < (most > 0 && most < 65536 ? (int)most : 65536); fd++) {
        if (fd != keep) {
            close(fd);
        }
    }
}
