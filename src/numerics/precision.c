// SPDX-License-Identifier: Apache-2.0
// Errors at cut points, and times of the operators there.
#include "numerics/precision.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "measure/outputs.h"
#include "numerics/noise.h"
#include "numerics/reference.h"
#include "numerics/times.h"

#define KEEP_MOST 8u    // operators that may stay
#define KEEP_SHARE 0.01 // of the noise that one of them has at least

typedef struct point { // an operator whose output was held against its partner's
    bool looked;
    const char *why; // it could not be
    etp_output_difference is;
} point;

typedef struct table {
    etp_arms *arms;
    etp_precision *out;
    uint32_t *pairs; // of the baseline's operators
    point *points;   // likewise
    bool *ran[2];    // of each program's operators: its output is there
    uint32_t ends;   // the baseline's operator that makes the worst output
    etp_arena *arena;
    etp_error *err;
} table;

// ---- errors ----

static etp_status run_to(table *t, int which, uint32_t place)
{
    const char *model = NULL;
    if (t->ran[which][place]) {
        return ETP_OK;
    }
    if (t->out->eager && which == ETP_BASELINE) {
        return etp_os_is_dir(etp_arms_dir(t->arms, which, place, false))
                   ? ETP_OK
                   : etp_fail(t->err, ETP_UNSUPPORTED,
                              "which node of PyTorch's graph it is cannot be told");
    }
    ETP_TRY(etp_arms_cut(t->arms, which, place, false, NULL, NULL, &model));
    etp_status status =
        etp_arms_run(t->arms, which, model, NULL, etp_arms_dir(t->arms, which, place, false));
    t->ran[which][place] = status == ETP_OK;
    etp_status removed = etp_os_remove_tree(model, status == ETP_OK ? t->err : NULL);
    return status == ETP_OK ? removed : status;
}

// The output of PLACE and what its elements stand for. False: nobody knows.
static bool side_of(const table *t, int which, uint32_t place, etp_outputs_side *out)
{
    const etp_value *v = etp_op_result(&t->arms->sides[which].ops.items[place]);
    *out = (etp_outputs_side){.dir = etp_arms_dir(t->arms, which, place, false)};
    if (t->out->eager && which == ETP_BASELINE) {
        return true;
    }
    if (v->quant.kind == ETP_QUANT_PER_TENSOR) {
        out->scale = (double)v->quant.scale;
        out->zero = v->quant.zero_point;
    }
    return v->dtype == ETP_DTYPE_FLOAT32 || v->dtype == ETP_DTYPE_FLOAT16 ||
           v->dtype == ETP_DTYPE_BFLOAT16 || v->dtype == ETP_DTYPE_FLOAT64 ||
           (out->scale != 0 && isfinite(out->scale));
}

// Of an operator of the baseline that has a partner; looked at once.
static etp_status point_of(table *t, uint32_t place, const point **out)
{
    point *p = &t->points[place];
    *out = p;
    if (p->looked) {
        return ETP_OK;
    }
    p->looked = true;
    const uint32_t places[2] = {place, t->pairs[place]};
    etp_outputs_side sides[2];
    etp_outputs_comparison c;
    for (int which = ETP_BASELINE; which <= ETP_CANDIDATE; which++) {
        if (!side_of(t, which, places[which], &sides[which])) {
            p->why = "its result has no single scale";
            return ETP_OK;
        }
        etp_status status = run_to(t, which, places[which]);
        // A cut that cannot be made or run is a sentence about this operator, not the end.
        if (status == ETP_UNSUPPORTED || status == ETP_CHILD) {
            p->why = etp_arena_printf(t->arena, "%s", t->err->msg);
            return ETP_OK;
        }
        ETP_TRY(status);
    }
    // Of PyTorch's results that may lie channels last too, in the order that agrees better: a wrong
    // order agrees in nothing.
    etp_outputs_side last = sides[0];
    etp_outputs_comparison other;
    ETP_TRY(etp_outputs_numbers(&sides[0], &sides[1], t->arena, &c, t->err));
    last.dir = etp_arena_printf(t->arena, "%s.last", sides[0].dir);
    if (t->out->eager && etp_os_is_dir(last.dir)) {
        ETP_TRY(etp_outputs_numbers(&last, &sides[1], t->arena, &other, t->err));
        const bool better = other.n && c.n && other.outputs[0].snr_db > c.outputs[0].snr_db;
        c = better ? other : c;
    }
    if (c.n == 0 || c.outputs[0].nan_a + c.outputs[0].nan_b > 0 ||
        !isfinite(c.outputs[0].max_abs)) {
        p->why = c.n == 0 && c.why ? c.why : "its results are not all finite";
        return ETP_OK;
    }
    if (c.outputs[0].power == 0) {
        p->why = "all that the baseline makes is 0";
        return ETP_OK;
    }
    p->is = c.outputs[0];
    return ETP_OK;
}

