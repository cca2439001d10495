// SPDX-License-Identifier: Apache-2.0
// What is launched next: the pilot, then block after block until the goal, the budget or the end of
// anything to compare.
#include <math.h>

#include <etprof/stats.h>

#include "base/number.h"
#include "measure/block_environment.h"
#include "measure/environment.h"
#include "measure/phases.h"
#include "measure/quiet.h"
#include "measure/state.h"

// One lost block may be chance. An arm that loses one after another would cost each of them its
// time-out, and none of them can be paired.
#define GIVE_UP_AFTER 3u // blocks in a row that an arm may lose
#define EXTRA_BLOCKS 2u  // at most, in place of incomplete ones

// ---- pilot ----

static uint32_t count_living(const etp_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        n += !s->arms[i].dead;
    }
    return n;
}

// Can a comparison still come of it?
static bool comparable(const etp_session *s)
{
    bool has_baseline = !s->arms[s->plan->baseline].dead || s->plan->n_builds > 0;
    return has_baseline && count_living(s) >= (s->plan->n_arms > 1 ? 2u : 1u);
}

// What the runner said is the fault of the model when no arm with that model works; else it is a
// finding of the arm, and the others are measured.
static etp_status refused_by_all(const etp_session *s, etp_error *err)
{
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        bool works = s->arms[i].refusal == ETP_OK;
        for (uint32_t k = 0; k < s->plan->n_arms && !works; k++) {
            works = s->plan->arms[k].model == s->plan->arms[i].model && s->arms[k].succeeded;
        }
        if (!works) {
            return etp_fail(err, s->arms[i].refusal, "%s", s->arms[i].refusal_text);
        }
    }
    return ETP_OK;
}

static etp_status give_up_error(const etp_session *s, etp_error *err)
{
    const etp_run_lost *l = s->run.lost.n > 0 ? &s->run.lost.items[s->run.lost.n - 1] : NULL;
    if (!l) {
        return etp_fail(err, ETP_INTERNAL, "no arm left");
    }
    const etp_planned_arm *arm = &s->plan->arms[l->arm];
    const etp_settings *set = &s->plan->settings;
    const char *advice = "";
    bool bounded;
    if (etp_str_find(l->detail, ETP_STR("InvalidArgument")) < l->detail.len &&
        etp_phases_suit(s->plan->model_paths[arm->model], set->method, &bounded)) {
        if (!set->prefill && !set->decode) {
            advice = "; it is a text decoder, which takes tokens at a position: ask for a prompt "
                     "and for decoding, --prefill 64 --decode 32";
        } else if (!bounded) {
            advice = "; the program does not tell how many tokens its cache holds "
                     "(get_max_context_len), so a position may be past it: give a smaller "
                     "--prefill or --decode N@D";
        }
    }
    char words[ETP_CANDIDATE_CHARS];
    return etp_fail(err, ETP_CHILD, "%s cannot be measured (%s): %.*s%s",
                    etp_session_arm_words(s->plan, l->arm, words), etp_lost_reason_name(l->reason),
                    ETP_STR_ARG(l->detail), advice);
}

static etp_status pilot_arm(etp_session *s, uint32_t arm, etp_error *err)
{
    const etp_task t = {.arm = arm, .kind = ETP_LAUNCH_TIMED};
    etp_launch_outcome o;
    // A trial may fail by chance. An arm that fails twice is out before it costs any block.
    for (uint32_t attempt = 1; attempt <= 2 && !s->arms[arm].dead; attempt++) {
        ETP_TRY(etp_session_pilot_launch(s, &t, attempt, &o, err));
        if (o.interrupted) {
            return ETP_OK;
        }
        if (o.ok) {
            double *scratch = ETP_NEW_ARRAY(&s->block_arena, double, o.n_iterations + 1);
            ETP_NEED(scratch, err, "the pilot");
            s->arms[arm].counts = etp_pilot_counts(s->plan, &o, scratch);
            if (attempt == 2) {
                // The last loss is that of the first attempt: nothing else was launched between the
                // two.
                s->run.lost.items[s->run.lost.n - 1].recovered = true;
            }
            return ETP_OK;
        }
    }
    s->arms[arm].dead = true;
    return ETP_OK;
}

