// SPDX-License-Identifier: Apache-2.0
// etprof run CONFIG.json: a session described by a file, that of Arm's kit included.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/suggest.h"
#include "cli/measure.h"
#include "cli/run_config.h"
#include "cli/run_platform.h"
#include "cli/say.h"
#include "cli/session_options.h"
#include "cli/show_ab.h"
#include "os/os.h"
#include "study/sweep/sweep.h"

typedef struct run_options {
    etp_session_arguments session;
    etp_opt_list only;
    bool analysis_only, trace;
    const char *init, *platform;
} run_options;

#define OPT(name, type, field, arg, help) \
    {name, 0, type, offsetof(run_options, field), arg, help, NULL}

static const etp_opt k_options[] = {
    OPT("only", ETP_OPT_LIST, only, "NAMES", "run these experiments alone"),
    OPT("analysis-only", ETP_OPT_FLAG, analysis_only, NULL,
        "measure nothing; analyse output_root again"),
    OPT("init", ETP_OPT_STRING, init, "MODEL.pte", "write a config for this model and stop"),
    OPT("trace", ETP_OPT_FLAG, trace, NULL,
        "with --init: which kernels run (mode xnntrace), no latency"),
    OPT("platform", ETP_OPT_STRING, platform, "NAME", "with --init: mac, android or linux"),
    OPT("remote-device", ETP_OPT_STRING, session.call.remote, "HOST:PORT",
        "an adb device in the network"),
#define OPTION(where, field, type, key, limit, ab, sweep, run, resume, config, ...) \
    ETP_ROW_##run(where, field, type, __VA_ARGS__)
#include "store/options.def"
    {0},
};

// An experiment is one arm, or one for each of its thread counts. `arms` are experiments; `names`
// has all arms that come of them, in the order of the plan.
typedef struct setup { // what of the config is carried out
    etp_cli *cli;
    const etp_config *config;
    const etp_config_experiment *arms[64]; // timing first; each is models × levels × threads
    size_t n_arms;
    bool kernels;    // an xnntrace experiment wants to know which kernels ran
    bool trace_only; // nothing but such experiments
    const char *names[64 * 16];
    const char *levels[64];
    const char *runners[64]; // executor_runners that the config names, one per arm
    size_t n_runners;
    etp_expected_platform expected; // what names say about where this is measured
} setup;

static void say(const setup *p, const char *topic, const char *text)
{
    if (!p->cli->quiet) {
        etp_say("%-10s %s\n", topic, text);
    }
}

static bool wanted(const run_options *o, const char *name)
{
    for (size_t i = 0; i < o->only.n; i++) {
        if (strcmp(o->only.items[i], name) == 0) {
            return true;
        }
    }
    return o->only.n == 0;
}

