// SPDX-License-Identifier: Apache-2.0
// Statistics in an arena of the caller's own whose memory ends, wherever it does: the function says
// so, and the arena can be disposed of.
#include <stdio.h>

#include "memory.h"
#include "unit.h"
#include <etprof/stats.h>

enum { BLOCKS = 40, ITERATIONS = 60, SAMPLES = 2 * BLOCKS * ITERATIONS };

static etp_sample k_samples[SAMPLES];
static double k_x[SAMPLES], k_t[SAMPLES];
static char k_csv[SAMPLES * 24];

static etp_status analyze(etp_arena *arena)
{
    etp_stats out;
    return etp_stats_analyze(k_samples, SAMPLES, 2, NULL, arena, &out, NULL);
}

static etp_status wilcoxon(etp_arena *arena)
{
    double p;
    return etp_wilcoxon_p(k_x, SAMPLES, arena, &p, NULL);
}

static etp_status unpaired(etp_arena *arena)
{
    etp_unpaired out;
    return etp_unpaired_compare(k_x, SAMPLES / 2, k_t, SAMPLES / 2, 0.95, arena, &out, NULL);
}

static etp_status drift(etp_arena *arena)
{
    etp_drift out;
    return etp_drift_find(k_t, k_x, SAMPLES, arena, &out, NULL);
}

static etp_status spread(etp_arena *arena)
{
    static etp_launch_stats k_launches[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        k_launches[i] = (etp_launch_stats){.arm = i % 2, .block = i / 2, .iterations = 1};
    }
    const etp_launch_set set = {.launches = k_launches, .n_launches = BLOCKS};
    etp_spread out;
    return etp_spread_find(&set, 0, 1, arena, &out, NULL);
}

static etp_status csv(etp_arena *arena)
{
    etp_sample_table out;
    return etp_samples_read_csv(etp_str_from(k_csv), arena, &out, NULL);
}

static void memory_ends_anywhere(void **state)
{
    etp_status (*const k_asked[])(etp_arena *) = {analyze, wilcoxon, unpaired, drift, spread, csv};
    for (size_t i = 0; i < sizeof k_asked / sizeof *k_asked; i++) {
        etp_status st = ETP_NOMEM;
        for (int blocks = 0; st == ETP_NOMEM; blocks++) {
            memory m = {.left = blocks};
            const etp_allocator alloc = {limited, &m};
            etp_arena arena;
            etp_arena_init(&arena, &alloc);
            st = k_asked[i](&arena);
            // Enough memory is the only way to succeed, and lack of it the only way to fail.
            assert_int_equal(st, m.left < 0 ? ETP_NOMEM : ETP_OK);
            assert_null(arena.guard);
            etp_arena_dispose(&arena);
        }
    }
}

int main(void)
{
    char *to = k_csv + sprintf(k_csv, "experiment,block,iteration,duration_ns\n");
    for (uint32_t i = 0; i < SAMPLES; i++) {
        etp_sample s = {.arm = i % 2,
                        .block = i / 2 / ITERATIONS,
                        .iteration = i / 2 % ITERATIONS,
                        .duration_ns = 1000 + i * 7919 % 101,
                        0};
        s.launch = s.arm;
        k_samples[i] = s;
        k_x[i] = (double)s.duration_ns - 1050.5;
        k_t[i] = i;
        to += sprintf(to, "%c,%u,%u,%u\n", 'a' + (char)s.arm, (unsigned)s.block,
                      (unsigned)s.iteration, (unsigned)s.duration_ns);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_ends_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
