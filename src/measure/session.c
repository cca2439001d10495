// SPDX-License-Identifier: Apache-2.0
// The loop of a session: self-test, pilot, then block after block into the run folder.
#include <math.h>
#include <stdio.h>

#include <etprof/stats.h>
#include <etprof/version.h>

#include "measure/environment.h"
#include "measure/pilot.h"
#include "measure/selftest.h"

#define GIVE_UP_AFTER 3u    // blocks in a row that an arm may lose
#define EXTRA_BLOCKS 2u     // at most, in place of incomplete ones
#define CLOCK_JUMP_S 2.5    // wall against steady clock; both are rounded to a second
#define CONTENDED_SHARE 0.05 // of the launches' wall time, summed over threads
#define DUMP_LIMIT ((uint64_t)1 << 30)

typedef struct arm_state {
    etp_arm_counts counts;
    const char *model; // path on the device
    bool succeeded;    // at least once
    bool dead;         // given up
    bool has_outputs;
    uint32_t lost_in_row;
} arm_state;

typedef struct session {
    etp_device *device;
    const etp_session_plan *plan;
    const etp_session_config *config;
    const etp_session_hooks *hooks;
    etp_session_result *result;
    etp_arena arena; // until the end
    etp_arena block_arena;
    etp_run run;
    etp_run_writer writer;
    bool writing;
    arm_state *arms;
    const char *data; // path on the device
    uint64_t start_ns, wait_ns; // wait_ns: Σ over launches of being ready without a CPU
    uint32_t next_launch, expected_launches;
    etp_session_progress progress;
    etp_lost_reason fatal_reason;
    // the current block
    struct {
        etp_run_sample *items;
        size_t n, cap;
    } samples;
    struct {
        etp_run_launch *items;
        size_t n, cap;
    } launches;
} session;

typedef struct task { // one launch to make
    uint32_t arm, block, position; // block 0: pilot
    etp_launch_kind kind;
} task;

// ---- telling ----

static void say(session *s, const char *fmt, ...) ETP_PRINTF(2, 3);

static void say(session *s, const char *fmt, ...)
{
    char text[1600];
    if (!s->hooks->message) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    s->hooks->message(s->hooks->ctx, text);
}

static int interrupted(void *ctx)
{
    const session *s = ctx;
    return s->hooks->interrupted ? s->hooks->interrupted(s->hooks->ctx) : etp_os_interrupted();
}

static uint64_t expected_wall(const session *s, uint32_t arm, etp_launch_kind kind)
{
    const etp_arm_counts *c = &s->arms[arm].counts;
    uint64_t known = kind == ETP_LAUNCH_TRACED ? c->traced_wall_ns : c->timed_wall_ns;
    if (known == 0 && s->result->launches > 0) {
        known = s->result->launch_wall_ns / s->result->launches;
    }
    return known;
}

static uint64_t expected_block_ns(const session *s, bool control)
{
    uint64_t sum = control ? expected_wall(s, s->plan->baseline, ETP_LAUNCH_CONTROL) : 0;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        if (!s->arms[i].dead) {
            sum += expected_wall(s, i, ETP_LAUNCH_TIMED);
            sum += s->plan->trace ? expected_wall(s, i, ETP_LAUNCH_TRACED) : 0;
        }
    }
    return sum;
}

static void show_progress(session *s, const char *stage, const task *t)
{
    etp_session_progress *p = &s->progress;
    p->stage = stage;
    p->block = t ? t->block : 0;
    p->blocks = s->run.blocks_planned;
    p->launch = s->result->launches;
    p->launches = s->expected_launches;
    p->arm = t ? s->plan->arms[t->arm].name : NULL;
    p->kind = t ? t->kind : ETP_LAUNCH_TIMED;
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    p->elapsed_s = elapsed / 1e9;
    p->remaining_s = NAN;
    if (t && t->block > 0 && p->launches > p->launch) {
        // By the share of launches still to come, priced at what the plan expects of them.
        uint32_t per_block = s->plan->n_arms * (s->plan->trace ? 2 : 1);
        double each = (double)expected_block_ns(s, false) / per_block;
        p->remaining_s = (p->launches - p->launch) * each / 1e9;
        if (s->plan->budget_s > 0) {
            p->remaining_s = fmin(p->remaining_s, fmax(s->plan->budget_s - p->elapsed_s, 0));
        }
    }
    if (s->hooks->progress) {
        s->hooks->progress(s->hooks->ctx, p);
    }
}

