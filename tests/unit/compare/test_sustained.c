// SPDX-License-Identifier: Apache-2.0
// The two ends of a long session, with times and intervals by hand.
#include <math.h>
#include <string.h>

#include "compare/session.h"
#include "unit.h"

enum { BLOCKS = 21, STEP_S = 10 };

// Two arms; a block every ten seconds, so seven in either minute. The baseline takes FIRST times as
// long as the candidate in the first half of the session and LAST times in the second.
typedef struct made_session {
    etp_ab_session s;
    etp_run_block blocks[BLOCKS];
    uint32_t numbers[BLOCKS];
    double values[2 * BLOCKS];
} made_session;

static void make(made_session *m, double first, double last, double step_s)
{
    static const double k_noise[] = {-0.01, 0, 0.01, -0.01, 0, 0.01, 0};
    etp_arena_dispose(&m->s.arena); // of what was made before
    *m = (made_session){0};
    for (uint32_t i = 0; i < BLOCKS; i++) {
        m->numbers[i] = i + 1;
        m->blocks[i].block = i + 1;
        m->blocks[i].start.time_ns = (uint64_t)(1e12 + i * step_s * 1e9);
        m->blocks[i].end.temperature_c = 50 + (double)i;
        m->blocks[i].end.freq_max_khz = i < BLOCKS / 2 ? 3000000 : 2500000;
        m->values[2 * i] = log(i < BLOCKS / 2 ? first : last) + k_noise[i % 7];
    }
    m->s.run.blocks.items = m->blocks;
    m->s.run.blocks.n = BLOCKS;
    m->s.stats.n_arms = 2;
    m->s.stats.n_blocks_seen = BLOCKS;
    m->s.stats.block_numbers = m->numbers;
    m->s.stats.value_ln = m->values;
    m->s.ab.arena = &m->s.arena;
}

static etp_ab_comparison ends_of(const made_session *m)
{
    etp_ab_comparison pair = {.baseline = 0, .candidate = 1};
    etp_ab_find_ends(&m->s, &pair);
    return pair;
}

// Seven values of spread 0.0081650: half of their interval of ln is 2.446912 x 0.0081650 / sqrt(7).
static void ends(void **state)
{
    static made_session m;
    const double half = 2.446912 * 0.00816497 / sqrt(7);
    make(&m, 1.5, 0.9, STEP_S);
    const etp_ab_comparison found = ends_of(&m);
    assert_true(found.sustained.seconds == 200);
    assert_int_equal(found.sustained.blocks[0], 7);
    assert_int_equal(found.sustained.blocks[1], 7);
    assert_true(fabs(found.sustained.ratio[0].estimate - 1.5) < 1e-9 &&
                fabs(found.sustained.ratio[1].estimate - 0.9) < 1e-9);
    assert_true(fabs(found.sustained.ratio[0].lo - 1.5 * exp(-half)) < 1e-6);
    assert_true(fabs(found.sustained.ratio[1].hi - 0.9 * exp(half)) < 1e-6);
    assert_true(found.sustained.temperature_c[0] == 53 && found.sustained.temperature_c[1] == 67);
    assert_true(found.sustained.clock_khz[0] == 3e6 && found.sustained.clock_khz[1] == 2.5e6);
    assert_true(found.sustained.changed && found.sustained.turned);
    const char *words = etp_ab_sustained_words(&found, &m.s.arena);
    assert_non_null(strstr(words, "in the first minute"));
    assert_non_null(strstr(words, "53 \xE2\x86\x92 67 \xC2\xB0"
                                  "C, 3.00 \xE2\x86\x92 2.50 GHz"));
    make(&m, 1.5, 1.5, STEP_S);
    const etp_ab_comparison same = ends_of(&m);
    assert_true(!same.sustained.changed && !same.sustained.turned);
    make(&m, 1.5, 1.3, STEP_S);
    const etp_ab_comparison less = ends_of(&m);
    assert_true(less.sustained.changed && !less.sustained.turned);
    etp_arena_dispose(&m.s.arena);
}

// Below three minutes there are no two ends; with few blocks a minute there is no interval; after a
// restart of the device its clock tells nothing.
static void not_told(void **state)
{
    static made_session m;
    make(&m, 1.5, 0.9, 8.9);
    const etp_ab_comparison brief = ends_of(&m);
    assert_true(brief.sustained.seconds == 0 && !brief.sustained.changed);
    assert_null(etp_ab_sustained_words(&brief, &m.s.arena));
    make(&m, 1.5, 0.9, 15);
    const etp_ab_comparison few = ends_of(&m);
    assert_int_equal(few.sustained.blocks[0], 5);
    assert_true(isnan(few.sustained.ratio[0].estimate) && !few.sustained.changed &&
                !few.sustained.turned);
    assert_null(etp_ab_sustained_words(&few, &m.s.arena));
    make(&m, 1.5, 0.9, STEP_S);
    m.blocks[12].start.time_ns = 5;
    const etp_ab_comparison restarted = ends_of(&m);
    assert_true(restarted.sustained.seconds == 0);
    etp_arena_dispose(&m.s.arena);
}
