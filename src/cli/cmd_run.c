// SPDX-License-Identifier: Apache-2.0
// etprof run CONFIG.json: a session described by a file, that of Arm's kit included. The Python
// package reads it and becomes `ab`; what may be typed is here.
#include <stddef.h>

#include "cli/command.h"
#include "cli/python.h"

typedef struct run_options {
    etp_opt_list only;
    bool analysis_only, trace, plain, full, price;
    const char *init, *platform, *blocks, *precision, *budget, *device, *prepare, *runner, *kernels;
} run_options;

#define OPT(name, letter, type, field, arg, help) \
    {name, letter, ETP_OPT_##type, offsetof(run_options, field), arg, help, NULL}

static const etp_opt k_options[] = {
    OPT("only", 0, LIST, only, "NAMES", "run only these experiments"),
    OPT("analysis-only", 0, FLAG, analysis_only, NULL,
        "measure nothing; analyse output_root again"),
    OPT("init", 0, STRING, init, "MODEL.pte", "write a config for this model and stop"),
    OPT("trace", 0, FLAG, trace, NULL,
        "with --init: which kernels run (mode xnntrace), no latency"),
    OPT("platform", 0, STRING, platform, "NAME", "with --init: mac, android or linux"),
    OPT("blocks", 'k', STRING, blocks, "K",
        "exactly K blocks (default 10); with --precision at most"),
    OPT("precision", 'p', STRING, precision, "PERCENT",
        "stop when every speedup's interval is this narrow on either side, e.g. 1%"),
    OPT("budget", 0, STRING, budget, "TIME", "stop after the last whole block that fits, e.g. 2m"),
    OPT("device", 'd', STRING, device, "SPEC",
        "local (default), adb[:SERIAL or HOST:PORT], ssh:HOST or qemu[:CPU]"),
    OPT("prepare", 0, STRING, prepare, "MODE",
        "set an Android device up: boost, app, fixed or none (default); undone at the end"),
    OPT("runner", 0, STRING, runner, "PATH",
        "etprof's runner or its bundle, or an executor_runner"),
    OPT("kernels", 0, STRING, kernels, "WHEN",
        "sample which kernels ran: always, never, auto (default: if it takes at most a third)"),
    OPT("plain", 0, FLAG, plain, NULL,
        "keep recordings uncompressed and every timeline as a table, as Arm's kit does"),
    OPT("full", 0, FLAG, full, NULL, "every section, also in text"),
    OPT("price", 0, FLAG, price, NULL,
        "what each arm costs: inferences, loading, memory, size on disk; instead of where time "
        "goes"),
    {0},
};

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
    .run = etp_cli_run_in_python,
};