static void note(session *s, const char *id, const char *text)
{
    for (size_t i = 0; i < s->run.n_notes; i++) {
        if (etp_str_eqz(s->run.notes[i].id, id)) {
            return;
        }
    }
    if (s->run.n_notes < sizeof s->run.notes / sizeof *s->run.notes) {
        s->run.notes[s->run.n_notes].id = etp_str_from(id);
        s->run.notes[s->run.n_notes++].text = etp_str_from(text);
    }
}

// ---- what a launch left ----

static const char *log_name(session *s, const task *t, bool lost)
{
    etp_arena *arena = &s->block_arena;
    const etp_run_arm *arm = &s->run.arms.items[t->arm];
    if (!lost) {
        return etp_run_dump_name(arena, arm, t->block, ".log");
    }
    const char *suffix = etp_arena_printf(arena, "_%s_lost.log", etp_launch_kind_name(t->kind));
    return suffix ? etp_run_dump_name(arena, arm, t->block, suffix) : NULL;
}

static etp_status keep_log(session *s, const task *t, const etp_launch_outcome *o, etp_error *err)
{
    const char *name = log_name(s, t, !o->ok);
    const char *path = name ? etp_run_path(&s->block_arena, s->config->dir, etp_str_from(name)) : NULL;
    return path ? etp_os_write_atomic(path, o->log, err) : etp_fail_nomem(err, "a log");
}

// A trace is there, of a bearable size, and begins like one (with or without a size in front).
static bool is_dump(const char *path, char *why, size_t why_cap)
{
    etp_error err;
    etp_file file;
    if (etp_file_open(path, DUMP_LIMIT, &file, &err) != ETP_OK) {
        snprintf(why, why_cap, "its trace: %s", err.msg);
        return false;
    }
    bool ok = file.bytes.len >= 12 && (memcmp(file.bytes.ptr + 4, "ED00", 4) == 0 ||
                                       memcmp(file.bytes.ptr + 8, "ED00", 4) == 0);
    if (!ok) {
        snprintf(why, why_cap, "its trace is no ETDump (%zu bytes)", file.bytes.len);
    }
    etp_file_close(&file);
    return ok;
}

static etp_status take_dump(session *s, const task *t, const char *remote, etp_launch_outcome *o,
                            etp_error *err)
{
    const char *name = etp_run_dump_name(&s->block_arena, &s->run.arms.items[t->arm], t->block,
                                         ".etdump");
    const char *path = name ? etp_run_path(&s->block_arena, s->config->dir, etp_str_from(name)) : NULL;
    if (!path) {
        return etp_fail_nomem(err, "a trace");
    }
    etp_error pull_err;
    char why[600];
    if (s->device->ops->pull(s->device, remote, path, &pull_err) != ETP_OK) {
        snprintf(why, sizeof why, "its trace is missing: %s", pull_err.msg);
    } else if (is_dump(path, why, sizeof why)) {
        return etp_os_sync(path, err);
    }
    o->ok = false;
    o->reason = ETP_LOST_FILE;
    o->detail = etp_arena_printf(&s->block_arena, "%s", why);
    return etp_os_unlink(path, err);
}

static void take_outputs(session *s, const task *t, const char *remote)
{
    etp_error err;
    const char *name = etp_run_outputs_name(&s->block_arena, &s->run.arms.items[t->arm]);
    const char *path = name ? etp_run_path(&s->block_arena, s->config->dir, etp_str_from(name)) : NULL;
    if (path && s->device->ops->pull(s->device, remote, path, &err) == ETP_OK) {
        s->arms[t->arm].has_outputs = true;
    } else {
        say(s, "outputs of %s could not be kept: %s", s->plan->arms[t->arm].name,
            path ? err.msg : "out of memory");
    }
}

