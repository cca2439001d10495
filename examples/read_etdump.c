// SPDX-License-Identifier: Apache-2.0
// Mean time of every operator of an ETDump: what a tool on libetprof looks like.
//   cc read_etdump.c -letprof -o read_etdump && ./read_etdump model.etdump
#include <stdio.h>

#include <etprof/trace.h>

int main(int argc, char **argv)
{
    static uint8_t data[16 << 20];
    FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!f) {
        fprintf(stderr, "usage: read_etdump FILE.etdump\n");
        return 2;
    }
    etp_bytes bytes = {data, fread(data, 1, sizeof data, f), 0};
    fclose(f);

    etp_error err = {0};
    etp_trace *trace = NULL;
    if (etp_trace_open(bytes, NULL, &trace, &err) != ETP_OK) {
        fprintf(stderr, "%s: byte %llu: %s\n", argv[1], (unsigned long long)err.offset, err.msg);
        return etp_status_exit_code(err.status);
    }
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        printf("%.*s: %zu executions of %zu events\n", ETP_STR_ARG(block->name), block->n_runs,
               block->n_events);
        for (uint32_t e = 0; e < block->n_events; e++) {
            uint64_t sum = 0;
            for (size_t r = 0; block->events[e].leaf && r < block->n_runs; r++) {
                sum += etp_trace_durations(block, e)[r];
            }
            if (block->events[e].leaf) {
                printf("%10.3f us  %.*s\n", (double)sum / (double)block->n_runs / 1e3,
                       ETP_STR_ARG(block->events[e].name));
            }
        }
    }
    etp_trace_close(trace);
    return 0;
}
