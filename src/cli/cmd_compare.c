// SPDX-License-Identifier: Apache-2.0
// etprof compare A B: explain the difference of any two recordings. Never measures.
#include "cli/emit.h"
#include "cli/newest.h"
#include "cli/show_ab.h"
#include "cli/units.h"

typedef struct compare_options {
    etp_trace_units units;
    const char *program, *record, *roofs, *name1, *name2, *out;
    bool full;
    uint64_t limit;
} compare_options;

#define OF compare_options
static const etp_opt k_options[] = {
    ETP_CLI_EXPLAINED,
    OPT("name1", 0, STRING, name1, "NAME", "what to call A"),
    OPT("name2", 0, STRING, name2, "NAME", "what to call B"),
    OPT("out", 0, STRING, out, "DIR", "write the tables as CSV and JSON files there"),
    OPT("full", 0, FLAG, full, NULL, "every section, also in text"),
    OPT("limit", 0, COUNT, limit, "BYTES", "with --format github: at most so many (default 60000)"),
    ETP_CLI_UNITS,
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const compare_options *o = opts;
    if (argc < 2) {
        return etp_fail(err, ETP_USAGE,
                        "%s is compared with what? name a second recording, or two arms of a run "
                        "folder (etprof compare DIR:avx2 DIR:vnni); 'etprof analyze %s' explains "
                        "what is in one",
                        argv[0], argv[0]);
    }
    ETP_TRY(etp_cli_limit(cli, o->limit, err));
    const char *out = o->out;
    if (out && cli->newest && etp_run_is(out)) { // tables go where what they are of is
        ETP_TRY(etp_cli_newest(cli, &out, err));
    }
    etp_ab_options how = {
        .units = o->units,
        .program = o->program,
        .record = o->record,
        .roofs = o->roofs,
        .two_sides = true,
        .names = {o->name1, o->name2}
    };
    etp_show_options show = {
        .full = o->full,
        .tables_dir = out,
    };
    return etp_show_ab(cli, (const char *const *)argv, (size_t)argc, &how, &show, err);
}

const etp_command etp_cmd_compare = {
    .name = "compare",
    .summary = "explain the difference of two dumps, run folders or timeline tables",
    .usage = "A B",
    .description = "A is the baseline. Each side is a dump, a timeline CSV (ours or of Arm's kit), "
                   "a folder of dumps or\n"
                   "a run folder; DIR:ARM names one arm of a folder with several. Two run folders "
                   "get a verdict: paired by\n"
                   "block within one session, launches without pairs otherwise. The grade (A to D) "
                   "says how much the two\n"
                   "have in common; dumps and tables have traced times only and no verdict.",
    .examples = "  etprof compare off.etdump on.etdump --pte model.pte\n"
                "  etprof compare out_model/runs/linux:avx2 out_model/runs/linux.2:avx2\n"
                "  etprof compare off_exec_all_runs_timeline.csv on_exec_all_runs_timeline.csv "
                "--name1 off --name2 on",
    .opts = k_options,
    .opts_size = sizeof(compare_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML) |
               ETP_CLI_FORMAT_BIT(ETP_CLI_GITHUB),
    .page = etp_write_html,
    .comment = etp_report_write_github,
    .takes_runs = true,
    .min_args = 1, // one is told what is missing
    .max_args = 2,
    .run = run,
};
