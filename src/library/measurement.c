// SPDX-License-Identifier: Apache-2.0
// A session for programs of others: their options and callbacks in the words of the session room.
#include <etprof/measurement.h>

#include <signal.h>
#include <stdatomic.h>

#include "base/number.h"
#include "library/sized.h"
#include "os/os.h"
#include "session/session.h"

// A lone flag is all that another thread touches; everything else belongs to the thread that runs
// it.
struct etp_measurement { // lives in its arena
    etp_arena arena;
    etp_session_options options;
    etp_measurement_callbacks callbacks;
    etp_session_view view;
    const char *resume; // run folder to go on with, NULL: a new session
    atomic_bool cancelled;
    bool begun;
};

static etp_status keep_numbers(etp_measurement *m, const etp_measurement_options *o, etp_error *err)
{
    static const char *const k_names[] = {"budget_s", "precision", "timeout_s"};
    const double ratios[] = {o->budget_s, o->precision, o->timeout_s};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        // Written so that a NAN is refused too.
        if (!(ratios[i] >= 0) || ratios[i] > 1e9) {
            return etp_fail(err, ETP_USAGE, "%s is %s, not a number from 0 on", k_names[i],
                            ETP_DIGITS(ratios[i], 6));
        }
    }
    etp_settings *set = &m->options.plan.settings;
    set->blocks = o->blocks;
    set->budget_s = o->budget_s;
    set->precision = o->precision;
    set->warmup = o->warmup;
    set->iterations = o->iterations;
    set->seed = o->seed;
    set->no_trace = o->no_trace;
    set->kernels = o->kernels;
    set->cold_loads = o->cold_loads;
    // The tool samples unasked where that costs little; a program gets exactly what it asked for.
    set->no_kernels = !o->kernels;
    ETP_TRY(etp_settings_check(set, err));
    m->options.timeout = o->timeout_s;
    m->options.exact = o->exact_folder;
    m->options.inputs_beside = true;
    m->options.trust = o->trust;
    return ETP_OK;
}

static etp_status take(etp_measurement *m, const etp_measurement_options *given,
                       const etp_measurement_callbacks *callbacks, etp_error *err)
{
    etp_measurement_options o;
    ETP_TRY(etp_options_take(&o, sizeof o, ETP_SIZE_TO(etp_measurement_options, android_serial),
                             given, "etp_measurement_options", err));
    ETP_TRY(etp_options_take(&m->callbacks, sizeof m->callbacks,
                             ETP_SIZE_TO(etp_measurement_callbacks, message), callbacks,
                             "etp_measurement_callbacks", err));
    // Copies are not looked at one by one: the check at the end finds any that could not be had.
    etp_arena *arena = &m->arena;
    etp_session_plan_options *plan = &m->options.plan;
    if (o.n_models == 0 && !o.resume) {
        return etp_fail(err, ETP_USAGE, "no model to measure");
    }
    // Blocks that were measured under another plan could not be paired with those to come.
    if (o.resume &&
        (o.n_models || o.n_levels || o.n_threads || o.blocks || o.seed || o.folder || o.baseline)) {
        return etp_fail(err, ETP_USAGE,
                        "%s goes on with its own plan: models, levels, threads, blocks, seed, "
                        "baseline and folder are those it has",
                        o.resume);
    }
    if (o.n_threads > 0 && !o.threads) {
        return etp_fail(err, ETP_USAGE, "%zu thread counts and no list of them", o.n_threads);
    }
    ETP_TRY(etp_keep_list(arena, o.models, o.n_models, "model", &plan->models, err));
    ETP_TRY(etp_keep_list(arena, o.levels, o.n_levels, "level", &plan->levels, err));
    uint32_t *threads = ETP_NEW_ARRAY(arena, uint32_t, o.n_threads);
    ETP_NEED(threads, err, "measurement");
    if (o.n_threads) {
        memcpy(threads, o.threads, o.n_threads * sizeof *threads);
    }
    plan->threads = threads;
    plan->n_models = o.n_models;
    plan->n_levels = o.n_levels;
    plan->n_threads = o.n_threads;
    ETP_TRY(keep_numbers(m, &o, err));
    etp_session_options *s = &m->options;
    etp_settings *set = &s->plan.settings;
    etp_place *place = &s->place;
    // The runner is looked for beside the shared library, as the tool looks for it beside itself.
    place->program = etp_os_library_path(arena);
    s->plan.baseline = etp_keep(arena, o.baseline);
    s->device = etp_keep(arena, o.device);
    s->runner = etp_keep(arena, o.runner);
    s->dir = etp_keep(arena, o.folder);
    m->resume = etp_keep(arena, o.resume);
    set->method = etp_keep(arena, o.method);
    set->inputs = etp_keep(arena, o.inputs);
    set->data = etp_keep(arena, o.data);
    set->cpus = etp_keep(arena, o.cpus);
    place->work_dir = etp_keep(arena, ETP_OR(o.work_dir, ".etprof/work"));
    place->state_dir = etp_keep(arena, o.state_dir);
    place->search_path = etp_keep(arena, o.search_path);
    place->qemu = etp_keep(arena, o.qemu);
    place->ssh_config = etp_keep(arena, o.ssh_config);
    place->android_serial = etp_keep(arena, o.android_serial);
    return etp_arena_check(arena, err, "measurement");
}

