// SPDX-License-Identifier: Apache-2.0
// Mean time of every operator of an ETDump of any size: what a tool on libetprof looks like.
//   cc read_etdump.c $(pkg-config --cflags --libs etprof) -o read_etdump
#include <etprof/etprof.h>
#include <stdio.h>

static void print_block(const etp_trace_block *block)
{
    printf("%.*s: %zu executions of %zu events\n", ETP_STR_ARG(block->name), block->n_runs,
           block->n_events);
    for (uint32_t e = 0; e < block->n_events; e++) {
        uint64_t sum = 0;
        for (size_t r = 0; r < block->n_runs; r++) {
            sum += etp_trace_durations(block, e)[r];
        }
        if (block->events[e].leaf) {
            printf("%10.3f us  %.*s\n", (double)sum / (double)block->n_runs / 1e3,
                   ETP_STR_ARG(block->events[e].name));
        }
    }
}

int main(int argc, char **argv)
{
    etp_error err = {ETP_USAGE, 0, ETP_NO_OFFSET, "usage: read_etdump FILE.etdump"};
    etp_mapping *file = NULL;
    etp_trace *trace = NULL;
    etp_status st = argc == 2 ? etp_mapping_open(argv[1], &file, &err) : ETP_USAGE;
    if (st == ETP_OK && etp_trace_open(etp_mapping_bytes(file), NULL, &trace, &err) == ETP_OK) {
        for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
            print_block(etp_trace_block_at(trace, b));
        }
    } else {
        fprintf(stderr, "%s\n", err.msg);
        st = st == ETP_OK ? err.status : st;
    }
    etp_trace_close(trace);
    etp_mapping_close(file);
    return etp_status_exit_code(st);
}
