// SPDX-License-Identifier: Apache-2.0
// Asks the room that judges what the samples of a session that still runs can tell.
#include "session/coverage.h"

#include "judge/open.h"

bool etp_session_coverage_of(void *ctx, const char *dir, double times, double *share,
                             double *reachable, bool *too_few, size_t n)
{
    (void)ctx;
    etp_ab_session *whole = NULL;
    // The answer itself is asked: what it would call unknown is what more samples are for.
    if (etp_ab_open(&dir, 1, NULL, &whole, NULL) != ETP_OK) {
        return false;
    }
    // The folder holds whole blocks alone, so it reads like that of a finished session. An error
    // only means that nothing can be told: sampling then ends.
    const etp_ab *ab = etp_ab_answer(whole);
    // The whole answer has the engagement of one candidate; each other one is opened as a pair with
    // its baseline below.
    uint32_t first = ab->engagement.arm;
    if (first < n) {
        share[first] = etp_ab_engage_reach(ab, 0);
        reachable[first] = etp_ab_engage_reach(ab, times);
    }
    for (size_t i = 1; i < ab->n_comparisons; i++) { // the other candidates, as `ab` shows them
        const etp_ab_comparison *c = &ab->comparisons[i];
        const etp_ab_options pair = {
            .part = {.whole = whole, .arms = {c->baseline, c->candidate}}
        };
        etp_ab_session *session = NULL;
        if (c->candidate < n && c->candidate != first &&
            etp_ab_open(&dir, 1, &pair, &session, NULL) == ETP_OK) {
            // What is known now, and what TIMES as many samples would tell.
            share[c->candidate] = etp_ab_engage_reach(etp_ab_answer(session), 0);
            reachable[c->candidate] = etp_ab_engage_reach(etp_ab_answer(session), times);
            etp_ab_close(session);
        }
    }
    for (size_t i = 0; i < n && i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        too_few[i] =
            a->proof.truth == ETP_UNPROVEN && a->kernels && etp_kernels_too_few(a->kernels, times);
    }
    etp_ab_close(whole);
    return true;
}
