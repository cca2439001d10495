// SPDX-License-Identifier: Apache-2.0
// Others that use the counters, then the given program: occupy pinned|shared COUNT PROGRAM …
// pinned: a profiler of the whole CPU 0, whose the counters are; shared: one of this program, with
// which they take turns (a whole CPU's goes before). For root.
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 4) {
        return 125;
    }
    for (int i = 0; i < atoi(argv[2]); i++) { // left open: the program inherits them
        struct perf_event_attr attr;
        memset(&attr, 0, sizeof attr);
        attr.size = sizeof attr;
        attr.type = PERF_TYPE_HARDWARE;
        attr.config = PERF_COUNT_HW_CPU_CYCLES;
        attr.pinned = strcmp(argv[1], "pinned") == 0;
        if (syscall(SYS_perf_event_open, &attr, attr.pinned ? -1 : 0, attr.pinned ? 0 : -1, -1, 0) <
            0) {
            perror("perf_event_open");
            return 125;
        }
    }
    execv(argv[3], argv + 3);
    return 126;
}
