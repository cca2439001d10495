// SPDX-License-Identifier: Apache-2.0
// etprof compare A B: explain the difference of any two recordings. Never measures.
#include <stddef.h>

#include "cli/show_ab.h"

typedef struct compare_options {
    const char *program, *record, *roofs;
    bool full;
    etp_opt_list fail_on;
} compare_options;

static const etp_opt k_options[] = {
    {"pte", 'p', ETP_OPT_STRING, offsetof(compare_options, program), "FILE",
     "the program of bare dumps: adds nodes, work and reasons", NULL},
    {"etrecord", 'r', ETP_OPT_STRING, offsetof(compare_options, record), "FILE",
     "the exporter's record: adds source lines (needs --pte)", NULL},
    {"roofs", 0, ETP_OPT_STRING, offsetof(compare_options, roofs), "FILE",
     "roofs of the device, from 'etprof roofs --format json'", NULL},
    {"full", 0, ETP_OPT_FLAG, offsetof(compare_options, full), NULL,
     "every section, also in text", NULL},
    {"fail-on", 0, ETP_OPT_LIST, offsetof(compare_options, fail_on), "WORDS", ETP_FAIL_ON_HELP,
     NULL},
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const compare_options *o = opts;
    etp_ab_options how = {.program = o->program, .record = o->record, .roofs = o->roofs, .two_sides = true};
    etp_show_options show = {
        .full = o->full,
        .fail_on = o->fail_on.items,
        .n_fail_on = o->fail_on.n,
    };
    return etp_show_ab(cli, (const char *const *)argv, (size_t)argc, &how, &show, err);
}

const etp_command etp_cmd_compare = {
    .name = "compare",
    .summary = "explain the difference of two dumps or run folders",
    .usage = "A B",
    .description = "A is the baseline. Each side is a dump, a folder with the dumps of one arm, or one arm of a run\n"
                   "folder, DIR or DIR:ARM. Times are traced ones; the grade says how much the two have in common.",
    .examples = "  etprof compare off.etdump on.etdump --pte model.pte\n"
                "  etprof compare out_model/runs/linux:avx2 out_model/runs/linux.2:avx2",
    .opts = k_options,
    .opts_size = sizeof(compare_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
