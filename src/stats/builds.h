// SPDX-License-Identifier: Apache-2.0
// Two builds over several models: how much faster the one is on each and in the geometric mean,
// which of that is no chance, and which operators changed.
#ifndef ETP_STATS_BUILDS_H
#define ETP_STATS_BUILDS_H

#include <etprof/stats.h>

// Share of wrong ones among those called different, at most. Of models it is below the 5 % that are
// promised: where all builds are equal and their launches normal, Benjamini and Hochberg's
// procedure is wrong in exactly the share that is asked for, and what is not quite normal needs
// room.
#define ETP_BUILDS_MODELS_Q 0.045
#define ETP_BUILDS_OPERATORS_Q 0.05 // Benjamini and Yekutieli's stays far below by itself

typedef struct etp_builds_effect {
    etp_paired paired;   // baseline ÷ candidate; its verdict is that of one comparison alone
    double p;            // of no difference, by t, with the interval's widening
    double q;            // over all comparisons and their mean (Benjamini–Hochberg)
    etp_verdict verdict; // faster, slower: no chance (q, interval and signs); same: the interval is
                         // within the margin
    double within;       // farthest that the interval reaches from 1, relative; NAN without one
} etp_builds_effect;

typedef struct etp_builds_grid {
    const double *value_ln; // [block * n_columns + column] ln of launch values, NAN missing
    size_t n_blocks, n_columns;
    const uint32_t (*pairs)[2]; // columns of baseline and candidate, a pair per model
    size_t n_pairs;
    const bool *silent; // [pair] no ratio may be made of it; NULL: of all
    double margin;
    bool sequential; // results were looked at before the end: intervals are widened
    uint64_t seed;
} etp_builds_grid;

typedef struct etp_builds_result {
    etp_builds_effect *pairs;
    etp_builds_effect mean; // over all pairs that have one, by block; 0 blocks below two pairs
    size_t n_mean;          // pairs in it
} etp_builds_result;

ETP_NODISCARD etp_status etp_builds_analyze(const etp_builds_grid *grid, etp_arena *arena,
                                            etp_builds_result *out, etp_error *err);

typedef struct etp_builds_test { // of one operator
    double p, lo, hi;            // of no difference; the ratio's interval. NAN: unknown
    double q;                    // Benjamini–Yekutieli over all operators of all models
    etp_verdict verdict; // faster, slower: q small and the interval leaves out 1; else unknown
} etp_builds_test;

ETP_NODISCARD etp_status etp_builds_judge(etp_builds_test *tests, size_t n, etp_arena *scratch,
                                          etp_error *err);

#endif
