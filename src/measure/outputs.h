// SPDX-License-Identifier: Apache-2.0
// Compares what two arms computed: two folders as the runner's `outputs DIR` writes them.
#ifndef ETP_MEASURE_OUTPUTS_H
#define ETP_MEASURE_OUTPUTS_H

#include <etprof/arena.h>

typedef struct etp_output_difference {
    size_t index; // of the output
    const char *dtype;
    uint64_t elements;
    double max_abs;  // largest |a − b|; NAN when a NaN stands against a number
    double max_rel;  // largest |a − b| ÷ max(|a|, |b|), over elements above the tolerance's floor
    double cosine;   // of the two as vectors; 1 when both are zero
    double max_magnitude; // largest |a|
    uint64_t nan_a, nan_b; // NaNs on each side
    uint64_t mismatched;   // elements outside the tolerance
    bool within;
} etp_output_difference;

typedef struct etp_outputs_comparison {
    bool ok; // same shapes and everything within tolerance
    size_t n;
    etp_output_difference *outputs;
    double max_abs, max_rel, cosine; // worst over the outputs; NAN when nothing could be compared
    const char *why;                 // first reason for !ok, NULL
} etp_outputs_comparison;

// Tolerances per dtype, |a − b| ≤ atol × max|a| + rtol × max(|a|, |b|): float32 and float64
// 1e-3/1e-3, float16 and bfloat16 2e-2/2e-2 (kernels of different levels add in different orders),
// quantised 8-bit integers 2 steps, other integers and bool exact.
//
// Both folders are untrusted. ETP_CORRUPT when one is not what `outputs` writes, ETP_IO when it is
// missing.
ETP_API ETP_NODISCARD etp_status etp_outputs_compare(const char *dir_a, const char *dir_b,
                                                     etp_arena *arena, etp_outputs_comparison *out,
                                                     etp_error *err);

#endif
