// SPDX-License-Identifier: Apache-2.0
// The arithmetic of comparisons. Pure functions: arrays in, structs out, no I/O, no state; memory
// that a function needs beyond its arguments comes from an arena the caller names. Formulas and
// their sources are in docs/statistics.md.
//
// Unknown is NAN, never 0. Ratios are baseline ÷ candidate time: above 1 the candidate is faster.
// "ln" in a name means natural logarithms of nanoseconds; everything random takes a seed and gives
// the same result for it on every machine. Inputs must be finite unless said otherwise.
// Errors: ETP_NOMEM of whatever is given an arena, and what stands beside a function.
// Thread rule: as the arena that is named; without one, any number of threads.
#ifndef ETPROF_STATS_H
#define ETPROF_STATS_H

#include <etprof/arena.h>
#include <etprof/bytes.h>
#include <etprof/error.h>

ETP_C_BEGIN

// ---- one sample ----

// These four reorder x. NAN when n is 0.
ETP_API double etp_median(double *x, size_t n);
// Median of |x − median|; not scaled (multiply by 1.4826 for a normal's standard deviation).
ETP_API double etp_mad(double *x, size_t n);
// Linear interpolation between order statistics ("type 7", numpy's default), q in 0…1.
ETP_API double etp_quantile(double *x, size_t n, double q);

typedef struct etp_moments { // Welford: feed one value at a time; a zeroed struct is empty
    uint64_t n;
    double mean, m2;
} etp_moments;
ETP_API void etp_moments_add(etp_moments *m, double x);
ETP_API double etp_moments_variance(const etp_moments *m); // n − 1; NAN below 2
ETP_API double etp_moments_sd(const etp_moments *m);

typedef struct etp_interval {
    double estimate, lo, hi; // lo and hi NAN when the data cannot give them
} etp_interval;

// How far the farther end of a ratio's interval is from 1, as |ln|; NAN when it has no ends.
ETP_API double etp_interval_reach(const etp_interval *ratio);

// Mean with its Student-t interval (n − 1 degrees of freedom). One value has no interval.
ETP_API etp_interval etp_mean_interval(const double *x, size_t n, double confidence);
// Two-sided p of a mean of zero by the same t; NAN below two values.
ETP_API double etp_mean_p(const double *x, size_t n);
// Ranks [lo, hi] (0-based, into the sorted sample) that hold the q-quantile of the population with
// at least CONFIDENCE, whatever the distribution. False when n is too small for it.
ETP_API bool etp_quantile_ranks(size_t n, double q, double confidence, size_t *out_lo,
                                size_t *out_hi);

// ---- distributions ----

ETP_API double etp_normal_cdf(double z);
ETP_API double etp_normal_quantile(double p); // 0 < p < 1
ETP_API double etp_t_cdf(double t, double df);
ETP_API double etp_t_quantile(double p, double df); // 0 < p < 1, any df > 0
// P(F > f) for the ratio of two variances with df_above and df_below degrees of freedom.
ETP_API double etp_f_above(double f, double df_above, double df_below);

// ---- chance and order ----

// xoshiro256** seeded with four outputs of splitmix64.
typedef struct etp_rng {
    uint64_t s[4];
} etp_rng;
ETP_API void etp_rng_init(etp_rng *rng, uint64_t seed);
ETP_API uint64_t etp_rng_next(etp_rng *rng);
ETP_API uint64_t etp_rng_below(etp_rng *rng, uint64_t n); // uniform in 0 … n − 1, no bias; n ≥ 1
ETP_API double etp_rng_unit(etp_rng *rng);                // uniform in [0, 1)

// The order of the arms in BLOCK (numbered from 1): odd blocks a permutation drawn from (seed,
// block), even blocks the reverse of the block before, so that linear drift cancels over each pair
// of blocks. out: n_arms indices.
ETP_API void etp_block_order(uint64_t seed, uint32_t block, uint32_t n_arms, uint32_t *out);
// Where the control launch of BLOCK goes among the n_arms others: 0 … n_arms.
ETP_API uint32_t etp_control_position(uint64_t seed, uint32_t block, uint32_t n_arms);

