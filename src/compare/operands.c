// SPDX-License-Identifier: Apache-2.0
// The two sides of `compare`: a dump, a timeline CSV, a folder of dumps, or a run folder; of
// folders with several arms one, as "DIR:ARM". Each side becomes one arm.
#include <stdlib.h>
#include <string.h>

#include "compare/session.h"

// "a, b, c"; NULL on out of memory.
static const char *list_arms(etp_ab_session *s, const etp_run *run)
{
    etp_strbuf text;
    etp_strbuf_init(&text, &s->arena);
    for (size_t i = 0; i < run->arms.n; i++) {
        etp_strbuf_printf(&text, "%s%.*s", i ? ", " : "", ETP_STR_ARG(run->arms.items[i].name));
    }
    return text.failed ? "" : etp_strbuf_str(&text).ptr;
}

// The arm by its name, else by its level when only one has it.
static uint32_t find_arm(const etp_run *run, const char *wanted)
{
    uint32_t by_level = ETP_NO_INDEX;
    size_t of_level = 0;
    for (uint32_t i = 0; i < run->arms.n; i++) {
        if (etp_str_eqz(run->arms.items[i].name, wanted)) {
            return i;
        }
        if (etp_str_eqz(run->arms.items[i].level, wanted)) {
            by_level = i;
            of_level++;
        }
    }
    return of_level == 1 ? by_level : ETP_NO_INDEX;
}

static etp_status choose_arm(etp_ab_session *s, etp_ab_side *x, etp_error *err)
{
    if (x->run.arms.n == 0) {
        return etp_fail(err, ETP_CORRUPT, "%s has no arms", x->dir);
    }
    if (!x->wanted && x->run.arms.n > 1) {
        return etp_fail(err, ETP_USAGE, "%s holds %zu arms (%s); say which, as in %s:%.*s", x->dir,
                        x->run.arms.n, list_arms(s, &x->run), x->dir,
                        ETP_STR_ARG(x->run.arms.items[0].name));
    }
    x->arm = x->wanted ? find_arm(&x->run, x->wanted) : 0;
    return x->arm != ETP_NO_INDEX
               ? ETP_OK
               : etp_fail(err, ETP_USAGE, "%s has no one arm '%s'; its arms are %s", x->dir,
                          x->wanted, list_arms(s, &x->run));
}

// What OPERAND is, and with "DIR:ARM" which arm of it. What exists under the whole name wins.
static etp_status open_side(etp_ab_session *s, const char *operand, etp_ab_side *out,
                            etp_error *err)
{
    *out = (etp_ab_side){.operand = operand};
    const char *dir = operand, *colon = strrchr(operand, ':');
    if (!etp_os_is_dir(operand) && !etp_os_is_file(operand) && colon && colon > operand) {
        dir = etp_arena_strdup(&s->arena, (etp_str){operand, (size_t)(colon - operand)});
        ETP_NEED(dir, err, "operands");
        if (!etp_os_is_dir(dir)) {
            return ETP_OK; // what opens it says that it is not there
        }
        out->operand = dir;
        out->wanted = colon + 1;
    }
    if (!etp_run_is(dir)) {
        return ETP_OK;
    }
    ETP_TRY(etp_run_open(dir, &s->arena, &out->run, err));
    out->dir = dir;
    return choose_arm(s, out, err);
}

static etp_status add_run_dumps(etp_ab_session *s, const etp_ab_side *x, uint32_t arm,
                                etp_error *err)
{
    size_t before = s->dumps.n;
    for (size_t i = 0; i < x->run.dumps.n; i++) {
        const etp_run_dump *d = &x->run.dumps.items[i];
        etp_ab_dump dump = {.arm = arm, .block = d->block};
        if (d->arm != x->arm) {
            continue;
        }
        dump.path = etp_run_path(&s->arena, x->dir, d->path);
        ETP_NEED(dump.path && ETP_PUSH(&s->arena, &s->dumps, dump), err, "dumps");
    }
    return s->dumps.n > before ? ETP_OK
                               : etp_fail(err, ETP_USAGE, "%s holds no trace of '%.*s'", x->dir,
                                          ETP_STR_ARG(x->run.arms.items[x->arm].name));
}

