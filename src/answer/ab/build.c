// SPDX-License-Identifier: Apache-2.0
// Building an etp_ab from a run folder or from bare dumps.
#include "answer/ab/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/ab/session.h"

static const char *text_or_null(etp_ab_session *s, etp_str t)
{
    return t.len ? etp_arena_strdup(&s->arena, t) : NULL;
}

// ---- run folder ----

static etp_status take_device(etp_ab_session *s, etp_error *err)
{
    const etp_run *run = &s->run;
    etp_ab *ab = &s->ab;
    ab->platform = text_or_null(s, run->platform);
    ab->emulated = run->emulated;
    ab->executorch_version = text_or_null(s, run->executorch.version);
    ab->executorch_sha = text_or_null(s, run->executorch.sha);
    ab->command = text_or_null(s, run->command);
    ab->config = text_or_null(s, run->config);
    ab->tool_version = text_or_null(s, run->tool_version);
    ab->state = etp_run_state_name(run->state);
    ab->signal = run->signal;
    ab->stopped = text_or_null(s, run->stopped);
    ab->precision = run->precision;
    ab->selftest = text_or_null(s, run->selftest);
    ab->device = ETP_NEW_ARRAY(&s->arena, etp_ab_fact, run->facts.n + 1);
    if (!ab->device) {
        return etp_fail_nomem(err, "device");
    }
    for (size_t i = 0; i < run->facts.n; i++) {
        etp_ab_fact fact = {etp_arena_strdup(&s->arena, run->facts.items[i].key),
                            etp_arena_strdup(&s->arena, run->facts.items[i].value)};
        if (!fact.key || !fact.value) {
            return etp_fail_nomem(err, "device");
        }
        ab->device[ab->n_device++] = fact;
    }
    return ETP_OK;
}

static etp_status take_models(etp_ab_session *s, etp_error *err)
{
    const etp_run *run = &s->run;
    s->ab.models = ETP_NEW_ARRAY(&s->arena, etp_ab_model, run->models.n + 1);
    if (!s->ab.models) {
        return etp_fail_nomem(err, "models");
    }
    for (size_t i = 0; i < run->models.n; i++) {
        s->ab.models[s->ab.n_models++] =
            (etp_ab_model){text_or_null(s, run->models.items[i].path),
                           text_or_null(s, run->models.items[i].sha256),
                           text_or_null(s, run->models.items[i].stem)};
    }
    s->ab.title = run->models.n ? text_or_null(s, run->models.items[0].stem) : NULL;
    s->ab.title = s->ab.title ? s->ab.title : "run";
    return ETP_OK;
}

static etp_status take_arms(etp_ab_session *s, etp_error *err)
{
    const etp_run *run = &s->run;
    s->ab.arms = ETP_NEW_ARRAY(&s->arena, etp_ab_arm, run->arms.n + 1);
    if (!s->ab.arms) {
        return etp_fail_nomem(err, "arms");
    }
    for (size_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *in = &run->arms.items[i];
        etp_ab_arm arm = {
            .name = etp_arena_strdup(&s->arena, in->name),
            .level_name = text_or_null(s, in->level),
            .threads = in->threads,
            .model = in->model,
            .runner_sha256 = text_or_null(s, in->runner_sha256),
            .emulated = in->emulated,
            .lo_ns = NAN,
            .hi_ns = NAN,
            .median_ns = ETP_NS_UNKNOWN,
            .traced_ns = ETP_NS_UNKNOWN,
            .traced_mean_ns = ETP_NS_UNKNOWN,
            .around_ns = ETP_NS_UNKNOWN,
            .load_ns = ETP_NS_UNKNOWN,
            .first_ns = ETP_NS_UNKNOWN,
            .peak_rss_bytes = ETP_NS_UNKNOWN,
        };
        if (!arm.name) {
            return etp_fail_nomem(err, "arms");
        }
        arm.level = arm.level_name ? etp_level_find(ETP_ISA_NONE, arm.level_name) : ETP_LEVEL_NONE;
        s->ab.arms[s->ab.n_arms++] = arm;
    }
    for (size_t i = 0; i < run->dumps.n; i++) {
        const etp_run_dump *d = &run->dumps.items[i];
        const char *dir = etp_arena_strdup(&s->arena, run->dir);
        etp_ab_dump dump = {.path = dir ? etp_run_path(&s->arena, dir, d->path) : NULL,
                            .arm = d->arm,
                            .block = d->block};
        if (!dump.path || !ETP_PUSH(&s->arena, &s->dumps, dump)) {
            return etp_fail_nomem(err, "dumps");
        }
    }
    for (size_t i = 0; i < run->lost.n; i++) {
        const etp_run_lost *l = &run->lost.items[i];
        etp_ab_lost lost = {
            .arm = l->arm < s->ab.n_arms ? s->ab.arms[l->arm].name : "?",
            .block = l->block,
            .text = etp_arena_printf(&s->arena, "%s launch: %s%s%.*s",
                                     etp_launch_kind_name(l->kind), etp_lost_reason_name(l->reason),
                                     l->detail.len ? ": " : "", ETP_STR_ARG(l->detail)),
            .recovered = l->recovered,
        };
        s->ab.block_lost = s->ab.block_lost || !l->recovered;
        if (!lost.text || !ETP_PUSH(&s->arena, &s->ab.lost, lost)) {
            return etp_fail_nomem(err, "lost launches");
        }
    }
    return ETP_OK;
}

