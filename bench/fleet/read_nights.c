// SPDX-License-Identifier: Apache-2.0
// What reading alone costs: opens, verifies and groups each dump that a line of standard input
// names, on one core. Prints how many a second.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <etprof/trace.h>

#include "os/os.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
    char path[4096];
    unsigned long read = 0, refused = 0;
    uint64_t bytes = 0;
    double begun = now();
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        etp_file file;
        etp_trace *trace = NULL;
        if (etp_file_open(path, (uint64_t)1 << 32, &file, NULL) != ETP_OK) {
            refused++;
            continue;
        }
        bool ok = etp_trace_open(file.bytes, NULL, &trace, NULL) == ETP_OK;
        *(ok ? &read : &refused) += 1;
        bytes += file.bytes.len;
        etp_trace_close(trace);
        etp_file_close(&file);
    }
    double took = now() - begun;
    printf("%lu dumps, %lu refused, %.1f MB, %.2f s, %.0f dumps/s\n", read, refused,
           (double)bytes * 1e-6, took, (double)(read + refused) / took);
    return 0;
}
