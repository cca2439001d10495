// SPDX-License-Identifier: Apache-2.0
// Categories of an arm's operators: their times, how far those can be trusted, and the shift of the
// bottleneck.
#include <math.h>
#include <stdlib.h>

#include "compare/session.h"

#define ROUNDING 1.000001 // times are whole nanoseconds

// ---- what clocks resolve ----

bool etp_ab_resolved(int64_t ns, int64_t truncation_ns)
{
    return ns != ETP_NS_UNKNOWN && ns > 0 && truncation_ns != ETP_NS_UNKNOWN &&
           (double)ns >= ETP_AB_CLOCKS * (double)truncation_ns;
}

// What reading the clock twice takes stands for the resolution of clocks that cut nothing off.
// The operators of a call ran within it, and where its own clock counts nanoseconds, what theirs
// cut off is at most what the call took besides them.
static int64_t row_cut(const etp_profile *p, const etp_profile_row *row)
{
    int64_t cut = etp_profile_cut_ns(p, row);
    if (cut && row->call != ETP_NO_INDEX && row->tick_ns == 0) {
        int64_t besides = llround(fmax(0, etp_profile_mean(p, &p->rows[row->call])));
        return ETP_MIN(cut, besides);
    }
    return ETP_OR(cut, ETP_AB_READING_NS);
}

etp_ab_clocked_time etp_ab_operator_time(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm)
{
    const etp_profile *p = ab->arms[arm].profile;
    etp_ab_clocked_time part = {op->ns[arm], 0};
    if (!op->rows[arm]) {
        return part;
    }
    part.truncation_ns = row_cut(p, op->rows[arm]);
    for (size_t i = 0; i < op->merged[arm].n; i++) {
        const etp_profile_row *row = op->merged[arm].items[i];
        part.truncation_ns += row != op->rows[arm] ? row_cut(p, row) : 0;
    }
    return part;
}

void etp_ab_part_add(etp_ab_clocked_time *sum, const etp_ab_clocked_time *part)
{
    sum->ns += part->ns == ETP_NS_UNKNOWN ? 0 : part->ns;
    sum->truncation_ns += part->truncation_ns;
}

bool etp_ab_time_below_clock(const etp_ab_clocked_time *p)
{
    return p->ns != ETP_NS_UNKNOWN && p->truncation_ns != ETP_NS_UNKNOWN &&
           p->ns < p->truncation_ns;
}

bool etp_ab_change_below_clock(const etp_ab_clocked_time *before, const etp_ab_clocked_time *after)
{
    // The truth of what was saved lies between these two; as for ratios, a factor of two is too
    // wide.
    const int64_t saved = before->ns - after->ns;
    const int64_t least = llabs(saved) - (saved > 0 ? after->truncation_ns : before->truncation_ns);
    const int64_t most = llabs(saved) + (saved > 0 ? before->truncation_ns : after->truncation_ns);
    bool resolved = etp_ab_resolved(before->ns, before->truncation_ns) &&
                    etp_ab_resolved(after->ns, after->truncation_ns);
    return !resolved && before->truncation_ns + after->truncation_ns > 0 && most > 2 * least;
}

double etp_ab_part_ratio(const etp_ab *ab, size_t comparison, const etp_ab_clocked_time *before,
                         const etp_ab_clocked_time *after)
{
    bool shown = etp_ab_told(ab, comparison) && !ab->logged_unlike[comparison] &&
                 etp_ab_resolved(before->ns, before->truncation_ns) &&
                 etp_ab_resolved(after->ns, after->truncation_ns);
    return etp_value_if(shown, (double)before->ns / (double)after->ns);
}

bool etp_ab_below_clock(const etp_ab *ab, size_t comparison, double speedup,
                        const etp_ab_clocked_time *before, const etp_ab_clocked_time *after)
{
    bool both = before->ns != ETP_NS_UNKNOWN && after->ns != ETP_NS_UNKNOWN &&
                before->ns + before->truncation_ns > 0 && after->ns + after->truncation_ns > 0;
    bool resolved = etp_ab_resolved(before->ns, before->truncation_ns) &&
                    etp_ab_resolved(after->ns, after->truncation_ns);
    return isnan(speedup) && both && !resolved && etp_ab_told(ab, comparison) &&
           !ab->logged_unlike[comparison];
}