// The level that a dump's name ends in ("arm64_neon"), only to choose a baseline by.
static etp_level level_in_name(const char *name)
{
    const char *last = name;
    for (const char *p = name; *p; p++) {
        last = strchr("._-/", *p) && p[1] ? p + 1 : last;
    }
    return etp_level_find(ETP_ISA_NONE, last);
}

static etp_status choose_baseline(etp_ab_session *s, const etp_ab_options *options, etp_error *err)
{
    etp_ab *ab = &s->ab;
    etp_arm_name *names = ETP_NEW_ARRAY(&s->arena, etp_arm_name, ab->n_arms);
    if (!names) {
        return etp_fail_nomem(err, "arms");
    }
    for (size_t i = 0; i < ab->n_arms; i++) {
        // etp_level is in order within its family, best first.
        etp_level level = ab->bare ? level_in_name(ab->arms[i].name) : ab->arms[i].level;
        names[i] = (etp_arm_name){etp_str_from(ab->arms[i].name),
                                  level != ETP_LEVEL_NONE ? (int)level : -1};
    }
    etp_str wanted = etp_str_from(options->baseline);
    // A dump may also be named by its whole stem, or by any part of its end that holds its name.
    for (size_t i = 0; wanted.len && i < ab->n_arms; i++) {
        etp_str full = etp_str_from(ab->arms[i].full_name);
        if (full.len && wanted.len >= strlen(ab->arms[i].name) && etp_str_ends(full, wanted)) {
            wanted = etp_str_from(ab->arms[i].name);
            break;
        }
    }
    if (!wanted.len && s->has_run && s->run.baseline < ab->n_arms) {
        wanted = etp_str_from(ab->arms[s->run.baseline].name);
    }
    ETP_TRY(etp_choose_baseline(names, ab->n_arms, wanted, (etp_str){0}, &ab->baseline, err));
    ab->shown = ETP_NEW_ARRAY(&s->arena, uint32_t, ab->n_arms);
    if (!ab->shown) {
        return etp_fail_nomem(err, "arms");
    }
    size_t at = 0;
    ab->shown[at++] = ab->baseline;
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        if (i != ab->baseline) {
            ab->shown[at++] = i;
        }
    }
    return ETP_OK;
}

static etp_sample_use use_of(etp_phase phase)
{
    return phase == ETP_PHASE_TIMED     ? ETP_SAMPLE_TIMED
           : phase == ETP_PHASE_CONTROL ? ETP_SAMPLE_CONTROL
           : phase == ETP_PHASE_TRACED  ? ETP_SAMPLE_TRACED
                                        : ETP_SAMPLE_UNUSED;
}

etp_sample etp_ab_sample_of(const etp_run_sample *in)
{
    return (etp_sample){in->arm,       in->block,         in->launch,
                        in->iteration, use_of(in->phase), in->duration_ns};
}

