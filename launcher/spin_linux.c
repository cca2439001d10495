// SPDX-License-Identifier: Apache-2.0
// Threads that wait for an answer in a jump to itself, where no trap may be used (filter_x86.c).
//
// Nothing tells us that a thread has come to such a place, so we look: threads that run are stopped
// for a moment and asked where they are. Questions come in bursts, while a program starts or loads
// a library: we look often then, and ever less often while no more come, so that a program that is
// measured afterwards hardly notices (docs/runners.md has the cost).
#include "tracer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>

#define FIRST_LOOK_US 200
#define LAST_LOOK_US 50000

long long thread_stat(pid_t tid, int wanted)
{
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) {
        (void)fclose(f);
    }
    text[n] = '\0';
    const char *p = strrchr(text, ')'); // the second field is the name, which may hold anything
    for (int field = 2; p && field < wanted; field++) {
        p = strchr(p + 1, ' ');
    }
    if (!p || p[1] == '\0') {
        return -1;
    }
    return wanted == STAT_STATE ? p[1] : strtoll(p, NULL, 10);
}

// A periodic timer: it interrupts waitpid, and one that comes too early is followed by another.
static void arm(const tracer *t)
{
    suseconds_t us = (suseconds_t)t->look_us;
    struct itimerval timer = {
        {0, us},
        {0, us}
    };
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void spin_expect(tracer *t)
{
    if (t->look_us != FIRST_LOOK_US) {
        t->look_us = FIRST_LOOK_US;
        arm(t);
    }
}

void spin_look(tracer *t)
{
    if (t->look_us == 0) {
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        tracee *thread = &t->items[i];
        if (!thread->asked && cpu_may_spin(t, thread) &&
            thread_stat(thread->tid, STAT_STATE) == 'R') {
            // One that has ended in the meantime, or has stopped, is reported by waitpid.
            thread->asked = ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0;
            t->launch->looks += thread->asked;
        }
    }
    unsigned next = t->look_us + t->look_us / 4;
    unsigned before = t->look_us;
    t->look_us = next < LAST_LOOK_US ? next : LAST_LOOK_US;
    if (t->look_us != before) {
        arm(t);
    }
}
