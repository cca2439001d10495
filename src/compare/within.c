// SPDX-License-Identifier: Apache-2.0
// Several models at several levels: what a level brings within each model. The session's own
// comparisons are against one arm, of the first model; the blocks of all arms are there, so that
// the other models' pairs are answered in the same way.
#include <math.h>

#include "base/guard.h"
#include "compare/session.h"

bool etp_ab_same_group(const etp_ab_arm *a, const etp_ab_arm *b)
{
    return a->model == b->model && a->threads == b->threads;
}

bool etp_ab_is_within(const etp_ab *ab, const etp_ab_comparison *c)
{
    return etp_ab_same_group(&ab->arms[c->baseline], &ab->arms[c->candidate]);
}

const etp_ab_comparison *etp_ab_comparison_at(const etp_ab *ab, size_t i)
{
    return i < ab->n_comparisons ? &ab->comparisons[i] : &ab->within[i - ab->n_comparisons];
}

// The arm that CANDIDATE is held against within its model; ETP_NO_INDEX: none, or the session has
// that comparison.
static uint32_t reference_of(const etp_ab *ab, uint32_t candidate)
{
    const etp_ab_arm *base = &ab->arms[ab->baseline], *a = &ab->arms[candidate];
    for (uint32_t i = 0; i < ab->n_arms && !etp_ab_same_group(base, a); i++) {
        const etp_ab_arm *b = &ab->arms[i];
        if (i != candidate && etp_ab_same_group(a, b) && b->level == base->level &&
            a->level != b->level) {
            return i;
        }
    }
    return ETP_NO_INDEX;
}

// Log ratios of the blocks in which every arm was measured: the same blocks for all comparisons.
static size_t log_ratios(const etp_ab *ab, uint32_t from, uint32_t to, double *out)
{
    size_t n = 0;
    for (uint32_t b = 0; b < ab->n_blocks; b++) {
        const double *values = ab->block_values + (size_t)b * ab->n_arms;
        bool whole = true;
        for (size_t a = 0; a < ab->n_arms; a++) {
            whole = whole && values[a] > 0;
        }
        if (whole) {
            out[n++] = log(values[from]) - log(values[to]);
        }
    }
    return n;
}

// OF_CANDIDATE is what the session compares the candidate with: both had the same control, the same
// widening and the same margin.
static etp_ab_comparison within(const etp_ab *ab, uint32_t reference,
                                const etp_ab_comparison *of_candidate, double *scratch)
{
    etp_ab_comparison out = *of_candidate;
    size_t n = log_ratios(ab, reference, out.candidate, scratch);
    etp_paired p = etp_paired_estimate(scratch, n, out.margin, ETP_CONFIDENCE, 0);
    etp_paired_widen(&p, out.widening, out.margin);
    out.baseline = reference;
    out.estimate = p.estimate;
    out.lo = p.lo;
    out.hi = p.hi;
    out.blocks = p.blocks;
    out.sign_flip_p = p.sign_flip_p;
    out.verdict = etp_verdict_beside(&p, &out.control, out.margin);
    out.by_cpu = (etp_ab_ratio){.blocks = 0};
    return out;
}

const etp_ab_comparison *etp_ab_within_models(const etp_ab *ab, size_t *out_n)
{
    etp_ab_comparison *out = ETP_NEW_ARRAY(ab->arena, etp_ab_comparison, ab->n_arms + 1);
    double *scratch = ETP_NEW_ARRAY(ab->arena, double, ab->n_blocks + 1);
    *out_n = 0;
    // A runner's own clock cuts each ratio by what only the session knows.
    bool clock = ab->phase && ab->phase->clock_ns > 0;
    for (uint32_t a = 0; a < ab->n_arms && !ab->bare && !ab->emulated && !clock; a++) {
        uint32_t reference = reference_of(ab, a);
        const etp_ab_comparison *c = etp_ab_comparison_of(ab, a);
        const etp_ab_comparison *other =
            reference != ETP_NO_INDEX ? etp_ab_comparison_of(ab, reference) : NULL;
        if (c && other && !c->withheld && !other->withheld) {
            out[(*out_n)++] = within(ab, reference, c, scratch);
        }
    }
    return out;
}
