// SPDX-License-Identifier: Apache-2.0
// When it is enough: the precision that was asked for, and what the user is told about time and
// precision before and while blocks run.
#include <math.h>
#include <stdio.h>

#include <etprof/stats.h>

#include "base/number.h"
#include "measure/state.h"

static etp_sample_use use_of(etp_phase phase)
{
    switch (phase) {
    case ETP_PHASE_TIMED:
        return ETP_SAMPLE_TIMED;
    case ETP_PHASE_CONTROL:
        return ETP_SAMPLE_CONTROL;
    case ETP_PHASE_TRACED:
        return ETP_SAMPLE_TRACED;
    default:
        return ETP_SAMPLE_UNUSED;
    }
}

// The same code as the analysis afterwards, so that both see the same launch values.
etp_status etp_session_take_values(etp_session *s, const etp_run_sample *samples, size_t n,
                                   etp_error *err)
{
    etp_arena scratch = {0};
    etp_sample *rows = ETP_NEW_ARRAY(&scratch, etp_sample, n + 1);
    etp_stats stats;
    size_t timed = 0;
    for (size_t i = 0; rows && i < n; i++) {
        const etp_run_sample *r = &samples[i];
        rows[i] = (etp_sample){.arm = r->arm,
                               .block = r->block,
                               .launch = r->launch,
                               .iteration = r->iteration,
                               .use = use_of(r->phase),
                               .duration_ns = r->duration_ns};
        timed += rows[i].use == ETP_SAMPLE_TIMED;
    }
    etp_status st = etp_arena_check(&scratch, err, "the session");
    if (st == ETP_OK && timed > 0) {
        // The samples of one block, or on --resume those of all: their values go behind those that
        // are there.
        const etp_stats_options how = {.baseline = s->plan->baseline};
        st = etp_stats_analyze(rows, n, s->plan->n_arms, &how, &scratch, &stats, err);
        size_t values = 0;
        if (st == ETP_OK) {
            for (size_t i = 0; i < stats.n_launches; i++) {
                ETP_ADD(&s->arena, &s->learned, stats.launches[i]);
            }
            for (size_t i = 0; i < stats.n_traced; i++) {
                ETP_ADD(&s->arena, &s->traced, stats.traced[i]);
            }
            values = (size_t)stats.n_blocks_seen * s->plan->n_arms;
        }
        for (size_t i = 0; i < values; i++) {
            ETP_ADD(&s->arena, &s->values, stats.value_ln[i]);
        }
        if (st == ETP_OK) {
            st = etp_arena_check(&s->arena, err, "the session");
        }
    }
    etp_arena_dispose(&scratch);
    return st;
}

// The arm that ARM is compared with. ETP_NO_INDEX: nothing, or that arm has died.
static uint32_t reference_of(const etp_session *s, uint32_t arm)
{
    uint32_t found = etp_session_baseline_of(s->plan, arm);
    bool none = found == arm || found == ETP_NO_INDEX || s->arms[arm].dead || s->arms[found].dead;
    return none ? ETP_NO_INDEX : found;
}

// Log ratios of ARM over the blocks that have every living arm; OUT has room for all blocks.
// A block that lacks one arm is left out for all of them, as in the answer: the comparisons are
// then of the same blocks.
static size_t ratios_of(const etp_session *s, uint32_t reference, uint32_t arm, double *out)
{
    size_t n_arms = s->plan->n_arms, k = 0;
    for (size_t b = 0; b < s->values.n / n_arms; b++) {
        const double *v = s->values.items + b * n_arms;
        bool whole = true;
        for (size_t a = 0; a < n_arms; a++) {
            whole = whole && (isfinite(v[a]) || s->arms[a].dead);
        }
        if (whole && isfinite(v[arm])) {
            out[k++] = v[reference] - v[arm];
        }
    }
    return k;
}

typedef struct progress { // of the comparison that needs longest
    size_t blocks;
    double half_width; // relative, widened
    double sd_ln;      // of one block's log ratio, from all launches
    double df;         // and its degrees of freedom
    uint32_t needed;
    bool enough;
} progress;

