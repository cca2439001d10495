// SPDX-License-Identifier: Apache-2.0
// etprof run CONFIG.json: a session described by a file, that of Arm's kit included. The Python
// package reads it and becomes `ab`; what may be typed is here.
#include "cli/python.h"
#include "cli/session_options.h"

typedef struct run_options {
    etp_session_options session; // first: the rows of options.def
    etp_opt_list only;
    bool analysis_only, trace;
    const char *init, *platform;
} run_options;

#define OF run_options
static const etp_opt k_options[] = {
    OPT("only", 0, LIST, only, "NAMES", "run only these experiments"),
    OPT("analysis-only", 0, FLAG, analysis_only, NULL,
        "measure nothing; analyse output_root again"),
    OPT("init", 0, STRING, init, "MODEL.pte", "write a config for this model and stop"),
    OPT("trace", 0, FLAG, trace, NULL,
        "with --init: which kernels run (mode xnntrace), no latency"),
    OPT("platform", 0, STRING, platform, "NAME", "with --init: mac, android or linux"),
#define OPTION(where, field, type, key, limit, verbs, resume, ...) \
    ETP_OPTION(ETP_OF_RUN verbs, where, field, type, __VA_ARGS__)
#include "store/options.def"
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
