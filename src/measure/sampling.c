// SPDX-License-Identifier: Apache-2.0
// Whether program counters are sampled, and how long: one launch after the other, until what ran is
// known for most of the operators' time, more of them would not tell more, or their part of the
// session is used up. Nobody has to ask for it where that part is small.
#include <math.h>

#include "measure/state.h"

#define LEAST_GAIN 0.005 // of the time: not worth another launch
#define SHORTENED_TO 0.9 // of its length, as often as it takes until the launches fit

// ---- unasked ----

// Why not, whatever it takes; NOT_TOLD: nothing is in the way.
static etp_samples_end barred(const etp_session *s)
{
    // The runner's sampler exists for Linux kernels alone (runner/src/sampler.h).
    etp_platform platform = s->device->info.platform;
    bool linux_kernel = platform == ETP_PLATFORM_LINUX || platform == ETP_PLATFORM_ANDROID;
    if (s->plan->settings.no_kernels) {
        return ETP_SAMPLES_OFF;
    }
    if (s->plan->settings.no_trace) {
        return ETP_SAMPLES_UNTRACED;
    }
    if (s->device->info.emulated || !linux_kernel) {
        return ETP_SAMPLES_DEVICE;
    }
    return s->plan->arms[0].foreign ? ETP_SAMPLES_RUNNER : ETP_SAMPLES_NOT_TOLD;
}

// What the timed launch of this block tells of ARM. A runner may say more time than passed here.
static etp_arm_cost cost_of(const etp_session *s, uint32_t arm)
{
    const etp_run_launch *l = NULL;
    for (size_t i = 0; i < s->launches.n; i++) {
        const etp_run_launch *at = &s->launches.items[i];
        l = at->arm == arm && at->kind == ETP_LAUNCH_TIMED ? at : l;
    }
    double timed = 0, warm = 0;
    uint64_t n = 0;
    for (size_t i = 0; i < s->samples.n && l; i++) {
        const etp_run_sample *row = &s->samples.items[i];
        bool mine = row->launch == l->launch, counts = mine && row->phase == ETP_PHASE_TIMED;
        timed += counts ? (double)row->duration_ns : 0;
        warm += mine && !counts ? (double)row->duration_ns : 0;
        n += counts;
    }
    return n == 0 ? (etp_arm_cost){0}
                  : (etp_arm_cost){.each_ns = fmax(timed / (double)n, 1),
                                   .rest_ns = fmax((double)l->wall_ns - timed, warm)};
}

// The time that one launch of each arm may take, so that they keep to their part of the session and
// leave the blocks that an answer needs.
static double allowed(const etp_session *s, etp_samples_end *why)
{
    const etp_settings *set = &s->plan->settings;
    double wall = 0, said = 0, part;
    for (size_t i = 0; i < s->launches.n; i++) {
        wall += (double)s->launches.items[i].wall_ns;
    }
    for (size_t i = 0; i < s->samples.n; i++) {
        said += (double)s->samples.items[i].duration_ns;
    }
    // A runner may claim more time than has passed; the larger figure keeps the sampling short.
    const double block = fmax(wall, said);
    uint32_t blocks = s->plan->blocks;
    *why = ETP_SAMPLES_PART;
    if (!(set->budget_s > 0)) {
        // Such a session may end with the fewest blocks that have a verdict, and then sampling
        // would be the larger part of it.
        bool open = set->precision > 0 && blocks > ETP_MIN_BLOCKS;
        return (open ? ETP_MIN_BLOCKS : blocks) * block / ETP_SAMPLING_PART;
    }
    part = set->budget_s * 1e9 / ETP_SAMPLING_PART;
    uint32_t needed = ETP_MIN(blocks, ETP_MIN_BLOCKS);
    double elapsed = fmax((double)(etp_os_now_ns() - s->start_ns), block);
    double left = set->budget_s * 1e9 - elapsed - (needed - 1) * block;
    *why = left < part ? ETP_SAMPLES_BLOCKS : ETP_SAMPLES_PART;
    return fmin(part, left);
}

