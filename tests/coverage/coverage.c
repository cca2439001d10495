// SPDX-License-Identifier: Apache-2.0
// Do 95 % intervals hold the truth 95 % of the time, and do equal arms stay equal? Whole sessions
// are simulated and analysed by the library as it is; gates decide the exit code.
//   coverage [--trials N] [--only TEXT]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

#define RATIO 3.9
#define ITERATIONS 20
#define MAX_BLOCKS 64

// Noise of the published table: 2 % per iteration, 3 % of them with a spike of up to 30 %.
#define NOISE(sd) {.launch_sd = (sd), .iteration_sd = 0.02, .spike_p = 0.03, .spike_scale = 0.3}
#define WITH(sd, ...) \
    {.launch_sd = (sd), .iteration_sd = 0.02, .spike_p = 0.03, .spike_scale = 0.3, __VA_ARGS__}
#define ARMS(baseline_, candidate_) .baseline = baseline_, .candidate = candidate_
#define BOTH(shape_) .baseline = shape_, .candidate = shape_, .same_shape = true

static const cell k_cells[] = {
    // below six blocks there is no verdict; the interval has to hold nevertheless
    {"3 blocks, 3 %", 3, 20, BOTH(NOISE(0.03))},
    {"5 blocks, 0.5 %, drift 8 %", 5, 20, BOTH(NOISE(0.005)), .world = {.linear = 0.08}},
    {"5 blocks, 3 %", 5, 20, BOTH(NOISE(0.03))},
    {"5 blocks, 3 %, drift 8 %", 5, 20, BOTH(NOISE(0.03)), .world = {.linear = 0.08}},
    {"6 blocks, 0.5 %", 6, 20, BOTH(NOISE(0.005)), .calm = true},
    {"6 blocks, 3 %", 6, 20, BOTH(NOISE(0.03)), .calm = true},
    {"6 blocks, 0.5 %, drift 8 %", 6, 20, BOTH(NOISE(0.005)), .world = {.linear = 0.08}},
    {"10 blocks, 0.5 %", 10, 20, BOTH(NOISE(0.005)), .calm = true},
    {"10 blocks, 3 %", 10, 20, BOTH(NOISE(0.03)), .calm = true},
    {"10 blocks, 0.5 %, drift 8 %", 10, 20, BOTH(NOISE(0.005)), .world = {.linear = 0.08}},
    {"10 blocks, 3 %, drift 8 %", 10, 20, BOTH(NOISE(0.03)), .world = {.linear = 0.08}},
    {"20 blocks, 3 %, drift 8 %", 20, 20, BOTH(NOISE(0.03)), .world = {.linear = 0.08}},
    // heavier tails, in both arms
    {"launches t3", 10, 20, BOTH(WITH(0.01, .tail = TAIL_T3))},
    {"launches exponential", 10, 20, BOTH(WITH(0.02, .tail = TAIL_EXPONENTIAL))},
    {"launches log-normal", 10, 20, BOTH(WITH(0.02, .tail = TAIL_LOGNORMAL))},
    {"iterations Pareto", 10, 20, BOTH(WITH(0.005, .pareto_p = 0.15))},
    {"launches bimodal", 10, 20, BOTH(WITH(0.005, .mode_p = 0.3, .mode_step = 0.06))},
    {"launches bimodal, 6 blocks", 6, 20, BOTH(WITH(0.005, .mode_p = 0.3, .mode_step = 0.06))},
    // the machine changes
    {"linear 8 % and step 5 %", 10, 20, BOTH(NOISE(0.005)),
     .world = {.linear = 0.08, .step = 0.05}},
    {"linear 8 % and step 30 %, 6 blocks", 6, 20, BOTH(NOISE(0.005)),
     .world = {.linear = 0.08, .step = 0.3}},
    {"linear 30 %", 10, 20, BOTH(NOISE(0.005)), .world = {.linear = 0.3}},
    {"random walk 1 % a launch", 10, 20, BOTH(NOISE(0.005)), .world = {.walk = 0.01}},
    {"warm-up 20 %", 10, 20, BOTH(WITH(0.01, .warm = 0.2))},
    // the arms' noise has different shapes: reported, and to be flagged
    {"candidate bimodal half, 10 %", 10, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.5, .mode_step = 0.1)), .must_flag = true},
    {"candidate bimodal half, 6 %", 10, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.5, .mode_step = 0.06)), .must_flag = true},
    {"candidate bimodal half, 6 %, 20 blocks", 20, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.5, .mode_step = 0.06)), .must_flag = true},
    {"candidate bimodal 3 in 10, 6 %", 10, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.3, .mode_step = 0.06)), .must_flag = true},
    {"candidate bimodal 3 in 10, 6 %, 20 blocks", 20, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.3, .mode_step = 0.06)), .must_flag = true},
    {"candidate iterations Pareto", 10, 20, ARMS(NOISE(0.005), WITH(0.005, .pareto_p = 0.15)),
     .must_flag = true},
    {"candidate launches log-normal", 10, 20,
     ARMS(NOISE(0.005), WITH(0.02, .tail = TAIL_LOGNORMAL)), .must_flag = true},
    {"candidate launches exponential, 14 blocks", 14, 20,
     ARMS(NOISE(0.005), WITH(0.02, .tail = TAIL_EXPONENTIAL)), .must_flag = true},
    // a miss without any slow launch in it looks like a calm arm: only the others can be flagged
    {"candidate bimodal 1 in 10, 6 %", 10, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.1, .mode_step = 0.06)), .must_flag_seen = true},
    {"candidate bimodal 1 in 10, 6 %, 20 blocks", 20, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.1, .mode_step = 0.06)), .must_flag_seen = true},
    {"candidate bimodal 1 in 10, 6 %, 30 blocks", 30, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.1, .mode_step = 0.06)), .must_flag = true},
    // too few launches to see the tail in nine of ten; the document has what is possible
    {"candidate launches exponential", 10, 20,
     ARMS(NOISE(0.005), WITH(0.02, .tail = TAIL_EXPONENTIAL))},
    {"candidate launches t3", 10, 20, ARMS(NOISE(0.005), WITH(0.01, .tail = TAIL_T3))},
    {"candidate launches t3, 20 blocks", 20, 20, ARMS(NOISE(0.005), WITH(0.01, .tail = TAIL_T3)),
     .must_flag = true},
    // without traced launches there are half as many
    {"untraced, bimodal half, 6 %", 10, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.5, .mode_step = 0.06)), .untraced = true},
    {"untraced, bimodal 3 in 10, 6 %", 10, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.3, .mode_step = 0.06)), .untraced = true},
    {"untraced, bimodal 1 in 10, 6 %", 10, 20,
     ARMS(NOISE(0.005), WITH(0.005, .mode_p = 0.1, .mode_step = 0.06)), .untraced = true},
    {"untraced, launches log-normal", 10, 20,
     ARMS(NOISE(0.005), WITH(0.02, .tail = TAIL_LOGNORMAL)), .untraced = true},
    {"untraced, launches exponential", 10, 20,
     ARMS(NOISE(0.005), WITH(0.02, .tail = TAIL_EXPONENTIAL)), .untraced = true},
    // what the flag of unequal scatter costs: normal launches, only wider, and an interval that
    // holds
    {"candidate 1 %, else alike", 10, 20, ARMS(NOISE(0.005), NOISE(0.01))},
    {"candidate 3 %, else alike", 10, 20, ARMS(NOISE(0.005), NOISE(0.03))},
};

