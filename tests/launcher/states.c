// SPDX-License-Identifier: Apache-2.0
// Programs that notice when a tracer is careless: each prints what it sees of itself. Linux on
// x86-64.
//   shared FILE     maps FILE, a copy of this program, shared and writable, and asks CPUID from
//   there blocked, ignored, handled
//                   asks CPUID with SIGILL in that state (a handled one is blocked, too), and says
//                   the state afterwards
//   caught          the same with a handler and nothing blocked
//   topology        asks on every CPU it may use who that CPU is
//   threads         asks in eight threads at once, and in a forked process a little later
//   computes        asks, and computes for two seconds
//   filtered        asks under a seccomp filter of its own that refuses 32-bit system calls
//   under PROGRAM ARG...
//                   runs PROGRAM under such a filter, as containers do
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef unsigned ask_function(void);

// AVX2 and AVX-512F. No address of its own, so that a copy of it works anywhere.
__attribute__((noinline, noclone, section("alone"))) static unsigned ask(void)
{
    unsigned a, b, c, d;
    __cpuid_count(7, 0, a, b, c, d);
    (void)a, (void)c, (void)d;
    return b & (1u << 5 | 1u << 16);
}

static uint64_t in_file; // of ask()

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    uintptr_t at = (uintptr_t)&ask;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && at - info->dlpi_addr - p->p_vaddr < p->p_filesz) {
            in_file = at - info->dlpi_addr - p->p_vaddr + p->p_offset;
        }
    }
    return 1; // the program comes first
}

static int shared(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR);
    (void)dl_iterate_phdr(find, NULL);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return 2;
    }
    unsigned char *p =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        return 2;
    }
    ask_function *f;
    void *at = p + in_file;
    memcpy(&f, &at, sizeof f);
    return printf("%s\n", f() == ask() ? "the same" : "another answer") < 0;
}

static void on_ill(int signal)
{
    (void)signal;
    (void)!write(1, "handler called\n", 15);
}

static int state(const char *what)
{
    struct sigaction sa, now;
    sigset_t set, left;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = strcmp(what, "ignored") == 0                                  ? SIG_IGN
                    : strcmp(what, "handled") == 0 || strcmp(what, "caught") == 0 ? on_ill
                                                                                  : SIG_DFL;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGILL);
    (void)sigaction(SIGILL, &sa, NULL);
    if (strcmp(what, "ignored") != 0 && strcmp(what, "caught") != 0) { // blocked, also when handled
        (void)sigprocmask(SIG_BLOCK, &set, NULL);
    }
    unsigned seen = ask();
    (void)sigaction(SIGILL, NULL, &now);
    (void)sigprocmask(SIG_BLOCK, NULL, &left);
    return printf("handler %s, blocked %d, seen %x\n",
                  now.sa_handler == SIG_IGN   ? "ignore"
                  : now.sa_handler == SIG_DFL ? "default"
                                              : "own",
                  sigismember(&left, SIGILL), seen) < 0;
}

static int topology(void)
{
    cpu_set_t all, one;
    unsigned a, b, c, d;
    if (sched_getaffinity(0, sizeof all, &all) != 0) {
        return 2;
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CPU_SETSIZE; i++) {
            if (!CPU_ISSET(i, &all)) {
                continue;
            }
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            if (sched_setaffinity(0, sizeof one, &one) != 0) {
                return 2;
            }
            __cpuid(1, a, b, c, d);
            unsigned initial = b >> 24, extended = 0;
            if (__get_cpuid_max(0, NULL) >= 11) {
                __cpuid_count(11, 0, a, b, c, extended);
            }
            printf("cpu %d: %u %u\n", i, initial, extended);
        }
    }
    return 0;
}

static void *ask_in_thread(void *out)
{
    *(unsigned *)out = ask();
    return NULL;
}

static int threads(void)
{
    pthread_t all[8];
    unsigned seen[8];
    for (int i = 0; i < 8; i++) {
        if (pthread_create(&all[i], NULL, ask_in_thread, &seen[i]) != 0) {
            return 2;
        }
    }
    for (int i = 0; i < 8; i++) {
        (void)pthread_join(all[i], NULL);
        printf("%x\n", seen[i]);
    }
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        (void)usleep(300000);
        printf("%x\n", ask());
        (void)fflush(stdout);
        _exit(0);
    }
    return pid < 0 || waitpid(pid, NULL, 0) != pid;
}

static int computes(void)
{
    unsigned seen = ask();
    struct timespec begin, now;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 2 ||
             (now.tv_sec - begin.tv_sec == 2 && now.tv_nsec < begin.tv_nsec));
    return printf("%x\n", seen) < 0;
}

static bool filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int filtered(void)
{
    unsigned before = ask();
    if (!filter()) {
        return 2;
    }
    return printf("%x %x\n", before, ask()) < 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "under") == 0 && argc > 2) {
        (void)(filter() && execv(argv[2], argv + 2));
        return 2;
    }
    return strcmp(what, "shared") == 0     ? argc == 3 ? shared(argv[2]) : 2
           : strcmp(what, "topology") == 0 ? topology()
           : strcmp(what, "filtered") == 0 ? filtered()
           : strcmp(what, "threads") == 0  ? threads()
           : strcmp(what, "computes") == 0 ? computes()
                                           : state(what);
}
