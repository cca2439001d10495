// SPDX-License-Identifier: Apache-2.0
// Models form one family with their geometric mean: its members move together with whatever the
// machine does in a block, positively, for which Benjamini and Hochberg's procedure holds
// (Benjamini and Yekutieli 2001, theorem 1.2). Operators of one inference share caches and clock
// and may well move against each other: theirs is Benjamini and Yekutieli's, which asks for
// nothing.
#include "stats/builds.h"
#include "stats/internal.h"

#include <math.h>

typedef struct maker {
    const etp_builds_grid *g;
    double *values, *p, *q; // one per block; per effect
    uint32_t *order;
} maker;

static double ratio_at(const etp_builds_grid *g, size_t block, size_t pair)
{
    const double *v = g->value_ln + block * g->n_columns;
    return v[g->pairs[pair][0]] - v[g->pairs[pair][1]];
}

static bool speaks(const etp_builds_grid *g, size_t pair)
{
    return !g->silent || !g->silent[pair];
}

static etp_builds_effect effect_of(const maker *m, size_t k)
{
    const etp_builds_grid *g = m->g;
    etp_builds_effect e = {
        .paired = etp_paired_estimate(m->values, k, g->margin, ETP_CONFIDENCE, g->seed),
        .p = etp_mean_p(m->values, k),
        .q = (double)NAN,
        .within = (double)NAN};
    if (g->sequential && k >= 2) {
        etp_paired_widen(&e.paired, etp_sequential_widening(k), g->margin);
        // p must not claim what the widened interval does not.
        double error = e.paired.sd_ln / sqrt((double)k) * e.paired.widening;
        e.p = error > 0 ? 2 * etp_t_cdf(-fabs(e.paired.mean_ln) / error, (double)(k - 1)) : e.p;
    }
    if (isfinite(e.paired.lo)) {
        e.within = fmax(e.paired.hi - 1, 1 - e.paired.lo);
    }
    return e;
}

static void judge(etp_builds_effect *e, double q, double margin)
{
    const etp_paired *p = &e->paired;
    e->q = q;
    e->verdict = ETP_VERDICT_UNKNOWN;
    if (p->blocks < ETP_MIN_BLOCKS) {
        return;
    }
    bool sure = q <= ETP_BUILDS_MODELS_Q && p->sign_flip_p <= 1 - ETP_CONFIDENCE;
    if (sure && (p->lo > 1 || p->hi < 1)) {
        e->verdict = p->lo > 1 ? ETP_VERDICT_FASTER : ETP_VERDICT_SLOWER;
    } else if (e->within <= margin) {
        e->verdict = ETP_VERDICT_SAME;
    }
}

// Per block the mean over the pairs that speak and have blocks at all.
static void take_mean(maker *m, etp_builds_result *out)
{
    const etp_builds_grid *g = m->g;
    size_t k = 0;
    out->n_mean = 0;
    for (size_t i = 0; i < g->n_pairs; i++) {
        out->n_mean += out->pairs[i].paired.blocks > 0;
    }
    // A block counts when it has all of these pairs: NAN in one makes the sum NAN.
    for (size_t b = 0; b < g->n_blocks && out->n_mean >= 2; b++) {
        double sum = 0;
        for (size_t i = 0; i < g->n_pairs; i++) {
            sum += out->pairs[i].paired.blocks > 0 ? ratio_at(g, b, i) : 0;
        }
        if (isfinite(sum)) {
            m->values[k++] = sum / (double)out->n_mean;
        }
    }
    out->mean = effect_of(m, k);
}

etp_status etp_builds_analyze(const etp_builds_grid *g, etp_arena *arena, etp_builds_result *out,
                              etp_error *err)
{
    size_t n = g->n_pairs + 1;
    maker m = {.g = g,
               .values = ETP_NEW_ARRAY(arena, double, g->n_blocks + 1),
               .p = ETP_NEW_ARRAY(arena, double, n),
               .q = ETP_NEW_ARRAY(arena, double, n),
               .order = ETP_NEW_ARRAY(arena, uint32_t, n)};
    *out = (etp_builds_result){.pairs = ETP_NEW_ARRAY(arena, etp_builds_effect, n)};
    ETP_NEED(m.values && m.p && m.q && m.order && out->pairs, err, "builds");
    for (size_t i = 0; i < g->n_pairs; i++) {
        size_t k = 0;
        for (size_t b = 0; b < g->n_blocks && speaks(g, i); b++) {
            double ratio = ratio_at(g, b, i);
            if (isfinite(ratio)) {
                m.values[k++] = ratio;
            }
        }
        out->pairs[i] = effect_of(&m, k);
        m.p[i] = out->pairs[i].p;
    }
    take_mean(&m, out);
    m.p[g->n_pairs] = out->mean.p;
    etp_benjamini_hochberg(m.p, n, m.order, m.q);
    for (size_t i = 0; i < g->n_pairs; i++) {
        judge(&out->pairs[i], m.q[i], g->margin);
    }
    judge(&out->mean, m.q[g->n_pairs], g->margin);
    return ETP_OK;
}

etp_status etp_builds_judge(etp_builds_test *tests, size_t n, etp_arena *scratch, etp_error *err)
{
    double *p = ETP_NEW_ARRAY(scratch, double, 2 * n + 1);
    uint32_t *order = ETP_NEW_ARRAY(scratch, uint32_t, n + 1);
    ETP_NEED(p && order, err, "operators");
    for (size_t i = 0; i < n; i++) {
        p[i] = tests[i].p;
    }
    etp_benjamini_yekutieli(p, n, order, p + n);
    for (size_t i = 0; i < n; i++) {
        etp_builds_test *t = &tests[i];
        bool sure = p[n + i] <= ETP_BUILDS_OPERATORS_Q; // false for NAN
        t->q = p[n + i];
        t->verdict = sure && t->lo > 1   ? ETP_VERDICT_FASTER
                     : sure && t->hi < 1 ? ETP_VERDICT_SLOWER
                                         : ETP_VERDICT_UNKNOWN;
    }
    return ETP_OK;
}