etp_status etp_session_pilot(etp_session *s, etp_error *err)
{
    for (uint32_t i = 0; i < s->plan->n_arms && etp_session_interrupted(s) == 0; i++) {
        const etp_run_arm *known = &s->run.arms.items[i];
        if (s->plan->resume && known->iterations > 0) { // what it had before the interruption
            s->arms[i].counts = (etp_arm_counts){
                .warmup = known->warmup, .iterations = known->iterations, .traced = known->traced};
        } else if (!etp_pilot_needed(s->plan)) {
            s->arms[i].counts = etp_pilot_fixed(s->plan);
        } else {
            ETP_TRY(pilot_arm(s, i, err));
        }
        const etp_planned_phase *phase = // an iteration of others is a whole answer
            s->plan->arms[i].foreign ? NULL : etp_session_phase_of(s->plan, i);
        etp_arm_counts *counts = &s->arms[i].counts;
        counts->warmup =
            etp_phase_whole(phase, counts->warmup); // later ones begin at its first step
        counts->iterations = etp_phase_whole(phase, counts->iterations);
        counts->traced = etp_phase_whole(phase, counts->traced);
        etp_run_arm *arm = &s->run.arms.items[i];
        arm->warmup = s->arms[i].counts.warmup;
        arm->iterations = s->arms[i].counts.iterations;
        arm->traced = !s->plan->settings.no_trace ? s->arms[i].counts.traced : 0;
    }
    // What the trials said has become counts; their iterations are of no further use.
    etp_arena_dispose(&s->block_arena);
    if (etp_session_interrupted(s) != 0) {
        return ETP_OK;
    }
    ETP_TRY(refused_by_all(s, err));
    return count_living(s) > 0 ? ETP_OK : give_up_error(s, err);
}

// ---- blocks ----

typedef struct block_order {
    uint32_t *arms;   // n_arms
    uint32_t control; // position among them, ETP_NO_INDEX none
} block_order;

// One after another: each is held against the timed launch of its own arm.
static etp_status launch_controls(etp_session *s, uint32_t block, uint32_t *position,
                                  etp_launch_outcome *o, etp_error *err)
{
    for (uint32_t arm = 0; arm < s->plan->n_arms && !o->interrupted; arm++) {
        if (etp_session_is_control(s->plan, arm) && !s->arms[arm].dead) {
            const etp_task t = {arm, block, (*position)++, ETP_LAUNCH_CONTROL, 0};
            ETP_TRY(etp_session_launch(s, &t, o, err));
        }
    }
    return ETP_OK;
}

// One launch of KIND of each of ARMS that has its timed one.
static etp_status launch_each(etp_session *s, uint32_t block, const uint32_t *arms,
                              etp_launch_kind kind, const bool *lost, uint32_t *position,
                              etp_launch_outcome *o, etp_error *err)
{
    for (uint32_t i = 0; i < s->plan->n_arms && !o->interrupted; i++) {
        const etp_task t = {arms[i], block, *position, kind, 0};
        if (s->arms[t.arm].dead || lost[t.arm] ||
            (kind >= ETP_LAUNCH_COLD && !etp_session_is_cold(s, t.arm)) ||
            (kind == ETP_LAUNCH_MEMORY && !s->arms[t.arm].tells_stages)) {
            continue;
        }
        (*position)++;
        ETP_TRY(etp_session_launch(s, &t, o, err));
    }
    return ETP_OK;
}

// All timed launches with the controls among them, then all traced ones, then those with a cold
// page cache and those for memory. LOST[arm] tells which arms lost their timed launch; they are
// spared the others.
static etp_status launch_block(etp_session *s, uint32_t block, const block_order *order, bool *lost,
                               etp_error *err)
{
    uint32_t n = s->plan->n_arms, position = 0;
    etp_launch_outcome o = {0};
    s->all_timed = false;
    // There are n + 1 places for the control: before each arm, and behind the last.
    for (uint32_t i = 0; i <= n; i++) {
        if (order->control == i) {
            ETP_TRY(launch_controls(s, block, &position, &o, err));
            if (o.interrupted) {
                return ETP_OK;
            }
        }
        if (i == n || s->arms[order->arms[i]].dead) {
            continue;
        }
        const etp_task t = {order->arms[i], block, position++, ETP_LAUNCH_TIMED, 0};
        ETP_TRY(etp_session_launch(s, &t, &o, err));
        if (o.interrupted) {
            return ETP_OK;
        }
        lost[t.arm] = !o.ok;
    }
    // From here on the block counts for the headline, whatever ends it.
    s->all_timed = true;
    if (!s->plan->settings.no_trace) {
        ETP_TRY(launch_each(s, block, order->arms, ETP_LAUNCH_TRACED, lost, &position, &o, err));
    }
    if (s->plan->settings.cold_loads && !o.interrupted) {
        ETP_TRY(launch_each(s, block, order->arms, ETP_LAUNCH_COLD, lost, &position, &o, err));
    }
    if (s->plan->settings.cold_loads && block == 1 &&
        !o.interrupted) { // what holds memory is a fact
        ETP_TRY(launch_each(s, block, order->arms, ETP_LAUNCH_MEMORY, lost, &position, &o, err));
    }
    if (o.interrupted) {
        return ETP_OK;
    }
    // Only in the first block: what ran is a fact, which needs no repetition (sampling.c).
    return block == 1 ? etp_session_sample(s, block, order->arms, position, err) : ETP_OK;
}

