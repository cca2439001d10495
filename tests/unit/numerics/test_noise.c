// SPDX-License-Identifier: Apache-2.0
// Whose noise reaches the end: worked out by hand on a program with a sum.
#include "precision_fixture.h"

#include <math.h>

#include "numerics/noise.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void nothing_known(etp_noise_point *points)
{
    for (size_t i = 0; i < OPERATORS; i++) {
        points[i] = (etp_noise_point){(double)NAN, 0, 0, ETP_NO_INDEX};
    }
}

// SECOND takes FIRST's result and SUM adds both.
static void shares_follow_what_was_measured(void **state)
{
    etp_arena *arena = *state;
    opened o = open_program("precision/layers_fp32.pte", arena);
    assert_int_equal(o.ops.n, OPERATORS);
    assert_int_equal(o.ops.n_outputs, 1);
    assert_int_equal(o.ops.outputs[0], LAST);
    etp_noise_point points[OPERATORS];
    double shares[4];
    nothing_known(points);
    points[FIRST] = (etp_noise_point){0.01, 4, 0, 0};
    points[SECOND] = (etp_noise_point){0.03, 1, 0, 1}; // 0.01 came with its operand
    points[SUM] = (etp_noise_point){0.014, 5, 0, ETP_NO_INDEX};
    points[THIRD] = (etp_noise_point){0.007, 1, 0, 2}; // half of all that came is gone
    points[LAST] = (etp_noise_point){0.028, 1, 0, 3};
    etp_noise_shares(&o.ops, points, 4, LAST, 0.028, arena, shares);
    // Of the sum's 0.014: 0.01 × 4/5 and, through the second, 0.01 × 1/5 are the first's, 0.02 ×
    // 1/5 the second's. Then halved; the last adds 0.021.
    NEAR(shares[0], 0.005 / 0.028);
    NEAR(shares[1], 0.002 / 0.028);
    NEAR(shares[2], 0);
    NEAR(shares[3], 0.021 / 0.028);
    // What is measured at the end and began in none of them is nobody's.
    etp_noise_shares(&o.ops, points, 4, LAST, 0.056, arena, shares);
    NEAR(shares[3], 0.021 / 0.056);
    etp_noise_shares(&o.ops, points, 4, ETP_NO_INDEX, 0.056, arena, shares);
    NEAR(shares[0] + shares[1] + shares[2] + shares[3], 0);
    etp_noise_shares(&o.ops, points, 4, LAST, 0, arena, shares);
    NEAR(shares[0] + shares[1] + shares[2] + shares[3], 0);
    close_program(&o);
}

// What an operator loses because its result is stored in steps it loses in float too, where others
// read it in steps.
static void rounding_is_nobodys(void **state)
{
    etp_arena *arena = *state;
    opened o = open_program("precision/layers_fp32.pte", arena);
    etp_noise_point points[OPERATORS];
    double shares[2];
    nothing_known(points);
    points[THIRD] = (etp_noise_point){0.05, 1, 0.02, 0};
    points[LAST] = (etp_noise_point){0.06, 1, 0.03, 1}; // more than it adds
    etp_noise_shares(&o.ops, points, 2, LAST, 0.06, arena, shares);
    NEAR(shares[0], 0.03 / 0.06);
    NEAR(shares[1], 0);
    close_program(&o);
}

// An operator whose operands were not measured is not blamed for what they may have brought.
static void what_is_not_known_is_nobodys(void **state)
{
    etp_arena *arena = *state;
    opened o = open_program("precision/layers_fp32.pte", arena);
    etp_noise_point points[OPERATORS];
    double shares[2];
    nothing_known(points);
    points[FIRST] = (etp_noise_point){0.01, 4, 0, 0};
    points[THIRD] = (etp_noise_point){0.05, 1, 0, ETP_NO_INDEX};
    points[LAST] = (etp_noise_point){0.06, 1, 0, 1};
    etp_noise_shares(&o.ops, points, 2, LAST, 0.06, arena, shares);
    // Unmeasured, SECOND and SUM hand on 0.01 and 0.01 + 0.01.
    NEAR(shares[0], 0.02 / 0.06);
    NEAR(shares[1], 0.01 / 0.06);
    close_program(&o);
}
