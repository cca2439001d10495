// SPDX-License-Identifier: Apache-2.0
// From the run folder of two builds to one answer over its models.
#include "study/builds/builds.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "compare/session.h"

typedef struct builder {
    const etp_ab_session *s;
    etp_arena *arena;
    etp_builds *out;
    struct {
        etp_builds_operator *items;
        size_t n, cap;
    } operators;
} builder;

bool etp_builds_is(const etp_ab_session *session)
{
    const etp_run *run = etp_ab_run(session);
    return run && run->builds.n == 2;
}

static const char *text_of(const builder *b, etp_str text)
{
    return text.len ? etp_arena_strdup(b->arena, text) : NULL;
}

static void take_sides(builder *b)
{
    const etp_run *run = &b->s->run;
    for (size_t i = 0; i < 2; i++) {
        const etp_run_build *x = &run->builds.items[i];
        b->out->sides[i] = (etp_builds_side){text_of(b, x->path), text_of(b, x->sha256),
                                             text_of(b, x->executorch), text_of(b, x->text)};
    }
    b->out->same = etp_str_eq(run->builds.items[0].sha256, run->builds.items[1].sha256);
}

// ---- models ----

// The reason of the last one; those that were tried again with success cost nothing.
static const char *why_lost(const builder *b, uint32_t arm)
{
    const etp_run *run = &b->s->run;
    for (size_t i = run->lost.n; i-- > 0;) {
        const etp_run_lost *l = &run->lost.items[i];
        if (l->arm == arm && !l->recovered) {
            return etp_arena_printf(b->arena, "%s%s%.*s", etp_lost_reason_name(l->reason),
                                    l->detail.len ? ": " : "", ETP_STR_ARG(l->detail));
        }
    }
    return NULL;
}

// Arms stand in pairs in folders that etprof made; others are looked through all the same.
static etp_status pair_arms(builder *b, etp_error *err)
{
    const etp_run *run = &b->s->run;
    const etp_ab *ab = &b->s->ab;
    b->out->models = ETP_NEW_ARRAY(b->arena, etp_builds_model, run->arms.n + 1);
    for (uint32_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *candidate = &run->arms.items[i];
        uint32_t base = ETP_NO_INDEX;
        for (uint32_t k = 0; k < run->arms.n; k++) {
            const etp_run_arm *x = &run->arms.items[k];
            bool same = x->model == candidate->model && x->threads == candidate->threads &&
                        x->phase == candidate->phase && etp_str_eq(x->level, candidate->level);
            base = same && x->side == 0 ? k : base;
        }
        if (candidate->side == 0) {
            continue;
        }
        if (base == ETP_NO_INDEX || candidate->model >= ab->n_models) {
            return etp_fail(err, ETP_CORRUPT, "%s: arm %s has no arm of the other build", ab->dir,
                            ab->arms[i].name);
        }
        etp_builds_model *m = &b->out->models[b->out->n_models++];
        *m = (etp_builds_model){
            .name = etp_ab_model_word(ab, candidate->model, b->arena),
            .path = ab->models[candidate->model].path,
            // arms[0] is of build A, the baseline, and arms[1] of build B.
            .arms = {base, i},
            .blocks_to_find = ETP_NS_UNKNOWN,
            .outputs = -1
        };
        for (int side = 0; side < 2; side++) {
            m->ns[side] = ab->arms[m->arms[side]].median_ns;
            // Losses that left enough launches for a verdict are not worth a line in the answer.
            bool few = ab->arms[m->arms[side]].launches < ETP_MIN_BLOCKS;
            m->lost[side] = few ? why_lost(b, m->arms[side]) : NULL;
        }
    }
    return b->out->n_models > 0 ? ETP_OK
                                : etp_fail(err, ETP_CORRUPT, "%s: builds without arms", ab->dir);
}

// Each pair is opened as a session of its two arms alone, so that its outputs, causes and ledger
// are said in the words of any A/B answer.
// Before the statistics, because a model whose pair withholds its ratio (outputs, proof, control)
// must be silent in them.
static etp_status open_pairs(builder *b, etp_error *err)
{
    const etp_ab *ab = &b->s->ab;
    for (size_t i = 0; i < b->out->n_models; i++) {
        etp_builds_model *m = &b->out->models[i];
        if (ab->n_comparisons == 0 || ab->arms[m->arms[0]].launches == 0 ||
            ab->arms[m->arms[1]].launches == 0) {
            continue;
        }
        const etp_ab_pair pair = {
            b->s, {m->arms[0], m->arms[1]},
             ETP_WITHHELD_NOT
        };
        const etp_ab_options options = {.margin = b->out->margin, .pair = &pair};
        ETP_TRY(etp_ab_open(&ab->dir, 1, &options, &m->session, err));
        m->ab = etp_ab_answer(m->session);
        m->outputs = m->ab->correctness.ok;
        m->withheld = m->ab->n_comparisons ? m->ab->comparisons[0].withheld : ETP_WITHHELD_NOT;
    }
    return ETP_OK;
}

