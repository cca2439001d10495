// SPDX-License-Identifier: Apache-2.0
// Holds a trace against its file, event by event, without the grouping's code.
#include "trace_check.h"

#include "unit.h"
#include <etprof/etdump.h>

size_t check_equals_file(const etp_trace *t)
{
    const etp_etdump *dump = etp_trace_dump(t);
    size_t runs = 0, events = 0;
    for (size_t b = 0; b < etp_trace_block_count(t); b++) {
        const etp_trace_block *block = etp_trace_block_at(t, b);
        runs += block->n_runs;
        for (size_t r = 0; r < block->n_runs; r++) {
            assert_true(r == 0 || block->runs[r] > block->runs[r - 1]);
            etp_etdump_run run = etp_etdump_run_at(dump, block->runs[r]);
            assert_true(etp_str_eq(run.name, block->name));
            assert_int_equal(run.bundled_input, block->bundled_input);
            uint32_t e = 0;
            for (size_t i = 0; i < run.n_events; i++) {
                etp_etdump_profile p;
                if (!etp_etdump_profile_of(etp_etdump_event_at(&run, i), &p)) {
                    continue;
                }
                assert_in_range(e, 0, block->n_events - 1);
                uint32_t at = e;
                for (uint32_t k = 0; block->in_file && k < block->n_events; k++) {
                    at = block->in_file[k] == e ? k : at;
                }
                const etp_trace_event *want = &block->events[at];
                uint64_t ticks = 0;
                assert_true(etp_etdump_elapsed(p.start, p.end, &ticks));
                assert_int_equal(etp_trace_durations(block, at)[r], ticks);
                assert_int_equal(want->chain, p.chain_index);
                assert_int_equal(want->instruction, p.instruction_id);
                assert_int_equal(want->delegate_id, p.delegate_id);
                assert_true(p.delegate_id == -1 || etp_str_eq(want->name, p.delegate_id_str) ||
                            p.delegate_id_str.len == 0);
                e++;
            }
            assert_int_equal(e, block->n_events);
            events += e;
        }
    }
    assert_int_equal(runs + etp_trace_damage_count(t), dump->n_runs);
    return events;
}
