// SPDX-License-Identifier: Apache-2.0
// x86-64: the seccomp filter that stops a program where the tracer is needed, and which instruction
// may take the place of `cpuid`.
//
// `int $0x80` is two bytes long as cpuid is, keeps every register and raises no signal: the filter
// hands the 32-bit system call to the tracer, which makes none of it. Where the kernel has no
// 32-bit system calls, or where another filter would see the call first and refuse it (containers),
// it is a jump to itself, and the tracer looks where threads are (spin_linux.c). Instructions that
// trap (ud2, int3, hlt) force a signal, and the kernel then forgets that a program blocks or
// ignores it.
#include "tracer.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))

// Without SPEC_ALLOW kernels before 5.16 slow a filtered program down by a mitigation (SSBD).
static bool install(struct sock_fprog *program)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                    program) == 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) == 0);
}

bool cpu_prepare_child(const launch *l)
{
    const uint32_t foreign = l->trap == TRAP_INT80 ? SECCOMP_RET_TRACE : SECCOMP_RET_ALLOW;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, foreign),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 2), // that makes code
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[2])),  // protection, low word
        // Jumps count the instructions they pass over: the last two of CODE are "stop" and "go on".
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 4, 5),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0), // that adds a filter
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return install(&program);
}

unsigned long cpu_trace_options(const launch *l)
{
    (void)l;
    return PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD;
}

// Are we under a filter of somebody else?
static bool is_filtered(void)
{
    char line[256];
    int mode = 1;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "Seccomp: %d", &mode) == 1) {
            break;
        }
    }
    if (f) {
        (void)fclose(f);
    }
    return mode != 0;
}

// getpid by its 32-bit number, with marks in the registers that old kernels clear.
static int ask_pid(void)
{
    unsigned long pid = 20, r8 = 0x1122334455667788, r11 = 0x8877665544332211;
    __asm__ volatile(
        "movq %1, %%r8\n\tmovq %2, %%r11\n\tint $0x80\n\tmovq %%r8, %1\n\tmovq %%r11, %2"
        : "+a"(pid), "+r"(r8), "+r"(r11)
        :
        : "r8", "r11", "memory");
    return pid == (unsigned long)getpid() && r8 == 0x1122334455667788 && r11 == 0x8877665544332211
               ? 0
               : 1;
}

launch_trap cpu_choose_trap(void)
{
    if (is_filtered()) {
        return TRAP_SPIN;
    }
    pid_t pid = fork(); // where there are no 32-bit calls the instruction faults
    if (pid == 0) {
        _exit(ask_pid());
    }
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? TRAP_INT80 : TRAP_SPIN;
}
