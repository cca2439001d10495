// SPDX-License-Identifier: Apache-2.0
// From profiles to ledgers and operator groups.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/session.h"

double etp_ab_untraced(const etp_ab_arm *a)
{
    bool both = a->median_ns != ETP_NS_UNKNOWN && a->traced_ns > 0;
    return both ? (double)a->median_ns / (double)a->traced_ns : 1;
}

// The ends of a ledger of one arm. Like with like: what the tracer costs is known as the ratio of
// medians.
static etp_ledger_end end_of(const etp_ab_arm *a)
{
    etp_ledger_end end = {a->median_ns, ETP_NS_UNKNOWN, a->call_overhead_ns};
    if (a->median_ns != ETP_NS_UNKNOWN && a->tracing_overhead.blocks > 0 &&
        isfinite(a->tracing_overhead.estimate)) {
        end.traced_ns = llround((double)a->median_ns * a->tracing_overhead.estimate);
    }
    return end;
}

static const char *program_of(const etp_ab *ab, const etp_ab_arm *a)
{
    return a->model < ab->n_models ? ab->models[a->model].sha256 : NULL;
}

// Known to be: a bare recording does not say which one it is of.
static bool two_programs(const etp_ab *ab, const etp_ab_arm *x, const etp_ab_arm *y)
{
    return program_of(ab, x) && program_of(ab, y) && !etp_ab_one_program(ab, x, y);
}

bool etp_ab_one_program(const etp_ab *ab, const etp_ab_arm *x, const etp_ab_arm *y)
{
    const char *p = program_of(ab, x), *q = program_of(ab, y);
    return p && q && strcmp(p, q) == 0;
}

typedef struct aligned { // parallel to ab.comparisons, but for the operators
    etp_alignment *alignments;
    etp_ledger *ledgers;
    etp_ab_operator *operators; // of all arms, in program order
    size_t n_operators;
} aligned;

// ---- operator groups over all arms ----

typedef struct groups {
    const etp_ab *ab;
    const aligned *aligned; // but for its operators
    struct {
        etp_ab_operator *items;
        size_t n, cap;
    } ops;
    uint32_t *of_row; // group of each row of the baseline's profile; ETP_NO_INDEX: none yet
} groups;

static uint32_t new_group(groups *g, const etp_profile_row *row)
{
    const etp_ab *ab = g->ab;
    etp_arena *arena = ab->arena;
    etp_ab_operator op = {
        .category = row->parsed.category,
        .delegated = row->delegated,
        .chain = row->chain,
        .instruction = row->instruction,
        .names = ETP_NEW_ARRAY(arena, etp_str, ab->n_arms),
        .rows = ETP_NEW_ARRAY(arena, const etp_profile_row *, ab->n_arms),
        .merged = ETP_NEW_ARRAY(arena, etp_profile_rows, ab->n_arms),
        .ns = ETP_NEW_ARRAY(arena, int64_t, ab->n_arms),
        .speedup = ETP_NEW_ARRAY(arena, double, ab->n_comparisons),
        .confidence = 1,
        .macs = ETP_AB_NO_MACS,
    };
    for (size_t a = 0; a < ab->n_arms; a++) {
        op.ns[a] = ETP_NS_UNKNOWN;
    }
    ETP_ADD(arena, &g->ops, op);
    return (uint32_t)(g->ops.n - 1);
}

static void put(etp_ab_operator *op, uint32_t arm, const etp_profile_row *row, int64_t ns)
{
    op->names[arm] = row->name;
    op->rows[arm] = row;
    op->ns[arm] = ns;
}

// A row that another one of the group speaks for, or the only one of its arm in the group.
static void put_merged(groups *g, etp_ab_operator *op, uint32_t arm, const etp_profile_row *row)
{
    if (!op->rows[arm]) {
        op->names[arm] = row->name;
        op->rows[arm] = row;
        return;
    }
    for (size_t i = 0; i < op->merged[arm].n; i++) { // the baseline's are met once per comparison
        if (etp_str_eq(op->merged[arm].items[i]->name, row->name)) {
            return;
        }
    }
    if (!etp_str_eq(op->names[arm], row->name)) {
        ETP_ADD(g->ab->arena, &op->merged[arm], row);
    }
}

