// SPDX-License-Identifier: Apache-2.0
// x86-64: programs ask the CPU itself, with the instruction `cpuid`. It is replaced, in the code of the
// program and of the libraries it maps, by one that traps (ud2, two bytes like cpuid), and answered here
// with the hidden features left out. The C library's own questions are left alone.
//
// A seccomp filter stops the program at mmap calls that make code of a file, and only there; the program
// needs its tracer for as long as it lives.
#include "trace.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#define ARCH_GET_CPUID_ 0x1011
#define ARCH_SET_CPUID_ 0x1012

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))

bool cpu_prepare_child(const launch *l)
{
    (void)l;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[2])), // protection, low word
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

unsigned long cpu_trace_options(const launch *l)
{
    (void)l;
    return PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD;
}

// ---- replaced instructions of each process ----

static space *space_of(tracer *t, pid_t tgid, bool make)
{
    for (size_t i = 0; i < t->n_spaces; i++) {
        if (t->spaces[i].tgid == tgid) {
            return &t->spaces[i];
        }
    }
    if (!make) {
        return NULL;
    }
    if (t->n_spaces == t->cap_spaces) {
        size_t cap = t->cap_spaces ? 2 * t->cap_spaces : 8;
        space *more = realloc(t->spaces, cap * sizeof *more);
        if (!more) {
            return NULL;
        }
        t->spaces = more;
        t->cap_spaces = cap;
    }
    t->spaces[t->n_spaces] = (space){.tgid = tgid};
    return &t->spaces[t->n_spaces++];
}

static bool remember(space *s, uint64_t address)
{
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        uint64_t *more = realloc(s->sites, cap * sizeof *more);
        if (!more) {
            return false;
        }
        s->sites = more;
        s->cap = cap;
    }
    s->sites[s->n++] = address;
    return true;
}

bool cpu_after_fork(tracer *t, pid_t parent, pid_t child)
{
    if (space_of(t, child, false)) { // known already
        return true;
    }
    space *to = space_of(t, child, true);
    space *from = to ? space_of(t, parent, false) : NULL; // after TO: making it may move the array
    for (size_t i = 0; from && i < from->n; i++) {
        if (!remember(to, from->sites[i])) {
            return false;
        }
    }
    return to != NULL;
}

void cpu_process_gone(tracer *t, pid_t tgid)
{
    for (size_t i = 0; i < t->n_spaces; i++) {
        if (t->spaces[i].tgid == tgid) {
            free(t->spaces[i].sites);
            t->spaces[i] = t->spaces[--t->n_spaces];
            return;
        }
    }
}

void cpu_free(tracer *t)
{
    while (t->n_spaces > 0) {
        cpu_process_gone(t, t->spaces[0].tgid);
    }
    free(t->spaces);
    t->spaces = NULL;
}

// ---- replacing ----

static int open_memory(launch *l, pid_t tid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)tid);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        launch_why(l, "cannot open %s: %s", path, strerror(errno));
    }
    return fd;
}

static bool replace(tracer *t, space *s, int mem_fd, uint64_t address)
{
    static const unsigned char k_cpuid[2] = {0x0f, 0xa2}, k_ud2[2] = {0x0f, 0x0b};
    unsigned char now[2];
    if (pread(mem_fd, now, 2, (off_t)address) != 2 || memcmp(now, k_cpuid, 2) != 0) {
        return true; // not what the file says: somebody else's change
    }
    if (pwrite(mem_fd, k_ud2, 2, (off_t)address) != 2 || !remember(s, address)) {
        launch_why(t->launch, "cannot change the code of process %d: %s", (int)s->tgid, strerror(errno));
        return false;
    }
    t->launch->sites++;
    return true;
}

// A file whose questions cannot be answered: the level would silently not be in force.
static bool is_sure(launch *l, const cpuid_sites *sites, const char *path)
{
    if (sites->unsure && sites->n == 0) {
        launch_why(l, "%s has no tables of its functions (.eh_frame): its cpuid instructions cannot be told from "
                      "constants%s", path,
                   l->cpuid_faulting ? "; trapping them by CPUID faulting, which this system offers, is not "
                                       "built in"
                                     : ", and this system does not offer to trap them");
        return false;
    }
    return true;
}

