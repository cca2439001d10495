// SPDX-License-Identifier: Apache-2.0
// A balanced factorial: cells models × levels × threads, all measured in common blocks. What each
// factor does by itself, where more threads stop paying, and which factors depend on each other.
//
// Every figure is a contrast of the cells' launch values (ln) within one block, so drift between
// blocks cancels as in a comparison of two arms. Formulas: docs/statistics.md.
#ifndef ETP_STATS_FACTORIAL_H
#define ETP_STATS_FACTORIAL_H

#include <etprof/stats.h>

typedef enum etp_factor {
    ETP_FACTOR_MODEL,
    ETP_FACTOR_LEVEL,
    ETP_FACTOR_THREADS,
    ETP_FACTORS
} etp_factor;

typedef struct etp_factorial {
    uint32_t n[ETP_FACTORS];         // values of each factor; threads ascending
    uint32_t reference[ETP_FACTORS]; // the value that the others are compared with
    const uint32_t *column;          // [cell] column of value_ln, ETP_NO_INDEX: not measured
    const bool *silent;              // [cell] has a time, but no ratio may be made of it
    const double *value_ln;          // [block · n_columns + column], NAN missing
    size_t n_blocks, n_columns;
    double margin;        // of verdicts
    etp_interval control; // ratio of the A/A control; NAN: there was none
    double knee;          // gain that more threads must reach to be worth them, 0.1 = 10 %
    uint64_t seed;
    bool sequential; // results were looked at before the end: intervals are widened
} etp_factorial;

static inline uint32_t etp_cell_of(const etp_factorial *f, const uint32_t at[ETP_FACTORS])
{
    return (at[0] * f->n[1] + at[1]) * f->n[2] + at[2];
}

typedef struct etp_effect {
    etp_paired
        paired; // of a ratio of times, above 1 faster; 0 blocks and NAN when it cannot be had
    double p;   // two-sided, Student's t
    double q;   // adjusted for its family: speedups Benjamini–Hochberg, interactions Holm
    etp_verdict verdict; // paired.verdict, but faster and slower only when q ≤ 0.05
} etp_effect;

typedef struct etp_factorial_cell {
    etp_interval ns; // geometric mean of the launch values
    uint32_t blocks;
    etp_paired
        relative; // against the cell of the same model at the references of level and threads
} etp_factorial_cell;

typedef struct etp_cell_speedup { // the cell against the same one at the reference level
    uint32_t at[ETP_FACTORS];
    etp_effect effect;
} etp_cell_speedup;

typedef struct etp_thread_step { // from one thread count to the next
    uint32_t model, level, from, to;
    etp_effect effect;
} etp_thread_step;

// Threads beyond which no measured count is `knee` faster. FROM = TO: known. Else it lies in
// between. FROM = TO = the last index: more threads paid as far as was measured.
typedef struct etp_knee {
    uint32_t model, level, from, to;
} etp_knee;

// Does the effect of factor A depend on factor B? At one value of the third.
typedef struct etp_interaction {
    etp_factor a, b, c;
    uint32_t a_at, b_at, c_at; // a_at and b_at are not the references
    etp_paired a_effect[2];    // A's value against its reference, at B's reference and at B's value
    etp_paired b_effect[2];    // B's value against its reference, at A's reference and at A's value
    etp_effect ratio;          // a_effect[1] ÷ a_effect[0]; verdict faster or slower: established
} etp_interaction;

typedef struct etp_level_mean { // geometric mean over all models of one level's speedup
    uint32_t level, threads;
    etp_effect effect;           // of these models: over the blocks
    double models_lo, models_hi; // of models like these: bootstrap over models, NAN below 3
} etp_level_mean;

typedef struct etp_factorial_result { // arrays in the order of model, level, threads
    etp_factorial_cell *cells;
    etp_cell_speedup *speedups;
    size_t n_speedups;
    etp_thread_step *steps;
    size_t n_steps;
    etp_knee *knees;
    size_t n_knees;
    etp_interaction *interactions;
    size_t n_interactions;
    etp_level_mean *means;
    size_t n_means;
} etp_factorial_result;

// *out lives in ARENA.
ETP_NODISCARD etp_status etp_factorial_analyze(const etp_factorial *f, etp_arena *arena,
                                               etp_factorial_result *out, etp_error *err);

#endif