// ---- paired blocks ----

#define ETP_MARGIN_DEFAULT 0.01
#define ETP_OPERATOR_MARGIN 0.05 // of one operator among many
#define ETP_CONFIDENCE 0.95
#define ETP_MIN_BLOCKS 6 // exact sign-flip p cannot go below 0.05 under this
#define ETP_CONTROL_BLOCKS 6
#define ETP_TREND_P 0.01 // of no trend: up to here a change over the session is called drift

typedef enum etp_warmup_class {
    ETP_WARM_FLAT,     // no change found, nothing dropped
    ETP_WARM_WARMUP,   // a slower prefix was dropped
    ETP_WARM_SLOWDOWN, // the prefix was faster: nothing dropped, the launch slowed down
    ETP_WARM_SHORT     // fewer than 8 iterations: not judged
} etp_warmup_class;

typedef struct etp_warmup {
    etp_warmup_class kind;
    size_t change;  // length of the prefix that differs, 0 when flat
    size_t dropped; // iterations to leave out: change for WARMUP, else 0
} etp_warmup;
// The warm-up rule on the ln durations of one launch in order. SCRATCH: 2·n doubles.
ETP_API etp_warmup etp_warmup_find(const double *ln, size_t n, double *scratch);

typedef enum etp_verdict {
    ETP_VERDICT_UNKNOWN,
    ETP_VERDICT_FASTER,
    ETP_VERDICT_SLOWER,
    ETP_VERDICT_SAME
} etp_verdict;
ETP_API const char *etp_verdict_name(etp_verdict v); // "unknown", "faster", "slower", "same"

// Two-sided p of |mean| under random signs: all 2^k to k = 20, then 100,000 seeded draws
// (p = (1 + hits) ÷ 100,001). NAN for k = 0.
ETP_API double etp_sign_flip_p(const double *x, size_t k, uint64_t seed);
// Wilcoxon signed-rank, two-sided; zeros left out, ties at mid-ranks; exact to 50 values, then the
// normal approximation. NAN when nothing is left.
ETP_API ETP_NODISCARD etp_status etp_wilcoxon_p(const double *x, size_t k, etp_arena *scratch,
                                                double *out_p, etp_error *err);

typedef struct etp_paired {
    double estimate, lo, hi; // of the ratio; lo, hi NAN below 2 blocks
    double mean_ln, sd_ln, half_width_ln;
    double widening; // of the interval: 1, more when results were looked at before the end
    uint32_t blocks;
    double sign_flip_p;
    etp_verdict verdict;
} etp_paired;
// From one log ratio per complete block.
ETP_API etp_paired etp_paired_estimate(const double *log_ratios, size_t k, double margin,
                                       double confidence, uint64_t seed);
// The verdict alone. lo_ln and hi_ln bound the log ratio.
ETP_API etp_verdict etp_verdict_of(double lo_ln, double hi_ln, size_t blocks, double sign_flip_p,
                                   double margin);
// The same beside the A/A control (the ratio of equal launches, NAN: there is none): an effect that
// the control reaches is unknown, and so is "same" where it reaches three margins.
ETP_API etp_verdict etp_verdict_beside(const etp_paired *p, const etp_interval *control,
                                       double margin);
