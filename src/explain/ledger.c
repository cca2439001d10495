// SPDX-License-Identifier: Apache-2.0
// Building the ledger: one row per aligned pair, sums for what is no operator, integers that close.
#include "explain/ledger.h"
#include "explain/nodes.h"

#include <math.h>
#include <string.h>

#include <etprof/stats.h>

#include "base/guard.h"

typedef struct maker {
    const etp_profile *arm[2]; // baseline, candidate
    const etp_alignment *alignment;
    etp_arena *arena;
    etp_arena scratch;
    etp_ledger *out;
    double *mean[2];                      // per row, before rounding
    double *block_difference;             // scratch of one row, per block
    double *block_ratio_ln;               // likewise: ln(baseline ÷ candidate)
    size_t n_blocks;                      // paired blocks, 0 when the dumps do not pair
    uint32_t *first_member, *next_member; // pairs of each group, the group's own first
} maker;

int64_t etp_profile_traced_ns(const etp_profile *p)
{
    return llround((double)p->execute_total_ns / (double)p->executions);
}

// Mean exclusive time per execution of one dump, over all rows of a kind or over one row.
static double dump_mean(const etp_profile *p, uint32_t row, etp_row_kind kind, size_t dump)
{
    if (p->per_dump_executions[dump] == 0) {
        return NAN;
    }
    int64_t sum = 0;
    if (row != ETP_NO_INDEX) {
        sum = p->rows[row].per_dump_ns[dump];
    } else {
        for (size_t i = 0; i < p->n_rows; i++) {
            sum += p->rows[i].kind == kind ? p->rows[i].per_dump_ns[dump] : 0;
        }
    }
    return (double)sum / (double)p->per_dump_executions[dump];
}

static double total_mean(const etp_profile *p, etp_row_kind kind)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        sum += p->rows[i].kind == kind ? p->rows[i].total_ns : 0;
    }
    return (double)sum / (double)p->executions;
}

// One side of a group in one block: the pair's own row and those merged into it.
static double group_dump_mean(const maker *m, uint32_t pair, int side, size_t dump)
{
    double sum = 0;
    for (uint32_t i = m->first_member[pair]; i != ETP_NO_INDEX; i = m->next_member[i]) {
        const etp_aligned_pair *p = &m->alignment->items[i];
        uint32_t row = side ? p->candidate : p->baseline;
        sum += row == ETP_NO_INDEX ? 0.0 : dump_mean(m->arm[side], row, ETP_ROW_OPERATOR, dump);
    }
    return sum;
}

static bool group_has(const maker *m, uint32_t pair, int side)
{
    for (uint32_t i = m->first_member[pair]; i != ETP_NO_INDEX; i = m->next_member[i]) {
        const etp_aligned_pair *p = &m->alignment->items[i];
        if ((side ? p->candidate : p->baseline) != ETP_NO_INDEX) {
            return true;
        }
    }
    return false;
}

static int64_t group_cut(const maker *m, uint32_t pair, int side)
{
    int64_t sum = 0;
    for (uint32_t i = m->first_member[pair]; i != ETP_NO_INDEX; i = m->next_member[i]) {
        const etp_aligned_pair *p = &m->alignment->items[i];
        uint32_t row = side ? p->candidate : p->baseline;
        sum += row == ETP_NO_INDEX ? 0 : etp_profile_cut_ns(m->arm[side], &m->arm[side]->rows[row]);
    }
    return sum;
}

static double group_mean(const maker *m, uint32_t pair, int side)
{
    int64_t sum = 0; // integers: the order of members must not matter
    for (uint32_t i = m->first_member[pair]; i != ETP_NO_INDEX; i = m->next_member[i]) {
        const etp_aligned_pair *p = &m->alignment->items[i];
        uint32_t row = side ? p->candidate : p->baseline;
        sum += row == ETP_NO_INDEX ? 0 : m->arm[side]->rows[row].total_ns;
    }
    return (double)sum / (double)m->arm[side]->executions;
}

// Of the difference the part that the clocks cannot have made: the truth of either side lies
// between what was measured and that plus what was cut off.
static double beyond_clocks(double difference, const int64_t truncation_ns[2])
{
    return difference > 0 ? fmax(0, difference - (double)truncation_ns[0])
                          : fmin(0, difference + (double)truncation_ns[1]);
}

