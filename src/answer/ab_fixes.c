// SPDX-License-Identifier: Apache-2.0
// What to do next, in nanoseconds of one inference of the arm that runs now (the candidate of the
// first comparison). ExecuTorch runs operators one after another, so gains are differences of sums;
// each has a floor, a ceiling and the figure between them that the evidence makes likely.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/ab_session.h"
#include "base/number.h"

#define WORTH_SHARE 0.005 // of an inference: smaller ceilings are not shown
#define SME_TILE 32u      // rows and columns of a tile at 512 bits

typedef struct fixer {
    etp_ab_session *s;
    etp_ab *ab;
    uint32_t arm;
    int64_t total; // traced inference of the arm
} fixer;

typedef struct found { // operators that one fix is about
    struct {
        const char **items;
        size_t n, cap;
    } ids;
    int64_t ns, expected, floor, ceiling;
} found;

static int64_t ns_of(const fixer *f, const etp_ab_operator *op)
{
    return op->ns[f->arm] == ETP_NS_UNKNOWN ? 0 : op->ns[f->arm];
}

static etp_status note_operator(fixer *f, found *at, const etp_ab_operator *op, etp_error *err)
{
    return ETP_PUSH(&f->s->arena, &at->ids, op->id) ? ETP_OK : etp_fail_nomem(err, "fixes");
}

static etp_status add_fix(fixer *f, const found *at, const char *kind, const char *text,
                          const char *recipe, const char *formula, etp_error *err)
{
    if (at->ids.n == 0 || (double)at->ceiling < WORTH_SHARE * (double)f->total) {
        return ETP_OK;
    }
    etp_ab_fix fix = {
        .kind = kind,
        .text = text,
        .recipe = recipe,
        .formula = formula,
        .lo_ns = at->floor,
        .expected_ns = at->expected,
        .hi_ns = at->ceiling,
        .evidence = at->ids.items,
        .n_evidence = at->ids.n,
    };
    return text && ETP_PUSH(&f->s->arena, &f->ab->fixes, fix) ? ETP_OK
                                                              : etp_fail_nomem(err, "fixes");
}

// Bytes per nanosecond of the arm's fastest operator that only moves data, 0 unknown: what this
// machine is known to reach, not what it could.
static double best_copy_rate(const fixer *f)
{
    double best = 0;
    for (size_t i = 0; i < f->ab->n_operators; i++) {
        const etp_ab_operator *op = &f->ab->operators[i];
        int64_t ns = ns_of(f, op);
        bool copies = op->category == ETP_CATEGORY_DATA_MOVEMENT && op->facts &&
                      op->facts->op.work.known && ns >= 10000; // truncated to microseconds
        double rate = copies ? (double)op->facts->op.work.bytes / (double)ns : 0;
        best = rate > best ? rate : best;
    }
    return best;
}

static bool is_movement(const etp_ab_operator *op)
{
    return op->category == ETP_CATEGORY_DATA_MOVEMENT || op->category == ETP_CATEGORY_QUANTIZE;
}

// Layout work and converts: nothing may be gained, at most all of it. When bytes are known, what is
// expected is the time above the best rate seen here, else half.
static etp_status movement(fixer *f, bool converts, etp_error *err)
{
    found at = {0};
    double rate = best_copy_rate(f);
    etp_category category = converts ? ETP_CATEGORY_QUANTIZE : ETP_CATEGORY_DATA_MOVEMENT;
    for (size_t i = 0; i < f->ab->n_operators; i++) {
        const etp_ab_operator *op = &f->ab->operators[i];
        int64_t ns = ns_of(f, op);
        if (op->category != category || ns == 0) {
            continue;
        }
        bool known = op->facts && op->facts->op.work.known && rate > 0;
        double floor_ns = known ? (double)op->facts->op.work.bytes / rate : (double)ns / 2;
        at.expected += floor_ns < (double)ns ? ns - llround(floor_ns) : 0;
        at.ceiling += ns;
        ETP_TRY(note_operator(f, &at, op, err));
    }
    char t[ETP_NUMBER_CHARS];
    const char *text = etp_arena_printf(
        &f->s->arena, converts ? "%zu converts between data types take %s" : "%zu operators that only move data take %s",
        at.ids.n, etp_format_ns((double)at.ceiling, t));
    return add_fix(f, &at, converts ? "converts" : "copies", text,
                   converts ? "keep one data type from end to end: quantise neighbouring operators too, or leave both unquantised"
                            : "export in channels-last order and fold transposes and copies into the operators around them",
                   rate > 0 ? "ceiling: Σ time; expected: Σ (time − bytes ÷ best copy rate seen in this arm); floor: 0"
                            : "ceiling: Σ time; expected: half of it; floor: 0",
                   err);
}

