// SPDX-License-Identifier: Apache-2.0
// etprof ab MODEL…: measure two or more arms in paired launches and explain the difference.
#include <stddef.h>

#include "cli/measure.h"
#include "cli/newest.h"
#include "cli/session_options.h"
#include "cli/show_ab.h"

typedef struct ab_options {
    etp_session_given session;
    const char *runner_on, *runner_off, *remote;
    bool kernels, roofs;
} ab_options;

#define OPT(name, short, type, field, arg, help) \
    {name, short, type, offsetof(ab_options, field), arg, help, NULL}

static const etp_opt k_options[] = {
    OPT("levels", 'l', ETP_OPT_LIST, session.levels, "A,B,...",
        "levels to compare, see 'etprof levels' (default: the best against plain SIMD)"),
    OPT("threads", 't', ETP_OPT_LIST, session.threads, "N,...",
        "thread counts of the runner (default 1)"),
    OPT("baseline", 'b', ETP_OPT_STRING, session.baseline, "ARM",
        "level or arm the others are compared with (default: the lowest level)"),
    OPT("blocks", 'k', ETP_OPT_COUNT, session.blocks, "K",
        "exactly K blocks (default 10); with --precision at most"),
    OPT("precision", 'p', ETP_OPT_PERCENT, session.precision_percent, "PERCENT",
        ETP_PRECISION_HELP),
    OPT("budget", 0, ETP_OPT_TIME, session.budget, "TIME", ETP_BUDGET_HELP),
    OPT("device", 'd', ETP_OPT_STRING, session.device, "SPEC",
        "local (default), adb[:SERIAL], ssh:HOST or qemu[:CPU]"),
    OPT("remote", 0, ETP_OPT_STRING, remote, "HOST:PORT", "the adb device at that address"),
    OPT("ssh-config", 0, ETP_OPT_STRING, session.ssh_config, "FILE",
        "of ssh:HOST, instead of the user's own"),
    OPT("prepare", 0, ETP_OPT_STRING, session.prepare, "MODE", ETP_PREPARE_HELP),
    OPT("cool", 0, ETP_OPT_STRING, session.cool, "C[,TIME]", ETP_COOL_HELP),
    OPT("out", 0, ETP_OPT_STRING, session.out, "DIR", "run folder; must be empty or new"),
    OPT("method", 0, ETP_OPT_STRING, session.method, "NAME",
        "method of the program (default: its first)"),
    OPT("inputs", 0, ETP_OPT_STRING, session.inputs, "SPEC",
        "random:SEED, ones, FILE.npz, FILE.bpte[#CASE], or FILE,... (raw or .npy)"),
    OPT("data", 0, ETP_OPT_STRING, session.data, "FILE.ptd", "external weights"),
    OPT("cpus", 0, ETP_OPT_STRING, session.cpus, "LIST", ETP_CPUS_HELP),
    OPT("runner", 0, ETP_OPT_STRING, session.runner, "PATH",
        "etprof's runner or its bundle; in ab and run also an executor_runner"),
    OPT("runner-on", 0, ETP_OPT_STRING, runner_on, "PATH",
        "executor_runner built with the feature ..."),
    OPT("runner-off", 0, ETP_OPT_STRING, runner_off, "PATH", "... against one built without it"),
    OPT("iterations", 0, ETP_OPT_COUNT, session.iterations, "N",
        "timed iterations per launch (default: 0.5 s worth)"),
    OPT("warmup", 0, ETP_OPT_COUNT, session.warmup, "N",
        "warm-up iterations per launch (default: 0.2 s worth)"),
    OPT("seed", 0, ETP_OPT_COUNT, session.seed, "N", "of order and inputs (default: drawn)"),
    OPT("timeout", 0, ETP_OPT_TIME, session.timeout, "TIME",
        "longest silence of a runner (default 60s)"),
    OPT("margin", 0, ETP_OPT_PERCENT, session.margin_percent, "PERCENT",
        "smaller differences are 'same' (default 1)"),
    OPT("no-trace", 0, ETP_OPT_FLAG, session.no_trace, NULL,
        "latency alone: no operator breakdown, no proof by names"),
    OPT("kernels", 0, ETP_OPT_FLAG, kernels, NULL,
        "also sample which kernels ran, in launches of their own"),
    OPT("resident", 0, ETP_OPT_FLAG, session.resident, NULL, ETP_RESIDENT_HELP),
    OPT("roofs", 0, ETP_OPT_FLAG, roofs, NULL,
        "measure first what the device can do at most, once per state"),
    OPT("resume", 0, ETP_OPT_STRING, session.resume, "DIR",
        "go on with an interrupted session, same plan and seed"),
    OPT("trust", 0, ETP_OPT_FLAG, session.trust, NULL, ETP_TRUST_HELP),
    OPT("full", 0, ETP_OPT_FLAG, session.full, NULL, "every section, also in text"),
    OPT("fail-on", 0, ETP_OPT_LIST, session.fail_on, "WORDS", ETP_FAIL_ON_HELP),
    OPT("runs", 0, ETP_OPT_COUNT, session.iterations, "N", NULL), // the word of configs
    {0},
};

