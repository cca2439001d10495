// SPDX-License-Identifier: Apache-2.0
// Two arms of a session with more, as if they had been measured alone: so that each pair of a sweep gets the answer
// that `ab` gives.
#include "answer/ab/session.h"

// Arm of the pair, ETP_NO_INDEX for the others.
static uint32_t place_of(const etp_ab_options *o, uint32_t arm)
{
    return arm == o->pair[0] ? 0 : arm == o->pair[1] ? 1 : ETP_NO_INDEX;
}

// Drops what is not of the pair and renumbers the rest; order is kept.
#define KEEP(list, wanted)                                                                         \
    do {                                                                                           \
        size_t kept = 0;                                                                           \
        for (size_t i = 0; i < (list).n; i++) {                                                    \
            uint32_t at = place_of(o, (list).items[i].arm);                                        \
            if (at != ETP_NO_INDEX && (wanted)) {                                                  \
                (list).items[kept] = (list).items[i];                                              \
                (list).items[kept++].arm = at;                                                     \
            }                                                                                      \
        }                                                                                          \
        (list).n = kept;                                                                           \
    } while (0)

etp_status etp_ab_keep_pair(etp_ab_session *s, const etp_ab_options *o, etp_stats *out_whole, etp_error *err)
{
    etp_run *run = &s->run;
    if (o->pair[0] >= run->arms.n || o->pair[1] >= run->arms.n || o->pair[0] == o->pair[1]) {
        return etp_fail(err, ETP_USAGE, "arms %u and %u are no pair of %zu arms", o->pair[0], o->pair[1], run->arms.n);
    }
    ETP_TRY(etp_ab_analyze_session(s, run, o, out_whole, err));
    KEEP(run->samples, at == 0 || run->samples.items[i].phase != ETP_PHASE_CONTROL);
    KEEP(run->launches, at == 0 || run->launches.items[i].kind != ETP_LAUNCH_CONTROL);
    KEEP(run->lost, true);
    KEEP(run->dumps, true);
    const etp_run_arm arms[2] = {run->arms.items[o->pair[0]], run->arms.items[o->pair[1]]};
    run->arms.items[0] = arms[0];
    run->arms.items[1] = arms[1];
    run->arms.n = 2;
    run->order.n = 0; // of all arms
    run->baseline = 0;
    run->sweep = false;
    return ETP_OK;
}
