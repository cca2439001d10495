// SPDX-License-Identifier: Apache-2.0
// The join: four bytes of length, a program of that length, then a recording. Nothing may be
// claimed that does not exist, and a block that no method explains claims nothing.
#include <etprof/join.h>

#include "fuzz_inspect.h"

static void check_event(const etp_program *program, const etp_join *join, uint32_t event)
{
    const etp_join_event *e = &join->events[event];
    etp_op_facts facts;
    etp_join_facts(program, join, event, &facts);
    FUZZ_CHECK(e->confidence >= 0.0 && e->confidence <= 1.0);
    if (join->method == ETP_NO_INDEX) {
        FUZZ_CHECK(e->instruction == ETP_NO_INDEX && e->node == ETP_NO_INDEX);
        FUZZ_CHECK(facts.n_inputs == 0 && !facts.work.known);
        return;
    }
    const etp_method *m = &program->methods[join->method];
    FUZZ_CHECK(e->instruction == ETP_NO_INDEX || e->instruction < m->n_instructions);
    FUZZ_CHECK(e->partition == ETP_NO_INDEX || e->partition < m->n_partitions);
    if (e->node == ETP_NO_INDEX) {
        FUZZ_CHECK(e->n_nodes == 0);
        return;
    }
    bool has_own = false;
    for (uint32_t i = 0; i < e->n_nodes; i++) {
        FUZZ_CHECK(e->nodes[i] < m->partitions[e->partition].n_nodes);
        FUZZ_CHECK(i == 0 || e->nodes[i] > e->nodes[i - 1]);
        has_own = has_own || e->nodes[i] == e->node;
    }
    FUZZ_CHECK(has_own && !e->inserted);
}

static void check_join(const etp_program *program, const etp_trace *trace)
{
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        etp_arena arena = {0};
        etp_error err = {0};
        etp_join join;
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        FUZZ_CHECK(etp_join_block(program, block, &arena, &join, &err) == ETP_OK);
        FUZZ_CHECK(join.n_events == block->n_events);
        FUZZ_CHECK((join.method == ETP_NO_INDEX) == (join.reason != NULL));
        for (uint32_t e = 0; e < join.n_events; e++) {
            check_event(program, &join, e);
        }
        etp_arena_dispose(&arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const etp_program *program = NULL;
    etp_trace *trace = NULL;
    etp_error err = {0};
    if (size < 4 || etp_load_u32(data) > size - 4) {
        return 0;
    }
    const etp_bytes pte = {data + 4, etp_load_u32(data), 0};
    const etp_bytes dump = {pte.ptr + pte.len, size - 4 - pte.len, 0};
    if (etp_program_open(pte, NULL, &program, &err) == ETP_OK &&
        etp_trace_open(dump, NULL, &trace, &err) == ETP_OK) {
        check_join(program, trace);
    }
    etp_trace_close(trace);
    etp_program_close(program);
    return 0;
}