static double noise_of(double snr_db)
{
    return pow(10, -snr_db / 10); // none where it is infinite
}

static double snr_of(double noise)
{
    return -10 * log10(noise);
}

// The noise of what OP multiplies: that of its operands together. NAN: not known.
static etp_status operands_noise(table *t, const etp_op *op, double *out, bool *exact)
{
    uint32_t *sources;
    const uint32_t n = etp_op_sources(&t->arms->sides[ETP_BASELINE].ops, op, t->arena, &sources);
    *out = 0;
    *exact = n == 0;
    for (uint32_t k = 0; k < n; k++) {
        const point *p = NULL;
        if (t->pairs[sources[k]] == ETP_NO_INDEX) {
            *out = (double)NAN;
            return ETP_OK;
        }
        ETP_TRY(point_of(t, sources[k], &p));
        *out += p->why ? (double)NAN : noise_of(p->is.snr_db);
    }
    return ETP_OK;
}

static const char *weights_of(const etp_op *op)
{
    const etp_instruction *i = &op->at.method->instructions[op->at.instruction];
    const bool call = op->at.node == ETP_NO_INDEX;
    const etp_partition *p = call ? NULL : &op->at.method->partitions[i->partition];
    const uint32_t *inputs = p ? p->nodes[op->at.node].inputs : i->inputs;
    const uint32_t n = p ? p->nodes[op->at.node].n_inputs : i->n_inputs;
    const etp_value *values = p ? p->values : op->at.method->values;
    for (uint32_t k = 0; k < n; k++) {
        const etp_value *v = &values[inputs[k]];
        if (v->constant && v->rank > 1) {
            return etp_dtype_name(v->dtype);
        }
    }
    return NULL;
}

static etp_status add_row(table *t, uint32_t place)
{
    const etp_op *op = &t->arms->sides[ETP_BASELINE].ops.items[place];
    const etp_op *partner = &t->arms->sides[ETP_CANDIDATE].ops.items[t->pairs[place]];
    const double nan = (double)NAN;
    const point *p = NULL;
    double before = nan;
    etp_precision_row row = {.place = place,
                             .name = etp_cut_place_text(&op->at, t->arena),
                             .partner = etp_cut_place_text(&partner->at, t->arena),
                             .dtype = etp_dtype_name(etp_op_result(partner)->dtype),
                             .weights = weights_of(partner),
                             .max_abs = nan,
                             .max_rel = nan,
                             .snr_db = nan,
                             .cosine = nan,
                             .operands_db = nan,
                             .loss_db = nan,
                             .noise = nan,
                             .share = nan,
                             .baseline_ns = nan,
                             .candidate_ns = nan,
                             .speedup = nan};
    ETP_TRY(operands_noise(t, op, &before, &row.exact_operands));
    ETP_TRY(point_of(t, place, &p));
    row.why = p->why;
    if (!p->why) {
        row.elements = p->is.elements;
        row.max_abs = p->is.max_abs;
        row.max_rel = p->is.max_rel;
        row.snr_db = p->is.snr_db;
        row.cosine = p->is.cosine;
        row.operands_db = before > 0 ? snr_of(before) : nan;
        row.loss_db = row.operands_db - row.snr_db;
        row.noise = fmax(noise_of(row.snr_db) - before, 0);
        row.noise = isnan(before) ? nan : row.noise;
    }
    if (!p->why) {
        etp_error_graph_put(&t->out->graph, place, row.snr_db, false, t->arena);
    }
    ETP_ADD(t->arena, &t->out->rows, row);
    return ETP_OK;
}

// ---- the whole ----

