// SPDX-License-Identifier: Apache-2.0
// The two sides of `compare`: a dump, a folder of dumps, or one arm of a run folder ("DIR" or
// "DIR:ARM"), each becoming one arm. What the run folders know decides the grade.
#include <stdlib.h>
#include <string.h>

#include "answer/ab_session.h"

typedef struct side {
    const char *operand; // as given
    const char *dir;     // of a run folder, else NULL
    etp_run run;
    uint32_t arm; // of the run
} side;

// "DIR:ARM" → DIR and the arm's index; without ":ARM" the first arm that is not the baseline.
static etp_status open_side(etp_ab_session *s, const char *operand, side *out, etp_error *err)
{
    *out = (side){.operand = operand};
    const char *dir = operand, *wanted = NULL, *colon = strrchr(operand, ':');
    if (!etp_run_is(dir)) {
        dir = colon ? etp_arena_strdup(&s->arena,
                                       (etp_str){operand, (size_t)(colon - operand)})
                    : NULL;
        wanted = colon ? colon + 1 : NULL;
        if (!dir || !etp_run_is(dir)) {
            return ETP_OK; // dumps
        }
    }
    ETP_TRY(etp_run_open(dir, &s->arena, &out->run, err));
    out->dir = dir;
    if (out->run.arms.n == 0) {
        return etp_fail(err, ETP_CORRUPT, "%s has no arms", dir);
    }
    out->arm = out->run.arms.n > 1 && out->run.baseline == 0 ? 1 : 0;
    bool found = !wanted;
    for (uint32_t i = 0; wanted && i < out->run.arms.n && !found; i++) {
        found = etp_str_eqz(out->run.arms.items[i].name, wanted) ||
                etp_str_eqz(out->run.arms.items[i].level, wanted);
        out->arm = i;
    }
    return found ? ETP_OK
                 : etp_fail(err, ETP_USAGE, "%s has no arm '%s'; its first is '%.*s'", dir, wanted,
                            ETP_STR_ARG(out->run.arms.items[0].name));
}

static etp_status add_run_dumps(etp_ab_session *s, const side *x, uint32_t arm, etp_error *err)
{
    size_t before = s->dumps.n;
    for (size_t i = 0; i < x->run.dumps.n; i++) {
        const etp_run_dump *d = &x->run.dumps.items[i];
        etp_ab_dump dump = {.arm = arm, .block = d->block};
        if (d->arm != x->arm) {
            continue;
        }
        dump.path = etp_run_path(&s->arena, x->dir, d->path);
        if (!dump.path || !ETP_PUSH(&s->arena, &s->dumps, dump)) {
            return etp_fail_nomem(err, "dumps");
        }
    }
    return s->dumps.n > before
               ? ETP_OK
               : etp_fail(err, ETP_USAGE, "%s holds no trace of '%.*s'", x->dir,
                          ETP_STR_ARG(x->run.arms.items[x->arm].name));
}

static etp_status describe_run_arm(etp_ab_session *s, const side *x, const side *other,
                                   uint32_t arm, etp_error *err)
{
    const etp_run_arm *in = &x->run.arms.items[x->arm];
    etp_ab_arm *a = &s->ab.arms[arm];
    bool same_name = other->dir && etp_str_eq(in->name, other->run.arms.items[other->arm].name);
    a->name = same_name ? x->operand : etp_arena_strdup(&s->arena, in->name);
    a->full_name = x->operand;
    a->level_name = in->level.len ? etp_arena_strdup(&s->arena, in->level) : NULL;
    a->level = a->level_name ? etp_level_find(ETP_ISA_NONE, a->level_name) : ETP_LEVEL_NONE;
    a->threads = in->threads;
    a->runner_sha256 = in->runner_sha256.len ? etp_arena_strdup(&s->arena, in->runner_sha256) : NULL;
    a->emulated = in->emulated;
    s->ab.emulated = s->ab.emulated || in->emulated;
    return a->name ? ETP_OK : etp_fail_nomem(err, "arms");
}

static bool same_text(etp_str a, etp_str b)
{
    return a.len > 0 && etp_str_eq(a, b);
}