static etp_status record_launch(session *s, const task *t, const etp_launch_outcome *o,
                                etp_error *err)
{
    static const etp_phase k_phase_of[] = {ETP_PHASE_TIMED, ETP_PHASE_TRACED, ETP_PHASE_CONTROL,
                                           ETP_PHASE_SAMPLED};
    for (uint64_t i = 0; i < o->n_warmup + o->n_iterations; i++) {
        etp_run_sample row = {.arm = t->arm,
                              .block = t->block,
                              .launch = s->next_launch,
                              .iteration = (uint32_t)i,
                              .phase = i < o->n_warmup ? ETP_PHASE_WARMUP : k_phase_of[t->kind],
                              .start_ns = o->iterations[i].start_ns,
                              .duration_ns = o->iterations[i].ns};
        if (!ETP_PUSH(&s->block_arena, &s->samples, row)) {
            return etp_fail_nomem(err, "samples");
        }
    }
    etp_run_launch l = o->record;
    l.arm = t->arm;
    l.block = t->block;
    l.launch = s->next_launch;
    l.position = t->position;
    l.kind = t->kind;
    return ETP_PUSH(&s->block_arena, &s->launches, l) ? ETP_OK : etp_fail_nomem(err, "launches");
}

static etp_status record_loss(session *s, const task *t, const etp_launch_outcome *o,
                              uint32_t attempt, etp_error *err)
{
    const char *detail = etp_arena_printf(&s->arena, "%s", o->detail ? o->detail : "");
    etp_run_lost l = {.arm = t->arm,
                      .block = t->block,
                      .launch = s->next_launch,
                      .kind = t->kind,
                      .reason = o->reason,
                      .attempt = attempt,
                      .detail = etp_str_from(detail)};
    if (!detail || !ETP_PUSH(&s->arena, &s->run.lost, l)) {
        return etp_fail_nomem(err, "lost launches");
    }
    return ETP_OK;
}

// ---- one launch ----

// What the runner says about model, method or inputs is not going to change by trying again.
static etp_status status_of_code(const char *code)
{
    static const struct {
        const char *code;
        etp_status status;
    } k_codes[] = {{"usage", ETP_USAGE},       {"level", ETP_ENVIRONMENT},
                   {"mask", ETP_ENVIRONMENT},  {"file", ETP_IO},
                   {"not_pte", ETP_CORRUPT},   {"data", ETP_CORRUPT},
                   {"method", ETP_USAGE},      {"input", ETP_USAGE},
                   {"load", ETP_UNSUPPORTED},  {"kind", ETP_ENVIRONMENT}};
    for (size_t i = 0; i < sizeof k_codes / sizeof *k_codes; i++) {
        if (strcmp(code, k_codes[i].code) == 0) {
            return k_codes[i].status;
        }
    }
    return ETP_OK;
}

static etp_status make_request(session *s, const task *t, bool pilot, etp_launch_request *q,
                               etp_error *err)
{
    arm_state *arm = &s->arms[t->arm];
    bool traced = t->kind == ETP_LAUNCH_TRACED;
    *q = (etp_launch_request){
        .arm = &s->plan->arms[t->arm],
        .model = arm->model,
        .data = s->data,
        .inputs = s->plan->inputs,
        .method = s->plan->method,
        .cpus = s->plan->cpus,
        .kind = t->kind,
        .warmup = arm->counts.warmup,
        .iterations = traced ? arm->counts.traced : arm->counts.iterations,
        .expected_iteration_ns = arm->counts.iteration_ns,
        .timeout_ns = s->plan->timeout_ns,
        .cpu = &s->plan->cpu.cpu,
        .interrupted = interrupted,
        .interrupted_ctx = s,
    };
    if (pilot) {
        q->warmup = 0;
        q->pilot_warmup_ns = ETP_PILOT_WARMUP_NS;
        q->iterations = ETP_PILOT_ITERATIONS;
        return ETP_OK;
    }
    if (traced) {
        ETP_TRY(s->device->ops->scratch(s->device, "trace.etdump", &s->block_arena, &q->dump, err));
    }
    if (!arm->has_outputs && t->kind == (s->plan->trace ? ETP_LAUNCH_TRACED : ETP_LAUNCH_TIMED)) {
        ETP_TRY(s->device->ops->scratch(s->device, "outputs", &s->block_arena, &q->outputs, err));
    }
    return ETP_OK;
}