// Neighbours in one instruction that all move data: two reorderings in a row could be one.
static etp_status chains(fixer *f, etp_error *err)
{
    found at = {0};
    size_t run = 0;
    for (size_t i = 0; i <= f->ab->n_operators; i++) {
        const etp_ab_operator *op = i < f->ab->n_operators ? &f->ab->operators[i] : NULL;
        const etp_ab_operator *prev = i > 0 ? &f->ab->operators[i - 1] : NULL;
        bool links = op && prev && op->category == ETP_CATEGORY_DATA_MOVEMENT &&
                     prev->category == ETP_CATEGORY_DATA_MOVEMENT && ns_of(f, op) > 0 &&
                     op->rows[f->arm] && prev->rows[f->arm] && op->delegated == prev->delegated;
        if (!links) {
            run = 0;
            continue;
        }
        if (run++ == 0) {
            ETP_TRY(note_operator(f, &at, prev, err));
        }
        ETP_TRY(note_operator(f, &at, op, err));
        int64_t less = ns_of(f, op) < ns_of(f, prev) ? ns_of(f, op) : ns_of(f, prev);
        at.expected += less / 2;
        at.ceiling += ns_of(f, op); // of each chain all but one operator
    }
    return add_fix(f, &at, "reshape_chain",
                   etp_arena_printf(&f->s->arena,
                                    "%zu operators move the same data several times in a row",
                                    at.ids.n),
                   "merge neighbouring view, permute and reshape calls in the model into one",
                   "ceiling: Σ time of all but the first of each chain; floor: 0", err);
}

// MACs per nanosecond of the arm's delegated operators of a category: median and best.
static bool delegated_rate(const fixer *f, etp_category category, double *median, double *best)
{
    double *v = ETP_NEW_ARRAY(&f->s->arena, double, f->ab->n_operators);
    size_t n = 0;
    for (size_t i = 0; v && i < f->ab->n_operators; i++) {
        const etp_ab_operator *op = &f->ab->operators[i];
        if (op->delegated && op->category == category && op->macs != ETP_AB_NO_MACS &&
            op->macs > 0 && ns_of(f, op) >= 10000) {
            v[n++] = (double)op->macs / (double)ns_of(f, op);
        }
    }
    *median = *best = 0;
    for (size_t i = 0; i < n; i++) {
        *best = v[i] > *best ? v[i] : *best;
    }
    *median = n ? etp_median(v, n) : 0;
    return n > 0;
}

static etp_status undelegated(fixer *f, etp_error *err)
{
    found at = {0};
    for (size_t i = 0; i < f->ab->n_operators; i++) {
        const etp_ab_operator *op = &f->ab->operators[i];
        int64_t ns = ns_of(f, op);
        const etp_profile_row *row = op->rows[f->arm];
        if (!row || row->kind != ETP_ROW_PORTABLE || ns == 0 || is_movement(op) ||
            op->category == ETP_CATEGORY_OTHER) {
            continue;
        }
        double median, best;
        bool known = op->macs != ETP_AB_NO_MACS && op->macs > 0 &&
                     delegated_rate(f, op->category, &median, &best);
        int64_t likely = known ? llround((double)op->macs / median) : ns / 2;
        at.expected += likely < ns ? ns - likely : 0;
        at.ceiling += ns;
        ETP_TRY(note_operator(f, &at, op, err));
    }
    char t[ETP_NUMBER_CHARS];
    return add_fix(f, &at, "delegate",
                   etp_arena_printf(&f->s->arena, "%zu kernels outside the delegate take %s",
                                    at.ids.n, etp_format_ns((double)at.ceiling, t)),
                   "export with XnnpackPartitioner and read its log for what it refused; replace what it cannot take",
                   "ceiling: Σ time; expected: Σ (time − MACs ÷ median rate of this arm's delegated operators of the category), half where none is known; floor: 0",
                   err);
}