static bool find_widest(const etp_session *s, progress *out)
{
    etp_arena scratch = {0};
    double *ratios = ETP_NEW_ARRAY(&scratch, double, s->values.n + 1);
    *out = (progress){.half_width = (double)NAN, .enough = ratios != NULL};
    for (uint32_t a = 0; ratios && a < s->plan->n_arms; a++) {
        uint32_t reference = reference_of(s, a);
        if (reference == ETP_NO_INDEX) {
            continue;
        }
        size_t k = ratios_of(s, reference, a, ratios);
        etp_paired p = etp_paired_estimate(ratios, k, ETP_MARGIN_DEFAULT, ETP_CONFIDENCE, 0);
        // Who looks after each block and stops when it looks good enough stops too early too often:
        // the interval is wider for it (docs/statistics.md).
        etp_paired_widen(&p, etp_sequential_widening(k), ETP_MARGIN_DEFAULT);
        out->enough = out->enough && etp_precise_enough(ratios, k, s->plan->settings.precision);
        double width = expm1(p.half_width_ln);
        // The widest decides how long all of them go on.
        if (isfinite(width) && !(width <= out->half_width)) {
            out->half_width = width;
            out->blocks = k;
            // What the log ratio of one block scatters by; all launches say it better than the
            // ratios alone.
            const etp_launch_set set = {s->learned.items, s->learned.n, s->traced.items,
                                        s->traced.n};
            etp_spread spread;
            if (etp_spread_find(&set, reference, a, &scratch, &spread, NULL) != ETP_OK) {
                spread = (etp_spread){0}; // the message is then made of the ratios
            }
            out->sd_ln = etp_spread_sd(&spread, p.sd_ln, p.blocks, &out->df);
            out->needed = etp_plan_sure(out->sd_ln, out->df, s->plan->settings.precision);
        }
    }
    etp_arena_dispose(&scratch);
    // Without any comparison there is nothing that could be precise.
    out->enough = out->enough && isfinite(out->half_width);
    return isfinite(out->half_width);
}

static void candidate_words(const etp_session *s, uint32_t reference, uint32_t a, char *out)
{
    const etp_planned_arm *base = &s->plan->arms[reference], *arm = &s->plan->arms[a];
    const etp_planned_phase *phase = etp_session_phase_of(s->plan, a);
    bool level = arm->level != base->level && arm->level != ETP_LEVEL_NONE;
    bool threads = arm->threads != base->threads;
    char count[32] = "";
    if (threads) {
        snprintf(count, sizeof count, "%s%u thread%s", etp_if(level, ", "), arm->threads,
                 etp_if(arm->threads != 1, "s"));
    }
    if (!(level || threads) || arm->model != base->model || arm->side != base->side) {
        snprintf(out, ETP_CANDIDATE_CHARS, "%s", arm->name);
        return;
    }
    // Which kernels ran is known in the end.
    snprintf(out, ETP_CANDIDATE_CHARS, "%s%s%s%s", phase ? phase->run.name.ptr : "",
             etp_if(phase, ": "), level ? etp_level_get(arm->level)->name : "", count);
}

void etp_session_ratio_so_far(etp_session *s)
{
    etp_session_view *out = s->view;
    etp_arena scratch = {0};
    double *ratios = ETP_NEW_ARRAY(&scratch, double, s->values.n + 1);
    *out->candidate = '\0';
    out->ratio = out->lo = out->hi = (double)NAN;
    out->disturbed = false;
    // The line has room for one ratio, that of the first candidate.
    for (uint32_t a = 0; ratios && a < s->plan->n_arms && !*out->candidate; a++) {
        uint32_t reference = reference_of(s, a);
        size_t k = reference == ETP_NO_INDEX ? 0 : ratios_of(s, reference, a, ratios);
        if (k > 0) {
            etp_paired p = etp_paired_estimate(ratios, k, ETP_MARGIN_DEFAULT, ETP_CONFIDENCE, 0);
            candidate_words(s, reference, a, out->candidate);
            // Less than withholds it in the end: nobody needs a ratio before that.
            if (etp_run_wait_share(&s->arms[a].waited) > ETP_WAIT_MUCH ||
                etp_run_wait_share(&s->arms[reference].waited) > ETP_WAIT_MUCH) {
                out->disturbed = true;
                continue;
            }
            out->ratio = exp(p.mean_ln);
            const etp_planned_phase *phase = etp_session_phase_of(s->plan, a);
            if (!phase ||
                phase->run.clock_ns == 0) { // equal readings of a coarse clock are not precise
                out->lo = exp(p.mean_ln - p.half_width_ln);
                out->hi = exp(p.mean_ln + p.half_width_ln);
            }
        }
    }
    etp_arena_dispose(&scratch);
}

