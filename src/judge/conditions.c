// SPDX-License-Identifier: Apache-2.0
// What the machine and the way of running did to a comparison, in words: clock, waiting, drift, the
// runner's hook, taking turns.
#include <math.h>

#include "base/number.h"
#include "judge/judge.h"

// The SDK asks the runner's hook inside the timed inference; this is half of the usual margin.
#define HOOK_WORTH_SAYING 0.005 // of an inference

#define FOLLOWS 0.7 // rank correlation over the blocks, in the direction that heat would give it

static bool outside(const etp_paired *p)
{
    return p->verdict == ETP_VERDICT_FASTER || p->verdict == ETP_VERDICT_SLOWER;
}

// What a factor adds to WHOLE or takes of it, in words with its interval.
// A factor below 1 takes away, so the ends of its interval change places: the lower factor is the
// larger share.
static const char *share_words(etp_arena *arena, const etp_paired *p, const char *whole)
{
    bool takes = p->estimate < 1;
    double at = 100 * fabs(p->estimate - 1), lo = 100 * (takes ? 1 - p->hi : p->lo - 1),
           hi = 100 * (takes ? 1 - p->lo : p->hi - 1);
    return etp_arena_printf(arena, "%s %s %% [%s, %s] %s %s", takes ? "takes" : "adds",
                            ETP_DIGITS(at, 3), ETP_DIGITS(lo, 3), ETP_DIGITS(hi, 3),
                            takes ? "of" : "to", whole);
}

// The speedup is taken apart into cycles × clock × CPUs at work (docs/statistics.md); this is the
// second factor.
static void clock_finding(const etp_ab_session *s, const etp_ab_comparison *c,
                          const etp_clock_split *x, etp_ab_findings *to)
{
    const etp_counters_arm *b = &s->ab.counters.arms[c->baseline],
                           *a = &s->ab.counters.arms[c->candidate];
    if (!outside(&x->clock)) {
        return;
    }
    const char *share = share_words(s->ab.arena, &x->clock, "it");
    // The cycles are the same, or point the other way: without the clock there would be no such
    // verdict.
    bool whole = x->speedup.verdict == x->clock.verdict && x->cycles.verdict != x->clock.verdict &&
                 x->cycles.verdict != ETP_VERDICT_UNKNOWN;
    const char *effect = x->clock.verdict == ETP_VERDICT_FASTER
                             ? "the speedup is a clock effect: "
                             : "the slowdown is a clock effect: ";
    const char *said = etp_if(whole, effect);
    ETP_FIND(to, ETP_FINDING_CLOCK_EFFECT, ETP_SEVERITY_WARN, "environment.jsonl",
             "%s against %s: %scycles say %s× [%s, %s], the clock %s "
             "(%s GHz against %s GHz)",
             s->ab.arms[c->candidate].measured, s->ab.arms[c->baseline].measured, said,
             ETP_DIGITS(x->cycles.estimate, 3), ETP_DIGITS(x->cycles.lo, 3),
             ETP_DIGITS(x->cycles.hi, 3), share, ETP_DIGITS(a->clock_ghz, 3),
             ETP_DIGITS(b->clock_ghz, 3));
}

void etp_ab_clock_findings(const etp_ab_session *s, size_t at, etp_ab_findings *to)
{
    const etp_ab_comparison *c = &s->ab.comparisons[at];
    // Splits stand in the order of the comparisons.
    if (!s->ab.counters.splits || c->withheld || s->ab.counters.splits[at].cycles.blocks == 0) {
        return;
    }
    const etp_clock_split *x = &s->ab.counters.splits[at];
    clock_finding(s, c, x, to);
    // Arms with different numbers of threads keep different numbers of CPUs at work: that is no
    // finding.
    const etp_counters_arm *b = &s->ab.counters.arms[c->baseline],
                           *a = &s->ab.counters.arms[c->candidate];
    if (!outside(&x->busy) || s->ab.arms[c->baseline].threads != s->ab.arms[c->candidate].threads) {
        return;
    }
    const char *share = share_words(s->ab.arena, &x->busy, "what cycles and clock give");
    ETP_FIND(to, ETP_FINDING_WAITS, ETP_SEVERITY_WARN, "environment.jsonl",
             "%s against %s: waiting differs: %s CPUs at work against %s, which %s",
             s->ab.arms[c->candidate].measured, s->ab.arms[c->baseline].measured,
             ETP_DIGITS(a->busy, 3), ETP_DIGITS(b->busy, 3), share);
}

void etp_ab_hook_findings(const etp_ab_session *s, etp_ab_findings *to)
{
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        const etp_ab_arm *arm = &s->ab.arms[i];
        // Written so that NAN, an unknown share, says nothing.
        if (!(arm->masking_cost.share > HOOK_WORTH_SAYING)) {
            continue;
        }
        ETP_FIND(to, ETP_FINDING_HOOK, ETP_SEVERITY_WARN, "environment.jsonl",
                 "hiding features takes %s %% of an inference of %s: the SDK asks %.0f times, "
                 "the runner's hook adds %s ns to each",
                 ETP_DIGITS(100 * arm->masking_cost.share, 2), arm->measured,
                 arm->masking_cost.calls, ETP_DIGITS(arm->masking_cost.call_ns, 3));
    }
}

static void put_correlation(etp_strbuf *text, double rho, double sign, const char *what)
{
    if (isfinite(rho)) {
        etp_strbuf_printf(text, "; %s the %s (rank correlation %s)",
                          rho * sign >= FOLLOWS ? "follows" : "does not follow", what,
                          ETP_CHANGE(rho, 2));
    } else {
        etp_strbuf_printf(text, "; the %s did not change or cannot be read", what);
    }
}

// Of two drifting arms the one with the smaller p is told; the comparison itself says only that one
// of them drifts.
const char *etp_ab_drift_words(const etp_ab *ab, const etp_ab_comparison *c)
{
    const etp_ab_arm *base = &ab->arms[c->baseline], *cand = &ab->arms[c->candidate];
    if (!base->drift.known && !cand->drift.known) {
        return "drift";
    }
    bool of_candidate =
        cand->drift.known && (!base->drift.known || !(base->drift.p <= cand->drift.p));
    const etp_ab_arm *a = of_candidate ? cand : base;
    etp_strbuf text;
    etp_strbuf_init(&text, ab->arena);
    etp_strbuf_printf(&text, "drift: %s changes by %s %% a block, p = %s", a->measured,
                      ETP_CHANGE(100 * a->drift.per_block, 2), ETP_DIGITS(a->drift.p, 2));
    put_correlation(&text, a->drift.with_temperature, 1, "temperature"); // slower when hotter
    put_correlation(&text, a->drift.with_clock, -1, "clock"); // slower when the clock falls
    etp_strbuf_printf(&text, "; pairs of blocks cancel it in the ratio");
    return text.ptr;
}
