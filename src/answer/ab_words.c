// SPDX-License-Identifier: Apache-2.0
// What an answer says in words: grade, findings, what was ruled out. Every sentence names the
// rows it rests on.
#include <math.h>
#include <string.h>

#include "answer/ab_session.h"
#include "base/number.h"

etp_status etp_ab_find(etp_ab_session *s, const char *severity, const char *evidence,
                       const char *text, etp_error *err)
{
    const char **refs = ETP_NEW_ARRAY(&s->arena, const char *, 1);
    const char *id = etp_arena_printf(&s->arena, "F%zu", s->ab.findings.n + 1);
    if (!refs || !id || !text) {
        return etp_fail_nomem(err, "findings");
    }
    refs[0] = evidence;
    etp_ab_finding f = {.id = id,
                        .severity = severity,
                        .text = text,
                        .evidence = refs,
                        .n_evidence = evidence ? 1 : 0};
    return ETP_PUSH(&s->arena, &s->ab.findings, f) ? ETP_OK : etp_fail_nomem(err, "findings");
}

static etp_status rule_out(etp_ab_session *s, const char *id, const char *text, etp_error *err)
{
    etp_ab_finding f = {.id = id, .severity = "info", .text = text};
    return text && ETP_PUSH(&s->arena, &s->ab.ruled_out, f) ? ETP_OK
                                                            : etp_fail_nomem(err, "findings");
}

static void grade(etp_ab_session *s)
{
    etp_ab *ab = &s->ab;
    if (ab->grade) {
        return; // compare knows what its sides have in common
    }
    if (ab->bare) {
        ab->grade = "D";
        ab->grade_reason = "dumps alone: builds, day and machine are unknown, times are traced";
        return;
    }
    bool same_runner = true;
    for (size_t i = 1; i < ab->n_arms; i++) {
        const char *a = ab->arms[0].runner_sha256, *b = ab->arms[i].runner_sha256;
        same_runner = same_runner && a && b && strcmp(a, b) == 0;
    }
    ab->grade = same_runner ? "A" : "C";
    ab->grade_reason = same_runner ? "one binary, one session, paired launches"
                                   : "the arms ran different or unknown builds";
}

static etp_status shift_finding(etp_ab_session *s, size_t at, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    const etp_ab_shift *shift = &ab->shifts[at];
    if (!shift->moved || ab->emulated || ab->comparisons[at].withheld) {
        return ETP_OK;
    }
    return etp_ab_find(
        s, "info", "categories",
        etp_arena_printf(&s->arena,
                         "the bottleneck moved: %s was %.0f %% of an inference, now %s is the "
                         "largest part with %.0f %% (before: %.0f %%)",
                         etp_category_name(shift->before), 100 * shift->before_share,
                         etp_category_name(shift->after), 100 * shift->after_share,
                         100 * shift->after_was),
        err);
}

static etp_status flag_findings(etp_ab_session *s, size_t at, etp_error *err)
{
    unsigned flags = s->stats.comparisons[at].flags;
    for (unsigned bit = 1; bit <= ETP_FLAG_DRIFT; bit <<= 1) {
        if (!(flags & bit)) {
            continue;
        }
        ETP_TRY(etp_ab_find(s, bit == ETP_FLAG_DRIFT ? "info" : "warn", "samples.csv",
                            etp_arena_printf(&s->arena, "%s against %s: %s",
                                             s->ab.arms[s->ab.comparisons[at].candidate].name,
                                             s->ab.arms[s->ab.comparisons[at].baseline].name,
                                             etp_stats_flag_name(bit)),
                            err));
    }
    return ETP_OK;
}

// Traced against untraced: what the tracer costs each arm.
static etp_status tracer_words(etp_ab_session *s, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    double worst = 0;
    size_t known = 0;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        if (a->median_ns > 0 && a->traced_ns > 0) {
            double rel = (double)a->traced_ns / (double)a->median_ns - 1;
            worst = fabs(rel) > fabs(worst) ? rel : worst;
            known++;
        }
    }
    if (known < ab->n_arms || ab->emulated) {
        return ETP_OK;
    }
    if (fabs(worst) > 0.10) {
        return etp_ab_find(s, "warn", "tracer",
                           etp_arena_printf(&s->arena,
                                            "traced inferences take %+.1f %% against untraced ones; "
                                            "the breakdown is of the traced ones",
                                            100 * worst),
                           err);
    }
    return rule_out(s, "tracer",
                    etp_arena_printf(&s->arena, "tracer (at most %+.1f %%, and not in the headline)",
                                     100 * worst),
                    err);
}

static etp_status exclusions(etp_ab_session *s, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    if (s->has_stats && isfinite(s->stats.noise_floor) && !s->stats.control_differs &&
        !ab->emulated) {
        ETP_TRY(rule_out(s, "drift", etp_arena_printf(&s->arena, "drift of the machine (A/A control within %.2f %%)", 100 * s->stats.noise_floor), err));
    }
    if (strcmp(ab->grade, "A") == 0) {
        ETP_TRY(rule_out(s, "builds", "different binaries", err));
    }
    bool same_threads = true;
    for (size_t i = 1; i < ab->n_arms; i++) {
        same_threads = same_threads && ab->arms[i].threads == ab->arms[0].threads;
    }
    if (!ab->bare && same_threads && ab->n_arms > 1) {
        ETP_TRY(rule_out(s, "threads",
                         etp_arena_printf(&s->arena, "threads (%u in every arm)",
                                          ab->arms[0].threads),
                         err));
    }
    if (ab->correctness.ok == 1) {
        ETP_TRY(rule_out(s, "outputs", "wrong outputs", err));
    }
    return tracer_words(s, err);
}

static etp_status lost_words(etp_ab_session *s, etp_error *err)
{
    for (size_t i = 0; i < s->ab.lost.n; i++) {
        const etp_ab_lost *l = &s->ab.lost.items[i];
        ETP_TRY(etp_ab_find(s, l->recovered ? "warn" : "bad", "manifest.json",
                            etp_arena_printf(&s->arena, "%s, block %u: %s%s", l->arm, l->block,
                                             l->text, l->recovered ? " (repeated)" : ""),
                            err));
    }
    return ETP_OK;
}

etp_status etp_ab_judge(etp_ab_session *s, etp_error *err)
{
    grade(s);
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        ETP_TRY(shift_finding(s, i, err));
        if (s->has_stats && !s->ab.emulated) {
            ETP_TRY(flag_findings(s, i, err));
        }
    }
    ETP_TRY(lost_words(s, err));
    return exclusions(s, err);
}