// The level is shared out among the family as Bonferroni would: what Benjamini–Hochberg asks of the
// smallest p, so the plan is rather too long than too short.
static int64_t to_find(const etp_paired *p, double margin, size_t family)
{
    uint32_t n = p->blocks < ETP_MIN_BLOCKS || !(p->sd_ln > 0)
                     ? UINT32_MAX
                     : etp_plan_find(p->sd_ln, margin, ETP_BUILDS_POWER,
                                     ETP_BUILDS_MODELS_Q / (double)family);
    return n == UINT32_MAX ? ETP_NS_UNKNOWN : (int64_t)n;
}

static etp_status judge_models(builder *b, etp_error *err)
{
    etp_builds *out = b->out;
    const etp_stats *st = b->s->has_stats ? &b->s->stats : NULL;
    uint32_t(*pairs)[2] = etp_arena_alloc(b->arena, (out->n_models + 1) * sizeof *pairs);
    bool *silent = ETP_NEW_ARRAY(b->arena, bool, out->n_models + 1);
    double *ratios = ETP_NEW_ARRAY(b->arena, double, out->n_models + 1);
    for (size_t i = 0; i < out->n_models; i++) {
        pairs[i][0] = out->models[i].arms[0];
        pairs[i][1] = out->models[i].arms[1];
        silent[i] = out->models[i].withheld != ETP_WITHHELD_NOT;
    }
    // Columns of value_ln are the session's arms: pairs point into them. The seed is the session's
    // own, so that whoever opens the folder again gets the same p.
    const etp_builds_grid grid = {.value_ln = st ? st->value_ln : NULL,
                                  .n_blocks = st ? st->n_blocks_seen : 0,
                                  .n_columns = b->s->ab.n_arms,
                                  .pairs = (const uint32_t(*)[2])pairs,
                                  .n_pairs = out->n_models,
                                  .silent = silent,
                                  .margin = out->margin,
                                  .sequential = etp_run_is_widened(&b->s->run),
                                  .seed = b->s->run.settings.seed};
    etp_builds_result r;
    ETP_TRY(etp_builds_analyze(&grid, b->arena, &r, err));
    size_t n = 0;
    for (size_t i = 0; i < out->n_models; i++) {
        etp_builds_model *m = &out->models[i];
        const etp_builds_effect *e = &r.pairs[i];
        // A model without a block has no ratio and is in neither mean nor bootstrap.
        bool known = e->paired.blocks > 0;
        m->blocks = e->paired.blocks;
        m->estimate = known ? e->paired.estimate : (double)NAN;
        m->lo = e->paired.lo;
        m->hi = e->paired.hi;
        m->p = e->p;
        m->q = e->q;
        m->within = e->within;
        m->blocks_to_find = to_find(&e->paired, out->margin, out->n_models + 1);
        m->verdict = e->verdict;
        if (known) {
            ratios[n++] = e->paired.estimate;
        }
    }
    out->mean = r.mean;
    out->n_mean = (uint32_t)r.n_mean;
    etp_interval over;
    ETP_TRY(etp_geometric_mean(ratios, n, grid.seed, b->arena, &over, err));
    out->models_lo = over.lo;
    out->models_hi = over.hi;
    return ETP_OK;
}

// ---- operators ----

// Nothing is claimed of a model's operators unless both builds did the same work in enough blocks.
static const char *why_no_operators(const etp_builds_model *m, const etp_ledger *ledger,
                                    uint32_t blocks, etp_arena *arena)
{
    if (!m->ab) {
        return "it was not measured with both builds";
    }
    if (m->withheld != ETP_WITHHELD_NOT) {
        return "its ratio is withheld";
    }
    if (!ledger || ledger->n == 0) {
        return "there are no recordings of both builds";
    }
    if (blocks < ETP_MIN_BLOCKS) {
        return etp_arena_printf(arena, "%u of %d blocks have recordings of both builds",
                                (unsigned)blocks, ETP_MIN_BLOCKS);
    }
    return m->n_operators == 0 ? "no operator is in both recordings" : NULL;
}