static etp_status describe_run_arm(etp_ab_session *s, const etp_ab_side *x, uint32_t arm,
                                   etp_error *err)
{
    const etp_run_arm *in = &x->run.arms.items[x->arm];
    etp_ab_arm *a = &s->arms[arm];
    a->name = etp_arena_strdup(&s->arena, in->name);
    a->full_name = etp_arena_printf(&s->arena, "%s:%.*s", x->dir, ETP_STR_ARG(in->name));
    a->level_name = in->level.len ? etp_arena_strdup(&s->arena, in->level) : NULL;
    a->level = a->level_name ? etp_level_find(ETP_ISA_NONE, a->level_name) : ETP_LEVEL_NONE;
    a->threads = in->threads;
    a->runner_sha256 =
        in->runner_sha256.len ? etp_arena_strdup(&s->arena, in->runner_sha256) : NULL;
    a->emulated = in->emulated;
    s->ab.emulated = s->ab.emulated || in->emulated;
    return a->name ? ETP_OK : etp_fail_nomem(err, "arms");
}

static const etp_run_model *model_of(const etp_ab_side *x)
{
    size_t model = x->dir ? x->run.arms.items[x->arm].model : SIZE_MAX;
    return x->dir && model < x->run.models.n ? &x->run.models.items[model] : NULL;
}

const char *etp_ab_sides_title(etp_ab_session *s)
{
    const etp_run_model *m = model_of(&s->sides[0]);
    const char *stem = m && s->ab.arms[1].model == 0 ? etp_arena_strdup(&s->arena, m->stem) : NULL;
    return stem ? stem : "dumps";
}

static bool same_model(const etp_ab_side *x, const etp_ab_side *y)
{
    const etp_run_model *a = model_of(x), *b = model_of(y);
    return a && b && a->sha256.len > 0 && etp_str_eq(a->sha256, b->sha256);
}

static const etp_run_phase *phase_of(const etp_ab_side *x)
{
    static const etp_run_phase k_none;
    return x->run.phases.n > 0 ? &x->run.phases.items[x->run.arms.items[x->arm].phase] : &k_none;
}

static bool same_calls(const etp_ab_side *x, const etp_ab_side *y)
{
    const etp_run_phase *a = phase_of(x), *b = phase_of(y);
    return etp_str_eq(a->method, b->method) && etp_str_eq(a->inputs, b->inputs) &&
           etp_str_eq(a->start, b->start);
}

// Programs of both sides; one and the same model is opened once, so that nodes compare.
static etp_status programs_of(etp_ab_session *s, const etp_ab_side *sides,
                              const etp_ab_options *options, etp_error *err)
{
    if (options->program) {
        return ETP_OK; // opened as for bare dumps
    }
    s->programs = ETP_NEW_ARRAY(&s->arena, etp_ab_program, 2);
    ETP_NEED(s->programs, err, "programs");
    s->n_programs = 2;
    for (uint32_t i = 0; i < 2; i++) {
        const etp_ab_side *x = &sides[i];
        if (!model_of(x) || s->ab.arms[i].model != i) {
            continue;
        }
        size_t model = x->run.arms.items[x->arm].model;
        // Two phases of one program share its sizes where they have the same ones.
        bool differ = s->ab.arms[1].model == 0 && !same_calls(&sides[0], &sides[1]);
        ETP_TRY(etp_ab_open_kept(s, x->dir, &x->run, model, differ ? SIZE_MAX : x->arm,
                                 &s->programs[i], err));
    }
    return ETP_OK;
}

// The dumps of one operand that is no run folder: of one arm, or of the one that was asked for.
static etp_status collect_recordings(etp_ab_session *s, const etp_ab_side *x, uint32_t at,
                                     etp_ab_arm *out, etp_error *err)
{
    size_t first = s->dumps.n, kept = first;
    uint32_t arm = 0;
    s->ab.n_arms = 0;
    ETP_TRY(etp_ab_collect_dumps(s, &x->operand, 1, err));
    etp_strbuf names;
    etp_strbuf_init(&names, &s->arena);
    for (uint32_t i = 0; i < s->ab.n_arms; i++) {
        const etp_ab_arm *a = &s->ab.arms[i];
        bool hit =
            x->wanted && (strcmp(a->name, x->wanted) == 0 || strcmp(a->full_name, x->wanted) == 0);
        arm = hit ? i : arm;
        kept = hit ? SIZE_MAX : kept;
        etp_strbuf_printf(&names, "%s%s", i ? ", " : "", a->name);
    }
    if (x->wanted ? kept != SIZE_MAX : s->ab.n_arms > 1) {
        return etp_fail(err, ETP_USAGE, "%s holds dumps of %zu arms (%s); name one as %s:%s",
                        x->operand, s->ab.n_arms, names.failed ? "" : etp_strbuf_str(&names).ptr,
                        x->operand, s->ab.n_arms ? s->ab.arms[0].name : "ARM");
    }
    *out = s->ab.arms[arm];
    kept = first;
    for (size_t d = first; d < s->dumps.n; d++) {
        if (s->dumps.items[d].arm == arm) {
            s->dumps.items[kept] = s->dumps.items[d];
            s->dumps.items[kept++].arm = at;
        }
    }
    s->dumps.n = kept;
    return ETP_OK;
}

