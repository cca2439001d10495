// SPDX-License-Identifier: Apache-2.0
// What the second of two builds changed, in one sentence: the time, operators that left a delegate,
// kernels that are others, operators that take longer or shorter, and what a launch costs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "judge/judge.h"

#define CLEARLY 1.1 // a cost beyond this ratio is worth a word
#define LEAST_NS 1e6
#define LEAST_BYTES 1e6

typedef struct change { // of the operators of one kind
    size_t n;
    const etp_ab_operator *most; // that with the largest change of time
    int64_t delta_ns;            // its change; unknown where one side has no time
} change;

typedef struct told {
    const etp_ab *ab;
    uint32_t a, b;
    etp_strbuf text;
    size_t n; // changes that the sentence names, beside the time
    etp_texts evidence;
} told;

static int64_t delta_of(const etp_ab_operator *op, uint32_t a, uint32_t b)
{
    bool known = op->ns[a] != ETP_NS_UNKNOWN && op->ns[b] != ETP_NS_UNKNOWN;
    return known ? op->ns[b] - op->ns[a] : ETP_NS_UNKNOWN;
}

static int64_t size_of(int64_t delta_ns)
{
    return delta_ns == ETP_NS_UNKNOWN ? -1 : llabs(delta_ns);
}

static void take(change *c, told *t, const etp_ab_operator *op, int64_t delta_ns)
{
    if (c->n++ == 0 || size_of(delta_ns) > size_of(c->delta_ns)) {
        c->most = op;
        c->delta_ns = delta_ns;
    }
    ETP_ADD(t->ab->arena, &t->evidence, op->id);
}

static bool is_inside(const etp_ab_operator *op, uint32_t arm)
{
    return op->rows[arm] && op->rows[arm]->kind == ETP_ROW_OPERATOR;
}

static bool is_outside(const etp_ab_operator *op, uint32_t arm)
{
    return op->rows[arm] && op->rows[arm]->kind == ETP_ROW_PORTABLE;
}

static void begin(told *t)
{
    etp_strbuf_appendz(&t->text, "; ");
    t->n++;
}

// "conv [3] (+2.0 ms)"
static const char *called(const told *t, const change *c)
{
    if (c->delta_ns == ETP_NS_UNKNOWN) {
        return c->most->label;
    }
    return etp_arena_printf(t->ab->arena, "%s (%s%s)", c->most->label, c->delta_ns > 0 ? "+" : "−",
                            ETP_NS((double)llabs(c->delta_ns)));
}

// An operator of a delegate in A is none in B, and B has kernels outside that A has not.
static void tell_left(told *t)
{
    change left = {0};
    const etp_ab_operator *instead = NULL;
    for (size_t i = 0; i < t->ab->n_operators; i++) {
        const etp_ab_operator *op = &t->ab->operators[i];
        bool comes = is_outside(op, t->b) && !is_outside(op, t->a);
        instead = comes && (!instead || op->ns[t->b] > instead->ns[t->b]) ? op : instead;
    }
    for (size_t i = 0; instead && i < t->ab->n_operators; i++) {
        const etp_ab_operator *op = &t->ab->operators[i];
        if (is_inside(op, t->a) && !is_inside(op, t->b)) {
            take(&left, t, op, ETP_NS_UNKNOWN);
        }
    }
    if (left.n > 0) {
        begin(t);
        const char *who = left.n == 1 ? left.most->label
                                      : etp_arena_printf(t->ab->arena, "%zu operators", left.n);
        etp_strbuf_printf(&t->text, "%s left the delegate, outside it now runs %s", who,
                          instead->label);
    }
}

static void tell_kernels(told *t)
{
    change other = {0};
    for (size_t i = 0; i < t->ab->n_operators; i++) {
        const etp_ab_operator *op = &t->ab->operators[i];
        etp_str a = op->names[t->a], b = op->names[t->b];
        bool same_side = is_inside(op, t->a) == is_inside(op, t->b);
        if (a.len > 0 && b.len > 0 && same_side && !etp_str_eq(a, b)) {
            take(&other, t, op, delta_of(op, t->a, t->b));
        }
    }
    if (other.n > 0) {
        begin(t);
        etp_strbuf_printf(&t->text, "%s runs another kernel, %.*s → %.*s", called(t, &other),
                          ETP_STR_ARG(other.most->names[t->a]),
                          ETP_STR_ARG(other.most->names[t->b]));
        if (other.n > 1) {
            etp_strbuf_printf(&t->text, ", and so do%s %zu more", etp_if(other.n == 2, "es"),
                              other.n - 1);
        }
    }
}

