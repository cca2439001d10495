// SPDX-License-Identifier: Apache-2.0
// Bisection over prefixes, and the operator alone.
#include "numerics/numerics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "measure/outputs.h"
#include "numerics/pairs.h"
#include "numerics/reference.h"
#include "numerics/times.h"

#define LAST_LOOKED_AT 64u // operators from the end, for one whose output differs

typedef struct search {
    etp_arms *arms;
    const etp_arm_side *sides; // of the arms
    etp_output_precision precision;
    bool every;
    uint32_t jump;  // the first instruction that jumps: none can be cut from there on
    uint32_t *rows; // of places, ETP_NO_INDEX: not compared yet
    etp_arena *arena;
    etp_numerics *out;
    etp_error *err;
} search;

// ---- one operator in both arms ----

static etp_status add_row(search *s, uint32_t place, bool alone, uint32_t *out_row)
{
    const char *a = etp_arms_dir(s->arms, ETP_BASELINE, place, alone),
               *b = etp_arms_dir(s->arms, ETP_CANDIDATE, place, alone);
    etp_outputs_comparison c;
    etp_numerics_row row = {
        .place = place,
        .name = etp_cut_place_text(&s->sides[ETP_BASELINE].ops.items[place].at, s->arena),
        .alone = alone,
        .snr_db = (double)NAN,
        .baseline_ns = (double)NAN,
        .candidate_ns = (double)NAN};
    ETP_TRY(etp_outputs_compare(a, b, s->precision, s->arena, &c, s->err));
    if (c.n == 0) { // of another type or shape: nothing is said of its numbers
        return etp_fail(s->err, ETP_UNSUPPORTED, "what %s makes cannot be compared: %s", row.name,
                        ETP_OR(c.why, "it hands nothing out"));
    }
    ETP_TRY(etp_outputs_equal(a, b, s->arena, &row.same_bits, s->err));
    row.within = c.ok;
    row.max_abs = c.max_abs;
    row.max_rel = c.max_rel;
    row.cosine = c.cosine;
    row.dtype = c.outputs[0].dtype;
    row.elements = c.outputs[0].elements;
    row.mismatched = c.outputs[0].mismatched;
    row.snr_db = c.outputs[0].snr_db;
    *out_row = (uint32_t)s->out->rows.n;
    ETP_ADD(s->arena, &s->out->rows, row);
    return ETP_OK;
}

// Of PLACE, compared at most once.
static etp_status compare(search *s, uint32_t place, etp_numerics_row *out)
{
    if (s->rows[place] == ETP_NO_INDEX) {
        for (int which = ETP_BASELINE; which <= ETP_CANDIDATE; which++) {
            const char *model = NULL;
            ETP_TRY(etp_arms_cut(s->arms, which, place, false, NULL, NULL, &model));
            ETP_TRY(etp_arms_run(s->arms, which, model, NULL,
                                 etp_arms_dir(s->arms, which, place, false)));
        }
        ETP_TRY(add_row(s, place, false, &s->rows[place]));
    }
    *out = s->out->rows.items[s->rows[place]];
    return ETP_OK;
}

static bool is_seen(const search *s, uint32_t place)
{
    const etp_op *op = &s->sides[ETP_BASELINE].ops.items[place];
    return op->makes && op->at.instruction < s->jump;
}

static bool parted(const search *s, const etp_numerics_row *row)
{
    return s->out->exact ? !row->same_bits : !row->within;
}

// ---- the search ----

// The last operator whose output differs. *found ETP_NO_INDEX: none of those that were looked at.
static etp_status find_last(search *s, uint32_t *found)
{
    const etp_ops *ops = &s->sides[ETP_BASELINE].ops;
    uint32_t looked = 0;
    *found = ETP_NO_INDEX;
    for (uint32_t i = (uint32_t)ops->n; i-- > 0 && looked < LAST_LOOKED_AT;) {
        etp_numerics_row row;
        if (!is_seen(s, i)) {
            continue;
        }
        ETP_TRY(compare(s, i, &row));
        looked++;
        if (parted(s, &row)) {
            *found = i;
            return ETP_OK;
        }
    }
    return ETP_OK;
}

