// SPDX-License-Identifier: Apache-2.0
// The interval of a rerun against hand calculation, and what verify takes for rounding.
#include <math.h>

#include "integrity/verify.h"
#include "study/rerun.h"
#include "unit.h"

// Ten blocks, standard error 0.01 of the log ratio: t(0.975, 9) = 2.262157.
static etp_rerun_ratio ten_blocks(double estimate)
{
    double half = 2.262157 * 0.01;
    return (etp_rerun_ratio){estimate, estimate * exp(-half), estimate * exp(half), 10};
}

static void welch(void **state)
{
    etp_rerun_ratio a = ten_blocks(3.0), b = ten_blocks(3.03), change;
    // Equal variances: 18 degrees of freedom, t = 2.100922, standard error 0.01·√2.
    assert_int_equal(etp_rerun_judge(&a, &b, 0.05, &change), ETP_RERUN_REPRODUCED);
    assert_true(fabs(change.estimate - 1.01) < 1e-9);
    assert_true(fabs(log(change.hi) - log(change.estimate) - 2.100922 * 0.01414214) < 1e-6);
    b = ten_blocks(3.3);
    assert_int_equal(etp_rerun_judge(&a, &b, 0.05, &change), ETP_RERUN_NOT);
    b = ten_blocks(3.15);
    assert_int_equal(etp_rerun_judge(&a, &b, 0.05, &change), ETP_RERUN_UNKNOWN);
    b.blocks = 1;
    assert_int_equal(etp_rerun_judge(&a, &b, 0.05, &change), ETP_RERUN_UNKNOWN);
    assert_true(isnan(change.estimate));
}

static void rounding(void **state)
{
    const struct {
        const char *a, *b;
        bool same;
    } k_cases[] = {
        {"x 1.00000 y",  "x 1.00000 y",  true },
        {"x 1.000001 y", "x 1 y",        true },
        {"x 1.00001 y",  "x 1 y",        true }, // one unit of the sixth digit, all that six digits can show
        {"x 1.00002 y",  "x 1 y",        false},
        {"9.99999",      "10",           true },
        {"9.99998",      "10.0001",      false},
        {"1.23456",      "1.23457",      true },
        {"123456",       "123457",       true },
        {"12345",        "12346",        false}, // a count
        {"7",            "8",            false},
        {"-2.5e-3,",     "-2.50001e-3,", true },
        {"-2.5e-3,",     "-2.50002e-3,", false},
        {"2.5",          "-2.5",         false},
        {"a1000000",     "a1000001",     false}, // part of a word: no number
        {"1000000f",     "1000001f",     false}, // a hash
        {"1.2.3000000",  "1.2.3000001",  false},
        {"1",            "1 ",           false},
        {"",             "",             true },
        {"0",            "0.0",          true },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        assert_int_equal(
            etp_verify_same_but_rounding(etp_str_from(k_cases[i].a), etp_str_from(k_cases[i].b)),
            k_cases[i].same);
    }
}

// A session whose prompt is FIRST times as fast and whose decoding LATER times.
static void two_phases(double first, double later, etp_ab_arm arms[4], etp_ab_comparison c[2],
                       const etp_ab *phases[2], etp_ab ab[2])
{
    static const char *const k_names[] = {"avx2_prefill16", "sse_prefill16", "avx2_decode0",
                                          "sse_decode0"};
    const double estimates[] = {first, later};
    for (int i = 0; i < 4; i++) {
        arms[i] = (etp_ab_arm){.name = k_names[i], .runner_sha256 = "ab"};
    }
    for (int i = 0; i < 2; i++) {
        etp_rerun_ratio r = ten_blocks(estimates[i]);
        c[i] = (etp_ab_comparison){.baseline = 1,
                                   .candidate = 0,
                                   .estimate = r.estimate,
                                   .lo = r.lo,
                                   .hi = r.hi,
                                   .blocks = r.blocks};
        ab[i] =
            (etp_ab){.arms = &arms[2 * i], .n_arms = 2, .comparisons = &c[i], .n_comparisons = 1};
        phases[i] = &ab[i];
    }
    ab[0].phases = phases;
    ab[0].n_phases = 2;
}

static void phases(void **state)
{
    etp_ab_arm arms[2][4];
    etp_ab_comparison comparisons[2][2];
    const etp_ab *list[2][2];
    etp_ab sessions[2][2];
    etp_rerun rerun;
    two_phases(3, 2, arms[0], comparisons[0], list[0], sessions[0]);
    two_phases(3, 2.6, arms[1], comparisons[1], list[1], sessions[1]); // only decoding changed
    assert_int_equal(etp_rerun_compare(sessions[0], sessions[1], 0.05, *state, &rerun, NULL),
                     ETP_OK);
    assert_int_equal(rerun.n_rows, 2);
    assert_string_equal(rerun.rows[1].candidate, "avx2_decode0");
    assert_int_equal(rerun.rows[0].verdict, ETP_RERUN_REPRODUCED);
    assert_int_equal(rerun.rows[1].verdict, ETP_RERUN_NOT);
    assert_true(fabs(rerun.rows[1].change.estimate - 1.3) < 1e-9);
    assert_int_equal(rerun.verdict, ETP_RERUN_NOT);
}
