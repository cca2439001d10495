// SPDX-License-Identifier: Apache-2.0
// etprof explain ID DIR: the rows and the formula behind one sentence.
#include <string.h>

#include "cli/emit.h"
#include "cli/newest.h"
#include "cli/show_ab.h"
#include "cli/units.h"
#include "compare/phases.h"
#include "os/os.h"
#include "show/explanation.h"

#define OF etp_reading_options
const etp_opt k_etp_reading_options[] = {
    OPT("baseline", 'b', STRING, baseline, "ARM", "compare the others with this arm"),
    OPT("pte", 0, STRING, program, "FILE", "the program of bare dumps"),
    OPT("phase", 0, STRING, phase, "NAME",
        "only the phase of this name, e.g. 'decode@256' (default: the first)"),
    OPT("roofs-file", 0, STRING, roofs, "FILE",
        "roofs of the device, from 'etprof roofs --format json'"),
    ETP_CLI_UNITS,
    {0},
};

static etp_status show(etp_cli *cli, const etp_ab *ab, const char *id, etp_error *err)
{
    etp_explanation explanation;
    ETP_TRY(etp_explanation_find(ab, id, &explanation, err));
    etp_answer answer = {.document = &k_etp_explain_document, .data = &explanation};
    if (cli->format != ETP_CLI_JSON) {
        answer.report = etp_explanation_report(&explanation, &cli->arena);
    }
    return etp_cli_emit(cli, &answer, err);
}

// A folder alone: what can be asked about it.
static etp_status list(etp_cli *cli, const etp_ab *ab, etp_error *err)
{
    if (cli->format == ETP_CLI_JSON) {
        return etp_fail(err, ETP_USAGE,
                        "explain takes an ID such as F1; as JSON all of them are in 'etprof "
                        "analyze FOLDER --format json'");
    }
    etp_answer answer = {.report = etp_explanation_list(ab, &cli->arena)};
    return etp_cli_emit(cli, &answer, err);
}

static bool is_path(const char *operand)
{
    return etp_os_is_file(operand) || etp_os_is_dir(operand);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const etp_reading_options *o = opts;
    etp_ab_options how = {
        .units = o->units, .baseline = o->baseline, .program = o->program, .roofs = o->roofs};
    etp_ab_session *session = NULL;
    const char *here = ".";
    // A lone operand is a folder to list or an ID to explain; an ID is never a folder's name unless
    // somebody makes one.
    bool all = argc == 1 && etp_os_is_dir(argv[0]);
    if (all) {
        here = argv[0];
    } else if (argc == 1 && (strchr(argv[0], '/') || etp_os_is_file(argv[0]))) {
        return etp_fail(err, ETP_USAGE,
                        etp_os_is_file(argv[0])
                            ? "%s is a file: say what of it, as in 'etprof explain F1 %s'"
                            : "%s: no such folder; an ID such as F1 comes first: 'etprof explain "
                              "F1 FOLDER'",
                        argv[0], argv[0]);
    } else if (argc == 1) {
        ETP_TRY(etp_cli_newest(cli, &here, err));
    }
    // The ID stands first or, as the change of whatif does, last.
    const bool last = argc > 1 && is_path(argv[0]) && !is_path(argv[argc - 1]);
    const char *id = argv[last ? argc - 1 : 0];
    const char *const *paths = argc > 1 ? (const char *const *)argv + !last : &here;
    ETP_TRY(etp_ab_open(paths, argc > 1 ? (size_t)(argc - 1) : 1, &how, &session, err));
    const etp_ab *ab;
    etp_status st = etp_ab_of_phase(etp_ab_answer(session), o->phase, &ab, err);
    if (st == ETP_OK) {
        st = all ? list(cli, ab, err) : show(cli, ab, id, err);
    }
    etp_ab_close(session);
    return st;
}

const etp_command etp_cmd_explain = {
    .name = "explain",
    .summary = "the rows and the formula behind one sentence of a report",
    .usage = "ID [FOLDER | DUMP...] | FOLDER",
    .description =
        "ID is a finding (F3), a fix (N1), something ruled out (tracer) or an operator "
        "(op7), as reports\n"
        "and report.json name them. Without a folder the working directory is read; a folder "
        "alone lists\n"
        "what can be explained.",
    .examples = "  etprof explain F3 out_model\n"
                "  etprof explain op7 off.etdump on.etdump --pte model.pte",
    .opts = k_etp_reading_options,
    .opts_size = sizeof(etp_reading_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