etp_stats_options etp_ab_stats_options(const etp_run *run, uint32_t baseline, double margin)
{
    return (etp_stats_options){.baseline = baseline,
                               .margin = margin,
                               .seed = run->seed,
                               .sequential = run->precision > 0};
}

etp_status etp_ab_samples_of(const etp_run *run, etp_arena *arena, etp_sample **out, etp_error *err)
{
    *out = ETP_NEW_ARRAY(arena, etp_sample, run->samples.n);
    if (!*out) {
        return etp_fail_nomem(err, "samples");
    }
    for (size_t i = 0; i < run->samples.n; i++) {
        (*out)[i] = etp_ab_sample_of(&run->samples.items[i]);
    }
    return ETP_OK;
}

static etp_status run_statistics(etp_ab_session *s, const etp_ab_options *options, etp_error *err)
{
    const etp_run *run = &s->run;
    etp_sample *samples;
    size_t timed = 0;
    ETP_TRY(etp_ab_samples_of(run, &s->arena, &samples, err));
    for (size_t i = 0; i < run->samples.n; i++) {
        timed += samples[i].use == ETP_SAMPLE_TIMED;
    }
    if (timed == 0) {
        return ETP_OK;
    }
    etp_stats_options o = etp_ab_stats_options(run, s->ab.baseline, options->margin);
    ETP_TRY(etp_stats_analyze(samples, run->samples.n, (uint32_t)s->ab.n_arms, &o, &s->arena,
                              &s->stats, err));
    s->has_stats = true;
    return ETP_OK;
}

static int64_t rounded(double v)
{
    return isfinite(v) ? llround(v) : ETP_NS_UNKNOWN;
}

// Medians over the timed launches of what the runner reports once per process.
etp_status etp_ab_take_launches(etp_ab_session *s, const etp_run *run, uint32_t run_arm,
                                uint32_t at, etp_error *err)
{
    double *v[3];
    size_t n[3] = {0};
    for (int k = 0; k < 3; k++) {
        v[k] = ETP_NEW_ARRAY(&s->arena, double, run->launches.n);
        if (!v[k]) {
            return etp_fail_nomem(err, "launches");
        }
    }
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        const uint64_t fields[3] = {l->load_ns, l->first_ns, l->peak_rss_bytes};
        for (int k = 0; k < 3 && l->arm == run_arm && l->kind == ETP_LAUNCH_TIMED; k++) {
            if (fields[k]) {
                v[k][n[k]++] = (double)fields[k];
            }
        }
    }
    etp_ab_arm *arm = &s->ab.arms[at];
    arm->load_ns = rounded(etp_median(v[0], n[0]));
    arm->first_ns = rounded(etp_median(v[1], n[1]));
    arm->peak_rss_bytes = rounded(etp_median(v[2], n[2]));
    return ETP_OK;
}