static void add_up(session *s, const task *t, const etp_launch_outcome *o)
{
    etp_session_result *r = s->result;
    r->launches++;
    r->launch_wall_ns += o->record.wall_ns;
    s->wait_ns += o->record.wait_ns == UINT64_MAX ? 0 : o->record.wait_ns;
    if (t->kind == ETP_LAUNCH_TIMED && t->block > 0 && o->ok) {
        r->timed_wall_ns += o->record.wall_ns;
        for (uint64_t i = 0; i < o->n_iterations; i++) {
            r->timed_ns += o->iterations[o->n_warmup + i].ns;
        }
    }
}

// Launches and keeps what comes of it. *ok: the arm has this launch. Errors end the session.
static etp_status launch_task(session *s, const task *t, bool pilot, uint32_t attempt,
                              etp_launch_outcome *o, etp_error *err)
{
    arm_state *arm = &s->arms[t->arm];
    etp_launch_request q;
    ETP_TRY(make_request(s, t, pilot, &q, err));
    show_progress(s, pilot ? "pilot" : "block", t);
    s->next_launch++;
    ETP_TRY(etp_launch_run(s->device, &q, &s->block_arena, o, err));
    add_up(s, t, o);
    if (o->interrupted) {
        return ETP_OK;
    }
    if (o->ok && q.dump) {
        ETP_TRY(take_dump(s, t, q.dump, o, err));
    }
    if (o->ok && q.outputs) {
        take_outputs(s, t, q.outputs);
    }
    if (!pilot && (q.dump || !o->ok)) {
        ETP_TRY(keep_log(s, t, o, err));
    }
    if (!o->ok) {
        ETP_TRY(record_loss(s, t, o, attempt, err));
        etp_status fatal = arm->succeeded ? ETP_OK : status_of_code(o->code);
        if (fatal != ETP_OK) {
            return etp_fail(err, fatal, "%s", o->detail);
        }
        say(s, "%s: %s launch lost (%s): %s", s->plan->arms[t->arm].name,
            etp_launch_kind_name(t->kind), etp_lost_reason_name(o->reason), o->detail);
    }
    arm->succeeded = arm->succeeded || o->ok;
    return pilot || !o->ok ? ETP_OK : record_launch(s, t, o, err);
}

// A start that failed for want of memory or processes may work a moment later; it is the one loss
// that says nothing about the arm.
static etp_status launch_again(session *s, const task *t, etp_launch_outcome *o, etp_error *err)
{
    ETP_TRY(launch_task(s, t, false, 1, o, err));
    if (o->ok || o->interrupted || o->reason != ETP_LOST_START) {
        return ETP_OK;
    }
    size_t lost = s->run.lost.n - 1;
    etp_os_sleep_ns(500000000);
    ETP_TRY(launch_task(s, t, false, 2, o, err));
    s->run.lost.items[lost].recovered = o->ok;
    return ETP_OK;
}

// ---- pilot ----

static uint32_t living(const session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        n += !s->arms[i].dead;
    }
    return n;
}

// Can a comparison still come of it?
static bool worth_going_on(const session *s)
{
    return !s->arms[s->plan->baseline].dead && living(s) >= (s->plan->n_arms > 1 ? 2u : 1u);
}

