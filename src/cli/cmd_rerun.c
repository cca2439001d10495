// SPDX-License-Identifier: Apache-2.0
// etprof rerun FOLDER: repeat a session with its own plan, and say whether the ratios come out
// again.
#include "cli/emit.h"
#include "cli/measure.h"
#include "judge/open.h"
#include "publish/files.h"
#include "study/rerun.h"

typedef struct rerun_options {
    const char *device, *runner;
    double margin, timeout;
    bool trust;
} rerun_options;

#define OF rerun_options
static const etp_opt k_options[] = {
    OPT("margin", 0, PERCENT, margin, "PERCENT", "ratios this close are the same (default 5)"),
    OPT("device", 'd', STRING, device, "SPEC", "another device than the folder's"),
    OPT("trust", 0, FLAG, trust, NULL, "trust paths and devices in a run folder made elsewhere"),
    OPT("runner", 0, STRING, runner, "PATH", "runner program or bundle folder"),
    OPT("timeout", 0, TIME, timeout, "TIME", "longest silence of a runner (default 60s)"),
    {0},
};

static etp_status show(etp_cli *cli, const etp_ab_session *first, const etp_ab_session *second,
                       double margin, etp_error *err)
{
    // By etp_rerun_verdict: unknown, reproduced, not reproduced.
    static const int k_codes[] = {3, 0, 1};
    etp_rerun rerun;
    ETP_TRY(etp_rerun_compare(etp_ab_answer(first), etp_ab_answer(second), margin, &cli->arena,
                              &rerun, err));
    ETP_TRY(etp_cli_show(cli, &k_etp_rerun_document, &rerun, etp_rerun_report(&rerun, &cli->arena),
                         "comparisons", err));
    etp_cli_outcome(cli, k_codes[rerun.verdict]);
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const rerun_options *o = opts;
    const char *old_dir = argv[0], *new_dir = NULL;
    ETP_TRY(etp_run_expect(old_dir, err));
    etp_session_options again = {
        .dir = old_dir,
        .device = o->device,
        .runner = o->runner,
        .timeout = o->timeout,
        .trust = o->trust,
    };
    ETP_TRY(etp_cli_repeat(cli, &again, &new_dir, err));
    etp_ab_session *first = NULL, *second = NULL;
    etp_ab_options how = {0};
    // Both are shown as the first one was: by its baseline and margin, so that the same ratios are
    // set side by side.
    etp_status st = etp_run_report_options(old_dir, &cli->arena, &how.baseline, &how.margin, err);
    if (st == ETP_OK) {
        st = etp_ab_open(&old_dir, 1, &how, &first, err);
    }
    if (st == ETP_OK) {
        st = etp_ab_open(&new_dir, 1, &how, &second, err);
    }
    if (st == ETP_OK) {
        st = etp_ab_write_files(second, new_dir, err);
    }
    if (st == ETP_OK) {
        st = show(cli, first, second, o->margin, err);
    }
    etp_ab_close(second);
    etp_ab_close(first);
    return st;
}

const etp_command etp_cmd_rerun = {
    .name = "rerun",
    .summary = "repeat a session with its own plan: reproduced, not, or unknown",
    .usage = "FOLDER",
    .description = "Measures once more with the plan, seed and device of FOLDER, into a new folder "
                   "beside it, and\n"
                   "compares every speedup. Reproduced: the 95 % interval of second / first lies "
                   "within the margin\n"
                   "(exit code 0); not: outside it (1); else unknown (3).",
    .examples = "  etprof rerun out_model\n"
                "  etprof rerun out_model --margin 3 --format json",
    .opts = k_options,
    .opts_size = sizeof(rerun_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
