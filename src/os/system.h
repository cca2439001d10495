// SPDX-License-Identifier: Apache-2.0
// What posix/ needs from linux/ or darwin/. Private to this room.
#ifndef ETP_OS_SYSTEM_H
#define ETP_OS_SYSTEM_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "os/os.h"

// A child that does nothing but become another program. It may run in our memory and keep us
// waiting until then, which saves a copy of it; what it writes there stays.
#if defined(__linux__)
#define ETP_OS_FORK_TO_EXEC() vfork()
#else
#define ETP_OS_FORK_TO_EXEC() fork()
#endif

// In the child between fork and exec: ends it when PARENT dies. Only async-signal-safe calls.
void etp_os_child_follow_parent(pid_t parent);
// Makes this process one that listings do not take for us. ADOPT: orphans among its descendants
// become its children, where the system can do that.
void etp_os_become_supervisor(bool adopt);
// Processes to end so that nothing stays of what this process started: its children, and theirs
// where orphans are not adopted. At most CAP; call again when those are gone.
size_t etp_os_descendants(pid_t *out, size_t cap);
// Closes every descriptor from FIRST on but KEEP.
void etp_os_close_from(int first, int keep);
// rusage.ru_maxrss in bytes.
uint64_t etp_os_rss_bytes(long ru_maxrss);
// Whether the peak memory of CHILD, which has ended, may be that of MAKER, which forked it, before
// exec, rather than of the program that ran.
bool etp_os_peak_is_inherited(const struct rusage *child, const struct rusage *maker);
char **etp_os_environ(void);
// Makes descriptor FD really reach the disk.
bool etp_os_full_sync(int fd);
// End of the pipe that etp_process_read watches for signals, -1 before etp_os_catch_signals.
int etp_os_wake_fd(void);
void etp_os_wake_drain(void);

#endif