// Rows that joined other pairs: their times are in the ledger rows of those already.
static void merge_comparison(groups *g, size_t at, const uint32_t *group_of_pair)
{
    const etp_ab *ab = g->ab;
    const etp_ab_comparison *c = &ab->comparisons[at];
    const etp_alignment *a = &g->aligned->alignments[at];
    for (size_t i = 0; i < a->n; i++) {
        const etp_aligned_pair *p = &a->items[i];
        if (p->into == ETP_NO_INDEX) {
            continue;
        }
        uint32_t group = group_of_pair[p->into];
        etp_ab_operator *op = &g->ops.items[group];
        op->confidence = ETP_MIN(p->confidence, op->confidence);
        if (p->baseline != ETP_NO_INDEX) {
            g->of_row[p->baseline] = group;
            put_merged(g, op, c->baseline, &ab->arms[c->baseline].profile->rows[p->baseline]);
        }
        if (p->candidate != ETP_NO_INDEX) {
            put_merged(g, op, c->candidate, &ab->arms[c->candidate].profile->rows[p->candidate]);
        }
    }
}

// An operator that only candidates have: the same one in two candidates is one group.
static uint32_t find_inserted(const groups *g, const etp_profile_row *row, uint32_t arm,
                              uint32_t baseline)
{
    for (size_t i = 0; i < g->ops.n; i++) {
        const etp_ab_operator *op = &g->ops.items[i];
        if (op->names[baseline].len == 0 && op->names[arm].len == 0 && op->chain == row->chain &&
            op->instruction == row->instruction) {
            for (size_t a = 0; a < g->ab->n_arms; a++) {
                if (g->ab->arms[a].model == g->ab->arms[arm].model &&
                    etp_str_eq(op->names[a], row->name)) {
                    return (uint32_t)i;
                }
            }
        }
    }
    return ETP_NO_INDEX;
}

static void group_comparison(groups *g, size_t at)
{
    const etp_ab *ab = g->ab;
    const etp_ab_comparison *c = &ab->comparisons[at];
    const etp_profile *base = ab->arms[c->baseline].profile, *cand = ab->arms[c->candidate].profile;
    etp_ledger *ledger = &g->aligned->ledgers[at];
    uint32_t *group_of_pair = ETP_NEW_ARRAY(g->ab->arena, uint32_t, g->aligned->alignments[at].n);
    for (size_t r = 0; r < ledger->n; r++) {
        etp_ledger_row *row = &ledger->items[r];
        if (row->pair == ETP_NO_INDEX) {
            continue;
        }
        etp_aligned_pair pair = g->aligned->alignments[at].items[row->pair];
        uint32_t group = ETP_NO_INDEX;
        if (pair.baseline != ETP_NO_INDEX) {
            group = g->of_row[pair.baseline];
        } else if (at > 0) { // the first candidate's are all new
            group = find_inserted(g, &cand->rows[pair.candidate], c->candidate, c->baseline);
        }
        const etp_profile_row *any = pair.baseline != ETP_NO_INDEX ? &base->rows[pair.baseline]
                                                                   : &cand->rows[pair.candidate];
        group = group != ETP_NO_INDEX ? group : new_group(g, any);
        etp_ab_operator *op = &g->ops.items[group];
        if (pair.baseline != ETP_NO_INDEX) {
            g->of_row[pair.baseline] = group;
            put(op, c->baseline, &base->rows[pair.baseline], row->baseline_ns);
        }
        if (pair.candidate != ETP_NO_INDEX) {
            put(op, c->candidate, &cand->rows[pair.candidate], row->candidate_ns);
        }
        op->label = ETP_OR(op->label, row->label);
        op->confidence = ETP_MIN(pair.confidence, op->confidence);
        op->by_nodes = op->by_nodes || pair.by_nodes;
        group_of_pair[row->pair] = group;
        row->op = group;
    }
    merge_comparison(g, at, group_of_pair);
    for (size_t r = 0; r < ledger->n; r++) { // a side that only merged rows are on
        const etp_ledger_row *row = &ledger->items[r];
        etp_ab_operator *op = row->op == ETP_NO_INDEX ? NULL : &g->ops.items[row->op];
        if (op && op->rows[c->baseline] && op->ns[c->baseline] == ETP_NS_UNKNOWN) {
            op->ns[c->baseline] = row->baseline_ns;
        }
        if (op && op->rows[c->candidate] && op->ns[c->candidate] == ETP_NS_UNKNOWN) {
            op->ns[c->candidate] = row->candidate_ns;
        }
    }
}