static etp_status boundary(fixer *f, etp_error *err)
{
    const etp_profile *p = f->ab->arms[f->arm].profile;
    int64_t ns = 0;
    size_t calls = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->rows[i].kind == ETP_ROW_BOUNDARY) {
            ns += llround(etp_profile_mean(p, &p->rows[i]));
            calls++;
        }
    }
    if (calls < 2 || ns <= 0) {
        return ETP_OK;
    }
    found at = {.ceiling = ns - ns / (int64_t)calls};
    at.expected = at.ceiling / 2; // part of it is XNNPACK's truncation, which no fix removes
    if (!ETP_PUSH(&f->s->arena, &at.ids, "boundary")) {
        return etp_fail_nomem(err, "fixes");
    }
    char t[ETP_NUMBER_CHARS];
    return add_fix(f, &at, "partitions",
                   etp_arena_printf(&f->s->arena, "%zu delegate calls spend %s on set-up", calls,
                                    etp_format_ns((double)ns, t)),
                   "fewer, larger partitions: make the operators between them delegable",
                   "ceiling: boundary × (calls − 1) ÷ calls; expected: half of it; floor: 0", err);
}

// A multiplication and an addition right after a convolution: a batch norm that was not folded.
static etp_status batch_norm(fixer *f, etp_error *err)
{
    found at = {0};
    for (size_t i = 0; i < f->ab->n_operators; i++) {
        const etp_ab_operator *op = &f->ab->operators[i];
        const etp_profile_row *row = op->rows[f->arm];
        bool kernel = row && row->kind == ETP_ROW_PORTABLE && op->ns[f->arm] > 0 &&
                      etp_str_find(row->parsed.family, ETP_STR("batch_norm")) <
                          row->parsed.family.len;
        bool pair = i >= 2 && row && f->ab->operators[i - 1].rows[f->arm] &&
                    etp_str_eqz(row->parsed.family, "Add") &&
                    etp_str_eqz(f->ab->operators[i - 1].rows[f->arm]->parsed.family, "Multiply") &&
                    f->ab->operators[i - 2].category == ETP_CATEGORY_CONVOLUTION;
        if (!kernel && !pair) {
            continue;
        }
        for (size_t k = pair ? i - 1 : i; k <= i; k++) {
            at.ceiling += ns_of(f, &f->ab->operators[k]);
            ETP_TRY(note_operator(f, &at, &f->ab->operators[k], err));
        }
    }
    at.expected = at.ceiling;
    return add_fix(f, &at, "batch_norm",
                   etp_arena_printf(&f->s->arena, "%zu operators look like batch norms that were "
                                                  "not folded into their convolution",
                                    at.ids.n),
                   "fold batch norms before export (model.eval() and fuse), so that they become part of the weights",
                   "ceiling and expected: Σ time; floor: 0", err);
}