// The operators whose outputs PLACE takes, and through one whose output cannot be seen, those whose
// outputs that one takes: *WORSE is one that differs, *SAME_BITS turns false where one is not
// equal.
static etp_status see_operands(search *s, uint32_t place, uint32_t *worse, bool *same_bits)
{
    const etp_op *op = &s->sides[ETP_BASELINE].ops.items[place];
    for (size_t k = 0; k < op->n_operands && *worse == ETP_NO_INDEX; k++) {
        uint32_t maker = op->operands[k].maker;
        if (!s->sides[ETP_BASELINE].ops.items[maker].makes) {
            ETP_TRY(see_operands(s, maker, worse, same_bits));
            continue;
        }
        etp_numerics_row row;
        ETP_TRY(compare(s, maker, &row));
        *same_bits = *same_bits && row.same_bits;
        *worse = parted(s, &row) ? maker : ETP_NO_INDEX;
    }
    return ETP_OK;
}

static uint32_t maker_of(const etp_ops *ops, const etp_cut_place *at, uint32_t value)
{
    for (size_t i = 0; i < ops->n; i++) {
        const etp_op *op = &ops->items[i];
        for (size_t k = 0; op->at.instruction == at->instruction && k < op->n_operands; k++) {
            if (op->operands[k].value == value && op->at.node != ETP_NO_INDEX) {
                return op->operands[k].maker;
            }
        }
    }
    return ETP_NO_INDEX;
}

// PLACE alone in both arms, on what the baseline's operators handed out. *ran false: an operand is
// an input of the method, or it cannot stand alone.
static etp_status run_alone(search *s, uint32_t place, bool *ran, etp_numerics_row *out)
{
    const etp_arm_side *base = &s->sides[ETP_BASELINE];
    const etp_cut_place *at = &base->ops.items[place].at;
    const char *files = "", *model = NULL;
    *ran = false;
    if (at->node == ETP_NO_INDEX) {
        return ETP_OK;
    }
    for (int which = ETP_BASELINE; which <= ETP_CANDIDATE; which++) {
        const uint32_t *values = NULL;
        uint32_t n = 0;
        ETP_TRY(etp_arms_cut(s->arms, which, place, true, &values, &n, &model));
        for (uint32_t k = 0; which == ETP_BASELINE && k < n; k++) {
            uint32_t maker = maker_of(&base->ops, at, values[k]);
            if (maker == ETP_NO_INDEX || s->rows[maker] == ETP_NO_INDEX) {
                return ETP_OK;
            }
            files = etp_arena_printf(s->arena, "%s%s%s/output-0.bin", files, etp_if(k, ","),
                                     etp_arms_dir(s->arms, ETP_BASELINE, maker, false));
        }
        ETP_TRY(
            etp_arms_run(s->arms, which, model, files, etp_arms_dir(s->arms, which, place, true)));
    }
    uint32_t row;
    ETP_TRY(add_row(s, place, true, &row));
    *out = s->out->rows.items[row];
    *ran = true;
    return ETP_OK;
}

// Of two programs: does the operator itself differ, as in a weight? Its program alone tells.
static etp_status hold_own(search *s, uint32_t place)
{
    const etp_arm_side *x = s->sides;
    etp_bytes own[2];
    if (x[ETP_BASELINE].arm->model == x[ETP_CANDIDATE].arm->model) {
        return ETP_OK;
    }
    etp_status status =
        x[ETP_BASELINE].ops.items[place].at.node == ETP_NO_INDEX ? ETP_UNSUPPORTED : ETP_OK;
    for (int which = ETP_BASELINE; which <= ETP_CANDIDATE && status == ETP_OK; which++) {
        status =
            etp_cut_capsule(x[which].file.bytes, x[which].program, &x[which].ops.items[place].at,
                            s->arena, &own[which], NULL, NULL, s->err);
    }
    if (status == ETP_UNSUPPORTED) {
        s->out->why = "its constants were not held against each other";
        return ETP_OK;
    }
    ETP_TRY(status);
    bool same = own[0].len == own[1].len && memcmp(own[0].ptr, own[1].ptr, own[0].len) == 0;
    s->out->why = same ? "its weights and parameters are the same in both programs"
                       : "its weights or parameters are not the same in both programs";
    return ETP_OK;
}

static etp_status judge(search *s, uint32_t place, bool same_bits)
{
    etp_numerics *out = s->out;
    etp_numerics_row alone;
    bool ran = false;
    out->parts = etp_cut_place_text(&s->sides[ETP_BASELINE].ops.items[place].at, s->arena);
    if (!same_bits) {
        ETP_TRY(run_alone(s, place, &ran, &alone));
    }
    if (same_bits || ran) {
        out->verdict = same_bits || parted(s, &alone) ? ETP_NUMERICS_PART : ETP_NUMERICS_GROW;
        return out->verdict == ETP_NUMERICS_PART ? hold_own(s, place) : ETP_OK;
    }
    out->why = "its operands differ within the tolerance, and it cannot be run alone";
    return ETP_OK;
}

