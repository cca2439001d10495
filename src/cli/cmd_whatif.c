// SPDX-License-Identifier: Apache-2.0
// etprof whatif DIR CHANGE...: recompute an inference with some operators changed.
#include "cli/emit.h"
#include "cli/units.h"
#include "os/os.h"

// Operands up to the first that is no path are what to read, the others changes.
static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const etp_reading_options *o = opts;
    int paths = 0;
    while (paths < argc && (etp_os_is_file(argv[paths]) || etp_os_is_dir(argv[paths]))) {
        paths++;
    }
    if (paths == 0) {
        return etp_fail(err, ETP_IO, "%s: no such file or folder", argv[0]);
    }
    const etp_question question = {
        .struct_size = sizeof question,
        .kind = ETP_QUESTION_WHATIF,
        .paths = (const char *const *)argv,
        .n_paths = (size_t)paths,
        .changes = (const char *const *)argv + paths,
        .n_changes = (size_t)(argc - paths),
        .program = o->program,
        .roofs = o->roofs,
        .baseline = o->baseline,
        .phase = o->phase,
        .source_unit = o->units.source,
        .delegate_unit = o->units.delegate,
    };
    return etp_cli_emit_reply(cli, etp_reply_whatif, &question, err);
}

const etp_command etp_cmd_whatif = {
    .name = "whatif",
    .summary = "recompute an inference with operators dropped, sent back or sped up",
    .usage = "FOLDER | DUMP... CHANGE...",
    .description =
        "Adds up the measured times with the changes applied: ExecuTorch runs operators one after\n"
        "another. Changes: 'fix N1' (a fix of the answer), 'drop GLOB', 'back GLOB' (to the "
        "baseline's\n"
        "time), 'scale GLOB N' (N times faster), 'GLOB at-roof' (the least time possible, where "
        "roofs are\n"
        "known), 'threads N' (another measured arm). A glob that matches a category's name means "
        "its\n"
        "operators ('conv*': Convolution); any other is looked for in names, labels and ids.",
    .examples = "  etprof whatif out_model 'drop transpose*' 'scale conv* 2'\n"
                "  etprof whatif out_model 'fix N1'\n"
                "  etprof whatif off.etdump on.etdump 'back op7'",
    .opts = k_etp_reading_options,
    .opts_size = sizeof(etp_reading_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