// Output channels that do not fill the last tile of the SME kernels.
static etp_status odd_sizes(fixer *f, etp_error *err)
{
    found at = {0};
    for (size_t i = 0; i < f->ab->n_operators; i++) {
        const etp_ab_operator *op = &f->ab->operators[i];
        if (op->engaged.state != ETP_ENGAGED || f->ab->engagement.feature != ETP_FEATURE_SME ||
            op->category != ETP_CATEGORY_CONVOLUTION || !op->facts ||
            op->facts->op.n_outputs == 0) {
            continue;
        }
        const etp_value *v = &op->facts->op.values[op->facts->op.outputs[0]];
        int64_t n = v->kind == ETP_EVALUE_TENSOR && v->rank ? v->dims[v->rank - 1] : 0;
        if (n <= 0 || n % SME_TILE == 0) {
            continue;
        }
        int64_t tiles = (n + (int64_t)SME_TILE - 1) / (int64_t)SME_TILE * (int64_t)SME_TILE;
        int64_t waste = llround((double)ns_of(f, op) * (1 - (double)n / (double)tiles));
        at.ceiling += waste;
        at.expected += waste / 2;
        ETP_TRY(note_operator(f, &at, op, err));
    }
    return add_fix(f, &at, "odd_sizes",
                   etp_arena_printf(&f->s->arena, "%zu convolutions leave part of their last tile "
                                                  "idle: channels that are no multiple of %u",
                                    at.ids.n, SME_TILE),
                   "choose channel counts that are multiples of 32",
                   "ceiling: Σ time × (1 − channels ÷ channels rounded up to 32); expected: half; floor: 0",
                   err);
}

// Operators that lost with the feature on, beyond their noise: sending only them back.
static etp_status slower(fixer *f, etp_error *err)
{
    if (f->ab->n_comparisons == 0) {
        return ETP_OK;
    }
    found at = {0};
    const etp_ledger *l = &f->ab->ledgers[0].ledger;
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *row = &l->items[i];
        if (!etp_ledger_row_slower(row)) {
            continue;
        }
        at.floor += row->lo_ns;
        at.expected += row->delta_ns;
        at.ceiling += row->hi_ns;
        ETP_TRY(note_operator(f, &at, &f->ab->operators[row->pair], err));
    }
    return add_fix(f, &at, "slower",
                   etp_arena_printf(&f->s->arena, "%zu operators got slower with the change",
                                    at.ids.n),
                   "run only these at the other level, or report them with 'etprof ops'",
                   "Σ (candidate − baseline) of rows whose 95 % interval lies above 0, with q ≤ 0.05", err);
}

static int best_first(const void *pa, const void *pb)
{
    const etp_ab_fix *a = pa, *b = pb;
    if (a->expected_ns != b->expected_ns) {
        return a->expected_ns > b->expected_ns ? -1 : 1;
    }
    return a->hi_ns != b->hi_ns ? (a->hi_ns > b->hi_ns ? -1 : 1) : strcmp(a->kind, b->kind);
}

etp_status etp_ab_next_fixes(etp_ab_session *s, etp_error *err)
{
    etp_ab *ab = &s->ab;
    fixer f = {.s = s, .ab = ab};
    f.arm = ab->n_comparisons ? ab->comparisons[0].candidate : ab->baseline;
    if (ab->n_arms == 0 || ab->emulated || !ab->arms[f.arm].profile ||
        ab->arms[f.arm].traced_ns <= 0) {
        return ETP_OK;
    }
    f.total = ab->arms[f.arm].traced_ns;
    ETP_TRY(movement(&f, false, err));
    ETP_TRY(movement(&f, true, err));
    ETP_TRY(chains(&f, err));
    ETP_TRY(undelegated(&f, err));
    ETP_TRY(boundary(&f, err));
    ETP_TRY(batch_norm(&f, err));
    ETP_TRY(odd_sizes(&f, err));
    ETP_TRY(slower(&f, err));
    if (ab->fixes.n) {
        qsort(ab->fixes.items, ab->fixes.n, sizeof *ab->fixes.items, best_first);
    }
    for (size_t i = 0; i < ab->fixes.n; i++) {
        ab->fixes.items[i].id = etp_arena_printf(&s->arena, "N%zu", i + 1);
        if (!ab->fixes.items[i].id) {
            return etp_fail_nomem(err, "fixes");
        }
    }
    return ETP_OK;
}
