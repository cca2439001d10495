// SPDX-License-Identifier: Apache-2.0
// What it costs to hide features: the SDK asks the runner's hook while it executes.
#include <math.h>

#include "answer/ab/json.h"
#include "answer/ab/session.h"

#define WORTH_SAYING 0.005 // of an inference

etp_status etp_ab_take_hook(etp_ab_session *s, const etp_run *run, uint32_t run_arm, uint32_t at,
                            etp_error *err)
{
    etp_ab_arm *arm = &s->ab.arms[at];
    double *calls = ETP_NEW_ARRAY(&s->arena, double, run->launches.n);
    double *each = ETP_NEW_ARRAY(&s->arena, double, run->launches.n);
    size_t n = 0;
    if (!calls || !each) {
        return etp_fail_nomem(err, "launches");
    }
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->arm == run_arm && l->kind == ETP_LAUNCH_TIMED && l->hook_cost.call_ps > 0) {
            calls[n] = (double)l->hook_cost.calls;
            each[n++] = (double)l->hook_cost.call_ps / 1000;
        }
    }
    arm->hook.calls = etp_median(calls, n);
    arm->hook.call_ns = etp_median(each, n);
    arm->hook.share = arm->median_ns > 0
                          ? arm->hook.calls * arm->hook.call_ns / (double)arm->median_ns
                          : (double)NAN;
    return ETP_OK;
}

const char *etp_ab_hook_words(etp_ab_session *s, const etp_ab_arm *arm)
{
    if (!(arm->hook.call_ns > 0) || !isfinite(arm->hook.share)) {
        return "";
    }
    return etp_arena_printf(&s->arena,
                            "; its %.0f questions in an inference cost %.2g ns each, %.2g %% of it",
                            arm->hook.calls, arm->hook.call_ns, 100 * arm->hook.share);
}

etp_status etp_ab_hook_findings(etp_ab_session *s, etp_error *err)
{
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        const etp_ab_arm *arm = &s->ab.arms[i];
        if (!(arm->hook.share > WORTH_SAYING)) {
            continue;
        }
        ETP_TRY(etp_ab_find(
            s, ETP_FINDING_HOOK, "warn", "environment.jsonl",
            etp_arena_printf(
                &s->arena,
                "hiding features takes %.2g %% of an inference of %s: the SDK asks %.0f times, "
                "the runner's hook adds %.3g ns to each",
                100 * arm->hook.share, arm->name, arm->hook.calls, arm->hook.call_ns),
            err));
    }
    return ETP_OK;
}

void etp_ab_hook_json(const etp_ab_arm *arm, etp_json *j)
{
    if (!(arm->hook.call_ns > 0)) {
        return; // bare recordings, runners of others
    }
    etp_json_key(j, "hook");
    etp_json_begin_object(j);
    etp_json_kv_ratio(j, "calls", arm->hook.calls);
    etp_json_kv_ratio(j, "call_ns", arm->hook.call_ns);
    etp_json_kv_ratio(j, "share", arm->hook.share);
    etp_json_end(j);
}
