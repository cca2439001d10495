// SPDX-License-Identifier: Apache-2.0
// Did all arms compute the same, and what the author of the inputs expects?
#include <math.h>

#include "compare/session.h"
#include "measure/outputs.h"

// Quantised beats half beats single precision.
static etp_output_precision precision_of_rows(const etp_profile *p)
{
    etp_output_precision found = ETP_OUTPUTS_FLOAT32;
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_op_name *op = &p->rows[i].parsed;
        for (size_t d = 0; d < op->n_dtypes; d++) {
            etp_str t = op->dtypes[d];
            if (t.len && (t.ptr[0] == 'Q' || etp_str_starts(t, ETP_STR("PQ")))) {
                return ETP_OUTPUTS_INT8;
            }
            if (etp_str_eqz(t, "F16") || etp_str_eqz(t, "PF16") || etp_str_eqz(t, "BF16")) {
                found = ETP_OUTPUTS_FLOAT16;
            }
        }
    }
    return found;
}

// The same of the program's delegates: a session without recordings has these.
static etp_output_precision precision_of_program(const etp_program *program)
{
    etp_output_precision found = ETP_OUTPUTS_FLOAT32;
    for (uint32_t m = 0; m < program->n_methods; m++) {
        for (uint32_t k = 0; k < program->methods[m].n_partitions; k++) {
            const etp_partition *part = &program->methods[m].partitions[k];
            for (uint32_t i = 0; i < part->n_values; i++) {
                const etp_value *v = &part->values[i];
                if (v->quant.kind != ETP_QUANT_NONE) {
                    return ETP_OUTPUTS_INT8;
                }
                bool half = v->dtype == ETP_DTYPE_FLOAT16 || v->dtype == ETP_DTYPE_BFLOAT16;
                found = half ? ETP_OUTPUTS_FLOAT16 : found;
            }
        }
    }
    return found;
}

// What the arm computes in, by its recordings, else by its program; float32 without either.
static etp_output_precision precision_of(const etp_ab_session *s, uint32_t arm)
{
    const etp_program *program = etp_ab_program_of(s, arm);
    const etp_profile *profile = s->ab.arms[arm].profile;
    if (profile) {
        return precision_of_rows(profile);
    }
    return program ? precision_of_program(program) : ETP_OUTPUTS_FLOAT32;
}

typedef struct comparing {
    const etp_ab_session *s;
    etp_ab_findings *noticed;
    etp_ab_arm *arms;
    etp_ab_correctness *all;
    bool *agrees; // by arm: compared with another one of its program, and alike
} comparing;

// The operator of the arm's program that draws random numbers; len 0: none, or it is not known.
static etp_str drawing_operator(const etp_ab_session *s, uint32_t arm)
{
    const etp_program *p = etp_ab_program_of(s, arm);
    for (uint32_t m = 0; p && m < p->n_methods; m++) {
        for (uint32_t i = 0; i < p->methods[m].n_instructions; i++) {
            const etp_instruction *in = &p->methods[m].instructions[i];
            if (in->kind == ETP_INSTR_KERNEL && etp_op_draws(in->op)) {
                return in->op;
            }
        }
    }
    return (etp_str){0};
}

// That NaN stands where NaN stands is no agreement of results, nor that nothing is finite.
static void mention_not_finite(const comparing *w, const char *whose, const char *against,
                               const etp_outputs_comparison *c)
{
    for (size_t i = 0; i < c->n && c->not_finite > 0 && c->nan_both < c->elements; i++) {
        const etp_output_difference *d = &c->outputs[i];
        if (d->elements > 0 && d->not_finite == d->elements) {
            ETP_FIND(w->noticed, ETP_FINDING_OUTPUTS_NAN, ETP_SEVERITY_WARN, "outputs",
                     "outputs of %s%s: all %llu elements of output %zu are infinite or "
                     "NaN on both sides; nothing was compared: look at the inputs",
                     whose, against, (unsigned long long)d->elements, d->index);
            return;
        }
    }
    if (c->nan_both == 0) {
        return;
    }
    ETP_FIND(w->noticed, ETP_FINDING_OUTPUTS_NAN, ETP_SEVERITY_WARN, "outputs",
             "outputs of %s%s: %llu of %llu elements are NaN on both sides, which says nothing%s",
             whose, against, (unsigned long long)c->nan_both, (unsigned long long)c->elements,
             etp_if(c->nan_both == c->elements, "; nothing was compared: look at the inputs"));
}

