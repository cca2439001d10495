// SPDX-License-Identifier: Apache-2.0
// Roof loops do the work they claim: the sums they leave are possible in no other way.
#include <stdatomic.h>

#include "os/os.h"
#include "roofs/internal.h"
#include "unit.h"

static bool can_run(const etp_isa_cpu *cpu, const char *isa)
{
    const etp_roof_set *set = etp_roof_set_find(isa);
    assert_non_null(set);
    return etp_roof_set_on(set, cpu);
}

static void loops_do_what_they_claim(void **state)
{
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    size_t ran = 0;
    for (size_t i = 0; etp_roof_loop_at(i); i++) {
        const etp_roof_loop *l = etp_roof_loop_at(i);
        if (!can_run(&cpu, l->isa)) {
            print_message("%s %s: not on this CPU\n", l->isa, etp_roof_what_name(l->what));
            continue;
        }
        for (uint64_t trips = 0; trips < 5000 && trips < l->exact_trips; trips = 3 * trips + 1) {
            assert_int_equal(l->run(trips), (int64_t)(l->adds * trips));
        }
        ran++;
    }
#if defined(__x86_64__) || defined(__aarch64__)
    assert_true(ran >= 2);
#endif
}

// By what the levels are documented to hide.
static void levels_hide_the_sets_above_them(void **state)
{
    static const struct {
        const char *isa;
        etp_level level;
        bool visible;
    } k_cases[] = {
        {"sse",         ETP_LEVEL_SSE,     true },
        {"ssse3",       ETP_LEVEL_SSE,     true },
        {"avx2",        ETP_LEVEL_SSE,     false},
        {"avx2",        ETP_LEVEL_AVX2,    true },
        {"avx512",      ETP_LEVEL_AVX2,    false},
        {"avx512",      ETP_LEVEL_AVX512,  true },
        {"avx512-vnni", ETP_LEVEL_AVX512,  false},
        {"avx512-vnni", ETP_LEVEL_VNNI,    true },
        {"avx512-fp16", ETP_LEVEL_AVX512,  false},
        {"avx512-fp16", ETP_LEVEL_VNNI,    false},
        {"avx512-fp16", ETP_LEVEL_FP16,    true },
        {"neon",        ETP_LEVEL_BASE,    true },
        {"neon-fp16",   ETP_LEVEL_BASE,    false},
        {"neon-fp16",   ETP_LEVEL_DOTPROD, true },
        {"dotprod",     ETP_LEVEL_BASE,    false},
        {"dotprod",     ETP_LEVEL_DOTPROD, true },
        {"i8mm",        ETP_LEVEL_DOTPROD, false},
        {"i8mm",        ETP_LEVEL_NEON,    true },
        {"sme",         ETP_LEVEL_NEON,    false},
        {"sme",         ETP_LEVEL_SME1,    true },
        {"sme2",        ETP_LEVEL_SME1,    false},
        {"sme2",        ETP_LEVEL_SME2,    true },
        {"neon",        ETP_LEVEL_VNNI,    false},
        {"sme2",        ETP_LEVEL_NONE,    true },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        if (etp_roof_set_at(etp_roof_set_find(k_cases[i].isa), k_cases[i].level) !=
            k_cases[i].visible) {
            fail_msg("%s at level %d", k_cases[i].isa, (int)k_cases[i].level);
        }
    }
    assert_null(etp_roof_set_find("avx"));
}

static void thread_counts(void **state)
{
    uint32_t t[ETP_ROOF_COUNTS_MAX];
    size_t n = 0;
    assert_true(etp_roof_threads_parse("1,2,8", t, &n));
    assert_int_equal(n, 3);
    assert_int_equal(t[2], 8);
    static const char *const k_bad[] = {
        "",    "0",   "1,",  ",1", "2,1",
        "1,1", "257", "1;2", "-1", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        assert_false(etp_roof_threads_parse(k_bad[i], t, &n));
    }
    assert_int_equal(etp_roof_default_threads(6, t), 4);
    assert_int_equal(t[2], 4);
    assert_int_equal(t[3], 6);
    assert_int_equal(etp_roof_default_threads(0, t), 1);
    assert_int_equal(t[0], 1);
    assert_int_equal(etp_roof_default_threads(1024, t), 9);
    assert_int_equal(t[8], 256);
}

