// SPDX-License-Identifier: Apache-2.0
// Whether a speedup is work saved, a clock that differs, or waiting: from what the processor
// counted.
#include <math.h>

#include "answer/ab/report.h"
#include "answer/ab/session.h"

etp_status etp_ab_count(etp_ab_session *s, etp_error *err)
{
    if (!s->has_stats || s->ab.emulated) {
        return ETP_OK;
    }
    return etp_counters_build(&s->run, &s->stats, &s->arena, &s->ab.counters, err);
}

static bool outside(const etp_paired *p)
{
    return p->verdict == ETP_VERDICT_FASTER || p->verdict == ETP_VERDICT_SLOWER;
}

// What a factor adds to WHOLE or takes of it, in words with its interval.
static const char *share_words(etp_ab_session *s, const etp_paired *p, const char *whole)
{
    bool takes = p->estimate < 1;
    double at = 100 * fabs(p->estimate - 1), lo = 100 * (takes ? 1 - p->hi : p->lo - 1),
           hi = 100 * (takes ? 1 - p->lo : p->hi - 1);
    return etp_arena_printf(&s->arena, "%s %.3g %% [%.3g, %.3g] %s %s", takes ? "takes" : "adds",
                            at, lo, hi, takes ? "of" : "to", whole);
}

static etp_status clock_finding(etp_ab_session *s, const etp_ab_comparison *c,
                                const etp_clock_split *x, etp_error *err)
{
    const etp_counters_arm *b = &s->ab.counters.arms[c->baseline],
                           *a = &s->ab.counters.arms[c->candidate];
    if (!outside(&x->clock)) {
        return ETP_OK;
    }
    const char *share = share_words(s, &x->clock, "it");
    if (!share) {
        return etp_fail_nomem(err, "findings");
    }
    // The cycles are the same, or point the other way: without the clock there would be no such
    // verdict.
    bool whole = x->speedup.verdict == x->clock.verdict && x->cycles.verdict != x->clock.verdict &&
                 x->cycles.verdict != ETP_VERDICT_UNKNOWN;
    const char *said =
        whole ? etp_arena_printf(&s->arena, "the %s is a clock effect: ",
                                 x->clock.verdict == ETP_VERDICT_FASTER ? "speedup" : "slowdown")
              : "";
    const char *text =
        said ? etp_arena_printf(&s->arena,
                                "%s against %s: %scycles say %.3g× [%.3g, %.3g], the clock %s "
                                "(%.3g GHz against %.3g GHz)",
                                s->ab.arms[c->candidate].name, s->ab.arms[c->baseline].name, said,
                                x->cycles.estimate, x->cycles.lo, x->cycles.hi, share, a->clock_ghz,
                                b->clock_ghz)
             : NULL;
    return etp_ab_find(s, ETP_FINDING_CLOCK_EFFECT, "warn", "environment.jsonl", text, err);
}

// Arms with different numbers of threads keep different numbers of CPUs at work: that is no
// finding.
static etp_status waits_finding(etp_ab_session *s, const etp_ab_comparison *c,
                                const etp_clock_split *x, etp_error *err)
{
    const etp_counters_arm *b = &s->ab.counters.arms[c->baseline],
                           *a = &s->ab.counters.arms[c->candidate];
    if (!outside(&x->busy) || s->ab.arms[c->baseline].threads != s->ab.arms[c->candidate].threads) {
        return ETP_OK;
    }
    const char *share = share_words(s, &x->busy, "what cycles and clock give");
    const char *text =
        share ? etp_arena_printf(
                    &s->arena,
                    "%s against %s: waiting differs: %.3g CPUs at work against %.3g, which %s",
                    s->ab.arms[c->candidate].name, s->ab.arms[c->baseline].name, a->busy, b->busy,
                    share)
              : NULL;
    return etp_ab_find(s, ETP_FINDING_WAITS, "warn", "environment.jsonl", text, err);
}

etp_status etp_ab_clock_findings(etp_ab_session *s, size_t at, etp_error *err)
{
    const etp_ab_comparison *c = &s->ab.comparisons[at];
    if (!s->ab.counters.splits || c->withheld || s->ab.counters.splits[at].cycles.blocks == 0) {
        return ETP_OK;
    }
    ETP_TRY(clock_finding(s, c, &s->ab.counters.splits[at], err));
    return waits_finding(s, c, &s->ab.counters.splits[at], err);
}

void etp_ab_counters_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_counters_names *names = ETP_NEW_ARRAY(arena, etp_counters_names, ab->n_comparisons + 1);
    for (size_t i = 0; names && i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        names[i] = (etp_counters_names){ab->arms[c->baseline].name, ab->arms[c->candidate].name,
                                        c->baseline, c->candidate, c->withheld != NULL};
    }
    if (names) {
        etp_counters_section(&ab->counters, names, ab->n_comparisons, r, arena);
    }
}
