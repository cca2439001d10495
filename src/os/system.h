// SPDX-License-Identifier: Apache-2.0
// What posix/ needs from linux/ or darwin/. Private to this room.
#ifndef ETP_OS_SYSTEM_H
#define ETP_OS_SYSTEM_H

#include <stdbool.h>
#include <sys/types.h>

#include "os/os.h"

// In the child between fork and exec: ends it when PARENT dies. Only async-signal-safe calls.
void etp_os_child_follow_parent(pid_t parent);
// rusage.ru_maxrss in bytes.
uint64_t etp_os_rss_bytes(long ru_maxrss);
char **etp_os_environ(void);
// Makes descriptor FD really reach the disk.
bool etp_os_full_sync(int fd);
// End of the pipe that etp_process_read watches for signals, -1 before etp_os_catch_signals.
int etp_os_wake_fd(void);
void etp_os_wake_drain(void);

#endif
