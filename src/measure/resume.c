// SPDX-License-Identifier: Apache-2.0
// Going on with a session that was interrupted, and planning one again.

#include "measure/foreign.h"
#include "measure/state.h"

// ---- options of an old session ----

typedef struct text_set { // in order of first appearance
    const char **items;
    size_t n, cap;
} text_set;

typedef struct number_set {
    uint32_t *items;
    size_t n, cap;
} number_set;

// Levels, threads and names of a session stand in its manifest once for each arm: here each once,
// in the order in which they appear, which is the order of the plan.
static void add_text(text_set *set, etp_str s, etp_arena *arena)
{
    for (size_t i = 0; i < set->n; i++) {
        if (etp_str_eqz(s, set->items[i])) {
            return;
        }
    }
    ETP_ADD(arena, set, etp_arena_strdup(arena, s));
}

static void add_number(number_set *set, uint32_t v, etp_arena *arena)
{
    for (size_t i = 0; i < set->n; i++) {
        if (set->items[i] == v) {
            return;
        }
    }
    ETP_ADD(arena, set, v);
}

// Runners that are not ours, one for all arms or one per level.
static etp_status options_runners(const etp_run *run, size_t n_levels, size_t n_threads,
                                  etp_arena *arena, etp_session_plan_options *out, etp_error *err)
{
    if (run->arms.n == 0 || run->arms.items[0].runner.len == 0) {
        return ETP_OK;
    }
    // The first arm of each level stands for it: runners are given by level.
    const char **runners = ETP_NEW_ARRAY(arena, const char *, n_levels);
    bool differ = false;
    ETP_NEED(runners, err, "the plan");
    for (size_t l = 0; l < n_levels; l++) {
        etp_str runner = run->arms.items[l * n_threads].runner;
        runners[l] = etp_arena_strdup(arena, runner);
        differ = differ || !etp_str_eq(runner, run->arms.items[0].runner);
    }
    out->runners = runners;
    out->n_runners = differ ? n_levels : 1;
    return ETP_OK;
}

static etp_status options_builds(const etp_run *run, etp_arena *arena,
                                 etp_session_plan_options *out, etp_error *err)
{
    const char **paths = ETP_NEW_ARRAY(arena, const char *, 2);
    ETP_NEED(paths, err, "the plan");
    if (run->builds.n != 2) {
        return etp_fail(err, ETP_CORRUPT, "\"builds\" must list two builds, or be absent");
    }
    for (size_t i = 0; i < 2; i++) {
        paths[i] = etp_arena_strdup(arena, run->builds.items[i].path);
    }
    out->builds = paths;
    out->baseline = NULL;
    if (!run->builds.items[0].own) {
        out->runners = paths;
        out->n_runners = 2;
    }
    return ETP_OK;
}