typedef struct tally {
    uint64_t trials, covered, called, withheld, flagged, misses, flagged_misses;
    uint64_t seen_misses, flagged_seen; // misses with a slow launch in them, and the flagged ones
    double half_width;
    bool ran_out; // of memory or worse
} tally;

typedef struct bench {
    etp_sample samples[SESSION_LAUNCHES(MAX_BLOCKS) * ITERATIONS];
    etp_stats stats;
} bench;

static void run_trial(const cell *c, double ratio, double truth_ln, uint64_t number, bench *b,
                      tally *t)
{
    etp_rng rng;
    etp_rng_init(&rng, number * 2 + (ratio > 1));
    uint32_t slow = 0;
    size_t n = make_session(c, ratio, number, &rng, b->samples, &slow);
    etp_arena arena = {0};
    etp_error err;
    if (etp_stats_analyze(b->samples, n, 2, NULL, &arena, &b->stats, &err) != ETP_OK) {
        t->ran_out = true;
        return;
    }
    const etp_stats_comparison *found = &b->stats.comparisons[0];
    unsigned shapes = found->flags & (ETP_FLAG_BIMODAL | ETP_FLAG_HEAVY_TAIL);
    bool covered = log(found->paired.lo) <= truth_ln && truth_ln <= log(found->paired.hi);
    t->trials++;
    t->covered += covered;
    t->misses += !covered;
    t->flagged += shapes != 0;
    t->flagged_misses += !covered && shapes != 0;
    t->seen_misses += !covered && slow > 0;
    t->flagged_seen += !covered && slow > 0 && shapes != 0;
    t->half_width += found->paired.half_width_ln;
    t->called +=
        found->paired.verdict == ETP_VERDICT_FASTER || found->paired.verdict == ETP_VERDICT_SLOWER;
    t->withheld += b->stats.control_differs;
    etp_arena_dispose(&arena);
}

