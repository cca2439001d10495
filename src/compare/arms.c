// SPDX-License-Identifier: Apache-2.0
// The arms of a run folder, its device and models, and which arm the others are compared with.
#include <math.h>
#include <string.h>

#include "compare/session.h"

const etp_ab_arm k_etp_ab_unknown_arm = {
    .model = ETP_NO_INDEX,
    .lo_ns = NAN,
    .hi_ns = NAN,
    .median_ns = ETP_NS_UNKNOWN,
    .traced_ns = ETP_NS_UNKNOWN,
    .traced_mean_ns = ETP_NS_UNKNOWN,
    .around_ns = ETP_NS_UNKNOWN,
    .load_ns = ETP_NS_UNKNOWN,
    .first_ns = ETP_NS_UNKNOWN,
    .peak_rss_bytes = ETP_NS_UNKNOWN,
    .expected = {-1, NAN, NAN, NAN, NAN},
};

etp_status etp_ab_begin_arms(etp_ab_session *s, size_t most, etp_error *err)
{
    s->ab.arms = s->arms = ETP_NEW_ARRAY(&s->arena, etp_ab_arm, most);
    return s->arms ? ETP_OK : etp_fail_nomem(err, "arms");
}

static const char *text_or_null(etp_ab_session *s, etp_str t)
{
    return t.len ? etp_arena_strdup(&s->arena, t) : NULL;
}

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
    ab->state = run->state;
    ab->signal = run->signal;
    ab->stopped = run->stopped;
    ab->precision = run->settings.precision;
    ab->extended = (uint32_t)run->settings.extended;
    ab->selftest = text_or_null(s, run->selftest);
    etp_ab_fact *device = ETP_NEW_ARRAY(&s->arena, etp_ab_fact, run->facts.n + 1);
    ETP_NEED(device, err, "device");
    for (size_t i = 0; i < run->facts.n; i++) {
        device[i] = (etp_ab_fact){etp_arena_strdup(&s->arena, run->facts.items[i].key),
                                  etp_arena_strdup(&s->arena, run->facts.items[i].value)};
    }
    ab->device = device;
    ab->n_device = run->facts.n;
    return ETP_OK;
}

static etp_status take_models(etp_ab_session *s, etp_error *err)
{
    const etp_run *run = &s->run;
    etp_ab_model *models = ETP_NEW_ARRAY(&s->arena, etp_ab_model, run->models.n + 1);
    ETP_NEED(models, err, "models");
    for (size_t i = 0; i < run->models.n; i++) {
        models[i] = (etp_ab_model){text_or_null(s, run->models.items[i].path),
                                   text_or_null(s, run->models.items[i].sha256),
                                   text_or_null(s, run->models.items[i].stem)};
    }
    s->ab.models = models;
    s->ab.n_models = run->models.n;
    s->ab.title = run->models.n ? text_or_null(s, run->models.items[0].stem) : NULL;
    s->ab.title = s->ab.title ? s->ab.title : "run";
    return ETP_OK;
}

static etp_status take_arms(etp_ab_session *s, etp_error *err)
{
    const etp_run *run = &s->run;
    ETP_TRY(etp_ab_begin_arms(s, run->arms.n + 1, err));
    for (size_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *in = &run->arms.items[i];
        etp_ab_arm arm = k_etp_ab_unknown_arm;
        arm.name = etp_arena_strdup(&s->arena, in->name);
        arm.level_name = text_or_null(s, in->level);
        arm.threads = in->threads;
        arm.model = in->model;
        arm.build = run->builds.n > 0 ? "AB"[in->side] : '\0';
        arm.runner_sha256 = text_or_null(s, in->runner_sha256);
        arm.emulated = in->emulated;
        arm.level = arm.level_name ? etp_level_find(ETP_ISA_NONE, arm.level_name) : ETP_LEVEL_NONE;
        s->arms[s->ab.n_arms++] = arm;
    }
    for (size_t i = 0; i < run->dumps.n; i++) {
        const etp_run_dump *d = &run->dumps.items[i];
        const char *dir = etp_arena_strdup(&s->arena, run->dir);
        etp_ab_dump dump = {.path = dir ? etp_run_path(&s->arena, dir, d->path) : NULL,
                            .arm = d->arm,
                            .block = d->block};
        ETP_ADD(&s->arena, &s->dumps, dump);
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
        ETP_ADD(&s->arena, &s->ab.lost, lost);
    }
    return ETP_OK;
}

etp_status etp_ab_take_run(etp_ab_session *s, etp_error *err)
{
    ETP_TRY(take_device(s, err));
    ETP_TRY(take_models(s, err));
    etp_str at = s->run.generated_at; // "2026-03-01T14:52:03Z"
    if (at.len >= strlen("2026-03-01T14:52") && at.ptr[10] == 'T') {
        s->ab.measured_at = etp_arena_printf(&s->arena, "%.10s %.5s", at.ptr, at.ptr + 11);
    }
    ETP_TRY(take_arms(s, err));
    return etp_arena_check(&s->arena, err, "the run"); // its texts are compared from here on
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

etp_status etp_ab_choose_baseline(etp_ab_session *s, const etp_ab_options *options, etp_error *err)
{
    etp_ab *ab = &s->ab;
    etp_arm_name *names = ETP_NEW_ARRAY(&s->arena, etp_arm_name, ab->n_arms);
    ETP_NEED(names, err, "arms");
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
    uint32_t *shown = ETP_NEW_ARRAY(&s->arena, uint32_t, ab->n_arms);
    ETP_NEED(shown, err, "arms");
    for (uint32_t i = 0; i < ab->n_arms; i++) { // the others after the baseline
        shown[i == ab->baseline ? 0 : i < ab->baseline ? i + 1 : i] = i;
    }
    ab->shown = shown;
    return ETP_OK;
}
