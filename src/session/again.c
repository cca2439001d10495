// SPDX-License-Identifier: Apache-2.0
// A session with the plan of a run folder: gone on with, or repeated beside it.
#include <string.h>

#include "measure/foreign.h"
#include "os/os.h"
#include "session/session.h"

// May what the folder names be started, contacted and read? Yes when this machine made it, when it
// is trusted, or when device and runner were both named again and no file outside the folder is
// wanted but models, whose hashes are known. The one answer for everybody (docs/trust.md).
static etp_status allowed(const etp_session_options *again, const etp_run *run, etp_arena *arena,
                          etp_error *err)
{
    if (again->trust || etp_run_trusted(again->place.state_dir, run)) {
        return ETP_OK;
    }
    if (again->device && again->runner) {
        const char *outside = etp_run_outside(run, arena);
        return outside ? etp_fail(err, ETP_USAGE,
                                  "%s was not measured by you on this machine and names %.300s, "
                                  "which lies outside of it: --trust allows reading that file",
                                  again->dir, outside)
                       : ETP_OK;
    }
    const char *names = etp_run_names_used(run, arena);
    return etp_fail(
        err, ETP_USAGE,
        "%s was not measured by you on this machine, and names %s: look at its manifest.json; "
        "--trust uses what it names, --device together with --runner your own",
        again->dir, ETP_OR(names, "what to start"));
}

static etp_status two_builds(const char *a, const char *b, etp_arena *arena,
                             etp_session_plan_options *plan, const char **out_runner,
                             etp_error *err)
{
    if (!a || !b || *out_runner) {
        return etp_fail(err, ETP_USAGE, "%s",
                        !a || !b ? "--runner-a and --runner-b go together"
                                 : "--runner-a and --runner-b are the runners: leave out --runner");
    }
    // Of two levels each is what a build is said to be; else the builds are what is compared, and
    // levels or threads beside them would ask a second question of the same blocks.
    const bool said = plan->n_levels == 2;
    if (!said && (plan->n_levels > 2 || plan->n_threads > 1 || plan->baseline)) {
        return etp_fail(err, ETP_USAGE, "%s",
                        plan->baseline ? "the build of --runner-a is the baseline: leave out "
                                         "--baseline"
                                       : "two builds are compared at one level, or at two --levels "
                                         "of which A has the first and B the second, with one "
                                         "number of threads");
    }
    const char **list = ETP_NEW_ARRAY(arena, const char *, 2);
    ETP_NEED(list, err, "options");
    list[0] = a;
    list[1] = b;
    bool foreign[2];
    for (size_t i = 0; i < 2; i++) {
        if (!etp_os_is_dir(list[i]) && !etp_os_is_file(list[i])) {
            return etp_fail(err, ETP_ENVIRONMENT, "build %s does not exist", list[i]);
        }
        foreign[i] = !etp_os_is_dir(list[i]) && (said || etp_foreign_is(list[i]));
        if (said && !foreign[i]) {
            return etp_fail(err, ETP_USAGE,
                            "%s is a bundle of etprof's runner, which runs at any level: two "
                            "--levels are for two executor_runners",
                            list[i]);
        }
    }
    if (foreign[0] != foreign[1]) {
        return etp_fail(err, ETP_USAGE,
                        "%s is an executor_runner and %s is not: they take times in other ways; "
                        "give two executor_runners, or two bundles of etprof's runner",
                        list[foreign[1]], list[foreign[0]]);
    }
    plan->builds = said ? NULL : list;
    if (foreign[0]) {
        plan->runners = list;
        plan->n_runners = 2;
    } else {
        *out_runner = a;
    }
    return ETP_OK;
}

etp_status etp_session_runners(const char *runner, const char *a, const char *b, etp_arena *arena,
                               etp_session_plan_options *plan, const char **out_runner,
                               etp_error *err)
{
    *out_runner = runner;
    if (a || b) {
        return two_builds(a, b, arena, plan, out_runner, err);
    }
    if (runner && strchr(runner, ',') && !etp_os_is_file(runner) && !etp_os_is_dir(runner)) {
        *out_runner = NULL;
        // "A,B,...": executor_runners, each built for one of the levels.
        etp_str rest = etp_str_from(runner);
        struct {
            const char **items;
            size_t n, cap;
        } list = {0};
        for (etp_str one; etp_str_part(&rest, ',', &one);) {
            ETP_ADD(arena, &list, etp_arena_strdup(arena, one));
        }
        ETP_TRY(etp_arena_check(arena, err, "options"));
        for (size_t i = 0; i < list.n; i++) {
            if (!etp_os_is_file(list.items[i])) {
                return etp_fail(err, ETP_ENVIRONMENT, "build %s does not exist", list.items[i]);
            }
        }
        plan->runners = list.items;
        plan->n_runners = list.n;
        return ETP_OK;
    }
    // A folder is a bundle of etprof's own runner; of a file its bytes tell, or the tokenizer does.
    bool foreign =
        runner && !etp_os_is_dir(runner) && (plan->settings.tokenizer || etp_foreign_is(runner));
    if (foreign) {
        const char **list = ETP_NEW_ARRAY(arena, const char *, 1);
        ETP_NEED(list, err, "options");
        list[0] = runner;
        plan->runners = list;
        plan->n_runners = 1;
        *out_runner = NULL;
    }
    return ETP_OK;
}

