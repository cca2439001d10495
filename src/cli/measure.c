// SPDX-License-Identifier: Apache-2.0
// A measuring session as the verbs run it.
#include "cli/measure.h"
#include "cli/session_options.h"

#include <math.h>
#include <string.h>

#include "cli/run_platform.h"
#include "cli/say.h"
#include "device/clusters.h"
#include "device/prepare.h"
#include "judge/open.h"
#include "machine/roofs.h"
#include "measure/foreign.h"
#include "os/os.h"

typedef struct progress_line {
    bool shown;
    size_t width;
} progress_line;

static void clear_progress(progress_line *line)
{
    if (line->shown) {
        etp_say_again("", line->width);
        line->shown = false;
    }
}

static void on_progress(void *ctx, const etp_session_progress *p)
{
    progress_line *line = ctx;
    char text[160], left[64] = "";
    if (isfinite(p->remaining_s)) {
        snprintf(left, sizeof left, ", %.0f s left", ceil(p->remaining_s));
    }
    int n = 0;
    if (p->blocks) {
        n = snprintf(text, sizeof text, "block %u/%u  %s %s%s", p->block, p->blocks,
                     p->arm ? p->arm : "", etp_launch_kind_name(p->kind), left);
    } else {
        n = snprintf(text, sizeof text, "%s  %s%s", p->stage, p->arm ? p->arm : "", left);
    }
    size_t width = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    etp_say_again(text, line->width);
    line->width = width;
    line->shown = true;
}

static void on_message(void *ctx, const char *text)
{
    progress_line *line = ctx;
    if (line) {
        clear_progress(line);
    }
    etp_say("%s\n", text);
}

// ---- what the samples tell so far ----

// The answer itself is asked: what it would call unknown is what more samples are for.
static bool ask(const char *dir, const etp_ab_pair *pair, double times, double share[2])
{
    etp_ab_session *session = NULL;
    const etp_ab_options how = {.pair = pair};
    if (etp_ab_open(&dir, 1, &how, &session, NULL) != ETP_OK) {
        return false;
    }
    share[0] = etp_ab_engage_reach(etp_ab_answer(session), 0);
    share[1] = etp_ab_engage_reach(etp_ab_answer(session), times);
    etp_ab_close(session);
    return true;
}

static bool on_known(void *ctx, const char *dir, double times, etp_session_known *arms, size_t n)
{
    (void)ctx;
    etp_ab_session *whole = NULL;
    double share[2];
    if (etp_ab_open(&dir, 1, NULL, &whole, NULL) != ETP_OK) {
        return false;
    }
    const etp_ab *ab = etp_ab_answer(whole);
    uint32_t first = ab->engagement.arm;
    if (first < n) {
        arms[first] =
            (etp_session_known){etp_ab_engage_reach(ab, 0), etp_ab_engage_reach(ab, times)};
    }
    for (size_t i = 1; i < ab->n_comparisons; i++) { // the other candidates, as `ab` shows them
        const etp_ab_comparison *c = &ab->comparisons[i];
        const etp_ab_pair pair = {
            .whole = whole, .arms = {c->baseline, c->candidate}
        };
        if (c->candidate < n && c->candidate != first && ask(dir, &pair, times, share)) {
            arms[c->candidate] = (etp_session_known){share[0], share[1]};
        }
    }
    etp_ab_close(whole);
    return true;
}

static void say_what_happened(etp_cli *cli, const char *dir, const etp_session_result *r)
{
    if (r->signal) {
        etp_say("interrupted after %u whole blocks; everything measured is in %s\n", r->blocks,
                dir);
        etp_cli_outcome(cli, 128 + r->signal);
    } else if (!cli->quiet) {
        etp_say("measured   %u blocks, %u launches in %.1f s (%.0f %% of it inside launches)\n",
                r->blocks, r->launches, (double)r->wall_ns / 1e9,
                100 * (double)r->launch_wall_ns / (double)r->wall_ns);
    }
    if (r->blocks_lost || r->launches_lost) { // a program that failed in the pilot failed, too
        etp_cli_outcome(cli, 6);
    }
}

