// SPDX-License-Identifier: Apache-2.0
// Operators below the roofs of their device: the least time that the work of one can take there,
// and what its own time says beside it. docs/statistics.md has the rules in words.
#ifndef ETP_EXPLAIN_ROOF_H
#define ETP_EXPLAIN_ROOF_H

#include "isa/isa.h"

struct etp_roof_table; // roofs/roofs.h

typedef enum etp_roof_type {
    ETP_ROOF_TYPE_NONE,
    ETP_ROOF_F32,
    ETP_ROOF_F16,
    ETP_ROOF_I8
} etp_roof_type;

// Which of XNNPACK's kernels multiply, where that makes a difference (see docs/statistics.md).
typedef enum etp_roof_kernel {
    ETP_ROOF_KERNEL_PRODUCT,   // GEMM, indirect GEMM
    ETP_ROOF_KERNEL_DEPTHWISE, // one product after another in every lane: no dot products, no
                               // matrix unit
    ETP_ROOF_KERNEL_QUINT8     // GEMM of quint8: no VNNI; on aarch64 lane by lane
} etp_roof_kernel;

typedef enum etp_roof_verdict {
    ETP_ROOF_UNKNOWN,         // no roof for it: `missing` says why
    ETP_ROOF_OVERHEAD_BOUND,  // fixed costs may be half of its time
    ETP_ROOF_ABOVE_ROOF,      // faster than can be: its work, or the roof, is not what is assumed
    ETP_ROOF_COMPUTE_BOUND,   // near the roof of arithmetic
    ETP_ROOF_MEMORY_BOUND,    // near the roof of memory
    ETP_ROOF_BELOW_BANDWIDTH, // far from it, and its arithmetic is not known well enough to say
                              // more
    ETP_ROOF_INEFFICIENT,     // far below both
    ETP_ROOF_VERDICTS
} etp_roof_verdict;

const char *etp_roof_verdict_name(etp_roof_verdict verdict); // "compute-bound"; NULL for UNKNOWN

#define ETP_ROOF_NEAR 0.5           // efficiency from which an operator is near its roof
#define ETP_ROOF_TOLERANCE 1.05     // above it: faster than can be
#define ETP_ROOF_MANY 0.05          // of an arm's time above its roofs: the roofs are too low
#define ETP_ROOF_TRUNCATION_NS 1000 // XNNPACK's clock has whole microseconds

typedef struct etp_roof_work {    // of one inference
    double ns, truncation_ns;     // time it took, and what its clock may have cut off
    uint64_t macs, ops;           // multiply-accumulates; other arithmetic
    uint64_t in_bytes, out_bytes; // operands and weights; results
    uint64_t calls;               // the work above is that of one call
    etp_roof_type type;           // of the multiply-accumulates
    etp_roof_kernel kernel;       // that does them
    bool matrix;                  // may use a unit for matrix products
    bool delegated;               // timed by XNNPACK
    etp_level level;              // NONE: nothing was hidden
    uint32_t threads;
} etp_roof_work;

typedef struct etp_roof_place {
    etp_roof_verdict verdict;
    const char *missing; // static: why UNKNOWN
    double roof_ns;      // the larger of the next two; NAN unknown
    double compute_ns, memory_ns;
    double overhead_ns; // fixed costs of its calls
    double efficiency;  // roof_ns ÷ time
    const char *isa;    // of the arithmetic's roof, NULL without multiply-accumulates
} etp_roof_place;

// Nanoseconds that reading BYTES once takes, nothing else: what lies between two measured working
// sets is between their times, by the logarithm of the size. 0: not measured with so many threads.
double etp_roof_read_ns(const struct etp_roof_table *roofs, uint32_t threads, uint64_t bytes);

void etp_roof_place_of(const struct etp_roof_table *roofs, const etp_roof_work *work,
                       etp_roof_place *out);

#endif
