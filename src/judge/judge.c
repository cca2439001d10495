// SPDX-License-Identifier: Apache-2.0
// What an answer says in words: grade and findings. Every sentence names the rows it rests on.
#include <math.h>
#include <string.h>

#include "base/guard.h"
#include "base/number.h"
#include "compare/phases.h"
#include "judge/judge.h"

static void shift_finding(const etp_ab_session *s, size_t at, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    const etp_ab_comparison *c = &ab->comparisons[at];
    const etp_ab_arm *cand = &ab->arms[c->candidate];
    const bool several = ab->n_comparisons > 1; // then the sentence says of which arm it is
    // An arm that hides one feature is there to say what that is worth: that it is slower is the
    // answer.
    if (!c->shift.moved || !etp_ab_told(ab, at) || etp_level_hides_one(cand->level)) {
        return;
    }
    const char *before = etp_ab_part_name(c->shift.before),
               *after = etp_ab_part_name(c->shift.after);
    const char *evidence[] = {before, after};
    ETP_FIND_ROWS(to, ETP_FINDING_SHIFT, ETP_SEVERITY_INFO, evidence, 2,
                  "%s%sthe bottleneck moved: %s was %.0f %% of an inference, now %s is the "
                  "largest part with %.0f %% (before: %.0f %%)",
                  etp_if(several, cand->measured), etp_if(several, ": "), before,
                  100 * c->shift.before_share, after, 100 * c->shift.after_share,
                  100 * c->shift.after_was);
}

// What got slower comes first, the worst loss first, with the inference that is left when only
// this operator goes back: the same addition as etprof whatif 'back ID'.
static void slower_findings(const etp_ab_session *s, size_t at, etp_ab_findings *to)
{
    enum { SHOWN = 3 };
    const etp_ledger *l = &s->ab.ledgers[at];
    const etp_ab_arm *cand = &s->ab.arms[s->ab.comparisons[at].candidate];
    const bool several = s->ab.n_comparisons > 1;
    const etp_ledger_row *worst[SHOWN];
    (void)etp_ledger_worst(l, etp_ledger_row_slower, worst, SHOWN);
    for (size_t k = 0; k < SHOWN && worst[k] && !etp_level_hides_one(cand->level); k++) {
        const etp_ledger_row *row = worst[k];
        // Ids of two sides are their own: a folder's whatif may number its operators otherwise. And
        // it is about the first comparison.
        const char *try_it =
            s->options.two_sides || at > 0
                ? ""
                : etp_arena_printf(s->ab.arena, ", etprof whatif DIR 'back %s'%s", row->id,
                                   etp_ab_phase_option(&s->ab, s->ab.arena));
        ETP_FIND_ROWS(
            to, ETP_FINDING_SLOWER, ETP_SEVERITY_WARN, &row->id, 1,
            "%s%s%s got slower by %s [%s, %s]; with its old time alone: %s → %s (traced%s)",
            etp_if(several, cand->measured), etp_if(several, ": "), row->label,
            ETP_NS((double)row->delta_ns), ETP_NS((double)row->lo_ns), ETP_NS((double)row->hi_ns),
            ETP_NS((double)cand->traced_ns), ETP_NS((double)(cand->traced_ns - row->delta_ns)),
            try_it);
    }
}

// Layout work and converts together are a large part of what runs now.
static void layout_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    uint32_t arm = ab->engagement.arm;
    double share = 0;
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        bool moves =
            c->category == ETP_CATEGORY_DATA_MOVEMENT || c->category == ETP_CATEGORY_QUANTIZE;
        share += moves && isfinite(c->share[arm]) ? c->share[arm] : 0;
    }
    // 0.3 stands in the finding's formula (ETP_FINDING_MAP), as do the other shares below.
    if (share < 0.3 || ab->emulated) {
        return;
    }
    const char *const evidence[] = {etp_category_name(ETP_CATEGORY_DATA_MOVEMENT),
                                    etp_category_name(ETP_CATEGORY_QUANTIZE)};
    ETP_FIND_ROWS(to, ETP_FINDING_LAYOUT, ETP_SEVERITY_WARN, evidence, 2,
                  "%s is dominated by layout: moving and converting data takes "
                  "%.0f %% of an inference",
                  ab->arms[arm].measured, 100 * share);
}