// Intervals of a row's difference and ratio from those of the single blocks, as wide as the row's
// clocks demand. PAIR ETP_NO_INDEX: all rows of the row's kind.
static void interval(maker *m, etp_ledger_row *row, uint32_t pair)
{
    row->lo_ns = row->hi_ns = ETP_NS_UNKNOWN;
    row->p = row->q = row->ratio_lo = row->ratio_hi = (double)NAN;
    size_t n = 0, ratios = 0;
    for (size_t k = 0; k < m->n_blocks; k++) {
        bool is_sum = pair == ETP_NO_INDEX;
        double before = is_sum ? dump_mean(m->arm[0], ETP_NO_INDEX, row->kind, k)
                               : group_dump_mean(m, pair, 0, k);
        double after = is_sum ? dump_mean(m->arm[1], ETP_NO_INDEX, row->kind, k)
                              : group_dump_mean(m, pair, 1, k);
        if (isfinite(before) && isfinite(after)) {
            m->block_difference[n++] = after - before;
        }
        if (before > 0 && after > 0) { // false for NAN
            m->block_ratio_ln[ratios++] = log(before / after);
        }
    }
    if (n < 2) {
        return;
    }
    etp_interval ci = etp_mean_interval(m->block_difference, n, 0.95);
    row->lo_ns = llround(ci.lo) - row->truncation_ns[0];
    row->hi_ns = llround(ci.hi) + row->truncation_ns[1];
    if (ratios == n) { // else some block knows no ratio, and the others would not speak for it
        etp_interval ln = etp_mean_interval(m->block_ratio_ln, n, 0.95);
        row->ratio_lo = exp(ln.lo);
        row->ratio_hi = exp(ln.hi);
    }
    const double change = beyond_clocks(ci.estimate, row->truncation_ns);
    for (size_t k = 0; k < n; k++) {
        m->block_difference[k] += change - ci.estimate;
    }
    row->p = pair == ETP_NO_INDEX ? (double)NAN : etp_mean_p(m->block_difference, n);
    bool whole = row->truncation_ns[0] + row->truncation_ns[1] > 0; // a clock of whole microseconds
    if (isfinite(row->p) && whole && change != 0 &&
        !(ci.hi > ci.lo)) { // equal in whole ticks: the signs alone are evidence
        row->p = fmax(row->p, exp2(1 - (double)n));
    }
    row->q = row->p; // adjusted later
}

// A change by CHANGE_NS > 0 in one direction, whose interval leaves out 0 when CLEAR.
static bool beyond_doubt(const etp_ledger_row *row, bool clear, int64_t change_ns)
{
    return row->pair != ETP_NO_INDEX && row->same && row->lo_ns != ETP_NS_UNKNOWN && clear &&
           row->q <= 0.05 && (double)change_ns > ETP_OPERATOR_MARGIN * (double)row->baseline_ns;
}

bool etp_ledger_row_slower(const etp_ledger_row *row)
{
    return beyond_doubt(row, row->lo_ns > 0, row->delta_ns);
}

bool etp_ledger_row_faster(const etp_ledger_row *row)
{
    return beyond_doubt(row, row->hi_ns < 0, -row->delta_ns);
}

size_t etp_ledger_worst(const etp_ledger *l, bool (*count)(const etp_ledger_row *row),
                        const etp_ledger_row **out, size_t most)
{
    size_t n = 0;
    memset(out, 0, most * sizeof *out);
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *row = count(&l->items[i]) ? &l->items[i] : NULL;
        n += row != NULL;
        for (size_t k = 0; k < most && row; k++) {
            if (!out[k] || row->delta_ns > out[k]->delta_ns) {
                const etp_ledger_row *next = out[k]; // moves on to the next place
                out[k] = row;
                row = next;
            }
        }
    }
    return n;
}

// One launch on each side has no blocks. What can be seen all the same: the shortest iteration of
// the candidate is longer than the longest of the baseline, by more than truncation to whole
// microseconds can do.
static bool each_longer(const maker *m, uint32_t pair)
{
    uint64_t longest = 0, shortest = 0, parts = 0;
    bool few = m->arm[0]->all_executions < ETP_LEDGER_ITERATIONS ||
               m->arm[1]->all_executions < ETP_LEDGER_ITERATIONS;
    for (uint32_t i = m->first_member[pair]; i != ETP_NO_INDEX && !few; i = m->next_member[i]) {
        const etp_aligned_pair *p = &m->alignment->items[i];
        const etp_profile_row *base =
            p->baseline == ETP_NO_INDEX ? NULL : &m->arm[0]->rows[p->baseline];
        const etp_profile_row *cand =
            p->candidate == ETP_NO_INDEX ? NULL : &m->arm[1]->rows[p->candidate];
        few = cand && cand->calls != m->arm[1]->all_executions; // not in each of them
        longest += base ? base->max_ns : 0;
        shortest += cand ? cand->min_ns : 0;
        parts += (uint64_t)(base != NULL) + (cand != NULL);
    }
    return !few && shortest > longest && shortest - longest > 1000 * parts;
}

