// SPDX-License-Identifier: Apache-2.0
// A file that one process at a time holds. flock is let go of by the system however the process
// ends; file systems without it fall back to asking whether the named process lives.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "os/system.h"

// A second in all.
#define WAITS 20
#define WAIT_NS 50000000u

bool etp_process_alive(int64_t pid)
{
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

// The number that the holder wrote, 0 when there is none.
static int64_t read_holder(int fd)
{
    char text[24];
    ssize_t n = pread(fd, text, sizeof text, 0);
    int64_t pid = 0;
    etp_str s = {text, (size_t)ETP_MAX(n, 0)};
    s.len = etp_str_find(s, ETP_STR("\n"));
    return etp_parse_i64(s, &pid) && pid > 0 && pid <= INT32_MAX ? pid : 0;
}

// Is the file at PATH still the one that FD has open? Its last holder may have removed it
// meanwhile.
static bool still_there(int fd, const char *path)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static etp_status sign(int fd, const char *path, etp_error *err)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n) {
        return etp_fail_errno(err, ETP_IO, "cannot write %s", path);
    }
    return ETP_OK;
}

// One try. *again: the file was replaced between opening and locking it.
static etp_status try_lock(const char *path, etp_os_lock *out, int64_t *holder, bool *again,
                           etp_error *err)
{
    *again = false;
    *holder = 0;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot open %s", path);
    }
    bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0;
    int why = errno;
    int64_t pid = read_holder(fd);
    // Two processes that ask at the same moment may both find nobody alive here: without locks
    // there is nothing better.
    if (taken && why != EWOULDBLOCK) { // no locks in this file system
        taken = pid != getpid() && etp_process_alive(pid);
    }
    etp_status st = ETP_OK;
    if (taken) {
        *holder = pid > 0 ? pid : -1;
    } else if (!still_there(fd, path)) {
        *again = true;
    } else {
        st = sign(fd, path, err);
    }
    struct stat is;
    if (st != ETP_OK && fstat(fd, &is) == 0 && S_ISREG(is.st_mode)) {
        unlink(path); // a full disk: without a name in it nobody has it
    }
    if (taken || *again || st != ETP_OK) {
        close(fd);
        return st;
    }
    *out = (etp_os_lock){.held = true, .fd = fd, .path = path};
    return ETP_OK;
}

etp_status etp_os_lock_take(const char *path, etp_os_lock *out, int64_t *holder, etp_error *err)
{
    *out = (etp_os_lock){0};
    *holder = 0;
    ETP_NEED(path, err, "a path");
    for (int i = 0, waits = 0; i < 100; i++) {
        bool again;
        ETP_TRY(try_lock(path, out, holder, &again, err));
        // A killed holder's last child has its descriptors until it has become another program or
        // died.
        if (*holder != 0 && !etp_process_alive(*holder) && waits++ < WAITS) {
            etp_os_sleep_ns(WAIT_NS);
        } else if (!again) {
            return ETP_OK;
        }
    }
    return etp_fail(err, ETP_IO, "%s keeps being replaced: is another session starting there?",
                    path);
}

void etp_os_lock_release(etp_os_lock *lock)
{
    if (!lock->held) {
        return;
    }
    if (still_there(lock->fd, lock->path)) {
        unlink(lock->path); // while it is held: whoever has it open already looks again
    }
    close(lock->fd);
    *lock = (etp_os_lock){0};
}
