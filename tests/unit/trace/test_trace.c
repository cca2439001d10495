// SPDX-License-Identifier: Apache-2.0
// Grouping, durations and nesting of event blocks.
#include <stdio.h>

#include "memory.h"
#include "unit.h"
#include <etprof/etdump.h>
#include <etprof/trace.h>

#include "etdump_writer.h"

static etp_trace *open_trace(etp_bytes bytes, const etp_trace_options *options)
{
    etp_trace *t = NULL;
    etp_error err = {0};
    ASSERT_OK(etp_trace_open(bytes, options, &t, &err), err);
    return t;
}

static void op(dump_writer *w, const char *id, int32_t instruction, uint64_t start, uint64_t ns)
{
    dump_event(w, &(dump_profile){.delegate_str = id,
                                  .instruction = instruction,
                                  .delegate_id = -1,
                                  .start = start,
                                  .end = start + ns,
                                  .metadata = ""});
}

static void event(dump_writer *w, const char *name, int32_t chain, int32_t instruction,
                  uint64_t start, uint64_t ns)
{
    dump_event(w, &(dump_profile){.name = name,
                                  .chain = chain,
                                  .instruction = instruction,
                                  .delegate_id = -1,
                                  .start = start,
                                  .end = start + ns});
}

// ---- grouping ----

static void method_a(dump_writer *w, uint64_t t, uint64_t scale)
{
    op(w, "Add (ND) #1", 0, t, 2 * scale);
    event(w, "DELEGATE_CALL", 0, 0, t, 5 * scale);
    event(w, "Method::execute", -1, 0, t, 7 * scale);
    dump_run(w, "Execute", -1);
}

static void method_b(dump_writer *w, uint64_t t, uint64_t scale)
{
    op(w, "Add (ND) #1", 0, t, 3 * scale);
    op(w, "Add (ND) #2", 0, t, 1 * scale);
    event(w, "DELEGATE_CALL", 0, 0, t, 6 * scale);
    event(w, "Method::execute", -1, 0, t, 9 * scale);
    dump_run(w, "Execute", -1);
}

static void alternating_methods_make_two_blocks(void **state)
{
    dump_writer w = dump_begin(*state);
    for (uint64_t i = 1; i <= 5; i++) {
        method_a(&w, 1000 * i, i);
        method_b(&w, 1000 * i + 500, 10 * i);
    }
    event(&w, "Method::execute", -1, 0, 9000, 1); // one execution like no other
    dump_run(&w, "Execute", -1);
    method_a(&w, 9500, 6);
    etp_trace *t = open_trace(dump_finish(&w, true), NULL);
    assert_int_equal(etp_trace_block_count(t), 3);
    const etp_trace_block *a = etp_trace_block_at(t, 0), *b = etp_trace_block_at(t, 1);
    assert_int_equal(a->n_runs, 6);
    assert_int_equal(a->n_events, 3);
    assert_int_equal(b->n_runs, 5);
    assert_int_equal(b->n_events, 4);
    assert_int_equal(etp_trace_block_at(t, 2)->n_runs, 1);
    const uint32_t runs[] = {0, 2, 4, 6, 8, 11};
    assert_memory_equal(a->runs, runs, sizeof runs);
    for (uint64_t i = 0; i < 6; i++) {
        assert_int_equal(etp_trace_durations(a, 0)[i], 2 * (i + 1));
        assert_int_equal(etp_trace_durations(a, 1)[i], 5 * (i + 1));
        assert_int_equal(etp_trace_durations(a, 2)[i], 7 * (i + 1));
    }
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(etp_trace_durations(b, 3)[i], 90 * (i + 1));
    }
    assert_true(a->has_execute);
    assert_int_equal(a->execute, 2);
    etp_trace_close(t);
}

// The last N of runs of two methods: what is left out takes nothing with it, also where a run that
// is kept repeats one that is not.
static void the_last_runs_are_those_of_the_whole_file(void **state)
{
    static const char k_methods[] = "aaababbbaabab";
    enum { N = sizeof k_methods - 1 };
    dump_writer w = dump_begin(*state);
    for (uint64_t i = 0; i < N; i++) {
        (k_methods[i] == 'a' ? method_a : method_b)(&w, 1000 * i, i + 1);
    }
    etp_bytes bytes = dump_finish(&w, true);
    for (uint64_t last = 1; last <= N; last++) {
        etp_trace_options o = {.last = last};
        etp_trace *t = open_trace(bytes, &o);
        uint64_t found = 0;
        for (size_t i = 0; i < etp_trace_block_count(t); i++) {
            const etp_trace_block *b = etp_trace_block_at(t, i);
            for (size_t k = 0; k < b->n_runs; k++) {
                uint64_t run = N - last + b->runs[k];
                char method = b->n_events == 3 ? 'a' : 'b';
                assert_in_range(run, N - last, N - 1);
                assert_int_equal(method, k_methods[run]);
                assert_int_equal(etp_trace_durations(b, b->execute)[k],
                                 (run + 1) * (method == 'a' ? 7 : 9));
                found++;
            }
        }
        assert_int_equal(found, last);
        etp_trace_close(t);
    }
}