// All that can be cut, not only what the search came by.
static etp_status compare_every(search *s)
{
    const etp_ops *ops = &s->sides[ETP_BASELINE].ops;
    etp_arms_tell(s->arms, "comparing every operator");
    for (uint32_t i = 0; i < ops->n; i++) {
        etp_numerics_row row;
        etp_status status = is_seen(s, i) ? compare(s, i, &row) : ETP_OK;
        ETP_TRY(status == ETP_UNSUPPORTED ? ETP_OK : status);
    }
    etp_arm_times times;
    ETP_TRY(etp_arm_times_measure(s->arms, &times));
    s->out->waited = times.waited;
    s->out->untimed = times.untimed;
    for (size_t i = 0; i < s->out->rows.n; i++) {
        etp_numerics_row *row = &s->out->rows.items[i];
        row->baseline_ns = etp_arm_times_of(s->arms, &times, ETP_BASELINE, row->place);
        row->candidate_ns = etp_arm_times_of(s->arms, &times, ETP_CANDIDATE, row->place);
    }
    return ETP_OK;
}

static int by_place(const void *a, const void *b)
{
    const etp_numerics_row *x = a, *y = b;
    return etp_order_then(ETP_ORDER(x->place, y->place), x->alone - y->alone);
}

static etp_status look(search *s)
{
    etp_numerics *out = s->out;
    // The whole programs, each with all its outputs. An arm that does not repeat its own bits
    // cannot be held to those of the other.
    static const char *const k_names[] = {"numerics-whole.0", "numerics-whole.1",
                                          "numerics-whole.2"};
    const char *dirs[3];
    for (int i = 0; i < (out->exact ? 3 : 2); i++) {
        dirs[i] = etp_arena_printf(s->arena, "%s/%s", s->arms->device->work_dir, k_names[i]);
        ETP_TRY(etp_arms_run(s->arms, i % 2, s->sides[i % 2].model, NULL, dirs[i]));
    }
    bool same = true, same_bits = true;
    if (out->exact) {
        ETP_TRY(etp_outputs_equal(dirs[0], dirs[2], s->arena, &out->exact, s->err));
    }
    etp_outputs_comparison c;
    ETP_TRY(etp_outputs_compare(dirs[0], dirs[1], s->precision, s->arena, &c, s->err));
    ETP_TRY(etp_outputs_equal(dirs[0], dirs[1], s->arena, &same, s->err));
    if (out->exact ? same : c.ok) {
        out->verdict = ETP_NUMERICS_AGREE;
        return ETP_OK;
    }
    etp_arms_tell(s->arms, "the outputs differ: looking for the first operator whose output does");
    uint32_t place;
    ETP_TRY(find_last(s, &place));
    if (place == ETP_NO_INDEX) {
        const etp_method *m = s->sides[ETP_BASELINE].method;
        out->why = "the outputs differ, but no visible output of an operator does";
        if (s->jump < m->n_instructions) {
            out->why = etp_arena_printf(s->arena,
                                        "%s; control flow leads to those behind instruction %lu, "
                                        "which jumps: they cannot be cut out",
                                        out->why, (unsigned long)m->instructions[s->jump].index);
        }
        return ETP_OK;
    }
    // Of those that can be seen up to PLACE, which differs, one that does where the one before does
    // not.
    const etp_ops *ops = &s->sides[ETP_BASELINE].ops;
    uint32_t *seen = ETP_NEW_ARRAY(s->arena, uint32_t, ops->n), low = 0, top = 0;
    for (uint32_t i = 0, n = 0; i <= place; i++) {
        if (ops->items[i].makes) {
            top = n;
            seen[n++] = i;
        }
    }
    while (low < top) { // all below LOW agree as far as was seen, TOP differs
        uint32_t middle = low + (top - low) / 2;
        etp_numerics_row row;
        ETP_TRY(compare(s, seen[middle], &row));
        if (parted(s, &row)) {
            top = middle;
        } else {
            low = middle + 1;
        }
    }
    place = seen[top];
    // From PLACE up to an operator whose operands all agree: on another branch than the one that
    // the bisection followed may be an earlier one. Ends, as operands are always made before.
    for (uint32_t worse = place; worse != ETP_NO_INDEX;) {
        place = worse;
        worse = ETP_NO_INDEX;
        same_bits = true;
        ETP_TRY(see_operands(s, place, &worse, &same_bits));
    }
    return judge(s, place, same_bits);
}

