// SPDX-License-Identifier: Apache-2.0
// What takes most of an inference: each arm's ETDump latency, where it went, and the operators that
// are bottlenecks of the arm that runs now.
#include <math.h>
#include <stdlib.h>

#include "compare/bottlenecks.h"
#include "compare/means.h"
#include "compare/session.h"

const char *etp_bottleneck_kind_name(etp_bottleneck_kind kind)
{
    static const char *const k_names[ETP_BOTTLENECK_KINDS] = {
        [ETP_BOTTLENECK_PORTABLE] = "portable",
        [ETP_BOTTLENECK_MOVEMENT] = "data movement",
        [ETP_BOTTLENECK_LITTLE] = "gained little",
        [ETP_BOTTLENECK_LARGE] = "large",
    };
    return kind < ETP_BOTTLENECK_KINDS ? k_names[kind] : "";
}

const char *etp_why_name(etp_why why)
{
    static const char *const k_names[ETP_WHYS] = {
        [ETP_WHY_SMALL] = "small",         [ETP_WHY_PORTABLE] = "portable",
        [ETP_WHY_MOVEMENT] = "moves data", [ETP_WHY_MEMORY] = "memory-bound",
        [ETP_WHY_OFF] = "off feature",     [ETP_WHY_COMPUTE] = "compute-bound",
        [ETP_WHY_BELOW] = "below roof",
    };
    return why < ETP_WHYS ? k_names[why] : NULL;
}

static bool moves_data(etp_category category)
{
    return category == ETP_CATEGORY_DATA_MOVEMENT || category == ETP_CATEGORY_QUANTIZE;
}

etp_status etp_ab_split_arm(const etp_ab_session *s, uint32_t arm, etp_ab_arm *out, etp_error *err)
{
    const etp_profile *p = out->profile;
    struct {
        double *items;
        size_t n, cap;
    } v = {0};
    for (size_t d = 0; d < s->in.dumps.n; d++) {
        const etp_trace *trace = s->in.dumps.items[d].trace;
        bool mine = trace && s->in.dumps.items[d].arm == arm;
        for (size_t i = 0; mine && i < etp_trace_block_count(trace); i++) {
            const etp_trace_block *b = etp_trace_block_at(trace, i);
            for (size_t r = 0; b->has_execute && !b->rare && r < b->n_runs; r++) {
                ETP_ADD(s->ab.arena, &v, (double)etp_trace_durations(b, b->execute)[r]);
            }
        }
    }
    out->traced_runs = v.n;
    out->traced_median_ns = etp_median(v.items, v.n);
    etp_means mean;
    ETP_TRY(etp_means_of(p, ETP_MEANS_KEPT, s->ab.arena, &mean, err));
    out->time_breakdown.boundary_ns = mean.boundary_ns;
    out->time_breakdown.framework_ns = mean.framework_ns;
    out->time_breakdown.unexplained_ns = mean.unexplained_ns;
    for (size_t i = 0; p && mean.row_ns && i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        const int64_t ns = mean.row_ns[i];
        out->time_breakdown.calls += row->event == ETP_EVENT_DELEGATE_CALL;
        if (!etp_row_is_operator(row->kind)) {
            continue;
        }
        bool portable = row->kind == ETP_ROW_PORTABLE, moves = moves_data(row->parsed.category);
        out->time_breakdown.portable += portable;
        out->time_breakdown.portable_ns += portable ? ns : 0;
        out->time_breakdown.delegated += !portable;
        out->time_breakdown.delegated_ns += portable ? 0 : ns;
        out->time_breakdown.delegated_cut_ns += etp_profile_cut_ns(p, row);
        out->time_breakdown.movement += moves;
        out->time_breakdown.movement_ns += moves ? ns : 0;
    }
    return ETP_OK;
}

static bool is_outside(const etp_ab *ab, const etp_ab_operator *op)
{
    const etp_profile_row *row = op->rows[ab->bottleneck_arm];
    return row ? row->kind == ETP_ROW_PORTABLE : !op->delegated;
}

