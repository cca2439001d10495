// SPDX-License-Identifier: Apache-2.0
// etprof validate setup|DIR|FILE: are files well formed and their numbers in agreement? The Python
// package looks; which run a path means, and how the answer looks, is here.
#include <string.h>

#include "cli/emit.h"
#include "cli/newest.h"
#include "cli/python.h"
#include "cli/setup.h"
#include "integrity/validation.h"

typedef struct validate_options {
    const char *runner;
    bool full;
} validate_options;

#define OF validate_options
static const etp_opt k_options[] = {
    OPT("runner", 0, STRING, runner, "PATH", "setup: runner program or bundle folder"),
    OPT("full", 0, FLAG, full, NULL, "also the checks that passed"),
    {0},
};

static etp_status validate(etp_cli *cli, const validate_options *o, const char *what,
                           etp_validation *v, etp_error *err)
{
    // The word before the path: a folder called setup is ./setup.
    if (strcmp(what, "setup") != 0) {
        if (o->runner) {
            return etp_fail(err, ETP_USAGE, "--runner is for 'etprof validate setup'");
        }
        etp_str text;
        ETP_TRY(etp_cli_newest(cli, &what, err));
        ETP_TRY(etp_cli_ask_python(cli, "validate", what, &text, err));
        return etp_validation_read(text, &cli->arena, v, err);
    }
    etp_doctor doctor = {0};
    ETP_TRY(etp_cli_check_setup(cli, o->runner, &doctor, err));
    etp_validate_setup(&doctor.checks, &cli->arena, v);
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const validate_options *o = opts;
    etp_validation v;
    ETP_TRY(validate(cli, o, argv[0], &v, err));
    etp_answer answer = {
        .document = &k_etp_validate_document,
        .data = &v,
        .report = etp_validate_report(&v, &cli->arena),
        .csv_table = "checks",
        .brief = !o->full,
    };
    ETP_TRY(etp_cli_emit(cli, &answer, err));
    etp_cli_outcome(cli, v.failed > 0);
    return ETP_OK;
}

const etp_command etp_cmd_validate = {
    .name = "validate",
    .summary = "are files well formed, and do their numbers agree with each other",
    .usage = "setup | FOLDER | FILE",
    .description = "Parses every dump, model and document, holds documents against their JSON "
                   "Schemas and tables against\n"
                   "their columns, and compares figures that occur twice: medians with samples, "
                   "tables with dumps, sums\n"
                   "with their parts. Takes run folders, folders of Arm's kit, dumps and single "
                   "files; what is wrong is\n"
                   "named with what to do. 'setup' asks what 'etprof doctor' asks. A folder called "
                   "setup is ./setup.\n"
                   "Exit code 0: valid; 1: not. Whether a folder is still what was measured says "
                   "'etprof verify'.",
    .examples = "  etprof validate setup\n"
                "  etprof validate out_model\n"
                "  etprof validate report.json --format json",
    .opts = k_options,
    .opts_size = sizeof(validate_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
