// SPDX-License-Identifier: Apache-2.0
// Analysis of a factorial by contrasts within blocks.
#include "stats/factorial.h"

#include <math.h>

#include "stats/internal.h"

// Of q. Also that of the sign flips, which etp_verdict_of has looked at by then.
#define LEVEL_OF_PROOF 0.05
#define MAX_TERMS 128 // two cells per model of a geometric mean

typedef struct term {
    uint32_t cell;
    double weight;
} term;

typedef struct maker {
    const etp_factorial *f;
    etp_arena *arena;
    etp_factorial_result *out;
    double *values; // one contrast per block
    double *p, *q;  // of one family
    uint32_t *scratch;
} maker;

static double value_of(const etp_factorial *f, size_t block, uint32_t cell)
{
    uint32_t column = f->column[cell];
    return column == ETP_NO_INDEX ? (double)NAN : f->value_ln[block * f->n_columns + column];
}

// One value per block that has all cells; how many.
// A contrast with a silent cell has no value at all: not even its p may enter the family.
static size_t contrast(maker *m, const term *terms, size_t n_terms)
{
    size_t k = 0;
    for (size_t i = 0; i < n_terms; i++) {
        if (m->f->silent && m->f->silent[terms[i].cell]) {
            return 0;
        }
    }
    for (size_t b = 0; b < m->f->n_blocks; b++) {
        double sum = 0;
        for (size_t i = 0; i < n_terms; i++) {
            sum += terms[i].weight * value_of(m->f, b, terms[i].cell);
        }
        if (isfinite(sum)) {
            m->values[k++] = sum;
        }
    }
    return k;
}

static etp_paired estimate(maker *m, const term *terms, size_t n_terms)
{
    size_t k = contrast(m, terms, n_terms);
    if (k == 0) {
        double gone = (double)NAN;
        return (etp_paired){.estimate = gone,
                            .lo = gone,
                            .hi = gone,
                            .mean_ln = gone,
                            .sd_ln = gone,
                            .half_width_ln = gone,
                            .widening = 1,
                            .sign_flip_p = gone,
                            .verdict = ETP_VERDICT_UNKNOWN};
    }
    etp_paired p = etp_paired_estimate(m->values, k, m->f->margin, ETP_CONFIDENCE, m->f->seed);
    if (m->f->sequential) {
        etp_paired_widen(&p, etp_sequential_widening(k), m->f->margin);
    }
    p.verdict = etp_verdict_beside(&p, &m->f->control, m->f->margin);
    return p;
}

static etp_effect effect_of(maker *m, const term *terms, size_t n_terms)
{
    etp_effect e = {.paired = estimate(m, terms, n_terms)};
    e.p = e.paired.blocks > 0 ? etp_mean_p(m->values, e.paired.blocks) : (double)NAN;
    e.q = e.p;
    e.verdict = e.paired.verdict;
    return e;
}

static uint32_t cell_at(const etp_factorial *f, uint32_t model, uint32_t level, uint32_t threads)
{
    const uint32_t at[ETP_FACTORS] = {model, level, threads};
    return etp_cell_of(f, at);
}

// Time of BASE ÷ time of OTHER.
static etp_effect ratio(maker *m, uint32_t base, uint32_t other)
{
    const term terms[] = {
        {base,  1 },
        {other, -1}
    };
    return effect_of(m, terms, 2);
}

// ---- one family at a time ----

static etp_effect *effect_at(etp_effect *first, size_t stride, size_t i)
{
    return (etp_effect *)(void *)((char *)first + i * stride);
}

// Takes back verdicts only, and never makes one: q is at least p. "Same" stays: it claims no
// difference. The N effects of a family lie in its array, STRIDE bytes from one to the next.
static void adjust(maker *m, etp_effect *first, size_t stride, size_t n, bool holm)
{
    for (size_t i = 0; i < n; i++) {
        m->p[i] = effect_at(first, stride, i)->p;
    }
    if (holm) {
        etp_holm(m->p, n, m->scratch, m->q);
    } else {
        etp_benjamini_hochberg(m->p, n, m->scratch, m->q);
    }
    for (size_t i = 0; i < n; i++) {
        etp_effect *e = effect_at(first, stride, i);
        e->q = m->q[i];
        bool claims = e->verdict == ETP_VERDICT_FASTER || e->verdict == ETP_VERDICT_SLOWER;
        e->verdict = claims && !(e->q <= LEVEL_OF_PROOF) ? ETP_VERDICT_UNKNOWN : e->verdict;
    }
}

#define ADJUST(m, family, effect, n, holm) \
    adjust((m), &(family)[0].effect, sizeof(family)[0], (n), (holm))

// ---- parts ----

