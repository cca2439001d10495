// SPDX-License-Identifier: Apache-2.0
// Shared inside the stats room.
#ifndef ETP_STATS_INTERNAL_H
#define ETP_STATS_INTERNAL_H

#include <etprof/stats.h>

// Reorders x so that x[k] is the k-th smallest, smaller values before it, larger after.
double etp_select(double *x, size_t n, size_t k);
double etp_quantile_sorted(const double *x, size_t n, double q); // etp_quantile of sorted values
void etp_sort_doubles(double *x, size_t n);
// Sorts indices by a total order (heap sort: no recursion, no library whose result could differ).
typedef bool (*etp_before)(const void *ctx, uint32_t a, uint32_t b);
void etp_sort_order(uint32_t *order, size_t n, etp_before before, const void *ctx);
// order becomes 0 … n − 1 sorted by key, ascending, ties by index.
void etp_order_by(const double *key, size_t n, uint32_t *order);
// Twice the mid-ranks (1-based, integers) of the values in sorted order; returns Σ (t³ − t) over
// ties.
double etp_double_ranks(const double *key, const uint32_t *order, size_t n, uint32_t *out_by_index);
// Mean and n − 1 variance in two passes (the second corrected for rounding); variance NAN below 2.
double etp_mean(const double *x, size_t n, double *out_variance);
// I_x(a, b) when both x and 1 − x are known without cancellation.
double etp_beta_cdf2(double a, double b, double x, double one_minus_x);
typedef struct etp_shape_launch { // of one arm, to see how its launches scatter
    double value_ln;
    double time; // ascending
    bool traced;
} etp_shape_launch;
typedef struct etp_flag_input {
    const double *values, *times; // launch values over the complete blocks, ascending in time
    size_t k;
    const etp_shape_launch *launches; // timed, control and traced ones of these blocks in order
    size_t n_launches;
    double margin;
} etp_flag_input;
// Drift, scatter and flags of one arm; reads and sets the fields of ARM.
void etp_find_flags(const etp_flag_input *in, etp_arena *arena, etp_stats_arm *arm);
// What the public functions of these names compute, for who has a guard already.
double etp_wilcoxon(const double *x, size_t k, etp_arena *scratch);
etp_unpaired etp_unpaired_of(const double *a, size_t n_a, const double *b, size_t n_b,
                             double confidence, etp_arena *scratch);
etp_drift etp_drift_of(const double *t, const double *y, size_t n, etp_arena *scratch);
etp_spread etp_spread_of(const etp_launch_set *set, uint32_t baseline, uint32_t candidate,
                         etp_arena *scratch);
// Flags the arm whose iterations have the longer tail, if one has.
void etp_compare_tails(etp_stats_arm *a, etp_stats_arm *b);
// Flags the arm whose launches scatter more, if that is sure among so many comparisons.
void etp_compare_scatter(etp_stats_arm *a, etp_stats_arm *b, double margin, uint32_t n_comparisons);

// What other programs did to a launch, from its N kept iterations; SCRATCH has room for them.
void etp_noise_of_launch(const etp_sample *const *kept, size_t n, double *scratch,
                         etp_launch_stats *out);
// OTHERWISE: the share that the arm waited where its launches have no CPU times.
void etp_noise_of_arm(const etp_stats *s, uint32_t arm, double otherwise, etp_stats_arm *out);
// Fills etp_stats_comparison.cpu; RATIOS has room for a value per block.
void etp_noise_by_cpu(etp_stats *s, double *ratios, const etp_stats_options *options);
// Verdicts beside the A/A control, and why a ratio is not given. Again where the control changes.
void etp_noise_of_comparisons(etp_stats *s);

#endif
