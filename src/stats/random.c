// SPDX-License-Identifier: Apache-2.0
// Seeded chance: xoshiro256** (Blackman and Vigna), seeded by splitmix64; and the block orders made
// with it. Both generators are specified bit by bit, so a plan is the same on every machine.
#include "stats/internal.h"

static uint64_t rotate_left(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

void etp_rng_init(etp_rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        rng->s[i] = splitmix64(&seed);
    }
}

uint64_t etp_rng_next(etp_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t etp_rng_below(etp_rng *rng, uint64_t n)
{
    uint64_t surplus =
        (UINT64_MAX % n + 1) % n; // values at the top that would favour small results
    for (;;) {
        uint64_t x = etp_rng_next(rng);
        if (x <= UINT64_MAX - surplus) {
            return x % n;
        }
    }
}

double etp_rng_unit(etp_rng *rng)
{
    return (double)(etp_rng_next(rng) >> 11) * 0x1p-53;
}

// A generator of its own for each (seed, purpose, number): a block's order does not depend on how
// many blocks were drawn before, which is what lets a session resume.
static void init_for(etp_rng *rng, uint64_t seed, uint64_t purpose, uint64_t number)
{
    uint64_t state = seed;
    uint64_t mixed = splitmix64(&state) ^ purpose;
    mixed = splitmix64(&mixed) ^ number;
    etp_rng_init(rng, mixed);
}

enum { PURPOSE_ORDER = 1, PURPOSE_CONTROL = 2 };

void etp_block_order(uint64_t seed, uint32_t block, uint32_t n_arms, uint32_t *out)
{
    etp_rng rng;
    init_for(&rng, seed, PURPOSE_ORDER, (block - 1) / 2);
    for (uint32_t i = 0; i < n_arms; i++) {
        out[i] = i;
    }
    for (uint32_t i = n_arms; i > 1; i--) { // Fisher–Yates
        uint32_t j = (uint32_t)etp_rng_below(&rng, i);
        uint32_t t = out[i - 1];
        out[i - 1] = out[j];
        out[j] = t;
    }
    if (block % 2 == 0) {
        for (uint32_t i = 0; i < n_arms / 2; i++) {
            uint32_t t = out[i];
            out[i] = out[n_arms - 1 - i];
            out[n_arms - 1 - i] = t;
        }
    }
}

uint32_t etp_control_position(uint64_t seed, uint32_t block, uint32_t n_arms)
{
    etp_rng rng;
    init_for(&rng, seed, PURPOSE_CONTROL, block);
    return (uint32_t)etp_rng_below(&rng, (uint64_t)n_arms + 1);
}