etp_status etp_ab_take_statistics(etp_ab_session *s, etp_error *err)
{
    etp_ab *ab = &s->ab;
    const etp_stats *st = &s->stats;
    double *column = ETP_NEW_ARRAY(&s->arena, double, st->n_blocks_seen + 1);
    ab->block_values = ETP_NEW_ARRAY(&s->arena, double, (size_t)st->n_blocks_seen * ab->n_arms + 1);
    if (!column || !ab->block_values) {
        return etp_fail_nomem(err, "statistics");
    }
    ab->n_blocks = st->n_blocks_seen;
    for (size_t a = 0; a < ab->n_arms; a++) {
        ab->arms[a].launches = st->arms[a].launches;
        ab->arms[a].samples = st->arms[a].iterations;
        ab->arms[a].median_ns = st->arms[a].median_ns < 0 ? ETP_NS_UNKNOWN : st->arms[a].median_ns;
        size_t n = 0;
        for (uint32_t b = 0; b < st->n_blocks_seen; b++) {
            double ln = st->value_ln[(size_t)b * ab->n_arms + a];
            ab->block_values[(size_t)b * ab->n_arms + a] = exp(ln);
            if (st->block_complete[b] && isfinite(ln)) {
                column[n++] = ln;
            }
        }
        etp_interval ci = {NAN, NAN, NAN};
        if (n) {
            ci = etp_mean_interval(column, n, ETP_CONFIDENCE);
        }
        ab->arms[a].lo_ns = exp(ci.lo);
        ab->arms[a].hi_ns = exp(ci.hi);
    }
    ab->comparisons = ETP_NEW_ARRAY(&s->arena, etp_ab_comparison, st->n_comparisons + 1);
    if (!ab->comparisons) {
        return etp_fail_nomem(err, "comparisons");
    }
    for (uint32_t i = 0; i < st->n_comparisons; i++) {
        const etp_stats_comparison *c = &st->comparisons[i];
        ab->comparisons[ab->n_comparisons++] = (etp_ab_comparison){
            .baseline = c->baseline,
            .candidate = c->candidate,
            .estimate = c->paired.estimate,
            .lo = c->paired.lo,
            .hi = c->paired.hi,
            .blocks = c->paired.blocks,
            .widening = c->paired.widening,
            .method = "paired-blocks",
            .sign_flip_p = c->paired.sign_flip_p,
            .verdict = etp_verdict_name(c->paired.verdict),
            .margin = st->margin,
            .noise_floor = st->noise_floor,
            .control = st->control,
            .control_blocks = st->control_blocks,
            .mann_whitney_p = NAN,
            .cliffs_delta = NAN,
        };
    }
    return ETP_OK;
}

// Proof of every arm; arms of the answer are those of the run.
static etp_status prove(etp_ab_session *s, etp_error *err)
{
    uint32_t *same = ETP_NEW_ARRAY(&s->arena, uint32_t, s->ab.n_arms);
    if (!same) {
        return etp_fail_nomem(err, "proof");
    }
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        same[a] = a;
        ETP_TRY(etp_ab_prove_arm(s, &s->run, a, a, err));
    }
    return etp_ab_prove_by_samples(s, &s->run, same, err);
}

static etp_status open_run(etp_ab_session *s, const char *dir, const etp_ab_options *options,
                           etp_error *err)
{
    ETP_TRY(options->pair ? etp_ab_take_pair(s, options->pair, err)
                          : etp_run_open(dir, &s->arena, &s->run, err));
    s->has_run = true;
    s->ab.dir = dir;
    ETP_TRY(take_device(s, err));
    ETP_TRY(take_models(s, err));
    ETP_TRY(take_arms(s, err));
    if (s->ab.n_arms == 0) {
        return etp_fail(err, ETP_CORRUPT, "%s has no arms", dir);
    }
    ETP_TRY(choose_baseline(s, options, err));
    ETP_TRY(etp_ab_open_programs(s, options, err));
    ETP_TRY(etp_ab_load_dumps(s, err));
    ETP_TRY(etp_ab_split_arms(s, err));
    ETP_TRY(run_statistics(s, options, err));
    if (options->pair) {
        etp_ab_take_control(s, options->pair);
    }
    if (s->has_stats) {
        ETP_TRY(etp_ab_take_statistics(s, err));
    }
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        ETP_TRY(etp_ab_take_launches(s, &s->run, a, a, err));
    }
    ETP_TRY(prove(s, err));
    ETP_TRY(etp_ab_compare_outputs(s, err));
    etp_ab_withhold(s, s->has_stats && s->stats.control_differs,
                    options->pair ? options->pair->withheld : NULL);
    ETP_TRY(etp_ab_states(s, err));
    ETP_TRY(etp_ab_take_ends(s, err));
    ETP_TRY(etp_ab_count(s, err));
    ETP_TRY(etp_ab_drifts(s, err));
    ETP_TRY(etp_ab_take_environment(s, &s->run, err));
    return ETP_OK;
}

// ---- bare dumps ----

