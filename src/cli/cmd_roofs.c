// SPDX-License-Identifier: Apache-2.0
// etprof roofs: peak arithmetic per instruction set, memory bandwidth and thread costs of a device.
#include "cli/emit.h"
#include "cli/measure.h"
#include "machine/roofs.h"
#include "store/roofs_file.h"

typedef struct roofs_options {
    bool fresh;
    double seconds;
    const char *device, *runner;
    etp_opt_list threads;
} roofs_options;

#define OF roofs_options
static const etp_opt k_options[] = {
    OPT("threads", 't', LIST, threads, "N,...",
        "thread counts (default 1, 2, 4 ... and all processors)"),
    OPT("device", 'd', STRING, device, "SPEC",
        "local (default), adb[:SERIAL], ssh:HOST or qemu[:CPU]"),
    OPT("runner", 0, STRING, runner, "PATH", "runner program or bundle folder (not for local)"),
    OPT("fresh", 0, FLAG, fresh, NULL, "measure again even if it was done before"),
    OPT("seconds", 0, NUMBER, seconds, "S", "how long to measure each thread count (default 6)"),
    {0},
};

static const roofs_options k_defaults = {.seconds = ETP_ROOFS_SECONDS};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const roofs_options *o = opts;
    (void)argc;
    (void)argv;
    if (!(o->seconds >= 0.1 && o->seconds <= 600)) {
        return etp_fail(err, ETP_USAGE, "--seconds is from 0.1 to 600");
    }
    etp_roofs_options what = {.seconds = o->seconds};
    for (size_t i = 0; i < o->threads.n; i++) {
        uint32_t one[ETP_ROOF_COUNTS_MAX];
        size_t n = 0;
        if (!etp_roof_threads_parse(o->threads.items[i], one, &n) || n != 1) {
            return etp_fail(err, ETP_USAGE, "--threads takes numbers from 1 to %d, not '%s'",
                            ETP_ROOF_THREADS_MAX, o->threads.items[i]);
        }
        // Ascending, as the runner takes its list of counts (etp_roof_threads_parse); so no count
        // comes twice.
        if (what.n_threads == ETP_ROOF_COUNTS_MAX || (i > 0 && one[0] <= what.threads[i - 1])) {
            return etp_fail(err, ETP_USAGE, "--threads takes at most %d numbers in ascending order",
                            ETP_ROOF_COUNTS_MAX);
        }
        what.threads[what.n_threads++] = one[0];
    }
    etp_device *device = NULL; // this machine needs no runner
    if (etp_device_kind_of(o->device) != ETP_DEVICE_LOCAL) {
        ETP_TRY(etp_os_catch_signals(err));
        etp_place place = etp_cli_place(cli);
        ETP_TRY(etp_session_open_device(&place, o->device, o->runner, 0, &device, err));
    }
    etp_roofs_answer answer;
    etp_status status =
        etp_roofs_of(device, ETP_ROOFS_CACHE, &what, o->fresh, &cli->arena, &answer, err);
    etp_device_close(device);
    if (status != ETP_OK) {
        return status;
    }
    return etp_cli_show(cli, &k_etp_roofs_document, &answer.table,
                        cli->format == ETP_CLI_CSV ? etp_roofs_rows(&answer, &cli->arena)
                                                   : etp_roofs_report(&answer, &cli->arena),
                        "roofs", err);
}

const etp_command etp_cmd_roofs = {
    .name = "roofs",
    .summary = "what a device can do at most: arithmetic, memory, threads",
    .usage = "",
    .description =
        "Measures multiply-adds and 8-bit dot products per instruction set, read, write, copy and\n"
        "strided-copy bandwidth over working sets from 16 KB to 64 MB, the cost of a parallel "
        "region and\n"
        "the clock's resolution, for one and more threads. Remembered in .etprof/roofs of the "
        "working\n"
        "directory per device, CPU, governor, highest clock and boost; 'etprof ab' puts what is\n"
        "remembered into its run folder and places every operator below it (docs/statistics.md).",
    .examples = "  etprof roofs\n  etprof roofs --threads 1,4 --fresh --format json\n  etprof "
                "roofs --device ssh:board",
    .opts = k_options,
    .opts_size = sizeof(roofs_options),
    .defaults = &k_defaults,
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = 0,
    .run = run,
};
