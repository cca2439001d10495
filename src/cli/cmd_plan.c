// SPDX-License-Identifier: Apache-2.0
// etprof plan: how long to measure for ±1 %, from a pilot.
#include <math.h>
#include <stddef.h>

#include "cli/emit.h"
#include "cli/input.h"
#include "study/stats/plan.h"
#include "study/stats/samples.h"

typedef struct plan_options {
    const char *baseline, *phase;
    double precision, launch_cost_s;
} plan_options;

static const etp_opt k_options[] = {
    {"precision", 'p', ETP_OPT_PERCENT, offsetof(plan_options, precision), "PERCENT",
     "wanted half-width of the ratio's interval (default 1)", NULL},
    {"baseline", 'b', ETP_OPT_STRING, offsetof(plan_options, baseline), "ARM",
     "experiment the others are compared with", NULL},
    {"phase", 0, ETP_OPT_STRING, offsetof(plan_options, phase), "NAME",
     "of a session of several phases that of this name, 'decode@256' (default: the first)", NULL},
    {"launch-cost", 0, ETP_OPT_TIME, offsetof(plan_options, launch_cost_s), "TIME",
     "time of a launch besides its iterations (run folders know it; else 0.5)", NULL},
    {0},
};

static const plan_options k_defaults = {.precision = 0.01};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const plan_options *o = opts;
    if (!(o->precision > 0)) {
        return etp_fail(err, ETP_USAGE, "--precision must be more than 0");
    }
    if (etp_str_ends(etp_str_from(argv[0]), ETP_STR(".pte"))) {
        return etp_fail(err, ETP_USAGE,
                        "a plan is made from a pilot: etprof ab %s --blocks 6 --out pilot, then "
                        "etprof plan pilot",
                        argv[0]);
    }
    etp_sample_file file;
    etp_cli_input in;
    ETP_TRY(etp_cli_take_input(cli, argv[0], ETP_SAMPLES_LIMIT, &in, err));
    ETP_TRY(
        etp_sample_file_read(in.name, in.content, o->baseline, o->phase, &cli->arena, &file, err));
    etp_stats stats;
    etp_stats_options how = {.baseline = file.baseline};
    if (etp_stats_analyze(file.table.samples, file.table.n_samples, file.table.n_arms, &how,
                          &cli->arena, &stats, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", file.name);
    }
    // A table of samples does not say what a launch costs besides its iterations; a run folder
    // does.
    double launch_ns = o->launch_cost_s > 0 ? o->launch_cost_s * 1e9 : file.launch_ns;
    etp_plan_answer plan;
    ETP_TRY(etp_plan_answer_build(&stats, file.table.arms, file.name, o->precision, launch_ns,
                                  &cli->arena, &plan, err));
    ETP_TRY(etp_sample_called(in.name, &file, &cli->arena, &plan.called, err));
    plan.phase = file.phase;
    plan.phases = file.others;
    etp_answer answer = {
        .json = etp_plan_json,
        .data = &plan,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_plan_report(&plan, &cli->arena),
    };
    return etp_cli_emit(cli, &answer, err);
}

const etp_command etp_cmd_plan = {
    .name = "plan",
    .summary = "how long to measure for a wanted precision",
    .usage = "FOLDER | FILE.csv",
    .description =
        "Takes a finished session, or a pilot of a few blocks, apart into what differs between\n"
        "launches and what differs between iterations, and says how many blocks of how many\n"
        "iterations reach the wanted interval, and how long that takes.",
    .examples = "  etprof ab model.pte --blocks 6 --out pilot\n"
                "  etprof plan pilot --precision 0.5",
    .opts = k_options,
    .opts_size = sizeof(plan_options),
    .defaults = &k_defaults,
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