static etp_status open_bare(etp_ab_session *s, const char *const *paths, size_t n,
                            const etp_ab_options *options, etp_error *err)
{
    etp_ab *ab = &s->ab;
    ab->bare = true;
    s->two_sides = options->two_sides;
    ab->correctness = (etp_ab_correctness){-1, NAN, NAN, NAN, NAN};
    ETP_TRY(options->two_sides ? etp_ab_collect_sides(s, paths, options, err)
                               : etp_ab_collect_dumps(s, paths, n, err));
    for (size_t i = 0; i < ab->n_arms; i++) {
        ab->arms[i].lo_ns = ab->arms[i].hi_ns = NAN;
        ab->arms[i].expected = ab->correctness;
    }
    etp_ab_options chosen = *options;
    chosen.baseline = options->two_sides ? ab->arms[0].name : options->baseline;
    ETP_TRY(choose_baseline(s, &chosen, err));
    ETP_TRY(etp_ab_open_programs(s, options, err));
    ETP_TRY(etp_ab_load_dumps(s, err));
    ETP_TRY(etp_ab_split_arms(s, err));
    ab->title = n == 1 ? paths[0] : etp_ab_sides_title(s);
    const char *slash = strrchr(ab->title, '/');
    ab->title = slash && slash[1] ? slash + 1 : ab->title;
    ab->comparisons = ETP_NEW_ARRAY(&s->arena, etp_ab_comparison, ab->n_arms);
    if (!ab->comparisons) {
        return etp_fail_nomem(err, "comparisons");
    }
    double before = ab->arms[ab->baseline].traced_median_ns;
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        if (a == ab->baseline) {
            continue;
        }
        double after = ab->arms[a].traced_median_ns;
        ab->comparisons[ab->n_comparisons++] = (etp_ab_comparison){
            .baseline = ab->baseline,
            .candidate = a,
            .estimate = before > 0 && after > 0 ? before / after : (double)NAN,
            .lo = NAN,
            .hi = NAN,
            .widening = 1,
            .method = "traced-medians",
            .sign_flip_p = NAN,
            .verdict = etp_verdict_name(ETP_VERDICT_UNKNOWN),
            .margin = ETP_MARGIN_DEFAULT,
            .noise_floor = NAN,
            .mann_whitney_p = NAN,
            .cliffs_delta = NAN,
        };
    }
    return options->two_sides ? etp_ab_judge_sides(s, options, err) : ETP_OK;
}

etp_status etp_ab_open(const char *const *paths, size_t n_paths, const etp_ab_options *options,
                       etp_ab_session **out, etp_error *err)
{
    static const etp_ab_options k_defaults = {0};
    etp_error local = {.offset = ETP_NO_OFFSET};
    err = err ? err : &local;
    *out = NULL;
    etp_arena arena = {0};
    etp_ab_session *s = ETP_NEW(&arena, etp_ab_session);
    if (!s) {
        return etp_fail_nomem(err, "answer");
    }
    s->arena = arena;
    s->ab.arena = &s->arena;
    options = options ? options : &k_defaults;
    etp_status st = !options->two_sides && n_paths == 1 && etp_run_is(paths[0])
                        ? open_run(s, paths[0], options, err)
                        : open_bare(s, paths, n_paths, options, err);
    if (st == ETP_OK) {
        st = etp_ab_name_arms(s, err);
    }
    if (st == ETP_OK) {
        st = etp_ab_explain(s, err);
    }
    if (st == ETP_OK) {
        ETP_TRY(etp_ab_engage(s, err));
        st = etp_ab_place_roofs(s, options->roofs, err);
    }
    if (st == ETP_OK) {
        st = etp_ab_find_hot(s, err);
    }
    if (st == ETP_OK) {
        st = etp_ab_next_fixes(s, err);
    }
    if (st == ETP_OK) {
        st = etp_ab_judge(s, err);
    }
    if (st != ETP_OK) {
        etp_ab_close(s);
        return st;
    }
    *out = s;
    return ETP_OK;
}

const etp_ab *etp_ab_answer(const etp_ab_session *session)
{
    return &session->ab;
}

const etp_run *etp_ab_run(const etp_ab_session *session)
{
    return session->has_run ? &session->run : NULL;
}

void etp_ab_close(etp_ab_session *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->dumps.n; i++) {
        etp_trace_close(s->dumps.items[i].trace);
        etp_file_close(&s->dumps.items[i].file);
    }
    etp_ab_close_programs(s);
    etp_arena arena = s->arena; // the session itself lives in it
    etp_arena_dispose(&arena);
}