static void collect_operators(builder *b, uint32_t model)
{
    etp_builds_model *m = &b->out->models[model];
    // A pair's session has one comparison, and ledgers[] runs parallel to the comparisons.
    const etp_ledger *ledger = m->ab && m->ab->n_comparisons > 0 ? &m->ab->ledgers[0].ledger : NULL;
    uint32_t blocks = 0;
    for (size_t i = 0; ledger && i < ledger->n; i++) {
        const etp_ledger_row *row = &ledger->items[i];
        // Rows of the ledger that are no operator: boundary, framework, tracer.
        if (row->op == ETP_NO_INDEX) {
            continue;
        }
        // In one build alone: there is a time, but nothing to divide it by.
        bool both = row->kind != ETP_ROW_INSERTED && row->kind != ETP_ROW_VANISHED;
        bool ratio = both && row->baseline_ns > 0 && row->candidate_ns > 0;
        bool tested = both && row->blocks >= ETP_MIN_BLOCKS && m->withheld == ETP_WITHHELD_NOT;
        etp_builds_operator o = {
            .model = model,
            .id = row->id,
            .label = row->label,
            .only = both                            ? NULL
                    : row->kind == ETP_ROW_INSERTED ? "b"
                                                    : "a",
            .ns = {row->kind == ETP_ROW_INSERTED ? ETP_NS_UNKNOWN : row->baseline_ns,
                   row->kind == ETP_ROW_VANISHED ? ETP_NS_UNKNOWN : row->candidate_ns},
            .delta_ns = row->delta_ns,
            .estimate = ratio ? (double)row->baseline_ns / (double)row->candidate_ns : (double)NAN,
            .lo = both ? row->ratio_lo : (double)NAN,
            .hi = both ? row->ratio_hi : (double)NAN,
            // NAN leaves a row out of the family: what is not tested must not cost the others.
            .p = tested ? row->p : (double)NAN,
        };
        // The row with most blocks tells how many have recordings of both; others may lack an
        // operator.
        blocks = row->blocks > blocks ? row->blocks : blocks;
        m->n_operators += isfinite(o.p) ? 1 : 0;
        ETP_ADD(b->arena, &b->operators, o);
    }
    m->no_operators = why_no_operators(m, ledger, blocks, b->arena);
}

// Changed ones, then those of one build, then the rest; within each by the time they cost or save,
// then by model and id, so that the order is total.
static int by_cost(const void *pa, const void *pb)
{
    const etp_builds_operator *a = pa, *b = pb;
    bool changed[2] = {a->verdict != ETP_VERDICT_UNKNOWN, b->verdict != ETP_VERDICT_UNKNOWN};
    if (changed[0] != changed[1]) {
        return changed[0] ? -1 : 1;
    }
    if ((a->only != NULL) != (b->only != NULL)) {
        return a->only ? -1 : 1;
    }
    int64_t x = llabs((long long)a->delta_ns), y = llabs((long long)b->delta_ns);
    if (x != y) {
        return x > y ? -1 : 1;
    }
    return a->model != b->model ? (a->model > b->model) - (a->model < b->model)
                                : strcmp(a->id, b->id);
}

// One family over all models: who looks at every operator of ten models looks ten times as often.
static etp_status judge_operators(builder *b, etp_error *err)
{
    etp_builds *out = b->out;
    for (uint32_t i = 0; i < out->n_models; i++) {
        collect_operators(b, i);
    }
    size_t n = b->operators.n;
    etp_builds_test *tests = ETP_NEW_ARRAY(b->arena, etp_builds_test, n + 1);
    for (size_t i = 0; i < n; i++) {
        const etp_builds_operator *o = &b->operators.items[i];
        tests[i] = (etp_builds_test){.p = o->p, .lo = o->lo, .hi = o->hi};
    }
    ETP_TRY(etp_builds_judge(tests, n, b->arena, err));
    for (size_t i = 0; i < n; i++) {
        etp_builds_operator *o = &b->operators.items[i];
        bool changed = tests[i].verdict != ETP_VERDICT_UNKNOWN;
        o->q = tests[i].q;
        o->verdict = tests[i].verdict;
        out->models[o->model].n_changed += changed;
        out->n_changed += changed;
        out->n_one_sided += o->only != NULL;
        out->n_compared += isfinite(o->p) ? 1 : 0;
    }
    if (n > 0) {
        qsort(b->operators.items, n, sizeof *b->operators.items, by_cost);
    }
    out->operators = b->operators.items;
    out->n_operators = n;
    return ETP_OK;
}

void etp_builds_close(etp_builds *b)
{
    for (size_t i = 0; i < b->n_models; i++) {
        etp_ab_close(b->models[i].session);
    }
    b->n_models = 0;
}

static etp_status build(builder *b, etp_error *err)
{
    take_sides(b);
    ETP_TRY(pair_arms(b, err));
    ETP_TRY(open_pairs(b, err));
    ETP_TRY(judge_models(b, err));
    return judge_operators(b, err);
}

// The sessions that are opened on the way are OUT's, which the caller closes after an error.
static etp_status guarded_build(builder *b, etp_error *err)
{
    ETP_GUARDED(b->arena, err, "builds", build(b, err));
}

etp_status etp_builds_build(const etp_ab_session *session, etp_arena *arena, etp_builds *out,
                            etp_error *err)
{
    const etp_stats *st = session->has_stats ? &session->stats : NULL;
    // Without statistics (no block at all) the answer still says what was lost and why.
    const etp_interval none = {(double)NAN, (double)NAN, (double)NAN};
    *out = (etp_builds){.ab = &session->ab,
                        .margin = st ? st->margin : ETP_MARGIN_DEFAULT,
                        .control = st ? st->control : none,
                        .control_blocks = st ? st->control_blocks : 0};
    builder b = {.s = session, .arena = arena, .out = out};
    etp_status status = guarded_build(&b, err);
    if (status != ETP_OK) {
        etp_builds_close(out);
    }
    return status;
}
