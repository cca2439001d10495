// SPDX-License-Identifier: Apache-2.0
// From a config of Arm's kit to a session: which experiments, which runner, which device, and
// which levels stand for the names.
#include "session/experiments.h"

#include <string.h>

#include "base/path.h"
#include "base/suggest.h"
#include "isa/isa.h"
#include "os/os.h"
#include "session/platform.h"

// An experiment is one arm, or one for each of its thread counts. `arms` are experiments; `names`
// has all arms that come of them, in the order of the plan.
struct etp_experiments {
    const etp_config *config;
    const char *const *only; // names of those that are wanted; none: all
    size_t n_only;
    etp_session_view view;
    etp_arena *arena;
    // timing first; each is models × levels × threads
    const etp_config_experiment *arms[ETP_CONFIG_EXPERIMENTS];
    size_t n_arms;
    bool kernels;    // an xnntrace experiment wants to know which kernels ran
    bool trace_only; // nothing but such experiments
    const char *names[ETP_CONFIG_EXPERIMENTS * ETP_CONFIG_THREADS];
    const char *levels[ETP_CONFIG_EXPERIMENTS];
    const char *runners[ETP_CONFIG_EXPERIMENTS]; // executor_runners of the config, one per arm
    size_t n_runners;
    const char *model;
    etp_expected_platform expected; // what names say about where this is measured
};

// TEXT is NULL when memory ran out, which who uses the arena is told.
static void say(const etp_experiments *p, const char *topic, const char *text)
{
    const char *line = text ? etp_arena_printf(p->arena, "%-10s %s", topic, text) : NULL;
    if (line && p->view.message) {
        p->view.message(p->view.ctx, line);
    }
}

static bool is_wanted(const etp_experiments *p, const char *name)
{
    for (size_t i = 0; i < p->n_only; i++) {
        if (strcmp(p->only[i], name) == 0) {
            return true;
        }
    }
    return p->n_only == 0;
}

// A name that was mistyped would leave its experiment out without a word.
static etp_status check_only(const etp_experiments *p, etp_error *err)
{
    const etp_config *c = p->config;
    const char *names[ETP_CONFIG_EXPERIMENTS + 1] = {0};
    const char *list = "";
    for (size_t i = 0; i < c->experiments.n; i++) {
        names[i] = c->experiments.items[i].name;
        list = etp_arena_printf(p->arena, "%s%s%s", list, i ? ", " : "", names[i]);
    }
    ETP_TRY(etp_arena_check(p->arena, err, "names"));
    for (size_t i = 0; i < p->n_only; i++) {
        bool known = false;
        for (size_t k = 0; names[k]; k++) {
            known = known || strcmp(names[k], p->only[i]) == 0;
        }
        if (!known) {
            const char *near = etp_suggest(p->only[i], names);
            return etp_fail(err, ETP_USAGE, "--only: no experiment \"%s\"%s%s%s; %s has: %s",
                            p->only[i], near ? "; did you mean \"" : "", near ? near : "",
                            near ? "\"?" : "", c->path, list);
        }
    }
    return ETP_OK;
}

static bool same_role(const etp_config_experiment *a, const etp_config_experiment *b)
{
    bool levels = a->level && b->level ? strcmp(a->level, b->level) == 0 : !a->level && !b->level;
    return levels && a->role == b->role;
}