// The largest group of operators that the feature could not or did not reach.
static void engagement_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    const etp_ab_engagement *e = &ab->engagement;
    // A twentieth of an inference. That the level itself hides the feature is what was asked for,
    // and no finding.
    const etp_reason most = e->reasons[0];
    const uint32_t n = e->off_for[most].operators;
    const int64_t ns = e->off_for[most].ns, whole_ns = ab->arms[e->arm].traced_ns;
    bool worth = e->n_reasons > 0 && whole_ns > 0 && ns * 20 > whole_ns;
    if (!worth || ab->emulated || most == ETP_REASON_MASKED) {
        return;
    }
    etp_texts ids = {0};
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (op->engaged.eligible && op->engaged.reason == most &&
            op->engaged.state != ETP_ENGAGED) {
            ETP_ADD(s->ab.arena, &ids, op->id);
        }
    }
    ETP_FIND_ROWS(to, ETP_FINDING_OFF_FEATURE, ETP_SEVERITY_INFO, ids.items, ids.n,
                  "%u operator%s with %.0f %% of an inference stay%s off %s: %s", n,
                  etp_if(n != 1, "s"), 100 * (double)ns / (double)whole_ns, etp_if(n == 1, "s"),
                  ETP_OR(e->feature_name, "XNNPACK"), etp_reason_text(most));
}

// Of the arm that has it. A baseline's is told once, however many arms are compared with it.
static void flag_findings(const etp_ab_session *s, size_t at, etp_ab_findings *to)
{
    const etp_ab_comparison *c = &s->ab.comparisons[at];
    const uint32_t arms[] = {c->candidate, c->baseline};
    for (size_t i = 0; i < (at == 0 ? 2 : 1); i++) {
        for (unsigned bit = 1; bit < ETP_FLAG_DRIFT; bit <<= 1) {
            if (s->stats.arms[arms[i]].flags & bit) {
                ETP_FIND(to, ETP_FINDING_STATISTICS, ETP_SEVERITY_WARN, "samples.csv", "%s: %s",
                         s->ab.arms[arms[i]].measured, etp_stats_flag_words(bit));
            }
        }
    }
    if (s->stats.comparisons[at].flags & ETP_FLAG_DRIFT) {
        ETP_FIND(to, ETP_FINDING_STATISTICS, ETP_SEVERITY_INFO, "samples.csv", "%s against %s: %s",
                 s->ab.arms[c->candidate].measured, s->ab.arms[c->baseline].measured,
                 etp_ab_drift_words(&s->ab, c));
    }
}

// Kernels outside delegates are a large part of what runs now.
static void portable_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    uint32_t arm = ab->engagement.arm;
    const etp_profile *p = ab->n_arms ? ab->arms[arm].profile : NULL;
    etp_texts ids = {0};
    int64_t ns = 0;
    for (size_t i = 0; p && i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        bool portable = op->rows[arm] && op->rows[arm]->kind == ETP_ROW_PORTABLE && op->ns[arm] > 0;
        if (portable) {
            ETP_ADD(s->ab.arena, &ids, op->id);
        }
        ns += portable ? op->ns[arm] : 0;
    }
    double share =
        p && ab->arms[arm].traced_ns > 0 ? (double)ns / (double)ab->arms[arm].traced_ns : 0;
    if (share < 0.25 || ab->emulated) {
        return;
    }
    const char *was = "";
    if (ab->n_comparisons && arm != ab->baseline &&
        isfinite(ab->comparisons[0].shift.portable_before)) {
        was = etp_arena_printf(s->ab.arena, " (%s: %.0f %%)", ab->arms[ab->baseline].measured,
                               100 * ab->comparisons[0].shift.portable_before);
    }
    ETP_FIND_ROWS(to, ETP_FINDING_PORTABLE, ETP_SEVERITY_WARN, ids.items, ids.n,
                  "%zu kernel%s outside any delegate take%s %.0f %% of an inference of %s%s", ids.n,
                  etp_if(ids.n != 1, "s"), etp_if(ids.n == 1, "s"), 100 * share,
                  ab->arms[arm].measured, was);
}

// An arm that fails where the others do not says something about that arm: its level, its model.
// Launches that were repeated and worked are no failure: they were recovered.
static void arm_fails_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_run_lost *last = NULL;
    size_t n_lost = 0, n_good = 0;
    for (size_t i = 0; s->has_run && i < s->run.lost.n; i++) {
        const etp_run_lost *l = &s->run.lost.items[i];
        if (l->recovered) {
            continue;
        }
        if (last && last->arm != l->arm) {
            return; // not one arm's matter
        }
        last = l;
        n_lost++;
    }
    if (!last || s->ab.n_arms < 2 || last->arm >= s->ab.n_arms) {
        return;
    }
    for (size_t i = 0; i < s->run.launches.n; i++) {
        n_good += s->run.launches.items[i].arm == last->arm;
    }
    const char *name = s->ab.arms[last->arm].measured, *others = s->ab.n_arms == 2 ? "arm" : "arms";
    const char *evidence = etp_arena_printf(s->ab.arena, "arm:%s", s->ab.arms[last->arm].name);
    const char *text =
        n_good == 0
            ? etp_arena_printf(s->ab.arena,
                               "%s could not be measured, the other %s could: each of its %zu "
                               "launches was lost (%s: %.*s)",
                               name, others, n_lost, etp_lost_reason_name(last->reason),
                               ETP_STR_ARG(last->detail))
            : etp_arena_printf(s->ab.arena,
                               "only %s fails: %zu of its %zu launches were lost, none of the "
                               "others' (last %s: %.*s)",
                               name, n_lost, n_lost + n_good, etp_lost_reason_name(last->reason),
                               ETP_STR_ARG(last->detail));
    etp_ab_find_rows(to, ETP_FINDING_ARM_FAILS, ETP_SEVERITY_BAD, &evidence, 1, text);
}