// Time in the model of one sampled launch, so that one of each arm fits; 0: *why not.
static uint64_t affordable(etp_session *s, etp_samples_end *why)
{
    double limit = allowed(s, why), ns = ETP_SAMPLED_NS;
    for (uint32_t a = 0; a < s->plan->n_arms; a++) {
        s->arms[a].cost = s->arms[a].dead ? (etp_arm_cost){0} : cost_of(s, a);
    }
    // Shorter launches of all arms, rather than long ones of some: arms are compared.
    for (; ns >= ETP_SAMPLED_LEAST_NS; ns *= SHORTENED_TO) {
        double all = 0;
        for (uint32_t a = 0; a < s->plan->n_arms; a++) {
            const etp_arm_cost *c = &s->arms[a].cost;
            all += c->each_ns > 0 ? c->rest_ns + fmax(ns, ETP_SAMPLED_MIN * c->each_ns) : 0;
        }
        if (all > 0 && all <= limit) {
            s->sampling.limit_ns = (uint64_t)limit;
            return (uint64_t)ns;
        }
    }
    return 0;
}

// Is the first block to sample? Else the arms say why not.
static bool wanted(etp_session *s)
{
    if (s->plan->settings.kernels) {
        s->sampling.each_ns = ETP_SAMPLED_NS;
        return true;
    }
    etp_samples_end why = barred(s);
    if (!why) {
        s->sampling.each_ns = affordable(s, &why);
        why = s->sampling.each_ns > 0 ? ETP_SAMPLES_NOT_TOLD : why;
    }
    for (uint32_t a = 0; a < s->plan->n_arms && why; a++) {
        s->run.arms.items[a].sampling = why;
    }
    s->view->expected_launches += why ? 0 : s->plan->n_arms;
    return !why;
}

// Why there is no time for one of ARM after SPENT_NS of sampling, though there seemed to be;
// NOT_TOLD: there is.
static etp_samples_end used_up(const etp_session *s, uint32_t arm, uint64_t spent_ns)
{
    const etp_arm_cost *c = &s->arms[arm].cost;
    uint64_t ns = (uint64_t)fmax(c->rest_ns + (double)s->sampling.each_ns,
                                 (double)etp_session_launch_ns(s, arm, ETP_LAUNCH_TIMED));
    if (!etp_session_has_time(s, 1, ns)) {
        return ETP_SAMPLES_BUDGET;
    }
    bool limited = s->sampling.limit_ns > 0 && spent_ns >= s->sampling.limit_ns;
    return limited ? ETP_SAMPLES_PART : ETP_SAMPLES_NOT_TOLD;
}

// What ran is a fact, not an estimate, and needs no blocks: one launch per arm, last; more of them
// once it is known what these leave open.
etp_status etp_session_sample(etp_session *s, uint32_t block, const uint32_t *order,
                              uint32_t position, etp_error *err)
{
    uint64_t start = etp_os_now_ns();
    etp_launch_outcome o;
    bool goes_on = wanted(s);
    for (uint32_t i = 0; i < s->plan->n_arms && goes_on; i++) {
        // Arms that are dead or have no time leave a gap in the positions, which only have to rise.
        const etp_task t = {order[i], block, position + i, ETP_LAUNCH_SAMPLED, 1};
        s->positions = t.position + 1;
        const etp_samples_end over = used_up(s, t.arm, etp_os_now_ns() - start);
        if (over) { // the block itself is whole
            s->run.arms.items[t.arm].sampling = over;
        } else if (!s->arms[t.arm].dead) {
            ETP_TRY(etp_session_launch(s, &t, &o, err));
            goes_on = !o.interrupted;
        }
    }
    s->sampling.spent_ns = etp_os_now_ns() - start;
    return ETP_OK;
}

// ---- how long ----

static bool fits(const etp_session *s, uint32_t arm)
{
    if (s->sampling.limit_ns > 0) {
        return s->sampling.spent_ns + s->arms[arm].sampled_wall_ns <= s->sampling.limit_ns &&
               etp_session_has_time(s, 1, s->arms[arm].sampled_wall_ns);
    }
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    double part = s->plan->settings.budget_s * 1e9 / ETP_SAMPLING_PART;
    return s->plan->settings.budget_s <= 0 ||
           elapsed + (double)s->arms[arm].sampled_wall_ns <= part;
}