// Fixed-precision stop rule. A session that looks at its interval until it is narrow enough stops
// more readily where the spread happens to look small; the interval would then hold the truth in as
// few as 93.2 % of sessions instead of 95 % (simulated, bench/results.md). So it looks only after
// an even number of blocks (whole pairs of orders), from ETP_MIN_BLOCKS on, and the interval of
// such a session is widened by this factor of its logarithmic half-width: 1 + 1.5/k. The rule sees
// the spread alone, never the ratio.
// The same factor is for virtual machines: neighbours come and go in tens of seconds, so that a few
// blocks in a row resemble each other more than they resemble the next (bench/conditions).
ETP_API double etp_sequential_widening(size_t k);
ETP_API void etp_paired_widen(etp_paired *p, double factor, double margin);
// How far the mean of N independent readings of a clock that cuts to steps of STEP can be from the
// truth, with 95 % confidence whatever the times are: STEP · min(1, √(ln(2 ÷ 0.05) ÷ 2n)), as each
// reading is off by a value from a range of one STEP (Hoeffding 1963, theorem 2). Never below half
// a STEP, which the median of a launch can hide however many there are.
ETP_API double etp_clock_doubt(double step, size_t n);
// Adds such a doubt, as a logarithm, to the half-width (root of the sum of squares).
ETP_API void etp_paired_blur(etp_paired *p, double doubt_ln, double margin);
// Is this a look, and is the widened half-width at most ln(1 + target)?
ETP_API bool etp_precise_enough(const double *log_ratios, size_t k, double target_rel);

// ---- unpaired samples ----

typedef struct etp_unpaired {
    double p;             // Mann–Whitney, two-sided; exact for small samples, ties at mid-ranks
    double shift, lo, hi; // Hodges–Lehmann: median of all a − b, with its interval
    double cliffs_delta;  // P(a > b) − P(a < b)
    bool exact;
} etp_unpaired;
// On logarithms, exp(shift) is the ratio a ÷ b. The differences are counted, never held: time grows
// with (n_a + n_b) × log, for up to 2^30 values in all, and so does memory.
ETP_API ETP_NODISCARD etp_status etp_unpaired_compare(const double *a, size_t n_a, const double *b,
                                                      size_t n_b, double confidence,
                                                      etp_arena *scratch, etp_unpaired *out,
                                                      etp_error *err);

// ---- many, and over time ----

// Adjusted p-values (Benjamini–Hochberg), NAN stays NAN and does not count. SCRATCH: n indices.
ETP_API void etp_benjamini_hochberg(const double *p, size_t n, uint32_t *scratch, double *out_q);

typedef struct etp_effects {
    etp_interval mean;
    double tau2; // variance between the measurements beyond their own
} etp_effects;
// Mean of N measurements of one thing with the variances VAR of their own (random effects): tau² by
// Paule and Mandel, interval by Student's t with n − 1 degrees of freedom, never narrower than the
// measurements' own errors allow. Two or more for an interval; NAN where a variance is not above 0.
ETP_API etp_effects etp_random_effects(const double *y, const double *var, size_t n,
                                       double confidence);

typedef struct etp_drift {
    double slope;     // Theil–Sen: median slope of y per unit of t
    double p;         // Mann–Kendall, two-sided, ties corrected
    double intercept; // median of y − slope·t
} etp_drift;
ETP_API ETP_NODISCARD etp_status etp_drift_find(const double *t, const double *y, size_t n,
                                                etp_arena *scratch, etp_drift *out, etp_error *err);
// Spearman's rank correlation, NAN when either side is constant or n < 3.
ETP_API ETP_NODISCARD etp_status etp_rank_correlation(const double *x, const double *y, size_t n,
                                                      etp_arena *scratch, double *out,
                                                      etp_error *err);

// Two-sided p of a rank correlation of N pairs: t with n − 2 degrees of freedom, and never below
// 2/n!, what the most ordered of all orders has. NAN below 4 pairs.
ETP_API double etp_rank_correlation_p(double rho, size_t n);

typedef struct etp_change {
    size_t at;            // first index of the new segment
    double before, after; // means of the segments on both sides
    double p; // Student's t between them, times the number of places a split could have been
} etp_change;
// Change points of a series by recursive E-divisive splits, kept while p ≤ MAX_P and the means
// differ by at least MIN_REL. Deterministic. Ascending; n up to 10,000, ETP_UNSUPPORTED beyond.
ETP_API ETP_NODISCARD etp_status etp_change_points(const double *x, size_t n, double max_p,
                                                   double min_rel, etp_arena *arena,
                                                   etp_change **out, size_t *out_n, etp_error *err);