// Each differs from the first in one thing that makes it another event or another block.
static void every_field_separates_blocks(void **state)
{
    static const dump_profile k_events[] = {
        {"n", NULL, 0, 1, -1, 0, 1, NULL},
        {"m", NULL, 0, 1, -1, 0, 1, NULL},
        {"n", NULL, 1, 1, -1, 0, 1, NULL},
        {"n", NULL, 0, 2, -1, 0, 1, NULL},
        {"n", NULL, 0, 1, 0,  0, 1, NULL},
        {"n", "d",  0, 1, -1, 0, 1, NULL},
        {"n", "e",  0, 1, -1, 0, 1, NULL},
    };
    enum { N = sizeof k_events / sizeof *k_events };
    dump_writer w = dump_begin(*state);
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = 0; i < N; i++) {
            dump_event(&w, &k_events[i]);
            dump_run(&w, "Execute", -1);
        }
        dump_event(&w, &k_events[0]);
        dump_run(&w, "Other", -1);
        dump_event(&w, &k_events[0]);
        dump_run(&w, "Execute", 0);
        dump_event(&w, &k_events[0]);
        dump_event(&w, &k_events[0]);
        dump_run(&w, "Execute", -1);
    }
    etp_trace *t = open_trace(dump_finish(&w, true), NULL);
    assert_int_equal(etp_trace_block_count(t), N + 3);
    for (size_t i = 0; i < etp_trace_block_count(t); i++) {
        assert_int_equal(etp_trace_block_at(t, i)->n_runs, 2);
    }
    assert_int_equal(etp_trace_block_at(t, N + 1)->bundled_input, 0);
    assert_int_equal(etp_trace_block_at(t, N + 2)->n_events, 2); // nothing merged
    etp_trace_close(t);
}

static void names_of_delegated_events(void **state)
{
    dump_writer w = dump_begin(*state);
    dump_event(&w, &(dump_profile){.delegate_id = 17, .instruction = 1});
    dump_event(&w, &(dump_profile){.name = "named", .delegate_id = 0, .instruction = 1});
    dump_event(&w, &(dump_profile){.name = "x", .delegate_str = "dsp", .delegate_id = -1});
    dump_event(&w, &(dump_profile){.name = "y", .delegate_str = "", .delegate_id = -1});
    dump_run(&w, NULL, -1);
    etp_trace *t = open_trace(dump_finish(&w, false), NULL);
    const etp_trace_block *b = etp_trace_block_at(t, 0);
    assert_int_equal(b->name.len, 0);
    assert_true(etp_str_eqz(b->events[0].name, "17") && b->events[0].delegated);
    assert_true(etp_str_eqz(b->events[1].name, "named") && b->events[1].delegated);
    assert_int_equal(b->events[1].delegate_id, 0);
    assert_true(etp_str_eqz(b->events[2].name, "dsp") && b->events[2].delegated);
    assert_true(etp_str_eqz(b->events[3].name, "y") && !b->events[3].delegated);
    etp_trace_close(t);
}

static void events_without_times_are_left_to_the_file_view(void **state)
{
    dump_writer w = dump_begin(*state);
    for (int i = 0; i < 2; i++) { // with and without other events: the same block
        if (i == 0) {
            dump_allocation(&w, 1, 64);
            dump_debug_event(&w, &(dump_debug){.instruction = 0,
                                               .delegate_id = -1,
                                               .value = dump_int(&w, 5, false)});
            dump_empty_event(&w);
        }
        event(&w, "OPERATOR_CALL", 0, 0, 0, 4);
        dump_run(&w, "Execute", -1);
    }
    dump_run_without_events(&w, "Execute");
    dump_debug_event(&w, &(dump_debug){.instruction = 0, .delegate_id = -1}); // shorter, not equal
    dump_run(&w, "Execute", -1);
    etp_trace *t = open_trace(dump_finish(&w, true), NULL);
    assert_int_equal(etp_trace_block_count(t), 2);
    assert_int_equal(etp_trace_block_at(t, 0)->n_runs, 2);
    assert_int_equal(etp_trace_block_at(t, 0)->n_events, 1);
    assert_int_equal(etp_trace_block_at(t, 1)->n_events, 0);
    assert_false(etp_trace_block_at(t, 1)->has_execute);
    assert_int_equal(etp_trace_block_at(t, 1)->n_runs, 2);
    assert_int_equal(etp_trace_dump(t)->n_runs, 4);
    etp_trace_close(t);
}