bool cpu_after_exec(tracer *t, tracee *thread)
{
    launch *l = t->launch;
    struct user_regs_struct regs;
    char path[64];
    l->method = "cpuid";
    cpu_process_gone(t, thread->tgid); // what it was before
    space *s = space_of(t, thread->tgid, true);
    if (!s || ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) != 0) {
        launch_why(l, "cannot read the registers of process %d: %s", (int)thread->tid, strerror(errno));
        return false;
    }
    int fd = open_memory(l, thread->tid);
    if (fd < 0) {
        return false;
    }
    bool ok = true;
    if (l->mask.hwcap != 0 || l->mask.hwcap2 != 0) { // asked for by number
        ok = auxv_hide(l, thread->tid, fd, regs.rsp);
    }
    cpuid_sites sites;
    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)thread->tid);
    if (elf_find_cpuid(path, &sites)) {
        uint64_t bias = auxv_entry(fd, regs.rsp) - sites.entry;
        ok = ok && is_sure(l, &sites, "the program");
        for (size_t i = 0; ok && i < sites.n; i++) {
            for (size_t c = 0; c < sites.n_code; c++) {
                uint64_t in = sites.offsets[i] - sites.code[c].offset;
                if (sites.offsets[i] >= sites.code[c].offset && in < sites.code[c].size) {
                    ok = ok && replace(t, s, fd, bias + sites.code[c].vaddr + in);
                }
            }
        }
    }
    elf_sites_free(&sites);
    (void)close(fd);
    return ok;
}

bool cpu_mapping_begins(tracer *t, tracee *thread)
{
    (void)t;
    struct user_regs_struct regs;
    char path[64], target[4096];
    thread->mapping = false;
    if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) != 0) {
        return errno == ESRCH;
    }
    int fd = (int)regs.r8;
    if (fd < 0 || (regs.r10 & MAP_ANONYMOUS) != 0) {
        return true;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->tid, fd);
    ssize_t len = readlink(path, target, sizeof target - 1);
    if (len <= 0) {
        return true;
    }
    target[len] = '\0';
    free(thread->mapped);
    thread->mapped = strdup(target);
    thread->offset = regs.r9;
    thread->length = regs.rsi;
    thread->mapping = thread->mapped != NULL;
    return true;
}

bool cpu_mapping_ended(tracer *t, tracee *thread, bool *out_again)
{
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) != 0) {
        return errno == ESRCH;
    }
    long long result = (long long)regs.rax;
    if (result == -ENOSYS) { // kernels before 4.8 report the beginning first
        *out_again = true;
        return true;
    }
    thread->mapping = false;
    cpuid_sites sites;
    if ((result < 0 && result > -4096) || !elf_find_cpuid(thread->mapped, &sites)) {
        return true;
    }
    bool ok = true;
    int fd = sites.n > 0 ? open_memory(t->launch, thread->tid) : -1;
    space *s = space_of(t, thread->tgid, true);
    ok = is_sure(t->launch, &sites, thread->mapped);
    if (sites.n > 0 && (fd < 0 || !s)) {
        ok = false;
    }
    for (size_t i = 0; ok && i < sites.n; i++) {
        uint64_t in = sites.offsets[i] - thread->offset;
        if (sites.offsets[i] >= thread->offset && in < thread->length) {
            ok = replace(t, s, fd, regs.rax + in);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    elf_sites_free(&sites);
    return ok;
}

// ---- answering ----

cpu_event cpu_signal(tracer *t, tracee *thread, int signal)
{
    if (signal != SIGILL) {
        return CPU_NOT_OURS;
    }
    struct user_regs_struct regs;
    space *s = space_of(t, thread->tgid, false);
    if (!s || ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) != 0) {
        return CPU_NOT_OURS;
    }
    bool ours = false;
    for (size_t i = 0; i < s->n && !ours; i++) {
        ours = s->sites[i] == regs.rip;
    }
    if (!ours) {
        return CPU_NOT_OURS;
    }
    uint32_t leaf = (uint32_t)regs.rax, subleaf = (uint32_t)regs.rcx, answer[4];
    __cpuid_count(leaf, subleaf, answer[0], answer[1], answer[2], answer[3]);
    t->launch->answers++;
    t->launch->changed += etp_x86_cpuid_hide(&t->launch->mask.x86, leaf, subleaf, answer);
    regs.rax = answer[0];
    regs.rbx = answer[1];
    regs.rcx = answer[2];
    regs.rdx = answer[3];
    regs.rip += 2;
    if (ptrace(PTRACE_SETREGS, thread->tid, NULL, &regs) != 0) {
        launch_why(t->launch, "cannot answer process %d: %s", (int)thread->tid, strerror(errno));
        return CPU_FAILED;
    }
    return CPU_HANDLED;
}

// Asks the system to trap cpuid in this process and takes it back at once.
bool cpu_faulting(void)
{
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID_, 0) != 0) {
        return false;
    }
    (void)syscall(SYS_arch_prctl, ARCH_SET_CPUID_, 1);
    return true;
}