bool etp_ab_category_below_clock(const etp_ab *ab, const etp_ab_category *c, size_t at, bool change)
{
    const etp_ab_comparison *of = &ab->comparisons[at];
    const etp_ab_clocked_time before = {c->ns[of->baseline], c->truncation_ns[of->baseline]};
    const etp_ab_clocked_time after = {c->ns[of->candidate], c->truncation_ns[of->candidate]};
    return etp_ab_below_clock(ab, at, c->speedup[at], &before, &after) &&
           (!change || etp_ab_change_below_clock(&before, &after));
}

// ---- sums over the operators of a category ----

typedef struct summer {
    const etp_ab *ab;
    const etp_ab_category *category;
    int64_t *cut_in; // scratch, per row of the arm's profile: what clocks can have cut off the
                     // parts of that delegate call
    double *logs;    // scratch, per block
    const bool *in;  // [n_operators] instead of a category's; NULL: those of CATEGORY
} summer;

// What the clocks can have cut off an operator's row, and of which delegate call that is a part.
static void add_cut(const summer *w, const etp_profile *p, const etp_profile_row *row,
                    etp_ab_clocked_time *out)
{
    int64_t cut = etp_profile_cut_ns(p, row);
    if (cut && row->call != ETP_NO_INDEX && row->tick_ns == 0) {
        w->cut_in[row->call] += cut;
    } else {
        out->truncation_ns += cut;
    }
}

// What a call took beside the operators that it logged, where that may have been anything: no
// operator has it, and it is not logged.
static bool is_rest(const etp_profile *p, size_t row)
{
    return p->rows[row].event == ETP_EVENT_DELEGATE_CALL && !p->rows[row].silent &&
           etp_profile_row_hides(p, row);
}

// What clocks may have moved between such rests and the operators beside them; TICKS: by ticks
// alone, which may be too many as well as too few.
static int64_t rests_moved(const etp_profile *p, bool ticks)
{
    int64_t sum = 0;
    for (size_t call = 0; call < p->n_rows; call++) {
        const bool rest = is_rest(p, call);
        for (size_t i = 0; rest && i < p->n_rows; i++) {
            const etp_profile_row *row = &p->rows[i];
            bool counts = (i == call || row->call == call) && (row->tick_ns || !ticks);
            sum += counts ? etp_profile_cut_ns(p, row) : 0;
        }
    }
    return sum;
}

int64_t etp_ab_rests_over(const etp_profile *p)
{
    return rests_moved(p, false);
}

// Over DUMP (SIZE_MAX: all).
static int64_t row_ns(const etp_profile_row *row, size_t dump)
{
    return dump == SIZE_MAX ? row->total_ns : row->per_dump_ns[dump];
}

static int64_t rests(const etp_profile *p, size_t dump)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        sum += is_rest(p, i) ? row_ns(&p->rows[i], dump) : 0;
    }
    return sum;
}

static bool belongs(const summer *w, const etp_ab_operator *op, uint32_t arm)
{
    return op->category == w->category->category && op->ns[arm] != ETP_NS_UNKNOWN;
}

int64_t etp_ab_recorded_ns(const etp_ab_operator *op, uint32_t arm, size_t dump)
{
    int64_t sum = op->rows[arm] ? row_ns(op->rows[arm], dump) : 0;
    for (size_t k = 0; k < op->merged[arm].n; k++) {
        const etp_profile_row *row = op->merged[arm].items[k];
        sum += row != op->rows[arm] ? row_ns(row, dump) : 0;
    }
    return sum;
}

// Mean over the kept executions of one dump: of OP, without one of the category.
static double dump_mean(const summer *w, const etp_ab_operator *op, uint32_t arm, size_t dump)
{
    const etp_ab *ab = w->ab;
    const etp_profile *p = ab->arms[arm].profile;
    int64_t sum = op ? etp_ab_recorded_ns(op, arm, dump) : 0;
    sum += !op && !w->in && w->category->category == ETP_CATEGORY_UNLOGGED ? rests(p, dump) : 0;
    for (size_t i = 0; !op && i < ab->n_operators; i++) {
        bool own = w->in ? w->in[i] : belongs(w, &ab->operators[i], arm);
        sum += own ? etp_ab_recorded_ns(&ab->operators[i], arm, dump) : 0;
    }
    return etp_share((double)sum, (double)p->per_dump_executions[dump]);
}

