// SPDX-License-Identifier: Apache-2.0
// Did all arms compute the same, and what the author of the inputs expects?
#include <math.h>

#include "answer/ab_session.h"
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

// Worse of what was known and C; the first reason becomes a finding.
static etp_status take_comparison(etp_ab_session *s, const char *whose, const char *against,
                                  const etp_outputs_comparison *c, etp_ab_correctness *out, etp_error *err)
{
    out->ok = out->ok < 0 ? c->ok : out->ok && c->ok;
    out->max_abs = fmax(out->max_abs, c->max_abs); // fmax and fmin pass over a NAN
    out->max_rel = fmax(out->max_rel, c->max_rel);
    out->cosine = fmin(out->cosine, c->cosine);
    out->argmax = fmin(out->argmax, c->argmax);
    if (c->ok || !c->why) {
        return ETP_OK;
    }
    return etp_ab_find(s, ETP_FINDING_OUTPUTS, "bad", "outputs",
                       etp_arena_printf(&s->arena, "outputs of %s%s: %s", whose, against, c->why), err);
}

static const char *outputs_dir(etp_ab_session *s, const char *dir, uint32_t arm)
{
    const char *name = etp_run_outputs_name(&s->arena, &s->run.arms.items[arm]);
    return name ? etp_run_path(&s->arena, dir, etp_str_from(name)) : NULL;
}

// Compares the folders X and Y where both are there.
static etp_status compare_dirs(etp_ab_session *s, uint32_t arm, const char *x, const char *y,
                               const char *against, etp_output_precision precision,
                               etp_ab_correctness *out, etp_error *err)
{
    etp_outputs_comparison c;
    etp_error why = {.offset = ETP_NO_OFFSET};
    if (!x || !y) {
        return etp_fail_nomem(err, "outputs");
    }
    if (!etp_os_is_dir(x) || !etp_os_is_dir(y)) {
        return ETP_OK;
    }
    if (etp_outputs_compare(x, y, precision, &s->arena, &c, &why) != ETP_OK) {
        return etp_ab_find(s, ETP_FINDING_OUTPUTS_UNREAD, "warn", NULL,
                           etp_arena_printf(&s->arena, "outputs of %s not compared%s: %s", s->ab.arms[arm].name,
                                            against, why.msg),
                           err);
    }
    return take_comparison(s, s->ab.arms[arm].name, against, &c, out, err);
}

etp_status etp_ab_compare_outputs(etp_ab_session *s, etp_error *err)
{
    static const etp_ab_correctness k_none = {-1, NAN, NAN, NAN, NAN};
    etp_ab_correctness *out = &s->ab.correctness;
    uint32_t base = s->ab.baseline;
    *out = k_none;
    const char *dir = etp_arena_strdup(&s->arena, s->run.dir);
    const char *expected = dir ? etp_run_path(&s->arena, dir, ETP_STR(ETP_RUN_EXPECTED)) : NULL;
    if (!expected) {
        return etp_fail_nomem(err, "outputs");
    }
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        etp_ab_arm *arm = &s->ab.arms[a];
        arm->expected = k_none;
        if (a != base && arm->model == s->ab.arms[base].model) {
            ETP_TRY(compare_dirs(s, a, outputs_dir(s, dir, base), outputs_dir(s, dir, a), "",
                                 etp_ab_precision_of(s->ab.arms[base].profile), out, err));
        }
        ETP_TRY(compare_dirs(s, a, expected, outputs_dir(s, dir, a), " against the expected ones",
                             etp_ab_precision_of(arm->profile), &arm->expected, err));
    }
    for (uint32_t a = 0; a < s->ab.n_arms; a++) { // a wrong answer is wrong in however many arms
        out->ok = s->ab.arms[a].expected.ok == 0 ? 0 : out->ok;
    }
    return ETP_OK;
}
