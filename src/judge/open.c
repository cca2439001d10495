// SPDX-License-Identifier: Apache-2.0
// The whole answer of a run folder or of bare dumps: loaded, compared, judged.
#include "judge/open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "base/path.h"
#include "judge/judge.h"

// Which arm the others are compared with; programs and recordings.
static etp_status load(etp_ab_session *s, etp_error *err)
{
    const etp_ab_options *options = &s->options;
    ETP_TRY(etp_ab_choose_baseline(s, options->two_sides ? s->ab.arms[0].name : options->baseline,
                                   &s->ab, err));
    ETP_TRY(options->two_sides && !s->has_run && !options->program
                ? etp_ab_open_sides_programs(s, &s->noticed, &s->in, err)
                : etp_ab_open_programs(s, &s->noticed, &s->in, err));
    if (s->ab.bare && options->program) {
        etp_run_model *program = ETP_NEW(&s->arena, etp_run_model);
        ETP_TRY(etp_run_read_export(options->program, s->in.programs.items[0].file.bytes, &s->arena,
                                    program, err));
        s->ab.program = program;
    }
    ETP_TRY(etp_ab_open_dumps(s, &s->noticed, &s->in, err));
    ETP_TRY(etp_ab_take_traces(s, &s->noticed, s->arms, err));
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        const etp_profile *p = s->arms[i].profile;
        if (p && p->facts && p->facts->problem) {
            s->ab.program_problem = p->facts->problem;
        }
    }
    return ETP_OK;
}

// ---- run folder ----

static bool is_pair(const etp_ab_session *s)
{
    return s->options.part.whole && !s->options.part.is_phase;
}

// The run of the folder, of two of its arms, or of one of its phases.
static etp_status read_run(etp_ab_session *s, const char *dir, etp_error *err)
{
    if (is_pair(s)) {
        return etp_ab_open_pair(&s->options, &s->arena, &s->run, err);
    }
    etp_run whole;
    ETP_TRY(etp_run_open(dir, &s->arena, &whole, err));
    // The folder's run is read once more for each phase: each is an answer with an arena of its
    // own.
    return etp_ab_open_phase(&whole, &s->options, &s->arena, &s->run, err);
}

// What is explained are raw files: one that was changed afterwards says what somebody wants.
static etp_status notice_altered(etp_ab_session *s, const etp_run *run, etp_error *err)
{
    const char *altered;
    ETP_TRY(etp_run_altered(run, &s->arena, &altered, err));
    if (altered) {
        etp_ab_add_finding(&s->noticed, ETP_FINDING_ALTERED, ETP_SEVERITY_BAD, NULL, altered);
    }
    return ETP_OK;
}

// The order is that of the stages in docs/architecture.md. Launches give the proofs and outputs the
// agreement, and both decide whether times may be given, so compare_times comes after them.
static etp_status open_run(etp_ab_session *s, const char *dir, etp_error *err)
{
    const etp_ab_options *options = &s->options;
    ETP_TRY(read_run(s, dir, err));
    s->has_run = true;
    s->ab.arms = s->arms = ETP_NEW_ARRAY(&s->arena, etp_ab_arm, s->run.arms.n + 1);
    ETP_TRY(etp_ab_describe_run(s, dir, s->arms, &s->ab, &s->in, err));
    if (is_pair(s)) {
        ETP_TRY(etp_ab_name_sides(s, NULL, s->arms, err));
    }
    s->ab.later_phase = options->part.is_phase;
    if (!options->as_is && !options->part.whole) {
        ETP_TRY(notice_altered(s, &s->run, err));
    }
    ETP_TRY(load(s, err));
    ETP_TRY(etp_ab_run_statistics(s, options->margin, options->part.whole, &s->stats, &s->has_stats,
                                  err));
    if (s->has_stats) {
        etp_ab_take_statistics(s, s->arms, &s->ab);
    }
    ETP_TRY(etp_ab_take_launches(s, &s->run, ETP_NO_INDEX, 0, &s->noticed, s->arms, err));
    ETP_TRY(etp_ab_compare_outputs(s, &s->noticed, s->arms, &s->ab.correctness, err));
    // Comparisons, and what else is known of the times; after what decides whether these are given.
    // A pair of arms must not give what the larger answer that it is of withholds.
    etp_ab *ab = &s->ab;
    if (s->has_stats) {
        ab->comparisons = s->comparisons = etp_ab_compare_times(s, options->part.withheld);
        ab->n_comparisons = s->stats.n_comparisons;
    }
    etp_ab_take_extra_ratios(s, s->arms, s->comparisons);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        etp_ab_find_ends(s, &s->comparisons[i]);
    }
    int64_t *call_overhead_ns = ETP_NEW_ARRAY(&s->arena, int64_t, ab->n_arms + 1);
    etp_ab_take_ends(s, call_overhead_ns);
    bool counted = s->has_stats && !ab->emulated;
    if (counted) {
        ETP_TRY(etp_counters_build(&s->run, &s->stats, &s->arena, &ab->counters, err));
    }
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        s->arms[a].call_overhead_ns = call_overhead_ns[a];
        if (counted) {
            ETP_TRY(etp_ab_drift_of(s, a, &s->arms[a], err));
        }
    }
    etp_ab_take_environment(&s->run, ab);
    return ETP_OK;
}

