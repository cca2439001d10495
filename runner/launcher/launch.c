// SPDX-License-Identifier: Apache-2.0
// What every way of starting a program needs: the reason of a failure, the CPUs to stay on.
#include "launch.h"

#include <errno.h>
#if defined(__linux__)
#include <sched.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void launch_why(launch *l, const char *format, ...)
{
    if (l->why[0] == '\0') {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(l->why, sizeof l->why, format, args);
        va_end(args);
    }
}

void launch_as_it_is(launch *l)
{
    (void)execvp(l->argv[0], l->argv);
    launch_why(l, "cannot start %s: %s", l->argv[0], strerror(errno));
}

#if defined(__APPLE__)

bool launch_pin(launch *l)
{
    if (l->cpus) {
        launch_why(l, "macOS cannot keep a program on CPUs");
    }
    return l->cpus == NULL;
}

#else

// "0,2-3"
bool launch_pin(launch *l)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const char *p = l->cpus; p && *p != '\0';) {
        char *end;
        unsigned long first = strtoul(p, &end, 10), last = first;
        bool ok = end != p && *p >= '0' && *p <= '9';
        if (ok && *end == '-') {
            p = end + 1;
            last = strtoul(p, &end, 10);
            ok = end != p && *p >= '0' && *p <= '9' && last >= first;
        }
        if (!ok || last >= CPU_SETSIZE || (*end != ',' && *end != '\0')) {
            launch_why(l, "--cpus takes numbers and ranges, e.g. 0,2-3, not %s", l->cpus);
            return false;
        }
        for (unsigned long i = first; i <= last; i++) {
            CPU_SET(i, &set);
        }
        p = end + (*end == ',');
    }
    if (l->cpus && sched_setaffinity(0, sizeof set, &set) != 0) {
        launch_why(l, "CPUs %s: %s", l->cpus, strerror(errno));
        return false;
    }
    return true;
}

#endif
