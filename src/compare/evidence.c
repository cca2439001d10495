// SPDX-License-Identifier: Apache-2.0
// What backs or takes back a headline: the proof of each arm's level.
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "compare/session.h"
#include "explain/sampled.h"

// A sum of medians is no median: the rows are those of one launch, so that they add up.
static void take_memory(const etp_run *run, uint32_t run_arm, etp_arena *arena, etp_ab_arm *out)
{
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->arm == run_arm && l->kind == ETP_LAUNCH_MEMORY && out->memory.code == 0) {
            out->memory = l->memory;
            out->memory_at = l->memory_at;
        }
    }
    double *sums = ETP_NEW_ARRAY(arena, double, run->launches.n + 1);
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        double middle = n > 0 ? sums[(n - 1) / 2] : (double)NAN;
        for (size_t i = 0; i < run->launches.n; i++) {
            const etp_run_launch *l = &run->launches.items[i];
            bool has = l->arm == run_arm && l->kind == ETP_LAUNCH_TIMED && l->memory.code > 0;
            double sum = (double)l->dirty_bytes + (double)l->clean_bytes;
            if (has && pass == 0) {
                sums[n++] = sum;
            } else if (has && out->memory.code == 0 && sum >= middle && sum <= middle) {
                out->memory = l->memory;
            }
        }
        qsort(sums, n, sizeof *sums, etp_order_double);
    }
}

// What it costs to hide features: the SDK asks the runner's hook while it executes.
static void take_masking_cost(const etp_run *run, uint32_t run_arm, etp_arena *arena,
                              etp_ab_arm *out)
{
    double *calls = ETP_NEW_ARRAY(arena, double, run->launches.n);
    double *each = ETP_NEW_ARRAY(arena, double, run->launches.n);
    size_t n = 0;
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->arm == run_arm && l->kind == ETP_LAUNCH_TIMED && l->hook_cost.call_ps > 0) {
            calls[n] = (double)l->hook_cost.calls;
            each[n++] = (double)l->hook_cost.call_ps / 1000;
        }
    }
    out->masking_cost.calls = etp_median(calls, n);
    out->masking_cost.call_ns = etp_median(each, n);
    double ns = out->masking_cost.calls * out->masking_cost.call_ns;
    out->masking_cost.share = etp_share(ns, (double)out->median_ns);
}

// These end a sentence.
static const char *masking_cost_words(const etp_ab_arm *a, etp_arena *arena)
{
    if (!(a->masking_cost.call_ns > 0) || !isfinite(a->masking_cost.share)) {
        return "";
    }
    return etp_arena_printf(arena,
                            "; its %.0f questions in an inference cost %s ns each, %s %% of it",
                            a->masking_cost.calls, ETP_DIGITS(a->masking_cost.call_ns, 2),
                            ETP_DIGITS(100 * a->masking_cost.share, 2));
}

const etp_name_book *etp_ab_name_book(const etp_run *run, etp_arena *arena)
{
    etp_name_book *book = run->n_names ? ETP_NEW(arena, etp_name_book) : NULL;
    for (size_t i = 0; book && i < run->n_names; i++) {
        const char *name = etp_arena_strdup(arena, run->names[i].level);
        const etp_level_info *level =
            name ? etp_level_get(etp_level_find(ETP_ISA_NONE, name)) : NULL;
        etp_named named = level ? etp_level_named(level->level) : ETP_NAMED_UNCLEAR;
        if (named == ETP_NAMED_UNCLEAR || run->names[i].names.len == 0) {
            continue;
        }
        const char **list = named == ETP_NAMED_ON ? &book->on : &book->off;
        book->family = level->family;
        *list = etp_arena_printf(arena, "%s%s%.*s", ETP_OR(*list, ""), etp_if(*list, "; "),
                                 ETP_STR_ARG(run->names[i].names));
    }
    return book;
}

