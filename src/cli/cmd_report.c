// SPDX-License-Identifier: Apache-2.0
// etprof report FOLDER: renew a run folder's derived files and show the report.
#include <stddef.h>

#include "cli/show_ab.h"

typedef struct report_options {
    const char *baseline;
} report_options;

static const etp_opt k_options[] = {
    {"baseline", 'b', ETP_OPT_STRING, offsetof(report_options, baseline), "ARM",
     "compare the others with this arm", NULL},
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const report_options *o = opts;
    if (!etp_run_is(argv[0])) {
        return etp_fail(err, ETP_USAGE,
                        "%s is no run folder (no manifest.json of etprof in it); for bare dumps use "
                        "'etprof analyze'",
                        argv[0]);
    }
    etp_ab_options how = {.baseline = o->baseline};
    etp_show_options show = {.full = true, .sweep = true, .write_files = true};
    return etp_show_ab(cli, (const char *const *)argv, (size_t)argc, &how, &show, err);
}

const etp_command etp_cmd_report = {
    .name = "report",
    .summary = "renew and show the report of a run folder",
    .usage = "FOLDER",
    .description = "Writes report.html, report.md, report.json and the pictures into the folder and shows the\n"
                   "whole report.",
    .examples = "  etprof report out_model/runs/linux\n"
                "  etprof report out_model/runs/linux --format md -o report.md",
    .opts = k_options,
    .opts_size = sizeof(report_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
