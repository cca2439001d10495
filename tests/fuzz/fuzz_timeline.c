// SPDX-License-Identifier: Apache-2.0
// Timeline tables: what is read is a tree whose parts follow their whole, with a duration per run.
#include "fuzz.h"
#include "trace/timeline.h"

static void check(const etp_trace_block *b)
{
    for (uint32_t i = 0; i < b->n_events; i++) {
        uint32_t parent = b->events[i].parent;
        FUZZ_CHECK(parent == ETP_NO_INDEX || (parent > i && parent < b->n_events));
        for (size_t k = 0; k < b->n_runs; k++) {
            FUZZ_CHECK(etp_trace_durations(b, i)[k] <= INT64_MAX);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_arena arena = {0};
    etp_timeline t;
    if (etp_timeline_open((etp_str){(const char *)data, size}, &arena, &t, NULL) == ETP_OK) {
        for (size_t i = 0; i < t.n; i++) {
            for (size_t b = 0; b < etp_trace_block_count(t.traces[i]); b++) {
                check(etp_trace_block_at(t.traces[i], b));
            }
            etp_trace_close(t.traces[i]);
        }
    }
    etp_arena_dispose(&arena);
    return 0;
}
