// SPDX-License-Identifier: Apache-2.0
// etprof levels: which CPU-feature levels this machine has and can be switched to.
#include "cli/emit.h"
#include "machine/levels.h"

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)opts;
    (void)argc;
    (void)argv;
    etp_levels levels;
    etp_levels_here(&levels);
    etp_answer answer = {
        .json = etp_levels_json,
        .data = &levels,
        .report = etp_levels_report(&levels, &cli->arena),
        .csv_table = "levels",
    };
    return etp_cli_emit(cli, &answer, err);
}

const etp_command etp_cmd_levels = {
    .name = "levels",
    .summary = "CPU-feature levels of this machine",
    .usage = "",
    .description =
        "A level is an ordered mask of CPU features: it hides from ExecuTorch's libraries "
        "everything\n"
        "above it. Without --levels, 'etprof ab' compares the best level with plain SIMD.",
    .examples = "  etprof levels\n  etprof levels --format json",
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = 0,
    .run = run,
};