double etp_cut_factor(double ns, double truncation_ns)
{
    return ns > 0 ? (ns + truncation_ns) / ns : HUGE_VAL;
}

static void add_row(maker *m, etp_ledger_row row, double base_mean, double cand_mean)
{
    size_t at = m->out->n;
    ETP_ADD(m->arena, m->out, row);
    m->mean[0][at] = base_mean;
    m->mean[1][at] = cand_mean;
}

static const char *label_of(etp_arena *arena, const etp_profile_row *base,
                            const etp_profile_row *cand)
{
    const etp_profile_row *row = ETP_OR(base, cand);
    etp_str shown = row->delegated ? row->name : row->parsed.family;
    if (row->event == ETP_EVENT_NATIVE_CALL && row->parsed.overload.len) {
        return etp_arena_printf(arena, "%.*s.%.*s [%d]", ETP_STR_ARG(shown),
                                ETP_STR_ARG(row->parsed.overload), (int)row->instruction);
    }
    return etp_arena_printf(arena, "%.*s [%d]", ETP_STR_ARG(shown), (int)row->instruction);
}

static const etp_work *work_of(const etp_profile *p, const etp_profile_row *row)
{
    const bool joined = p->facts && !p->facts->problem;
    return joined ? &p->facts->rows[row - p->rows].op.work : NULL;
}

// Operators of two programs are paired by name and order: another one may have taken the place.
// Only what computes as much in the same way has a time before and after; where the work is not
// known, a kernel of equal name in a program of the same instructions.
static bool same_operator(const maker *m, const etp_profile_row *base, const etp_profile_row *cand)
{
    if (!m->alignment->two_programs) {
        return true;
    }
    const etp_work *x = base ? work_of(m->arm[0], base) : NULL;
    const etp_work *y = cand ? work_of(m->arm[1], cand) : NULL;
    const bool named = base && cand && etp_str_eq(base->parsed.base, cand->parsed.base);
    return named && (x && y && x->known && y->known
                         ? x->macs == y->macs && x->ops == y->ops && x->bytes == y->bytes
                         : base->kind == ETP_ROW_PORTABLE && m->alignment->same_skeleton);
}

static uint64_t delegate_operators(const etp_profile *p)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        calls += p->rows[i].event == ETP_EVENT_DELEGATE_OP ? p->rows[i].calls : 0;
    }
    return (calls + p->all_executions - 1) / p->all_executions;
}

static bool has_kind(const etp_profile *p, etp_row_kind kind)
{
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->rows[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static int64_t cut_of_operators(const etp_profile *p)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        sum += p->rows[i].event == ETP_EVENT_DELEGATE_OP ? etp_profile_cut_ns(p, &p->rows[i]) : 0;
    }
    return sum;
}

static void sum_row(maker *m, etp_row_kind kind, const char *label)
{
    if (!has_kind(m->arm[0], kind) && !has_kind(m->arm[1], kind)) {
        return;
    }
    etp_ledger_row row = {
        .id = etp_row_kind_name(kind),
        .label = label,
        .kind = kind,
        .category = ETP_CATEGORY_COUNT,
        .there = {true, true},
        .bound_ns = ETP_NS_UNKNOWN,
        .pair = ETP_NO_INDEX,
        .op = ETP_NO_INDEX,
    };
    if (kind == ETP_ROW_BOUNDARY) {
        // XNNPACK truncates every operator to whole microseconds; what it cuts off lands here.
        uint64_t before = delegate_operators(m->arm[0]), after = delegate_operators(m->arm[1]);
        row.bound_ns = (int64_t)ETP_MAX(before, after) * 1000;
        // The other way round than for an operator: what is cut off there is too much here.
        row.truncation_ns[0] = cut_of_operators(m->arm[1]);
        row.truncation_ns[1] = cut_of_operators(m->arm[0]);
    }
    interval(m, &row, ETP_NO_INDEX);
    if (row.truncation_ns[0] + row.truncation_ns[1] > 0) {
        row.ratio_lo = row.ratio_hi = (double)NAN;
        row.truncation_ns[0] = row.truncation_ns[1] = 0;
    }
    add_row(m, row, total_mean(m->arm[0], kind), total_mean(m->arm[1], kind));
}

