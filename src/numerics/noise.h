// SPDX-License-Identifier: Apache-2.0
// Whose noise reaches the end of a program? An estimate from what was measured on the way.
//
// Noise is power of the difference ÷ power of the result. What an operator's operands bring is
// held against what was measured behind it: more is its own, less was lost on the way, of all that
// came alike. Errors are taken for independent: their powers add up.
#ifndef ETP_NUMERICS_NOISE_H
#define ETP_NUMERICS_NOISE_H

#include "numerics/pairs.h"

typedef struct etp_noise_point { // of an operator
    double noise, power;         // of its result, measured; noise NAN: not measured
    double rounding;             // nobody's part of its own noise: how its result is stored
    uint32_t row;                // that its own noise is counted in; ETP_NO_INDEX: none
} etp_noise_point;

// Fills SHARES with the part of NOISE, that of what OUTPUT hands out in the end, that is the own
// noise of each of N_ROWS. POINTS are of OPS. ARENA is guarded.
void etp_noise_shares(const etp_ops *ops, const etp_noise_point *points, size_t n_rows,
                      uint32_t output, double noise, etp_arena *arena, double *shares);

#endif