static void prove_arm(const etp_ab_session *s, const etp_run *run, uint32_t run_arm, uint32_t at,
                      etp_ab_arm *out)
{
    const etp_ab_arm *arm = &s->ab.arms[at];
    // Medians over the launches of what the runner reports once per process.
    double *v = ETP_NEW_ARRAY(s->ab.arena, double, run->launches.n + 1);
    for (etp_cost cost = 0; cost < ETP_COSTS; cost++) {
        size_t n = 0;
        for (size_t i = 0; i < run->launches.n; i++) {
            const etp_run_launch *l = &run->launches.items[i];
            uint64_t is = etp_cost_of(l, cost);
            if (is && l->arm == run_arm) {
                v[n++] = (double)is;
            }
            if (l->arm == run_arm && l->cached_bytes > out->cached_bytes) {
                out->cached_bytes = l->cached_bytes;
            }
        }
        out->costs[cost] = etp_whole_ns(etp_median(v, n)); // sorts them
        size_t lo, hi;
        bool known = etp_quantile_ranks(n, 0.5, ETP_CONFIDENCE, &lo, &hi);
        out->costs_lo[cost] = known ? v[lo] : (double)NAN;
        out->costs_hi[cost] = known ? v[hi] : (double)NAN;
    }
    take_memory(run, run_arm, s->ab.arena, out);
    etp_ab_take_load(s, run, run_arm, at, out);
    take_masking_cost(run, run_arm, s->ab.arena, out);
    if (arm->level == ETP_LEVEL_NONE) {
        return;
    }
    const etp_run_launch *launch = NULL;
    uint64_t calls = UINT64_MAX;
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->arm == run_arm) {
            launch = ETP_OR(launch, l);
            calls = ETP_MIN(l->hook_calls, calls);
        }
    }
    if (launch) {
        const char *cost = masking_cost_words(out, s->ab.arena);
        etp_str cleared = launch->mask_cleared.len ? launch->mask_cleared : ETP_STR("nothing");
        // Of a runner that is not etprof's: what etprof-launch did for it.
        const char *text = "nothing was hidden: this build itself is said to be at the level";
        if (!arm->foreign) {
            text = etp_arena_printf(s->ab.arena,
                                    "cleared %.*s; an SDK library asked the hook at least %llu "
                                    "times in every launch%s",
                                    ETP_STR_ARG(cleared), (unsigned long long)calls, cost);
        } else if (launch->mask_hook.len) {
            text =
                etp_arena_printf(s->ab.arena, "%.*s hid %.*s; the caller is unknown",
                                 ETP_STR_ARG(launch->mask_hook), ETP_STR_ARG(launch->mask_cleared));
        }
        etp_proof_add(&out->proof, s->ab.arena,
                      (etp_proof_line){ETP_PROOF_MASK, text, false, false});
    }
    if (run->selftest.len) {
        const char *text = etp_arena_strdup(s->ab.arena, run->selftest);
        etp_proof_add(&out->proof, s->ab.arena,
                      (etp_proof_line){ETP_PROOF_SELFTEST, text, false, !run->selftest_ok});
    }
    if (arm->profile) {
        etp_isa_cpu cpu;
        etp_proof_from_names(arm->profile, arm->level, etp_ab_name_book(run, s->ab.arena),
                             etp_run_cpu(run, s->ab.arena, &cpu) ? &cpu : NULL, s->ab.arena,
                             &out->proof);
        etp_kernels_judge_symbols(arm->profile, arm->level, s->ab.arena, &out->proof);
    }
}

// What the sampled launches say of each level; nothing when there are none.
etp_status etp_ab_take_launches(const etp_ab_session *s, const etp_run *run, uint32_t one,
                                uint32_t at, etp_ab_findings *noticed, etp_ab_arm *out,
                                etp_error *err)
{
    etp_kernels_answer kernels;
    ETP_TRY(etp_kernels_load(run, s->ab.arena, &kernels, err));
    for (uint32_t i = 0; i < run->arms.n; i++) {
        if (one != ETP_NO_INDEX && one != i) {
            continue;
        }
        const uint32_t to = one == i ? at : i;
        prove_arm(s, run, i, to, &out[to]);
        if (i >= kernels.n_arms) {
            continue;
        }
        const etp_kernels_of_arm *sampled = &kernels.arms[i];
        out[to].kernels = sampled->sampled ? &sampled->kernels : NULL;
        for (size_t k = 0; k < sampled->proof.lines.n; k++) {
            etp_proof_add(&out[to].proof, s->ab.arena, sampled->proof.lines.items[k]);
        }
        if (sampled->problem) {
            ETP_FIND(noticed, ETP_FINDING_SAMPLES_UNUSED, ETP_SEVERITY_WARN, NULL,
                     "samples of %s not used: %s", etp_ab_arm_called(&s->ab, to), sampled->problem);
        }
    }
    return ETP_OK;
}

