// SPDX-License-Identifier: Apache-2.0
// Random effects: against a published example and a root found by scipy.
#include <math.h>

#include "unit.h"
#include <etprof/stats.h>

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9)) {
        fail_msg("%.15g, should be %.15g", found, expected);
    }
}

// Thirteen trials of a vaccine (Colditz and others, 1994): ill and not, with it and without. tau²
// by Paule and Mandel is published as 0.3181; all four by scipy.optimize.brentq and scipy.stats.t.
static void published(void **state)
{
    static const double k_trials[13][4] = {
        {4,   119,   11,  128  },
        {6,   300,   29,  274  },
        {3,   228,   11,  209  },
        {62,  13536, 248, 12619},
        {33,  5036,  47,  5761 },
        {180, 1361,  372, 1079 },
        {8,   2537,  10,  619  },
        {505, 87886, 499, 87892},
        {29,  7470,  45,  7232 },
        {17,  1699,  65,  1600 },
        {186, 50448, 141, 27197},
        {5,   2493,  3,   2338 },
        {27,  16886, 29,  17825},
    };
    double y[13], var[13];
    for (int i = 0; i < 13; i++) {
        const double *t = k_trials[i];
        double with = t[0] + t[1], without = t[2] + t[3];
        y[i] = log(t[0] / with / (t[2] / without));
        var[i] = 1 / t[0] - 1 / with + 1 / t[2] - 1 / without;
    }
    etp_effects e = etp_random_effects(y, var, 13, 0.95);
    near(e.mean.estimate, -0.714968153493444);
    near(e.mean.lo, -1.10909838120224);
    near(e.mean.hi, -0.320837925784648);
    near(e.tau2, 0.318068452205024);
}

static void plain(void **state)
{
    static const double k_y[] = {.1, .3, .35, .65, .45, .15};
    static const double k_var[] = {.003, .003, .005, .001, .005, .002};
    etp_effects e = etp_random_effects(k_y, k_var, 6, 0.95);
    near(e.mean.estimate, 0.334226499003485);
    near(e.mean.lo, 0.119593582643445);
    near(e.tau2, 0.0387137379252874);
    static const double k_alike[] = {.1, .12, .11}, k_wide[] = {.03, .03, .05};
    e = etp_random_effects(k_alike, k_wide, 3, 0.95); // closer than their errors: no spread between
    near(e.mean.estimate, 0.11);
    near(e.mean.lo, -0.352179042639994);
    near(e.tau2, 0);
}

static void few(void **state)
{
    static const double k_y[] = {.1, .2}, k_var[] = {.01, 0};
    assert_true(isnan(etp_random_effects(k_y, k_var, 0, 0.95).mean.estimate));
    etp_effects e = etp_random_effects(k_y, k_var, 1, 0.95);
    near(e.mean.estimate, .1);
    assert_true(isnan(e.mean.lo) && isnan(e.tau2));
    assert_true(isnan(etp_random_effects(k_y, k_var, 2, 0.95).mean.estimate));
}
