// SPDX-License-Identifier: Apache-2.0
// etprof run CONFIG.json: a session described by a file, that of Arm's kit included.
#include <stddef.h>
#include <stdio.h>

#include "cli/measure.h"
#include "cli/session_options.h"
#include "cli/show_ab.h"
#include "session/config.h"
#include "session/experiments.h"

typedef struct run_options {
    etp_session_options session;
    etp_opt_list only;
    bool analysis_only, trace;
    const char *init, *platform;
} run_options;

#define OPT(name, type, field, arg, help) \
    {name, 0, type, offsetof(run_options, field), arg, help, NULL}

static const etp_opt k_options[] = {
    OPT("only", ETP_OPT_LIST, only, "NAMES", "run only these experiments"),
    OPT("analysis-only", ETP_OPT_FLAG, analysis_only, NULL,
        "measure nothing; analyse output_root again"),
    OPT("init", ETP_OPT_STRING, init, "MODEL.pte", "write a config for this model and stop"),
    OPT("trace", ETP_OPT_FLAG, trace, NULL,
        "with --init: which kernels run (mode xnntrace), no latency"),
    OPT("platform", ETP_OPT_STRING, platform, "NAME", "with --init: mac, android or linux"),
#define OPTION(where, field, type, key, limit, ab, run, resume, config, ...) \
    ETP_ROW_##run(where, field, type, __VA_ARGS__)
#include "store/options.def"
    {0},
};

static etp_status init(etp_cli *cli, const run_options *o, int argc, char **argv, etp_error *err)
{
    const etp_config_new what = {.model = o->init,
                                 .program = cli->program,
                                 .platform = o->platform,
                                 .path = argc ? argv[0] : cli->output,
                                 .trace = o->trace};
    const char *path = NULL;
    ETP_TRY(etp_config_write_new(&what, &cli->arena, &path, err));
    // The path alone on standard output: `etprof run $(etprof run --init MODEL.pte)` works.
    printf("%s\n", path);
    return ETP_OK;
}

// The folder of what was measured now, or before.
static etp_status folder_of(etp_cli *cli, const run_options *o, etp_experiments *experiments,
                            const char **out_dir, etp_error *err)
{
    etp_session_options options;
    if (o->analysis_only) {
        return etp_experiments_folder(experiments, out_dir, err);
    }
    ETP_TRY(etp_experiments_options(experiments, &o->session, &options, err));
    return etp_cli_measure(cli, &options, out_dir, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const run_options *o = opts;
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
    etp_experiments *experiments = NULL;
    const etp_session_view view = etp_cli_messages(cli);
    const char *dir = NULL;
    ETP_TRY(etp_config_read(argv[0], &cli->arena, &config, err));
    ETP_TRY(etp_experiments_choose(&config, &o->only, &view, &cli->arena, &experiments, err));
    ETP_TRY(folder_of(cli, o, experiments, &dir, err));
    // A session that was measured now has its baseline in its manifest. An earlier one may have
    // been measured for another pair.
    etp_ab_options answer = {.baseline =
                                 o->analysis_only ? etp_experiments_baseline(experiments) : NULL};
    return etp_show_measured(cli, dir, &answer, &o->session, err);
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
    .page = etp_write_html,
    .min_args = 0,
    .max_args = 1,
    .run = run,
};
