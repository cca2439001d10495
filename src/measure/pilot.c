// SPDX-License-Identifier: Apache-2.0
// How many iterations a launch gets. Warm-up: at least 3 and 0.2 s. Timed: 0.5 s, and three times
// what the launch spends on everything else, so that at least three quarters of it are measurement;
// between 10 and 1000.
#include "measure/pilot.h"

#include <math.h>

#include <etprof/stats.h>

#define WARMUP_MIN 3
#define WARMUP_NS 2e8
#define TIMED_NS 5e8
#define TIMED_MIN 10
#define TIMED_MAX 1000
// A recording holds every operator of every inference: more of them make large files and hardly
// better means.
#define TRACED_MAX 50
#define OTHER_FACTOR 3.2 // of the rest of the launch; 3 would be three quarters exactly

static uint64_t count_for(double ns, double each, uint64_t least, uint64_t most)
{
    return (uint64_t)fmin(fmax(ceil(ns / each), (double)least), (double)most);
}

static uint64_t traced_count(const etp_session_plan *plan, uint64_t iterations)
{
    if (plan->settings.traced) {
        return plan->settings.traced;
    }
    return ETP_MIN(iterations, TRACED_MAX);
}

bool etp_pilot_needed(const etp_session_plan *plan)
{
    return plan->settings.warmup == 0 || plan->settings.iterations == 0;
}

etp_arm_counts etp_pilot_fixed(const etp_session_plan *plan)
{
    etp_arm_counts c = {.warmup = ETP_OR(plan->settings.warmup, WARMUP_MIN),
                        .iterations = ETP_OR(plan->settings.iterations, TIMED_MIN)};
    c.traced = traced_count(plan, c.iterations);
    return c;
}

etp_arm_counts etp_pilot_counts(const etp_session_plan *plan, const etp_launch_outcome *trial,
                                double *scratch)
{
    double spent = 0, warm = 0;
    for (uint64_t i = 0; i < trial->n_warmup + trial->n_iterations; i++) {
        spent += (double)trial->iterations[i].ns;
    }
    for (uint64_t i = 0; i < trial->n_iterations; i++) {
        scratch[i] = (double)trial->iterations[trial->n_warmup + i].ns;
    }
    double each = fmax(etp_median(scratch, trial->n_iterations), 1);
    double other = fmax((double)trial->record.wall_ns - spent, 0); // start, load, end
    etp_arm_counts c = {.iteration_ns = (uint64_t)each};
    // As many as the trial needed for 0.2 s: early iterations are slower than `each`.
    while (c.warmup < trial->n_warmup && (c.warmup < WARMUP_MIN || warm < WARMUP_NS)) {
        warm += (double)trial->iterations[c.warmup++].ns;
    }
    // At least as many typical iterations as fill the time: a later launch may find caches and
    // clocks warm, and its first iterations are then no longer than the others.
    uint64_t later = count_for(WARMUP_NS, each, WARMUP_MIN, 1000000);
    c.warmup = ETP_MAX(c.warmup, later);
    c.warmup = ETP_OR(plan->settings.warmup, c.warmup);
    double rest = other + (double)c.warmup * each;
    c.iterations = plan->settings.iterations
                       ? plan->settings.iterations
                       : count_for(fmax(TIMED_NS, OTHER_FACTOR * rest), each, TIMED_MIN, TIMED_MAX);
    c.traced = traced_count(plan, c.iterations);
    c.timed_wall_ns = (uint64_t)(rest + (double)c.iterations * each);
    c.traced_wall_ns = (uint64_t)(rest + (double)c.traced * each);
    return c;
}