// A trace experiment beside a timing one of the same level is no arm of its own: the arm's traced
// and sampled launches are its evidence.
static etp_status choose_arms(etp_experiments *p, etp_error *err)
{
    const etp_config *c = p->config;
    // Timing first, so that each trace experiment can be held against all of them.
    for (int trace = 0; trace < 2; trace++) {
        for (size_t i = 0; i < c->experiments.n; i++) {
            const etp_config_experiment *e = &c->experiments.items[i];
            if (e->xnntrace != (trace == 1) || !is_wanted(p, e->name)) {
                continue;
            }
            p->kernels = p->kernels || e->xnntrace;
            bool covered = false;
            for (size_t k = 0; k < p->n_arms && trace; k++) {
                covered = covered || (!p->arms[k]->xnntrace && same_role(p->arms[k], e));
            }
            if (!covered) {
                p->arms[p->n_arms++] = e;
            }
        }
    }
    // Timing experiments come first: when the first one is none, there is none.
    p->trace_only = p->arms[0]->xnntrace;
    for (size_t i = 1; i < p->n_arms; i++) {
        const etp_config_experiment *a = p->arms[0], *e = p->arms[i];
        if (a->n_threads != e->n_threads ||
            memcmp(a->threads, e->threads, a->n_threads * sizeof *a->threads) != 0) {
            return etp_fail_at(
                err, ETP_UNSUPPORTED, e->at,
                "%s: \"%s\" and \"%s\" differ in threads; one session runs all its "
                "experiments with the same list: give both the same, or use two configs",
                c->path, a->name, e->name);
        }
        if ((a->cpus != NULL) != (e->cpus != NULL) || (a->cpus && strcmp(a->cpus, e->cpus) != 0)) {
            return etp_fail_at(err, ETP_UNSUPPORTED, e->at,
                               "%s: \"%s\" and \"%s\" differ in cpu_affinity; on other CPUs they "
                               "could not be compared",
                               c->path, a->name, e->name);
        }
    }
    return ETP_OK;
}

etp_status etp_experiments_choose(const etp_config *config, const etp_opt_list *only,
                                  const etp_session_view *view, etp_arena *arena,
                                  etp_experiments **out, etp_error *err)
{
    // Some ten kilobytes: not on the stack.
    etp_experiments *p = ETP_NEW(arena, etp_experiments);
    ETP_NEED(p, err, "the plan");
    *p = (etp_experiments){
        .config = config, .only = only->items, .n_only = only->n, .view = *view, .arena = arena};
    *out = p;
    ETP_TRY(check_only(p, err));
    return choose_arms(p, err);
}

// The kit's rule: executorch/<path>, then <path>. What is there is used: an executor_runner,
// started at the level when all experiments name the same, or two builds that are the switch
// themselves. Those that the names of the kit's presets promise but nobody built are replaced by
// one runner and masks.
static etp_status find_runners(etp_experiments *p, const char **out, etp_error *err)
{
    const char *first = p->arms[0]->runner_path, *missing = NULL;
    for (size_t i = 0; i < p->n_arms; i++) {
        const char *named = p->arms[i]->runner_path;
        const char *below = named ? etp_arena_printf(p->arena, "executorch/%s", named) : NULL;
        const char *path = below && (etp_os_is_file(below) || etp_os_is_dir(below)) ? below : named;
        if (!named || (!etp_os_is_file(path) && !etp_os_is_dir(path))) {
            missing = named ? named : missing;
            continue;
        }
        const char *bundle = etp_arena_printf(p->arena, "%s/bundle.json", path);
        // Ours by its name or by the bundle.json that lies in its folder; anything else is started
        // as an executor_runner.
        bool ours =
            strcmp(etp_path_name(path), "etprof-runner") == 0 || (bundle && etp_os_is_file(bundle));
        if (!ours) {
            p->runners[i] = path;
            p->n_runners++;
            continue;
        }
        if (!first || strcmp(first, named) != 0) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "%s: experiments differ in runner_path; one session has "
                            "one runner, levels come from masks",
                            p->config->path);
        }
        *out = path;
    }
    // Some arms with a build of their own and others with a mask would differ in two things at
    // once.
    if (p->n_runners > 0 && p->n_runners < p->n_arms) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s: only some experiments have a runner_path that is there%s%s: "
                        "give all of them one, or none",
                        p->config->path, missing ? "; missing is " : "", missing ? missing : "");
    }
    if (missing) {
        say(p, "runner",
            etp_arena_printf(p->arena,
                             "%s is not there: one runner of etprof's own with masks takes the "
                             "place of all",
                             missing));
    }
    return ETP_OK;
}