static etp_status give_up_error(const session *s, etp_error *err)
{
    const etp_run_lost *l = s->run.lost.n > 0 ? &s->run.lost.items[s->run.lost.n - 1] : NULL;
    if (!l) {
        return etp_fail(err, ETP_INTERNAL, "no arm left");
    }
    return etp_fail(err, ETP_CHILD, "%s cannot be measured (%s): %.*s", s->plan->arms[l->arm].name,
                    etp_lost_reason_name(l->reason), ETP_STR_ARG(l->detail));
}

static etp_status pilot_arm(session *s, uint32_t arm, etp_error *err)
{
    const task t = {.arm = arm, .kind = ETP_LAUNCH_TIMED};
    etp_launch_outcome o;
    for (uint32_t attempt = 1; attempt <= 2; attempt++) {
        ETP_TRY(launch_task(s, &t, true, attempt, &o, err));
        if (o.interrupted) {
            return ETP_OK;
        }
        if (o.ok) {
            double *scratch = ETP_NEW_ARRAY(&s->block_arena, double, o.n_iterations + 1);
            if (!scratch) {
                return etp_fail_nomem(err, "the pilot");
            }
            s->arms[arm].counts = etp_pilot_counts(s->plan, &o, scratch);
            if (attempt == 2) {
                s->run.lost.items[s->run.lost.n - 1].recovered = true;
            }
            return ETP_OK;
        }
    }
    s->arms[arm].dead = true;
    return ETP_OK;
}

static etp_status run_pilot(session *s, etp_error *err)
{
    for (uint32_t i = 0; i < s->plan->n_arms && interrupted(s) == 0; i++) {
        if (!etp_pilot_needed(s->plan)) {
            s->arms[i].counts = etp_pilot_fixed(s->plan);
        } else {
            ETP_TRY(pilot_arm(s, i, err));
        }
        etp_run_arm *arm = &s->run.arms.items[i];
        arm->warmup = s->arms[i].counts.warmup;
        arm->iterations = s->arms[i].counts.iterations;
        arm->traced = s->plan->trace ? s->arms[i].counts.traced : 0;
    }
    etp_arena_dispose(&s->block_arena);
    return worth_going_on(s) || interrupted(s) != 0 ? ETP_OK : give_up_error(s, err);
}

// ---- blocks ----

typedef struct block_order {
    uint32_t *arms; // n_arms
    int control;    // position among them, −1 none
} block_order;

static etp_status order_block(session *s, uint32_t block, block_order *out, etp_error *err)
{
    uint32_t n = s->plan->n_arms;
    out->arms = ETP_NEW_ARRAY(&s->block_arena, uint32_t, n);
    if (!out->arms) {
        return etp_fail_nomem(err, "a block");
    }
    etp_block_order(s->plan->seed, block, n, out->arms);
    out->control = block <= s->plan->control_blocks
                       ? (int)etp_control_position(s->plan->seed, block, n)
                       : -1;
    for (uint32_t i = 0; i < n; i++) {
        if (!ETP_PUSH(&s->arena, &s->run.order, out->arms[i])) {
            return etp_fail_nomem(err, "a block");
        }
    }
    return ETP_OK;
}

// All timed launches with the control among them, then all traced ones. LOST[arm] tells which arms
// lost their timed launch; they are spared the traced one.
static etp_status launch_block(session *s, uint32_t block, const block_order *order, bool *lost,
                               etp_error *err)
{
    uint32_t n = s->plan->n_arms, position = 0;
    etp_launch_outcome o;
    for (uint32_t i = 0; i <= n; i++) {
        if (order->control == (int)i && !s->arms[s->plan->baseline].dead) {
            const task t = {s->plan->baseline, block, position++, ETP_LAUNCH_CONTROL};
            ETP_TRY(launch_again(s, &t, &o, err));
            if (o.interrupted) {
                return ETP_OK;
            }
        }
        if (i == n || s->arms[order->arms[i]].dead) {
            continue;
        }
        const task t = {order->arms[i], block, position++, ETP_LAUNCH_TIMED};
        ETP_TRY(launch_again(s, &t, &o, err));
        if (o.interrupted) {
            return ETP_OK;
        }
        lost[t.arm] = !o.ok;
    }
    for (uint32_t i = 0; i < n && s->plan->trace; i++) {
        const task t = {order->arms[i], block, position, ETP_LAUNCH_TRACED};
        if (s->arms[t.arm].dead || lost[t.arm]) {
            continue;
        }
        position++;
        ETP_TRY(launch_again(s, &t, &o, err));
        if (o.interrupted) {
            return ETP_OK;
        }
    }
    return ETP_OK;
}