// ---- phases ----

// The answer of the first phase holds those of all.
static etp_status open_phases(etp_ab_session *s, etp_error *err)
{
    size_t n = s->has_run ? s->run.phases.n : 0;
    if (n == 0 || s->options.part.whole) {
        return ETP_OK;
    }
    s->later = ETP_NEW_ARRAY(&s->arena, etp_ab_session *, n);
    const etp_ab **phases = ETP_NEW_ARRAY(&s->arena, const etp_ab *, n);
    phases[0] = &s->ab;
    s->ab.phases = phases;
    for (s->ab.n_phases = 1; s->ab.n_phases < n; s->ab.n_phases++) {
        const etp_ab_options how = {
            .margin = s->options.margin,
            .roofs = s->options.roofs,
            .part = {.whole = s, .is_phase = true, .phase = (uint32_t)s->ab.n_phases}
        };
        // An answer like any other, opened by the same function; `part` keeps it from opening
        // phases again.
        ETP_TRY(etp_ab_open(&s->ab.dir, 1, &how, &s->later[s->n_later], err));
        phases[s->ab.n_phases] = &s->later[s->n_later++]->ab;
    }
    return ETP_OK;
}

// ---- two arms of one folder ----

// The answer of the whole folder, which stays open with S, and of it the pair that the sides name:
// two arms of one session and phase get what `ab` says of them. Else the options have no part.
static etp_status pair_of_sides(etp_ab_session *s, etp_error *err)
{
    etp_ab_options *out = &s->options;
    const etp_ab_side *x = &s->sides[0], *y = &s->sides[1];
    if (!etp_ab_same_session(x, y) || x->arm == y->arm ||
        x->run.arms.items[x->arm].phase != y->run.arms.items[y->arm].phase) {
        return ETP_OK;
    }
    const uint32_t phase = x->run.arms.items[x->arm].phase;
    const etp_ab_options all = {.margin = out->margin, .roofs = out->roofs};
    s->later = ETP_NEW_ARRAY(&s->arena, etp_ab_session *, 1);
    ETP_TRY(etp_ab_open(&x->dir, 1, &all, &s->later[0], err));
    s->n_later = 1;
    out->part.whole = phase > 0 ? s->later[0]->later[phase - 1] : s->later[0];
    const etp_run *run = &out->part.whole->run;
    out->part.arms[0] = etp_run_arm_find(run, x->run.arms.items[x->arm].name, x->arm);
    out->part.arms[1] = etp_run_arm_find(run, y->run.arms.items[y->arm].name, y->arm);
    const etp_ab_comparison *c = etp_ab_comparison_of(&out->part.whole->ab, out->part.arms[1]);
    out->part.withheld = c && c->baseline == out->part.arms[0] ? c->withheld : ETP_WITHHELD_NOT;
    return notice_altered(s, &s->later[0]->run, err);
}

// ---- bare dumps ----

// Headline, proof and outputs of two sides that are run folders. COMPARISON comes as the recordings
// have it.
static etp_status judge_sides(etp_ab_session *s, etp_ab_comparison *comparison, etp_error *err)
{
    etp_ab_comparison found = *comparison;
    bool control_differs = false;
    if (etp_ab_sides_timed(s)) {
        ETP_TRY(etp_ab_time_sides(s, s->options.margin, s->arms, &found, &control_differs, err));
    }
    for (uint32_t i = 0; i < 2; i++) {
        ETP_TRY(etp_ab_take_launches(s, &s->sides[i].run, s->sides[i].arm, i, &s->noticed, s->arms,
                                     err));
    }
    ETP_TRY(etp_ab_compare_sides_outputs(s, etp_ab_same_task(s), &s->noticed, s->arms,
                                         &s->ab.correctness, err));
    *comparison = etp_ab_withhold(&s->ab, &found, control_differs, ETP_WITHHELD_NOT);
    return ETP_OK;
}