// Of a launch that enters a time: evidence that is missing takes nothing from the block.
static bool block_has_loss(const etp_session *s, uint32_t block)
{
    for (size_t i = 0; i < s->run.lost.n; i++) {
        const etp_run_lost *l = &s->run.lost.items[i];
        if (l->block == block && !l->recovered && l->kind != ETP_LAUNCH_SAMPLED &&
            l->kind != ETP_LAUNCH_COLD && l->kind != ETP_LAUNCH_MEMORY) {
            return true;
        }
    }
    return false;
}

static etp_status run_block(etp_session *s, uint32_t block, etp_error *err)
{
    // The rows of the previous block lay in the block's arena, which was disposed of.
    s->samples.items = NULL;
    s->samples.n = s->samples.cap = 0;
    s->launches.items = NULL;
    s->launches.n = s->launches.cap = 0;
    block_order order = {.control = ETP_NO_INDEX};
    uint32_t n = s->plan->n_arms;
    order.arms = ETP_NEW_ARRAY(&s->block_arena, uint32_t, n);
    ETP_NEED(order.arms, err, "a block");
    etp_block_order(s->plan->settings.seed, block, n, order.arms);
    // Drawn for each block: at a fixed place it would always be launched later, or always earlier,
    // than the launch that it is held against.
    order.control = block <= s->plan->control_blocks
                        ? etp_control_position(s->plan->settings.seed, block, n)
                        : ETP_NO_INDEX;
    for (uint32_t i = 0; i < n; i++) {
        ETP_ADD(&s->arena, &s->run.order, order.arms[i]);
    }
    bool *lost = ETP_NEW_ARRAY(&s->block_arena, bool, n);
    ETP_NEED(lost, err, "a block");
    etp_block_environment e = {
        .block = block, .order = order.arms, .n_arms = n, .control_position = order.control};
    etp_quiet_wait(s, block);
    etp_block_environment_begin(s, &e);
    e.wall_start = etp_os_wall_seconds();
    etp_status launched = launch_block(s, block, &order, lost, err);
    // Asked before the launches' own result: a launch that failed for want of memory must not stand
    // in the folder as a finding about its arm.
    ETP_TRY(etp_session_memory(s, err));
    ETP_TRY(launched);
    e.wall_end = etp_os_wall_seconds();
    etp_block_environment_end(s, &e);
    // The block itself carries the figures; what it measured stays.
    uint64_t slept = etp_environment_slept_ns(&e);
    if (slept > 0 && slept != UINT64_MAX) {
        etp_session_note(s, ETP_NOTE_SLEPT,
                         "the machine slept during a block: caches and clocks were cold after it");
        etp_session_say(s, "block %u: the machine slept for %s s", block,
                        ETP_DIGITS((double)slept / 1e9, 3));
    }
    const double jump_s = etp_environment_jump_s(&e);
    if (jump_s != 0) {
        etp_session_note(
            s, ETP_NOTE_CLOCK_JUMP,
            "the wall clock moved against the steady one: it was set, or there was sleep");
        etp_session_say(s, "block %u: the wall clock moved by %s s", block, ETP_CHANGE(jump_s, 1));
    }
    for (uint32_t i = 0; i < n; i++) {
        etp_arm_state *arm = &s->arms[i];
        arm->lost_in_row = lost[i] ? arm->lost_in_row + 1 : 0;
        if (!arm->dead && arm->lost_in_row >= GIVE_UP_AFTER) {
            arm->dead = true;
            char words[ETP_CANDIDATE_CHARS];
            etp_session_say(s, "%s: given up after %u lost blocks in a row",
                            etp_session_arm_words(s->plan, i, words), GIVE_UP_AFTER);
            etp_session_note(s, ETP_NOTE_ARM_GIVEN_UP,
                             "an arm lost several blocks in a row and was not launched again");
        }
    }
    s->view->blocks_lost += block_has_loss(s, block);
    if (s->launches.n == 0) { // nothing came of it: no block
        s->cut_short = false; // a budget that is over stays over
        // The order was drawn for a block that does not exist; the next one draws its own, which
        // for the same number is the same.
        s->run.order.n -= n;
        return ETP_OK;
    }
    ETP_TRY(etp_session_unchanged(s, err));
    const etp_run_block surrounded = etp_environment_block(&e);
    const etp_str line = etp_run_block_line(&s->run, &surrounded, &s->block_arena);
    ETP_TRY(etp_session_memory(s, err));
    ETP_TRY(etp_run_commit(&s->writer, s->samples.items, s->samples.n, s->launches.items,
                           s->launches.n, &line, 1, err));
    return etp_session_take_values(s, s->samples.items, s->samples.n, err);
}

