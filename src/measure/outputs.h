// SPDX-License-Identifier: Apache-2.0
// Compares what two arms computed: two folders as the runner's `outputs DIR` writes them.
#ifndef ETP_MEASURE_OUTPUTS_H
#define ETP_MEASURE_OUTPUTS_H

#include <etprof/arena.h>

typedef struct etp_output_difference {
    size_t index; // of the output
    const char *dtype;
    uint64_t elements;
    double max_abs; // largest |a − b|; infinite where a number stands against a NaN or infinity
    double max_rel; // largest |a − b| ÷ max(|a|, |b|), over elements above the absolute tolerance
    double cosine;  // of the two as vectors, NaN and infinite elements left out; 1 when both are
                    // zero, NAN when nothing is left
    double snr_db;  // power of the first ÷ power of the difference; infinite without a difference
    double rounding; // power of what the second's scale rounds of the first ÷ power of the first;
                     // 0 without a scale
    double power;    // Σ a², of elements that are finite on both sides
    double max_magnitude;            // largest finite |a|
    uint64_t nan_a, nan_b, nan_both; // NaNs on each side, and in the same places
    uint64_t not_finite;             // elements that are NaN or infinite on both sides
    uint64_t mismatched;             // elements outside the tolerance
    bool varies; // the first has different values, or is a single integer, or one that is not 0.0
    uint64_t rows, same_argmax; // along the last dimension: how many, and in how many the largest
                                // element is the same; 0 rows where there is nothing to choose from
    bool within;
} etp_output_difference;

typedef struct etp_outputs_comparison {
    bool ok; // same shapes and everything within tolerance
    size_t n;
    etp_output_difference *outputs;  // those that could be compared
    double max_abs, max_rel, cosine; // worst over the outputs; NAN when nothing could be compared
    uint64_t elements, nan_both;     // of all that were compared
    size_t not_finite;               // outputs without a finite element on either side
    size_t varied;   // outputs of the first that vary; agreement with others proves nothing
    double argmax;   // least share of rows with the same largest element, NAN likewise
    const char *why; // first reason for !ok, NULL
} etp_outputs_comparison;

// How far floating-point outputs may lie apart, as a part of the largest magnitude of the output
// (absolute part) and of the element (relative part). Kernels of different levels add in different
// orders, and a quantised model turns a rounding into a whole step.
typedef enum etp_output_precision {
    ETP_OUTPUTS_FLOAT32, // 1e-3
    ETP_OUTPUTS_FLOAT16, // 2e-2; the least that is used for float16 and bfloat16 outputs
    ETP_OUTPUTS_INT8     // 1e-1
} etp_output_precision;

// Floating-point outputs must also point the same way: cosine 0.99 or more.
//
// PRECISION is that of the program's weights and activations. Integer outputs: int8 and uint8 may
// differ by 2 steps under ETP_OUTPUTS_INT8, everything else and bool must be equal.
//
// Both folders are untrusted. ETP_CORRUPT when one is not what `outputs` writes, ETP_IO when it is
// missing.
ETP_NODISCARD etp_status etp_outputs_compare(const char *dir_a, const char *dir_b,
                                             etp_output_precision precision, etp_arena *arena,
                                             etp_outputs_comparison *out, etp_error *err);

typedef struct etp_outputs_side {
    const char *dir;
    double scale, zero; // element e stands for (e − zero) × scale; scale 0: for itself
} etp_outputs_side;

// How far the numbers of A and B lie apart, of whatever types, where their shapes are the same.
// What is inside or outside a tolerance is by ETP_OUTPUTS_INT8. Errors likewise.
ETP_NODISCARD etp_status etp_outputs_numbers(const etp_outputs_side *a, const etp_outputs_side *b,
                                             etp_arena *arena, etp_outputs_comparison *out,
                                             etp_error *err);

// Have both folders the same outputs, byte for byte? Errors likewise.
ETP_NODISCARD etp_status etp_outputs_equal(const char *dir_a, const char *dir_b, etp_arena *arena,
                                           bool *out, etp_error *err);

#endif
