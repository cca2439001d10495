// SPDX-License-Identifier: Apache-2.0
// Prints the CPU features it sees, as a library that selects kernels would ask: CPUID on x86-64,
// getauxval on arm64. One argument: what to do besides (thread, fork, exec, ud2, constant, self).
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
// The bytes 0F A2 inside an instruction: whoever replaces them breaks the sum.
static int constant(void)
{
    int v;
    __asm__ volatile("movl $0x00a20f11, %0" : "=r"(v));
    return v == 0x00a20f11;
}

static int ask(void)
{
    unsigned a, b, c, d, a7, b7, c7, d7;
    __cpuid_count(1, 0, a, b, c, d);
    __cpuid_count(7, 0, a7, b7, c7, d7);
    return printf("avx %u avx2 %u avx512f %u vnni %u\n", c >> 28 & 1, b7 >> 5 & 1, b7 >> 16 & 1,
                  c7 >> 11 & 1);
}
#else
#include <sys/auxv.h>
static int constant(void)
{
    return 1;
}

static int ask(void)
{
    unsigned long cap2 = getauxval(26);
    return printf("sme %lu sme2 %lu i8mm %lu\n", cap2 >> 23 & 1, cap2 >> 37 & 1, cap2 >> 13 & 1);
}
#endif

static void *in_thread(void *p)
{
    ask();
    return p;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "thread") == 0) {
        pthread_t t;
        return pthread_create(&t, NULL, in_thread, NULL) || pthread_join(t, NULL);
    }
    if (strcmp(what, "fork") == 0) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            ask();
            fflush(stdout);
            _exit(5);
        }
        return waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5 ? 0 : 1;
    }
    if (strcmp(what, "exec") == 0) {
        execl(argv[0], argv[0], (char *)NULL);
        return 1;
    }
    if (strcmp(what, "ud2") == 0) {
#if defined(__x86_64__)
        __asm__ volatile("ud2");
#else
        raise(SIGILL);
#endif
    }
    if (strcmp(what, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    ask();
    return constant() ? 0 : 3;
}