// TYPED: the --runner that takes the place of those of the config.
static etp_status choose_runners(etp_experiments *p, const char *typed, etp_session_options *out,
                                 etp_error *err)
{
    etp_session_plan_options *plan = &out->plan;
    if (typed) {
        return etp_session_runners(typed, NULL, NULL, p->arena, plan, &out->runner, err);
    }
    ETP_TRY(find_runners(p, &out->runner, err));
    plan->runners = p->n_runners > 0 ? p->runners : NULL;
    plan->n_runners = p->n_runners;
    return ETP_OK;
}

// "linux_sme2_on", with several thread counts "linux_sme2_on_t4".
static const char *arm_name(const etp_experiments *p, const etp_config_experiment *e,
                            uint32_t threads)
{
    return e->n_threads == 1 ? e->name : etp_arena_printf(p->arena, "%s_t%u", e->name, threads);
}

// A kit's config says SME2 in its names wherever it is run. What stands in for it is said before
// anything is measured.
static void say_arms(const etp_experiments *p, const etp_isa_cpu *cpu, const etp_isa_cpu *usable)
{
    bool stand_in = false;
    for (size_t i = 0; i < p->n_arms; i++) {
        stand_in =
            stand_in || (strstr(p->arms[i]->name, "sme2") && p->arms[i]->role != ETP_ROLE_NONE);
    }
    if (stand_in && etp_isa_best(usable) != ETP_LEVEL_SME2) {
        const bool cpu_has = etp_isa_best(cpu) == ETP_LEVEL_SME2;
        say(p, "NO SME2",
            etp_arena_printf(p->arena,
                             "this %s; other levels stand in, and nothing here is about SME2:",
                             cpu_has ? "runner's XNNPACK has no code for SME2, the CPU has it"
                                     : "CPU has no SME2"));
    }
    for (size_t i = 0; i < p->n_arms; i++) {
        say(p, "level", etp_arena_printf(p->arena, "%s = %s", p->arms[i]->name, p->levels[i]));
    }
}

// Levels and names of arms, when the processor is known.
static etp_status settle(void *experiments, const etp_device *device, const etp_device_cpu *cpu,
                         etp_session_plan_options *options, etp_error *err)
{
    etp_experiments *p = experiments;
    ETP_TRY(etp_platform_check(&p->expected, device->info.spec, device->info.platform, err));
    const etp_isa_cpu *usable = options->usable ? options->usable : &cpu->cpu;
    for (size_t i = 0; i < p->n_arms; i++) {
        const etp_config_experiment *e = p->arms[i];
        // An experiment without a level of its own has a role, and the machine decides what that is
        // here.
        etp_level level = e->role == ETP_ROLE_OFF ? etp_isa_plain(usable) : etp_isa_best(usable);
        if (!e->level && level == ETP_LEVEL_NONE) {
            return etp_fail(err, ETP_ENVIRONMENT,
                            "no level of this CPU can stand for \"%s\"; give \"level\"", e->name);
        }
        p->levels[i] = e->level ? e->level : etp_level_get(level)->name;
        for (size_t t = 0; t < e->n_threads; t++) {
            p->names[options->n_names++] = arm_name(p, e, e->threads[t]);
        }
    }
    options->names = p->names;
    options->levels = p->levels;
    options->n_levels = p->n_arms;
    say_arms(p, &cpu->cpu, usable);
    if (p->kernels && device->info.emulated) {
        options->settings.kernels = false;
        say(p, "xnntrace",
            "emulated: operator names of the traced launches are the evidence, none are sampled");
    } else if (p->kernels) {
        say(p, "xnntrace",
            "evidence: operator names of the traced launches and sampled launches; never in a "
            "latency");
    }
    return ETP_OK;
}

static const etp_config_experiment *arm_of(const etp_experiments *p, const char *name)
{
    for (size_t i = 0; i < p->n_arms; i++) {
        if (strcmp(p->arms[i]->name, name) == 0) {
            return p->arms[i];
        }
    }
    return NULL;
}