static etp_bottleneck_kind kind_of(const etp_ab *ab, const etp_ab_operator *op, double whole)
{
    if (is_outside(ab, op)) {
        return ETP_BOTTLENECK_PORTABLE;
    }
    if (moves_data(op->category)) {
        return ETP_BOTTLENECK_MOVEMENT;
    }
    // Without a gain as a whole there is nothing to lag behind.
    bool lags =
        ab->n_comparisons && whole > 1 + ab->comparisons[0].margin && op->speedup[0] < whole;
    return lags ? ETP_BOTTLENECK_LITTLE : ETP_BOTTLENECK_LARGE;
}

// What part of an inference OP takes in the arm that runs now; NAN: its clock does not tell.
static double share_of(const etp_ab *ab, const etp_ab_operator *op)
{
    const etp_ab_clocked_time part = etp_ab_operator_time(ab, op, ab->bottleneck_arm);
    double share = etp_known_ns(part.ns) / (double)ab->arms[ab->bottleneck_arm].traced_ns;
    return etp_value_if(!etp_ab_time_below_clock(&part), share);
}

// Behind those of the same kind that take as long: at most twenty have so large a part.
static void list_bottleneck(const etp_ab_operator *operators, uint32_t op, etp_ab *out)
{
    ETP_ADD(out->arena, &out->bottlenecks, op);
    uint32_t *items = out->bottlenecks.items;
    for (size_t k = out->bottlenecks.n - 1; k > 0; k--) {
        const etp_ab_operator *own = &operators[op], *other = &operators[items[k - 1]];
        if (other->bottleneck.kind < own->bottleneck.kind ||
            (other->bottleneck.kind == own->bottleneck.kind &&
             other->bottleneck.share >= own->bottleneck.share)) {
            break;
        }
        items[k] = items[k - 1];
        items[k - 1] = op;
    }
}

void etp_ab_find_bottlenecks(const etp_ab *ab, etp_ab_operator *operators, etp_ab *out)
{
    int64_t total = ab->n_arms ? ab->arms[ab->bottleneck_arm].traced_ns : ETP_NS_UNKNOWN;
    if (total == ETP_NS_UNKNOWN || total <= 0 || ab->emulated) {
        return;
    }
    // Of the first comparison's traced means, NAN: nothing is compared, or its figures are
    // withheld.
    double whole = NAN;
    if (etp_ab_told(ab, 0)) {
        int64_t before = ab->arms[ab->comparisons[0].baseline].traced_ns;
        int64_t after = ab->arms[ab->comparisons[0].candidate].traced_ns;
        whole = etp_value_if(before > 0 && after > 0, (double)before / (double)after);
    }
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        if (share_of(ab, &ab->operators[i]) > 1) {
            return; // two clocks: what part of an inference anything took is not known
        }
    }
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        operators[i].bottleneck.share = share_of(ab, &ab->operators[i]);
        if (operators[i].bottleneck.share > ETP_BOTTLENECK_SHARE) { // false for NAN
            operators[i].bottleneck.kind = kind_of(ab, &ab->operators[i], whole);
            list_bottleneck(operators, i, out);
        }
    }
}

etp_why etp_ab_why(const etp_ab *ab, const etp_ab_operator *op)
{
    static const etp_why k_of_verdict[ETP_ROOF_VERDICTS] = {
        [ETP_ROOF_OVERHEAD_BOUND] = ETP_WHY_SMALL, [ETP_ROOF_COMPUTE_BOUND] = ETP_WHY_COMPUTE,
        [ETP_ROOF_MEMORY_BOUND] = ETP_WHY_MEMORY,  [ETP_ROOF_BELOW_BANDWIDTH] = ETP_WHY_BELOW,
        [ETP_ROOF_INEFFICIENT] = ETP_WHY_BELOW,
    };
    if (op->ns[ab->bottleneck_arm] == ETP_NS_UNKNOWN) {
        return ETP_WHY_UNKNOWN;
    }
    const etp_ab_clocked_time part = etp_ab_operator_time(ab, op, ab->bottleneck_arm);
    etp_why roof = op->roofs && !ab->roofs_low ? k_of_verdict[op->roofs[ab->bottleneck_arm].verdict]
                                               : ETP_WHY_UNKNOWN;
    if (roof == ETP_WHY_SMALL || (!ab->emulated && etp_ab_time_below_clock(&part))) {
        return ETP_WHY_SMALL;
    }
    if (is_outside(ab, op)) {
        return ETP_WHY_PORTABLE;
    }
    if (moves_data(op->category)) {
        return ETP_WHY_MOVEMENT;
    }
    bool off = op->engaged.eligible && op->engaged.state == ETP_NOT_ENGAGED;
    return off && roof != ETP_WHY_MEMORY ? ETP_WHY_OFF : roof;
}