const char *etp_ab_outputs_mute(const etp_ab_correctness *c)
{
    if (c->ok >= 0) {
        return NULL;
    }
    if (c->not_finite) {
        return "not finite: an output is NaN or infinite in every place";
    }
    return etp_z_if(c->constant,
                    "all outputs have one value in every place, so that agreement proves "
                    "nothing");
}

static void take_worse(etp_ab_correctness *out, const etp_ab_correctness *c)
{
    if (out->ok < 0 || c->ok == 0) { // what was not compared says nothing
        out->ok = c->ok;
    }
    out->not_finite = out->not_finite || c->not_finite;
    out->random = out->random || c->random;
    out->constant = out->constant || c->constant;
    out->ok = (out->not_finite || out->constant) && out->ok > 0 ? -1 : out->ok;
    out->max_abs = fmax(out->max_abs, c->max_abs); // fmax and fmin pass over a NAN
    out->max_rel = fmax(out->max_rel, c->max_rel);
    out->cosine = fmin(out->cosine, c->cosine);
    out->argmax = fmin(out->argmax, c->argmax);
}

static etp_ab_correctness correctness_of(const etp_outputs_comparison *c)
{
    bool constant = c->elements > 0 && c->varied == 0;
    etp_ab_correctness one = {c->ok,
                              c->max_abs,
                              c->max_rel,
                              etp_value_if(!constant, c->cosine),
                              etp_value_if(!constant, c->argmax),
                              c->not_finite > 0,
                              constant,
                              false};
    etp_ab_correctness out = ETP_AB_NOT_COMPARED;
    take_worse(&out, &one);
    return out;
}

// Folder NAME of the run.
static const char *folder_of(const comparing *w, const etp_run *run, etp_str name)
{
    const char *dir = etp_arena_strdup(w->s->ab.arena, run->dir);
    return etp_run_path(w->s->ab.arena, dir, name);
}

static const char *outputs_dir(const comparing *w, const etp_run *run, uint32_t run_arm)
{
    const char *name = etp_run_outputs_name(w->s->ab.arena, &run->arms.items[run_arm]);
    return folder_of(w, run, etp_str_from(name));
}

static void tell_random(const comparing *w, etp_finding_severity severity, const char *text)
{
    for (size_t i = 0; i < w->noticed->n; i++) {
        if (w->noticed->items[i].kind == ETP_FINDING_OUTPUTS_RANDOM) {
            return;
        }
    }
    etp_ab_add_finding(w->noticed, ETP_FINDING_OUTPUTS_RANDOM, severity, "outputs", text);
}