// ---- durations ----

static etp_bytes one_event(etp_arena *arena, uint64_t start, uint64_t end)
{
    dump_writer w = dump_begin(arena);
    dump_event(&w, &(dump_profile){.name = "x", .delegate_id = -1, .start = start, .end = end});
    dump_run(&w, "Execute", -1);
    return dump_finish(&w, true);
}

static uint64_t duration_of(etp_arena *arena, uint64_t start, uint64_t end, uint64_t num,
                            uint64_t den)
{
    etp_trace_options o = {.ticks_num = num, .ticks_den = den};
    etp_trace *t = open_trace(one_event(arena, start, end), &o);
    uint64_t ns = etp_trace_block_at(t, 0)->durations_ns[0];
    etp_trace_close(t);
    return ns;
}

static void ticks_become_nanoseconds(void **state)
{
    etp_arena *arena = *state;
    assert_int_equal(duration_of(arena, 100, 350, 0, 0), 250);
    assert_int_equal(duration_of(arena, 0, 24, 1000, 24), 1000);
    assert_int_equal(duration_of(arena, 0, 25, 1000, 24), 1041); // rounded down
    assert_int_equal(duration_of(arena, 0, 1000003, 1, 1000), 1000);
    // Exact where ticks × num would not fit: (2^61 + 7) × 3 ÷ 3.
    assert_int_equal(duration_of(arena, 0, ((uint64_t)1 << 61) + 7, 3, 3), ((uint64_t)1 << 61) + 7);
    // A 32-bit counter wrapped: 2^32 − 10 … 5 is 15 ticks.
    assert_int_equal(duration_of(arena, 0xfffffff6, 5, 0, 0), 15);
}

