// SPDX-License-Identifier: Apache-2.0
// Did all arms compute the same, and what the author of the inputs expects?
#include <math.h>

#include "compare/session.h"
#include "measure/outputs.h"

// What the program computes in, read from the operators that ran: decides how far outputs may
// differ. Quantised beats half beats single precision.
etp_output_precision etp_ab_precision_of(const etp_profile *p)
{
    etp_output_precision found = ETP_OUTPUTS_FLOAT32;
    for (size_t i = 0; p && i < p->n_rows; i++) {
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

// That NaN stands where NaN stands is no agreement of results.
static void mention_nan(etp_ab_session *s, const char *whose, const char *against,
                        const etp_outputs_comparison *c)
{
    if (c->nan_both == 0) {
        return;
    }
    etp_ab_find(
        &s->noticed, ETP_FINDING_OUTPUTS_NAN, ETP_SEVERITY_WARN, "outputs",
        etp_arena_printf(
            &s->arena,
            "outputs of %s%s: %llu of %llu elements are NaN on both sides, which says nothing%s",
            whose, against, (unsigned long long)c->nan_both, (unsigned long long)c->elements,
            c->nan_both == c->elements ? "; nothing was compared: look at the inputs" : ""));
}

static const etp_ab_correctness k_none = {-1, NAN, NAN, NAN, NAN};

static void take_worse(etp_ab_correctness *out, const etp_ab_correctness *c)
{
    out->ok = out->ok < 0 || c->ok < 0 ? (out->ok < 0 ? c->ok : out->ok) : out->ok && c->ok;
    out->max_abs = fmax(out->max_abs, c->max_abs); // fmax and fmin pass over a NAN
    out->max_rel = fmax(out->max_rel, c->max_rel);
    out->cosine = fmin(out->cosine, c->cosine);
    out->argmax = fmin(out->argmax, c->argmax);
}

// Worse of what was known and C; the first reason becomes a finding.
static void take_comparison(etp_ab_session *s, const char *whose, const char *against,
                            const etp_outputs_comparison *c, etp_ab_correctness *out)
{
    mention_nan(s, whose, against, c);
    if (c->ok && c->elements > 0 && c->nan_both == c->elements) {
        return;
    }
    etp_ab_correctness one = {c->ok, c->max_abs, c->max_rel, c->cosine, c->argmax};
    take_worse(out, &one);
    if (c->ok || !c->why) {
        return;
    }
    etp_ab_find(&s->noticed, ETP_FINDING_OUTPUTS, ETP_SEVERITY_BAD, "outputs",
                etp_arena_printf(&s->arena, "outputs of %s%s: %s", whose, against, c->why));
}

// Folder NAME of the run; NULL without memory.
static const char *folder_of(etp_ab_session *s, const etp_run *run, etp_str name)
{
    const char *dir = etp_arena_strdup(&s->arena, run->dir);
    return dir ? etp_run_path(&s->arena, dir, name) : NULL;
}

static const char *outputs_dir(etp_ab_session *s, const etp_run *run, uint32_t run_arm)
{
    const char *name = etp_run_outputs_name(&s->arena, &run->arms.items[run_arm]);
    return name ? folder_of(s, run, etp_str_from(name)) : NULL;
}

// Compares the folders X and Y where both are there.
static etp_status compare_dirs(etp_ab_session *s, uint32_t arm, const char *x, const char *y,
                               const char *against, etp_output_precision precision,
                               etp_ab_correctness *out, etp_error *err)
{
    etp_outputs_comparison c;
    etp_error why = {.offset = ETP_NO_OFFSET};
    ETP_NEED(x && y, err, "outputs");
    if (!etp_os_is_dir(x) || !etp_os_is_dir(y)) {
        return ETP_OK;
    }
    etp_status st = etp_outputs_compare(x, y, precision, &s->arena, &c, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, "outputs");
    }
    if (st != ETP_OK) {
        etp_ab_find(&s->noticed, ETP_FINDING_OUTPUTS_UNREAD, ETP_SEVERITY_WARN, NULL,
                    etp_arena_printf(&s->arena, "outputs of %s not compared%s: %s",
                                     s->ab.arms[arm].name, against, why.msg));
        return ETP_OK;
    }
    take_comparison(s, s->ab.arms[arm].name, against, &c, out);
    return ETP_OK;
}

// Arms AGAINST and AT of the answer run the same program.
static etp_status compare_two(etp_ab_session *s, const etp_run *base, uint32_t base_arm,
                              uint32_t against, const etp_run *cand, uint32_t cand_arm, uint32_t at,
                              etp_error *err)
{
    etp_ab_arm *arms = s->ab.arms;
    etp_ab_correctness one = k_none;
    const char *words =
        against == s->ab.baseline
            ? ""
            : etp_arena_printf(&s->arena, " against those of %s", arms[against].name);
    ETP_TRY(compare_dirs(s, at, outputs_dir(s, base, base_arm), outputs_dir(s, cand, cand_arm),
                         words, etp_ab_precision_of(arms[against].profile), &one, err));
    take_worse(&s->ab.correctness, &one);
    arms[at].outputs_differ = arms[at].outputs_differ || one.ok == 0;
    // Which of the two is wrong is not known. The baseline is part of every comparison as it is.
    arms[against].outputs_differ =
        arms[against].outputs_differ || (one.ok == 0 && against != s->ab.baseline);
    return ETP_OK;
}

etp_status etp_ab_compare_two_outputs(etp_ab_session *s, const etp_run *base, uint32_t base_arm,
                                      const etp_run *cand, uint32_t cand_arm, uint32_t at,
                                      etp_error *err)
{
    return compare_two(s, base, base_arm, s->ab.baseline, cand, cand_arm, at, err);
}

etp_status etp_ab_compare_expected(etp_ab_session *s, const etp_run *run, uint32_t run_arm,
                                   uint32_t at, etp_error *err)
{
    etp_ab_arm *arm = &s->ab.arms[at];
    ETP_TRY(compare_dirs(s, at, folder_of(s, run, ETP_STR(ETP_RUN_EXPECTED)),
                         outputs_dir(s, run, run_arm), " against the expected ones",
                         etp_ab_precision_of(arm->profile), &arm->expected, err));
    if (arm->expected.ok == 0) { // a wrong answer is wrong in however many arms
        s->ab.correctness.ok = 0;
        arm->outputs_differ = true;
    }
    return ETP_OK;
}

etp_status etp_ab_compare_outputs(etp_ab_session *s, etp_error *err)
{
    const etp_ab_arm *arms = s->ab.arms;
    s->ab.correctness = k_none;
    for (size_t i = 0; i < s->ab.n_arms; i++) { // each against the first shown of its program
        size_t first = 0;
        while (arms[s->ab.shown[first]].model != arms[s->ab.shown[i]].model) {
            first++;
        }
        uint32_t against = s->ab.shown[first], at = s->ab.shown[i];
        if (against != at) {
            ETP_TRY(compare_two(s, &s->run, against, against, &s->run, at, at, err));
        }
    }
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        s->ab.arms[a].expected = k_none;
        ETP_TRY(etp_ab_compare_expected(s, &s->run, a, a, err));
    }
    return ETP_OK;
}