// A single arm: its operators in program order.
static void group_alone(groups *g, uint32_t arm)
{
    const etp_profile *p = g->ab->arms[arm].profile;
    etp_alignment alignment;
    etp_ledger ledger;
    etp_align(p, p, g->ab->arena, &alignment);
    const etp_ledger_end bare[2] = {ETP_LEDGER_BARE, ETP_LEDGER_BARE};
    etp_ledger_build(p, p, &alignment, bare, g->ab->arena, &ledger);
    for (size_t r = 0; r < ledger.n; r++) {
        if (ledger.items[r].pair == ETP_NO_INDEX) {
            continue;
        }
        const etp_profile_row *row = &p->rows[alignment.items[ledger.items[r].pair].baseline];
        uint32_t group = new_group(g, row);
        put(&g->ops.items[group], arm, row, ledger.items[r].baseline_ns);
        g->ops.items[group].by_nodes = alignment.items[ledger.items[r].pair].by_nodes;
        g->ops.items[group].confidence = alignment.items[ledger.items[r].pair].confidence;
        g->ops.items[group].label = ledger.items[r].label;
    }
}

// What the program says of the group, by the candidate's row or else any other's.
static void facts_of(const etp_ab *ab, etp_ab_operator *op, uint32_t candidate)
{
    for (size_t k = 0; k <= ab->n_arms && !(op->facts && op->facts->op.work.known); k++) {
        size_t a = k == 0 ? candidate : k - 1;
        const etp_profile *p = ab->arms[a].profile;
        const etp_profile_row *row = op->rows[a];
        if (row && p->facts && !p->facts->problem) {
            const etp_row_facts *f = &p->facts->rows[row - p->rows];
            op->facts = !op->facts || f->op.work.known ? f : op->facts;
        }
    }
    if (!op->facts) {
        return;
    }
    if (op->facts->op.work.known && !op->facts->op.work.bound) {
        op->macs = op->facts->op.work.macs;
    }
    if (op->facts->has_source) {
        const etp_source *source = &op->facts->source;
        op->source_file = etp_arena_strdup(ab->arena, source->file);
        op->source_line = source->line;
        op->module = source->module.len ? etp_arena_strdup(ab->arena, source->module) : NULL;
    }
}

typedef struct time_order {
    int64_t ns;
    uint32_t index;
} time_order;

static int slowest_first(const void *pa, const void *pb)
{
    const time_order *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(b->ns, a->ns), ETP_ORDER(a->index, b->index));
}