static bool block_has_loss(const session *s, uint32_t block)
{
    for (size_t i = 0; i < s->run.lost.n; i++) {
        if (s->run.lost.items[i].block == block && !s->run.lost.items[i].recovered) {
            return true;
        }
    }
    return false;
}

static void count_losses(session *s, uint32_t block, const bool *lost)
{
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        arm_state *arm = &s->arms[i];
        arm->lost_in_row = lost[i] ? arm->lost_in_row + 1 : 0;
        if (!arm->dead && arm->lost_in_row >= GIVE_UP_AFTER) {
            arm->dead = true;
            say(s, "%s: given up after %u lost blocks in a row", s->plan->arms[i].name,
                GIVE_UP_AFTER);
            note(s, "arm_given_up", "an arm lost several blocks in a row and was not launched again");
        }
    }
    s->result->blocks_lost += block_has_loss(s, block);
}

static etp_status run_block(session *s, uint32_t block, etp_error *err)
{
    s->samples.items = NULL;
    s->samples.n = s->samples.cap = 0;
    s->launches.items = NULL;
    s->launches.n = s->launches.cap = 0;
    block_order order = {.control = -1};
    ETP_TRY(order_block(s, block, &order, err));
    bool *lost = ETP_NEW_ARRAY(&s->block_arena, bool, s->plan->n_arms);
    if (!lost) {
        return etp_fail_nomem(err, "a block");
    }
    etp_block_environment e = {.block = block,
                               .order = order.arms,
                               .n_arms = s->plan->n_arms,
                               .control_position = order.control,
                               .wall_start = etp_os_wall_seconds()};
    s->device->ops->state(s->device, &e.start);
    ETP_TRY(launch_block(s, block, &order, lost, err));
    e.wall_end = etp_os_wall_seconds();
    s->device->ops->state(s->device, &e.end);
    if (etp_environment_jump_s(&e) > CLOCK_JUMP_S) {
        note(s, "clock_jump", "the wall clock moved against the steady one: sleep, or a set clock");
    }
    count_losses(s, block, lost);
    if (s->launches.n == 0) { // nothing came of it: no block
        s->run.order.n -= s->plan->n_arms;
        return ETP_OK;
    }
    const etp_str line = etp_environment_line(&s->run, &e, &s->block_arena);
    return etp_run_commit(&s->writer, s->samples.items, s->samples.n, s->launches.items,
                          s->launches.n, &line, 1, err);
}

static bool fits_budget(const session *s, uint32_t block, uint64_t measured_ns, uint32_t measured)
{
    if (s->plan->budget_s <= 0 || block == 1) {
        return true;
    }
    double each = (double)expected_block_ns(s, block <= s->plan->control_blocks);
    if (measured > 0) {
        each = fmax(each, (double)measured_ns / measured);
    }
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    return elapsed + each <= s->plan->budget_s * 1e9;
}

static etp_status run_blocks(session *s, etp_error *err)
{
    uint32_t goal = s->plan->blocks;
    uint64_t start = etp_os_now_ns();
    uint32_t tried = 0;
    for (uint32_t block = s->run.blocks_done + 1; block <= goal && interrupted(s) == 0; tried++) {
        if (!fits_budget(s, block, etp_os_now_ns() - start, tried)) {
            break;
        }
        uint32_t lost_before = s->result->blocks_lost;
        etp_status status = run_block(s, block, err);
        etp_arena_dispose(&s->block_arena);
        ETP_TRY(status);
        if (!worth_going_on(s)) {
            break;
        }
        bool lost = s->result->blocks_lost != lost_before;
        if (lost && !s->plan->blocks_exact && goal < s->plan->blocks + EXTRA_BLOCKS) {
            goal++;
        }
        // A block without any launch does not exist in the folder; its number is used again, but
        // not for ever.
        block = s->run.blocks_done + 1;
        if (tried > goal + GIVE_UP_AFTER) {
            break;
        }
    }
    return s->run.blocks_done > 0 || interrupted(s) != 0 ? ETP_OK : give_up_error(s, err);
}