const char *etp_experiments_baseline(const etp_experiments *p)
{
    const char *baseline = NULL;
    for (size_t i = 0; i < p->config->pairs.n; i++) {
        const etp_config_pair *pair = &p->config->pairs.items[i];
        const etp_config_experiment *e = arm_of(p, pair->baseline.experiment);
        const char *name = e ? arm_name(p, e, pair->baseline.threads) : NULL;
        if (!name || !arm_of(p, pair->candidate.experiment)) {
            say(p, "pair", "a pair of compare_pairs names an experiment that is not run here");
        } else if (!baseline) {
            baseline = name;
        } else if (strcmp(baseline, name) != 0) {
            say(p, "pair",
                etp_arena_printf(p->arena,
                                 "compared with %s; for %s as the baseline: etprof analyze FOLDER "
                                 "--baseline %s",
                                 baseline, name, name));
        }
    }
    return baseline;
}

// As written from here, else beside the config.
static etp_status find_model(const etp_experiments *p, const char **model, const char **output_root,
                             etp_error *err)
{
    const etp_config *c = p->config;
    etp_str folder = etp_path_folder(c->path);
    *model = c->model;
    *output_root = c->output_root;
    if (etp_os_is_file(c->model)) {
        return ETP_OK;
    }
    const char *beside = folder.ptr && c->model[0] != '/'
                             ? etp_arena_printf(p->arena, "%.*s/%s", ETP_STR_ARG(folder), c->model)
                             : NULL;
    if (beside && etp_os_is_file(beside)) {
        *model = beside;
        return ETP_OK;
    }
    if (c->fallback_model && etp_os_is_file(c->fallback_model)) {
        say(p, "model",
            etp_arena_printf(p->arena, "%s is not there: THE FALLBACK %s IS MEASURED", c->model,
                             c->fallback_model));
        *model = c->fallback_model;
        // The fallback's times must not land in a folder that is called after the model that is
        // missing.
        *output_root = c->fallback_output_root ? c->fallback_output_root : c->output_root;
        return ETP_OK;
    }
    return etp_fail(err, ETP_IO,
                    "%s: model %s does not exist%s%s; paths start where etprof is started", c->path,
                    c->model, c->fallback_model ? ", nor does its fallback " : "",
                    c->fallback_model ? c->fallback_model : "");
}

static void set_counts(const etp_experiments *p, etp_session_plan_options *options)
{
    bool differ = false;
    for (size_t i = 0; i < p->n_arms; i++) {
        const etp_config_experiment *e = p->arms[i];
        differ = differ || e->runs != p->arms[0]->runs || e->warmup != p->arms[0]->warmup;
        options->settings.iterations =
            e->runs > options->settings.iterations ? e->runs : options->settings.iterations;
        options->settings.warmup =
            e->warmup > options->settings.warmup ? e->warmup : options->settings.warmup;
    }
    if (differ) {
        say(p, "runs",
            "experiments differ in runs or warmup; all get the largest, so that they can be "
            "compared");
    }
    if (p->trace_only && !options->settings.blocks && !(options->settings.budget_s > 0)) {
        options->settings.blocks = 1; // evidence needs no repetition, and no latency is claimed
    }
}

// What a config speaks of, with its arms and the device SPEC (NULL: none named); ETP_CORRUPT when
// they contradict each other.
static etp_status expect_platform(etp_experiments *p, const char *spec, etp_error *err)
{
    etp_expected_platform *out = &p->expected;
    const bool android = etp_device_kind_of(spec) == ETP_DEVICE_ADB; // others can be any
    // What the device can be stands first: a name that contradicts --device is then the one that is
    // complained about.
    *out = (etp_expected_platform){android ? ETP_PLATFORM_ANDROID : ETP_PLATFORM_UNKNOWN, "device",
                                   spec};
    for (size_t i = 0; i <= p->n_arms; i++) {
        bool folder = i == p->n_arms;
        const char *name = folder ? p->config->output_root : p->arms[i]->name;
        etp_platform platform = ETP_PLATFORM_UNKNOWN;
        if (name) {
            platform = folder ? etp_platform_of_folder(name) : etp_platform_of_name(name);
        }
        const char *what = folder ? "output_root" : "experiment";
        if (platform && out->platform && platform != out->platform) {
            return etp_fail(
                err, ETP_CORRUPT,
                "%s: %s \"%s\" names %s, %s \"%s\" names %s: one session is measured on one "
                "device; rename one, or make two configs",
                p->config->path, out->what, out->name, etp_platform_name(out->platform), what, name,
                etp_platform_name(platform));
        }
        if (platform && !out->platform) {
            *out = (etp_expected_platform){platform, what, name};
        }
    }
    return ETP_OK;
}