// No wrap: beyond 32 bits, or nearer to the start backwards than forwards.
static void a_clock_that_went_back_is_damaged(void **state)
{
    static const struct {
        uint64_t start, end;
        size_t damaged;
    } cases[] = {
        {(uint64_t)1 << 32,       5,              1},
        {1500000000000,           1499999990000,  1},
        {1000000000,              999000000,      1},
        {UINT32_MAX,              UINT32_MAX - 1, 1},
        {(uint64_t)1 << 31,       0,              1},
        {((uint64_t)1 << 31) + 1, 0,              0},
        {0xfffffff6,              5,              0},
        {1500000000000,           1500000000000,  0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        etp_error err = {0};
        etp_trace *t = open_trace(one_event(*state, cases[i].start, cases[i].end), NULL);
        assert_int_equal(etp_trace_damage_count(t), cases[i].damaged);
        assert_int_equal(etp_trace_block_count(t), 1 - cases[i].damaged);
        if (cases[i].damaged) {
            assert_true(etp_trace_damage_at(t, 0)->ns == INT64_MIN);
            assert_int_equal(etp_trace_need_sound(t, &err), ETP_CORRUPT);
            assert_non_null(strstr(err.msg, "'x' ends before it starts"));
        }
        etp_trace_close(t);
    }
}

static void impossible_times_are_no_times(void **state)
{
    const etp_trace_options thousandfold = {.ticks_num = 1000, .ticks_den = 1};
    const uint64_t ends[] = {UINT64_MAX, (uint64_t)1 << 60};
    etp_arena *arena = *state;
    etp_trace *t = NULL;
    etp_error err = {0};
    for (size_t i = 0; i < 2; i++) {
        t = open_trace(one_event(arena, 0, ends[i]), i ? &thousandfold : NULL);
        assert_int_equal(etp_trace_block_count(t), 0);
        assert_true(etp_trace_damage_at(t, 0)->ns == INT64_MAX);
        etp_trace_close(t);
    }
    // Many events, none of them too long.
    dump_writer w = dump_begin(arena);
    for (int i = 0; i < 1 << 13; i++) {
        event(&w, "x", 0, i, 0, (uint64_t)1 << 50);
    }
    dump_run(&w, "Execute", -1);
    assert_int_equal(etp_trace_open(dump_finish(&w, true), NULL, &t, &err), ETP_CORRUPT);
    assert_null(t);
    assert_string_equal(err.msg, "durations add up to more than 2^63 ns");
}

// ---- nesting ----

typedef struct expected {
    const char *name;
    int32_t chain, instruction;
    etp_event_kind kind;
    uint32_t parent;
    bool delegated;
} expected;

static void check_tree(const expected *want, size_t n)
{
    etp_arena arena = {0};
    dump_writer w = dump_begin(&arena);
    uint64_t start[64];
    for (size_t i = 0; i < n; i++) {
        start[i] = 10 * i;
        for (size_t k = 0; k < i; k++) { // parts come before their whole
            start[i] = want[k].parent == i && start[k] < start[i] ? start[k] : start[i];
        }
        dump_event(&w, &(dump_profile){.name = want[i].delegated ? NULL : want[i].name,
                                       .delegate_str = want[i].delegated ? want[i].name : NULL,
                                       .chain = want[i].chain,
                                       .instruction = want[i].instruction,
                                       .delegate_id = -1,
                                       .start = start[i],
                                       .end = 10 * i + 5});
    }
    dump_run(&w, "Execute", -1);
    etp_trace *t = open_trace(dump_finish(&w, true), NULL);
    const etp_trace_block *b = etp_trace_block_at(t, 0);
    assert_int_equal(b->n_events, n);
    for (size_t i = 0; i < n; i++) {
        if (b->events[i].kind != want[i].kind || b->events[i].parent != want[i].parent) {
            fail_msg("event %zu (%s): kind %d parent %d, expected %d and %d", i, want[i].name,
                     (int)b->events[i].kind, (int)b->events[i].parent, (int)want[i].kind,
                     (int)want[i].parent);
        }
        bool leaf = true;
        for (size_t k = 0; k < n; k++) {
            leaf = leaf && want[k].parent != i;
        }
        assert_int_equal(b->events[i].leaf, leaf);
    }
    etp_trace_close(t);
    etp_arena_dispose(&arena);
}

#define TOP ETP_NO_INDEX
#define N_OF(a) (sizeof(a) / sizeof *(a))

static void kernels_and_delegates_nest_in_their_calls(void **state)
{
    static const expected k_events[] = {
        {"Add (ND) #1",          0,  0, ETP_EVENT_DELEGATE_OP,   2,   true },
        {"Clamp (NC) #1",        0,  0, ETP_EVENT_DELEGATE_OP,   2,   true },
        {"DELEGATE_CALL",        0,  0, ETP_EVENT_DELEGATE_CALL, 8,   false},
        {"native_call_mean.out", 0,  1, ETP_EVENT_NATIVE_CALL,   4,   false},
        {"OPERATOR_CALL",        0,  1, ETP_EVENT_OPERATOR_CALL, 8,   false},
        {"JF_CALL",              0,  2, ETP_EVENT_CONTROL,       8,   false},
        {"Add (ND) #1",          0,  3, ETP_EVENT_DELEGATE_OP,   7,   true },
        {"DELEGATE_CALL",        0,  3, ETP_EVENT_DELEGATE_CALL, 8,   false},
        {"Method::execute",      -1, 0, ETP_EVENT_EXECUTE,       TOP, false},
        {"after",                0,  3, ETP_EVENT_OTHER,         TOP, false},
    };
    check_tree(k_events, N_OF(k_events));
}

static void loops_do_not_swallow_earlier_rounds(void **state)
{
    static const expected k_events[] = {
        {"native_call_add.out", 0,  4, ETP_EVENT_NATIVE_CALL,   1,   false},
        {"OPERATOR_CALL",       0,  4, ETP_EVENT_OPERATOR_CALL, 7,   false},
        {"native_call_add.out", 0,  4, ETP_EVENT_NATIVE_CALL,   3,   false},
        {"OPERATOR_CALL",       0,  4, ETP_EVENT_OPERATOR_CALL, 7,   false},
        {"OPERATOR_CALL",       0,  4, ETP_EVENT_OPERATOR_CALL, 7,   false}, // no kernel event inside
        {"native_call_add.out", 0,  4, ETP_EVENT_NATIVE_CALL,   6,   false},
        {"OPERATOR_CALL",       0,  4, ETP_EVENT_OPERATOR_CALL, 7,   false},
        {"Method::execute",     -1, 0, ETP_EVENT_EXECUTE,       TOP, false},
    };
    check_tree(k_events, N_OF(k_events));
}

static void odd_files_nest_as_far_as_they_tell(void **state)
{
    // Profiling of methods only: delegate operators without a call around them.
    static const expected k_method_only[] = {
        {"Add (ND) #1",     0,  0, ETP_EVENT_DELEGATE_OP, 2,   true },
        {"Add (ND) #1",     0,  2, ETP_EVENT_DELEGATE_OP, 2,   true },
        {"Method::execute", -1, 0, ETP_EVENT_EXECUTE,     TOP, false},
    };
    check_tree(k_method_only, N_OF(k_method_only));
    // A failed execution: the last events have nothing around them.
    static const expected k_failed[] = {
        {"native_call_add.out",       0, 0, ETP_EVENT_NATIVE_CALL,   1,   false},
        {"OPERATOR_CALL",             0, 0, ETP_EVENT_OPERATOR_CALL, TOP, false},
        {"native_call_embedding.out", 0, 1, ETP_EVENT_NATIVE_CALL,   TOP, false},
    };
    check_tree(k_failed, N_OF(k_failed));
    // Instruction 0 of another chain, and of the framework's chain -1.
    static const expected k_chains[] = {
        {"native_call_add.out", 1,  0, ETP_EVENT_NATIVE_CALL,   3,   false},
        {"OPERATOR_CALL",       0,  0, ETP_EVENT_OPERATOR_CALL, 3,   false},
        {"OPERATOR_CALL",       -1, 0, ETP_EVENT_OPERATOR_CALL, 3,   false},
        {"Method::execute",     -1, 0, ETP_EVENT_EXECUTE,       TOP, false},
    };
    check_tree(k_chains, N_OF(k_chains));
    static const expected k_load[] = {
        {"Method::init",         -1, 0, ETP_EVENT_LOAD, 1,   false},
        {"Program::load_method", -1, 0, ETP_EVENT_LOAD, TOP, false},
        {"Method::init",         -1, 0, ETP_EVENT_LOAD, 3,   false},
        {"Program::load_method", -1, 0, ETP_EVENT_LOAD, TOP, false},
    };
    check_tree(k_load, N_OF(k_load));
    static const expected k_step[] = {
        {"native_call_add.out", 0, 0, ETP_EVENT_NATIVE_CALL,   1,   false},
        {"OPERATOR_CALL",       0, 0, ETP_EVENT_OPERATOR_CALL, 2,   false},
        {"Method::step",        0, 0, ETP_EVENT_OTHER,         TOP, false},
        {"Add (ND) #1",         0, 1, ETP_EVENT_DELEGATE_OP,   4,   true },
        {"DELEGATE_CALL",       0, 1, ETP_EVENT_DELEGATE_CALL, 5,   false},
        {"Method::step",        0, 1, ETP_EVENT_OTHER,         TOP, false},
    };
    check_tree(k_step, N_OF(k_step));
    // A delegate may call an operator "DELEGATE_CALL"; two executions in one block.
    static const expected k_twice[] = {
        {"DELEGATE_CALL",   0,  0, ETP_EVENT_DELEGATE_OP,   1,   true },
        {"DELEGATE_CALL",   0,  0, ETP_EVENT_DELEGATE_CALL, 2,   false},
        {"Method::execute", -1, 0, ETP_EVENT_EXECUTE,       TOP, false},
        {"DELEGATE_CALL",   0,  0, ETP_EVENT_DELEGATE_CALL, 4,   false},
        {"Method::execute", -1, 0, ETP_EVENT_EXECUTE,       TOP, false},
    };
    check_tree(k_twice, N_OF(k_twice));
}

static void exclusive_times_are_what_is_left(void **state)
{
    dump_writer w = dump_begin(*state);
    op(&w, "Add (ND) #1", 0, 0, 30);
    op(&w, "Add (ND) #2", 0, 0, 20);
    event(&w, "DELEGATE_CALL", 0, 0, 0, 70);
    op(&w, "Add (ND) #1", 1, 0, 9);
    event(&w, "DELEGATE_CALL", 0, 1, 0, 5); // less than its part, which is apart then
    event(&w, "Method::execute", -1, 0, 0, 100);
    dump_run(&w, "Execute", -1);
    etp_trace *t = open_trace(dump_finish(&w, true), NULL);
    const etp_trace_block *b = etp_trace_block_at(t, 0);
    const int64_t want[] = {30, 20, 20, 9, 5, 25};
    for (uint32_t i = 0; i < N_OF(want); i++) {
        assert_int_equal(etp_trace_exclusive_ns(b, i, 0), want[i]);
    }
    etp_trace_close(t);
}

static void base_names_lose_their_counter(void **state)
{
    static const struct {
        const char *name, *base;
        uint32_t counter;
    } k_cases[] = {
        {"Add (ND) #1",          "Add (ND)",       1         },
        {"Add (ND) #4294967295", "Add (ND)",       4294967295},
        {"Add (ND)",             "Add (ND)",       0         },
        {"Add #",                "Add #",          0         },
        {"Add#3",                "Add#3",          0         },
        {"#3",                   "#3",             0         },
        {" #3",                  " #3",            0         },
        {"x #4294967296",        "x #4294967296",  0         },
        {"x #0",                 "x #0",           0         },
        {"",                     "",               0         },
        {"x #12345678901",       "x #12345678901", 0         },
    };
    for (size_t i = 0; i < N_OF(k_cases); i++) {
        uint32_t counter = 77;
        etp_str base = etp_trace_base_name(etp_str_from(k_cases[i].name), &counter);
        assert_true(etp_str_eqz(base, k_cases[i].base));
        assert_int_equal(counter, k_cases[i].counter);
    }
}

// ---- memory ----

static void running_out_of_memory_is_an_error(void **state)
{
    dump_writer w = dump_begin(*state);
    for (uint64_t i = 0; i < 300; i++) {
        method_a(&w, i, 1);
        method_b(&w, i, 1);
    }
    etp_bytes bytes = dump_finish(&w, true);
    bool failed = false;
    for (int allowed = 0;; allowed++) {
        memory m = {.left = allowed};
        etp_allocator alloc = {limited, &m};
        etp_trace_options o = {.alloc = &alloc};
        etp_trace *t = NULL;
        etp_error err = {0};
        etp_status status = etp_trace_open(bytes, &o, &t, &err);
        if (status == ETP_OK) {
            etp_trace_close(t);
            assert_int_equal(m.alive, 0);
            break;
        }
        failed = true;
        assert_int_equal(status, ETP_NOMEM);
        assert_null(t);
        assert_int_equal(m.alive, 0);
        assert_true(allowed < 1000);
    }
    assert_true(failed);
    etp_trace_close(NULL);
}

// A small file whose events all share one table may not become a big trace.
static void overlapping_events_are_refused(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    enum { EVENTS = 40000, RUNS = 100 };
    event(&w, "x", 0, 0, 0, 1);
    etp_fbb_ref shared = w.events.items[0];
    for (size_t i = 1; i < EVENTS; i++) {
        assert_true(ETP_PUSH(arena, &w.events, shared));
    }
    etp_fbb_ref list = etp_fbb_vec_refs(&w.fbb, w.events.items, EVENTS);
    for (int i = 0; i < RUNS; i++) {
        etp_fbb_begin(&w.fbb);
        etp_fbb_add_ref(&w.fbb, 3, list);
        assert_true(ETP_PUSH(arena, &w.runs, etp_fbb_end(&w.fbb)));
    }
    etp_bytes bytes = dump_finish(&w, true);
    assert_in_range(bytes.len, 1, 200000);
    etp_trace *t = NULL;
    etp_error err = {0};
    assert_int_equal(etp_trace_open(bytes, NULL, &t, &err), ETP_CORRUPT);
}

// Within the verifier's budget (a padding string pays for it), but each event would cost some 100
// bytes of memory for 4 bytes of file.
static void memory_follows_the_size_of_the_file(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    enum { EVENTS = 500000 };
    char *text = etp_arena_alloc(arena, 4 * EVENTS + 1);
    assert_non_null(text);
    memset(text, 'x', 4 * EVENTS);
    event(&w, text, 0, 0, 0, 1);
    dump_run(&w, "padding", -1);
    event(&w, "y", 0, 0, 0, 1);
    etp_fbb_ref shared = w.events.items[0];
    for (size_t i = 1; i < EVENTS - 100; i++) {
        assert_true(ETP_PUSH(arena, &w.events, shared));
    }
    dump_run(&w, "Execute", -1);
    etp_bytes bytes = dump_finish(&w, true);
    etp_etdump dump;
    etp_trace *t = NULL;
    etp_error err = {0};
    assert_int_equal(etp_etdump_open(bytes, &dump, &err), ETP_OK); // needs no memory
    assert_int_equal(etp_trace_open(bytes, NULL, &t, &err), ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "they overlap"));
}