// ---- beginning and end ----

static etp_status describe(session *s, etp_error *err)
{
    const etp_session_plan *p = s->plan;
    etp_run *r = &s->run;
    const etp_bundle *b = &s->device->bundle;
    char now[24];
    const char *at = etp_arena_printf(&s->arena, "%s", etp_os_utc_now(now));
    r->tool_version = ETP_STR(ETP_VERSION);
    r->generated_at = etp_str_from(at);
    r->platform = etp_str_from(s->device->info.platform);
    r->config = etp_str_from(s->config->config);
    r->command = etp_str_from(s->config->command);
    bool known = b->sdk_version[0] != '\0';
    r->executorch.version = etp_str_from(known ? b->sdk_version : p->cpu.executorch);
    r->executorch.sha = etp_str_from(b->sdk_sha);
    r->executorch.present = r->executorch.version.len > 0;
    r->device_spec = etp_str_from(s->device->info.spec);
    r->device_cpu = etp_str_from(p->cpu.text);
    r->emulated = s->device->info.emulated;
    r->seed = p->seed;
    r->blocks_planned = p->blocks;
    r->budget_s = p->budget_s;
    r->control_blocks = p->control_blocks;
    r->baseline = p->baseline;
    r->method = etp_str_from(p->method);
    r->inputs = etp_str_from(p->inputs);
    for (size_t i = 0; i < p->n_models; i++) {
        if (!ETP_PUSH(&s->arena, &r->models, p->models[i])) {
            return etp_fail_nomem(err, "the session");
        }
    }
    for (uint32_t i = 0; i < p->n_arms; i++) {
        etp_run_arm arm = {.name = etp_str_from(p->arms[i].name),
                           .level = etp_str_from(p->arms[i].level_name),
                           .threads = p->arms[i].threads,
                           .model = p->arms[i].model,
                           .runner_sha256 = etp_str_from(b->runner_sha256),
                           .prefix = etp_str_from(p->arms[i].prefix),
                           .emulated = s->device->info.emulated};
        if (!ETP_PUSH(&s->arena, &r->arms, arm)) {
            return etp_fail_nomem(err, "the session");
        }
        const char *folder = etp_run_path(&s->arena, s->config->dir, arm.name);
        if (!folder) {
            return etp_fail_nomem(err, "the session");
        }
        ETP_TRY(etp_os_mkdirs(folder, err));
    }
    return at ? etp_environment_describe(s->device, &s->arena, r, err)
              : etp_fail_nomem(err, "the session");
}

static etp_status push_files(session *s, etp_error *err)
{
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        ETP_TRY(s->device->ops->push(s->device, s->plan->model_paths[s->plan->arms[i].model],
                                     &s->arena, &s->arms[i].model, err));
    }
    return s->plan->data ? s->device->ops->push(s->device, s->plan->data, &s->arena, &s->data, err)
                         : ETP_OK;
}

static etp_status test_runner(session *s, etp_error *err)
{
    if (s->config->no_selftest) {
        return ETP_OK;
    }
    show_progress(s, "selftest", NULL);
    etp_selftest_result t;
    ETP_TRY(etp_selftest_run(s->device, s->plan, s->config->cache_dir, &s->arena, &t, err));
    s->run.selftest_ok = t.ok;
    s->run.selftest = etp_str_from(t.text);
    if (!t.ok) {
        say(s, "self-test of the runner: %s", t.text);
    }
    return ETP_OK;
}