etp_status etp_plan_options_of(const etp_run *run, etp_arena *arena, etp_session_plan_options *out,
                               etp_error *err)
{
    text_set models = {0}, levels = {0}, names = {0};
    number_set threads = {0}, caches = {0};
    for (size_t i = 0; i < run->models.n; i++) {
        ETP_ADD(arena, &models, etp_arena_strdup(arena, run->models.items[i].path));
    }
    for (size_t i = 0; i < run->arms.n; i++) {
        add_text(&levels, run->arms.items[i].level, arena);
        add_number(&threads, run->arms.items[i].threads, arena);
        add_text(&names, run->arms.items[i].name, arena);
        if (run->arms.items[i].cache) {
            add_number(&caches, run->arms.items[i].cache, arena);
        }
    }
    ETP_TRY(etp_arena_check(arena, err, "the plan")); // each arm is looked up in them
    // Only the arms are in the manifest, not the options that made them. When arms made from the
    // options below would be others, the session cannot be planned again.
    // The plan makes arms in the order models × levels × threads: those of the run must be that.
    size_t at = 0, phases = ETP_MAX(run->phases.n, 1);
    size_t sides = ETP_MAX(caches.n, 1);
    sides = run->builds.n > 0 ? run->builds.n : sides;
    bool same = run->arms.n == phases * run->models.n * levels.n * threads.n * sides;
    for (uint32_t k = 0; same && k < phases * run->models.n; k++) {
        uint32_t m = k % (uint32_t)run->models.n;
        for (size_t l = 0; l < levels.n; l++) {
            for (size_t t = 0; t < threads.n * sides; t++, at++) {
                const etp_run_arm *a = &run->arms.items[at];
                same = same && a->model == m && etp_str_eqz(a->level, levels.items[l]) &&
                       a->threads == threads.items[t / sides] &&
                       (caches.n > 0 ? a->cache == caches.items[t % sides] : a->side == t % sides);
            }
        }
    }
    if (!same) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "the arms of this session cannot be planned again: they are not models x "
                        "levels x threads");
    }
    for (size_t i = 0; i < levels.n; i++) { // the builds say it again
        levels.items[i] = etp_level_unsaid(levels.items[i]);
    }
    etp_packed_cache *states = ETP_NEW_ARRAY(arena, etp_packed_cache, caches.n + 1);
    ETP_NEED(states, err, "the plan");
    for (size_t i = 0; i < caches.n; i++) {
        states[i] = (etp_packed_cache)caches.items[i];
    }
    // The baseline by name: a rule that chose it once could choose another one in a later version.
    *out = (etp_session_plan_options){.models = models.items,
                                      .n_models = models.n,
                                      .levels = levels.items,
                                      .n_levels = levels.n,
                                      .threads = threads.items,
                                      .n_threads = threads.n,
                                      .caches = states,
                                      .n_caches = caches.n,
                                      .names = names.items,
                                      .n_names = names.n,
                                      .baseline = names.items[run->baseline],
                                      .settings = run->settings,
                                      .no_control = run->control_blocks == 0};
    ETP_TRY(run->builds.n > 0 ? options_builds(run, arena, out, err)
                              : options_runners(run, levels.n, threads.n, arena, out, err));
    return etp_arena_check(arena, err, "the plan");
}

// ---- taking up ----

static etp_status changed(const char *what, etp_error *err)
{
    return etp_fail(err, ETP_USAGE, "%s changed since this session began: start a new one", what);
}

// Blocks of two experiments cannot be paired: whatever an answer depends on must be what it was.
static etp_status check_same(const etp_session *s, const etp_run *old, etp_error *err)
{
    const etp_session_plan *p = s->plan;
    if (old->models.n != p->n_models || old->arms.n != p->n_arms ||
        old->settings.seed != p->settings.seed) {
        return changed("the plan", err);
    }
    for (size_t i = 0; i < p->n_models; i++) {
        if (!etp_str_eq(old->models.items[i].sha256, p->models[i].sha256)) {
            return changed("a model", err);
        }
    }
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const etp_run_arm *a = &old->arms.items[i];
        if (!etp_str_eqz(a->name, p->arms[i].name) ||
            !etp_str_eqz(a->level, p->arms[i].level_name)) {
            return changed("the plan", err);
        }
        if (!etp_str_eqz(a->runner_sha256, etp_session_runner_hash(s, i))) {
            return changed("the runner", err);
        }
    }
    for (size_t i = 0; i < old->phases.n; i++) {
        etp_str was = old->phases.items[i].steps_sha256; // empty: by an older etprof
        if (i >= p->n_phases || (was.len > 0 && !etp_str_eq(was, p->phases[i].run.steps_sha256))) {
            return changed("what the phases call", err);
        }
    }
    const struct {
        const char *what;
        etp_str was, is;
    } k_files[] = {
        {"a data file",                   old->hashes.data,        p->hashes.data       },
        {"an input",                      old->hashes.inputs,      p->hashes.inputs     },
        {"the library of --custom-ops",   old->hashes.kernels_lib, p->hashes.kernels_lib},
        {"the tokenizer",                 old->hashes.tokenizer,   p->hashes.tokenizer  },
        {"a file of the runner's bundle", old->hashes.bundle,      p->hashes.bundle     },
    };
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        if (k_files[i].was.len > 0 && !etp_str_eq(k_files[i].was, k_files[i].is)) {
            return changed(k_files[i].what, err);
        }
    }
    bool same = old->builds.n == p->n_builds;
    for (size_t i = 0; same && i < old->builds.n; i++) {
        same = etp_str_eq(old->builds.items[i].sha256, p->builds[i].sha256);
    }
    if (!same) {
        return changed("a build", err);
    }
    if (!etp_str_eqz(old->device_cpu, p->cpu.text)) {
        return changed("the processor", err);
    }
    return ETP_OK;
}