static void round_rows(maker *m)
{
    size_t n = m->out->n;
    int64_t *rounded = ETP_NEW_ARRAY(&m->scratch, int64_t, n);
    uint32_t *order = ETP_NEW_ARRAY(&m->scratch, uint32_t, n);
    for (int side = 0; side < 2; side++) {
        etp_round_to_sum(m->mean[side], n, etp_profile_traced_ns(m->arm[side]), order, rounded);
        for (size_t i = 0; i < n; i++) {
            if (side == 0) {
                m->out->items[i].baseline_ns = rounded[i];
            } else {
                m->out->items[i].candidate_ns = rounded[i];
            }
        }
    }
}

static void end_row(maker *m, const char *id, const char *label, etp_row_kind kind,
                    const int64_t ns[2])
{
    etp_ledger_row row = {
        .id = id,
        .label = label,
        .kind = kind,
        .category = ETP_CATEGORY_COUNT,
        .baseline_ns = ns[0],
        .candidate_ns = ns[1],
        .lo_ns = ETP_NS_UNKNOWN,
        .hi_ns = ETP_NS_UNKNOWN,
        .there = {true, true},
        .bound_ns = ETP_NS_UNKNOWN,
        .ratio_lo = (double)NAN,
        .ratio_hi = (double)NAN,
        .p = (double)NAN,
        .q = (double)NAN,
        .ties = kind != ETP_ROW_FRAMEWORK,
        .pair = ETP_NO_INDEX,
        .op = ETP_NO_INDEX,
    };
    ETP_ADD(m->arena, m->out, row);
}

// From the kept traced executions to the untraced median. Like is compared with like: the tracer is
// the median of untraced iterations less the median of traced ones.
static void end_rows(maker *m, const etp_ledger_end ends[2])
{
    int64_t rest[2], around[2], tracer[2];
    bool known = true, called = true;
    for (int side = 0; side < 2; side++) {
        if (ends[side].median_ns == ETP_NS_UNKNOWN) {
            return;
        }
        known = known && ends[side].traced_ns != ETP_NS_UNKNOWN;
        called = called && ends[side].call_overhead_ns != ETP_NS_UNKNOWN;
    }
    for (int side = 0; side < 2; side++) {
        const etp_ledger_end *e = &ends[side];
        around[side] = known && called ? e->call_overhead_ns : 0;
        tracer[side] = e->median_ns - (known ? e->traced_ns : etp_profile_traced_ns(m->arm[side]));
        rest[side] =
            e->median_ns - tracer[side] - around[side] - etp_profile_traced_ns(m->arm[side]);
    }
    if (!known) {
        end_row(m, "tracer", "tracer and spread of iterations (untraced median − kept traced mean)",
                ETP_ROW_TRACER, tracer);
        return;
    }
    if (called) {
        end_row(m, "around", "around Method::execute (the runner's call of it)", ETP_ROW_FRAMEWORK,
                around);
    }
    end_row(m, "iterations", "spread of iterations (traced median − kept traced mean)",
            ETP_ROW_UNEXPLAINED, rest);
    end_row(m, "tracer", "tracer (untraced median − traced median)", ETP_ROW_TRACER, tracer);
}