typedef struct part_ratio {
    double speedup, lo, hi; // NAN: not known
} part_ratio;

// t over the blocks' log ratios, as the headline's; then each end is moved by what the clocks can
// have cut off, and the ratio is taken back where blocks do not bear it.
static void interval(const summer *w, const etp_ab_operator *op, size_t at,
                     const etp_ab_clocked_time *before, const etp_ab_clocked_time *after,
                     part_ratio *c)
{
    const etp_ab *ab = w->ab;
    const etp_ab_comparison *cmp = &ab->comparisons[at];
    const etp_profile *base = ab->arms[cmp->baseline].profile,
                      *cand = ab->arms[cmp->candidate].profile;
    bool told = etp_ab_told(ab, at) && !ab->logged_unlike[at];
    size_t n = base && cand && base->n_dumps == cand->n_dumps && told ? base->n_dumps : 0;
    size_t known = 0;
    for (size_t d = 0; d < n; d++) {
        double was = dump_mean(w, op, cmp->baseline, d), is = dump_mean(w, op, cmp->candidate, d);
        if (was > 0 && is > 0) { // false for NAN
            w->logs[known++] = log(was / is);
        }
    }
    if (known < 2 || known != n) {
        return;
    }
    etp_interval ci = etp_mean_interval(w->logs, n, ETP_CONFIDENCE);
    c->lo = exp(ci.lo) / etp_cut_factor((double)after->ns, (double)after->truncation_ns);
    c->hi = exp(ci.hi) * etp_cut_factor((double)before->ns, (double)before->truncation_ns);
    // The ratio is of means over all blocks: where blocks differ this much it says nothing of them.
    bool resolved =
        c->hi <= 2 * c->lo && c->speedup >= c->lo / ROUNDING && c->speedup <= c->hi * ROUNDING;
    c->speedup = etp_value_if(resolved, c->speedup);
}

double etp_ab_operator_speedup(const etp_ab *ab, size_t comparison, const etp_ab_operator *op,
                               double *logs)
{
    const etp_ab_comparison *of = &ab->comparisons[comparison];
    const etp_ab_clocked_time before = etp_ab_operator_time(ab, op, of->baseline),
                              after = etp_ab_operator_time(ab, op, of->candidate);
    part_ratio r = {etp_ab_part_ratio(ab, comparison, &before, &after), NAN, NAN};
    interval(&(summer){.ab = ab, .logs = logs}, op, comparison, &before, &after, &r);
    return r.speedup;
}

double etp_ab_sum_speedup(const etp_ab *ab, size_t comparison, const bool *in,
                          const etp_ab_clocked_time *before, const etp_ab_clocked_time *after,
                          etp_arena *scratch)
{
    const etp_profile *p = ab->arms[ab->comparisons[comparison].baseline].profile;
    const summer w = {
        .ab = ab, .in = in, .logs = ETP_NEW_ARRAY(scratch, double, (p ? p->n_dumps : 0) + 1)};
    part_ratio r = {etp_ab_part_ratio(ab, comparison, before, after), NAN, NAN};
    if (w.logs) { // what shows an answer has no guard
        interval(&w, NULL, comparison, before, after, &r);
    }
    return r.speedup;
}

// Whether the time of a row may be of a category that its own does not tell: not logged, or of an
// operator of a delegate whose names are not understood.
static bool of_any(const etp_profile *p, size_t i, etp_category category)
{
    const etp_profile_row *row = &p->rows[i];
    if (category == ETP_CATEGORY_UNLOGGED) {
        return !row->silent && !is_rest(p, i) && etp_profile_row_hides(p, i);
    }
    bool foreign = row->event == ETP_EVENT_DELEGATE_OP && row->kind == ETP_ROW_OPERATOR &&
                   !row->parsed.known && category != ETP_CATEGORY_OTHER;
    return foreign || etp_profile_row_hides(p, i);
}

double etp_ab_category_most(const etp_ab *ab, uint32_t arm, etp_category category, double share)
{
    const etp_profile *p = ab->arms[arm].profile;
    if (!p || p->execute_total_ns <= 0 || p->parts_withheld) {
        return p && p->execute_total_ns > 0 ? 1 : share;
    }
    int64_t ns = p->overlapping_ns;
    for (size_t i = 0; i < p->n_rows; i++) {
        ns += of_any(p, i, category) ? p->rows[i].total_ns : 0;
    }
    return fmin(share + (double)ns / (double)p->execute_total_ns, fmax(share, 1));
}