// Holds an arm against itself: a second launch with the same inputs, which is kept where its
// outputs have other bytes.
static etp_status differs_from_itself(const comparing *w, const etp_run *run, uint32_t run_arm,
                                      uint32_t at, bool *out, etp_error *err)
{
    etp_arena *arena = w->s->ab.arena;
    const char *name = etp_run_outputs_again_name(arena, &run->arms.items[run_arm]);
    const char *first = outputs_dir(w, run, run_arm);
    const char *again = folder_of(w, run, etp_str_from(name));
    etp_outputs_comparison c;
    *out = false;
    if (!etp_os_is_dir(first) || !etp_os_is_dir(again)) {
        return ETP_OK;
    }
    etp_status st = etp_outputs_compare(first, again, precision_of(w->s, at), arena, &c, NULL);
    if (st != ETP_OK) {
        return st == ETP_NOMEM ? etp_fail_nomem(err, "outputs") : ETP_OK;
    }
    const char *whose = etp_ab_arm_called(&w->s->ab, at);
    *out = !c.ok;
    if (c.ok) {
        tell_random(w, ETP_SEVERITY_INFO,
                    etp_arena_printf(arena,
                                     "not deterministic: two launches of %s with the same inputs "
                                     "differ by up to %s, which is within the tolerance",
                                     whose, ETP_DIGITS(c.max_abs, 3)));
    } else {
        tell_random(w, ETP_SEVERITY_WARN,
                    etp_arena_printf(arena,
                                     "not deterministic: two launches of %s with the same inputs "
                                     "have other outputs (%s), so arms were not compared, and no "
                                     "CPU feature is to blame; look for operators that draw random "
                                     "numbers or read memory that nothing has written",
                                     whose, ETP_OR(c.why, "other bytes")));
    }
    return ETP_OK;
}

// Outputs of such a program differ from launch to launch of one arm too.
static etp_status is_random(const comparing *w, const etp_run *run, uint32_t run_arm, uint32_t at,
                            bool *out, etp_error *err)
{
    etp_str op = drawing_operator(w->s, at);
    *out = op.len > 0;
    if (*out) {
        tell_random(w, ETP_SEVERITY_WARN,
                    etp_arena_printf(w->s->ab.arena,
                                     "not deterministic: %.*s draws random numbers at every call, "
                                     "so an arm's outputs differ from its own too and were not "
                                     "compared; export the model in evaluation mode "
                                     "(model.eval())",
                                     ETP_STR_ARG(op)));
    } else {
        ETP_TRY(differs_from_itself(w, run, run_arm, at, out, err));
    }
    w->all->random = w->all->random || *out;
    return ETP_OK;
}

// Compares the folders X and Y where both are there.
static etp_status compare_dirs(const comparing *w, uint32_t arm, uint32_t of, const char *x,
                               const char *y, const char *against, etp_finding_kind kind,
                               etp_ab_correctness *out, etp_error *err)
{
    etp_outputs_comparison c;
    etp_error why = {.offset = ETP_NO_OFFSET};
    if (!etp_os_is_dir(x) || !etp_os_is_dir(y)) {
        return ETP_OK;
    }
    etp_status st = etp_outputs_compare(x, y, precision_of(w->s, of), w->s->ab.arena, &c, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, "outputs");
    }
    if (st != ETP_OK) {
        ETP_FIND(w->noticed, ETP_FINDING_OUTPUTS_UNREAD, ETP_SEVERITY_WARN, NULL,
                 "outputs of %s not compared%s: %s", etp_ab_arm_called(&w->s->ab, arm), against,
                 why.msg);
        return ETP_OK;
    }
    const char *whose = etp_ab_arm_called(&w->s->ab, arm);
    mention_not_finite(w, whose, against, &c);
    etp_ab_correctness one = correctness_of(&c);
    take_worse(out, &one);
    if (!c.ok && c.why) {
        ETP_FIND(w->noticed, kind, ETP_SEVERITY_BAD, "outputs", "outputs of %s%s: %s", whose,
                 against, c.why);
    }
    return ETP_OK;
}

