// SPDX-License-Identifier: Apache-2.0
// What a reader has to know of a recording before its figures: executions that are left out, times
// that are no part of the inference, tensors that were logged.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"
#include "compare/session.h"
#include "trace/ops.h"

#define FAR_MEAN 1.25 // from the median

static const char *name_of(const etp_ab_session *s, uint32_t arm)
{
    return etp_ab_arm_called(&s->ab, arm);
}

static void tell_apart(const etp_ab_session *s, uint32_t arm, const etp_trace *const *traces,
                       size_t n, etp_ab_findings *to)
{
    size_t apart[ETP_APARTS] = {0};
    const char *unit = NULL;
    for (size_t i = 0; i < n; i++) {
        unit = ETP_OR(unit, etp_trace_unit_choice(traces[i]));
        for (size_t b = 0; b < etp_trace_block_count(traces[i]); b++) {
            const etp_trace_block *block = etp_trace_block_at(traces[i], b);
            for (size_t e = 0; e < block->n_events; e++) {
                apart[block->events[e].apart]++;
            }
        }
    }
    if (apart[ETP_APART_CLOCK]) {
        ETP_FIND(to, ETP_FINDING_OWN_CLOCK, ETP_SEVERITY_WARN, NULL,
                 "%s: the delegate's events are by a clock of its own whose unit is not "
                 "recorded, so they have no milliseconds ('etprof ops' shows their shares); "
                 "state the unit: --delegate-unit %s",
                 name_of(s, arm), unit);
    }
    if (apart[ETP_APART_TICKS]) {
        ETP_FIND(to, ETP_FINDING_OWN_CLOCK, ETP_SEVERITY_WARN, NULL,
                 "%s: events of the delegate end before they start, or "
                 "count in two units by turns: they have no "
                 "milliseconds ('etprof ops' lists them)",
                 name_of(s, arm));
    }
    if (apart[ETP_APART_SUM]) {
        ETP_FIND(to, ETP_FINDING_PARTS_EXCEED, ETP_SEVERITY_WARN, NULL,
                 "%s: parts of an event overlap, reach beyond it or are longer than the "
                 "event: they are withheld ('etprof ops' lists them)",
                 name_of(s, arm));
    }
}

static bool tell_tensors(const etp_ab_session *s, uint32_t arm, const etp_trace *const *traces,
                         size_t n, etp_ab_findings *to)
{
    for (size_t i = 0; i < n; i++) {
        if (etp_trace_logs_tensors(traces[i])) {
            ETP_FIND(to, ETP_FINDING_TENSORS_LOGGED, ETP_SEVERITY_WARN, NULL,
                     "%s: the recording also logged tensors, so its times are not the "
                     "program's; record again without a debug buffer",
                     name_of(s, arm));
            return true;
        }
    }
    return false;
}

