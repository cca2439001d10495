// SPDX-License-Identifier: Apache-2.0
// A speedup as cycles, clock and CPUs at work. Expected values by hand, intervals by printed tables
// of Student's t.
#include <math.h>

#include "unit.h"
#include <etprof/stats.h>

enum { BLOCKS = 8 };
static const double k_t975_7 = 2.36462; // 97.5 % point with 7 degrees of freedom

static etp_counted cell(double ns, double cpu_ns, double cycles, double instructions)
{
    return (etp_counted){log(ns), log(cpu_ns), log(cycles), log(instructions)};
}

static etp_clock_split split(const etp_counted *a, const etp_counted *b, size_t n, bool sequential)
{
    etp_clock_split out;
    etp_arena scratch = {0};
    etp_stats_options options = {.sequential = sequential};
    assert_int_equal(etp_clock_split_of(a, b, n, &options, &scratch, &out, NULL), ETP_OK);
    etp_arena_dispose(&scratch);
    return out;
}

static void near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-12 * fabs(wanted) + 1e-15)) {
        fail_msg("%.17g, not %.17g", found, wanted);
    }
}

// 6000 ns, two threads all of the time, 2 GHz: 24,000 cycles. Then 3200 ns, 1.5 threads, 2.5 GHz:
// 12,000 cycles.
static void by_hand(void **state)
{
    etp_counted a[BLOCKS], b[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        a[i] = cell(6000, 12000, 24000, 48000);
        b[i] = cell(3200, 4800, 12000, 36000);
    }
    etp_clock_split x = split(a, b, BLOCKS, false);
    near(x.speedup.estimate, 1.875);
    near(x.cycles.estimate, 2);   // half the work
    near(x.clock.estimate, 1.25); // 2.5 ÷ 2 GHz
    near(x.busy.estimate, 0.75);  // 1.5 ÷ 2 threads
    near(x.cycles.estimate * x.clock.estimate * x.busy.estimate, x.speedup.estimate);
    near(x.instructions.estimate, 48.0 / 36);
    near(x.per_cycle.estimate, 1.5); // 3 ÷ 2 instructions per cycle
    near(x.instructions.estimate * x.per_cycle.estimate, x.cycles.estimate);
    assert_true(x.cycles.verdict == ETP_VERDICT_FASTER && x.busy.verdict == ETP_VERDICT_SLOWER);
    assert_int_equal(x.cycles.blocks, BLOCKS);
}

// Each factor has the interval of its own log ratios; the means add up to that of the speedup.
static void intervals(void **state)
{
    static const double k_cycles[BLOCKS] = {0.01,  -0.02, 0.03,  0, 0.005,
                                            -0.01, 0.02,  -0.015}, // ln, added to the candidate
        k_clock[BLOCKS] = {0, 0.004, -0.004, 0.002, 0.001, -0.003, 0, 0.002},
                        k_busy[BLOCKS] = {-0.01, 0, 0, 0.01, 0.02, 0, -0.02, 0.01};
    etp_counted a[BLOCKS], b[BLOCKS];
    double mean = 0, squares = 0;
    for (int i = 0; i < BLOCKS; i++) {
        double cycles = log(1e6) + k_cycles[i], cpu = cycles - log(2) - k_clock[i],
               time = cpu - log(0.9) - k_busy[i];
        a[i] = cell(1e6, 9e5, 2e6, 1e6);
        b[i] = (etp_counted){time, cpu, cycles, cycles};
        mean -= k_cycles[i] / (double)BLOCKS;
    }
    for (int i = 0; i < BLOCKS; i++) {
        squares += (-k_cycles[i] - mean) * (-k_cycles[i] - mean);
    }
    double half = k_t975_7 * sqrt(squares / (BLOCKS - 1)) / sqrt(BLOCKS);
    etp_clock_split x = split(a, b, BLOCKS, false);
    near(x.cycles.estimate, 2 * exp(mean));
    assert_true(fabs(x.cycles.lo - 2 * exp(mean - half)) < 1e-6 &&
                fabs(x.cycles.hi - 2 * exp(mean + half)) < 1e-6);
    near(x.speedup.mean_ln, x.cycles.mean_ln + x.clock.mean_ln + x.busy.mean_ln);
    assert_true(x.clock.hi - x.clock.lo < x.busy.hi - x.busy.lo &&
                x.busy.hi - x.busy.lo < x.cycles.hi - x.cycles.lo);
    // Looking for precision widens them as it does the speedup's: 1 + 1.5/8.
    etp_clock_split wide = split(a, b, BLOCKS, true);
    assert_true(fabs(wide.cycles.half_width_ln / x.cycles.half_width_ln - 1.1875) < 1e-9);
}

// A block counts for all factors or for none; missing instructions cost only their own two.
static void missing(void **state)
{
    etp_counted a[BLOCKS], b[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        a[i] = cell(6000, 6000, 12000, 12000);
        b[i] = cell(3000, 3000, 6000, 6000);
    }
    a[1].cycles_ln = NAN;
    b[2].cpu_ln = NAN;
    b[3].time_ln = NAN;
    a[4].instructions_ln = NAN;
    etp_clock_split x = split(a, b, BLOCKS, false);
    assert_int_equal(x.speedup.blocks, 5);
    assert_int_equal(x.clock.blocks, 5);
    assert_int_equal(x.instructions.blocks, 4);
    near(x.speedup.estimate, 2);
    assert_int_equal(x.speedup.verdict, ETP_VERDICT_UNKNOWN); // below six
    x = split(a, b, 0, false);
    assert_int_equal(x.cycles.blocks, 0);
}