static void make(maker *m, const etp_ledger_end ends[2])
{
    size_t n = m->alignment->n, most = n + 3;
    for (int side = 0; side < 2; side++) {
        m->mean[side] = ETP_NEW_ARRAY(&m->scratch, double, most);
    }
    size_t n_dumps = m->arm[0]->n_dumps;
    m->n_blocks = n_dumps == m->arm[1]->n_dumps ? n_dumps : 0;
    m->block_difference = ETP_NEW_ARRAY(&m->scratch, double, n_dumps);
    m->block_ratio_ln = ETP_NEW_ARRAY(&m->scratch, double, n_dumps);
    m->first_member = ETP_NEW_ARRAY(&m->scratch, uint32_t, n);
    m->next_member = ETP_NEW_ARRAY(&m->scratch, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        m->first_member[i] = i;
        m->next_member[i] = ETP_NO_INDEX;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t into = m->alignment->items[i].into;
        if (into != ETP_NO_INDEX) {
            m->next_member[i] = m->next_member[into];
            m->next_member[into] = i;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        etp_aligned_pair pair = m->alignment->items[i];
        if (pair.into != ETP_NO_INDEX) {
            continue; // part of another row
        }
        const etp_profile_row *base =
            pair.baseline == ETP_NO_INDEX ? NULL : &m->arm[0]->rows[pair.baseline];
        const etp_profile_row *cand =
            pair.candidate == ETP_NO_INDEX ? NULL : &m->arm[1]->rows[pair.candidate];
        const etp_profile_row *any = ETP_OR(base, cand);
        const bool had = group_has(m, i, 0), has = group_has(m, i, 1);
        etp_row_kind kind = has ? any->kind : ETP_ROW_VANISHED;
        etp_ledger_row row = {
            .id = etp_arena_printf(m->arena, "op%u", i + 1),
            .label = label_of(m->arena, base, cand),
            .kind = had ? kind : ETP_ROW_INSERTED,
            .category = any->parsed.category,
            .there = {had, has},
            .bound_ns = ETP_NS_UNKNOWN,
            .pair = i,
            .op = ETP_NO_INDEX,
            .truncation_ns = {group_cut(m, i, 0), group_cut(m, i, 1)},
            .same = same_operator(m, base, cand),
        };
        interval(m, &row, i);
        const double means[2] = {group_mean(m, i, 0), group_mean(m, i, 1)};
        row.ratio_lo /= etp_cut_factor(means[1], (double)row.truncation_ns[1]); // NAN stays
        row.ratio_hi *= etp_cut_factor(means[0], (double)row.truncation_ns[0]);
        row.each_longer = row.same && m->n_blocks < 2 && each_longer(m, i);
        add_row(m, row, means[0], means[1]);
    }
    sum_row(m, ETP_ROW_BOUNDARY,
            "delegate calls less their operators (set-up, and what whole microseconds cut off)");
    sum_row(m, ETP_ROW_FRAMEWORK, "framework (dispatch between instructions)");
    sum_row(m, ETP_ROW_UNEXPLAINED, "unexplained");
    // Many operators are judged at once: some look different by chance alone.
    n = m->out->n;
    double *p = ETP_NEW_ARRAY(&m->scratch, double, 2 * n);
    uint32_t *order = ETP_NEW_ARRAY(&m->scratch, uint32_t, n);
    for (size_t i = 0; i < n; i++) {
        p[i] = m->out->items[i].q;
    }
    etp_benjamini_hochberg(p, n, order, p + n);
    for (size_t i = 0; i < n; i++) {
        m->out->items[i].q = p[n + i];
    }
    round_rows(m);
    end_rows(m, ends);
    for (size_t i = 0; i < m->out->n; i++) {
        etp_ledger_row *row = &m->out->items[i];
        row->delta_ns = row->candidate_ns - row->baseline_ns;
        m->out->baseline_ns += row->baseline_ns;
        m->out->candidate_ns += row->candidate_ns;
    }
    m->out->delta_ns = m->out->candidate_ns - m->out->baseline_ns;
}

void etp_ledger_mark_one_sided(etp_ledger *l)
{
    for (size_t i = 0; i < l->n; i++) {
        etp_ledger_row *row = &l->items[i];
        bool one_sided = row->kind == ETP_ROW_INSERTED || row->kind == ETP_ROW_VANISHED;
        row->kind = one_sided ? ETP_ROW_ONE_SIDED : row->kind;
    }
}

void etp_ledger_withhold(etp_ledger *l)
{
    for (size_t i = 0; i < l->n; i++) {
        etp_ledger_row *row = &l->items[i];
        row->lo_ns = row->hi_ns = ETP_NS_UNKNOWN;
        row->ratio_lo = row->ratio_hi = row->p = row->q = (double)NAN;
        row->each_longer = false;
    }
}

void etp_ledger_build(const etp_profile *baseline, const etp_profile *candidate,
                      const etp_alignment *alignment, const etp_ledger_end ends[2],
                      etp_arena *arena, etp_ledger *out)
{
    *out = (etp_ledger){0};
    maker m = {
        .arm = {baseline, candidate},
          .alignment = alignment, .arena = arena, .out = out
    };
    etp_arena_scratch(&m.scratch, arena);
    make(&m, ends);
    etp_arena_dispose(&m.scratch);
}