// Rounds v to integers with sum exactly TOTAL by largest remainder: each gets its floor (after
// scaling nothing), then the missing units go to the largest fractional parts, ties to the earlier.
// When Σ floor(v) is too far from TOTAL for one unit each, the difference is dealt out in rounds.
// SCRATCH: n indices. n ≥ 1.
ETP_API void etp_round_to_sum(const double *v, size_t n, int64_t total, uint32_t *scratch,
                              int64_t *out);

// ---- planning ----

// How launches of two arms scatter, seen in all of them: timed, control and traced ones, without
// what a block, an arm or the tracer shifts. Many more degrees of freedom than the ratios alone
// have.
typedef struct etp_spread {
    double between_var; // of one block's log ratio, the part that more iterations would not remove
    double noise_var;   // the part that iterations explain, at the timed launches' length
    double doubt;       // variance of the estimate of between_var
    double df; // of between_var + noise_var; 0: there are no launches beside the ratios' own
    uint32_t blocks, launches;
    bool traced;      // traced launches are among them; false also when they scatter otherwise
    bool arms_differ; // and are taken apart (F, 5 % each way)
} etp_spread;
// Degrees of freedom of a block's variance with another share of the iterations; at least 1.
ETP_API double etp_spread_df(const etp_spread *s, double noise_var);
// Standard deviation of one block's log ratio, without the bias of few degrees of freedom; from the
// ratios (SD_LN of K blocks) when the spread has no degrees.
ETP_API double etp_spread_sd(const etp_spread *s, double sd_ln, size_t k, double *out_df);

#define ETP_PLAN_SURE 0.8  // share of sessions that reach the target with as many blocks as planned
#define ETP_PLAN_RANGE 0.8 // share of plans whose range holds the blocks that are really needed
// Blocks that a session which stops at the target is expected to take, SD_LN being of one block's
// log ratio; UINT32_MAX: out of reach.
ETP_API uint32_t etp_plan_sequential(double sd_ln, double target_rel);
// Blocks within which ETP_PLAN_SURE of such sessions reach it, when SD_LN was estimated with DF
// degrees of freedom (etp_spread_sd).
ETP_API uint32_t etp_plan_sure(double sd_ln, double df, double target_rel);
// The true standard deviation is at most this many times one estimated with DF degrees of freedom,
// in a share P of estimates.
ETP_API double etp_sd_factor(double p, double df);
// Expected half-width (relative) of k blocks with standard deviation sd_ln.
ETP_API double etp_plan_half_width(double sd_ln, uint32_t k);

// ---- a whole session ----

typedef enum etp_sample_use {
    ETP_SAMPLE_TIMED,   // compared
    ETP_SAMPLE_CONTROL, // the extra baseline launch: noise floor
    ETP_SAMPLE_TRACED,  // in no estimate; its launch shows how launches of the arm scatter
    ETP_SAMPLE_UNUSED   // warm-up, sampled
} etp_sample_use;

typedef struct etp_sample { // one iteration; rows of one launch in the order of `iteration`
    uint32_t arm;           // index
    uint32_t block, launch; // numbers as recorded
    uint64_t iteration;
    etp_sample_use use;
    uint64_t duration_ns; // ≥ 1
    uint64_t cpu_ns;      // of it its one thread ran; 0: not known, or several threads
} etp_sample;

typedef struct etp_stats_options { // a zeroed struct means the defaults
    uint32_t baseline;             // arm index
    double margin;                 // 0: ETP_MARGIN_DEFAULT
    double confidence;             // 0: ETP_CONFIDENCE
    uint64_t seed;                 // of the sign-flip draws
    bool sequential;               // intervals are widened by etp_sequential_widening
    double clock_ns; // step of the clock that the durations were read from, 0: as fine as they are
    const double *waited; // per arm, where samples have no CPU time: see etp_stats_arm.waited; NULL
} etp_stats_options;