// A signal leaves the last block as far as it came; its traced launches come last.
static bool cut_short(const etp_run *run, etp_arena *arena)
{
    bool *timed = ETP_NEW_ARRAY(arena, bool, run->arms.n + 1);
    bool *traced = ETP_NEW_ARRAY(arena, bool, run->arms.n + 1);
    for (size_t i = 0; timed && traced && i < run->samples.n; i++) {
        const etp_run_sample *s = &run->samples.items[i];
        if (s->block == run->blocks_done) {
            timed[s->arm] = timed[s->arm] || s->phase == ETP_PHASE_TIMED;
            traced[s->arm] = traced[s->arm] || s->phase == ETP_PHASE_TRACED;
        }
    }
    for (size_t i = 0; i < run->lost.n;
         i++) { // what failed by itself is a finding, and is not repeated
        if (run->lost.items[i].block == run->blocks_done) {
            return false;
        }
    }
    bool cut = false;
    for (size_t a = 0; timed && traced && a < run->arms.n; a++) {
        cut = cut || (timed[a] && !traced[a] && run->arms.items[a].traced > 0);
    }
    return cut;
}

etp_status etp_session_resume(etp_session *s, etp_error *err)
{
    const etp_run *old = s->plan->resume;
    ETP_TRY(check_same(s, old, err));
    s->run = *old;
    size_t n_arms = old->arms.n;
    // A row of arms for each block.
    bool *has = ETP_NEW_ARRAY(&s->arena, bool, (size_t)old->blocks_done *n_arms + 1);
    bool *never =
        ETP_NEW_ARRAY(&s->arena, bool, n_arms + 1); // an arm that only failed misses in every block
    ETP_NEED(has && never, err, "the session");
    s->incomplete = 0;
    for (size_t i = 0; i < old->lost.n; i++) {
        never[old->lost.items[i].arm] = true;
    }
    for (size_t i = 0; i < old->samples.n; i++) {
        const etp_run_sample *one = &old->samples.items[i];
        if (one->phase == ETP_PHASE_TIMED) {
            has[(one->block - 1) * n_arms + one->arm] = true;
            never[one->arm] = false;
        }
    }
    for (uint32_t b = 0; b < old->blocks_done; b++) {
        bool whole = true;
        for (size_t a = 0; a < n_arms; a++) {
            whole = whole && (has[b * n_arms + a] || never[a]);
        }
        whole = whole && !(b + 1 == old->blocks_done && cut_short(old, &s->arena));
        s->incomplete += !whole;
    }
    if (old->settings.extended > 0 && old->settings.extended == old->blocks_done) {
        s->incomplete = 0; // they were made up for while it was measured first
    }
    // The order of a block that was begun and not committed is drawn again, the same.
    ETP_TRY(etp_session_take_values(s, old->samples.items, old->samples.n, err));
    size_t known = (size_t)old->blocks_done * n_arms;
    s->run.order.n = ETP_MIN(s->run.order.n, known);
    for (size_t i = 0; i < old->launches.n; i++) {
        const etp_run_launch *l = &old->launches.items[i];
        // Numbers go on behind the largest: a launch number names one process in the whole folder.
        s->next_launch = ETP_MAX(l->launch, s->next_launch);
        // What its runner says from now on is no refusal of the model (task.c): it has worked.
        s->arms[l->arm].succeeded = true;
    }
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        const char *name = etp_run_outputs_name(&s->arena, &s->run.arms.items[i]);
        const char *path = etp_run_path(&s->arena, s->plan->dir, etp_str_from(name));
        s->arms[i].has_outputs = etp_os_is_dir(path);
    }
    return ETP_OK;
}
