// SPDX-License-Identifier: Apache-2.0
// arm64: features are what the kernel writes into the auxiliary vector; nothing else is needed, and
// nothing is paid later.
#include "tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

bool cpu_prepare_child(const launch *l)
{
    (void)l;
    return true;
}

unsigned long cpu_trace_options(const launch *l)
{
    (void)l;
    return 0;
}

bool cpu_after_exec(tracer *t, tracee *thread)
{
    launch *l = t->launch;
    struct user_regs_struct regs;
    struct iovec io = {&regs, sizeof regs};
    char path[64];
    if (ptrace(PTRACE_GETREGSET, thread->tid, (void *)(uintptr_t)NT_PRSTATUS, &io) != 0) {
        launch_why(l, "cannot read the registers of process %d: %s", (int)thread->tid,
                   strerror(errno));
        return false;
    }
    if (io.iov_len != sizeof regs) {
        launch_why(l, "a 32-bit program: levels are about 64-bit ones");
        return false;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)thread->tid);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        launch_why(l, "cannot open %s: %s", path, strerror(errno));
        return false;
    }
    l->method = "auxv";
    bool ok = auxv_hide(l, thread->tid, fd, regs.sp);
    (void)close(fd);
    return ok;
}

bool cpu_after_fork(tracer *t, pid_t parent, pid_t child)
{
    (void)t;
    (void)parent;
    (void)child;
    return true;
}

void cpu_process_gone(tracer *t, pid_t tgid)
{
    (void)t;
    (void)tgid;
}

bool cpu_syscall_begins(tracer *t, tracee *thread)
{
    (void)t;
    (void)thread;
    return true;
}

bool cpu_mapping_ended(tracer *t, tracee *thread, bool *out_again)
{
    (void)t;
    (void)thread;
    *out_again = false;
    return true;
}

cpu_event cpu_stopped(tracer *t, tracee *thread)
{
    (void)t;
    (void)thread;
    return CPU_NOT_OURS;
}

bool cpu_may_spin(tracer *t, const tracee *thread)
{
    (void)t;
    (void)thread;
    return false;
}

launch_trap cpu_choose_trap(void)
{
    return TRAP_NONE;
}

bool cpu_faulting(void)
{
    return false;
}

void cpu_free(tracer *t)
{
    (void)t;
}