// Executions of population K, and the sum of their times.
static size_t population(const etp_trace *trace, size_t k, double *out_ns)
{
    size_t runs = 0;
    *out_ns = 0;
    for (size_t i = 0; i < etp_trace_block_count(trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(trace, i);
        for (size_t r = 0; b->has_execute && b->population == k && r < b->n_runs; r++) {
            *out_ns += (double)etp_trace_durations(b, b->execute)[r];
            runs++;
        }
    }
    return runs;
}

static bool same_events(const etp_trace_block *a, const etp_trace_block *b)
{
    bool same = a->n_events == b->n_events;
    for (size_t i = 0; same && i < a->n_events; i++) {
        same = etp_str_eq(a->events[i].name, b->events[i].name) &&
               a->events[i].instruction == b->events[i].instruction;
    }
    return same;
}

// The recording tells why there are several populations: they did other things.
static bool differ_in_events(const etp_trace *trace)
{
    const etp_trace_block *first = NULL;
    for (size_t i = 0; i < etp_trace_block_count(trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(trace, i);
        if (first && b->has_execute && !same_events(first, b)) {
            return true;
        }
        first = !first && b->has_execute ? b : first;
    }
    return false;
}

// "executions of 2 durations: 10 near 10.0 ms and 10 near 200.1 ms; the recording does …".
static const char *populations(const etp_trace *trace, size_t n, etp_arena *arena)
{
    const char *text = "", *first = NULL;
    bool told = differ_in_events(trace), apart = false;
    for (size_t k = 0; k < n; k++) {
        double sum;
        size_t runs = population(trace, k, &sum);
        const char *between = k + 1 == n ? " and " : ", ";
        const char *near = etp_arena_printf(arena, "%s", ETP_NS(sum / (double)runs));
        apart = apart || (first && strcmp(first, near) != 0);
        first = ETP_OR(first, near);
        text = etp_arena_printf(arena, "%s%s%zu near %s", text, etp_if(k, between), runs, near);
    }
    if (told) {
        return etp_arena_printf(arena, "executions of several methods or input lengths: %s", text);
    }
    return apart ? etp_arena_printf(arena,
                                    "executions of %zu durations: %s; the recording does not tell "
                                    "why (method, input length, a slower clock)",
                                    n, text)
                 : etp_arena_printf(arena,
                                    "executions of %zu kinds that take equally long (%s) by other "
                                    "operators; the recording does not tell why",
                                    n, text);
}

// Whether those that are shown, the most frequent, are fewer than three quarters of the executions
// or of their time.
static bool none_is_most(const etp_trace *trace, size_t n)
{
    size_t all = 0, most = 0;
    double all_ns = 0, most_ns = 0;
    for (size_t k = 0; k < n; k++) {
        double sum;
        size_t runs = population(trace, k, &sum);
        all += runs;
        all_ns += sum;
        most_ns = runs > most ? sum : most_ns;
        most = ETP_MAX(runs, most);
    }
    return 4 * most < 3 * all || 4 * most_ns < 3 * all_ns;
}

// What is shown has no middle: the middle half of few executions, too few for populations to be
// told, or the medians of two blocks (of other inputs, or of phases) lie more than a factor of two
// apart. A mean over them is that of none.
static bool no_middle(const etp_trace *trace)
{
    enum { FEWEST = 4, MANY = 16 };
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < etp_trace_block_count(trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(trace, i);
        const size_t n = ETP_MIN(b->n_runs, MANY);
        if (!b->has_execute || b->rare || b->population != 0 || n < 2) {
            continue;
        }
        uint64_t order[MANY]; // of many the first say where its median lies
        memcpy(order, etp_trace_durations(b, b->execute), n * sizeof *order);
        qsort(order, n, sizeof *order, etp_order_u64);
        if (n >= FEWEST && n < MANY && order[n - 1 - n / 4] / 2 > order[n / 4]) {
            return true;
        }
        least = ETP_MIN(order[n / 2], least);
        most = ETP_MAX(order[n / 2], most);
    }
    return most / 2 > least;
}

static bool tell_modes(const etp_ab_session *s, uint32_t arm, const etp_trace *const *traces,
                       size_t n, etp_ab_findings *to)
{
    for (size_t i = 0; i < n; i++) {
        size_t several =
            etp_trace_block_count(traces[i]) ? etp_trace_block_at(traces[i], 0)->n_populations : 0;
        if (several > 1) {
            ETP_FIND(to, ETP_FINDING_MODES, ETP_SEVERITY_WARN, NULL,
                     "%s: %s; only the most frequent (of equally many the longest) are "
                     "shown, 'etprof ops' has each",
                     name_of(s, arm), populations(traces[i], several, s->ab.arena));
            return none_is_most(traces[i], several);
        }
    }
    return false;
}

static void tell_partly_logged(const etp_ab_session *s, uint32_t arm,
                               const etp_trace *const *traces, size_t n, etp_ab_findings *to)
{
    for (size_t i = 0; i < n; i++) {
        if (etp_trace_partly_logged(traces[i])) {
            ETP_FIND(to, ETP_FINDING_PARTLY_LOGGED, ETP_SEVERITY_WARN, NULL,
                     "%s: delegates log what they do in some of the "
                     "executions alone; 'etprof ops' has each",
                     name_of(s, arm));
            return;
        }
    }
}

void etp_ab_tell_mean(const etp_ab *ab, uint32_t arm, etp_ab_findings *to)
{
    const etp_ab_arm *a = &ab->arms[arm];
    const etp_profile *p = a->profile;
    // What calls of delegates did, as far as the recording does not say.
    int64_t logged = 0, unlogged = 0;
    for (size_t i = 0; p && i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        unlogged += etp_profile_row_hides(p, i) ? row->total_ns : 0;
        logged += row->kind == ETP_ROW_OPERATOR && !row->silent ? row->total_ns : 0;
    }
    if (unlogged > logged) {
        double n = (double)p->executions;
        ETP_FIND(to, ETP_FINDING_NOT_LOGGED, ETP_SEVERITY_WARN, NULL, "%s: " ETP_OPS_UNLOGGED,
                 etp_ab_arm_called(ab, arm), ETP_NS((double)unlogged / n),
                 ETP_NS((double)logged / n));
    }
    // Of a few executions all are kept, the first one too, which may have been cold.
    double mean = etp_known_ns(a->traced_ns);
    if (fabs(log(mean / a->traced_median_ns)) > log(FAR_MEAN)) { // false where one is unknown
        ETP_FIND(to, ETP_FINDING_MEAN_OF_FEW, ETP_SEVERITY_WARN, NULL,
                 "%s: few of its %" PRIu64 " executions make the mean: it "
                 "is %s, their median %s",
                 etp_ab_arm_called(ab, arm), a->traced_runs, ETP_NS(mean),
                 ETP_NS(a->traced_median_ns));
    }
}

void etp_ab_tell_recordings(const etp_ab_session *s, uint32_t arm, const etp_trace *const *traces,
                            size_t n, etp_ab_findings *to, etp_ab_arm *out)
{
    size_t damaged = 0;
    const etp_trace_damage *first = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t here = etp_trace_damage_count(traces[i]);
        first = first || here == 0 ? first : etp_trace_damage_at(traces[i], 0);
        damaged += here;
    }
    if (first) {
        ETP_FIND(to, ETP_FINDING_TRACE_DAMAGED, ETP_SEVERITY_WARN, NULL,
                 "%s: %zu traced %s left out: %s", name_of(s, arm), damaged,
                 damaged == 1 ? "execution" : "executions",
                 etp_trace_damage_claim(first, s->ab.arena));
    }
    tell_apart(s, arm, traces, n, to);
    out->tensors_logged = tell_tensors(s, arm, traces, n, to);
    out->several_lengths = tell_modes(s, arm, traces, n, to);
    for (size_t i = 0; i < n; i++) {
        out->several_lengths = out->several_lengths || no_middle(traces[i]);
    }
    tell_partly_logged(s, arm, traces, n, to);
    // Executions of operators that did not end, or whose end was not recorded, beside others that
    // did.
    size_t ended = 0, not_ended = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < etp_trace_block_count(traces[i]); k++) {
            const etp_trace_block *b = etp_trace_block_at(traces[i], k);
            bool calls = false;
            for (size_t e = 0; e < b->n_events && !calls; e++) {
                calls = etp_ops_is_call(&b->events[e]);
            }
            ended += b->has_execute ? b->n_runs : 0;
            not_ended += calls && !b->has_execute ? b->n_runs : 0;
        }
    }
    if (ended > 0 && not_ended > 0) {
        ETP_FIND(to, ETP_FINDING_NO_EXECUTION, ETP_SEVERITY_WARN, NULL,
                 "%s: %zu of %zu executions have no Method::execute "
                 "event and are left out",
                 name_of(s, arm), not_ended, ended + not_ended);
    }
    // Executions that are left out of the figures and took far longer: a prompt, an interruption. A
    // few of a recording of whatever program, not of a session's launches, whose machine is
    // watched.
    size_t far = 0, left = 0, all = 0;
    uint64_t longest = 0;
    for (size_t i = 0; i < n && !s->has_run; i++) {
        for (size_t k = 0; k < etp_trace_block_count(traces[i]); k++) {
            const etp_trace_block *b = etp_trace_block_at(traces[i], k);
            uint64_t from =
                b->has_execute && !b->rare ? etp_ops_far_ns(b, s->ab.arena) : UINT64_MAX;
            if (from == UINT64_MAX) {
                continue;
            }
            const uint64_t *d = etp_trace_durations(b, b->execute);
            size_t longer = 0;
            for (size_t r = 0; r < b->n_runs; r++) {
                longer += d[r] >= from;
                longest = d[r] >= from && d[r] > longest ? d[r] : longest;
            }
            far += longer;
            left += ETP_MIN(longer, b->n_runs / 4); // of the longest quarter
            all += b->n_runs;
        }
    }
    if (left > 0) {
        const char *some = far == left ? "" : etp_arena_printf(s->ab.arena, "%zu of them ", left);
        ETP_FIND(to, ETP_FINDING_LEFT_OUT, ETP_SEVERITY_WARN, NULL,
                 "%s: %zu of %zu executions took more than twice their median, up to "
                 "%s, and %s%s left out of the figures",
                 name_of(s, arm), far, all, ETP_NS((double)longest), some,
                 left == 1 ? "is" : "are");
    }
}