// ---- other programs ----

// An iteration that another program interrupts takes longer on the clock. One that is longer than a
// time slice is always interrupted, a shorter one seldom: so the noise depends on the arm, and
// neither the interval nor more blocks show it. CPU time does.
#define ETP_WAIT_MUCH 0.02  // share of its time an arm waits: other programs may have mattered
#define ETP_WAIT_MOST 0.05  // and from here on the ratio is not given
#define ETP_NOISE_MOST 0.10 // A/A control: farther than that, and than half of the effect, likewise
typedef enum etp_contention { // why a ratio by the clock is not given
    ETP_CONTENTION_NONE,      // nothing speaks against it
    ETP_CONTENTION_WAITED,    // an arm waited for more than ETP_WAIT_MOST of its time
    ETP_CONTENTION_CLOCKS,    // CPU time gives another ratio, by more than the interval
    ETP_CONTENTION_NOISE      // equal launches differ by more than half of the effect
} etp_contention;

// ---- cycles and clock ----

typedef struct etp_counted { // one arm in one block: launch values, ln; NAN not counted
    double time_ln, cpu_ln;  // ns; CPU time of all threads
    double cycles_ln, instructions_ln;
} etp_counted;

// Time = cycles ÷ clock ÷ threads at work, with clock = cycles ÷ CPU time and threads at work = CPU
// time ÷ time. So in every block speedup = cycles · clock · busy exactly, and in the estimates
// likewise. Above 1 a factor makes the candidate faster: cycles and instructions are baseline ÷
// candidate, clock, busy and per_cycle candidate ÷ baseline (cycles = instructions · per_cycle).
// Over the blocks in which both arms were counted.
typedef struct etp_clock_split {
    etp_paired speedup, cycles, clock, busy;
    etp_paired instructions, per_cycle; // 0 blocks where instructions were not counted
} etp_clock_split;
// N blocks, side by side. Of the options: margin, confidence, seed, sequential.
ETP_API ETP_NODISCARD etp_status etp_clock_split_of(const etp_counted *baseline,
                                                    const etp_counted *candidate, size_t n,
                                                    const etp_stats_options *options,
                                                    etp_arena *scratch, etp_clock_split *out,
                                                    etp_error *err);

// ---- slow iterations ----

typedef struct etp_launch_record { // what was written down about a launch; NAN not recorded
    double waited_share;           // of its time it was ready but without a CPU
    double major_faults, migrations, switches; // counts; switches: involuntary ones
    double clock;                              // of the fastest CPU around its block, any unit
} etp_launch_record;

typedef enum etp_slow_cause { // in the order they are looked for
    ETP_SLOW_WAITED,          // at least 1 % of the launch's time without a CPU
    ETP_SLOW_FAULTS,          // pages were read from storage
    ETP_SLOW_CLOCK,           // the clock was below 98 % of the usual one
    ETP_SLOW_MIGRATED,
    ETP_SLOW_SWITCHED,    // at least as many involuntary switches as slow iterations
    ETP_SLOW_UNEXPLAINED, // recorded, and nothing of it stands out
    ETP_SLOW_NO_RECORD,
    ETP_SLOW_CAUSES
} etp_slow_cause;
// A cause is of the launch: what else of it was slow at that moment is not known. SLOW: its slow
// iterations. USUAL_CLOCK: what the record's clock is held against, in its unit (`etprof stats`
// takes the median over the session's blocks); NAN unknown.
ETP_API etp_slow_cause etp_slow_cause_of(const etp_launch_record *r, uint64_t slow,
                                         double usual_clock);
ETP_API const char *etp_slow_cause_name(etp_slow_cause cause);