static etp_status open_bare(etp_ab_session *s, const char *const *paths, size_t n, etp_error *err)
{
    s->ab.arms = s->arms = ETP_NEW_ARRAY(&s->arena, etp_ab_arm, ETP_AB_BARE_DUMPS);
    ETP_TRY(s->options.two_sides
                ? etp_ab_describe_sides(s, paths, s->arms, &s->ab, &s->in, err)
                : etp_ab_describe_dumps(paths, n, ETP_AB_BARE_DUMPS, s->arms, &s->ab, &s->in, err));
    bool both = s->sides[0].dir && s->sides[1].dir;
    bool same = both && strcmp(s->sides[0].dir, s->sides[1].dir) == 0;
    for (int i = 0; i < (same ? 1 : 2); i++) {
        if (s->sides[i].dir) {
            ETP_TRY(notice_altered(s, &s->sides[i].run, err));
        }
    }
    ETP_TRY(load(s, err));
    etp_ab *ab = &s->ab;
    for (uint32_t a = 0; a < ab->n_arms && ab->bare && !ab->emulated; a++) {
        etp_ab_tell_mean(ab, a, &s->noticed);
    }
    etp_ab_comparison *all = ETP_NEW_ARRAY(&s->arena, etp_ab_comparison, ab->n_arms);
    size_t n_all = 0;
    double before = etp_known_ns(ab->arms[ab->baseline].traced_ns);
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        if (a == ab->baseline) {
            continue;
        }
        double after = etp_known_ns(ab->arms[a].traced_ns);
        bool tensors = ab->arms[ab->baseline].tensors_logged || ab->arms[a].tensors_logged;
        bool lengths = ab->arms[ab->baseline].several_lengths || ab->arms[a].several_lengths;
        // Recordings of a run folder, whose launches tell that others had the CPU.
        double waited = fmax(ab->arms[ab->baseline].waited, ab->arms[a].waited);
        etp_withheld withheld = ETP_WITHHELD_NOT;
        if (ab->emulated) {
            withheld = ETP_WITHHELD_EMULATED;
        } else if (tensors) {
            withheld = ETP_WITHHELD_TENSORS;
        } else if (lengths) {
            withheld = ETP_WITHHELD_LENGTHS;
        } else if (waited > ETP_WAIT_MOST) {
            withheld = ETP_WITHHELD_CONTENDED;
        }
        bool known = withheld == ETP_WITHHELD_NOT && before > 0 && after > 0;
        all[n_all++] = (etp_ab_comparison){
            .baseline = ab->baseline,
            .candidate = a,
            // A ratio of the means that its parts add up to. Recordings have no blocks, so there is
            // no interval and no verdict.
            .estimate = etp_value_if(known, before / after),
            .withheld = withheld,
            .lo = NAN,
            .hi = NAN,
            .widening = 1,
            .method = ETP_TRACED_MEANS,
            .sign_flip_p = NAN,
            .verdict = ETP_VERDICT_UNKNOWN,
            .margin = ETP_MARGIN_DEFAULT,
            .noise_floor = NAN,
            .mann_whitney_p = NAN,
            .cliffs_delta = NAN,
        };
    }
    if (both) {
        ETP_TRY(judge_sides(s, all, err));
    }
    ab->comparisons = s->comparisons = all;
    ab->n_comparisons = n_all;
    return ETP_OK;
}

// ---- why ----

// Each pair gets the answer of a session of its two arms alone, so that its outputs, proofs, noise
// and lost launches decide what is given of it, and not those of another model. The baseline's own
// pairs stand among the comparisons, by the blocks that all arms have in common.
static etp_status compare_within(etp_ab_session *s, etp_error *err)
{
    etp_ab *ab = &s->ab;
    etp_ab_comparison *within = ETP_NEW_ARRAY(&s->arena, etp_ab_comparison, ab->n_arms + 1);
    ab->within = within;
    for (uint32_t a = 0; s->has_run && !is_pair(s) && !ab->emulated && a < ab->n_arms; a++) {
        const uint32_t reference = etp_ab_reference_within(ab, a);
        if (reference == ETP_NO_INDEX || ab->arms[reference].launches == 0 ||
            ab->arms[a].launches == 0) {
            continue;
        }
        const etp_ab_options how = {
            .margin = s->options.margin, .part = {.whole = s, .arms = {reference, a}}
        };
        etp_ab_session *alone = NULL;
        ETP_TRY(etp_ab_open(&ab->dir, 1, &how, &alone, err));
        if (alone->ab.n_comparisons > 0) {
            etp_ab_comparison found = alone->ab.comparisons[0];
            found.baseline = reference;
            found.candidate = a;
            for (size_t i = 0; i < ab->n_comparisons && reference == ab->baseline; i++) {
                if (s->comparisons[i].candidate == a && s->comparisons[i].blocks < found.blocks) {
                    s->comparisons[i] = found;
                }
            }
            if (reference != ab->baseline) {
                within[ab->n_within++] = found;
            }
        }
        etp_ab_close(alone);
    }
    return ETP_OK;
}

