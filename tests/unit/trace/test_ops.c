// SPDX-License-Identifier: Apache-2.0
// Per-operator statistics: selection, percentiles, what counts as an operator, closing totals.
#include <stdlib.h>

#include "etdump_writer.h"
#include "trace/ops.h"
#include "unit.h"

// Without times of start: none of them lies beside another.
static void add(dump_writer *w, const char *name, const char *delegate, int32_t chain,
                int32_t instruction, uint64_t ns)
{
    dump_event(w, &(dump_profile){.name = name,
                                  .delegate_str = delegate,
                                  .chain = chain,
                                  .instruction = instruction,
                                  .delegate_id = -1,
                                  .start = 0,
                                  .end = ns});
}

static etp_trace *open_trace(etp_bytes bytes)
{
    etp_trace *t = NULL;
    etp_error err = {0};
    ASSERT_OK(etp_trace_open(bytes, NULL, &t, &err), err);
    return t;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static void selection_equals_sorting(void **state)
{
    enum { MAX = 300 };
    uint64_t v[MAX], sorted[MAX], scratch[MAX], seed = 12345;
    for (int round = 0; round < 400; round++) {
        size_t n = 1 + (size_t)(round * 7 % MAX);
        unsigned shift = (unsigned)round % 64; // from all equal to the whole range
        uint64_t lo = UINT64_MAX, hi = 0;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            v[i] = (seed ^ seed >> 29) >> shift;
            lo = v[i] < lo ? v[i] : lo;
            hi = v[i] > hi ? v[i] : hi;
        }
        memcpy(sorted, v, sizeof v);
        qsort(sorted, n, sizeof *sorted, by_value);
        for (size_t k = 0; k < n; k += 1 + n / 10) {
            uint64_t got = etp_ops_select(v, n, k, lo, hi, scratch);
            if (got != sorted[k]) {
                fail_msg("round %d, rank %zu of %zu: %llu, expected %llu", round, k, n,
                         (unsigned long long)got, (unsigned long long)sorted[k]);
            }
        }
    }
}

// Columns of ten calls; the expected values are worked out by hand: rank of p90 is 8.1.
static void statistics_by_hand(void **state)
{
    static const uint64_t k_ns[10] = {70, 10, 100, 30, 50, 20, 60, 40, 80, 97};
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    for (size_t i = 0; i < 10; i++) {
        add(&w, NULL, "Add (ND) #1", 0, 0, k_ns[i]);
        add(&w, NULL, "Add (ND) #2", 0, 0, i == 9 ? 1 : 0);
        add(&w, "DELEGATE_CALL", NULL, 0, 0, 150);
        add(&w, "Method::execute", NULL, -1, 0, 200);
        dump_run(&w, "Execute", -1);
    }
    etp_trace *t = open_trace(dump_finish(&w, true));
    etp_op_table ops;
    assert_int_equal(etp_ops_compute(t, arena, &ops, NULL), ETP_OK);
    assert_int_equal(ops.n_rows, 2);
    const etp_op_row *r = &ops.rows[0];
    assert_int_equal(r->calls, 10);
    assert_int_equal(r->min_ns, 10);
    assert_int_equal(r->p50_ns, 55);  // between 50 and 60
    assert_int_equal(r->p90_ns, 97);  // 97 + 0.1 × (100 − 97) = 97.3
    assert_int_equal(r->mean_ns, 56); // 55.7
    assert_int_equal(r->max_ns, 100);
    assert_int_equal(r->total_ns, 557);
    r = &ops.rows[1];
    assert_int_equal(r->p50_ns, 0);
    assert_int_equal(r->p90_ns, 0); // 0 + 0.1 × (1 − 0)
    assert_int_equal(r->mean_ns, 0);
    assert_int_equal(r->max_ns, 1);
    assert_int_equal(ops.executions, 10);
    assert_int_equal(ops.execute_ns, 2000);
    assert_int_equal(ops.operators_ns, 558);
    assert_int_equal(ops.remainder_ns, 1442);
    assert_int_equal(ops.delegated_ns, 558);
    etp_trace_close(t);
}

static void halves_are_rounded_up(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    static const uint64_t k_ns[2] = {10, 15};
    for (size_t i = 0; i < 2; i++) {
        add(&w, "native_call_add.out", NULL, 0, 0, k_ns[i]);
        dump_run(&w, "Execute", -1);
    }
    etp_trace *t = open_trace(dump_finish(&w, true));
    etp_op_table ops;
    assert_int_equal(etp_ops_compute(t, arena, &ops, NULL), ETP_OK);
    assert_int_equal(ops.rows[0].p50_ns, 13);  // 12.5
    assert_int_equal(ops.rows[0].p90_ns, 15);  // 14.5
    assert_int_equal(ops.rows[0].mean_ns, 13); // 12.5
    assert_int_equal(ops.executions, 0);       // no Method::execute anywhere
    assert_int_equal(ops.execute_ns, 0);
    assert_int_equal(ops.operators_ns, 0);
    etp_trace_close(t);
}

static void operators_are_leaves(void **state)
{
    static const struct {
        const char *name, *delegate;
        int32_t chain, instruction;
        bool is_operator;
    } k_events[] = {
        {NULL,                   "Add (ND) #1", 0,  0, true },
        {"DELEGATE_CALL",        NULL,          0,  0, false},
        {"native_call_mean.out", NULL,          0,  1, true },
        {"OPERATOR_CALL",        NULL,          0,  1, false},
        {"OPERATOR_CALL",        NULL,          0,  2, true }, // a primitive without an event of its own
        {"DELEGATE_CALL",        NULL,          0,  3, true }, // a backend that logs nothing
        {"custom",               NULL,          0,  4, false},
        {"OPERATOR_CALL",        NULL,          0,  4, true }, // holds something, but no kernel
        {"JF_CALL",              NULL,          0,  5, false},
        {"Method::execute",      NULL,          -1, 0, false},
        {"native_call_late.out", NULL,          0,  9, true }, // not inside Method::execute
    };
    enum { N = sizeof k_events / sizeof *k_events };
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    for (size_t i = 0; i < N; i++) {
        add(&w, k_events[i].name, k_events[i].delegate, k_events[i].chain, k_events[i].instruction,
            i == 9 ? 10000 : (uint64_t)1 << i);
    }
    dump_run(&w, "Execute", -1);
    etp_trace *t = open_trace(dump_finish(&w, true));
    bool marks[N];
    etp_ops_mark(etp_trace_block_at(t, 0), marks);
    for (size_t i = 0; i < N; i++) {
        if (marks[i] != k_events[i].is_operator) {
            fail_msg("event %zu", i);
        }
    }
    etp_op_table ops;
    assert_int_equal(etp_ops_compute(t, arena, &ops, NULL), ETP_OK);
    assert_int_equal(ops.n_rows, 6);
    assert_int_equal(ops.execute_ns, 10000);
    assert_int_equal(ops.operators_ns, 1 + 4 + 16 + 32 + 128);
    assert_int_equal(ops.delegated_ns, 1 + 32);
    assert_int_equal(ops.remainder_ns, 10000 - 181);
    etp_trace_close(t);
}