enum {                       // what to be careful about; bits of etp_stats_arm.flags
    ETP_FLAG_BIMODAL = 1,    // launch values fall into two groups: "launches bimodal"
    ETP_FLAG_HEAVY_TAIL = 2, // a launch lies far outside; or launches reach farther, or many more
                             // iterations do, than in the arm it is compared with: "heavy tail"
    ETP_FLAG_DRIFT = 4       // launch values move over the session
};
// Text of one flag bit: "launches bimodal", "heavy tail", "drift".
ETP_API const char *etp_stats_flag_name(unsigned flag);
// The same in a sentence: "launches fall into two groups of times". Static.
ETP_API const char *etp_stats_flag_words(unsigned flag);

typedef struct etp_launch_stats { // one launch with timed or control iterations
    uint32_t arm, block, launch;
    bool control;
    uint64_t iterations; // before the warm-up rule
    etp_warmup warmup;
    double value_ln;  // median of what is kept
    double within_ln; // standard deviation of what is kept (robust: 1.4826·MAD)
    size_t first;     // position of its first iteration in the sorted samples; private
    double cpu_ln;    // of an execution, by what is kept and has a CPU time; NAN unknown
    double waited;    // share of its time in which the thread did not run; NAN unknown
    uint64_t timed_cpu, interrupted; // kept iterations with a CPU time; those that waited
    uint64_t tail;                   // kept iterations far above: see etp_stats_arm.tail_share
} etp_launch_stats;

// Of single iterations, for the tail that people feel; nothing is removed. lo and hi are order
// statistics that hold the quantile with the session's confidence, −1 when there are too few
// iterations. They take iterations as independent, which those of one launch are not quite.
typedef struct etp_tail_quantile {
    double q;
    int64_t ns, lo_ns, hi_ns;
} etp_tail_quantile;
#define ETP_TAIL_QUANTILES 3 // 0.5, 0.9, 0.99

typedef struct etp_stats_arm {
    uint64_t launches;           // timed launches in complete blocks
    uint64_t iterations;         // their kept iterations
    uint64_t warmup_dropped;     // and those the warm-up rule left out
    uint64_t warmups, slowdowns; // launches of these classes
    double value_ln;             // mean over complete blocks, NAN without one
    int64_t median_ns;           // exp(value_ln) rounded; −1 without a complete block
    double tail_share;           // of the kept iterations: more than 5 % and five robust standard
                                 // deviations above their launch's median
    etp_tail_quantile quantiles[ETP_TAIL_QUANTILES]; // of the kept iterations in complete blocks
    double drift_per_block; // Theil–Sen slope of the launch values, relative; NAN below 4 blocks
    double drift_p;         // Mann–Kendall
    double kind_var[2], kind_df[2]; // between launches, timed with control and traced, without a
                                    // trend, and degrees of freedom; 0 below 6 blocks
    double scatter_ln;  // standard deviation, from the mean over both kinds; NAN below 6 blocks
    double waited;      // share of the time of its launches that it waited for a CPU; NAN unknown
    double interrupted; // share of its iterations that waited: more than 2 % of their time
    unsigned flags;
} etp_stats_arm;

#define ETP_BLOCKS_UNKNOWN UINT32_MAX
typedef struct etp_stats_comparison {
    uint32_t baseline, candidate;
    etp_paired paired;
    double wilcoxon_p; // NAN without blocks
    // Of the launch values (ln), baseline against candidate, only when no block is complete: a
    // weaker comparison that drift can fool. p is NAN otherwise.
    etp_unpaired unpaired;
    etp_spread spread; // df 0 when it says no more than the ratios do
    etp_paired cpu;    // the same by CPU time; 0 blocks where that is not known
    etp_contention contention;
    unsigned flags;       // of both arms and of the block ratios
    uint32_t more_blocks; // to expect before the verdict is known; 0: known already,
                          // ETP_BLOCKS_UNKNOWN: too close to the margin, or inside the noise
} etp_stats_comparison;