static etp_status answer(etp_ab_session *s, const char *const *paths, size_t n_paths,
                         etp_error *err)
{
    const etp_ab_options *options = &s->options;
    if (options->two_sides) {
        ETP_TRY(etp_ab_open_sides(&s->arena, paths, s->sides, err));
        ETP_TRY(pair_of_sides(s, err));
    }
    const bool pair = options->two_sides && options->part.whole;
    const char *dir = pair ? s->sides[0].dir : paths[0];
    ETP_TRY(pair || (!options->two_sides && n_paths == 1 && etp_run_is(dir))
                ? open_run(s, dir, err)
                : open_bare(s, paths, n_paths, err));
    if (pair) { // its rows are numbered for these two arms: the folder's are others
        s->ab.both_of = s->ab.dir;
        s->ab.dir = NULL;
    }
    if (s->has_run && s->run.phases.n > 0 && s->run.arms.n > 0) {
        // Which phase this is: what is proposed asks for it.
        s->ab.phased = &s->run.phases.items[s->run.arms.items[0].phase];
        s->ab.phase = etp_arena_strdup(&s->arena, s->ab.phased->name);
    }
    // What follows writes into the answer; what reads it gets it const.
    etp_ab *ab = &s->ab;
    const char *const *names = etp_ab_arm_names(ab);
    for (size_t a = 0; a < ab->n_arms; a++) {
        s->arms[a].measured = names[a];
        s->arms[a].level_called = etp_ab_level_called(ab, &ab->arms[a], ab->arena);
        if (is_pair(s)) { // an arm has one name, whichever others stand beside it
            const etp_ab_arm *same = &options->part.whole->ab.arms[options->part.arms[a]];
            s->arms[a].measured = same->measured;
            s->arms[a].level_called = same->level_called;
        }
    }
    ETP_TRY(compare_within(s, err));
    etp_ab_name(ab, ab);
    ab->unrelated = etp_ab_unrelated(ab);
    etp_ab_take_logged(ab, &ab->logged_unlike);
    etp_ab_operator *operators = etp_ab_align(ab, ab);
    etp_ab_categorize(ab, &ab->categories, &ab->n_categories);
    etp_ab_find_shifts(ab, s->comparisons);
    etp_engage *engaged = ETP_NEW_ARRAY(&s->arena, etp_engage, ab->n_operators + 1);
    etp_ab_engage(s, &ab->engagement, engaged);
    ETP_TRY(etp_ab_read_roofs(s, options->roofs, &ab->roofs, err));
    for (size_t i = 0; i < ab->n_operators; i++) {
        operators[i].engaged = engaged[i];
        if (ab->roofs) {
            etp_ab_place_roofs(ab, i, &operators[i].roofs);
        }
    }
    for (uint32_t a = 0; ab->roofs && a < ab->n_arms; a++) {
        const etp_ab_operator *worst;
        ab->roofs_low = ab->roofs_low || etp_ab_above_roof(ab, a, &worst) >= ETP_ROOF_MANY;
    }
    ab->bottleneck_arm = etp_ab_subject(ab);
    etp_ab_find_makers(ab, operators);
    etp_ab_find_bottlenecks(ab, operators, ab);
    for (size_t i = 0; i < ab->n_operators; i++) {
        operators[i].why = etp_ab_why(ab, &ab->operators[i]);
    }
    etp_ab_find_load_fixes(ab, ab);
    ETP_TRY(etp_ab_next_fixes(ab, ab, err));
    ETP_TRY(open_phases(s, err));
    return etp_ab_judge(s, ab, err);
}

// What is opened on the way stands in the session, which its opener closes.
static etp_status guarded_answer(etp_ab_session *s, const char *const *paths, size_t n_paths,
                                 etp_error *err)
{
    ETP_GUARDED(&s->arena, err, "answer", answer(s, paths, n_paths, err));
}

etp_status etp_ab_open(const char *const *paths, size_t n_paths, const etp_ab_options *options,
                       etp_ab_session **out, etp_error *err)
{
    etp_error local = {.offset = ETP_NO_OFFSET};
    err = err ? err : &local;
    *out = NULL;
    etp_arena arena = {0};
    etp_ab_session *s = ETP_NEW(&arena, etp_ab_session);
    ETP_NEED(s, err, "answer");
    // The session lives in the arena that it holds: it was made in a local one, which moves into
    // it.
    s->arena = arena;
    s->noticed.arena = s->ab.arena = &s->arena;
    if (options) {
        s->options = *options;
    }
    etp_status st = guarded_answer(s, paths, n_paths, err);
    if (st != ETP_OK) {
        etp_ab_close(s);
        return st;
    }
    *out = s;
    return ETP_OK;
}
