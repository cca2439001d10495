// SPDX-License-Identifier: Apache-2.0
// The two sides of `compare`: a dump, a timeline CSV, a folder of dumps, or a run folder; of
// folders with several arms one, as "DIR:ARM". Each side becomes one arm.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "base/path.h"
#include "compare/session.h"
#include "explain/sampled.h"

// "a, b, c"
static const char *list_arms(etp_arena *arena, const etp_run *run)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < run->arms.n; i++) {
        etp_strbuf_printf(&text, "%s%.*s", etp_if(i, ", "), ETP_STR_ARG(run->arms.items[i].name));
    }
    return etp_strbuf_str(&text).ptr;
}

// The arm by its name, else by its level when only one has it, else the only one whose level hides
// less: what a report calls VNNI may have been measured as "best". Beside arms that hide one
// feature each the latter would be the arm that hides none, whatever was asked for.
static uint32_t find_arm(etp_arena *arena, const etp_run *run, const char *wanted)
{
    uint32_t by_level = ETP_NO_INDEX, above = ETP_NO_INDEX;
    size_t of_level = 0, of_above = 0;
    bool hides_one = false;
    for (uint32_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *arm = &run->arms.items[i];
        etp_level own = etp_run_arm_level(run, arm, arena);
        const etp_level_info *info = etp_level_get(own);
        if (etp_str_eqz(arm->name, wanted)) {
            return i;
        }
        hides_one = hides_one || etp_level_hides_one(own);
        if (etp_str_eqz(arm->level, wanted)) {
            by_level = i;
            of_level++;
        }
        etp_level level = info ? etp_level_find(info->family, wanted) : ETP_LEVEL_NONE;
        bool steps = level != ETP_LEVEL_NONE && !etp_level_hides_one(level);
        if (steps && own < level) { // levels of one family are numbered from the best down
            above = i;
            of_above++;
        }
    }
    if (of_level > 0) {
        return of_level == 1 ? by_level : ETP_NO_INDEX;
    }
    return of_above == 1 && !hides_one ? above : ETP_NO_INDEX;
}

// DIR is RUN/ARM, the folder of an arm of a run: then the same as RUN:ARM.
static etp_status find_arm_folder(etp_arena *arena, const char *dir, etp_ab_side *out,
                                  etp_error *err)
{
    etp_str trimmed = etp_path_trimmed(etp_str_from(dir));
    etp_str above = etp_path_above(trimmed, 1), name = etp_path_last(trimmed);
    const char *run = above.len ? etp_arena_strdup(arena, above) : ".";
    if (!etp_run_is(run)) {
        return ETP_OK;
    }
    ETP_TRY(etp_run_open(run, arena, &out->run, err));
    const char *wanted = etp_arena_strdup(arena, name);
    uint32_t arm = find_arm(arena, &out->run, wanted);
    if (arm != ETP_NO_INDEX && etp_str_eq(out->run.arms.items[arm].name, name)) {
        out->operand = out->dir = run;
        out->wanted = wanted;
        out->arm = arm;
    }
    return ETP_OK;
}

// What OPERAND is, and with "DIR:ARM" which arm of it. What exists under the whole name wins.
static etp_status open_side(etp_arena *arena, const char *operand, etp_ab_side *out, etp_error *err)
{
    *out = (etp_ab_side){.operand = operand};
    const char *dir = operand, *colon = strrchr(operand, ':');
    if (!etp_os_is_dir(operand) && !etp_os_is_file(operand) && colon && colon > operand) {
        dir = etp_arena_strdup(arena, (etp_str){operand, (size_t)(colon - operand)});
        if (!etp_os_is_dir(dir)) {
            return ETP_OK; // what opens it says that it is not there
        }
        out->operand = dir;
        out->wanted = colon + 1;
    }
    if (!etp_run_is(dir)) {
        return etp_os_is_dir(dir) && !out->wanted ? find_arm_folder(arena, dir, out, err) : ETP_OK;
    }
    ETP_TRY(etp_run_open(dir, arena, &out->run, err));
    out->dir = dir;
    if (out->run.arms.n == 0) {
        return etp_fail(err, ETP_CORRUPT, "%s has no arms", dir);
    }
    if (!out->wanted && out->run.arms.n > 1) {
        return etp_fail(err, ETP_USAGE, "%s holds %zu arms (%s); say which, as in %s:%.*s", dir,
                        out->run.arms.n, list_arms(arena, &out->run), dir,
                        ETP_STR_ARG(out->run.arms.items[0].name));
    }
    out->arm = out->wanted ? find_arm(arena, &out->run, out->wanted) : 0;
    if (out->arm == ETP_NO_INDEX) {
        return etp_fail(err, ETP_USAGE, "%s has no arm '%s', or several; its arms are %s", dir,
                        out->wanted, list_arms(arena, &out->run));
    }
    return ETP_OK;
}

