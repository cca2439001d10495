// SPDX-License-Identifier: Apache-2.0
// What to do next, in nanoseconds of one inference of the arm that runs now (the candidate of the
// first comparison). ExecuTorch runs operators one after another, so gains are differences of sums.
// Each has a ceiling, a floor (0 unless the work goes away altogether), and between them what the
// evidence makes likely; where nothing does, that is unknown.
#include "judge/fixes/fixes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <etprof/stats.h>

#include "base/guard.h"
#include "base/number.h"

#define RATE_FROM_NS 10000 // shorter operators are mostly truncation

static double best_rate(const etp_fixer *f)
{
    double best = 0;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        const etp_op_facts *facts = etp_fix_facts(f, i);
        int64_t ns = etp_fix_op_ns(f, i);
        etp_category c = f->ab->operators[i].category;
        bool passes = c == ETP_CATEGORY_DATA_MOVEMENT || c == ETP_CATEGORY_ELEMENTWISE ||
                      c == ETP_CATEGORY_ACTIVATION; // each byte once
        bool copies = passes && etp_fix_knows_work(facts) && ns >= RATE_FROM_NS;
        best = copies ? fmax(best, (double)facts->work.bytes / (double)ns) : best;
    }
    return etp_value_if(best > 0, best);
}

// 0 what a command does that the exporter was asked for; 1 what another command does; 2 what the
// model or its export can do better by hand; 3 a distance to a roof, which says where time is and
// not what to do; 4 more threads, which mend nothing and cost the other CPUs; 5 what is hardly
// worth the while.
static int tier_of(const etp_ab_fix *f)
{
    if (!isnan(f->share) && f->share < ETP_FIX_WORTH_SHARE) {
        return 5;
    }
    if (f->kind == ETP_FIX_THREADS || f->kind == ETP_FIX_ROOF_GAP) {
        return f->kind == ETP_FIX_THREADS ? 4 : 3;
    }
    if (f->places > 0) {
        return 0;
    }
    return f->by_command ? 1 : 2;
}

// The likely gain of a fix that cannot but gain; what is at stake where nothing bounds the gain
// from below: the ceiling, and no more than the time that the fix concerns.
static int64_t rank_of(const etp_ab_fix *f)
{
    if (f->lo_ns > 0 && f->expected_ns != ETP_NS_UNKNOWN) {
        return f->expected_ns;
    }
    return ETP_MIN(f->hi_ns, f->concerns_ns);
}

static int best_first(const void *pa, const void *pb)
{
    const etp_ab_fix *a = pa, *b = pb;
    if (tier_of(a) != tier_of(b)) {
        return tier_of(a) - tier_of(b);
    }
    if (rank_of(a) != rank_of(b)) { // ETP_NS_UNKNOWN is the least
        return ETP_ORDER(rank_of(b), rank_of(a));
    }
    if (a->hi_ns != b->hi_ns) {
        return ETP_ORDER(b->hi_ns, a->hi_ns);
    }
    return a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->text, b->text);
}

static int longest_first(const void *pa, const void *pb)
{
    const double *a = pa, *b = pb;
    return ETP_ORDER(*b, *a);
}

// A delegate's call around its operators; not a span of theirs around others.
static bool is_call(const etp_profile_row *row)
{
    return row->kind == ETP_ROW_BOUNDARY && row->event == ETP_EVENT_DELEGATE_CALL;
}

// Median over the blocks of what ROW (SIZE_MAX: all delegate calls together) takes beside its
// parts. It is measured execution by execution (exclusive times), not as a difference of usual
// ones. A block in which the system took the CPU away counts as much as any other.
static double call_ns(const etp_profile *p, size_t row, double *blocks)
{
    size_t n = 0;
    for (size_t d = 0; d < p->n_dumps; d++) {
        int64_t sum = 0;
        for (size_t i = row == SIZE_MAX ? 0 : row; i < (row == SIZE_MAX ? p->n_rows : row + 1);
             i++) {
            sum += is_call(&p->rows[i]) ? p->rows[i].per_dump_ns[d] : 0;
        }
        if (p->per_dump_executions[d]) {
            blocks[n++] = (double)sum / (double)p->per_dump_executions[d];
        }
    }
    return fmax(0, etp_median(blocks, n)); // of none: 0
}

static etp_status find_fixes(const etp_ab *ab, etp_ab *out)
{
    etp_fixer f = {.ab = ab, .out = out};
    f.arm = etp_ab_subject(ab);
    if (ab->n_arms == 0 || ab->emulated || !ab->arms[f.arm].profile ||
        ab->arms[f.arm].tensors_logged || ab->arms[f.arm].traced_ns <= 0) {
        return ETP_OK;
    }
    const etp_profile *p = ab->arms[f.arm].profile;
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->rows[i].event == ETP_EVENT_EXECUTE) {
            f.total += llround(etp_fix_row_ns(&f, &p->rows[i]));
        }
    }
    if (f.total <= 0) {
        return ETP_OK;
    }
    f.covered = ETP_NEW_ARRAY(ab->arena, bool, ab->n_operators + 1);
    // What is known of a delegate's operators is known of XNNPACK's: those of other backends are
    // passed over.
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        const etp_profile_row *row = ab->operators[i].rows[f.arm];
        f.covered[i] = row && row->delegated && row->parsed.kind != ETP_OP_XNNPACK;
    }
    // What is the same in every call is at most what the cheapest one takes, less half of what
    // whole microseconds can hide of its operators: that is what a call less likely saves. The rest
    // grows with the operators, however many calls there are.
    double *blocks = ETP_NEW_ARRAY(ab->arena, double, p->n_dumps + 1);
    int64_t *cut = ETP_NEW_ARRAY(ab->arena, int64_t, p->n_rows + 1);
    f.call_ns = ETP_NEW_ARRAY(ab->arena, double, p->n_rows + 1);
    for (size_t i = 0; i < p->n_rows; i++) {
        f.inside += p->rows[i].kind == ETP_ROW_OPERATOR && !p->rows[i].silent;
        f.delegates = f.delegates || p->rows[i].delegated;
        if (p->rows[i].call != ETP_NO_INDEX) {
            cut[p->rows[i].call] += etp_profile_cut_ns(p, &p->rows[i]);
        }
    }
    for (size_t i = 0; i < p->n_rows; i++) {
        if (!is_call(&p->rows[i])) {
            continue;
        }
        double ns = call_ns(p, i, blocks), own = fmax(0, ns - (double)cut[i] / 2);
        f.join_likely = f.calls ? fmin(f.join_likely, own) : own;
        f.call_ns[f.calls++] = ns;
    }
    if (f.calls) {
        qsort(f.call_ns, f.calls, sizeof *f.call_ns, longest_first);
    }
    f.boundary = call_ns(p, SIZE_MAX, blocks);
    f.hidden = f.inside ? fmin(ETP_FIX_TRUNCATED_NS / 2.0, f.boundary / (double)f.inside) : 0;
    f.best_rate = best_rate(&f);
    etp_fixes_of_layout(&f);
    etp_fixes_of_work(&f);
    etp_fixes_of_moves(&f);
    if (out->fixes.n) {
        qsort(out->fixes.items, out->fixes.n, sizeof *out->fixes.items, best_first);
    }
    for (size_t i = 0; i < out->fixes.n; i++) {
        out->fixes.items[i].id = etp_arena_printf(ab->arena, "N%zu", i + 1);
    }
    return ETP_OK;
}

etp_status etp_ab_next_fixes(const etp_ab *ab, etp_ab *out, etp_error *err)
{
    ETP_GUARDED(ab->arena, err, "fixes", find_fixes(ab, out));
}
