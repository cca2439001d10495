// SPDX-License-Identifier: Apache-2.0
// etprof roofs: peak arithmetic per instruction set and memory bandwidth of this machine.
#include <stddef.h>

#include "answer/roofs.h"
#include "cli/emit.h"

typedef struct roofs_options {
    bool fresh;
    double seconds;
} roofs_options;

static const etp_opt k_options[] = {
    {"fresh", 0, ETP_OPT_FLAG, offsetof(roofs_options, fresh), NULL, "measure again even if it was done before", NULL},
    {"seconds", 0, ETP_OPT_NUMBER, offsetof(roofs_options, seconds), "S", "how long to measure (default 6)", NULL},
    {0},
};

static const roofs_options k_defaults = {.seconds = 6};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const roofs_options *o = opts;
    (void)argc;
    (void)argv;
    if (!(o->seconds >= 0.1 && o->seconds <= 600)) {
        return etp_fail(err, ETP_USAGE, "--seconds is from 0.1 to 600");
    }
    etp_roofs_answer answer;
    ETP_TRY(etp_roofs_here(".etprof/roofs", o->seconds, o->fresh, &cli->arena, &answer, err));
    etp_cli_answer out = {
        .json = etp_roofs_json,
        .data = &answer,
        .report = etp_roofs_report(&answer, &cli->arena),
        .csv_table = "roofs",
    };
    return etp_cli_emit(cli, &out, err);
}

const etp_command etp_cmd_roofs = {
    .name = "roofs",
    .summary = "what this machine can do at most: arithmetic and memory",
    .usage = "",
    .description =
        "Measures multiply-adds per instruction set and read, write, copy and strided-copy bandwidth over\n"
        "working sets from 16 KB to 64 MB, with one thread. Remembered per CPU and governor in\n"
        ".etprof/roofs of the working directory.",
    .examples = "  etprof roofs\n  etprof roofs --fresh --format json",
    .opts = k_options,
    .opts_size = sizeof(roofs_options),
    .defaults = &k_defaults,
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = 0,
    .run = run,
};
