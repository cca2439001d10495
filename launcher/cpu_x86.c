// SPDX-License-Identifier: Apache-2.0
// x86-64: programs ask the CPU itself, with the instruction `cpuid`. It is replaced, in the code of
// the program and of the libraries it maps, by one that traps (two bytes like cpuid), and answered
// here with the hidden features left out. The C library's own questions are left alone.
//
// A seccomp filter (filter_x86.c) stops the program where it asks, at mmap calls that make code of
// a file and where it adds filters of its own, and only there; the program needs its tracer for as
// long as it lives.
#include "tracer.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#define ARCH_SET_CPUID_ 0x1012

static const unsigned char k_cpuid[2] = {0x0f, 0xa2}, k_int80[2] = {0xcd, 0x80},
                           k_spin[2] = {0xeb, 0xfe}; // jumps to itself

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
    if (from) {
        to->filtered = from->filtered;
        to->spins = from->spins;
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

static bool put(tracer *t, space *s, int mem_fd, uint64_t address)
{
    launch *l = t->launch;
    bool spin = l->trap != TRAP_INT80 || s->filtered;
    const unsigned char *trap = spin ? k_spin : k_int80;
    if (pwrite(mem_fd, trap, 2, (off_t)address) != 2) {
        launch_why(l, "cannot change the code of process %d: %s", (int)s->tgid, strerror(errno));
        return false;
    }
    if (spin) {
        s->spins = true;
        spin_expect(t);
    }
    return true;
}

static bool replace(tracer *t, space *s, int mem_fd, uint64_t address)
{
    unsigned char now[2];
    if (pread(mem_fd, now, 2, (off_t)address) != 2 || memcmp(now, k_cpuid, 2) != 0) {
        return true; // not what the file says: somebody else's change
    }
    if (!put(t, s, mem_fd, address)) {
        return false;
    }
    if (!remember(s, address)) {
        launch_why(t->launch, "out of memory");
        return false;
    }
    t->launch->sites++;
    return true;
}

// What was mapped there before is gone.
static void forget_sites(space *s, uint64_t start, uint64_t length)
{
    for (size_t i = 0; i < s->n;) {
        if (s->sites[i] - start < length) {
            s->sites[i] = s->sites[--s->n];
        } else {
            i++;
        }
    }
}

// A program whose questions cannot be answered: the level would not be in force. (Of a library it
// is counted: most have nothing to do with kernels.)
static bool is_sure(launch *l, const cpuid_sites *sites)
{
    if (sites->unsure > 0 && sites->n == 0) {
        launch_why(l,
                   "the program has no tables of its functions (.eh_frame): its cpuid instructions "
                   "cannot be told "
                   "from constants%s",
                   l->cpuid_faulting
                       ? "; trapping them by CPUID faulting, which this system offers, is not "
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
    space *s = space_of(t, thread->tgid, true);
    if (s) {
        s->n = 0; // what it was before; its filters stay
        s->spins = false;
    }
    if (!s || ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) != 0) {
        launch_why(l, "cannot read the registers of process %d: %s", (int)thread->tid,
                   strerror(errno));
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
        // What the kernel moved the program by: 0 for one that has fixed addresses.
        uint64_t bias = auxv_entry(fd, regs.rsp) - sites.entry;
        ok = ok && is_sure(l, &sites);
        l->missed += (unsigned)sites.unsure;
        l->left += (unsigned)sites.left;
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

// A mmap that makes code is about to be made.
static void mapping_begins(tracee *thread, const struct user_regs_struct *regs)
{
    char path[64], target[4096];
    int fd = (int)regs->r8;
    if (fd < 0 || (regs->r10 & MAP_ANONYMOUS) != 0) {
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread->tid, fd);
    ssize_t len = readlink(path, target, sizeof target - 1);
    if (len <= 0) {
        return;
    }
    target[len] = '\0';
    free(thread->mapped);
    thread->mapped = strdup(target);
    thread->offset = regs->r9;
    thread->length = regs->rsi;
    thread->shared = (regs->r10 & MAP_TYPE) != MAP_PRIVATE;
    thread->mapping = thread->mapped != NULL;
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
    // Results from −4095 to −1 are errors; what was mapped otherwise may be no ELF file.
    if ((result < 0 && result > -4096) || !elf_find_cpuid(thread->mapped, &sites)) {
        return true;
    }
    bool ok = true;
    t->launch->missed += (unsigned)sites.unsure;
    t->launch->left += (unsigned)sites.left;
    int fd = sites.n > 0 ? open_memory(t->launch, thread->tid) : -1;
    space *s = space_of(t, thread->tgid, true);
    if (!s || (sites.n > 0 && fd < 0)) {
        ok = false;
    } else {
        forget_sites(s, regs.rax, thread->length);
    }
    for (size_t i = 0; ok && i < sites.n; i++) {
        uint64_t in = sites.offsets[i] - thread->offset;
        if (sites.offsets[i] < thread->offset || in >= thread->length) {
            continue;
        }
        if (thread->shared) { // what is written there is written to the file
            t->launch->missed++;
        } else {
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

static bool is_site(tracer *t, pid_t tgid, uint64_t address)
{
    const space *s = space_of(t, tgid, false);
    for (size_t i = 0; s && i < s->n; i++) {
        if (s->sites[i] == address) {
            return true;
        }
    }
    return false;
}

// Some leaves tell about the CPU that asks (its number, its kind of core): go there.
static void follow_to_cpu(pid_t tid)
{
    int cpu = (int)thread_stat(tid, STAT_CPU);
    if (cpu < 0 || cpu >= CPU_SETSIZE || cpu == sched_getcpu()) {
        return;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set); // not allowed there: our own CPU answers
}

// Gives the answer to the cpuid that was at regs->rip; the caller moves on.
static bool answer(tracer *t, tracee *thread, struct user_regs_struct *regs)
{
    uint32_t leaf = (uint32_t)regs->rax, subleaf = (uint32_t)regs->rcx, out[4];
    follow_to_cpu(thread->tid);
    __cpuid_count(leaf, subleaf, out[0], out[1], out[2], out[3]);
    t->launch->answers++;
    t->launch->changed += etp_x86_cpuid_hide(&t->launch->mask.x86, leaf, subleaf, out);
    regs->rax = out[0];
    regs->rbx = out[1];
    regs->rcx = out[2];
    regs->rdx = out[3];
    if (ptrace(PTRACE_SETREGS, thread->tid, NULL, regs) != 0 && errno != ESRCH) {
        launch_why(t->launch, "cannot answer process %d: %s", (int)thread->tid, strerror(errno));
        return false;
    }
    return true;
}

bool cpu_may_spin(tracer *t, const tracee *thread)
{
    const space *s = space_of(t, thread->tgid, false);
    return s && s->spins;
}

cpu_event cpu_stopped(tracer *t, tracee *thread)
{
    struct user_regs_struct regs;
    if (!cpu_may_spin(t, thread) || ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) != 0 ||
        !is_site(t, thread->tgid, regs.rip)) {
        return CPU_NOT_OURS;
    }
    regs.rip += 2;
    spin_expect(t);
    return answer(t, thread, &regs) ? CPU_HANDLED : CPU_FAILED;
}

// It is about to add a filter of its own, which may refuse 32-bit calls before we hear of them.
static bool filter_begins(tracer *t, tracee *thread)
{
    space *s = space_of(t, thread->tgid, true);
    if (!s) {
        launch_why(t->launch, "out of memory");
        return false;
    }
    if (s->filtered) {
        return true;
    }
    s->filtered = true;
    int fd = open_memory(t->launch, thread->tid);
    bool ok = fd >= 0;
    for (size_t i = 0; ok && i < s->n; i++) {
        unsigned char now[2];
        if (pread(fd, now, 2, (off_t)s->sites[i]) == 2 && memcmp(now, k_int80, 2) == 0) {
            ok = put(t, s, fd, s->sites[i]);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

bool cpu_syscall_begins(tracer *t, tracee *thread)
{
    struct user_regs_struct regs;
    thread->mapping = false;
    if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &regs) != 0) {
        return errno == ESRCH;
    }
    if (is_site(t, thread->tgid, regs.rip - 2)) {
        regs.rax =
            (uint32_t)regs.orig_rax; // the leaf; rax itself already says that there is no such call
        regs.orig_rax = UINT64_MAX;  // and none is made
        return answer(t, thread, &regs);
    }
    static const unsigned char k_syscall[2] = {0x0f, 0x05};
    errno = 0;
    long code = ptrace(PTRACE_PEEKTEXT, thread->tid, (void *)(uintptr_t)(regs.rip - 2),
                       NULL); // NOLINT: an address
    if (errno != 0 || memcmp(&code, k_syscall, 2) != 0) {
        return true; // a 32-bit call of its own
    }
    if (regs.orig_rax == SYS_mmap) {
        mapping_begins(thread, &regs);
    } else if (regs.orig_rax == SYS_seccomp || regs.orig_rax == SYS_prctl) {
        return filter_begins(t, thread);
    }
    return true;
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