static void take_arm(summer *w, uint32_t a, etp_ab_category *c, bool *occurs)
{
    const etp_ab *ab = w->ab;
    const etp_ab_arm *arm = &ab->arms[a];
    const etp_profile *p = arm->profile;
    bool seen = false;
    etp_ab_clocked_time part = {0, 0}; // with what the clocks can have cut off it
    for (size_t i = 0; p && i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (!belongs(w, op, a)) {
            continue;
        }
        part.ns += op->ns[a];
        seen = true;
        if (op->rows[a]) {
            add_cut(w, p, op->rows[a], &part);
        }
        for (size_t k = 0; k < op->merged[a].n; k++) {
            if (op->merged[a].items[k] != op->rows[a]) {
                add_cut(w, p, op->merged[a].items[k], &part);
            }
        }
    }
    if (p && c->category == ETP_CATEGORY_UNLOGGED && p->executions > 0) {
        int64_t rest = llround((double)rests(p, SIZE_MAX) / (double)p->executions);
        part.ns += rest;
        part.truncation_ns += rests_moved(p, true);
        seen = seen || rest > 0;
    }
    // The operators of a call ran within it, and its own clock counts nanoseconds: what theirs cut
    // off together is at most what the call took besides them.
    for (size_t i = 0; p && i < p->n_rows; i++) {
        double besides = fmax(0, etp_profile_mean(p, &p->rows[i]));
        part.truncation_ns += (double)w->cut_in[i] <= besides ? w->cut_in[i] : llround(besides);
        w->cut_in[i] = 0;
    }
    // Where no call is known it is within the inference, whose clock may count ticks, too.
    int64_t left = arm->traced_ns - part.ns + (int64_t)(p ? p->tick_ns : 0);
    left = ETP_MAX(left, 0);
    if (arm->traced_ns > 0) {
        part.truncation_ns = ETP_MIN(part.truncation_ns, left);
    }
    // Of what an arm does not show, all may be in what it did not log: that is not 0.
    bool sure = p && (seen || !(etp_ab_category_most(ab, a, c->category, 0) > 0));
    bool known = sure && arm->traced_ns > 0;
    *occurs = *occurs || seen;
    c->ns[a] = sure ? part.ns : ETP_NS_UNKNOWN;
    c->truncation_ns[a] = sure ? part.truncation_ns : ETP_NS_UNKNOWN;
    c->share[a] = etp_value_if(known, (double)part.ns / (double)arm->traced_ns);
    c->most[a] = etp_ab_category_most(ab, a, c->category, known ? c->share[a] : 0);
    c->ceiling[a] = known && part.ns < arm->traced_ns
                        ? (double)arm->traced_ns / (double)(arm->traced_ns - part.ns)
                        : (double)NAN;
}

// Portable kernels have a clock of nanoseconds; reading it is what limits them.
static int64_t readings(const etp_ab *ab, etp_category category, uint32_t arm)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        sum += op->category == category && op->ns[arm] != ETP_NS_UNKNOWN && !op->delegated
                   ? ETP_AB_READING_NS
                   : 0;
    }
    return sum;
}