bool etp_session_precise(const etp_session *s)
{
    progress p;
    const etp_settings *set = &s->plan->settings;
    return set->precision > 0 && s->run.blocks_done >= ETP_MIN_BLOCKS && find_widest(s, &p) &&
           p.enough;
}

// ---- words ----

static const char *duration(double ns, char buf[static 32])
{
    double seconds = ns / 1e9;
    if (seconds < 120) {
        snprintf(buf, 32, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    } else {
        snprintf(buf, 32, "%.0f min", ceil(seconds / 60));
    }
    return buf;
}

// Blocks that the budget has room for, from what one is known to take. CONTROL is what a block of
// the A/A control takes more.
static uint32_t within_budget(const etp_session *s, double each, double control)
{
    const etp_session_plan *p = s->plan;
    double room = p->settings.budget_s * 1e9 - (double)(etp_os_now_ns() - s->start_ns);
    uint32_t n = s->run.blocks_done;
    while (n < p->blocks) {
        room -= each + (n < p->control_blocks ? control : 0);
        if (room < 0) {
            break;
        }
        n++;
    }
    return n;
}

// What cannot end in a verdict is said before the time is spent.
static void warn_of_few(etp_session *s, double each, double control)
{
    const etp_session_plan *p = s->plan;
    bool priced = p->settings.budget_s > 0 && each > 0;
    uint32_t n = priced ? within_budget(s, each, control) : p->blocks;
    if (p->n_arms < 2 || n >= ETP_MIN_BLOCKS) {
        return;
    }
    if (p->blocks < ETP_MIN_BLOCKS) {
        etp_session_say(
            s,
            "           %u of at least %d blocks: the verdict will be unknown; --blocks %d would "
            "do",
            p->blocks, ETP_MIN_BLOCKS, ETP_MIN_BLOCKS);
        return;
    }
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    uint32_t left = ETP_MIN_BLOCKS - s->run.blocks_done;
    double needed = (elapsed + 1.1 * left * (each + control)) / 1e9; // a block may take longer
    etp_session_say(
        s,
        "           the budget has room for %u of at least %d blocks: the verdict will be unknown; "
        "--budget %.0fs would do",
        n, ETP_MIN_BLOCKS, ceil(needed));
}

// A budget that the first block breaks is no budget: it is refused with the one that would do.
etp_status etp_session_check_budget(const etp_session *s, etp_error *err)
{
    const etp_session_plan *p = s->plan;
    // The first block is one of the dearest, because the control is launched in it.
    double each = (double)etp_session_block_ns(s, p->control_blocks > 0);
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    double budget = p->settings.budget_s * 1e9;
    if (budget <= 0 || s->device->info.emulated || !(each > 0) || s->run.blocks_done > 0 ||
        elapsed + each <= budget) {
        return ETP_OK;
    }
    char one[32], all[32];
    return etp_fail(err, ETP_USAGE,
                    "--budget %gs ends before the first block: a block takes %s, the preparation "
                    "took %s; --budget %.0fs has room for the %d that a verdict takes",
                    p->settings.budget_s, duration(each, one), duration(elapsed, all),
                    ceil((elapsed + 1.1 * ETP_MIN_BLOCKS * each) / 1e9), ETP_MIN_BLOCKS);
}

bool etp_session_has_time(const etp_session *s, uint32_t block, uint64_t ns)
{
    double budget = s->plan->settings.budget_s * 1e9;
    // Nothing told beforehand what the first block takes, and without it there is no answer.
    bool unpriced = !etp_pilot_needed(s->plan) || s->device->info.emulated;
    return budget <= 0 || (block <= 1 && unpriced) ||
           (double)(etp_os_now_ns() - s->start_ns) + (double)ns <= budget;
}

void etp_session_say_budget(etp_session *s, uint32_t block)
{
    const etp_session_plan *p = s->plan;
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    double each = (double)etp_session_block_ns(s, block <= p->control_blocks);
    char one[32];
    etp_session_say(s,
                    "budget     %gs ended in the middle of block %u, after %zu of its launches: a "
                    "block takes %s now; --budget %.0fs has room for the %d that a verdict takes",
                    p->settings.budget_s, block, s->launches.n, duration(each, one),
                    ceil((elapsed + 1.1 * ETP_MIN_BLOCKS * each) / 1e9), ETP_MIN_BLOCKS);
}

void etp_session_say_plan(etp_session *s)
{
    const etp_session_plan *p = s->plan;
    uint32_t left = ETP_LESS(p->blocks, s->run.blocks_done);
    uint32_t least = p->settings.precision > 0 && left > ETP_MIN_BLOCKS ? ETP_MIN_BLOCKS : left;
    double each = (double)etp_session_block_ns(s, false);
    double control = (double)etp_session_block_ns(s, true) - each;
    if (!(each > 0) || left == 0) {
        warn_of_few(s, each, control);
        return; // the counts were given: no trial launch tells what one takes
    }
    uint32_t n_control = ETP_MIN(p->control_blocks, left);
    char a[32], b[32], one[32], rule[96] = "", budget[64] = "";
    if (p->settings.precision > 0) {
        snprintf(rule, sizeof rule, ", stops at ±%s %% (not before %u blocks, %s)",
                 ETP_DIGITS(100 * p->settings.precision, 3), least,
                 duration(least * (each + control), a));
    }
    if (p->settings.budget_s > 0) {
        snprintf(budget, sizeof budget, ", stops within %s",
                 duration(p->settings.budget_s * 1e9, a));
    }
    etp_session_say(s, "plan       %s%u blocks of %s, %s%s%s",
                    etp_if(p->settings.precision > 0 || p->settings.budget_s > 0, "at most "), left,
                    duration(each, one), duration(left * each + n_control * control, b), rule,
                    budget);
    warn_of_few(s, each, control);
}

// "14 blocks (10 to 22)": how many do in 80 % of sessions, and how many may really be needed when
// the spread is not what it seemed.
static const char *blocks_needed(const progress *p, double target, uint32_t goal,
                                 char buf[static 64])
{
    // The spread itself is only estimated: its interval gives the range of the blocks.
    uint32_t lo =
        etp_plan_sequential(p->sd_ln * etp_sd_factor(0.5 - ETP_PLAN_RANGE / 2, p->df), target);
    uint32_t hi =
        etp_plan_sequential(p->sd_ln * etp_sd_factor(0.5 + ETP_PLAN_RANGE / 2, p->df), target);
    if (hi > goal) {
        snprintf(buf, 64, "%u blocks (%u to more than %u)", p->needed, lo, goal);
    } else {
        snprintf(buf, 64, lo < hi ? "%u blocks (%u to %u)" : "%u blocks", p->needed, lo, hi);
    }
    return buf;
}

void etp_session_say_precision(etp_session *s, double each_ns)
{
    uint32_t done = s->run.blocks_done, goal = s->plan->blocks;
    progress p;
    char left[32], needed[64];
    // Two blocks tell of no third: what is expected is said from where a verdict begins.
    bool worth = s->plan->settings.precision > 0 && done >= ETP_MIN_BLOCKS &&
                 (done == ETP_MIN_BLOCKS || done % 10 == 0);
    if (!worth || s->plan->n_arms < 2 || done >= goal || !find_widest(s, &p) || p.enough) {
        return;
    }
    if (p.needed == UINT32_MAX || p.needed > goal) {
        etp_session_say(
            s, "precision  ±%.1f %% after %u blocks; ±%s %% is not expected within %u blocks",
            100 * p.half_width, done, ETP_DIGITS(100 * s->plan->settings.precision, 3), goal);
        return;
    }
    uint32_t more = p.needed > p.blocks ? p.needed - (uint32_t)p.blocks : 0;
    etp_session_say(
        s,
        "precision  ±%.1f %% after %u blocks; ±%s %% needs %s, %s more: %.0f %% of such "
        "sessions reach it",
        100 * p.half_width, done, ETP_DIGITS(100 * s->plan->settings.precision, 3),
        blocks_needed(&p, s->plan->settings.precision, goal, needed),
        duration(more * each_ns, left), 100 * ETP_PLAN_SURE);
}