static etp_status compare_whole(table *t)
{
    etp_outputs_side sides[2] = {0};
    etp_outputs_comparison c;
    for (int which = ETP_BASELINE; which <= ETP_CANDIDATE; which++) {
        if (t->out->eager && which == ETP_BASELINE) {
            sides[which].dir = etp_reference_outputs(t->arms);
            continue;
        }
        sides[which].dir =
            etp_arena_printf(t->arena, "%s/numerics-whole.%d", t->arms->device->work_dir, which);
        ETP_TRY(etp_arms_run(t->arms, which, t->arms->sides[which].model, NULL, sides[which].dir));
    }
    ETP_TRY(etp_outputs_numbers(&sides[0], &sides[1], t->arena, &c, t->err));
    if (c.n == 0) {
        return etp_fail(t->err, ETP_USAGE, "the outputs of the two programs cannot be compared: %s",
                        ETP_OR(c.why, "there are none"));
    }
    t->out->snr_db = (double)INFINITY;
    t->out->max_abs = c.max_abs;
    t->out->max_rel = c.max_rel;
    t->out->cosine = c.cosine;
    const etp_ops *ops = &t->arms->sides[ETP_BASELINE].ops;
    t->ends = ETP_NO_INDEX;
    for (size_t i = 0; i < c.n; i++) {
        const etp_output_difference *o = &c.outputs[i];
        if (o->snr_db < t->out->snr_db) {
            t->out->snr_db = o->snr_db;
            t->ends = o->index < ops->n_outputs ? ops->outputs[o->index] : ETP_NO_INDEX;
        }
    }
    return ETP_OK;
}

// Those that multiply, of which so many have no partner. ETP_USAGE: of so many that the programs
// are not of one model, for all that can be told.
static etp_status choose(table *t, const char *differ)
{
    const etp_ops *a = &t->arms->sides[ETP_BASELINE].ops, *b = &t->arms->sides[ETP_CANDIDATE].ops;
    etp_precision *out = t->out;
    uint32_t there = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        there += etp_op_multiplies(&b->items[i]);
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (!etp_op_multiplies(&a->items[i])) {
            continue;
        }
        out->multiplying++;
        if (t->pairs[i] == ETP_NO_INDEX) {
            out->first_unpaired = out->unpaired++ ? out->first_unpaired
                                                  : etp_cut_place_text(&a->items[i].at, t->arena);
        }
    }
    const uint32_t paired = out->multiplying - out->unpaired;
    return paired > 0 && 2 * paired >= out->multiplying && 2 * paired >= there
               ? ETP_OK
               : etp_fail(t->err, ETP_USAGE,
                          "the programs have not the same operators: %s; of %lu and %lu that "
                          "multiply %lu are the same",
                          differ, (unsigned long)out->multiplying, (unsigned long)there,
                          (unsigned long)paired);
}

// ---- times ----

static etp_status add_times(table *t)
{
    etp_precision *out = t->out;
    etp_arm_times times;
    ETP_TRY(etp_arm_times_measure(t->arms, &times));
    out->untimed = times.untimed;
    out->waited = times.waited;
    out->baseline_ns = times.whole_ns[ETP_BASELINE];
    out->candidate_ns = times.whole_ns[ETP_CANDIDATE];
    for (size_t i = 0; i < out->rows.n; i++) {
        etp_precision_row *row = &out->rows.items[i];
        row->baseline_ns = etp_arm_times_of(t->arms, &times, ETP_BASELINE, row->place);
        row->candidate_ns = etp_arm_times_of(t->arms, &times, ETP_CANDIDATE, t->pairs[row->place]);
        row->speedup = row->baseline_ns / row->candidate_ns;
    }
    return ETP_OK;
}

// ---- what would be gained ----

static int by_share(const void *a, const void *b)
{
    const etp_precision_row *x = *(const etp_precision_row *const *)a,
                            *y = *(const etp_precision_row *const *)b;
    return etp_order_then(ETP_ORDER(y->share, x->share), ETP_ORDER(x->place, y->place));
}