// Arms AGAINST and AT of the answer, which are BASE_ARM and CAND_ARM of their runs, run the same
// program.
static etp_status compare_two(const comparing *w, const etp_run *base, uint32_t base_arm,
                              uint32_t against, const etp_run *cand, uint32_t cand_arm, uint32_t at,
                              etp_error *err)
{
    const etp_ab *ab = &w->s->ab;
    etp_ab_correctness one = ETP_AB_NOT_COMPARED;
    bool random = false, other = false;
    ETP_TRY(is_random(w, base, base_arm, against, &random, err));
    ETP_TRY(is_random(w, cand, cand_arm, at, &other, err));
    if (random || other) {
        return ETP_OK;
    }
    const bool first = against == ab->baseline;
    const char *words =
        first ? ""
              : etp_arena_printf(ab->arena, " against those of %s", etp_ab_arm_called(ab, against));
    ETP_TRY(compare_dirs(w, at, against, outputs_dir(w, base, base_arm),
                         outputs_dir(w, cand, cand_arm), words, ETP_FINDING_OUTPUTS, &one, err));
    take_worse(w->all, &one);
    // Two that say nothing, as ones that are not finite in the same places, do not differ either.
    bool alike = one.ok == 1 || etp_ab_outputs_mute(&one);
    w->agrees[at] |= alike;
    w->agrees[against] |= alike;
    // Which of the two is wrong is not known. The baseline is part of every comparison as it is.
    w->arms[at].outputs_differ |= one.ok == 0;
    w->arms[against].outputs_differ |= one.ok == 0 && !first;
    return ETP_OK;
}

static etp_status compare_expected(const comparing *w, const etp_run *run, uint32_t run_arm,
                                   uint32_t at, etp_error *err)
{
    etp_ab_arm *arm = &w->arms[at];
    bool random = false;
    ETP_TRY(is_random(w, run, run_arm, at, &random, err));
    if (random) {
        return ETP_OK;
    }
    ETP_TRY(compare_dirs(w, at, at, folder_of(w, run, ETP_STR(ETP_RUN_EXPECTED)),
                         outputs_dir(w, run, run_arm), " against the expected ones",
                         ETP_FINDING_OUTPUTS_EXPECTED, &arm->expected, err));
    // Arms that agree with each other are alike, whatever was expected; of one that was held
    // against none this is all that is known.
    if (arm->expected.ok == 0 && !w->agrees[at]) {
        w->all->ok = 0;
        arm->outputs_differ = true;
    }
    return ETP_OK;
}

etp_status etp_ab_compare_sides_outputs(const etp_ab_session *s, bool same_task,
                                        etp_ab_findings *noticed, etp_ab_arm *arms,
                                        etp_ab_correctness *all, etp_error *err)
{
    const etp_ab_side *x = &s->sides[0], *y = &s->sides[1];
    const comparing w = {s, noticed, arms, all, ETP_NEW_ARRAY(s->ab.arena, bool, s->ab.n_arms + 1)};
    *all = ETP_AB_NOT_COMPARED;
    if (same_task) {
        ETP_TRY(compare_two(&w, &x->run, x->arm, s->ab.baseline, &y->run, y->arm, 1, err));
    }
    ETP_TRY(compare_expected(&w, &x->run, x->arm, 0, err));
    return compare_expected(&w, &y->run, y->arm, 1, err);
}

etp_status etp_ab_compare_outputs(const etp_ab_session *s, etp_ab_findings *noticed,
                                  etp_ab_arm *arms, etp_ab_correctness *all, etp_error *err)
{
    const comparing w = {s, noticed, arms, all, ETP_NEW_ARRAY(s->ab.arena, bool, s->ab.n_arms + 1)};
    *all = ETP_AB_NOT_COMPARED;
    for (size_t i = 0; i < s->ab.n_arms; i++) { // each against the first shown of its program
        size_t first = 0;
        while (arms[s->ab.shown[first]].model != arms[s->ab.shown[i]].model) {
            first++;
        }
        uint32_t against = s->ab.shown[first], at = s->ab.shown[i];
        if (against != at) {
            ETP_TRY(compare_two(&w, &s->run, against, against, &s->run, at, at, err));
        }
    }
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        ETP_TRY(compare_expected(&w, &s->run, a, a, err));
    }
    return ETP_OK;
}

bool etp_ab_programs_apart(const etp_ab *ab)
{
    bool apart = false;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        apart = apart || ab->arms[c->baseline].model != ab->arms[c->candidate].model;
    }
    return apart;
}