// What was named, else what the names need. This machine's platform is known before anything else
// is looked at.
static etp_status choose_device(etp_experiments *p, const char **device, etp_error *err)
{
    ETP_TRY(expect_platform(p, *device, err));
    const etp_expected_platform *expected = &p->expected;
    if (!*device && expected->platform == ETP_PLATFORM_ANDROID) {
        *device = "adb";
        say(p, "device",
            etp_arena_printf(p->arena, "%s, because %s \"%s\" names %s", *device, expected->what,
                             expected->name, etp_platform_name(expected->platform)));
    }
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    bool local = etp_device_kind_of(*device) == ETP_DEVICE_LOCAL;
    return local ? etp_platform_check(expected, *device, facts.platform, err) : ETP_OK;
}

etp_status etp_experiments_options(etp_experiments *p, const etp_session_options *typed,
                                   etp_session_options *out, etp_error *err)
{
    // Config first, then what was typed: each option that was given takes the place of the
    // config's.
    etp_session_options arguments = p->config->arguments;
    etp_session_options_override(typed, &arguments);
    etp_session_plan_options *plan = &out->plan;
    ETP_TRY(etp_session_options_of(&arguments, p->arena, out, err));
    out->config = p->config->path;
    out->settle = settle;
    out->settle_ctx = p;
    // The device before the model: a config for another platform is refused by its names, whatever
    // else is wrong with it.
    ETP_TRY(choose_device(p, &out->device, err));
    ETP_TRY(find_model(p, &p->model, &out->dir, err));
    ETP_TRY(choose_runners(p, typed->runner, out, err));
    plan->models = &p->model;
    plan->n_models = 1;
    plan->threads = p->arms[0]->threads;
    plan->n_threads = p->arms[0]->n_threads;
    plan->compare_baseline = etp_experiments_baseline(p);
    plan->settings.cpus = p->arms[0]->cpus;
    p->kernels = p->kernels && !plan->settings.no_kernels;
    set_counts(p, plan);
    if (plan->n_runners > 0 && p->kernels) { // asked for by the config, which names the runners
        p->kernels = false;
        say(p, "xnntrace",
            "operator names of the traced launches are the evidence: others' runners are not "
            "sampled");
    }
    plan->settings.kernels = plan->settings.kernels || p->kernels;
    return etp_arena_check(p->arena, err, "options");
}

etp_status etp_experiments_folder(const etp_experiments *p, const char **out, etp_error *err)
{
    const char *model = NULL, *dir = NULL;
    if (find_model(p, &model, &dir, NULL) != ETP_OK) {
        dir = p->config->output_root; // the model need not be there any more
    }
    etp_run_found found = {0};
    if (dir) { // the newest of that name: a taken output_root got a number
        ETP_TRY(etp_run_find_named(dir, p->arena, &found, err));
        dir = found.n > 0 ? found.items[0].dir : NULL;
    }
    if (!dir) {
        return etp_fail(err, ETP_USAGE,
                        "--analysis-only: nothing was measured in %s; for dumps of other "
                        "runners use 'etprof analyze'",
                        p->config->output_root ? p->config->output_root
                                               : "output_root (not given)");
    }
    say(p, "run folder", dir);
    *out = dir;
    return ETP_OK;
}
