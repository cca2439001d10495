// SPDX-License-Identifier: Apache-2.0
// etprof kernels FOLDER: which kernels ran, from the sampled launches of a run folder.
#include "answer/kernels.h"
#include "cli/emit.h"

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)opts;
    (void)argc;
    if (!etp_run_is(argv[0])) {
        return etp_fail(err, ETP_USAGE, "%s is no run folder (no manifest.json of etprof in it)", argv[0]);
    }
    etp_run folder;
    etp_kernels_answer answer;
    ETP_TRY(etp_run_open(argv[0], &cli->arena, &folder, err));
    ETP_TRY(etp_kernels_load(&folder, &cli->arena, &answer, err));
    bool damaged = false;
    for (size_t i = 0; i < answer.n_arms; i++) {
        damaged = damaged || answer.arms[i].problem;
    }
    if (answer.n_sampled == 0 && !damaged) {
        return etp_fail(err, ETP_USAGE,
                        "%s has no sampled launches; measure with 'etprof ab MODEL.pte --kernels'", argv[0]);
    }
    ETP_TRY(etp_kernels_write_files(&answer, argv[0], &cli->arena, err));
    etp_cli_answer out = {
        .json = etp_kernels_json,
        .data = &answer,
        .report = etp_kernels_report(&answer, &cli->arena),
        .csv_table = ETP_KERNELS_TABLE,
    };
    ETP_TRY(etp_cli_emit(cli, &out, err));
    for (size_t i = 0; i < answer.n_arms; i++) {
        if (answer.arms[i].problem) {
            fprintf(stderr, "etprof: samples of %s: %s\n", answer.arms[i].name, answer.arms[i].problem);
        }
        if (answer.arms[i].proof.truth == ETP_CONTRADICTED) {
            etp_cli_outcome(cli, 6);
        }
    }
    if (damaged) {
        etp_cli_outcome(cli, 4);
    }
    return ETP_OK;
}

const etp_command etp_cmd_kernels = {
    .name = "kernels",
    .summary = "which kernels ran, and in which instruction set",
    .usage = "FOLDER",
    .description =
        "Shows what 'etprof ab --kernels' sampled: program counters of unmodified libraries, counted by\n"
        "function, instruction set (told from the machine code) and operator. Writes kernel_view.md and\n"
        "each arm's P_kernels.csv into the folder. Exit code 6 when an arm ran what its level hides.",
    .examples = "  etprof ab model.pte --levels vnni,avx512,avx2 --kernels\n"
                "  etprof kernels out_model/runs/linux",
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