static etp_status measure(session *s, etp_error *err)
{
    ETP_TRY(describe(s, err));
    ETP_TRY(etp_run_begin(s->config->dir, &s->arena, &s->run, &s->writer, err));
    s->writing = true;
    ETP_TRY(push_files(s, err));
    ETP_TRY(test_runner(s, err));
    uint32_t per_block = s->plan->n_arms * (s->plan->trace ? 2 : 1);
    s->expected_launches = s->plan->blocks * per_block +
                           (s->plan->control_blocks < s->plan->blocks ? s->plan->control_blocks
                                                                      : s->plan->blocks) +
                           (etp_pilot_needed(s->plan) ? s->plan->n_arms : 0);
    ETP_TRY(run_pilot(s, err));
    return interrupted(s) != 0 ? ETP_OK : run_blocks(s, err);
}

// Other work on the machine is the commonest reason of noise, and the one the user can end.
static void judge_contention(session *s)
{
    if (s->result->launch_wall_ns == 0) {
        return;
    }
    double share = (double)s->wait_ns / (double)s->result->launch_wall_ns;
    if (share > CONTENDED_SHARE) {
        const char *text = etp_arena_printf(&s->arena,
                                            "the runner waited for a free CPU during %.0f %% of its "
                                            "time: other work is running on this machine",
                                            100 * share);
        note(s, "cpu_contended", text ? text : "the runner had to wait for a free CPU");
    }
}

// Nothing was measured and nothing will be, whatever the machine: a mistyped method or a broken model
// should not cost the user a numbered folder.
static void remove_folder(session *s)
{
    static const char *const k_files[] = {ETP_RUN_MANIFEST, ETP_RUN_SAMPLES, ETP_RUN_ENVIRONMENT};
    etp_status ignored = ETP_OK;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        const char *path = etp_run_path(&s->arena, s->config->dir, s->run.arms.items[i].name);
        ignored = path ? etp_os_remove_tree(path, NULL) : ETP_NOMEM;
    }
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        const char *path = etp_run_path(&s->arena, s->config->dir, etp_str_from(k_files[i]));
        ignored = path ? etp_os_unlink(path, NULL) : ETP_NOMEM;
    }
    ignored = etp_os_rmdir(s->config->dir, NULL);
    (void)ignored; // what cannot be removed stays, and is a folder without blocks
}

static void finish_folder(session *s, etp_status *status, etp_error *err)
{
    bool hopeless = *status == ETP_USAGE || *status == ETP_CORRUPT || *status == ETP_UNSUPPORTED ||
                    *status == ETP_ENVIRONMENT;
    if (hopeless && s->run.blocks_done == 0) {
        remove_folder(s);
        return;
    }
    judge_contention(s);
    s->run.signal = s->result->signal;
    etp_error finish_err;
    etp_status finished = etp_run_finish(&s->writer, s->result->state, &finish_err);
    if (*status == ETP_OK && finished != ETP_OK) { // else the first error is the cause
        *status = finished;
        if (err) {
            *err = finish_err;
        }
    }
}

etp_status etp_session_run(etp_device *device, const etp_session_plan *plan,
                           const etp_session_config *config, const etp_session_hooks *hooks,
                           etp_session_result *out, etp_error *err)
{
    static const etp_session_hooks k_silent = {0};
    *out = (etp_session_result){0};
    session s = {.device = device,
                 .plan = plan,
                 .config = config,
                 .hooks = hooks ? hooks : &k_silent,
                 .result = out,
                 .start_ns = etp_os_now_ns()};
    s.arms = ETP_NEW_ARRAY(&s.arena, arm_state, plan->n_arms);
    etp_status status = s.arms ? measure(&s, err) : etp_fail_nomem(err, "the session");
    out->signal = interrupted(&s);
    out->state = status == ETP_OK && out->signal == 0 ? ETP_RUN_FINISHED : ETP_RUN_INTERRUPTED;
    if (s.writing) {
        finish_folder(&s, &status, err);
    }
    out->blocks = s.run.blocks_done;
    out->wall_ns = etp_os_now_ns() - s.start_ns;
    etp_arena_dispose(&s.block_arena);
    etp_arena_dispose(&s.arena);
    return status;
}