static void build_operators(const etp_ab *ab, aligned *out)
{
    const etp_profile *base = ab->n_arms ? ab->arms[ab->baseline].profile : NULL;
    if (!base) {
        return;
    }
    groups g = {
        .ab = ab, .aligned = out, .of_row = ETP_NEW_ARRAY(ab->arena, uint32_t, base->n_rows + 1)};
    for (size_t i = 0; i < base->n_rows; i++) {
        g.of_row[i] = ETP_NO_INDEX;
    }
    bool any = false;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        if (out->ledgers[i].n) {
            group_comparison(&g, i);
            any = true;
        }
    }
    if (!any) {
        group_alone(&g, ab->baseline);
    }
    out->operators = g.ops.items;
    out->n_operators = g.ops.n;
    for (uint32_t i = 0; i < out->n_operators; i++) {
        out->operators[i].id = etp_arena_printf(ab->arena, "op%u", i + 1);
    }
    size_t dumps = 0;
    for (size_t a = 0; a < ab->n_arms; a++) {
        const etp_profile *p = ab->arms[a].profile;
        dumps = p && p->n_dumps > dumps ? p->n_dumps : dumps;
    }
    double *logs = ETP_NEW_ARRAY(ab->arena, double, dumps + 1);
    for (size_t i = 0; i < out->n_operators; i++) {
        etp_ab_operator *op = &out->operators[i];
        for (size_t c = 0; c < ab->n_comparisons; c++) {
            op->speedup[c] = etp_ab_operator_speedup(ab, c, op, logs);
        }
        facts_of(ab, op, etp_ab_subject(ab));
    }
    for (size_t c = 0; c < ab->n_comparisons; c++) {
        etp_ledger *l = &out->ledgers[c];
        for (size_t r = 0; r < l->n; r++) {
            if (l->items[r].op != ETP_NO_INDEX) {
                l->items[r].id = out->operators[l->items[r].op].id;
            }
        }
    }
}

etp_ab_operator *etp_ab_align(const etp_ab *ab, etp_ab *out)
{
    aligned a = {0};
    a.ledgers = ETP_NEW_ARRAY(ab->arena, etp_ledger, ab->n_comparisons);
    a.alignments = ETP_NEW_ARRAY(ab->arena, etp_alignment, ab->n_comparisons);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        const etp_ab_arm *base = &ab->arms[c->baseline], *cand = &ab->arms[c->candidate];
        if (!base->profile || !cand->profile) {
            continue;
        }
        etp_align(base->profile, cand->profile, ab->arena, &a.alignments[i]);
        a.alignments[i].two_programs = two_programs(ab, base, cand);
    }
    const etp_profile *common = ab->n_arms ? ab->arms[ab->baseline].profile : NULL;
    if (common) {
        etp_align_agree(a.alignments, ab->n_comparisons, common->n_rows, ab->arena);
    }
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_arm *base = &ab->arms[ab->comparisons[i].baseline];
        const etp_ab_arm *cand = &ab->arms[ab->comparisons[i].candidate];
        if (!base->profile || !cand->profile) {
            continue;
        }
        const etp_ledger_end ends[2] = {end_of(base), end_of(cand)};
        etp_ledger_build(base->profile, cand->profile, &a.alignments[i], ends, ab->arena,
                         &a.ledgers[i]);
        if (ab->logged_unlike[i]) {
            etp_ledger_mark_one_sided(&a.ledgers[i]);
        }
        if (!etp_ab_told(ab, i)) {
            etp_ledger_withhold(&a.ledgers[i]);
        }
    }
    build_operators(ab, &a);
    time_order *order = ETP_NEW_ARRAY(ab->arena, time_order, a.n_operators);
    uint32_t *by_time = ETP_NEW_ARRAY(ab->arena, uint32_t, a.n_operators);
    for (uint32_t i = 0; i < a.n_operators; i++) {
        int64_t most = 0;
        for (size_t k = 0; k < ab->n_arms; k++) {
            int64_t ns = a.operators[i].ns[k];
            most = ns != ETP_NS_UNKNOWN && ns > most ? ns : most;
        }
        int64_t own = a.operators[i].ns[ab->baseline];
        order[i] = (time_order){own == ETP_NS_UNKNOWN ? most : own, i};
    }
    qsort(order, a.n_operators, sizeof *order, slowest_first);
    for (size_t i = 0; i < a.n_operators; i++) {
        by_time[i] = order[i].index;
    }
    out->ledgers = a.ledgers;
    out->operators = a.operators;
    out->n_operators = a.n_operators;
    out->by_time = by_time;
    return a.operators;
}