// Blocks in which time did something else than pass; whether there are any.
static bool clock_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    enum { SHOWN = 5 };
    etp_strbuf text;
    size_t n = 0;
    etp_strbuf_init(&text, s->ab.arena);
    for (size_t i = 0; s->has_run && i < s->run.blocks.n; i++) {
        const etp_run_block *b = &s->run.blocks.items[i];
        bool slept = b->slept_ns > 0 && b->slept_ns != UINT64_MAX;
        if ((!slept && b->clock_jump_s == 0) || n++ >= SHOWN) {
            continue;
        }
        etp_strbuf_printf(&text, "%sblock %u: ", etp_if(n > 1, ", "), b->block);
        if (slept) {
            etp_strbuf_printf(&text, "%s s asleep", ETP_DIGITS((double)b->slept_ns / 1e9, 3));
        }
        if (b->clock_jump_s != 0) {
            etp_strbuf_printf(&text, "%swall clock %s s", etp_if(slept, " and "),
                              ETP_CHANGE(b->clock_jump_s, 1));
        }
    }
    if (n == 0) {
        return false;
    }
    if (n > SHOWN) {
        etp_strbuf_printf(&text, " and %zu more", n - SHOWN);
    }
    ETP_FIND(to, ETP_FINDING_CLOCK, ETP_SEVERITY_WARN, "environment.jsonl",
             "the clocks did not run evenly (%s): what followed began cold",
             etp_strbuf_str(&text).ptr);
    return true;
}

// What the session itself noticed while it measured.
static void note_findings(const etp_ab_session *s, etp_ab_findings *to)
{
    bool clocks = clock_finding(s, to);
    for (size_t i = 0; s->has_run && i < s->run.n_notes; i++) {
        etp_note note = etp_run_note_kind(&s->run.notes[i]);
        if (note == ETP_NOTE_CPU_CONTENDED ||
            (clocks && (note == ETP_NOTE_CLOCK_JUMP || note == ETP_NOTE_SLEPT))) {
            continue; // said with its blocks, or weighed among the causes
        }
        etp_finding_kind kind = ETP_FINDING_NOTE;
        if (note == ETP_NOTE_KERNELS_OURS || note == ETP_NOTE_KERNELS_LIB) {
            kind =
                note == ETP_NOTE_KERNELS_OURS ? ETP_FINDING_KERNELS_OURS : ETP_FINDING_KERNELS_LIB;
        }
        etp_finding_severity severity = ETP_SEVERITY_WARN;
        if (note == ETP_NOTE_ARM_GIVEN_UP) {
            severity = ETP_SEVERITY_BAD;
        } else if (note == ETP_NOTE_NOT_WATCHED || // of the system, whatever was measured
                   note == ETP_NOTE_BUILDS_PYTHON) {
            severity = ETP_SEVERITY_INFO;
        }
        ETP_FIND(to, kind, severity, "manifest.json", "%.*s", ETP_STR_ARG(s->run.notes[i].text));
    }
}

// ---- order ----

static bool is_of_time(etp_finding_kind kind)
{
    return kind == ETP_FINDING_LAYOUT || kind == ETP_FINDING_PORTABLE ||
           kind == ETP_FINDING_OFF_FEATURE || kind == ETP_FINDING_SHIFT;
}

// Time of what the finding names, in the arm that the answer is about: operators, categories; of a
// bottleneck that moved the one it is now.
static int64_t concerned_ns(const etp_ab *ab, const etp_ab_finding *f)
{
    const uint32_t arm = ab->engagement.arm;
    int64_t sum = 0;
    for (size_t e = f->kind == ETP_FINDING_SHIFT ? f->n_evidence - 1 : 0; e < f->n_evidence; e++) {
        etp_category category = etp_category_find(etp_str_from(f->evidence[e]));
        for (size_t i = 0; i < ab->n_categories; i++) {
            bool mine = ab->categories[i].category == category &&
                        ab->categories[i].ns[arm] != ETP_NS_UNKNOWN;
            sum += mine ? ab->categories[i].ns[arm] : 0;
        }
        for (size_t i = 0; i < ab->n_operators; i++) {
            bool mine = strcmp(ab->operators[i].id, f->evidence[e]) == 0 &&
                        ab->operators[i].ns[arm] != ETP_NS_UNKNOWN;
            sum += mine ? ab->operators[i].ns[arm] : 0;
        }
    }
    return sum;
}

