// SPDX-License-Identifier: Apache-2.0
// Simulated sessions; see session.h.
#include "session.h"

#include <math.h>

#define BASE_LN 15.2 // 4 ms
#define TRACER_LN 0.03

double draw_normal(etp_rng *rng)
{
    double u = 1 - etp_rng_unit(rng); // never 0
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * etp_rng_unit(rng));
}

static double launch_noise(const shape *s, etp_rng *rng, uint32_t *slow)
{
    double x = 0;
    switch (s->tail) {
    case TAIL_NORMAL:
        x = draw_normal(rng);
        break;
    case TAIL_T3: {
        double square = 0;
        for (int i = 0; i < 3; i++) {
            double z = draw_normal(rng);
            square += z * z;
        }
        x = draw_normal(rng) / sqrt(square / 3);
        break;
    }
    case TAIL_EXPONENTIAL:
        x = -log(1 - etp_rng_unit(rng));
        break;
    case TAIL_LOGNORMAL:
        x = exp(draw_normal(rng));
        break;
    }
    x *= s->launch_sd;
    if (s->mode_p > 0 && etp_rng_unit(rng) < s->mode_p) {
        *slow += 1;
        x += s->mode_step;
    }
    return x;
}

static double iteration_noise(const shape *s, uint32_t i, etp_rng *rng)
{
    double x = s->iteration_sd * draw_normal(rng);
    if (s->spike_p > 0 && etp_rng_unit(rng) < s->spike_p) {
        x += s->spike_scale * etp_rng_unit(rng);
    }
    if (s->pareto_p > 0 && etp_rng_unit(rng) < s->pareto_p) {
        x += fmin(3, 0.1 * pow(1 - etp_rng_unit(rng), -1 / 1.5));
    }
    return x + s->warm * exp2(-(double)i);
}

double launch_value(const shape *s, uint32_t iterations, etp_rng *rng)
{
    double ln[256], scratch[512];
    uint32_t slow = 0;
    double launch = launch_noise(s, rng, &slow);
    for (uint32_t i = 0; i < iterations; i++) {
        ln[i] = BASE_LN + launch + iteration_noise(s, i, rng);
    }
    etp_warmup w = etp_warmup_find(ln, iterations, scratch);
    return etp_median(ln + w.dropped, iterations - w.dropped);
}

typedef struct making {
    const cell *c;
    etp_rng *rng;
    etp_sample *next;
    double ratio_ln, step_at, walked;
    uint32_t slot, slots, block, slow;
} making;

static void add_launch(making *m, uint32_t arm, etp_sample_use use)
{
    const shape *s = arm == 0 ? &m->c->baseline : &m->c->candidate;
    const world *w = &m->c->world;
    m->walked += w->walk > 0 ? w->walk * draw_normal(m->rng) : 0;
    double level = BASE_LN + w->linear * m->slot / (m->slots - 1.0) + m->walked +
                   (m->slot >= m->step_at ? w->step : 0) + (arm == 0 ? m->ratio_ln : 0) +
                   (use == ETP_SAMPLE_TRACED ? TRACER_LN : 0) + launch_noise(s, m->rng, &m->slow);
    m->slot++;
    for (uint32_t i = 0; i < m->c->iterations; i++) {
        *m->next++ = (etp_sample){
            .arm = arm,
            .block = m->block,
            .launch = m->slot,
            .iteration = i,
            .use = use,
            .duration_ns = (uint64_t)exp(level + iteration_noise(s, i, m->rng)),
        };
    }
}

size_t make_session(const cell *c, double ratio, uint64_t seed, etp_rng *rng, etp_sample *out,
                    uint32_t *out_slow)
{
    uint32_t controls = c->blocks < ETP_CONTROL_BLOCKS ? c->blocks : ETP_CONTROL_BLOCKS;
    making m = {.c = c, .rng = rng, .next = out, .ratio_ln = log(ratio)};
    m.slots = (c->untraced ? 2 : 4) * c->blocks + controls;
    m.step_at = etp_rng_unit(rng) * m.slots;
    for (m.block = 1; m.block <= c->blocks; m.block++) {
        uint32_t order[2];
        etp_block_order(seed, m.block, 2, order);
        uint32_t control_at =
            m.block <= controls ? etp_control_position(seed, m.block, 2) : UINT32_MAX;
        uint32_t n = m.block <= controls ? 3 : 2;
        for (uint32_t i = 0, taken = 0; i < n; i++) {
            bool control = i == control_at;
            add_launch(&m, control ? 0 : order[taken++],
                       control ? ETP_SAMPLE_CONTROL : ETP_SAMPLE_TIMED);
        }
        for (uint32_t i = 0; i < 2 && !c->untraced; i++) {
            add_launch(&m, order[i], ETP_SAMPLE_TRACED);
        }
    }
    *out_slow = m.slow;
    return (size_t)(m.next - out);
}