typedef struct etp_stats {
    uint32_t n_arms, baseline;
    double margin, confidence;
    etp_stats_arm *arms;
    etp_stats_comparison *comparisons; // every other arm against the baseline, in arm order
    uint32_t n_comparisons;
    uint32_t blocks, blocks_dropped; // complete, incomplete
    // All blocks seen, ascending, and the launch value of each arm in it (ln, NAN missing; the mean
    // when an arm was launched more than once): value_ln[i * n_arms + arm].
    uint32_t *block_numbers;
    bool *block_complete;
    double *value_ln;
    uint32_t n_blocks_seen;
    // A/A control: log ratio of the baseline against its own repetition per block that has both.
    double *control_ln;
    uint32_t control_blocks;
    etp_interval control; // of the ratio
    double noise_floor;   // half-width of the control's interval of ln, NAN below 2
    bool control_differs; // the control's interval excludes all within the margin: no headline
    // Of the blocks' means over all arms, against the block's number: what the pairs cancel. NAN
    // below 4 complete blocks.
    double drift_per_block, drift_p;
    etp_launch_stats *launches; // timed and control, by block, launch, arm
    size_t n_launches;
    etp_launch_stats *traced; // the same of traced launches
    size_t n_traced;
} etp_stats;

typedef struct etp_launch_set {       // by block, launch, arm, as etp_stats has them
    const etp_launch_stats *launches; // timed and control
    size_t n_launches;
    const etp_launch_stats *traced;
    size_t n_traced;
} etp_launch_set;
// The spread of two arms over the blocks in which both were timed.
ETP_API ETP_NODISCARD etp_status etp_spread_find(const etp_launch_set *set, uint32_t baseline,
                                                 uint32_t candidate, etp_arena *scratch,
                                                 etp_spread *out, etp_error *err);

// The whole analysis. SAMPLES may be in any order. A block is complete when every arm that has any
// timed iteration at all has one in it. Everything in *out lives in ARENA.
// Errors: ETP_CORRUPT (a duration of 0, an arm or the baseline out of range), ETP_UNKNOWN (no timed
// iteration), ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_stats_analyze(const etp_sample *samples, size_t n_samples,
                                                   uint32_t n_arms,
                                                   const etp_stats_options *options,
                                                   etp_arena *arena, etp_stats *out,
                                                   etp_error *err);
// PART is of some arms of the session WHOLE; where the control was of another arm, WHOLE's counts
// for it too.
ETP_API void etp_stats_take_control(etp_stats *part, const etp_stats *whole);

// Mean of the arms' launch values (ln) in the BLOCK-th block seen; NAN when it is incomplete.
ETP_API double etp_stats_block_mean(const etp_stats *s, size_t block);

typedef struct etp_sample_table {
    etp_sample *samples;
    size_t n_samples;
    etp_str *arms;   // names in order of first appearance
    etp_str *levels; // of each, by a column level; empty: none; "sme2 + neon": several
    uint32_t n_arms;
} etp_sample_table;

// Reads CSV text with the columns experiment, block, iteration, duration_ns; phase and launch are
// used when there, others ignored. Without a launch column a block is one launch per experiment.
// Names borrow from TEXT or live in ARENA. ETP_CORRUPT with line and byte position.
ETP_API ETP_NODISCARD etp_status etp_samples_read_csv(etp_str text, etp_arena *arena,
                                                      etp_sample_table *out, etp_error *err);

// ---- which arm is the baseline ----

typedef struct etp_arm_name {
    etp_str name;   // of the experiment
    int level_rank; // position of its level in the family's order, best first; −1 unknown
} etp_arm_name;

// The rule of baselines: WANTED (may be empty) by name; else COMPARE_BASELINE (of a config, may be
// empty); else the first experiment whose name ends in "off"; else the lowest of the known levels;
// position decides what is left. ETP_USAGE when WANTED or COMPARE_BASELINE name no arm, or there is
// none at all.
ETP_API ETP_NODISCARD etp_status etp_choose_baseline(const etp_arm_name *arms, size_t n,
                                                     etp_str wanted, etp_str compare_baseline,
                                                     uint32_t *out, etp_error *err);

ETP_C_END

#endif