etp_withheld etp_ab_noise_reason(etp_contention contention, bool control_differs)
{
    static const etp_withheld k_reasons[] = {
        [ETP_CONTENTION_NONE] = ETP_WITHHELD_NOT,
        [ETP_CONTENTION_WAITED] = ETP_WITHHELD_CONTENDED,
        [ETP_CONTENTION_CLOCKS] = ETP_WITHHELD_CONTENDED,
        [ETP_CONTENTION_NOISE] = ETP_WITHHELD_NOISE_FLOOR,
    };
    etp_withheld why = k_reasons[contention];
    return why == ETP_WITHHELD_NOT && control_differs ? ETP_WITHHELD_NOISE_FLOOR : why;
}

// Of those that hold, in the order in which they are told.
static etp_withheld first_reason(const etp_ab *ab, bool outputs_differ, bool refuted,
                                 etp_withheld noise)
{
    if (outputs_differ) {
        return ETP_WITHHELD_OUTPUTS_DIFFER;
    }
    if (refuted) {
        return ETP_WITHHELD_PROOF_FAILED;
    }
    if (ab->emulated) {
        return ETP_WITHHELD_EMULATED;
    }
    return noise && etp_ab_crowded(ab) ? ETP_WITHHELD_CROWDED : noise;
}

bool etp_ab_tells_features(const etp_ab *ab)
{
    size_t n = 0;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        n += etp_level_hides_one(ab->arms[ab->comparisons[i].candidate].level);
    }
    // Beside an arm that lacks a feature itself, no other's ratio is what one feature brings.
    for (int f = 0; f < ETP_HAS_COUNT && n > 0; f++) {
        n = etp_level_hides(ab->arms[ab->baseline].level, (etp_isa_feature)f) ? 0 : n;
    }
    return n >= 2 && !ab->emulated;
}

uint32_t etp_ab_subject(const etp_ab *ab)
{
    return ab->n_comparisons && !etp_ab_tells_features(ab) ? ab->comparisons[0].candidate
                                                           : ab->baseline;
}

const etp_ab_comparison *etp_ab_comparison_of(const etp_ab *ab, uint32_t arm)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        if (ab->comparisons[i].candidate == arm) {
            return &ab->comparisons[i];
        }
    }
    return NULL;
}

bool etp_ab_told(const etp_ab *ab, size_t comparison)
{
    return comparison < ab->n_comparisons &&
           ab->comparisons[comparison].withheld == ETP_WITHHELD_NOT;
}

etp_ab_comparison etp_ab_withhold(const etp_ab *ab, const etp_ab_comparison *measured,
                                  bool control_differs, etp_withheld otherwise)
{
    const etp_ab_arm *base = &ab->arms[measured->baseline], *cand = &ab->arms[measured->candidate];
    bool refuted = base->proof.truth == ETP_CONTRADICTED || cand->proof.truth == ETP_CONTRADICTED;
    bool differ = base->outputs_differ || cand->outputs_differ;
    const etp_withheld found = first_reason(
        ab, differ, refuted, etp_ab_noise_reason(measured->contention, control_differs));
    etp_ab_comparison out = *measured;
    out.withheld = ETP_OR(found, otherwise);
    if (out.withheld) {
        out.estimate = out.lo = out.hi = out.sign_flip_p = NAN;
        out.by_cpu = (etp_paired){.blocks = 0};
        out.verdict = ETP_VERDICT_UNKNOWN;
    }
    return out;
}
