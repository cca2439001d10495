// SPDX-License-Identifier: Apache-2.0
// etprof stats FILE.csv: the paired analysis of anybody's samples.
#include <stddef.h>

#include "answer/stats.h"
#include "cli/emit.h"
#include "cli/sample_file.h"

typedef struct stats_options {
    const char *baseline;
    double margin_percent;
} stats_options;

static const etp_opt k_options[] = {
    {"baseline", 'b', ETP_OPT_STRING, offsetof(stats_options, baseline), "NAME",
     "experiment the others are compared with", NULL},
    {"margin", 0, ETP_OPT_NUMBER, offsetof(stats_options, margin_percent), "PERCENT",
     "differences below this are 'same' (default 1)", NULL},
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const stats_options *o = opts;
    etp_sample_file file;
    ETP_TRY(etp_sample_file_read(cli, argv[0], o->baseline, &file, err));
    etp_stats_answer stats = {.source = file.name, .names = file.table.arms};
    etp_stats_options how = {.baseline = file.baseline, .margin = o->margin_percent / 100};
    if (etp_stats_analyze(file.table.samples, file.table.n_samples, file.table.n_arms, &how,
                          &cli->arena, &stats.stats, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", file.name);
    }
    etp_cli_answer answer = {
        .json = etp_stats_json,
        .data = &stats,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_stats_report(&stats, &cli->arena),
        .csv_table = "comparisons",
    };
    return etp_cli_emit(cli, &answer, err);
}

const etp_command etp_cmd_stats = {
    .name = "stats",
    .summary = "paired statistics of a CSV of samples",
    .usage = "FILE.csv | FOLDER",
    .description =
        "Needs the columns experiment, block, iteration and duration_ns; '-' reads standard input, a\n"
        "run folder gives its samples.csv. One block holds one launch of every experiment, measured\n"
        "close together; incomplete blocks are dropped and counted. With a column phase only 'timed'\n"
        "rows are compared, and 'control' rows (the baseline launched a second time) give the noise\n"
        "floor.",
    .examples = "  etprof stats samples.csv\n"
                "  etprof stats samples.csv --baseline neon --format json",
    .opts = k_options,
    .opts_size = sizeof(stats_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
