// SPDX-License-Identifier: Apache-2.0
// Prints the CPU features it sees, as a library that selects kernels would ask: getauxval on arm64.
// Elsewhere it prints nothing of them. One argument: thread, to ask in a second one; wait, to say
// "ready" and wait for a signal.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
static void ask(void)
{
    unsigned long cap2 = getauxval(26);
    printf("sme %lu sme2 %lu i8mm %lu\n", cap2 >> 23 & 1, cap2 >> 37 & 1, cap2 >> 13 & 1);
}
#else
static void ask(void)
{
    puts("nothing");
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
    if (strcmp(what, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    ask();
    return 0;
}
