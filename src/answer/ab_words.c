// SPDX-License-Identifier: Apache-2.0
// What an answer says in words: grade, findings, what was ruled out. Every sentence names the
// rows it rests on.
#include <math.h>
#include <string.h>

#include "answer/ab_session.h"
#include "base/number.h"

#define SMALL_SHARE 0.25 // of an effect (ln): what is below cannot have made it

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

static etp_status find_with(etp_ab_session *s, const char *severity, const char *const *evidence,
                            size_t n, const char *formula, const char *text, etp_error *err)
{
    const char **refs = ETP_NEW_ARRAY(&s->arena, const char *, n);
    if (!refs) {
        return etp_fail_nomem(err, "findings");
    }
    ETP_TRY(etp_ab_find(s, severity, NULL, text, err));
    for (size_t i = 0; i < n; i++) {
        refs[i] = evidence[i];
    }
    etp_ab_finding *f = &s->ab.findings.items[s->ab.findings.n - 1];
    f->evidence = refs;
    f->n_evidence = n;
    f->formula = formula;
    return ETP_OK;
}

static bool silent(const etp_ab *ab, size_t comparison)
{
    return ab->emulated || ab->comparisons[comparison].withheld;
}

static etp_status shift_finding(etp_ab_session *s, size_t at, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    const etp_ab_shift *shift = &ab->shifts[at];
    if (!shift->moved || silent(ab, at)) {
        return ETP_OK;
    }
    const char *evidence[] = {etp_category_name(shift->before), etp_category_name(shift->after)};
    return find_with(
        s, "info", evidence, 2,
        "share: Σ exclusive time of the category ÷ Method::execute, each arm by itself",
        etp_arena_printf(&s->arena,
                         "the bottleneck moved: %s was %.0f %% of an inference, now %s is the "
                         "largest part with %.0f %% (before: %.0f %%)",
                         etp_category_name(shift->before), 100 * shift->before_share,
                         etp_category_name(shift->after), 100 * shift->after_share,
                         100 * shift->after_was),
        err);
}

// What got slower comes first, the worst loss first.
static etp_status slower_findings(etp_ab_session *s, size_t at, etp_error *err)
{
    enum { SHOWN = 3 };
    const etp_ledger *l = &s->ab.ledgers[at].ledger;
    const etp_ledger_row *worst[SHOWN] = {NULL};
    for (size_t i = 0; !silent(&s->ab, at) && i < l->n; i++) {
        const etp_ledger_row *row = &l->items[i];
        if (row->pair == ETP_NO_INDEX || row->lo_ns == ETP_NS_UNKNOWN || row->lo_ns <= 0 ||
            row->delta_ns * 100 <= row->baseline_ns) {
            continue;
        }
        for (size_t k = 0; k < SHOWN && row; k++) {
            if (!worst[k] || row->delta_ns > worst[k]->delta_ns) {
                const etp_ledger_row *next = worst[k];
                worst[k] = row;
                row = next;
            }
        }
    }
    for (size_t k = 0; k < SHOWN && worst[k]; k++) {
        char d[ETP_NUMBER_CHARS], lo[ETP_NUMBER_CHARS], hi[ETP_NUMBER_CHARS];
        ETP_TRY(find_with(
            s, "warn", &worst[k]->id, 1,
            "difference of means over the traced iterations; 95 % t interval over the blocks lies above 0",
            etp_arena_printf(&s->arena,
                             "%s got slower by %s [%s, %s]; sending only it back gains that",
                             worst[k]->label, etp_format_ns((double)worst[k]->delta_ns, d),
                             etp_format_ns((double)worst[k]->lo_ns, lo),
                             etp_format_ns((double)worst[k]->hi_ns, hi)),
            err));
    }
    return ETP_OK;
}