// ---- the two arms ----

static etp_status list_guarded(etp_arms *arms)
{
    for (int which = ETP_BASELINE; which <= ETP_CANDIDATE; which++) {
        etp_ops_of(arms->sides[which].method, arms->arena, &arms->sides[which].ops);
    }
    return ETP_OK;
}

static etp_status list_operators(etp_arms *arms)
{
    ETP_GUARDED(arms->arena, arms->err, "operators", list_guarded(arms));
}

static etp_status search_guarded(search *s)
{
    etp_numerics *out = s->out;
    etp_arm_side *sides = s->arms->sides;
    const etp_ops *ops = &sides[ETP_BASELINE].ops;
    const char *differ = etp_ops_differ(ops, &sides[ETP_CANDIDATE].ops, s->arena);
    differ = differ ? differ : etp_ops_other_types(ops, &sides[ETP_CANDIDATE].ops, s->arena);
    if (differ || s->arms->ask) {
        etp_precision *precision = ETP_NEW(s->arena, etp_precision);
        out->precision = precision;
        return etp_precision_measure(s->arms, differ, precision);
    }
    const etp_method *m = sides[ETP_BASELINE].method;
    s->jump = 0;
    while (s->jump < m->n_instructions && m->instructions[s->jump].kind != ETP_INSTR_JUMP_FALSE) {
        s->jump++;
    }
    out->operators = (uint32_t)ops->n;
    s->rows = ETP_NEW_ARRAY(s->arena, uint32_t, ops->n);
    for (size_t i = 0; i < ops->n; i++) {
        s->rows[i] = ETP_NO_INDEX;
        out->not_cut += !is_seen(s, (uint32_t)i);
    }
    s->precision = etp_ops_precision(m);
    etp_status status = look(s);
    if (status == ETP_UNSUPPORTED) { // a cut that cannot be made: nobody is blamed
        out->why = etp_arena_printf(s->arena, "%s", s->err->msg);
        status = ETP_OK;
    }
    if (status == ETP_OK && s->every) {
        status = compare_every(s);
    }
    etp_error_graph_of(ops, s->arena, &out->graph);
    for (size_t i = 0; i < out->rows.n; i++) {
        const etp_numerics_row *row = &out->rows.items[i];
        if (!row->alone) {
            etp_error_graph_put(&out->graph, row->place, row->snr_db, parted(s, row), s->arena);
        }
    }
    if (out->rows.n > 0) {
        qsort(out->rows.items, out->rows.n, sizeof *out->rows.items, by_place);
    }
    return status;
}

static etp_status run_search(search *s)
{
    ETP_GUARDED(s->arena, s->err, "the comparison", search_guarded(s));
}

etp_status etp_numerics_measure(etp_device *device, const etp_session_plan *plan,
                                const etp_session_view *view, const etp_numerics_options *options,
                                etp_arena *arena, etp_numerics *out, etp_error *err)
{
    etp_error local = {0};
    etp_arms arms = {.device = device,
                     .plan = plan,
                     .view = view,
                     .ask = options->ask,
                     .ask_ctx = options->ask_ctx,
                     .arena = arena,
                     .err = err ? err : &local};
    search s = {.arms = &arms,
                .sides = arms.sides,
                .every = options->every,
                .arena = arena,
                .out = out,
                .err = arms.err};
    *out = (etp_numerics){.waited = (double)NAN};
    etp_status status = etp_arms_open(&arms);
    if (status == ETP_OK) {
        const etp_planned_arm *a = arms.sides[0].arm, *b = arms.sides[1].arm;
        out->baseline = a->name;
        out->candidate = b->name;
        out->exact =
            strcmp(a->mask, b->mask) == 0 && a->threads == b->threads && a->bundle == b->bundle;
        status = list_operators(&arms);
        status = status == ETP_OK && options->ask ? etp_reference_make(&arms) : status;
        status = status == ETP_OK ? run_search(&s) : status;
    }
    out->launches = arms.launches;
    etp_arms_close(&arms);
    return status;
}
