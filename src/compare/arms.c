// SPDX-License-Identifier: Apache-2.0
// The arms of a run folder, its device and models, and which arm the others are compared with.
#include <math.h>
#include <string.h>

#include "compare/session.h"
#include "explain/sampled.h"

const etp_ab_arm k_etp_ab_unknown_arm = {
    .model = ETP_NO_INDEX,
    .waited = NAN,
    .interrupted = NAN,
    .lo_ns = NAN,
    .hi_ns = NAN,
    .median_ns = ETP_NS_UNKNOWN,
    .traced_ns = ETP_NS_UNKNOWN,
    .traced_mean_ns = ETP_NS_UNKNOWN,
    .call_overhead_ns = ETP_NS_UNKNOWN,
    .costs = {ETP_NS_UNKNOWN, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN,
              ETP_NS_UNKNOWN},
    .costs_lo = {NAN, NAN, NAN, NAN, NAN, NAN},
    .costs_hi = {NAN, NAN, NAN, NAN, NAN, NAN},
    .disk_bytes = ETP_NS_UNKNOWN,
    .expected = {-1, NAN, NAN, NAN, NAN, false, false, false},
};

_Static_assert(ETP_COSTS == 6, "each cost of an arm begins as unknown");

static const char *text_or_null(etp_arena *arena, etp_str t)
{
    return t.len ? etp_arena_strdup(arena, t) : NULL;
}

static void describe_device(const etp_run *run, etp_ab *ab)
{
    ab->platform = text_or_null(ab->arena, run->platform);
    ab->emulated = run->emulated;
    ab->executorch_version = text_or_null(ab->arena, run->executorch.version);
    ab->executorch_sha = text_or_null(ab->arena, run->executorch.sha);
    const char *text = text_or_null(ab->arena, run->hashes.bundle);
    for (size_t i = 0; i < run->builds.n; i++) {
        text = etp_arena_printf(ab->arena, "%s,%.*s", ETP_OR(text, ""),
                                ETP_STR_ARG(run->builds.items[i].sha256));
    }
    ab->bundles_sha256 = text;
    ab->command = text_or_null(ab->arena, run->command);
    ab->config = text_or_null(ab->arena, run->config);
    ab->tool_version = text_or_null(ab->arena, run->tool_version);
    ab->state = run->state;
    ab->stopped = run->stopped;
    ab->precision = run->settings.precision;
    ab->blocks_before_extend = (uint32_t)run->settings.extended;
    ab->neighbours = etp_run_has_neighbours(run);
    ab->controls = run->control_blocks;
    ab->selftest = text_or_null(ab->arena, run->selftest);
    etp_detail *device = ETP_NEW_ARRAY(ab->arena, etp_detail, run->facts.n + 1);
    for (size_t i = 0; i < run->facts.n; i++) {
        device[i] = (etp_detail){etp_arena_strdup(ab->arena, run->facts.items[i].key),
                                 etp_arena_strdup(ab->arena, run->facts.items[i].value)};
    }
    ab->device = device;
    ab->n_device = run->facts.n;
}

etp_ab_model etp_ab_model_of(const etp_run_model *m, etp_arena *arena)
{
    return (etp_ab_model){text_or_null(arena, m->path), text_or_null(arena, m->sha256),
                          text_or_null(arena, m->stem), m};
}

// "1.5.1" of "1.5.1+cpu".
static etp_str public_version(etp_str version)
{
    const char *plus = version.len > 0 ? memchr(version.ptr, '+', version.len) : NULL;
    return plus ? (etp_str){version.ptr, (size_t)(plus - version.ptr)} : version;
}

// NULL: not known of both builds, or the same.
static const char *release_of(const etp_run *run, uint32_t side, etp_arena *arena)
{
    if (run->builds.n != 2) {
        return NULL;
    }
    etp_str a = public_version(run->builds.items[0].executorch);
    etp_str b = public_version(run->builds.items[1].executorch);
    if (a.len == 0 || b.len == 0 || etp_str_eq(a, b)) {
        return NULL;
    }
    return etp_arena_strdup(arena, side ? b : a);
}

void etp_ab_describe_arm(const etp_run *run, const etp_run_arm *in, etp_arena *arena,
                         etp_ab_arm *out)
{
    out->name = etp_arena_strdup(arena, in->name);
    out->level_name = text_or_null(arena, in->level);
    out->level = etp_run_arm_level(run, in, arena);
    out->threads = in->threads;
    out->runner_sha256 = text_or_null(arena, in->runner_sha256);
    out->emulated = in->emulated;
    uint64_t program = in->model < run->models.n ? run->models.items[in->model].bytes : 0;
    uint64_t data = run->hashes.data_bytes;
    bool known = program > 0 && program <= INT64_MAX / 2 && data <= INT64_MAX / 2 &&
                 (data > 0 || !run->settings.data);
    out->disk_bytes = known ? (int64_t)(program + data) : ETP_NS_UNKNOWN;
}