// The difference of the arms that their shapes add to the ratio: equal shapes add none.
static double shape_bias(const cell *c, uint64_t trials)
{
    if (c->same_shape) {
        return 0;
    }
    etp_rng rng;
    etp_rng_init(&rng, 77);
    double sum = 0;
    const uint64_t draws = trials >= 2000 ? 200000 : 100 * trials;
    for (uint64_t i = 0; i < draws; i++) {
        sum += launch_value(&c->baseline, c->iterations, &rng) -
               launch_value(&c->candidate, c->iterations, &rng);
    }
    return sum / (double)draws;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

// Slack of a gate on a share when there are too few trials to see it sharply: three standard
// errors.
static double slack(double p, uint64_t trials)
{
    return trials >= 10000 ? 0 : 3 * sqrt(p * (1 - p) / (double)trials);
}

// Are HITS of N too few for a share of P? Few misses are far from normal: by the binomial
// distribution, at the 0.135 % that three standard errors stand for.
static bool too_few(double p, uint64_t hits, uint64_t n, uint64_t trials)
{
    if (trials >= 10000) {
        return share(hits, n) < p;
    }
    double below = 0, ln = (double)n * log1p(-p); // of exactly i hits
    for (uint64_t i = 0; i <= hits; i++) {
        below += exp(ln);
        ln += log((double)(n - i) / (double)(i + 1) * p / (1 - p));
    }
    return below < 0.00135;
}

static bool run_cell(const cell *c, uint64_t trials, bench *b)
{
    tally fast = {0}, equal = {0};
    double bias = shape_bias(c, trials);
    for (uint64_t i = 1; i <= trials; i++) {
        run_trial(c, RATIO, log(RATIO) + bias, i, b, &fast);
        run_trial(c, 1, bias, i, b, &equal);
    }
    double coverage = share(fast.covered + equal.covered, fast.trials + equal.trials);
    double false_calls = share(equal.called, equal.trials);
    double flagged_misses =
        share(fast.flagged_misses + equal.flagged_misses, fast.misses + equal.misses);
    uint64_t misses = fast.misses + equal.misses, seen = fast.seen_misses + equal.seen_misses;
    double flagged_seen = share(fast.flagged_seen + equal.flagged_seen, seen);
    double flagged = share(fast.flagged + equal.flagged, fast.trials + equal.trials);
    const char *bad = NULL;
    if (fast.ran_out || equal.ran_out) {
        bad = "analysis failed";
    } else if (c->same_shape && c->blocks >= ETP_MIN_BLOCKS) {
        if (coverage < 0.94 - slack(0.05, 2 * trials)) {
            bad = "coverage below 94 %";
        } else if (false_calls > 0.05 + slack(0.05, trials)) {
            bad = "equal arms called different";
        } else if (c->calm && flagged > 0.11 + slack(0.1, 2 * trials)) {
            bad = "calm sessions flagged";
        }
    } else if (c->must_flag) {
        bad = too_few(0.9, fast.flagged_misses + equal.flagged_misses, misses, trials)
                  ? "misses not flagged"
                  : NULL;
    } else if (c->must_flag_seen) {
        bad = too_few(0.9, fast.flagged_seen + equal.flagged_seen, seen, trials)
                  ? "misses not flagged"
                  : NULL;
    }
    char called[16] = "-", visible[32] = "-"; // of arms that are not equal it would say nothing
    if (c->must_flag_seen || (c->untraced && c->candidate.mode_p > 0)) {
        (void)snprintf(visible, sizeof visible, "%.1f of %.1f", 100 * flagged_seen,
                       100 * share(seen, misses));
    }
    if (c->same_shape) {
        (void)snprintf(called, sizeof called, "%.2f", 100 * false_calls);
    }
    const char *fine = c->same_shape || c->must_flag || c->must_flag_seen ? "ok" : "-";
    printf("%-42s %6.2f %7.2f %8s %8.2f %8.1f %8.1f %13s  %s\n", c->name, 100 * coverage,
           100 * fast.half_width / (double)fast.trials, called,
           100 * share(equal.withheld, equal.trials), 100 * flagged, 100 * flagged_misses, visible,
           bad ? bad : fine);
    (void)fflush(stdout);
    return bad == NULL;
}

// ---- planner ----

typedef enum twins {
    TWINS_ALL,
    TWINS_UNTRACED,
    TWINS_NONE
} twins; // what a pilot has beside the ratios

typedef struct plan_case {
    const char *name;
    shape baseline, candidate;
    double linear, blocks; // drift; blocks that the target takes, about
    twins twins;
    uint32_t pilot;
    double min_within,
        min_own; // share of plans within 1.5× of the truth, of the session's own width
} plan_case;

#define PLAN_ROWS(name, baseline, candidate, linear, two, six, ten)    \
    {name, baseline, candidate, linear, 10, TWINS_ALL, 2, two, 0},     \
        {name, baseline, candidate, linear, 10, TWINS_ALL, 6, six, 0}, \
    {                                                                  \
        name, baseline, candidate, linear, 10, TWINS_ALL, 10, ten, 0   \
    }

static const plan_case k_plans[] = {
    PLAN_ROWS("0.5 %", NOISE(0.005), NOISE(0.005), 0, 0.85, 0.9, 0.9),
    PLAN_ROWS("3 %", NOISE(0.03), NOISE(0.03), 0, 0.7, 0.9, 0.9),
    {"3 %, for 40 blocks", NOISE(0.03),  NOISE(0.03),  0,    40, TWINS_ALL,      6, 0.9, 0.9},
    {"3 %, drift 8 %",     NOISE(0.03),  NOISE(0.03),  0.08, 10, TWINS_ALL,      6, 0.9, 0  },
    {"0.5 % and 1.5 %",    NOISE(0.005), NOISE(0.015), 0,    10, TWINS_ALL,      6, 0.8, 0  },
    {"1.5 % and 0.5 %",    NOISE(0.015), NOISE(0.005), 0,    10, TWINS_ALL,      6, 0.9, 0  },
    {"3 %, untraced",      NOISE(0.03),  NOISE(0.03),  0,    10, TWINS_UNTRACED, 2, 0,   0  },
    {"3 %, untraced",      NOISE(0.03),  NOISE(0.03),  0,    10, TWINS_UNTRACED, 6, 0.8, 0  },
    {"3 %, ratios alone",  NOISE(0.03),  NOISE(0.03),  0,    10, TWINS_NONE,     2, 0,   0  },
    {"3 %, ratios alone",  NOISE(0.03),  NOISE(0.03),  0,    10, TWINS_NONE,     6, 0.7, 0  },
};

typedef struct pilot_data {
    double ratios[MAX_BLOCKS];
    double half_width_ln;
    etp_spread spread;
} pilot_data;

static bool measure(const cell *c, uint64_t number, bench *b, pilot_data *out)
{
    etp_rng rng;
    etp_arena arena = {0};
    etp_rng_init(&rng, number);
    uint32_t slow;
    size_t n = make_session(c, 1, number, &rng, b->samples, &slow);
    bool done = etp_stats_analyze(b->samples, n, 2, NULL, &arena, &b->stats, NULL) == ETP_OK;
    if (done) {
        out->half_width_ln = b->stats.comparisons[0].paired.half_width_ln;
        out->spread = b->stats.comparisons[0].spread;
        for (uint32_t i = 0; i < b->stats.n_blocks_seen; i++) {
            out->ratios[i] = b->stats.value_ln[2 * i] - b->stats.value_ln[2 * i + 1];
        }
    }
    etp_arena_dispose(&arena);
    return done;
}

// Variance of the median of so many iterations, by drawing them.
static double median_variance(uint32_t iterations, uint64_t draws)
{
    static double known[ITERATIONS + 1];
    static const shape k_still = NOISE(0);
    if (known[iterations] <= 0) {
        etp_rng rng;
        etp_rng_init(&rng, 4711 + iterations);
        etp_moments m = {0};
        for (uint64_t i = 0; i < draws; i++) {
            etp_moments_add(&m, launch_value(&k_still, iterations, &rng));
        }
        known[iterations] = etp_moments_variance(&m);
    }
    return known[iterations];
}

// Standard deviation of one block's log ratio without drift.
static double true_sd(const plan_case *p, uint32_t iterations, uint64_t trials)
{
    return sqrt(p->baseline.launch_sd * p->baseline.launch_sd +
                p->candidate.launch_sd * p->candidate.launch_sd +
                2 * median_variance(iterations, trials < 1000 ? 20000 : 200000));
}

typedef struct plan_tally {
    etp_moments offs;
    uint64_t close, own, inside;
    double df, blocks;
} plan_tally;

// Is the number of blocks that the target really takes within the plan's range?
static bool in_range(double sd, double df, double truth, double target)
{
    uint32_t k = etp_plan_sequential(truth, target);
    double lo = sd * etp_sd_factor(0.5 - ETP_PLAN_RANGE / 2, df),
           hi = sd * etp_sd_factor(0.5 + ETP_PLAN_RANGE / 2, df);
    return etp_plan_sequential(lo, target) <= k && k <= etp_plan_sequential(hi, target);
}

// A pilot, the plan made from it, and the session that was planned: the width that the plan
// predicts against the one that such sessions have on average (the truth), and against that
// session's own.
static bool one_plan(const plan_case *p, uint64_t number, uint64_t trials, bench *b, plan_tally *t)
{
    cell c = {.name = "pilot",
              .blocks = p->pilot,
              .iterations = ITERATIONS,
              .baseline = p->baseline,
              .candidate = p->candidate,
              .world = {.linear = p->linear},
              .untraced = p->twins != TWINS_ALL};
    pilot_data d;
    if (!measure(&c, 2 * number, b, &d)) {
        return false;
    }
    etp_moments m = {0};
    for (uint32_t i = 0; i < p->pilot; i++) {
        etp_moments_add(&m, d.ratios[i]);
    }
    const etp_spread none = {0}, *spread = p->twins == TWINS_NONE ? &none : &d.spread;
    double df, sd = etp_spread_sd(spread, etp_moments_sd(&m), p->pilot, &df);
    double truth = true_sd(p, ITERATIONS, trials), target = 2.1 * truth / sqrt(p->blocks);
    uint32_t blocks = etp_plan_sequential(sd, target);
    t->inside += in_range(sd, df, truth, target);
    c.blocks = blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
    double predicted = etp_plan_half_width(sd, c.blocks);
    double off = log(predicted / etp_plan_half_width(truth, c.blocks));
    etp_moments_add(&t->offs, off);
    t->close += fabs(off) <= log(1.5);
    t->df += df;
    t->blocks += c.blocks;
    if (!measure(&c, 2 * number + 1, b, &d)) {
        return false;
    }
    t->own += fabs(log(predicted / expm1(d.half_width_ln))) <= log(1.5);
    return true;
}

static bool run_plan(const plan_case *p, uint64_t trials, bench *b)
{
    plan_tally t = {0};
    bool ok = true;
    for (uint64_t i = 1; i <= trials; i++) {
        ok = one_plan(p, i, trials, b, &t) && ok;
    }
    double n = (double)trials, within = share(t.close, trials), own = share(t.own, trials);
    double inside = share(t.inside, trials);
    double doubt = trials >= 2000 ? 0 : 3 * etp_moments_sd(&t.offs) / sqrt(n);
    ok = ok && fabs(t.offs.mean) <= log(1.5) + doubt &&
         within >= p->min_within - slack(0.1, trials) && own >= p->min_own - slack(0.1, trials);
    printf("plan: launches %-20s pilot of %2u: predicted ÷ true width %.2f (geometric mean), "
           "within 1.5× of the "
           "truth %5.1f %%, of the session's own %5.1f %%; range holds %5.1f %%; %5.1f df, %4.1f "
           "blocks  %s\n",
           p->name, (unsigned)p->pilot, exp(t.offs.mean), 100 * within, 100 * own, 100 * inside,
           t.df / n, t.blocks / n, ok ? "ok" : "too far");
    (void)fflush(stdout);
    return ok;
}

// ---- stop rule ----

typedef struct stop_case {
    const char *name;
    shape shape;   // of both arms
    double linear; // drift over MAX_BLOCKS blocks
    double target;
} stop_case;

// From "enough at the first look" to "hardly ever": the interval is least honest in between.
static const stop_case k_stops[] = {
    {"launches 1 %, ±2 %", NOISE(0.01), 0, 0.02},
    {"launches 1 %, ±1 %", NOISE(0.01), 0, 0.01},
    {"launches 1 %, ±0.7 %", NOISE(0.01), 0, 0.007},
    {"launches 1 %, ±0.5 %", NOISE(0.01), 0, 0.005},
    {"launches 3 %, ±2 %", NOISE(0.03), 0, 0.02},
    {"launches 1 %, ±0.7 %, drift 8 %", NOISE(0.01), 0.08, 0.007},
    {"launches t3, ±0.7 %", WITH(0.005, .tail = TAIL_T3), 0, 0.007},
    {"launches bimodal, ±2 %", WITH(0.005, .mode_p = 0.3, .mode_step = 0.06), 0, 0.02},
};

// Log ratios of one session, in the order that a session would launch.
static void stop_session(const stop_case *c, uint64_t number, double *out)
{
    etp_rng rng;
    etp_rng_init(&rng, number);
    for (uint32_t b = 1; b <= MAX_BLOCKS; b++) {
        uint32_t order[2];
        double value[2];
        etp_block_order(number, b, 2, order);
        for (uint32_t i = 0; i < 2; i++) {
            double when = (2.0 * (b - 1) + i) / (2.0 * MAX_BLOCKS);
            value[order[i]] = launch_value(&c->shape, ITERATIONS, &rng) + c->linear * when;
        }
        out[b - 1] = value[0] - value[1];
    }
}

// Sessions that end as soon as the interval is narrow enough: does it still hold the truth (0)?
static bool run_stop(const stop_case *c, uint64_t trials)
{
    uint64_t covered = 0, plain = 0, reached = 0;
    double blocks = 0;
    for (uint64_t i = 1; i <= trials; i++) {
        double ratios[MAX_BLOCKS];
        stop_session(c, i, ratios);
        size_t k = ETP_MIN_BLOCKS;
        while (k < MAX_BLOCKS && !etp_precise_enough(ratios, k, c->target)) {
            k++;
        }
        etp_interval ln = etp_mean_interval(ratios, k, ETP_CONFIDENCE);
        double half = (ln.hi - ln.lo) / 2;
        reached += etp_precise_enough(ratios, k, c->target);
        plain += fabs(ln.estimate) <= half;
        covered += fabs(ln.estimate) <= half * etp_sequential_widening(k);
        blocks += (double)k;
    }
    double coverage = share(covered, trials);
    bool ok = coverage >= 0.94 - slack(0.05, trials);
    printf("stop at %-34s covered %6.2f %% (not widened: %6.2f %%), reached in %5.1f %%, %4.1f "
           "blocks  %s\n",
           c->name, 100 * coverage, 100 * share(plain, trials), 100 * share(reached, trials),
           blocks / (double)trials, ok ? "ok" : "coverage below 94 %");
    (void)fflush(stdout);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t trials = 400;
    const char *only = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--trials") == 0) {
            trials = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--only") == 0) {
            only = argv[i + 1];
        }
    }
    bench *b = malloc(sizeof *b);
    if (!b || trials == 0) {
        free(b);
        return 2;
    }
    printf("%llu sessions of ratio %.1f and as many of ratio 1 per row; %%\n"
           "%-42s %6s %7s %8s %8s %8s %8s %13s\n",
           (unsigned long long)trials, RATIO, "cell", "cover", "± width", "A/A diff", "withheld",
           "flagged", "of misses", "of seen ones");
    bool ok = true;
    for (size_t i = 0; i < sizeof k_cells / sizeof *k_cells; i++) {
        if (strstr(k_cells[i].name, only)) {
            ok = run_cell(&k_cells[i], trials, b) && ok;
        }
    }
    for (size_t i = 0; i < sizeof k_plans / sizeof *k_plans && strstr("planner", only); i++) {
        ok = run_plan(&k_plans[i], trials / 4 + 1, b) && ok; // two sessions each, and long ones
    }
    for (size_t i = 0; i < sizeof k_stops / sizeof *k_stops && strstr("stop rule", only); i++) {
        ok = run_stop(&k_stops[i], 2 * trials) && ok;
    }
    free(b);
    return ok ? 0 : 1;
}