// Names that the user gave, else those of the arms; always two different ones.
static etp_status name_arms(etp_ab_session *s, const char *const *operands,
                            const etp_ab_options *options, etp_error *err)
{
    etp_ab_arm *arms = s->arms;
    const char *const *names = options->names;
    if (names[0] && names[1] && strcmp(names[0], names[1]) == 0) {
        return etp_fail(err, ETP_USAGE, "both sides are called '%s'; give two names", names[0]);
    }
    if (strcmp(arms[0].name, arms[1].name) == 0) {
        for (int i = 0; i < 2; i++) {
            arms[i].name = arms[i].full_name ? arms[i].full_name : operands[i];
        }
    }
    if (strcmp(arms[0].name, arms[1].name) == 0) {
        arms[0].name = operands[0];
        arms[1].name = operands[1];
    }
    for (int i = 0; i < 2; i++) {
        if (names[i] && names[i][0] == '\0') {
            return etp_fail(err, ETP_USAGE, "--name%d is empty", i + 1);
        }
        arms[i].name = names[i] ? names[i] : arms[i].name;
    }
    if (strcmp(arms[0].name, arms[1].name) == 0) {
        arms[1].name = etp_arena_printf(&s->arena, "%s (again)", arms[1].name);
    }
    return arms[1].name ? ETP_OK : etp_fail_nomem(err, "arms");
}

// The models of the run folders, one when both sides are of one.
static etp_status take_models(etp_ab_session *s, etp_error *err)
{
    etp_ab_model *models = ETP_NEW_ARRAY(&s->arena, etp_ab_model, 2);
    s->ab.models = models;
    ETP_NEED(models, err, "models");
    for (size_t i = 0; i < 2 && s->sides[0].dir && s->sides[1].dir; i++) {
        const etp_run_model *m = model_of(&s->sides[i]);
        if (!m || (i == 1 && s->ab.arms[1].model == 0)) {
            continue;
        }
        s->ab.n_models = i + 1;
        models[i].path = etp_arena_strdup(&s->arena, m->path);
        models[i].stem = m->stem.len ? etp_arena_strdup(&s->arena, m->stem) : NULL;
        models[i].sha256 = m->sha256.len ? etp_arena_strdup(&s->arena, m->sha256) : NULL;
    }
    return ETP_OK;
}

etp_status etp_ab_collect_sides(etp_ab_session *s, const char *const *operands,
                                const etp_ab_options *options, etp_error *err)
{
    etp_ab_arm arms[2] = {k_etp_ab_unknown_arm, k_etp_ab_unknown_arm};
    for (uint32_t i = 0; i < 2; i++) {
        ETP_TRY(open_side(s, operands[i], &s->sides[i], err));
    }
    for (uint32_t i = 0; i < 2; i++) {
        const etp_ab_side *x = &s->sides[i];
        ETP_TRY(x->dir ? add_run_dumps(s, x, i, err) : collect_recordings(s, x, i, &arms[i], err));
    }
    ETP_TRY(etp_ab_begin_arms(s, 2, err));
    s->ab.n_arms = 2;
    for (uint32_t i = 0; i < 2; i++) {
        s->arms[i] = arms[i];
        if (s->sides[i].dir) {
            ETP_TRY(describe_run_arm(s, &s->sides[i], i, err));
        }
    }
    s->arms[0].model = 0;
    s->arms[1].model = same_model(&s->sides[0], &s->sides[1]) ? 0 : 1;
    ETP_TRY(name_arms(s, operands, options, err));
    ETP_TRY(programs_of(s, s->sides, options, err));
    return take_models(s, err);
}
