// SPDX-License-Identifier: Apache-2.0
// The supervisor of a child: a process between us and it that outlives us for as long as it takes
// to end the child and what the child started, however we ended. Private to this room.
#ifndef ETP_OS_POSIX_SUPERVISOR_H
#define ETP_OS_POSIX_SUPERVISOR_H

#include <sys/resource.h>
#include <sys/types.h>

#include "os/os.h"

// What it writes to its socket, in this order. The end of its input is the order to end everything.
typedef struct etp_supervisor_started {
    pid_t pid;  // of the child; 0: fork failed
    int failed; // errno then
    uint64_t start_ns;
} etp_supervisor_started;
typedef struct etp_supervisor_ended { // the child is gone, and with it what it left behind
    int status;                       // as waitpid has it
    struct rusage usage;
    uint64_t end_ns;
} etp_supervisor_ended;

// The whole life of a supervisor, in a process that was forked for it with all signals blocked.
// SOCKET is its end. START runs in the child and ends it or becomes it.
_Noreturn void etp_supervisor_run(int socket, etp_process_leaves leaves,
                                  void (*start)(const void *), const void *ctx);

#endif