static bool fits_budget(const etp_session *s, uint32_t block, uint64_t measured_ns,
                        uint32_t measured)
{
    if (s->plan->settings.budget_s <= 0 || block == 1) {
        return true;
    }
    // What the trial launches promise, or what blocks really took, whichever is more: a budget is a
    // promise to the user.
    double each = (double)etp_session_block_ns(s, block <= s->plan->control_blocks);
    if (measured > 0) {
        each = fmax(each, (double)measured_ns / measured);
    }
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    return elapsed + each <= s->plan->settings.budget_s * 1e9;
}

etp_status etp_session_blocks(etp_session *s, etp_error *err)
{
    // A resumed session makes up for blocks that the interruption left without an arm.
    uint32_t goal = s->plan->blocks + s->incomplete;
    uint64_t start = etp_os_now_ns();
    uint32_t tried = 0;
    s->view->stopped = ETP_STOP_BLOCKS;
    ETP_TRY(etp_session_check_budget(s, err));
    etp_session_say_plan(s);
    for (uint32_t block = s->run.blocks_done + 1; block <= goal && etp_session_interrupted(s) == 0;
         tried++) {
        if (etp_session_precise(s)) {
            s->view->stopped = ETP_STOP_PRECISION;
            break;
        }
        if (!fits_budget(s, block, etp_os_now_ns() - start - s->sampling.spent_ns, tried)) {
            s->view->stopped = ETP_STOP_BUDGET;
            break;
        }
        uint32_t lost_before = s->view->blocks_lost;
        etp_status status = run_block(s, block, err);
        etp_arena_dispose(&s->block_arena);
        ETP_TRY(status);
        if (s->out_of_time) {
            s->view->stopped = ETP_STOP_BUDGET;
            etp_session_say_budget(s, block);
            break;
        }
        // After the block is in the folder: what the samples tell is asked of the folder itself.
        if (block == 1 && s->run.blocks_done == 1) {
            ETP_TRY(etp_session_sample_more(s, block, err));
        }
        if (etp_session_interrupted(s) == 0) {
            ETP_TRY(refused_by_all(s, err));
        }
        // An arm that fails is a finding, and what the others do is worth knowing beside it; but
        // when nothing is left to compare, a few blocks of it will do.
        bool enough = !comparable(s) && s->run.blocks_done >= GIVE_UP_AFTER;
        if (count_living(s) == 0 || enough) {
            s->view->stopped = ETP_STOP_OTHER;
            break;
        }
        // Sampling comes once. Counted in, it would make every block look longer than those to
        // come.
        uint64_t blocks_ns = etp_os_now_ns() - start - s->sampling.spent_ns;
        etp_session_ratio_so_far(s);
        etp_session_say_precision(s, (double)blocks_ns / (tried + 1));
        bool lost = s->view->blocks_lost != lost_before;
        if (lost && !s->plan->blocks_exact && goal < s->plan->blocks + EXTRA_BLOCKS) {
            goal++;
        }
        // A block without any launch does not exist in the folder; its number is used again, but
        // not for ever.
        block = s->run.blocks_done + 1;
        if (tried > goal + GIVE_UP_AFTER) {
            s->view->stopped = ETP_STOP_OTHER;
            break;
        }
    }
    if (etp_session_interrupted(s) != 0) {
        s->view->stopped = ETP_STOP_OTHER;
    }
    ETP_TRY(etp_session_unchanged(s, err)); // what was sampled after the last block, too
    return s->run.blocks_done > 0 || etp_session_interrupted(s) != 0 ? ETP_OK
                                                                     : give_up_error(s, err);
}