etp_status etp_measurement_create(const etp_measurement_options *options,
                                  const etp_measurement_callbacks *callbacks, etp_measurement **out,
                                  etp_error *err)
{
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for the measurement");
    }
    *out = NULL;
    etp_arena arena = {0};
    etp_measurement *m = ETP_NEW(&arena, etp_measurement);
    ETP_NEED(m, err, "measurement");
    m->arena = arena;
    atomic_init(&m->cancelled, false);
    etp_status st = take(m, options, callbacks, err);
    if (st != ETP_OK) {
        etp_measurement_destroy(m);
        return st;
    }
    *out = m;
    return ETP_OK;
}

// The session's own struct may change between versions; programs see the public one, which says its
// size.
static void on_progress(void *ctx, const etp_session_view *p)
{
    const etp_measurement *m = ctx;
    const etp_measurement_progress told = {
        .struct_size = sizeof told,
        .stage = etp_str_from(p->stage),
        .arm = etp_str_from(p->arm),
        .launch_kind = etp_str_from(p->planned_blocks ? etp_launch_kind_name(p->kind) : NULL),
        .block = p->block,
        .blocks = p->planned_blocks,
        .launch = p->launches,
        .launches = p->expected_launches,
        .elapsed_s = p->elapsed_s,
        .remaining_s = p->remaining_s,
    };
    m->callbacks.progress(m->callbacks.ctx, &told);
}

static void on_message(void *ctx, const char *text)
{
    const etp_measurement *m = ctx;
    m->callbacks.message(m->callbacks.ctx, etp_str_from(text));
}

// The manifest says what would have ended the tool: cancelling is the program's SIGINT.
static int on_interrupted(void *ctx)
{
    etp_measurement *m = ctx;
    return atomic_load(&m->cancelled) ? SIGINT : 0;
}

etp_status etp_measurement_run(etp_measurement *m, etp_error *err)
{
    if (!m || m->begun) {
        return etp_fail(err, ETP_USAGE, m ? "a measurement runs once" : "no measurement");
    }
    m->begun = true;
    // Before anything is opened: a device that nobody wants any more is not even contacted.
    if (atomic_load(&m->cancelled)) {
        return etp_fail(err, ETP_INTERRUPTED, "cancelled before it began");
    }
    m->view = (etp_session_view){
        .ctx = m,
        .progress = m->callbacks.progress ? on_progress : NULL,
        .message = m->callbacks.message ? on_message : NULL,
        .interrupted = on_interrupted,
    };
    if (!m->resume) {
        return etp_session_run(&m->options, &m->view, &m->arena, err);
    }
    // What the plan holds was refused when the measurement was created; these are all that may
    // differ.
    etp_session_options again = m->options;
    again.dir = m->resume;
    return etp_session_run_again(&again, true, &m->view, &m->arena, err);
}

// A store and nothing else, so that a signal handler may call it. The session asks for the flag
// between launches and while it waits for one.
void etp_measurement_cancel(etp_measurement *m)
{
    if (m) {
        atomic_store(&m->cancelled, true);
    }
}

etp_status etp_measurement_about(const etp_measurement *m, etp_measurement_summary *out,
                                 etp_error *err)
{
    if (!m) {
        return etp_fail(err, ETP_USAGE, "no measurement");
    }
    const etp_session_view *r = &m->view;
    const etp_measurement_summary result = {
        .folder = etp_str_from(r->dir),
        .stopped = etp_str_from(etp_run_stop_name(r->stopped)),
        // A cancel that came after the last block did not end the session, but was still asked for.
        .cancelled = r->signal != 0 || atomic_load(&m->cancelled),
        .restored = !r->not_restored,
        .blocks = r->blocks,
        .blocks_lost = r->blocks_lost,
        .launches = r->launches,
        .launches_lost = r->launches_lost,
        .wall_ns = r->wall_ns,
    };
    return etp_result_give(&result, sizeof result, ETP_SIZE_TO(etp_measurement_summary, wall_ns),
                           out, "etp_measurement_summary", err);
}

void etp_measurement_destroy(etp_measurement *m)
{
    if (m) {
        etp_arena arena = m->arena;
        etp_arena_dispose(&arena);
    }
}
