// SPDX-License-Identifier: Apache-2.0
// Following started programs by ptrace: what the architectures do at the stops.
#ifndef ETP_LAUNCHER_TRACER_H
#define ETP_LAUNCHER_TRACER_H

#include "launch.h"

typedef struct tracee { // one thread
    pid_t tid, tgid;
    bool mapping; // its next stop is the end of an mmap that makes code
    bool shared;  // that mmap is of the file itself, not of a copy
    bool asked;   // where it is: its next stop may be ours (spin_linux.c)
    char *mapped; // file of that mmap
    uint64_t offset, length;
} tracee;

typedef struct space { // replaced instructions of one process
    pid_t tgid;
    bool filtered; // has seccomp filters of its own
    bool spins;    // there are sites where its threads wait in a jump to itself
    uint64_t *sites;
    size_t n, cap;
} space;

typedef struct tracer {
    launch *launch;
    tracee *items;
    size_t n, cap;
    space *spaces;
    size_t n_spaces, cap_spaces;
    unsigned look_us; // how often threads are asked where they are, 0 never
} tracer;

typedef enum cpu_event { CPU_NOT_OURS, CPU_HANDLED, CPU_FAILED } cpu_event;

// In the child, before exec: what must be set up there. False: errno tells why.
bool cpu_prepare_child(const launch *l);
// ptrace options on top of the usual ones.
unsigned long cpu_trace_options(const launch *l);
// The thread has just executed a program; nothing of it has run.
bool cpu_after_exec(tracer *t, tracee *thread);
// A child process was forked from PARENT; nothing to do when it is known already.
bool cpu_after_fork(tracer *t, pid_t parent, pid_t child);
// A process is gone.
void cpu_process_gone(tracer *t, pid_t tgid);
// The filter stopped the thread at the beginning of a system call.
bool cpu_syscall_begins(tracer *t, tracee *thread);
// A mmap that makes code has ended.
bool cpu_mapping_ended(tracer *t, tracee *thread, bool *out_again);
// The thread was stopped to see where it is: answered when that is one of its sites.
cpu_event cpu_stopped(tracer *t, tracee *thread);
// Whether the thread's process has sites where threads wait to be found.
bool cpu_may_spin(tracer *t, const tracee *thread);
// What takes the place of cpuid (x86-64); asks the system.
launch_trap cpu_choose_trap(void);
// Whether the system offers to trap CPUID (x86-64).
bool cpu_faulting(void);
void cpu_free(tracer *t);

// ---- spin_linux.c ----

// Fields of /proc/<tid>/stat, counted from 1: its state as a letter, the CPU it ran on last.
enum { STAT_STATE = 3, STAT_CPU = 39 };
// -1: the thread is gone.
long long thread_stat(pid_t tid, int wanted);
// Questions may come soon: look often.
void spin_expect(tracer *t);
// Asks running threads where they are; called when waitpid was interrupted.
void spin_look(tracer *t);

#endif