// Why ARM is not sampled once more after DONE launches; NOT_TOLD: it is.
static etp_samples_end enough(const etp_session *s, uint32_t arm, uint32_t done, double share,
                              double reachable, bool too_few)
{
    bool more_tells = too_few || reachable - share >= LEAST_GAIN;
    // The first reason that holds is the one that the folder tells.
    if (!too_few && share >= ETP_SAMPLING_GOAL) {
        return ETP_SAMPLES_KNOWN;
    }
    if (done >= ETP_SAMPLING_LAUNCHES) {
        return ETP_SAMPLES_BOUND;
    }
    if (!more_tells) {
        return ETP_SAMPLES_NO_GAIN;
    }
    if (fits(s, arm)) {
        return ETP_SAMPLES_NOT_TOLD;
    }
    return s->sampling.limit_ns > 0 ? ETP_SAMPLES_PART : ETP_SAMPLES_BUDGET;
}

// What one more launch of ARM gave becomes part of BLOCK, which is in the folder already.
static etp_status sample_again(etp_session *s, const etp_task *t, bool *ok, etp_error *err)
{
    etp_launch_outcome o;
    s->samples.items = NULL;
    s->samples.n = s->samples.cap = 0;
    s->launches.items = NULL;
    s->launches.n = s->launches.cap = 0;
    s->view->expected_launches++;
    etp_status status = etp_session_launch(s, t, &o, err);
    *ok = status == ETP_OK && o.ok;
    s->cut_short = false; // the block itself is whole
    if (status == ETP_OK) {
        status = etp_run_commit_more(&s->writer, s->samples.items, s->samples.n, s->launches.items,
                                     s->launches.n, err);
    }
    etp_arena_dispose(&s->block_arena);
    return status;
}

etp_status etp_session_sample_more(etp_session *s, uint32_t block, etp_error *err)
{
    uint32_t n = s->plan->n_arms, position = s->positions;
    double *share = ETP_NEW_ARRAY(&s->arena, double, n + 1);
    double *reachable = ETP_NEW_ARRAY(&s->arena, double, n + 1);
    bool *too_few = ETP_NEW_ARRAY(&s->arena, bool, n + 1);
    bool *ended = ETP_NEW_ARRAY(&s->arena, bool, n + 1);
    ETP_NEED(share && reachable && too_few && ended, err, "sampling");
    bool answered = s->sampling.each_ns > 0 && s->view->coverage, more = true;
    const uint64_t start = etp_os_now_ns(), before = s->sampling.spent_ns;
    for (uint32_t done = 1; answered && more; done++) {
        for (uint32_t a = 0; a < n; a++) {
            share[a] = reachable[a] = (double)NAN;
            too_few[a] = false;
        }
        // What the most launches that are allowed would tell; when even those would add too little,
        // none is made.
        double times = (double)ETP_SAMPLING_LAUNCHES / done;
        more = false;
        answered =
            s->view->coverage(s->view->ctx, s->plan->dir, times, share, reachable, too_few, n);
        s->sampling.spent_ns = before + (etp_os_now_ns() - start);
        for (uint32_t a = 0; answered && a < n; a++) {
            bool out = ended[a] || s->arms[a].dead || s->arms[a].sampled_wall_ns == 0;
            bool asked = !isnan(share[a]) || too_few[a];
            if (out || !asked || etp_session_interrupted(s) != 0) {
                continue;
            }
            const etp_samples_end why = enough(s, a, done, share[a], reachable[a], too_few[a]);
            s->run.arms.items[a].sampling = why;
            ended[a] = why != ETP_SAMPLES_NOT_TOLD;
            if (!why) {
                const etp_task t = {a, block, position++, ETP_LAUNCH_SAMPLED, done + 1};
                bool ok;
                ETP_TRY(sample_again(s, &t, &ok, err));
                ended[a] = !ok;
                s->sampling.spent_ns = before + (etp_os_now_ns() - start);
                more = more || ok;
            }
        }
    }
    return ETP_OK;
}