static const etp_run_phase *phase_of(const etp_ab_side *x)
{
    static const etp_run_phase k_none;
    return x->run.phases.n > 0 ? &x->run.phases.items[x->run.arms.items[x->arm].phase] : &k_none;
}

etp_status etp_ab_open_sides(etp_arena *arena, const char *const *operands, etp_ab_side *sides,
                             etp_error *err)
{
    for (uint32_t i = 0; i < 2; i++) {
        ETP_TRY(open_side(arena, operands[i], &sides[i], err));
    }
    etp_str a = phase_of(&sides[0])->name, b = phase_of(&sides[1])->name;
    if (a.len && b.len && !etp_str_eq(a, b)) {
        return etp_fail(err, ETP_USAGE,
                        "%s is of phase '%.*s', %s of '%.*s': they do different work; give two "
                        "arms of one phase",
                        operands[0], ETP_STR_ARG(a), operands[1], ETP_STR_ARG(b));
    }
    return ETP_OK;
}

static etp_status add_run_dumps(etp_arena *arena, const etp_ab_side *x, uint32_t arm,
                                etp_ab_inputs *in, etp_error *err)
{
    size_t before = in->recordings.n;
    for (size_t i = 0; i < x->run.dumps.n; i++) {
        const etp_run_dump *d = &x->run.dumps.items[i];
        etp_ab_dump recording = {.arm = arm, .block = d->block, .of_session = true};
        if (d->arm != x->arm) {
            continue;
        }
        recording.path = etp_run_path(arena, x->dir, d->path);
        ETP_ADD(arena, &in->recordings, recording);
    }
    if (in->recordings.n == before) {
        return etp_fail(err, ETP_USAGE, "%s holds no trace of '%.*s'", x->dir,
                        ETP_STR_ARG(x->run.arms.items[x->arm].name));
    }
    return ETP_OK;
}

static const etp_run_model *model_of(const etp_ab_side *x)
{
    size_t model = x->dir ? x->run.arms.items[x->arm].model : SIZE_MAX;
    return x->dir && model < x->run.models.n ? &x->run.models.items[model] : NULL;
}

static bool same_model(const etp_ab_side *x, const etp_ab_side *y)
{
    const etp_run_model *a = model_of(x), *b = model_of(y);
    return a && b && a->sha256.len > 0 && etp_str_eq(a->sha256, b->sha256);
}

static bool same_calls(const etp_ab_side *x, const etp_ab_side *y)
{
    const etp_run_phase *a = phase_of(x), *b = phase_of(y);
    return etp_str_eq(a->method, b->method) && etp_str_eq(a->inputs, b->inputs) &&
           etp_str_eq(a->start, b->start);
}

// One and the same model is opened once, so that nodes compare.
static etp_status open_programs(const etp_ab_session *s, etp_ab_findings *noticed,
                                etp_ab_inputs *in, etp_error *err)
{
    in->programs.items = ETP_NEW_ARRAY(s->ab.arena, etp_ab_program, 2);
    ETP_NEED(in->programs.items, err, "programs");
    in->programs.n = 2;
    for (uint32_t i = 0; i < 2; i++) {
        const etp_ab_side *x = &s->sides[i];
        if (!model_of(x) || s->ab.arms[i].model != i) {
            continue;
        }
        size_t model = x->run.arms.items[x->arm].model;
        // Two phases of one program share its sizes where they have the same ones.
        bool differ = s->ab.arms[1].model == 0 && !same_calls(&s->sides[0], &s->sides[1]);
        ETP_TRY(etp_ab_open_kept(s->ab.arena, x->dir, &x->run, model, differ ? SIZE_MAX : x->arm,
                                 noticed, &in->programs.items[i], err));
    }
    return ETP_OK;
}

etp_status etp_ab_open_sides_programs(const etp_ab_session *s, etp_ab_findings *noticed,
                                      etp_ab_inputs *in, etp_error *err)
{
    ETP_UNGUARDED(s->ab.arena, open_programs(s, noticed, in, err));
}

