// SPDX-License-Identifier: Apache-2.0
// ETDumps: whatever opens must be readable to the last value, and the shortcuts of the grouping may
// not change what is accepted.
#include <string.h>

#include <etprof/etdump.h>
#include <etprof/trace.h>

#include "convert/inspector.h"
#include "fuzz.h"
#include "trace/ops.h"

static bool discard(etp_sink *sink, const char *ptr, size_t len)
{
    (void)sink;
    static volatile char last; // the bytes have to be looked at
    if (len) {
        last = ptr[len - 1];
    }
    (void)last;
    return true;
}

static void check_trace(const etp_trace *trace)
{
    int64_t total = 0;
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        for (size_t r = 0; r < block->n_runs; r++) {
            int64_t sum = 0;
            for (uint32_t e = 0; e < block->n_events; e++) {
                total += (int64_t)etp_trace_durations(block, e)[r];
                sum += etp_trace_exclusive_ns(block, e, r);
            }
            for (uint32_t e = 0; e < block->n_events; e++) {
                if (block->events[e].parent == ETP_NO_INDEX) {
                    sum -= (int64_t)etp_trace_durations(block, e)[r];
                }
            }
            FUZZ_CHECK(sum == 0); // the tops of the tree hold all there is
        }
    }
    FUZZ_CHECK(total >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const etp_bytes bytes = {data, size, 0};
    etp_etdump dump;
    etp_trace *trace = NULL;
    etp_error full_err = {0}, err = {0};
    etp_status full = etp_etdump_open(bytes, &dump, &full_err);
    etp_status status = etp_trace_open(bytes, NULL, &trace, &err);
    FUZZ_CHECK(full == ETP_OK || (full == status && strcmp(full_err.msg, err.msg) == 0 &&
                                  full_err.offset == err.offset));
    if (status != ETP_OK) {
        FUZZ_CHECK(trace == NULL && err.msg[0] != '\0');
        return 0;
    }
    check_trace(trace);
    etp_arena arena = {0};
    etp_op_table ops;
    etp_inspector_table table;
    etp_sink sink = {.write = discard};
    FUZZ_CHECK(etp_ops_compute(trace, &arena, &ops, &err) == ETP_OK);
    FUZZ_CHECK(ops.execute_ns == ops.operators_ns + ops.remainder_ns);
    FUZZ_CHECK(etp_inspector_build(&dump, &arena, &table, &err) == ETP_OK);
    etp_inspector_tsv(&table, &sink);
    // The input serves as debug buffer too: offsets and shapes come from it.
    etp_status json = etp_inspector_json(&table, &bytes, &sink, &err);
    FUZZ_CHECK(json == ETP_OK || err.msg[0] != '\0');
    FUZZ_CHECK(etp_inspector_columns_write(&table, &bytes, &sink, &err) == json);
    etp_arena_dispose(&arena);
    etp_trace_close(trace);
    return 0;
}
