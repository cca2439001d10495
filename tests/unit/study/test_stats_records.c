// SPDX-License-Identifier: Apache-2.0
// What a run folder recorded, held against its samples: causes of slow iterations, temperature and
// clock against the blocks' times.
#include "study/stats/answer.h"

#include <math.h>

#include "unit.h"

#define BLOCKS 6
#define ITERATIONS 10

typedef struct session {
    etp_run run;
    etp_run_launch launches[2 * BLOCKS];
    etp_run_block blocks[BLOCKS];
    etp_sample samples[2 * BLOCKS * ITERATIONS];
} session;

// Launch 2b + 1 is of arm 0, 2b + 2 of arm 1; blocks become slower and warmer, the clock stays but
// once. Two iterations of each launch of arm 0 are half as slow again.
static void make(session *s)
{
    static const double k_warm[BLOCKS] = {30, 31, 33, 34, 36, 35};
    *s = (session){0};
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint64_t khz = b == 4 ? 1900000 : 2000000;
        s->blocks[b] = (etp_run_block){
            .block = b + 1,
            .start = {.temperature_c = k_warm[b] - 1, .freq_max_khz = khz},
            .end = {.temperature_c = k_warm[b] + 1, .freq_max_khz = khz}
        };
        for (uint32_t a = 0; a < 2; a++) {
            s->launches[2 * b + a] = (etp_run_launch){.arm = a,
                                                      .block = b + 1,
                                                      .launch = 2 * b + a + 1,
                                                      .wall_ns = 1000000,
                                                      .wait_ns = 0,
                                                      .migrations = 0};
            for (uint32_t i = 0; i < ITERATIONS; i++) {
                uint64_t ns = (1000000 + 3000 * b + 7 * i) / (a + 1);
                bool slow = a == 0 && (i == 4 || i == 7);
                s->samples[(2 * b + a) * ITERATIONS + i] = (etp_sample){
                    a, b + 1, 2 * b + a + 1, i, ETP_SAMPLE_TIMED, slow ? ns * 3 / 2 : ns, 0};
            }
        }
    }
    s->launches[0].wait_ns = 10000; // 1 % of its time
    s->launches[0].major_faults = 3;
    s->launches[2].major_faults = 1;
    s->launches[2].migrations = 1;
    s->launches[4].migrations = 2;
    s->launches[6].involuntary_switches = 2;
    s->launches[10].involuntary_switches = 1; // fewer than its slow iterations
    s->run.launches.items = s->launches;
    s->run.launches.n = 2 * BLOCKS;
    s->run.blocks.items = s->blocks;
    s->run.blocks.n = BLOCKS;
}

static void analyse(session *s, etp_arena *arena, etp_stats_answer *out)
{
    static const etp_str k_names[] = {
        {"a", 1},
        {"b", 1}
    };
    *out = (etp_stats_answer){.source = "x", .names = k_names, .called = k_names};
    assert_int_equal(etp_stats_analyze(s->samples, sizeof s->samples / sizeof *s->samples, 2, NULL,
                                       arena, &out->stats, NULL),
                     ETP_OK);
    assert_int_equal(etp_stats_take_records(out, &s->run, arena, NULL), ETP_OK);
}

static void slow_iterations_have_causes(void **state)
{
    etp_arena *arena = *state;
    session s;
    etp_stats_answer a;
    make(&s);
    analyse(&s, arena, &a);
    // blocks 1 … 6: waited (before its faults), storage, migrated, interrupted, low clock, nothing
    static const uint64_t k_expected[ETP_SLOW_CAUSES] = {2, 2, 2, 2, 2, 2, 0};
    assert_memory_equal(a.slow[0], k_expected, sizeof k_expected);
    static const uint64_t k_none[ETP_SLOW_CAUSES] = {0};
    assert_memory_equal(a.slow[1], k_none, sizeof k_none);
    assert_int_equal(a.stats.arms[0].iterations, BLOCKS * ITERATIONS); // and none is dropped
    s.launches[0].run_span_ns = 900000; // it waited while it loaded, not while it was timed
    analyse(&s, arena, &a);
    assert_int_equal(a.slow[0][ETP_SLOW_WAITED], 0);
    assert_int_equal(a.slow[0][ETP_SLOW_FAULTS], 4);
    s.run.launches.n = 0;
    analyse(&s, arena, &a);
    assert_int_equal(a.slow[0][ETP_SLOW_CLOCK], 2); // of the block, which is known still
    assert_int_equal(a.slow[0][ETP_SLOW_UNEXPLAINED], 10);
    s.run.blocks.n = 0;
    analyse(&s, arena, &a);
    assert_int_equal(a.slow[0][ETP_SLOW_NO_RECORD], 12);
}

static void times_go_with_temperature(void **state)
{
    etp_arena *arena = *state;
    session s;
    etp_stats_answer a;
    make(&s);
    analyse(&s, arena, &a);
    // scipy.stats.spearmanr([1, 2, 3, 4, 5, 6], [30, 31, 33, 34, 36, 35]): 0.942857, p 0.004805
    assert_int_equal(a.temperature.n, BLOCKS);
    assert_true(fabs(a.temperature.rho - 0.9428571428571428) < 1e-12);
    assert_true(fabs(a.temperature.p - 0.004804664723032055) < 1e-9);
    assert_int_equal(a.clock.n, BLOCKS);
    assert_true(fabs(a.stats.drift_per_block - 0.003) < 1e-4);
    assert_true(fabs(a.stats.drift_p - 2.0 / 720) < 1e-12); // all six ascend
    s.blocks[2].start.temperature_c = s.blocks[2].end.temperature_c = (double)NAN;
    for (size_t b = 0; b < BLOCKS; b++) {
        s.blocks[b].start.freq_max_khz = s.blocks[b].end.freq_max_khz = UINT64_MAX;
    }
    analyse(&s, arena, &a);
    assert_int_equal(a.temperature.n, BLOCKS - 1);
    assert_int_equal(a.clock.n, 0);
    assert_true(isnan(a.clock.rho) && isnan(a.clock.p));
}

static void perfect_order_is_no_certainty(void **state)
{
    assert_true(fabs(etp_rank_correlation_p(1, 6) - 2.0 / 720) < 1e-15);
    assert_true(fabs(etp_rank_correlation_p(-1, 4) - 2.0 / 24) < 1e-15);
    assert_true(fabs(etp_rank_correlation_p(0.5, 20) - 0.024769558804109703) <
                1e-10); // scipy.stats.t
    assert_true(isnan(etp_rank_correlation_p(1, 3)));
    assert_true(isnan(etp_rank_correlation_p((double)NAN, 10)));
}

// The folder is read twice, for its samples and for its answer, and may be another by then.
static void an_answer_with_other_arms_is_refused(void **state)
{
    etp_arena *arena = *state;
    etp_error err = {.offset = ETP_NO_OFFSET};
    session s;
    etp_stats_answer a;
    make(&s);
    analyse(&s, arena, &a);
    const etp_ab_comparison withheld = {.candidate = 2, .withheld = ETP_WITHHELD_OUTPUTS_DIFFER};
    const etp_ab later = {.dir = "run", .n_arms = 3, .comparisons = &withheld, .n_comparisons = 1};
    assert_int_equal(etp_stats_take_withheld(&a, &later, arena, &err), ETP_CORRUPT);
    assert_string_equal(err.msg, "run: 3 experiments, 2 when its samples were read; is it being "
                                 "written? Try again when its session has ended");
}