// Makes the folder of a new session, or takes that of a resumed one.
static etp_status folder(etp_cli *cli, const etp_measure_request *request, const char *model,
                         const char *platform, const char **out_dir, etp_error *err)
{
    if (request->resume) {
        *out_dir = request->dir;
        if (!cli->quiet) {
            etp_say("run folder %s: going on after block %u\n", request->dir,
                    request->resume->blocks_done);
        }
        return ETP_OK;
    }
    const char *wanted =
        request->dir ? request->dir : etp_run_default_dir(&cli->arena, model, platform);
    if (!wanted) {
        return etp_fail_nomem(err, "run folder");
    }
    etp_platform_claim claim = {etp_platform_of_folder(wanted), "the run folder", wanted};
    ETP_TRY(etp_platform_check(&claim, request->device, platform, err));
    ETP_TRY(etp_run_claim(wanted, request->exact, &cli->arena, out_dir, err));
    if (!cli->quiet) {
        etp_say("run folder %s%s\n", *out_dir,
                strcmp(*out_dir, wanted) == 0 ? "" : " (the name without a number is taken)");
    }
    return ETP_OK;
}

// What the device can do at most goes into the folder: measured now when that was asked for, else
// when it is known for the device's present state.
static etp_status roofs(etp_cli *cli, etp_device *device, const etp_measure_request *request,
                        const etp_session_plan *plan, etp_str *out, etp_error *err)
{
    if (device->info.emulated || request->resume) {
        return request->roofs
                   ? etp_fail(err, ETP_USAGE, "--roofs: an emulator's speed says nothing")
                   : ETP_OK;
    }
    etp_roofs_answer answer;
    if (!request->roofs) {
        if (etp_roofs_cached(device, ETP_ROOFS_CACHE, &cli->arena, &answer, NULL) != ETP_OK ||
            answer.table.n == 0) {
            return ETP_OK; // it was not asked for
        }
        return etp_roofs_document(&answer, &cli->arena, out, err);
    }
    etp_roofs_options o = {.seconds = ETP_ROOFS_SECONDS};
    for (uint32_t next = 1; next <= ETP_ROOF_THREADS_MAX && o.n_threads < ETP_ROOF_COUNTS_MAX;
         next++) {
        bool wanted = false;
        for (uint32_t i = 0; i < plan->n_arms; i++) {
            wanted = wanted || plan->arms[i].threads == next;
        }
        if (wanted) {
            o.threads[o.n_threads++] = next;
        }
    }
    ETP_TRY(etp_roofs_of(device, ETP_ROOFS_CACHE, &o, false, &cli->arena, &answer, err));
    if (!cli->quiet) {
        etp_say("roofs      %s\n",
                answer.cached
                    ? "as measured before in this state (etprof roofs --fresh measures again)"
                    : "measured");
    }
    return etp_roofs_document(&answer, &cli->arena, out, err);
}

static etp_status measure_on(etp_cli *cli, etp_device *device, const etp_measure_request *request,
                             etp_session_options *options, etp_measure_settle *settle, void *ctx,
                             const char **out_dir, etp_error *err)
{
    etp_device_cpu cpu;
    etp_session_plan plan;
    if (options->n_runners > 0) {
        ETP_TRY(etp_foreign_prepare(device, err));
        ETP_TRY(etp_foreign_probe(device, &cli->arena, &cpu, err));
    } else {
        ETP_TRY(etp_session_probe(device, options->timeout_s, &cli->arena, &cpu, err));
    }
    if (settle) {
        ETP_TRY(settle(ctx, device, &cpu, options, err));
    }
    ETP_TRY(etp_cpus_resolve(device, options->settings.cpus, &cli->arena, &options->settings.cpus,
                             err));
    ETP_TRY(etp_session_plan_make(options, device, &cpu, &cli->arena, &plan, err));
    etp_str known = ETP_STR("");
    ETP_TRY(roofs(cli, device, request, &plan, &known, err));
    ETP_TRY(folder(cli, request, options->models[0], device->info.platform, out_dir, err));
    etp_os_lock lock = {0}; // a resumed folder is locked since before it was read
    if (!request->resume) {
        ETP_TRY(etp_run_lock(*out_dir, &cli->arena, &lock, err));
    }
    progress_line line = {0};
    etp_session_config config = {.dir = *out_dir,
                                 .config = request->config,
                                 .resume = request->resume,
                                 .command = cli->command_line,
                                 .roofs = known,
                                 .state_dir = etp_cli_state(cli, NULL),
                                 .cache_dir = ".etprof/cache"};
    etp_session_hooks hooks = {
        .ctx = &line,
        .progress = cli->progress ? on_progress : NULL,
        .message = cli->quiet ? NULL : on_message,
        .plan = cli->quiet ? NULL : on_message,
        .known = on_known,
    };
    etp_session_result result = {0};
    etp_status st = etp_session_run(device, &plan, &config, &hooks, &result, err);
    etp_os_lock_release(&lock);
    clear_progress(&line);
    if (st != ETP_OK) {
        return st;
    }
    say_what_happened(cli, *out_dir, &result);
    return ETP_OK;
}

