// SPDX-License-Identifier: Apache-2.0
// Two arms of a session with more, as if they had been measured alone: so that each pair of a sweep
// gets the answer that `ab` gives.
#include <math.h>

#include "compare/session.h"

// Arm of the pair, ETP_NO_INDEX for the others.
static uint32_t place_of(const etp_ab_pair *p, uint32_t arm)
{
    return arm == p->arms[0] ? 0 : arm == p->arms[1] ? 1 : ETP_NO_INDEX;
}

// Copies what is of the pair, renumbered and in the same order.
#define KEEP(type, list, wanted)                              \
    do {                                                      \
        const type *all = (list).items;                       \
        size_t n = (list).n;                                  \
        (list).items = ETP_NEW_ARRAY(&s->arena, type, n + 1); \
        (list).n = (list).cap = 0;                            \
        if (!(list).items) {                                  \
            return etp_fail_nomem(err, "a pair");             \
        }                                                     \
        for (size_t i = 0; i < n; i++) {                      \
            const type *x = &all[i];                          \
            uint32_t at = place_of(p, x->arm);                \
            if (at != ETP_NO_INDEX && (wanted)) {             \
                (list).items[(list).n] = *x;                  \
                (list).items[(list).n++].arm = at;            \
            }                                                 \
        }                                                     \
    } while (0)

etp_status etp_ab_take_pair(etp_ab_session *s, const etp_ab_pair *p, etp_error *err)
{
    const etp_run *whole = &p->whole->run;
    etp_run *run = &s->run;
    if (p->arms[0] >= whole->arms.n || p->arms[1] >= whole->arms.n || p->arms[0] == p->arms[1]) {
        return etp_fail(err, ETP_USAGE, "arms %u and %u are no pair of %zu arms", p->arms[0],
                        p->arms[1], whole->arms.n);
    }
    *run = *whole;
    KEEP(etp_run_sample, run->samples, at == 0 || x->phase != ETP_PHASE_CONTROL);
    KEEP(etp_run_launch, run->launches, at == 0 || x->kind != ETP_LAUNCH_CONTROL);
    KEEP(etp_run_lost, run->lost, true);
    KEEP(etp_run_dump, run->dumps, true);
    run->arms.items = ETP_NEW_ARRAY(&s->arena, etp_run_arm, 2);
    ETP_NEED(run->arms.items, err, "a pair");
    run->arms.items[0] = whole->arms.items[p->arms[0]];
    run->arms.items[1] = whole->arms.items[p->arms[1]];
    run->arms.n = run->arms.cap = 2;
    run->order.n = 0; // of all arms
    run->baseline = 0;
    run->settings.knee = 0;
    return ETP_OK;
}

void etp_ab_take_control(etp_ab_session *s, const etp_ab_pair *p)
{
    if (s->has_stats) {
        etp_stats_take_control(&s->stats, &p->whole->stats);
    }
}