static void find_cells(maker *m)
{
    const etp_factorial *f = m->f;
    for (uint32_t c = 0; c < f->n[0] * f->n[1] * f->n[2]; c++) {
        size_t k = 0;
        for (size_t b = 0; b < f->n_blocks; b++) {
            double v = value_of(f, b, c);
            if (isfinite(v)) {
                m->values[k++] = v;
            }
        }
        etp_interval ln = {(double)NAN, (double)NAN, (double)NAN};
        if (k > 0) {
            ln = etp_mean_interval(m->values, k, ETP_CONFIDENCE);
        }
        uint32_t model = c / (f->n[1] * f->n[2]);
        const term terms[] = {
            {cell_at(f, model, f->reference[ETP_FACTOR_LEVEL], f->reference[ETP_FACTOR_THREADS]),
             1},
            {c, -1}
        };
        m->out->cells[c] = (etp_factorial_cell){
            // The time is told even of a silent cell.
            {exp(ln.estimate), exp(ln.lo), exp(ln.hi)},
            (uint32_t)k,
            estimate(m, terms, 2)
        };
    }
}

static void find_speedups(maker *m)
{
    const etp_factorial *f = m->f;
    uint32_t base = f->reference[ETP_FACTOR_LEVEL];
    for (uint32_t model = 0; model < f->n[0]; model++) {
        for (uint32_t level = 0; level < f->n[1]; level++) {
            for (uint32_t t = 0; t < f->n[2] && level != base; t++) {
                m->out->speedups[m->out->n_speedups++] = (etp_cell_speedup){
                    {model, level, t},
                    ratio(m, cell_at(f, model, base, t), cell_at(f, model, level, t))
                };
            }
        }
    }
    ADJUST(m, m->out->speedups, effect, m->out->n_speedups, false);
}

static etp_knee knee_of(maker *m, uint32_t model, uint32_t level)
{
    const etp_factorial *f = m->f;
    uint32_t last = f->n[2] - 1;
    double worth = 1 + f->knee;
    etp_knee out = {model, level, ETP_NO_INDEX, last};
    for (uint32_t i = 0; i <= last; i++) {
        // FLAT: every later count is surely worth less than the knee asks. RISES: one is surely
        // worth it. Where there is neither the knee stays open, from FROM to TO.
        bool flat = true, rises = false;
        for (uint32_t j = i + 1; j <= last; j++) {
            const term terms[] = {
                {cell_at(f, model, level, i), 1 },
                {cell_at(f, model, level, j), -1}
            };
            etp_paired p = estimate(m, terms, 2);
            flat = flat && p.hi < worth;
            rises = rises || p.lo >= worth;
        }
        if (!rises && out.from == ETP_NO_INDEX) {
            out.from = i;
        }
        if (flat) {
            out.to = i;
            break;
        }
    }
    return out;
}

static void find_scaling(maker *m)
{
    const etp_factorial *f = m->f;
    for (uint32_t model = 0; model < f->n[0] && f->n[2] > 1; model++) {
        for (uint32_t level = 0; level < f->n[1]; level++) {
            for (uint32_t t = 0; t + 1 < f->n[2]; t++) {
                m->out->steps[m->out->n_steps++] = (etp_thread_step){
                    model, level, t, t + 1,
                    ratio(m, cell_at(f, model, level, t), cell_at(f, model, level, t + 1))};
            }
            m->out->knees[m->out->n_knees++] = knee_of(m, model, level);
        }
    }
    ADJUST(m, m->out->steps, effect, m->out->n_steps, false);
}

static void add_interaction(maker *m, etp_factor a, etp_factor b, uint32_t a_at, uint32_t b_at,
                            uint32_t c_at)
{
    const etp_factorial *f = m->f;
    // The factor that is neither.
    etp_factor c = (etp_factor)(ETP_FACTOR_MODEL + ETP_FACTOR_LEVEL + ETP_FACTOR_THREADS - a - b);
    uint32_t cell[2][2]; // [A other][B other]
    for (int i = 0; i < 4; i++) {
        uint32_t at[ETP_FACTORS];
        at[a] = i & 1 ? a_at : f->reference[a];
        at[b] = i & 2 ? b_at : f->reference[b];
        at[c] = c_at;
        cell[i & 1][i >> 1] = etp_cell_of(f, at);
    }
    etp_interaction out = {.a = a, .b = b, .c = c, .a_at = a_at, .b_at = b_at, .c_at = c_at};
    for (int i = 0; i < 2; i++) {
        out.a_effect[i] = estimate(m,
                                   (const term[]){
                                       {cell[0][i], 1 },
                                       {cell[1][i], -1}
        },
                                   2);
        out.b_effect[i] = estimate(m,
                                   (const term[]){
                                       {cell[i][0], 1 },
                                       {cell[i][1], -1}
        },
                                   2);
    }
    const term ratio_of_ratios[] = {
        {cell[0][1], 1 },
        {cell[1][1], -1},
        {cell[0][0], -1},
        {cell[1][0], 1 }
    };
    out.ratio = effect_of(m, ratio_of_ratios, 4);
    m->out->interactions[m->out->n_interactions++] = out;
}