// The dumps of one operand that is not a run folder: of one arm, or of the one that was asked for.
// They become those of arm AT.
static etp_status take_recordings(etp_arena *arena, const etp_ab_side *x, uint32_t at,
                                  etp_ab_arm *out, etp_ab_inputs *in, etp_error *err)
{
    size_t room = ETP_LESS(ETP_AB_BARE_DUMPS, in->recordings.n);
    etp_ab_arm *arms = ETP_NEW_ARRAY(arena, etp_ab_arm, room);
    etp_ab all = {.arena = arena, .arms = arms};
    etp_ab_inputs its = {0};
    uint32_t arm = 0;
    bool found = false;
    ETP_TRY(etp_ab_describe_dumps(&x->operand, 1, room, arms, &all, &its, err));
    etp_strbuf names;
    etp_strbuf_init(&names, arena);
    for (uint32_t i = 0; i < all.n_arms; i++) {
        const etp_ab_arm *a = &arms[i];
        bool hit =
            x->wanted && (strcmp(a->name, x->wanted) == 0 || strcmp(a->full_name, x->wanted) == 0);
        arm = hit ? i : arm;
        found = found || hit;
        etp_strbuf_printf(&names, "%s%s", etp_if(i, ", "), a->name);
    }
    if (x->wanted ? !found : all.n_arms > 1) {
        return etp_fail(err, ETP_USAGE, "%s holds dumps of %zu arms (%s); name one as %s:%s",
                        x->operand, all.n_arms, etp_strbuf_str(&names).ptr, x->operand,
                        all.n_arms ? arms[0].name : "ARM");
    }
    *out = arms[arm];
    for (size_t d = 0; d < its.recordings.n; d++) {
        etp_ab_dump recording = its.recordings.items[d];
        if (recording.arm == arm) {
            recording.arm = at;
            ETP_ADD(arena, &in->recordings, recording);
        }
    }
    return ETP_OK;
}

etp_status etp_ab_name_sides(const etp_ab_session *s, const char *const *operands, etp_ab_arm *arms,
                             etp_error *err)
{
    const char *const *names = s->options.names;
    if (names[0] && names[1] && strcmp(names[0], names[1]) == 0) {
        return etp_fail(err, ETP_USAGE, "both sides are called '%s'; give two names", names[0]);
    }
    if (strcmp(arms[0].name, arms[1].name) == 0) {
        for (int i = 0; i < 2; i++) {
            arms[i].name = ETP_OR(arms[i].full_name, operands[i]);
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
        arms[i].name = ETP_OR(names[i], arms[i].name);
    }
    if (strcmp(arms[0].name, arms[1].name) == 0) {
        arms[1].name = etp_arena_printf(s->ab.arena, "%s (again)", arms[1].name);
    }
    return ETP_OK;
}

etp_status etp_ab_describe_sides(const etp_ab_session *s, const char *const *operands,
                                 etp_ab_arm *arms, etp_ab *ab, etp_ab_inputs *in, etp_error *err)
{
    const etp_ab_side *sides = s->sides;
    etp_arena *arena = ab->arena;
    ab->bare = !sides[0].dir || !sides[1].dir;
    ab->correctness = ETP_AB_NOT_COMPARED;
    ab->n_arms = 2;
    for (uint32_t i = 0; i < 2; i++) {
        const etp_ab_side *x = &sides[i];
        arms[i] = k_etp_ab_unknown_arm;
        ETP_TRY(x->dir ? add_run_dumps(arena, x, i, in, err)
                       : take_recordings(arena, x, i, &arms[i], in, err));
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (sides[i].dir) {
            const etp_run_arm *of = &sides[i].run.arms.items[sides[i].arm];
            etp_ab_describe_arm(&sides[i].run, of, arena, &arms[i]);
            arms[i].full_name =
                etp_arena_printf(arena, "%s:%.*s", sides[i].dir, ETP_STR_ARG(of->name));
        }
        ab->emulated = ab->emulated || arms[i].emulated;
    }
    arms[0].model = 0;
    arms[1].model = !same_model(&sides[0], &sides[1]);
    ETP_TRY(etp_ab_name_sides(s, operands, arms, err));
    // The models of the run folders, one when both sides are of one.
    etp_ab_model *models = ETP_NEW_ARRAY(arena, etp_ab_model, 2);
    ab->models = models;
    const etp_run_model *first = model_of(&sides[0]);
    const char *stem =
        first && ab->arms[1].model == 0 ? etp_arena_strdup(arena, first->stem) : NULL;
    ab->title = etp_path_name(ETP_OR(stem, "dumps"));
    for (size_t i = 0; i < 2 && sides[0].dir && sides[1].dir; i++) {
        const etp_run_model *m = model_of(&sides[i]);
        if (!m || (i == 1 && ab->arms[1].model == 0)) {
            continue;
        }
        ab->n_models = i + 1;
        models[i] = etp_ab_model_of(m, arena);
    }
    return ETP_OK;
}