void etp_ab_categorize(const etp_ab *ab, const etp_ab_category **out, size_t *out_n)
{
    size_t rows = 0, dumps = 0;
    for (size_t a = 0; a < ab->n_arms; a++) {
        const etp_profile *p = ab->arms[a].profile;
        rows = etp_larger(rows, p ? p->n_rows : 0);
        dumps = etp_larger(dumps, p ? p->n_dumps : 0);
    }
    summer w = {.ab = ab,
                .cut_in = ETP_NEW_ARRAY(ab->arena, int64_t, rows + 1),
                .logs = ETP_NEW_ARRAY(ab->arena, double, dumps + 1)};
    etp_ab_category *all = ETP_NEW_ARRAY(ab->arena, etp_ab_category, ETP_CATEGORY_COUNT);
    size_t n = 0;
    for (int k = 0; k < ETP_CATEGORY_COUNT; k++) {
        etp_arena *arena = ab->arena;
        size_t arms = ab->n_arms, pairs = ab->n_comparisons;
        etp_ab_category c = {
            .category = (etp_category)k,
            .ns = ETP_NEW_ARRAY(arena, int64_t, arms),
            .truncation_ns = ETP_NEW_ARRAY(arena, int64_t, arms),
            .share = ETP_NEW_ARRAY(arena, double, arms),
            .most = ETP_NEW_ARRAY(arena, double, arms),
            .speedup = ETP_NEW_ARRAY(arena, double, pairs),
            .lo = ETP_NEW_ARRAY(arena, double, pairs),
            .hi = ETP_NEW_ARRAY(arena, double, pairs),
            .ceiling = ETP_NEW_ARRAY(arena, double, arms),
        };
        bool occurs = false;
        w.category = &c;
        for (uint32_t a = 0; a < ab->n_arms; a++) {
            take_arm(&w, a, &c, &occurs);
        }
        for (size_t i = 0; i < ab->n_comparisons; i++) {
            uint32_t base = ab->comparisons[i].baseline, cand = ab->comparisons[i].candidate;
            const etp_ab_clocked_time was = {c.ns[base], c.truncation_ns[base]},
                                      is = {c.ns[cand], c.truncation_ns[cand]};
            etp_ab_clocked_time before = was, after = is;
            before.truncation_ns += readings(ab, c.category, base);
            after.truncation_ns += readings(ab, c.category, cand);
            part_ratio r = {etp_ab_part_ratio(ab, i, &before, &after), NAN, NAN};
            interval(&w, NULL, i, &was, &is, &r);
            c.speedup[i] = r.speedup;
            c.lo[i] = r.lo;
            c.hi[i] = r.hi;
        }
        if (occurs) {
            all[n++] = c;
        }
    }
    *out = all;
    *out_n = n;
}

// ---- the bottleneck ----

// Share of a part of an inference: a category's, or all that is no operator's.
static double share_of(const etp_ab *ab, uint32_t arm, int part)
{
    double rest = 1;
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        if ((int)c->category == part) {
            return c->share[arm];
        }
        rest -= etp_known_or_0(c->share[arm]);
    }
    return part == ETP_AB_OUTSIDE ? fmax(0, rest) : 0;
}

// The largest part; -1 unknown.
static int dominant(const etp_ab *ab, uint32_t arm)
{
    int best = -1;
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        bool more = c->ns[arm] != ETP_NS_UNKNOWN && c->ns[arm] > 0;
        best =
            more && (best < 0 || c->share[arm] > share_of(ab, arm, best)) ? (int)c->category : best;
    }
    return best >= 0 && share_of(ab, arm, ETP_AB_OUTSIDE) > share_of(ab, arm, best) ? ETP_AB_OUTSIDE
                                                                                    : best;
}

static double portable_share(const etp_ab_arm *arm)
{
    int64_t sum = 0;
    for (size_t i = 0; arm->profile && i < arm->profile->n_rows; i++) {
        const etp_profile_row *row = &arm->profile->rows[i];
        sum += row->kind == ETP_ROW_PORTABLE ? row->total_ns : 0;
    }
    return arm->profile && arm->profile->execute_total_ns > 0
               ? (double)sum / (double)arm->profile->execute_total_ns
               : (double)NAN;
}

void etp_ab_find_shifts(const etp_ab *ab, etp_ab_comparison *comparisons)
{
    const double clear = 0.02; // two that are as good as equal have not changed places
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        etp_ab_comparison *c = &comparisons[i];
        int before = dominant(ab, c->baseline), after = dominant(ab, c->candidate);
        bool known = before >= 0 && after >= 0 && !ab->logged_unlike[i];
        c->shift.before = before;
        c->shift.after = after;
        c->shift.before_share = etp_value_if(known, share_of(ab, c->baseline, before));
        c->shift.before_is = etp_value_if(known, share_of(ab, c->candidate, before));
        c->shift.after_was = etp_value_if(known, share_of(ab, c->baseline, after));
        c->shift.after_share = etp_value_if(known, share_of(ab, c->candidate, after));
        c->shift.moved = etp_ab_told(ab, i) && // false for NAN
                         c->shift.before_share - c->shift.after_was > clear &&
                         c->shift.after_share - c->shift.before_is > clear;
        c->shift.portable_before = portable_share(&ab->arms[c->baseline]);
        c->shift.portable_after = portable_share(&ab->arms[c->candidate]);
    }
}

const char *etp_ab_part_name(int part)
{
    return part == ETP_AB_OUTSIDE ? "Outside operators" : etp_category_name((etp_category)part);
}