// A name that was mistyped would leave its experiment out without a word.
static etp_status check_only(etp_cli *cli, const run_options *o, const etp_config *c,
                             etp_error *err)
{
    // A config has at most 64 experiments (run_config.c).
    const char *names[65] = {0};
    const char *list = "";
    for (size_t i = 0; i < c->experiments.n; i++) {
        names[i] = c->experiments.items[i].name;
        list = etp_arena_printf(&cli->arena, "%s%s%s", list, i ? ", " : "", names[i]);
    }
    ETP_TRY(etp_arena_check(&cli->arena, err, "names"));
    for (size_t i = 0; i < o->only.n; i++) {
        bool known = false;
        for (size_t k = 0; names[k]; k++) {
            known = known || strcmp(names[k], o->only.items[i]) == 0;
        }
        if (!known) {
            const char *near = etp_suggest(o->only.items[i], names);
            return etp_fail(err, ETP_USAGE, "--only: no experiment \"%s\"%s%s%s; %s has: %s",
                            o->only.items[i], near ? "; did you mean \"" : "", near ? near : "",
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
static etp_status choose_arms(const run_options *o, setup *p, etp_error *err)
{
    const etp_config *c = p->config;
    // Timing first, so that each trace experiment can be held against all of them.
    for (int trace = 0; trace < 2; trace++) {
        for (size_t i = 0; i < c->experiments.n; i++) {
            const etp_config_experiment *e = &c->experiments.items[i];
            if (e->xnntrace != (trace == 1) || !wanted(o, e->name)) {
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

// The kit's rule: executorch/<path>, then <path>. What is there is used: an executor_runner,
// started at the level when all experiments name the same, or two builds that are the switch
// themselves. Those that the names of the kit's presets promise but nobody built are replaced by
// one runner and masks.
static etp_status choose_runner(const run_options *o, setup *p, const char **out, etp_error *err)
{
    *out = o->session.call.runner;
    const char *first = p->arms[0]->runner_path, *missing = NULL;
    for (size_t i = 0; i < p->n_arms && !o->session.call.runner; i++) {
        const char *named = p->arms[i]->runner_path;
        const char *below = named ? etp_arena_printf(&p->cli->arena, "executorch/%s", named) : NULL;
        const char *path = below && (etp_os_is_file(below) || etp_os_is_dir(below)) ? below : named;
        if (!named || (!etp_os_is_file(path) && !etp_os_is_dir(path))) {
            missing = named ? named : missing;
            continue;
        }
        const char *bundle = etp_arena_printf(&p->cli->arena, "%s/bundle.json", path);
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
        const char *text = etp_arena_printf(&p->cli->arena,
                                            "%s is not there: one runner of etprof's "
                                            "own with masks takes the place of all",
                                            missing);
        say(p, "runner", text ? text : missing);
    }
    return ETP_OK;
}

// "linux_sme2_on", with several thread counts "linux_sme2_on_t4".
static const char *arm_name(etp_cli *cli, const etp_config_experiment *e, uint32_t threads)
{
    return e->n_threads == 1 ? e->name : etp_arena_printf(&cli->arena, "%s_t%u", e->name, threads);
}

// A kit's config says SME2 in its names wherever it is run. What stands in for it is said before
// anything is measured.
static void say_arms(const setup *p, const etp_isa_cpu *cpu)
{
    bool stand_in = false;
    for (size_t i = 0; i < p->n_arms; i++) {
        stand_in =
            stand_in || (strstr(p->arms[i]->name, "sme2") && p->arms[i]->role != ETP_ROLE_NONE);
    }
    if (stand_in && etp_isa_best(cpu) != ETP_LEVEL_SME2) {
        say(p, "NO SME2",
            "this CPU has no SME2; other levels stand in, and nothing here is about SME2:");
    }
    for (size_t i = 0; i < p->n_arms; i++) {
        const char *text =
            etp_arena_printf(&p->cli->arena, "%s = %s", p->arms[i]->name, p->levels[i]);
        say(p, "level", text ? text : p->levels[i]);
    }
}

// Several thread counts of several levels are a grid: each count is compared with the same count of
// the baseline's level, as in a sweep.
static bool is_grid(const setup *p, const etp_session_plan_options *options)
{
    for (size_t i = 0; i < p->n_arms; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(p->levels[i], p->levels[k]) == 0) {
                return false;
            }
        }
    }
    return p->n_arms > 1 && options->n_threads > 1 && options->n_runners == 0;
}

// Levels and names can be settled when the processor is known.
static etp_status settle(void *ctx, const etp_device *device, const etp_device_cpu *cpu,
                         etp_session_plan_options *options, etp_error *err)
{
    setup *p = ctx;
    ETP_TRY(etp_platform_check(&p->expected, device->info.spec, device->info.platform, err));
    for (size_t i = 0; i < p->n_arms; i++) {
        const etp_config_experiment *e = p->arms[i];
        // An experiment without a level of its own has a role, and the machine decides what that is
        // here.
        etp_level level =
            e->role == ETP_ROLE_OFF ? etp_isa_plain(&cpu->cpu) : etp_isa_best(&cpu->cpu);
        if (!e->level && level == ETP_LEVEL_NONE) {
            return etp_fail(err, ETP_ENVIRONMENT,
                            "no level of this CPU can stand for \"%s\"; give \"level\"", e->name);
        }
        p->levels[i] = e->level ? e->level : etp_level_get(level)->name;
        for (size_t t = 0; t < e->n_threads; t++) {
            p->names[options->n_names++] = arm_name(p->cli, e, e->threads[t]);
        }
    }
    options->names = p->names;
    options->levels = p->levels;
    options->n_levels = p->n_arms;
    // A knee is what makes a session a sweep for its readers.
    options->settings.knee = is_grid(p, options) ? ETP_SWEEP_KNEE : 0;
    say_arms(p, &cpu->cpu);
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

static const etp_config_experiment *arm_of(const setup *p, const char *name)
{
    for (size_t i = 0; i < p->n_arms; i++) {
        if (strcmp(p->arms[i]->name, name) == 0) {
            return p->arms[i];
        }
    }
    return NULL;
}

// The first pair that was run gives the baseline; pairs with another one are one command away.
static const char *baseline_of(const setup *p)
{
    const char *baseline = NULL;
    for (size_t i = 0; i < p->config->pairs.n; i++) {
        const etp_config_pair *pair = &p->config->pairs.items[i];
        const etp_config_experiment *e = arm_of(p, pair->baseline.experiment);
        const char *name = e ? arm_name(p->cli, e, pair->baseline.threads) : NULL;
        if (!name || !arm_of(p, pair->candidate.experiment)) {
            say(p, "pair", "a pair of compare_pairs names an experiment that is not run here");
        } else if (!baseline) {
            baseline = name;
        } else if (strcmp(baseline, name) != 0) {
            const char *text = etp_arena_printf(&p->cli->arena,
                                                "compared with %s; for %s as the baseline: "
                                                "etprof analyze FOLDER --baseline %s",
                                                baseline, name, name);
            say(p, "pair", text ? text : name);
        }
    }
    return baseline;
}

// As written from here, else beside the config.
static etp_status find_model(setup *p, const char **model, const char **output_root, etp_error *err)
{
    const etp_config *c = p->config;
    etp_str folder = etp_path_folder(c->path);
    *model = c->model;
    *output_root = c->output_root;
    if (etp_os_is_file(c->model)) {
        return ETP_OK;
    }
    const char *beside =
        folder.ptr && c->model[0] != '/'
            ? etp_arena_printf(&p->cli->arena, "%.*s/%s", ETP_STR_ARG(folder), c->model)
            : NULL;
    if (beside && etp_os_is_file(beside)) {
        *model = beside;
        return ETP_OK;
    }
    if (c->fallback_model && etp_os_is_file(c->fallback_model)) {
        const char *text =
            etp_arena_printf(&p->cli->arena, "%s is not there: THE FALLBACK %s IS MEASURED",
                             c->model, c->fallback_model);
        say(p, "model", text ? text : c->fallback_model);
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

static void set_counts(const setup *p, etp_session_plan_options *options)
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

// What was named, else what the names need. This machine's platform is known before anything else
// is looked at.
static etp_status choose_device(setup *p, const char **device, etp_error *err)
{
    ETP_TRY(etp_platform_of_config(p->config, *device, p->arms, p->n_arms, &p->expected, err));
    if (!*device) {
        *device = etp_platform_device(&p->expected);
        const char *text = *device
                               ? etp_arena_printf(&p->cli->arena, "%s, because %s \"%s\" names %s",
                                                  *device, p->expected.what, p->expected.name,
                                                  etp_platform_name(p->expected.platform))
                               : NULL;
        if (text) {
            say(p, "device", text);
        }
    }
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    bool local = etp_device_kind_of(*device) == ETP_DEVICE_LOCAL;
    return local ? etp_platform_check(&p->expected, *device, facts.platform, err) : ETP_OK;
}

static etp_status measure(etp_cli *cli, const run_options *o, setup *p, const char **out_dir,
                          etp_error *err)
{
    // Config first, then what was typed: each option that was given takes the place of the
    // config's.
    etp_session_arguments arguments = p->config->arguments;
    etp_session_arguments_override(&o->session, &arguments);
    etp_session_options options;
    etp_session_plan_options *plan = &options.plan;
    ETP_TRY(etp_session_options_of(&arguments, &cli->arena, &options, err));
    options.config = p->config->path;
    ETP_TRY(choose_device(p, &options.call.device, err));
    const char *model = NULL;
    ETP_TRY(find_model(p, &model, &options.dir, err));
    ETP_TRY(choose_runner(o, p, &options.call.runner, err));
    plan->models = &model;
    plan->n_models = 1;
    plan->threads = p->arms[0]->threads;
    plan->n_threads = p->arms[0]->n_threads;
    plan->compare_baseline = baseline_of(p);
    plan->settings.cpus = p->arms[0]->cpus;
    p->kernels = p->kernels && !plan->settings.no_kernels;
    plan->settings.kernels = plan->settings.kernels || p->kernels;
    set_counts(p, plan);
    if (o->session.call.runner) {
        ETP_TRY(etp_session_runners(o->session.call.runner, NULL, NULL, &cli->arena, plan,
                                    &options.call.runner, err));
    } else if (p->n_runners > 0) {
        plan->runners = p->runners;
        plan->n_runners = p->n_runners;
    }
    if (plan->n_runners > 0 && p->kernels) { // asked for by the config, which names the runners
        p->kernels = false;
        plan->settings.kernels = arguments.settings.kernels;
        say(p, "xnntrace",
            "operator names of the traced launches are the evidence: others' runners are not "
            "sampled");
    }
    return etp_cli_measure(cli, &options, settle, p, out_dir, err);
}

// The folder that --analysis-only reads again.
static etp_status measured_before(setup *p, const char **out, etp_error *err)
{
    const char *model = NULL, *dir = NULL;
    if (find_model(p, &model, &dir, NULL) != ETP_OK) {
        dir = p->config->output_root; // the model need not be there any more
    }
    etp_run_found found = {0};
    if (dir) { // the newest of that name: a taken output_root got a number
        ETP_TRY(etp_run_find_named(dir, &p->cli->arena, &found, err));
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

// ---- --init ----

// Names that are true on this machine: SME2 is in them where it has SME2. Of another platform
// nothing is known yet; there the names mean "the best level" and "plain SIMD", and the report says
// what ran.
static etp_status name_experiments(const etp_os_facts *facts, etp_config_new *c, etp_error *err)
{
    c->words[0] = "sme2_on";
    c->words[1] = "sme2_off";
    if (facts->platform != c->platform) {
        c->device = c->platform == ETP_PLATFORM_ANDROID ? "adb" : NULL;
        return ETP_OK;
    }
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    etp_level best = etp_isa_best(&cpu), plain = etp_isa_plain(&cpu);
    if (best == ETP_LEVEL_NONE || plain == ETP_LEVEL_NONE) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "this CPU has one level only: nothing to compare with ('etprof levels')");
    }
    if (best != ETP_LEVEL_SME2) {
        c->words[0] = etp_level_get(best)->name;
        c->words[1] = etp_level_get(plain)->name;
    }
    return ETP_OK;
}

static etp_status init(etp_cli *cli, const run_options *o, int argc, char **argv, etp_error *err)
{
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    etp_platform platform = o->platform ? ETP_PLATFORM_UNKNOWN : facts.platform;
    for (etp_platform p = ETP_PLATFORM_UNKNOWN + 1; o->platform && p < ETP_PLATFORMS; p++) {
        platform = strcmp(o->platform, etp_platform_name(p)) == 0 ? p : platform;
    }
    if (!platform) {
        return etp_fail(err, ETP_USAGE, "--platform is mac, android or linux, not '%s'",
                        o->platform);
    }
    const char *place = etp_platform_name(platform);
    if (!etp_os_is_file(o->init)) {
        return etp_fail(err, ETP_IO, "model %s does not exist", o->init);
    }
    size_t len = strlen(etp_path_name(o->init));
    len -= len > 4 && strcmp(etp_path_name(o->init) + len - 4, ".pte") == 0 ? 4 : 0;
    const char *path =
        argc          ? argv[0]
        : cli->output ? cli->output
                      : etp_arena_printf(&cli->arena, "%.*s_%s%s.json", (int)len,
                                         etp_path_name(o->init), place, o->trace ? "_trace" : "");
    const char *folder = etp_arena_printf(&cli->arena, "%s%s", place, o->trace ? "_trace" : "");
    ETP_TRY(etp_arena_check(&cli->arena, err, "the config")); // its folder is made of the text
    const char *root = etp_run_default_dir(&cli->arena, o->init, folder);
    etp_config_new c = {
        .model = o->init, .output_root = root, .platform = platform, .trace = o->trace};
    ETP_TRY(name_experiments(&facts, &c, err));
    ETP_TRY(etp_config_write_new(path, &c, &cli->arena, err));
    // The path alone on standard output: `etprof run $(etprof run --init MODEL.pte)` works.
    printf("%s\n", path);
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const run_options *o = opts;
    cli->store = o->session.call.store;
    if (o->init) {
        return init(cli, o, argc, argv, err);
    }
    if (o->trace) {
        return etp_fail(
            err, ETP_USAGE,
            "--trace goes with --init; in a config it is the mode xnntrace of an experiment");
    }
    if (argc == 0) {
        return etp_fail(err, ETP_USAGE, "give a config; 'etprof run --init MODEL.pte' writes one");
    }
    etp_config config;
    ETP_TRY(etp_config_read(argv[0], &cli->arena, &config, err));
    ETP_TRY(check_only(cli, o, &config, err));
    // Some ten kilobytes: not on the stack.
    setup *p = ETP_NEW(&cli->arena, setup);
    ETP_NEED(p, err, "the plan");
    *p = (setup){.cli = cli, .config = &config};
    ETP_TRY(choose_arms(o, p, err));
    const char *dir = NULL;
    ETP_TRY(o->analysis_only ? measured_before(p, &dir, err) : measure(cli, o, p, &dir, err));
    // A session that was measured now has its baseline in its manifest. An earlier one may have
    // been measured for another pair.
    etp_ab_options answer = {.baseline = o->analysis_only ? baseline_of(p) : NULL};
    if (cli->format == ETP_CLI_JSON) { // etprof.ab/1, several thread counts or not
        const etp_show_options show = {.full = o->session.call.full,
                                       .write_files = true,
                                       .enter = true,
                                       .fail_on = o->session.call.fail_on.items,
                                       .n_fail_on = o->session.call.fail_on.n};
        return etp_show_ab(cli, &dir, 1, &answer, &show, err);
    }
    return etp_show_measured(cli, dir, &answer, o->session.call.full, &o->session.call.fail_on, err);
}

const etp_command etp_cmd_run = {
    .name = "run",
    .grouped = true,
    .summary = "measure and explain what a config file describes",
    .usage = "CONFIG.json",
    .description = "Reads the JSON of Arm's kit: model, output_root, experiments, compare_pairs. "
                   "All experiments are\n"
                   "measured in one session, interleaved in paired blocks. An experiment's level "
                   "is its \"level\", or\n"
                   "its name's: _on is the best level of the machine, _off plain SIMD. Unknown "
                   "keys are errors.\n"
                   "Options take the place of what the config says.",
    .examples = "  etprof run --init model.pte && etprof run model_linux.json\n"
                "  etprof run model_profiling/configs/examples/linux_mobilenet_fp16.json\n"
                "  etprof run config.json --only linux_sme2_on,linux_sme2_off --budget 60s",
    .opts = k_options,
    .opts_size = sizeof(run_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 0,
    .max_args = 1,
    .run = run,
};