// etprof-launch of this machine lies beside etprof; else the bundle has one.
static const char *launcher_beside(etp_cli *cli)
{
    const char *exe = cli->program ? etp_os_absolute(cli->program, &cli->arena) : NULL;
    const char *slash = exe ? strrchr(exe, '/') : NULL;
    const char *path =
        slash ? etp_arena_printf(&cli->arena, "%.*s/etprof-launch", (int)(slash - exe), exe) : NULL;
    return path && etp_os_is_executable(path) ? path : NULL;
}

// Settings that an earlier session left behind are part of what is measured now.
static void warn_of_journal(etp_cli *cli, const etp_device *device)
{
    etp_arena arena = {0};
    etp_prepare_journals list;
    const char *dir = etp_cli_state(cli, ETP_PREPARE_DIR);
    if (dir && etp_prepare_list(dir, &arena, &list, NULL) == ETP_OK) {
        for (size_t i = 0; i < list.n && !cli->quiet; i++) {
            if (strcmp(list.items[i].spec, device->info.spec) == 0) {
                etp_say("%s still has the settings of an earlier session (--prepare %s); "
                        "'etprof devices restore' undoes them\n",
                        device->info.spec, list.items[i].mode);
            }
        }
    }
    etp_arena_dispose(&arena);
}

static etp_status prepare(etp_cli *cli, etp_device *device, const char *mode, etp_error *err)
{
    if (!mode) {
        warn_of_journal(cli, device);
        return ETP_OK;
    }
    bool undone;
    const char *dir = etp_cli_state(cli, ETP_PREPARE_DIR);
    if (!dir) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "--prepare notes in your home what it changes, and there is none: set HOME "
                        "or XDG_STATE_HOME");
    }
    ETP_TRY(etp_device_prepare(device, mode, dir, &undone, err));
    if (undone && !cli->quiet) {
        etp_say("the settings that an earlier session had left on %s were restored first\n",
                device->info.spec);
    }
    return ETP_OK;
}

// On every way out. The measurement counts, so that a failure here is a message and an exit code.
static void restore(etp_cli *cli, etp_device *device)
{
    etp_error why;
    if (etp_device_restore(device, &why) != ETP_OK) {
        etp_say("the settings of %s could not be restored (%s): run 'etprof devices restore' here "
                "when it is back\n",
                device->info.spec, why.msg);
        etp_cli_outcome(cli, 5);
    }
}

etp_status etp_measure_open(etp_cli *cli, const char *spec, const char *runner, double timeout_s,
                            etp_device **out, etp_error *err)
{
    etp_device_options how = {
        .spec = spec,
        .runner = runner ? runner : cli->env_runner,
        .qemu = cli->env_qemu,
        .ssh_config = cli->env_ssh_config,
        .android_serial = cli->env_android_serial,
        .search_path = cli->env_path,
        .program = cli->program,
        .timeout_s = timeout_s,
        .work_root = etp_cli_work(cli),
    };
    return etp_device_open(&how, out, err);
}

etp_status etp_measure(etp_cli *cli, const etp_measure_request *request,
                       etp_session_options *options, etp_measure_settle *settle, void *ctx,
                       const char **out_dir, etp_error *err)
{
    ETP_TRY(etp_os_catch_signals(err));
    const char *mode =
        request->prepare && strcmp(request->prepare, "none") != 0 ? request->prepare : NULL;
    if (mode) {
        ETP_TRY(etp_prepare_mode(mode, err));
    }
    const char *launcher = launcher_beside(cli);
    bool local = !request->device || strcmp(request->device, "local") == 0;
    const char *runner = request->runner;
    if (options->n_runners > 0) { // the device needs no runner of ours
        runner = local ? launcher : NULL;
    }
    etp_device *device = NULL;
    ETP_TRY(etp_measure_open(cli, request->device, runner, options->timeout_s, &device, err));
    etp_status st = prepare(cli, device, mode, err);
    if (st == ETP_OK) {
        st = measure_on(cli, device, request, options, settle, ctx, out_dir, err);
    }
    restore(cli, device);
    etp_device_close(device);
    return st;
}