typedef struct tally {
    atomic_uint each[5];
    atomic_uint all;
} tally;

static void count(void *ctx, uint32_t thread)
{
    tally *t = ctx;
    atomic_fetch_add(&t->each[thread], 1);
    atomic_fetch_add(&t->all, 1);
}

static void the_pool_runs_every_part_once_and_waits(void **state)
{
    etp_roof_pool *pool = etp_roof_pool_open(5);
    assert_non_null(pool);
    tally t = {0};
    for (unsigned turn = 1; turn <= 2000; turn++) {
        etp_roof_pool_run(pool, count, &t);
        assert_int_equal(atomic_load(&t.all), 5 * turn); // nobody is still at work
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(atomic_load(&t.each[i]), turn);
        }
    }
    etp_os_sleep_ns(20000000); // its workers sleep by now and must wake
    etp_roof_pool_run(pool, count, &t);
    assert_int_equal(atomic_load(&t.all), 5 * 2001);
    etp_roof_pool_close(pool);
}

static void readers_read_everything(void **state)
{
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    static _Alignas(64) uint8_t bytes[4096];
    for (size_t i = 0; etp_roof_reader_at(i); i++) {
        const etp_roof_reader *r = etp_roof_reader_at(i);
        if (!can_run(&cpu, r->isa)) {
            continue;
        }
        uint64_t before = r->read(bytes, sizeof bytes);
        for (size_t at = 0; at < sizeof bytes; at += 37) { // any byte makes a difference
            bytes[at] ^= 0x5a;
            if (r->read(bytes, sizeof bytes) == before) {
                fail_msg("%s does not see byte %zu", r->isa, at);
            }
            bytes[at] ^= 0x5a;
        }
    }
}

typedef struct kept {
    etp_arena arena;
    etp_roof_table table;
} kept;

static bool keep(void *ctx, const etp_roof *roof)
{
    kept *k = ctx;
    return ETP_PUSH(&k->arena, &k->table, *roof);
}

static void measured_figures_are_sane(void **state)
{
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    kept k = {0};
    char why[256];
    etp_roofs_request request = {
        .cpu = &cpu, .threads = {1, 2},
             .n_threads = 2, .seconds = 0.2, .now_ns = etp_os_now_ns
    };
    request.memory = etp_arena_alloc_raw(&k.arena, ETP_ROOF_MEMORY, 1);
    assert_non_null(request.memory);
    if (!etp_roofs_measure(&request, keep, &k, why, sizeof why)) {
        fail_msg("%s", why);
    }
    size_t arithmetic = 0, regions = 0, timers = 0, of_two = 0;
    for (size_t i = 0; i < k.table.n; i++) {
        const etp_roof *r = &k.table.items[i];
        bool rate = r->unit != ETP_ROOF_NS;
        assert_true(r->best > 0 && (rate ? r->best >= r->median : r->best <= r->median));
        arithmetic += r->what == ETP_ROOF_FMA_F32;
        regions += r->what == ETP_ROOF_REGION;
        timers += r->what == ETP_ROOF_TIMER;
        of_two += r->threads == 2;
        for (size_t o = 0; o < i; o++) {
            assert_false(etp_roof_same(r, &k.table.items[o]));
        }
    }
    // How fast one set is against another is no test: machines are noisy. That the loops do their
    // work is checked by instruction counts (roofs.instructions).
    assert_true(arithmetic >= 2 || cpu.family == ETP_ISA_NONE);
    assert_int_equal(regions, 2);
    assert_int_equal(timers, 1);
    assert_int_equal(of_two, (k.table.n - 1) / 2);
    etp_arena_dispose(&k.arena);
}

static void checking_alone_times_nothing(void **state)
{
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    kept k = {0};
    char why[256];
    etp_roofs_request request = {.cpu = &cpu, .threads = {1}, .n_threads = 1};
    assert_true(etp_roofs_measure(&request, keep, &k, why, sizeof why));
    assert_true(k.table.n >= 2 || cpu.family == ETP_ISA_NONE);
    for (size_t i = 0; i < k.table.n; i++) {
        assert_true(k.table.items[i].best == 0 && k.table.items[i].median == 0);
    }
    etp_arena_dispose(&k.arena);
}
