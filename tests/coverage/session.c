// SPDX-License-Identifier: Apache-2.0
// Simulated sessions; see session.h.
#include "session.h"

#include <math.h>

#define BASE_LN 15.2 // 4 ms

double draw_normal(etp_rng *rng)
{
    double u = 1 - etp_rng_unit(rng); // never 0
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * etp_rng_unit(rng));
}

static double launch_noise(const shape *s, etp_rng *rng)
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
    return s->mode_p > 0 && etp_rng_unit(rng) < s->mode_p ? x + s->mode_step : x;
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
    double launch = launch_noise(s, rng);
    for (uint32_t i = 0; i < iterations; i++) {
        ln[i] = BASE_LN + launch + iteration_noise(s, i, rng);
    }
    etp_warmup w = etp_warmup_find(ln, iterations, scratch);
    return etp_median(ln + w.dropped, iterations - w.dropped);
}

static etp_sample *add_launch(etp_sample *out, const cell *c, uint32_t arm, bool control,
                              uint32_t block, uint32_t launch, double level, etp_rng *rng)
{
    const shape *s = arm == 0 ? &c->baseline : &c->candidate;
    level += BASE_LN + launch_noise(s, rng);
    for (uint32_t i = 0; i < c->iterations; i++) {
        *out++ = (etp_sample){
            .arm = arm,
            .block = block,
            .launch = launch,
            .iteration = i,
            .use = control ? ETP_SAMPLE_CONTROL : ETP_SAMPLE_TIMED,
            .duration_ns = (uint64_t)exp(level + iteration_noise(s, i, rng)),
        };
    }
    return out;
}

size_t make_session(const cell *c, double ratio, uint64_t seed, etp_rng *rng, etp_sample *out)
{
    uint32_t controls = c->blocks < ETP_CONTROL_BLOCKS ? c->blocks : ETP_CONTROL_BLOCKS;
    uint32_t slots = 2 * c->blocks + controls, slot = 0;
    double step_at = etp_rng_unit(rng) * slots, walked = 0;
    etp_sample *next = out;
    for (uint32_t block = 1; block <= c->blocks; block++) {
        uint32_t order[2];
        etp_block_order(seed, block, 2, order);
        uint32_t control_at =
            block <= controls ? etp_control_position(seed, block, 2) : UINT32_MAX;
        uint32_t n = block <= controls ? 3 : 2;
        for (uint32_t i = 0, taken = 0; i < n; i++, slot++) {
            bool control = i == control_at;
            uint32_t arm = control ? 0 : order[taken++];
            walked += c->world.walk > 0 ? c->world.walk * draw_normal(rng) : 0;
            double level = c->world.linear * slot / (slots - 1.0) + walked +
                           (slot >= step_at ? c->world.step : 0) + (arm == 0 ? log(ratio) : 0);
            next = add_launch(next, c, arm, control, block, slot + 1, level, rng);
        }
    }
    return (size_t)(next - out);
}