const char *etp_cli_work(etp_cli *cli)
{
    static const char k_here[] = ".etprof/work";
    const char *elsewhere = etp_os_is_writable(".") ? NULL : etp_cli_state(cli, "work");
    return elsewhere ? elsewhere : k_here;
}

const char *etp_cli_state(etp_cli *cli, const char *below)
{
    const char *end = below ? below : "";
    bool own =
        cli->env_state && cli->env_state[0] == '/'; // the rule of XDG: relative ones do not count
    if (!own && !(cli->env_home && cli->env_home[0] == '/')) {
        return NULL;
    }
    return etp_arena_printf(&cli->arena, "%s%s/etprof%s%s", own ? cli->env_state : cli->env_home,
                            own ? "" : "/.local/state", end[0] ? "/" : "", end);
}

etp_status etp_measure_allowed(etp_cli *cli, const etp_measure_again_request *again,
                               const etp_run *run, etp_error *err)
{
    if (again->trust || (again->device && again->runner) ||
        etp_run_trusted(etp_cli_state(cli, NULL), run)) {
        return ETP_OK;
    }
    const char *wishes = etp_run_wishes(run, &cli->arena);
    return etp_fail(
        err, ETP_USAGE,
        "%s was not measured by you on this machine, and names %s: look at its manifest.json; "
        "--trust uses what it names, --device together with --runner your own",
        again->dir, wishes ? wishes : "what to start");
}

static etp_status measure_again(etp_cli *cli, const etp_measure_again_request *again,
                                const char **out_dir, etp_error *err)
{
    etp_run run;
    const char *dir = again->dir;
    ETP_TRY(etp_run_open(dir, &cli->arena, &run, err));
    if (again->resume && run.state == ETP_RUN_FINISHED) {
        return etp_fail(err, ETP_USAGE,
                        "%s is finished: nothing to resume; 'etprof rerun' repeats it", dir);
    }
    ETP_TRY(etp_measure_allowed(cli, again, &run, err));
    etp_session_options options;
    ETP_TRY(etp_session_options_of(&run, &cli->arena, &options, err));
    options.timeout_s = again->timeout_s;
    etp_measure_request request = {
        .device = again->device ? again->device : etp_arena_strdup(&cli->arena, run.device_spec),
        .runner = again->runner,
        .dir = dir,
        .resume = again->resume ? &run : NULL,
    };
    if (again->runner && !again->trust &&
        options.n_runners > 0) { // the folder's own programs are not asked for
        options.runners = NULL;
        options.n_runners = 0;
        const char *left = NULL;
        ETP_TRY(etp_foreign_option(cli, again->runner, NULL, NULL, &options, &left, err));
        request.runner = left;
    }
    etp_str prepared =
        etp_run_fact_of(&run, "prepare"); // blocks under other settings would be another session
    if (prepared.len > 0) {
        request.prepare = etp_arena_strdup(&cli->arena, prepared);
    }
    return request.device ? etp_measure(cli, &request, &options, NULL, NULL, out_dir, err)
                          : etp_fail_nomem(err, dir);
}

etp_status etp_measure_again(etp_cli *cli, const etp_measure_again_request *again,
                             const char **out_dir, etp_error *err)
{
    if (!etp_run_is(again->dir)) {
        return etp_fail(err, ETP_USAGE, "%s is no run folder (no manifest.json of etprof in it)",
                        again->dir);
    }
    etp_os_lock lock = {0};
    if (again->resume) { // before it is read: what another session adds meanwhile would be cut off
        ETP_TRY(etp_run_lock(again->dir, &cli->arena, &lock, err));
    }
    etp_status st = measure_again(cli, again, out_dir, err);
    etp_os_lock_release(&lock);
    return st;
}
