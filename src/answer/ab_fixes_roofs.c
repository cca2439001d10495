// SPDX-License-Identifier: Apache-2.0
// Roofs for next fixes: none are kept in run folders yet, so nothing is known.
#include "answer/ab_fixes_roofs.h"

#include <math.h>

double etp_ab_roof_ns(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm)
{
    (void)ab;
    (void)op;
    (void)arm;
    return NAN;
}

double etp_ab_copy_rate(const etp_ab *ab, uint32_t arm, uint64_t bytes)
{
    (void)ab;
    (void)arm;
    (void)bytes;
    return NAN;
}

double etp_ab_int8_ratio(const etp_ab *ab, uint32_t arm)
{
    (void)ab;
    (void)arm;
    return NAN;
}

double etp_ab_region_ns(const etp_ab *ab, uint32_t arm, uint32_t threads)
{
    (void)ab;
    (void)arm;
    (void)threads;
    return NAN;
}
