// SPDX-License-Identifier: Apache-2.0
// etprof fix: applies what an answer proposes, measures it and says what it brought. The Python
// package does it, whose exporter makes the programs; what may be typed is here.
#include "cli/measure.h"
#include "cli/python.h"
#include "cli/session_options.h"
#include "store/store.h"

typedef struct fix_options {
    etp_session_options session; // first: the rows of options.def
    bool all, trust, no_install;
    const char *source, *out, *runner, *python;
} fix_options;

#define OF fix_options
static const etp_opt k_options[] = {
    OPT("all", 0, FLAG, all, NULL,
        "one fix after the other while they help, each on top of those before"),
    OPT("source", 0, STRING, source, "MODEL",
        "for a program without export.json: what was exported, as given to 'etprof export'"),
#define OPTION(where, field, type, key, limit, verbs, resume, ...) \
    ETP_OPTION(ETP_OF_FIX verbs, where, field, type, __VA_ARGS__)
#include "store/options.def"
    OPT("runner", 0, STRING, runner, "PATH", "runner program or bundle folder"),
    OPT("out", 0, STRING, out, "DIR",
        "folder to make for the steps (default: fixes, beside the runs)"),
    OPT("python", 0, STRING, python, "PATH", "an interpreter that has torch and executorch"),
    OPT("no-install", 0, FLAG, no_install, NULL,
        "install nothing that a model needs: say what is missing"),
    OPT("trust", 0, FLAG, trust, NULL, "export and measure what a run folder made elsewhere names"),
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const fix_options *o = opts;
    const char *dir = argv[0];
    etp_run run;
    // A run folder says which Python code is run and where it is measured.
    if (!o->trust && etp_run_is(dir)) {
        ETP_TRY(etp_run_open_manifest(dir, &cli->arena, &run, err));
        if (!etp_run_trusted(etp_cli_state(cli, ""), &run)) {
            return etp_fail(
                err, ETP_USAGE,
                "%s was not measured by you on this machine, and says which model is "
                "exported and where it runs: look at its manifest.json; --trust uses it",
                dir);
        }
    }
    return etp_cli_run_in_python(cli, opts, argc, argv, err);
}

const etp_command etp_cmd_fix = {
    .name = "fix",
    .summary = "apply a fix of an answer, measure it, and hold it against what was predicted",
    .usage = "FOLDER | MODEL.pte [N1 ...]",
    .description =
        "Exports the model with the fix N1 (without a name: the first that an export makes), "
        "checks the\n"
        "outputs, measures the old program against the new one in pairs at the level that the "
        "answer is of,\n"
        "and prints what was predicted and what was measured. What exporting again without the "
        "fix brings is\n"
        "told apart. Several fixes are taken one after the other; one that does not help is "
        "undone. MODEL.pte\n"
        "is measured first.\n"
        "\n"
        "Every step stays in a folder with its program, its run folder and fix.json. The same "
        "command goes on\n"
        "after an interruption. The model is told by the export.json beside the program, whose "
        "Python code is\n"
        "run.\n"
        "\n"
        "Exit code 0: a fix made the program faster; 1: none did; 3: the measurements cannot "
        "tell.",
    .examples = "  etprof fix out_model\n"
                "  etprof fix out_model N2 --blocks 20\n"
                "  etprof fix model.pte --all",
    .opts = k_options,
    .opts_size = sizeof(fix_options),
    .formats = ETP_CLI_FORMAT_BIT(ETP_CLI_TEXT) | ETP_CLI_FORMAT_BIT(ETP_CLI_JSON),
    .takes_runs = true,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
