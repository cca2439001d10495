// SPDX-License-Identifier: Apache-2.0
// etprof levels: which CPU-feature levels this machine has and can be switched to.
#include "cli/emit.h"
#include "cli/measure.h"
#include "device/device.h"
#include "machine/levels.h"

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)opts;
    (void)argc;
    (void)argv;
    etp_levels levels;
    etp_device_options how = {.runner = cli->env_runner,
                              .search_path = cli->env_path,
                              .program = cli->program,
                              .work_root = etp_cli_work(cli)};
    etp_device *device = NULL;
    etp_status st = etp_device_open(&how, &device, NULL); // without a runner the CPU alone counts
    st = etp_levels_here(st == ETP_OK ? device->bundle.dir : NULL, &levels, err);
    etp_device_close(device);
    ETP_TRY(st);
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