// A finished session goes on as one that was interrupted, towards a later end.
static etp_status take_extension(const etp_session_options *again, etp_run *run, etp_error *err)
{
    const etp_settings *more = &again->plan.settings;
    bool open = more->budget_s > 0 || more->precision > 0;
    bool finished = run->state == ETP_RUN_FINISHED, asked = open || more->blocks > 0;
    if (!finished && asked) {
        return etp_fail(err, ETP_USAGE,
                        "%s is not finished and goes on with its own plan: leave out --blocks, "
                        "--budget and --precision",
                        again->dir);
    }
    if (finished && !asked) {
        return etp_fail(err, ETP_USAGE,
                        "%s is finished: say how many blocks are to be added (--blocks 10), or "
                        "repeat it with 'etprof rerun %s'",
                        again->dir, again->dir);
    }
    if (!finished) {
        return ETP_OK;
    }
    uint64_t left = ETP_LESS(ETP_MAX_BLOCKS, run->blocks_done);
    uint64_t usual = open ? left : ETP_DEFAULT_BLOCKS;
    uint64_t blocks = ETP_OR(more->blocks, usual);
    if (blocks > left || left == 0) {
        return etp_fail(err, ETP_USAGE, "%s has %u blocks: %llu more are above %d in all",
                        again->dir, run->blocks_done, (unsigned long long)blocks, ETP_MAX_BLOCKS);
    }
    // Kept in the manifest: who saw a result and then measures more has looked twice, for which the
    // intervals are widened (etp_run_was_looked_at).
    run->settings.extended = run->blocks_done;
    run->settings.blocks = run->blocks_done + blocks;
    run->settings.budget_s = more->budget_s;
    run->settings.precision = more->precision;
    run->state = ETP_RUN_INTERRUPTED;
    return ETP_OK;
}

static etp_status run_again(const etp_session_options *again, bool resume, etp_session_view *view,
                            etp_arena *arena, etp_error *err)
{
    etp_run run;
    const char *dir = again->dir;
    ETP_TRY(etp_run_open(dir, arena, &run, err));
    if (resume) {
        ETP_TRY(take_extension(again, &run, err));
    }
    ETP_TRY(allowed(again, &run, arena, err)); // before anything that it names is read
    if (resume) {
        // Blocks are added to what was recorded, or the hashes of the end would cover what was
        // edited.
        const char *altered;
        ETP_TRY(etp_run_altered(&run, arena, &altered, err));
        if (altered) {
            return etp_fail(err, ETP_CORRUPT,
                            "%s; no blocks are added, 'etprof rerun %s' measures anew", altered,
                            dir);
        }
    }
    ETP_TRY(etp_run_inputs_are(&run, arena, err)); // others would be another experiment
    etp_session_options o = *again;
    o.going_on = resume ? &run : NULL;
    o.inputs_beside = false; // the folder says which
    if (!o.device) {
        o.device = etp_arena_strdup(arena, run.device_spec);
    }
    ETP_TRY(etp_plan_options_of(&run, arena, &o.plan, err));
    const char *runner = again->runner;
    if (o.plan.builds && runner) {
        return etp_fail(err, ETP_USAGE,
                        "%s compares two builds, for which one --runner cannot stand: leave it out",
                        dir);
    }
    // Two bundles: the device is opened with the first, and each launch names its own.
    o.runner = o.plan.builds && o.plan.n_runners == 0 ? o.plan.builds[0] : runner;
    if (runner && !again->trust &&
        o.plan.n_runners > 0) { // the folder's own programs are not asked for
        o.plan.runners = NULL;
        o.plan.n_runners = 0;
        ETP_TRY(etp_session_runners(runner, NULL, NULL, arena, &o.plan, &o.runner, err));
    }
    etp_str prepared =
        etp_run_fact_of(&run, "prepare"); // blocks under other settings would be another session
    if (prepared.len > 0) {
        o.prepare = etp_arena_strdup(arena, prepared);
    }
    ETP_TRY(etp_arena_check(arena, err, dir)); // NULL would be another device
    return etp_session_run(&o, view, arena, err);
}

etp_status etp_session_run_again(const etp_session_options *again, bool resume,
                                 etp_session_view *view, etp_arena *arena, etp_error *err)
{
    ETP_TRY(etp_run_expect(again->dir, err));
    etp_os_lock lock = {0};
    if (resume) { // before it is read: what another session adds meanwhile would be cut off
        ETP_TRY(etp_run_lock(again->dir, arena, &lock, err));
    }
    etp_status st = run_again(again, resume, view, arena, err);
    etp_os_lock_release(&lock);
    return st;
}