// Layout work and converts together are a large part of what runs now.
static etp_status layout_finding(etp_ab_session *s, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    uint32_t arm = ab->engagement.arm;
    double share = 0;
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        bool moves = c->category == ETP_CATEGORY_DATA_MOVEMENT ||
                     c->category == ETP_CATEGORY_QUANTIZE;
        share += moves && isfinite(c->share[arm]) ? c->share[arm] : 0;
    }
    if (share < 0.3 || ab->emulated) {
        return ETP_OK;
    }
    static const char *const k_evidence[] = {"Data movement", "Quantize/convert"};
    return find_with(s, "warn", k_evidence, 2,
                     "Σ exclusive time of Data movement and Quantize/convert ÷ Method::execute",
                     etp_arena_printf(&s->arena,
                                      "%s is dominated by layout: moving and converting data takes "
                                      "%.0f %% of an inference",
                                      ab->arms[arm].name, 100 * share),
                     err);
}

// The largest group of operators that the feature could not or did not reach.
static etp_status engagement_finding(etp_ab_session *s, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    const etp_ab_engagement *e = &ab->engagement;
    bool worth = e->n_reasons > 0 && ab->arms[e->arm].traced_ns > 0 &&
                 e->reasons[0].ns * 20 > ab->arms[e->arm].traced_ns;
    if (!worth || ab->emulated || e->reasons[0].reason == ETP_REASON_MASKED) {
        return ETP_OK;
    }
    struct {
        const char **items;
        size_t n, cap;
    } ids = {0};
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (op->engaged.eligible && op->engaged.reason == e->reasons[0].reason &&
            op->engaged.state != ETP_ENGAGED && !ETP_PUSH(&s->arena, &ids, op->id)) {
            return etp_fail_nomem(err, "findings");
        }
    }
    return find_with(s, "info", ids.items, ids.n,
                     "Σ time of the operators ÷ Method::execute of the arm",
                     etp_arena_printf(&s->arena, "%u operators with %.0f %% of an inference stay off "
                                                 "%s: %s",
                                      e->reasons[0].operators,
                                      100 * (double)e->reasons[0].ns /
                                          (double)ab->arms[e->arm].traced_ns,
                                      e->feature_name ? e->feature_name : "XNNPACK",
                                      etp_reason_text(e->reasons[0].reason)),
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

// The A/A control speaks against drift only as far as it is finer than what was found: a floor of
// 20 % rules nothing out beside an effect of 30 %.
static bool drift_is_ruled_out(const etp_ab_session *s)
{
    double floor = s->has_stats ? s->stats.noise_floor : (double)NAN;
    if (!isfinite(floor) || s->stats.control_differs || s->ab.emulated) {
        return false;
    }
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        const etp_ab_comparison *c = &s->ab.comparisons[i];
        bool below_margin = floor <= c->margin;
        if (!below_margin && !(log1p(floor) <= SMALL_SHARE * fabs(log(c->estimate)))) {
            return false;
        }
    }
    return s->ab.n_comparisons > 0;
}

static etp_status exclusions(etp_ab_session *s, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    if (drift_is_ruled_out(s)) {
        ETP_TRY(rule_out(s, "drift",
                         etp_arena_printf(&s->arena,
                                          "drift of the machine (A/A control within %.2f %%)",
                                          100 * s->stats.noise_floor),
                         err));
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

// What the session itself noticed while it measured.
static etp_status note_words(etp_ab_session *s, etp_error *err)
{
    for (size_t i = 0; s->has_run && i < s->run.n_notes; i++) {
        etp_str id = s->run.notes[i].id, text = s->run.notes[i].text;
        ETP_TRY(etp_ab_find(s, etp_str_eqz(id, "arm_given_up") ? "bad" : "warn", "manifest.json",
                            etp_arena_printf(&s->arena, "%.*s", ETP_STR_ARG(text)), err));
    }
    return ETP_OK;
}

etp_status etp_ab_judge(etp_ab_session *s, etp_error *err)
{
    grade(s);
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        ETP_TRY(slower_findings(s, i, err));
    }
    ETP_TRY(layout_finding(s, err));
    ETP_TRY(engagement_finding(s, err));
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        ETP_TRY(shift_finding(s, i, err));
        if (s->has_stats && !s->ab.emulated) {
            ETP_TRY(flag_findings(s, i, err));
        }
    }
    ETP_TRY(note_words(s, err));
    ETP_TRY(lost_words(s, err));
    return exclusions(s, err);
}
