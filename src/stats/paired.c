// SPDX-License-Identifier: Apache-2.0
// The headline: one log ratio per block, its t interval, its sign-flip test, its verdict.
#include "base/choice.h"
#include "stats/internal.h"

#include <math.h>

#define EXACT_MAX 20
#define DRAWS 100000
#define DRAWN_SIGNS 200000000u // of all draws together: a second, whatever the number of blocks
#define FEWEST_DRAWS 1000      // that tell 5 %

// Number of the 2^k sign patterns whose |Σ| reaches BOUND. The pattern with all signs turned has
// the same |Σ|, so the last sign stays and hits count twice. Gray code: one sign turns per step.
static uint64_t count_exact(const double *x, size_t k, double bound)
{
    double sum = 0;
    for (size_t i = 0; i < k; i++) {
        sum += x[i];
    }
    uint64_t hits = fabs(sum) >= bound, patterns = (uint64_t)1 << (k - 1);
    uint64_t negative = 0; // bit i: x[i] counts with a minus
    for (uint64_t step = 1; step < patterns; step++) {
        unsigned turned = 0;
        while ((step >> turned & 1) == 0) {
            turned++;
        }
        sum += (negative >> turned & 1 ? 2 : -2) * x[turned];
        negative ^= (uint64_t)1 << turned;
        hits += fabs(sum) >= bound;
    }
    return 2 * hits;
}

static size_t draws_of(size_t k)
{
    size_t n = DRAWN_SIGNS / k;
    n = ETP_MAX(n, FEWEST_DRAWS);
    return ETP_MIN(n, DRAWS);
}

static uint64_t count_drawn(const double *x, size_t k, double bound, uint64_t seed)
{
    etp_rng rng;
    etp_rng_init(&rng, seed);
    uint64_t hits = 0;
    for (size_t draw = 0; draw < draws_of(k); draw++) {
        double sum = 0;
        uint64_t bits = 0;
        for (size_t i = 0; i < k; i++) {
            if (i % 64 == 0) {
                bits = etp_rng_next(&rng);
            }
            sum += bits & 1 ? x[i] : -x[i];
            bits >>= 1;
        }
        hits += fabs(sum) >= bound;
    }
    return hits;
}

double etp_sign_flip_p(const double *x, size_t k, uint64_t seed)
{
    if (k == 0) {
        return (double)NAN;
    }
    double sum = 0, size = 0;
    for (size_t i = 0; i < k; i++) {
        sum += x[i];
        size += fabs(x[i]);
    }
    // Patterns with the same sum on paper must not be told apart by rounding.
    double bound = fabs(sum) - 1e-9 * size;
    if (k <= EXACT_MAX) {
        return (double)count_exact(x, k, bound) / (double)((uint64_t)1 << k);
    }
    return (double)(1 + count_drawn(x, k, bound, seed)) / (double)(1 + draws_of(k));
}

const char *etp_verdict_name(etp_verdict v)
{
    static const char *const k_names[] = {"unknown", "faster", "slower", "same"};
    return (unsigned)v < sizeof k_names / sizeof *k_names ? k_names[v] : "unknown";
}

etp_verdict etp_verdict_of(double lo_ln, double hi_ln, size_t blocks, double sign_flip_p,
                           double margin)
{
    double bound = log1p(margin);
    if (blocks < ETP_MIN_BLOCKS || !isfinite(lo_ln) || !isfinite(hi_ln)) {
        return ETP_VERDICT_UNKNOWN;
    }
    // Whatever the sign flips say: a difference that is sure but within the margin is none that
    // counts.
    if (lo_ln >= -bound && hi_ln <= bound) {
        return ETP_VERDICT_SAME;
    }
    if (!(lo_ln > bound) && !(hi_ln < -bound)) {
        return ETP_VERDICT_UNKNOWN;
    }
    if (!(sign_flip_p <= 0.05)) {
        return ETP_VERDICT_UNKNOWN;
    }
    return lo_ln > bound ? ETP_VERDICT_FASTER : ETP_VERDICT_SLOWER;
}

etp_paired etp_paired_estimate(const double *log_ratios, size_t k, double margin, double confidence,
                               uint64_t seed)
{
    double variance;
    etp_interval ln = etp_mean_interval(log_ratios, k, confidence);
    (void)etp_mean(log_ratios, k, &variance);
    etp_paired out = {
        .estimate = exp(ln.estimate),
        .lo = exp(ln.lo),
        .hi = exp(ln.hi),
        .mean_ln = ln.estimate,
        .sd_ln = sqrt(variance),
        .half_width_ln = (ln.hi - ln.lo) / 2,
        .widening = 1,
        .blocks = (uint32_t)k,
        .sign_flip_p = etp_sign_flip_p(log_ratios, k, seed),
    };
    out.verdict = etp_verdict_of(ln.lo, ln.hi, k, out.sign_flip_p, margin);
    return out;
}

double etp_sequential_widening(size_t k)
{
    return k > 0 ? 1 + 1.5 / (double)k : 1;
}

// Estimate and sign flips stay: only the interval, and with it the verdict, is another one.
static void set_ends(etp_paired *p, double margin)
{
    p->lo = exp(p->mean_ln - p->half_width_ln);
    p->hi = exp(p->mean_ln + p->half_width_ln);
    p->verdict = etp_verdict_of(p->mean_ln - p->half_width_ln, p->mean_ln + p->half_width_ln,
                                p->blocks, p->sign_flip_p, margin);
}

void etp_paired_widen(etp_paired *p, double factor, double margin)
{
    p->widening *= factor;
    p->half_width_ln *= factor;
    set_ends(p, margin);
}

double etp_clock_doubt(double step, size_t n)
{
    double part = n > 0 ? sqrt(log(2 / (1 - ETP_CONFIDENCE)) / (2 * (double)n)) : 1;
    return step * fmin(1, fmax(0.5, part));
}

void etp_paired_blur(etp_paired *p, double doubt_ln, double margin)
{
    p->half_width_ln = hypot(p->half_width_ln, doubt_ln);
    set_ends(p, margin);
}

bool etp_precise_enough(const double *log_ratios, size_t k, double target_rel)
{
    if (k < ETP_MIN_BLOCKS || k % 2 != 0) {
        return false;
    }
    etp_interval ln = etp_mean_interval(log_ratios, k, ETP_CONFIDENCE);
    return etp_sequential_widening(k) * (ln.hi - ln.lo) / 2 <= log1p(target_rel);
}