// Findings about a part of the time change places among themselves: the largest part first.
// A plain exchange of places, since a dozen findings are sorted among others that must stay where
// they are: qsort would move those, too.
static void rank(const etp_ab *ab, etp_ab_findings *f)
{
    for (size_t i = 0; i < f->n; i++) {
        etp_ab_finding *a = &f->items[i];
        for (size_t k = i + 1; is_of_time(a->kind) && k < f->n; k++) {
            etp_ab_finding *b = &f->items[k];
            if (is_of_time(b->kind) && concerned_ns(ab, b) > concerned_ns(ab, a)) {
                const etp_ab_finding larger = *b;
                const char *first = a->id, *later = b->id;
                *b = *a;
                *a = larger;
                a->id = first; // ids go with the places
                b->id = later;
            }
        }
    }
}

// The order of the calls is that of the ids (F1, F2, …) and of importance to a reader: what was
// noticed while loading, what got slower, what takes the time, how it was measured, what was lost.
// Causes are weighed after them; suspects become findings too.
static etp_status judge(const etp_ab_session *s, etp_ab *out)
{
    etp_ab_findings *to = &out->judged.findings;
    to->arena = s->ab.arena;
    if (s->ab.unrelated) { // whatever the figures below are worth
        etp_ab_add_finding(to, ETP_FINDING_UNRELATED, ETP_SEVERITY_WARN, NULL, s->ab.unrelated);
    }
    for (size_t i = 0; i < s->noticed.n; i++) { // while it was loaded and compared: they come first
        ETP_ADD(to->arena, to, s->noticed.items[i]);
    }
    etp_ab_grade(s, out);
    if (s->ab.misnamed) { // first: whoever reads one finding reads this one
        etp_ab_add_finding(to, ETP_FINDING_MISNAMED, ETP_SEVERITY_WARN, NULL, s->ab.misnamed);
    }
    etp_ab_builds_findings(s, to);
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        slower_findings(s, i, to);
    }
    // Shares of a recording that is mostly recording are not those of an inference.
    const bool shares = !etp_ab_recording_hides(&s->ab);
    if (shares) {
        layout_finding(s, to);
        portable_finding(s, to);
        engagement_finding(s, to);
    }
    etp_ab_groupwise_finding(s, to);
    etp_ab_above_roof_findings(s, to);
    etp_ab_decode_finding(s, to);
    etp_ab_program_findings(s, to);
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        if (shares) {
            shift_finding(s, i, to);
        }
        etp_ab_clock_findings(s, i, to);
        if (s->has_stats && !s->ab.emulated) {
            flag_findings(s, i, to);
        }
    }
    etp_ab_hook_findings(s, to);
    arm_fails_finding(s, to);
    note_findings(s, to);
    for (size_t i = 0; i < s->ab.n_lost; i++) {
        const etp_run_lost *l = &s->ab.lost[i];
        ETP_FIND(to, ETP_FINDING_LOST, l->recovered ? ETP_SEVERITY_WARN : ETP_SEVERITY_BAD,
                 "manifest.json", "%s, block %u: %s%s", s->ab.arms[l->arm].name, l->block,
                 s->ab.lost_texts[i], etp_if(l->recovered, " (repeated)"));
    }
    // A cache that falls back to the heap looks like a model that is simply larger.
    for (size_t a = 0; a < s->ab.n_arms; a++) {
        const etp_ab_arm *arm = &s->ab.arms[a];
        if (arm->cache <= ETP_CACHE_OFF || arm->memory.code == 0 || arm->memory.cache > 0) {
            continue;
        }
        ETP_FIND(to, ETP_FINDING_PACKED_CACHE, ETP_SEVERITY_WARN, "environment.jsonl",
                 "%s: the cache of packed weights is not used: no page of its file is "
                 "resident, so the weights are on the heap. XNNPACK caches weights that "
                 "the program names ('etprof inspect': named data)",
                 arm->measured);
    }
    etp_ab_packing_finding(s, to);
    rank(&s->ab, to);
    etp_ab_weigh_causes(s, out);
    etp_ab_chunk_finding(s, to);
    return ETP_OK;
}

etp_status etp_ab_judge(const etp_ab_session *s, etp_ab *out, etp_error *err)
{
    ETP_GUARDED(s->ab.arena, err, "findings", judge(s, out));
}
