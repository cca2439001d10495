// SPDX-License-Identifier: Apache-2.0
// What is at a path: its kind, its mark, its room.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "os/os.h"

#ifdef __APPLE__
#define MODIFIED st_mtimespec
#define CHANGED st_ctimespec
#else
#define MODIFIED st_mtim
#define CHANGED st_ctim
#endif

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

etp_os_mark etp_os_mark_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return (etp_os_mark){0};
    }
    return (etp_os_mark){.device = (uint64_t)st.st_dev,
                         .inode = (uint64_t)st.st_ino,
                         .size = (uint64_t)st.st_size,
                         .links = (uint64_t)st.st_nlink,
                         .rights = (uint32_t)st.st_mode,
                         .modified_ns = nanoseconds(st.MODIFIED),
                         .changed_ns = nanoseconds(st.CHANGED)};
}

bool etp_os_is_file(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

etp_status etp_os_fail_absent(const char *what, const char *path, etp_status status, etp_error *err)
{
    (void)etp_fail(err, status, "%s %s does not exist", what, path);
    if (err) {
        err->os_errno = ENOENT;
    }
    return status;
}

bool etp_os_is_dir(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool etp_os_is_other(const char *path)
{
    struct stat st;
    return path && lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool etp_os_is_writable(const char *path)
{
    return path && access(path, W_OK) == 0;
}

bool etp_os_is_executable(const char *path)
{
    return etp_os_is_file(path) && access(path, X_OK) == 0;
}

// realpath(3) needs all of PATH to exist: else NULL.
// Not with realpath's own memory: ARENA may have a guard, which would not free it.
const char *etp_os_absolute(const char *path, etp_arena *arena)
{
    char real[PATH_MAX];
    return path && realpath(path, real) ? etp_arena_strdup(arena, etp_str_from(real)) : NULL;
}

uint64_t etp_os_free_bytes(const char *path)
{
    struct statvfs fs;
    if (!path || statvfs(path, &fs) != 0) {
        return UINT64_MAX;
    }
    // f_bavail, not f_bfree: the reserve of root cannot be filled by us.
    return (uint64_t)fs.f_bavail * (uint64_t)fs.f_frsize;
}
