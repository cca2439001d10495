// SPDX-License-Identifier: Apache-2.0
// What recording adds is said of ratios that are known: by hand.
#include <math.h>

#include "compare/ab.h"
#include "unit.h"

static void known(void **state)
{
    const double nan = (double)NAN;
    const etp_paired k_known[] =
        {
            {.estimate = 1.04, .lo = 0.99, .hi = 1.09, .blocks = 6},
            {.estimate = 1.4,  .lo = 1.36, .hi = 1.47, .blocks = 6},
            {.estimate = 0.8,  .lo = 0.7,  .hi = 0.9,  .blocks = 6}
    },
                     k_unknown[] = {{.estimate = 0.88, .lo = 0.63, .hi = 1.22, .blocks = 6},
                                    {.estimate = 1.12, .lo = 0.79, .hi = 1.59, .blocks = 6},
                                    {.estimate = nan, .lo = 0.57, .hi = 105.83, .blocks = 6},
                                    {.estimate = 1, .lo = 1, .hi = 1}};
    for (size_t i = 0; i < sizeof k_known / sizeof *k_known; i++) {
        assert_true(etp_ab_recording_known(&k_known[i]));
    }
    for (size_t i = 0; i < sizeof k_unknown / sizeof *k_unknown; i++) {
        assert_false(etp_ab_recording_known(&k_unknown[i]));
    }
    etp_ab_arm arms[] = {{.tracing_overhead = k_unknown[0]},
                         {.tracing_overhead = k_known[0]},
                         {.tracing_overhead = k_unknown[2]}};
    etp_ab ab = {.arms = arms, .n_arms = 3};
    assert_true(fabs(etp_ab_recording_adds(&ab) - 0.04) < 1e-9);
    arms[1].tracing_overhead = k_unknown[1];
    assert_true(isnan(etp_ab_recording_adds(&ab)));
}
