// SPDX-License-Identifier: Apache-2.0
// etprof verify FOLDER: is a run folder what was measured, and do its numbers follow from it?
#include "cli/emit.h"
#include "cli/measure.h"
#include "integrity/verify.h"

typedef struct verify_options {
    bool full;
} verify_options;

#define OF verify_options
static const etp_opt k_options[] = {
    OPT("full", 0, FLAG, full, NULL, "also the files that are as recorded"),
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const verify_options *o = opts;
    (void)argc;
    ETP_TRY(etp_run_expect(argv[0], err));
    etp_verify v;
    ETP_TRY(etp_verify_folder(argv[0], etp_cli_work(cli), &cli->arena, &v, err));
    ETP_TRY(etp_cli_show(cli, &k_etp_verify_document, &v,
                         etp_verify_report(&v, o->full || cli->format != ETP_CLI_TEXT, &cli->arena),
                         "files", err));
    static const int k_codes[] = {3, 1, 0}; // by the verdict, from -1 on
    etp_cli_outcome(cli, k_codes[etp_verify_verdict(&v) + 1]);
    return ETP_OK;
}

const etp_command etp_cmd_verify = {
    .name = "verify",
    .summary = "is a run folder unaltered, and do its numbers follow from its raw files",
    .usage = "FOLDER",
    .description = "Compares every raw file with the hash recorded when the session ended, "
                   "computes every derived\n"
                   "file once more and compares bytes. Exit code 0: all as recorded; 1: something "
                   "was altered, is\n"
                   "missing or does not follow; 3: the session did not end, so there are no "
                   "hashes; 4: unreadable.",
    .examples = "  etprof verify out_model\n"
                "  etprof verify out_model --format json",
    .opts = k_options,
    .opts_size = sizeof(verify_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
