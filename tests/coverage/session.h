// SPDX-License-Identifier: Apache-2.0
// Sessions with planted truth: launches with noise of a chosen shape, under drift, in the order
// that a real session would use.
#ifndef ETP_COVERAGE_SESSION_H
#define ETP_COVERAGE_SESSION_H

#include <etprof/stats.h>

typedef enum launch_tail { TAIL_NORMAL, TAIL_T3, TAIL_EXPONENTIAL, TAIL_LOGNORMAL } launch_tail;

typedef struct shape { // of one arm's noise, in ln
    double launch_sd;  // standard deviation (or scale, for the tails) between launches
    launch_tail tail;
    double mode_p, mode_step; // share of launches that are slower, and by how much
    double iteration_sd;
    double spike_p, spike_scale; // share of slow iterations, uniform up to the scale
    double pareto_p;             // share of iterations with a Pareto tail (index 1.5, from 10 %)
    double warm;                 // first iteration slower by this, decaying by half each time
} shape;

typedef struct world { // what happens to the machine
    double linear;     // over the session
    double step;       // once, at a random time
    double walk;       // standard deviation of a random walk's steps, per launch
} world;

typedef struct cell {
    const char *name;
    uint32_t blocks, iterations;
    shape baseline, candidate;
    world world;
    bool same_shape;     // the guarantee holds: gates apply
    bool must_flag;      // of the misses, 90 % have to be flagged
    bool must_flag_seen; // of those misses that contain a slow launch at all
    bool calm;           // normal launches on a steady machine: few may be flagged
    bool untraced;       // timed and control launches only, as with --no-trace
} cell;

#define SESSION_LAUNCHES(blocks) (4 * (blocks) + ETP_CONTROL_BLOCKS)

double draw_normal(etp_rng *rng);
// Median of ln durations of one launch as the analysis sees it, without drift: for finding the
// truth where the two arms' shapes differ.
double launch_value(const shape *s, uint32_t iterations, etp_rng *rng);
// One session: OUT has room for SESSION_LAUNCHES(blocks)·iterations; returns how many. Arm 0 is the
// baseline and takes `ratio` times as long. *out_slow counts the launches that drew the slow mode.
size_t make_session(const cell *c, double ratio, uint64_t seed, etp_rng *rng, etp_sample *out,
                    uint32_t *out_slow);

#endif
