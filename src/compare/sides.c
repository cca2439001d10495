// SPDX-License-Identifier: Apache-2.0
// Headline of two operands that are run folders, from launches that nothing pairs.
#include <math.h>
#include <string.h>

#include "base/guard.h"
#include "compare/session.h"

// A copy of a folder is the same session too. Two machines that a job starts in one second with one
// --seed are not: no two launches of theirs took the same.
bool etp_ab_same_session(const etp_ab_side *x, const etp_ab_side *y)
{
    size_t n = x->run.samples.n;
    bool same = x->dir && y->dir && etp_str_eq(x->run.generated_at, y->run.generated_at) &&
                x->run.settings.seed == y->run.settings.seed && n == y->run.samples.n;
    for (size_t i = 0; same && i < n; i++) {
        const etp_run_sample *a = &x->run.samples.items[i], *b = &y->run.samples.items[i];
        same = a->start_ns == b->start_ns && a->duration_ns == b->duration_ns;
    }
    return same;
}

static bool has_timed(const etp_ab_side *x)
{
    for (size_t i = 0; i < x->run.samples.n; i++) {
        const etp_run_sample *s = &x->run.samples.items[i];
        if (s->arm == x->arm && s->phase == ETP_PHASE_TIMED) {
            return true;
        }
    }
    return false;
}

bool etp_ab_sides_timed(const etp_ab_session *s)
{
    return has_timed(&s->sides[0]) && has_timed(&s->sides[1]);
}

bool etp_ab_same_task(const etp_ab_session *s)
{
    const etp_settings *x = &s->sides[0].run.settings, *y = &s->sides[1].run.settings;
    return s->ab.arms[0].model == s->ab.arms[1].model &&
           etp_str_eq(etp_str_from(x->inputs), etp_str_from(y->inputs)) &&
           etp_str_eq(etp_str_from(x->method), etp_str_from(y->method));
}

// Nothing paired the launches, so what changed between the sessions is in the ratio: a verdict
// needs an interval that stays clear of the margin and of both sessions' own noise, and is never
// "same".
static etp_verdict unpaired_verdict(const etp_unpaired *u, const size_t n[2], double margin,
                                    const etp_stats st[2])
{
    double floors = st[0].noise_floor + st[1].noise_floor;
    if (!isfinite(floors) || !isfinite(u->lo) || n[0] < ETP_MIN_BLOCKS || n[1] < ETP_MIN_BLOCKS ||
        !(u->p <= 0.05)) {
        return ETP_VERDICT_UNKNOWN;
    }
    double far = log1p(margin) + floors;
    if (u->lo > far) {
        return ETP_VERDICT_FASTER;
    }
    return u->hi < -far ? ETP_VERDICT_SLOWER : ETP_VERDICT_UNKNOWN;
}

// Two sessions have no blocks in common: what can be said is how long their arms waited, and how
// far the controls of both reach beside the effect (SHIFT, ln).
static etp_contention other_programs(const etp_ab_session *s, const etp_stats st[2], double shift)
{
    double a = st[0].arms[s->sides[0].arm].waited, b = st[1].arms[s->sides[1].arm].waited;
    double reach =
        fmax(etp_interval_reach(&st[0].control), etp_interval_reach(&st[1].control)); // or NAN
    if (a > ETP_WAIT_MOST || b > ETP_WAIT_MOST) {
        return ETP_CONTENTION_WAITED;
    }
    return reach > log1p(ETP_NOISE_MOST) && reach > fabs(shift) / 2 ? ETP_CONTENTION_NOISE
                                                                    : ETP_CONTENTION_NONE;
}

etp_status etp_ab_time_sides(const etp_ab_session *s, double margin, etp_ab_arm *arms,
                             etp_ab_comparison *comparison, bool *out_control_differs,
                             etp_error *err)
{
    etp_arena *arena = s->ab.arena, scratch;
    etp_stats st[2];
    double *ln[2]; // launch values in the complete blocks of its own session
    size_t n[2];
    for (uint32_t i = 0; i < 2; i++) {
        // The session's own statistics, with its own baseline: launch values and noise floor.
        const etp_run *run = &s->sides[i].run;
        etp_sample *samples;
        etp_ab_samples_of(run, arena, &samples);
        etp_stats_options o =
            etp_ab_stats_options(run, run->baseline < run->arms.n ? run->baseline : 0, margin);
        o.waited = etp_ab_waited_of(run, arena);
        ETP_TRY(etp_stats_analyze(samples, run->samples.n, (uint32_t)run->arms.n, &o, arena, &st[i],
                                  err));
        ln[i] = ETP_NEW_ARRAY(arena, double, st[i].n_blocks_seen + 1);
        n[i] = etp_ab_time_arm(&st[i], s->sides[i].arm, ln[i], &arms[i]);
    }
    *out_control_differs = st[0].control_differs || st[1].control_differs;
    if (n[0] == 0 || n[1] == 0) {
        return ETP_OK;
    }
    etp_unpaired u;
    etp_arena_scratch(&scratch, arena);
    etp_status status =
        etp_unpaired_compare(ln[0], n[0], ln[1], n[1], ETP_CONFIDENCE, &scratch, &u, err);
    etp_arena_dispose(&scratch);
    ETP_TRY(status);
    uint32_t noisier = !isfinite(st[0].noise_floor) || st[1].noise_floor > st[0].noise_floor;
    *comparison = (etp_ab_comparison){
        .baseline = comparison->baseline,
        .candidate = comparison->candidate,
        .estimate = exp(u.shift),
        .lo = exp(u.lo),
        .hi = exp(u.hi),
        .widening = 1,
        .method = ETP_UNPAIRED_LAUNCHES,
        .launches = {n[0], n[1]},
        .sign_flip_p = NAN,
        .mann_whitney_p = u.p,
        .cliffs_delta = u.cliffs_delta,
        .verdict = unpaired_verdict(&u, n, st[0].margin, st),
        .margin = st[0].margin,
        .contention = other_programs(s, st, u.shift),
        .noise_floor = st[noisier].noise_floor,
        .control = st[noisier].control,
        .control_blocks = st[noisier].control_blocks,
    };
    return ETP_OK;
}