static void describe_arms(const etp_run *run, etp_ab_arm *arms, etp_ab *ab, etp_ab_inputs *in)
{
    for (size_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *of = &run->arms.items[i];
        etp_ab_arm arm = k_etp_ab_unknown_arm;
        etp_ab_describe_arm(run, of, ab->arena, &arm);
        arm.model = of->model;
        arm.build = run->builds.n > 0 ? "AB"[of->side] : '\0';
        arm.executorch = release_of(run, of->side, ab->arena);
        arm.cache = of->cache;
        arm.foreign = of->runner.len > 0;
        arms[ab->n_arms++] = arm;
    }
    for (size_t i = 0; i < run->dumps.n; i++) {
        const etp_run_dump *d = &run->dumps.items[i];
        const char *dir = etp_arena_strdup(ab->arena, run->dir);
        etp_ab_dump recording = {
            .path = etp_run_path(ab->arena, dir, d->path), .arm = d->arm, .block = d->block};
        ETP_ADD(ab->arena, &in->recordings, recording);
    }
    const char **texts = ETP_NEW_ARRAY(ab->arena, const char *, run->lost.n + 1);
    for (size_t i = 0; i < run->lost.n; i++) {
        const etp_run_lost *l = &run->lost.items[i];
        texts[i] = etp_arena_printf(ab->arena, "%s launch: %s%s%.*s", etp_launch_kind_name(l->kind),
                                    etp_lost_reason_name(l->reason), etp_if(l->detail.len, ": "),
                                    ETP_STR_ARG(l->detail));
        ab->block_lost = ab->block_lost || !l->recovered;
    }
    ab->lost = run->lost.items;
    ab->lost_texts = texts;
    ab->n_lost = run->lost.n;
}

etp_status etp_ab_describe_run(const etp_ab_session *s, const char *dir, etp_ab_arm *arms,
                               etp_ab *ab, etp_ab_inputs *in, etp_error *err)
{
    const etp_run *run = &s->run;
    etp_arena *arena = ab->arena;
    ab->dir = dir;
    describe_device(run, ab);
    etp_ab_model *models = ETP_NEW_ARRAY(arena, etp_ab_model, run->models.n + 1);
    for (size_t i = 0; i < run->models.n; i++) {
        models[i] = etp_ab_model_of(&run->models.items[i], arena);
    }
    ab->models = models;
    ab->n_models = run->models.n;
    ab->title = run->models.n ? text_or_null(arena, run->models.items[0].stem) : NULL;
    ab->title = ETP_OR(ab->title, "run");
    etp_str at = run->generated_at; // "2026-03-01T14:52:03Z"
    if (at.len >= strlen("2026-03-01T14:52") && at.ptr[10] == 'T') {
        ab->measured_at = etp_arena_printf(arena, "%.10s %.5s", at.ptr, at.ptr + 11);
    }
    describe_arms(run, arms, ab, in);
    return ab->n_arms > 0 ? ETP_OK : etp_fail(err, ETP_CORRUPT, "%s has no arms", dir);
}

// The level that a dump's name ends in ("arm64_neon"), only to choose a baseline by.
static etp_level level_in_name(const char *name)
{
    const char *last = name;
    for (const char *p = name; *p; p++) {
        last = strchr("._-/", *p) && p[1] ? p + 1 : last;
    }
    return etp_level_of_word(last);
}

etp_status etp_ab_choose_baseline(const etp_ab_session *s, const char *asked, etp_ab *out,
                                  etp_error *err)
{
    const etp_ab *ab = &s->ab;
    etp_arm_name *names = ETP_NEW_ARRAY(ab->arena, etp_arm_name, ab->n_arms);
    size_t single = 0;
    for (size_t i = 0; i < ab->n_arms; i++) {
        single += etp_level_hides_one(ab->arms[i].level);
    }
    for (size_t i = 0; i < ab->n_arms; i++) {
        // etp_level is in order within its family, best first.
        etp_level level = ab->bare ? level_in_name(ab->arms[i].name) : ab->arms[i].level;
        names[i] = (etp_arm_name){etp_str_from(ab->arms[i].name),
                                  level != ETP_LEVEL_NONE ? etp_level_rank(level, single) : -1};
    }
    etp_str wanted = etp_str_from(asked);
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
    ETP_TRY(etp_choose_baseline(names, ab->n_arms, wanted, (etp_str){0}, &out->baseline, err));
    uint32_t *shown = ETP_NEW_ARRAY(ab->arena, uint32_t, ab->n_arms);
    shown[0] = out->baseline;
    for (uint32_t i = 0, n = 1; i < ab->n_arms; i++) {
        if (i != out->baseline) {
            shown[n++] = i;
        }
    }
    out->shown = shown;
    return ETP_OK;
}
