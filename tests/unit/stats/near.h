// SPDX-License-Identifier: Apache-2.0
// A figure against an expected one, within a part of it.
#ifndef ETP_TESTS_STATS_NEAR_H
#define ETP_TESTS_STATS_NEAR_H

#include <math.h>

#include "unit.h"

#define N(array) (sizeof(array) / sizeof *(array))

static inline void near_rel(double found, double expected, double rel, const char *what)
{
    if (!(fabs(found - expected) <= rel * fabs(expected) + 1e-300)) {
        fail_msg("%s: %.17g, should be %.17g", what, found, expected);
    }
}

#endif