// Shares of the noise of the worst output, which T->ends is.
static void share_out(const table *t)
{
    const etp_ops *ops = &t->arms->sides[ETP_BASELINE].ops;
    etp_precision *out = t->out;
    etp_noise_point *points = ETP_NEW_ARRAY(t->arena, etp_noise_point, ops->n);
    double *shares = ETP_NEW_ARRAY(t->arena, double, out->rows.n);
    for (size_t i = 0; i < ops->n; i++) {
        const point *p = &t->points[i];
        const bool known = p->looked && !p->why;
        // Kept in float it would be stored as it is for those that read it.
        const bool stored =
            known && etp_op_is_read(&t->arms->sides[ETP_CANDIDATE].ops, t->pairs[i]);
        points[i] = (etp_noise_point){.noise = known ? noise_of(p->is.snr_db) : (double)NAN,
                                      .power = p->is.power,
                                      .rounding = stored ? p->is.rounding : 0,
                                      .row = ETP_NO_INDEX};
    }
    for (uint32_t i = 0; i < out->rows.n; i++) {
        const etp_precision_row *row = &out->rows.items[i];
        points[row->place].row = isnan(row->noise) ? ETP_NO_INDEX : i;
    }
    etp_noise_shares(ops, points, out->rows.n, t->ends, noise_of(out->snr_db), t->arena, shares);
    for (size_t i = 0; i < out->rows.n; i++) {
        out->rows.items[i].share = shares[i];
    }
}

static void suggest(const table *t)
{
    etp_precision *out = t->out;
    const size_t n = out->rows.n;
    etp_precision_row **rows = ETP_NEW_ARRAY(t->arena, etp_precision_row *, n);
    const double lost = noise_of(out->snr_db);
    double taken = 0, ns = 0;
    for (size_t i = 0; i < n; i++) {
        rows[i] = &out->rows.items[i];
    }
    qsort(rows, n, sizeof(etp_precision_row *), by_share);
    for (uint32_t i = 0; i < n && i < KEEP_MOST && rows[i]->share >= KEEP_SHARE; i++) {
        taken += rows[i]->share;
        ns += rows[i]->baseline_ns - rows[i]->candidate_ns;
        ETP_ADD(t->arena, &out->keep,
                ((etp_precision_keep){.operators = i + 1,
                                      .name = rows[i]->name,
                                      .module = rows[i]->module,
                                      .share = rows[i]->share,
                                      .snr_db = snr_of(lost * fmax(1 - taken, 0)),
                                      .ns = ns}));
    }
}

// ---- all of it ----

etp_status etp_precision_measure(etp_arms *arms, const char *differ, etp_precision *out)
{
    const etp_arm_side *sides = arms->sides;
    table t = {.arms = arms, .out = out, .arena = arms->arena, .err = arms->err};
    *out = (etp_precision){.baseline = arms->ask ? "PyTorch" : sides[ETP_BASELINE].arm->name,
                           .eager = arms->ask != NULL,
                           .candidate = sides[ETP_CANDIDATE].arm->name,
                           .baseline_ns = (double)NAN,
                           .candidate_ns = (double)NAN,
                           .waited = (double)NAN};
    t.points = ETP_NEW_ARRAY(t.arena, point, sides[ETP_BASELINE].ops.n);
    for (int which = ETP_BASELINE; which <= ETP_CANDIDATE; which++) {
        t.ran[which] = ETP_NEW_ARRAY(t.arena, bool, sides[which].ops.n);
    }
    ETP_TRY(etp_ops_pair(&sides[ETP_BASELINE].ops, &sides[ETP_CANDIDATE].ops, t.arena, &t.pairs,
                         t.err));
    ETP_TRY(choose(&t, differ));
    etp_error_graph_of(&sides[ETP_BASELINE].ops, t.arena, &out->graph);
    ETP_TRY(compare_whole(&t));
    const etp_ops *ops = &sides[ETP_BASELINE].ops;
    etp_arms_tell(arms, etp_arena_printf(t.arena, "comparing %lu operators of two programs",
                                         (unsigned long)(out->multiplying - out->unpaired)));
    for (uint32_t i = 0; i < ops->n; i++) {
        if (t.pairs[i] != ETP_NO_INDEX && etp_op_multiplies(&ops->items[i])) {
            ETP_TRY(add_row(&t, i));
        }
    }
    ETP_TRY(add_times(&t));
    ETP_TRY(etp_precision_modules(arms, out));
    share_out(&t);
    out->launches = arms->launches;
    if (out->eager) {
        return ETP_OK;
    }
    suggest(&t);
    return etp_precision_command(arms, out);
}
