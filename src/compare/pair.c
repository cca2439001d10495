// SPDX-License-Identifier: Apache-2.0
// Some arms of a session with more, as if they had been measured alone: so that a pair of them, and
// each phase, gets the answer that `ab` gives.
#include <math.h>

#include "compare/phases.h"
#include "compare/session.h"

// Copies what is of the arms that PLACE gives a place, renumbered and in the same order.
#define KEEP(type, list, wanted)                              \
    do {                                                      \
        const type *all = (list).items;                       \
        size_t n_all = (list).n;                              \
        (list).items = ETP_NEW_ARRAY(arena, type, n_all + 1); \
        (list).n = (list).cap = 0;                            \
        for (size_t i = 0; i < n_all; i++) {                  \
            const type *x = &all[i];                          \
            uint32_t at = place[x->arm];                      \
            if (at != ETP_NO_INDEX && (wanted)) {             \
                (list).items[(list).n] = *x;                  \
                (list).items[(list).n++].arm = at;            \
            }                                                 \
        }                                                     \
    } while (0)

// RUN keeps N arms: arm i of it goes to PLACE[i], or nowhere. The control stays that of the arm
// that becomes the baseline.
static void keep_arms(etp_run *run, const uint32_t *place, uint32_t n, uint32_t baseline,
                      etp_arena *arena)
{
    const etp_run_arm *arms = run->arms.items;
    size_t n_arms = run->arms.n;
    KEEP(etp_run_sample, run->samples, at == baseline || x->phase != ETP_PHASE_CONTROL);
    KEEP(etp_run_launch, run->launches, at == baseline || x->kind != ETP_LAUNCH_CONTROL);
    KEEP(etp_run_lost, run->lost, true);
    KEEP(etp_run_dump, run->dumps, true);
    run->arms.items = ETP_NEW_ARRAY(arena, etp_run_arm, n);
    for (size_t i = 0; i < n_arms; i++) {
        if (place[i] != ETP_NO_INDEX) {
            run->arms.items[place[i]] = arms[i];
        }
    }
    run->arms.n = run->arms.cap = n;
    run->order.n = 0; // of all arms
    run->baseline = baseline;
}

static uint32_t *places(etp_arena *arena, size_t n)
{
    uint32_t *place = ETP_NEW_ARRAY(arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        place[i] = ETP_NO_INDEX;
    }
    return place;
}

etp_status etp_ab_open_pair(const etp_ab_options *options, etp_arena *arena, etp_run *out,
                            etp_error *err)
{
    const etp_run *whole = &options->part.whole->run;
    const uint32_t *arms = options->part.arms;
    if (arms[0] >= whole->arms.n || arms[1] >= whole->arms.n || arms[0] == arms[1]) {
        return etp_fail(err, ETP_USAGE, "arms %u and %u are not two of %zu arms", arms[0], arms[1],
                        whole->arms.n);
    }
    uint32_t *place = places(arena, whole->arms.n);
    place[arms[0]] = 0;
    place[arms[1]] = 1;
    *out = *whole;
    keep_arms(out, place, 2, 0, arena);
    return ETP_OK;
}

etp_status etp_ab_run_take_phase(etp_run *run, uint32_t phase, const etp_run_arm *like,
                                 etp_arena *arena, etp_error *err)
{
    uint32_t *place = places(arena, run->arms.n), n = 0, baseline = ETP_NO_INDEX;
    for (size_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *a = &run->arms.items[i];
        if (a->phase != phase) {
            continue;
        }
        bool same = a->model == like->model && a->threads == like->threads &&
                    etp_str_eq(a->level, like->level);
        baseline = same ? n : baseline;
        place[i] = n++;
    }
    if (n == 0 || baseline == ETP_NO_INDEX) {
        return etp_fail(err, ETP_CORRUPT, "phase %.*s lacks the arm that others are compared with",
                        ETP_STR_ARG(run->phases.items[phase].name));
    }
    keep_arms(run, place, n, baseline, arena);
    return ETP_OK;
}

etp_status etp_ab_open_phase(const etp_run *phased, const etp_ab_options *options, etp_arena *arena,
                             etp_run *out, etp_error *err)
{
    *out = *phased;
    if (phased->phases.n == 0) {
        return ETP_OK;
    }
    const etp_run_arm *like = &phased->arms.items[phased->baseline];
    const etp_ab_session *whole = options->part.whole;
    if (whole) { // as the first phase was answered, which may not be as it was measured
        like = &whole->run.arms.items[whole->ab.baseline];
    }
    return etp_ab_run_take_phase(out, options->part.phase, like, arena, err);
}

double etp_ab_token_rate(const etp_ab *ab, uint32_t arm)
{
    int64_t ns = ab->arms[arm].median_ns;
    bool known = ab->phase && ab->phased->tokens > 0 && ns != ETP_NS_UNKNOWN && ns > 0;
    return known && !ab->emulated ? 1e9 * (double)ab->phased->tokens / (double)ns : (double)NAN;
}