static void find_interactions(maker *m)
{
    static const etp_factor k_pairs[][2] = {
        {ETP_FACTOR_MODEL, ETP_FACTOR_LEVEL  },
        {ETP_FACTOR_LEVEL, ETP_FACTOR_THREADS},
        {ETP_FACTOR_MODEL, ETP_FACTOR_THREADS}
    };
    const etp_factorial *f = m->f;
    for (size_t i = 0; i < sizeof k_pairs / sizeof *k_pairs; i++) {
        etp_factor a = k_pairs[i][0], b = k_pairs[i][1];
        etp_factor c =
            (etp_factor)(ETP_FACTOR_MODEL + ETP_FACTOR_LEVEL + ETP_FACTOR_THREADS - a - b);
        for (uint32_t x = 0; x < f->n[a]; x++) {
            for (uint32_t y = 0; y < f->n[b]; y++) {
                for (uint32_t z = 0; z < f->n[c] && x != f->reference[a] && y != f->reference[b];
                     z++) {
                    add_interaction(m, a, b, x, y, z);
                }
            }
        }
    }
    ADJUST(m, m->out->interactions, ratio, m->out->n_interactions, true);
}

static etp_status find_means(maker *m, etp_error *err)
{
    const etp_factorial *f = m->f;
    uint32_t base = f->reference[ETP_FACTOR_LEVEL];
    if (f->n[0] < 2 || 2 * f->n[0] > MAX_TERMS) {
        return ETP_OK;
    }
    for (uint32_t level = 0; level < f->n[1]; level++) {
        for (uint32_t t = 0; t < f->n[2] && level != base; t++) {
            term terms[MAX_TERMS];
            double ratios[MAX_TERMS];
            size_t n = 0;
            for (uint32_t model = 0; model < f->n[0]; model++) {
                terms[n++] = (term){cell_at(f, model, base, t), 1.0 / f->n[0]};
                terms[n++] = (term){cell_at(f, model, level, t), -1.0 / f->n[0]};
            }
            etp_level_mean mean = {level, t, effect_of(m, terms, n), (double)NAN, (double)NAN};
            if (mean.effect.paired.blocks > 0) {
                for (uint32_t model = 0; model < f->n[0]; model++) {
                    ratios[model] = estimate(m, terms + (size_t)2 * model, 2).mean_ln;
                    ratios[model] = exp(ratios[model] * f->n[0]); // the weights are 1/models
                }
                etp_interval over;
                ETP_TRY(etp_geometric_mean(ratios, f->n[0], f->seed, m->arena, &over, err));
                mean.models_lo = over.lo;
                mean.models_hi = over.hi;
            }
            m->out->means[m->out->n_means++] = mean;
        }
    }
    ADJUST(m, m->out->means, effect, m->out->n_means, false);
    return ETP_OK;
}

etp_status etp_factorial_analyze(const etp_factorial *f, etp_arena *arena,
                                 etp_factorial_result *out, etp_error *err)
{
    *out = (etp_factorial_result){0};
    for (int i = 0; i < ETP_FACTORS; i++) {
        if (f->n[i] == 0 || f->n[i] > MAX_TERMS / 2 || f->reference[i] >= f->n[i]) {
            return etp_fail(err, ETP_CORRUPT, "a factor of %u values with reference %u",
                            (unsigned)f->n[i], (unsigned)f->reference[i]);
        }
    }
    size_t cells = (size_t)f->n[0] * f->n[1] * f->n[2];
    maker m = {.f = f, .arena = arena, .out = out};
    size_t most = 3 * cells; // per pair of factors fewer interactions than cells
    m.values = ETP_NEW_ARRAY(arena, double, f->n_blocks + 1);
    m.p = ETP_NEW_ARRAY(arena, double, most);
    m.q = ETP_NEW_ARRAY(arena, double, most);
    m.scratch = ETP_NEW_ARRAY(arena, uint32_t, most);
    out->cells = ETP_NEW_ARRAY(arena, etp_factorial_cell, cells);
    out->speedups = ETP_NEW_ARRAY(arena, etp_cell_speedup, cells);
    out->steps = ETP_NEW_ARRAY(arena, etp_thread_step, cells);
    out->knees = ETP_NEW_ARRAY(arena, etp_knee, cells);
    out->interactions = ETP_NEW_ARRAY(arena, etp_interaction, most);
    out->means = ETP_NEW_ARRAY(arena, etp_level_mean, cells);
    ETP_NEED(m.values && m.p && m.q && m.scratch && out->cells && out->speedups && out->steps &&
                 out->knees && out->interactions && out->means,
             err, "the factorial");
    find_cells(&m);
    find_speedups(&m);
    find_scaling(&m);
    find_interactions(&m);
    return find_means(&m, err);
}
