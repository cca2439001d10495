// SPDX-License-Identifier: Apache-2.0
// How long program counters are sampled: one launch after the other, until what ran is known for
// most of the operators' time, more of them would not tell more, or their part of the budget is
// used up.
#include <math.h>

#include "measure/sampled.h"
#include "measure/state.h"

#define LITTLE 0.005 // of the time: not worth another launch

static bool fits(const etp_session *s, uint32_t arm)
{
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    double part = s->plan->settings.budget_s * 1e9 / ETP_SAMPLING_PART;
    return s->plan->settings.budget_s <= 0 ||
           elapsed + (double)s->arms[arm].sampled_wall_ns <= part;
}

// Why ARM is not sampled once more after DONE launches; NULL: it is.
static const char *enough(const etp_session *s, uint32_t arm, uint32_t done,
                          const etp_session_known *known)
{
    return known->share >= ETP_SAMPLING_GOAL              ? "known"
           : done >= ETP_SAMPLING_LAUNCHES                ? "bound"
           : !(known->reachable - known->share >= LITTLE) ? "no_gain"
           : !fits(s, arm)                                ? "budget"
                                                          : NULL;
}

// What one more launch of ARM gave becomes part of BLOCK, which is in the folder already.
static etp_status sample_again(etp_session *s, const etp_task *t, bool *ok, etp_error *err)
{
    etp_launch_outcome o;
    s->samples.items = NULL;
    s->samples.n = s->samples.cap = 0;
    s->launches.items = NULL;
    s->launches.n = s->launches.cap = 0;
    s->expected_launches++;
    etp_status status = etp_session_launch(s, t, &o, err);
    *ok = status == ETP_OK && o.ok;
    s->cut_short = false; // the block itself is whole
    if (status == ETP_OK) {
        status = etp_run_commit_more(&s->writer, s->samples.items, s->samples.n, s->launches.items,
                                     s->launches.n, err);
    }
    etp_arena_dispose(&s->block_arena);
    return status;
}

etp_status etp_session_sample_more(etp_session *s, uint32_t block, etp_error *err)
{
    uint32_t n = s->plan->n_arms, position = s->positions;
    etp_session_known *known = ETP_NEW_ARRAY(&s->arena, etp_session_known, n + 1);
    bool *ended = ETP_NEW_ARRAY(&s->arena, bool, n + 1);
    ETP_NEED(known && ended, err, "sampling");
    bool answered = s->plan->settings.kernels && s->hooks->known, more = true;
    for (uint32_t done = 1; answered && more; done++) {
        for (uint32_t a = 0; a < n; a++) {
            known[a] = (etp_session_known){(double)NAN, (double)NAN};
        }
        double times = (double)ETP_SAMPLING_LAUNCHES / done;
        more = false;
        answered = s->hooks->known(s->hooks->ctx, s->config->dir, times, known, n);
        for (uint32_t a = 0; answered && a < n; a++) {
            bool out = ended[a] || s->arms[a].dead || s->arms[a].sampled_wall_ns == 0;
            if (out || isnan(known[a].share) || etp_session_interrupted(s) != 0) {
                continue;
            }
            const char *why = enough(s, a, done, &known[a]);
            s->run.arms.items[a].sampling = etp_str_from(why ? why : "");
            ended[a] = why != NULL;
            if (!why) {
                const etp_task t = {a, block, position++, ETP_LAUNCH_SAMPLED, done + 1};
                bool ok;
                ETP_TRY(sample_again(s, &t, &ok, err));
                ended[a] = !ok;
                more = more || ok;
            }
        }
    }
    return ETP_OK;
}