// Operators of one name whose time changed beyond doubt.
static void tell_times(told *t, const etp_ledger *l)
{
    change slower = {0}, faster = {0};
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *row = &l->items[i];
        const etp_ab_operator *op = etp_ab_operator_of(t->ab, row->id);
        if (op && etp_ledger_row_slower(row)) {
            take(&slower, t, op, row->delta_ns);
        } else if (op && etp_ledger_row_faster(row)) {
            take(&faster, t, op, row->delta_ns);
        }
    }
    const change *both[] = {&slower, &faster};
    for (size_t i = 0; i < 2; i++) {
        if (both[i]->n > 0) {
            begin(t);
            etp_strbuf_printf(&t->text, "%zu operator%s take%s %s, most %s", both[i]->n,
                              etp_if(both[i]->n != 1, "s"), etp_if(both[i]->n == 1, "s"),
                              i == 0 ? "longer" : "less time", called(t, both[i]));
        }
    }
}

static void tell_cost(told *t, etp_cost cost, const etp_ab_comparison *c)
{
    const etp_paired *ratio = &c->costs[cost];
    double from = (double)t->ab->arms[t->a].costs[cost];
    double to = (double)t->ab->arms[t->b].costs[cost];
    bool bytes = k_etp_costs[cost].bytes;
    bool known = ratio->blocks > 0 &&
                 (ratio->verdict == ETP_VERDICT_SLOWER || ratio->verdict == ETP_VERDICT_FASTER);
    if (!known || fmax(from / to, to / from) < CLEARLY ||
        fabs(to - from) < (bytes ? LEAST_BYTES : LEAST_NS)) {
        return;
    }
    begin(t);
    etp_strbuf_printf(&t->text, "%s %s → %s", k_etp_costs[cost].title,
                      bytes ? ETP_BYTES((uint64_t)from) : ETP_NS(from),
                      bytes ? ETP_BYTES((uint64_t)to) : ETP_NS(to));
}

// What XNNPACK took while loading, where the runner knows its owners; else what was written.
static void tell_memory(told *t, const etp_ab_comparison *c)
{
    const etp_memory_rows *a = &t->ab->arms[t->a].memory, *b = &t->ab->arms[t->b].memory;
    if (a->code == 0 || b->code == 0) {
        tell_cost(t, ETP_COST_DIRTY, c);
        return;
    }
    double from = (double)a->packed, to = (double)b->packed;
    if (fabs(to - from) >= LEAST_BYTES && fmax(from / to, to / from) >= CLEARLY) {
        begin(t);
        etp_strbuf_printf(&t->text, "packed weights and operators %s → %s", ETP_BYTES(a->packed),
                          ETP_BYTES(b->packed));
    }
}

static const char *time_words(const etp_ab_comparison *c, etp_arena *arena)
{
    if (c->withheld == ETP_WITHHELD_OUTPUTS_DIFFER) {
        return "computes something else";
    }
    if (c->withheld || c->verdict == ETP_VERDICT_UNKNOWN) {
        return "shows no proven change in time";
    }
    return c->verdict == ETP_VERDICT_SAME
               ? "takes as long"
               : etp_arena_printf(arena, "takes %s× as long", ETP_DIGITS(1 / c->estimate, 3));
}

void etp_ab_builds_findings(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        const etp_ab_arm *a = &ab->arms[c->baseline], *b = &ab->arms[c->candidate];
        if (a->build == b->build || !etp_ab_same_group(a, b) || ab->emulated || a->launches == 0 ||
            b->launches == 0) {
            continue;
        }
        told t = {.ab = ab, .a = c->baseline, .b = c->candidate};
        etp_strbuf_init(&t.text, ab->arena);
        if (ab->n_models > 1) {
            etp_strbuf_printf(&t.text, "%s: ", etp_ab_model_word(ab, a->model, ab->arena));
        }
        etp_strbuf_printf(&t.text, "what %s changed against %s: an inference %s",
                          etp_ab_build_called(b, ab->arena), etp_ab_build_called(a, ab->arena),
                          time_words(c, ab->arena));
        if (a->profile && b->profile) {
            tell_left(&t);
            tell_kernels(&t);
            tell_times(&t, &ab->ledgers[i]);
        }
        tell_cost(&t, ETP_COST_LOAD, c);
        tell_memory(&t, c);
        if (t.n == 0) {
            etp_strbuf_appendz(&t.text, "; nothing else changed beyond doubt");
        }
        ETP_FIND_ROWS(to, ETP_FINDING_BUILDS, ETP_SEVERITY_INFO, t.evidence.items, t.evidence.n,
                      "%s", etp_strbuf_str(&t.text).ptr);
    }
}