static etp_status session_options(etp_cli *cli, const ab_options *o, int argc, char **argv,
                                  etp_session_options *out, etp_error *err)
{
    const etp_session_given *g = &o->session;
    ETP_TRY(etp_session_options_given(g, out, err));
    ETP_TRY(etp_threads_parse(cli, &g->threads, &out->threads, err));
    out->n_threads = g->threads.n;
    out->models = (const char *const *)argv;
    out->n_models = (size_t)argc;
    out->settings.inputs = g->inputs ? g->inputs : etp_inputs_beside(cli, argv[0], g->method);
    out->settings.kernels = o->kernels;
    return ETP_OK;
}

static etp_status measure_new(etp_cli *cli, const ab_options *o, int argc, char **argv,
                              const char **out_dir, etp_error *err)
{
    if (argc == 0) {
        return etp_fail(err, ETP_USAGE,
                        "a MODEL.pte is missing (or --resume DIR); see 'etprof help ab'");
    }
    etp_session_options options;
    ETP_TRY(session_options(cli, o, argc, argv, &options, err));
    const char *device = o->session.device;
    if (o->remote) {
        if (device && strcmp(device, "adb") != 0) {
            return etp_fail(err, ETP_USAGE, "--remote is for adb devices, --device says %s",
                            device);
        }
        device = etp_arena_printf(&cli->arena, "adb:%s", o->remote);
        if (!device) {
            return etp_fail_nomem(err, "options");
        }
    }
    etp_measure_request request = {.device = device,
                                   .dir = o->session.out,
                                   .exact = o->session.out != NULL,
                                   .roofs = o->roofs,
                                   .prepare = o->session.prepare};
    ETP_TRY(etp_foreign_option(cli, o->session.runner, o->runner_on, o->runner_off, &options,
                               &request.runner, err));
    return etp_measure(cli, &request, &options, NULL, NULL, out_dir, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const ab_options *o = opts;
    const etp_session_given *g = &o->session;
    const char *dir = g->resume;
    cli->env_ssh_config = g->ssh_config ? g->ssh_config : cli->env_ssh_config;
    if (g->resume) {
        ETP_TRY(etp_resume_check(k_options, o, argc > 0 ? "the model" : NULL, err));
        ETP_TRY(etp_cli_newest(cli, true, &dir, err));
        etp_measure_again_request again = {.dir = dir,
                                           .device = g->device,
                                           .runner = g->runner,
                                           .timeout_s = g->timeout,
                                           .resume = true,
                                           .trust = g->trust};
        ETP_TRY(etp_measure_again(cli, &again, &dir, err));
    } else {
        ETP_TRY(measure_new(cli, o, argc, argv, &dir, err));
    }
    etp_ab_options answer = {.margin = g->margin_percent / 100};
    return etp_show_measured(cli, dir, &answer, g->full, &g->fail_on, err);
}

const etp_command etp_cmd_ab = {
    .name = "ab",
    .summary = "how much faster is a model at another level, why, and what proves it",
    .usage = "MODEL.pte [MODEL2.pte ...] [--levels A,B,...] | --resume DIR",
    .description = "Launches the arms in paired blocks, in an order that cancels drift, with one "
                   "runner whose CPU\n"
                   "features are masked at start. Latency comes from untraced launches, the "
                   "breakdown from traced\n"
                   "ones. Writes a run folder (out_<model>/runs/<platform>) with raw samples, "
                   "traces and reports.",
    .examples = "  etprof ab model.pte\n"
                "  etprof ab model.pte --levels vnni,avx512,avx2 --blocks 12\n"
                "  etprof ab model.pte --precision 1% --budget 5m\n"
                "  etprof ab fp16.pte int8.pte --levels sme2 --budget 60s\n"
                "  etprof ab model.pte --device qemu --levels sme2,sme1,neon\n"
                "  etprof ab --resume out_model",
    .opts = k_options,
    .opts_size = sizeof(ab_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 0,
    .max_args = 8,
    .run = run,
};