// A: one session. B: one binary, machine and day. C: another binary on that day. D: anything else.
static void grade(etp_ab *ab, const side *x, const side *y)
{
    if (!x->dir || !y->dir) {
        return; // dumps alone: D
    }
    etp_str day_x = x->run.generated_at, day_y = y->run.generated_at;
    day_x.len = day_x.len < 10 ? day_x.len : 10;
    day_y.len = day_y.len < 10 ? day_y.len : 10;
    bool binary = same_text(x->run.arms.items[x->arm].runner_sha256,
                            y->run.arms.items[y->arm].runner_sha256);
    bool day = same_text(day_x, day_y) && same_text(x->run.device_cpu, y->run.device_cpu);
    if (strcmp(x->dir, y->dir) == 0) {
        ab->grade = "A";
        ab->grade_reason = "one binary, one session; the paired verdict is in its own report";
    } else if (day) {
        ab->grade = binary ? "B" : "C";
        ab->grade_reason = binary ? "one binary, two sessions of one day on one kind of machine"
                                  : "different builds on one day";
    } else {
        ab->grade = "D";
        ab->grade_reason = "sessions of different days or machines";
    }
}

// Programs of both sides; one and the same model is opened once, so that nodes compare.
static etp_status programs_of(etp_ab_session *s, const side *sides, const etp_ab_options *options,
                              etp_error *err)
{
    if (options->program) {
        return ETP_OK; // opened as for bare dumps
    }
    s->programs = ETP_NEW_ARRAY(&s->arena, etp_ab_program, 2);
    if (!s->programs) {
        return etp_fail_nomem(err, "programs");
    }
    s->n_programs = 2;
    for (uint32_t i = 0; i < 2; i++) {
        const side *x = &sides[i];
        s->ab.arms[i].model = i;
        if (!x->dir || x->run.arms.items[x->arm].model >= x->run.models.n) {
            continue;
        }
        size_t model = x->run.arms.items[x->arm].model;
        if (i == 1 && sides[0].dir &&
            same_text(x->run.models.items[model].sha256,
                      sides[0].run.models.items[sides[0].run.arms.items[sides[0].arm].model].sha256)) {
            s->ab.arms[i].model = 0;
            continue;
        }
        ETP_TRY(etp_ab_open_kept(s, x->dir, &x->run, model, &s->programs[i], err));
    }
    return ETP_OK;
}

etp_status etp_ab_collect_sides(etp_ab_session *s, const char *const *operands,
                                const etp_ab_options *options, etp_error *err)
{
    side sides[2];
    etp_ab_arm arms[2] = {{.name = NULL}, {.name = NULL}};
    for (uint32_t i = 0; i < 2; i++) {
        ETP_TRY(open_side(s, operands[i], &sides[i], err));
    }
    for (uint32_t i = 0; i < 2; i++) {
        size_t first = s->dumps.n;
        if (sides[i].dir) {
            ETP_TRY(add_run_dumps(s, &sides[i], i, err));
            continue;
        }
        s->ab.n_arms = 0;
        ETP_TRY(etp_ab_collect_dumps(s, &operands[i], 1, err));
        if (s->ab.n_arms > 1) {
            return etp_fail(err, ETP_USAGE,
                            "%s holds dumps of %zu arms; name one dump, or one arm as DIR:ARM",
                            operands[i], s->ab.n_arms);
        }
        arms[i] = s->ab.arms[0];
        for (size_t d = first; d < s->dumps.n; d++) {
            s->dumps.items[d].arm = i;
        }
    }
    s->ab.arms = ETP_NEW_ARRAY(&s->arena, etp_ab_arm, 2);
    if (!s->ab.arms) {
        return etp_fail_nomem(err, "arms");
    }
    s->ab.n_arms = 2;
    for (uint32_t i = 0; i < 2; i++) {
        s->ab.arms[i] = arms[i];
        s->ab.arms[i].model = ETP_NO_INDEX;
        s->ab.arms[i].median_ns = s->ab.arms[i].load_ns = ETP_NS_UNKNOWN;
        s->ab.arms[i].first_ns = s->ab.arms[i].peak_rss_bytes = ETP_NS_UNKNOWN;
        if (sides[i].dir) {
            ETP_TRY(describe_run_arm(s, &sides[i], &sides[1 - i], i, err));
        }
    }
    if (strcmp(s->ab.arms[0].name, s->ab.arms[1].name) == 0) {
        s->ab.arms[0].name = operands[0];
        s->ab.arms[1].name = operands[1];
    }
    if (strcmp(s->ab.arms[0].name, s->ab.arms[1].name) == 0) {
        s->ab.arms[1].name = etp_arena_printf(&s->arena, "%s (again)", operands[1]);
    }
    if (!s->ab.arms[1].name) {
        return etp_fail_nomem(err, "arms");
    }
    grade(&s->ab, &sides[0], &sides[1]);
    return programs_of(s, sides, options, err);
}