// ---- by name ----

static etp_str base_name(etp_str name)
{
    uint32_t counter;
    return etp_trace_base_name(name, &counter);
}

static int by_key(const void *pa, const void *pb)
{
    const etp_ab_kernels *a = pa, *b = pb;
    int order = etp_str_cmp(a->before, b->before);
    order = etp_order_then(order, etp_str_cmp(a->now, b->now));
    order = etp_order_then(order, ETP_ORDER(a->state, b->state));
    return etp_order_then(order, ETP_ORDER(a->reason, b->reason));
}

static int longest_group_first(const void *pa, const void *pb)
{
    const etp_ab_kernels *a = pa, *b = pb;
    int64_t x = ETP_MAX(a->before_time.ns, a->now_time.ns);
    int64_t y = ETP_MAX(b->before_time.ns, b->now_time.ns);
    return etp_order_then(ETP_ORDER(y, x), by_key(a, b));
}

// Sums what has the same names; *out_n of them are left.
static void sum_groups(etp_ab_kernels *all, size_t *out_n)
{
    size_t groups = 0;
    if (*out_n == 0) {
        return;
    }
    qsort(all, *out_n, sizeof *all, by_key);
    for (size_t i = 1; i < *out_n; i++) {
        if (by_key(&all[groups], &all[i]) != 0) {
            all[++groups] = all[i];
        } else {
            all[groups].operators++;
            etp_ab_part_add(&all[groups].before_time, &all[i].before_time);
            etp_ab_part_add(&all[groups].now_time, &all[i].now_time);
        }
    }
    *out_n = groups + 1;
    qsort(all, *out_n, sizeof *all, longest_group_first);
}

size_t etp_ab_portable_names(const etp_ab *ab, etp_arena *arena, etp_ab_kernels **out)
{
    const uint32_t arm = ab->bottleneck_arm;
    etp_ab_kernels *all = *out = ETP_NEW_ARRAY(arena, etp_ab_kernels, ab->n_operators + 1);
    size_t n = 0;
    for (size_t i = 0; all && i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (op->rows[arm] && op->rows[arm]->kind == ETP_ROW_PORTABLE &&
            op->ns[arm] != ETP_NS_UNKNOWN) {
            all[n++] = (etp_ab_kernels){.now = base_name(op->names[arm]),
                                        .operators = 1,
                                        .first = op,
                                        .now_time = etp_ab_operator_time(ab, op, arm)};
        }
    }
    sum_groups(all, &n);
    return n;
}

size_t etp_ab_kernel_groups(const etp_ab *ab, etp_arena *arena, etp_ab_kernels **out)
{
    etp_ab_kernels *all = *out = ETP_NEW_ARRAY(arena, etp_ab_kernels, ab->n_operators + 1);
    size_t n = 0;
    // Where each candidate lacks a feature the arm that is judged is the baseline itself.
    bool compared = ab->n_comparisons > 0 && ab->bottleneck_arm != ab->baseline;
    for (size_t i = 0; all && i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        etp_ab_kernels one = {.before =
                                  compared ? base_name(op->names[ab->baseline]) : (etp_str){0},
                              .now = base_name(op->names[ab->bottleneck_arm]),
                              .state = op->engaged.state,
                              .reason = op->engaged.reason,
                              .operators = 1,
                              .first = op};
        const etp_ab_clocked_time before = etp_ab_operator_time(ab, op, ab->baseline),
                                  now = etp_ab_operator_time(ab, op, ab->bottleneck_arm);
        etp_ab_part_add(&one.before_time, &before); // what is not known is 0 there
        etp_ab_part_add(&one.now_time, &now);
        if (op->engaged.eligible || (compared && !etp_str_eq(one.before, one.now))) {
            all[n++] = one;
        }
    }
    sum_groups(all, &n);
    return n;
}
