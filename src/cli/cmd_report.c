// SPDX-License-Identifier: Apache-2.0
// etprof report FOLDER: renew a run folder's derived files and show the report; several: one report
// over all.
#include <stddef.h>

#include "cli/emit.h"
#include "cli/show_ab.h"
#include "kit/folder.h"

typedef struct report_options {
    const char *baseline, *title;
    uint64_t limit;
} report_options;

static const etp_opt k_options[] = {
    {"baseline", 'b', ETP_OPT_STRING, offsetof(report_options, baseline), "ARM",
     "compare the others with this arm", NULL},
    {"title", 0, ETP_OPT_STRING, offsetof(report_options, title), "TEXT",
     "of what is shown (default: the model)", NULL},
    {"limit", 0, ETP_OPT_COUNT, offsetof(report_options, limit), "BYTES",
     "with --format github: at most so many (default 60000)", NULL},
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const report_options *o = opts;
    ETP_TRY(etp_cli_limit(cli, o->limit, err));
    etp_ab_options how = {.baseline = o->baseline};
    if (argc > 1) {
        return etp_show_combined(cli, (const char *const *)argv, (size_t)argc, &how, o->title, err);
    }
    bool kit = false;
    ETP_TRY(etp_kit_folder_is(argv[0], &kit, err));
    if (kit) {
        return etp_show_kit_folder(cli, argv[0], true, err);
    }
    if (!etp_run_is(argv[0])) {
        return etp_fail(
            err, ETP_USAGE,
            "%s is no run folder (no manifest.json of etprof in it); for bare dumps use "
            "'etprof analyze'",
            argv[0]);
    }
    etp_show_options show = {.full = true, .sweep = true, .write_files = true, .title = o->title};
    return etp_show_ab(cli, (const char *const *)argv, (size_t)argc, &how, &show, err);
}

const etp_command etp_cmd_report = {
    .name = "report",
    .summary = "renew and show the report of a run folder, or one over several",
    .usage = "FOLDER...",
    .description = "Writes report.html, report.md, report.json and the pictures into the folder "
                   "and shows the\n"
                   "whole report. Of several folders (run folders, or folders of dumps) shows one "
                   "report over all,\n"
                   "platform beside platform, and leaves their files as they are. A folder that "
                   "Arm's kit left is read\n"
                   "as 'etprof analyze' does.",
    .examples =
        "  etprof report out_model\n"
        "  etprof report out_model --format md -o report.md\n"
        "  etprof report out_model/runs/mac out_model/runs/android --format html -o combined.html",
    .opts = k_options,
    .opts_size = sizeof(report_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML) |
               ETP_CLI_FORMAT_BIT(ETP_CLI_GITHUB),
    .takes_runs = true,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
