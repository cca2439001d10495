// SPDX-License-Identifier: Apache-2.0
// etprof baselines: run folders that have a name; save gives one, remove takes it away.
#include <string.h>

#include "cli/archived.h"
#include "cli/baseline.h"
#include "cli/emit.h"
#include "cli/measure.h"
#include "study/gate/baselines.h"

static etp_status list(etp_cli *cli, etp_error *err)
{
    etp_baselines found;
    ETP_TRY(etp_baseline_list(etp_cli_state(cli, ""), &cli->arena, &found, err));
    // A name whose folder is gone may still be good for `gate --against`; the list says so.
    etp_archive *archive = etp_cli_archive_if_any(cli, NULL);
    for (size_t i = 0; i < found.n && archive; i++) {
        etp_baseline *b = &found.items[i];
        etp_archive_session entry;
        bool there = false;
        b->stored =
            b->dir &&
            etp_archive_get(archive, b->sha256, &cli->arena, &entry, &there, NULL) == ETP_OK &&
            there;
    }
    etp_archive_close(archive);
    etp_answer answer = {.json = etp_baselines_json,
                         .data = &found,
                         .report = etp_baselines_report(&found, &cli->arena),
                         .csv_table = "baselines"};
    return etp_cli_emit(cli, &answer, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)opts;
    const char *word = argc > 0 ? argv[0] : NULL;
    if (!word) {
        return list(cli, err);
    }
    if (strcmp(word, "save") == 0 && argc == 3) {
        return etp_cli_save(cli, argv[1], argv[2], err);
    }
    if (strcmp(word, "remove") != 0 || argc < 2) {
        return etp_fail(err, ETP_USAGE,
                        "baselines takes nothing, 'save NAME FOLDER' or 'remove NAME...'");
    }
    for (int i = 1; i < argc; i++) {
        ETP_TRY(etp_baseline_remove(etp_cli_state(cli, ""), argv[i], &cli->arena, err));
    }
    return ETP_OK;
}

static const etp_opt k_options[] = {{0}};

const etp_command etp_cmd_baselines = {
    .name = "baselines",
    .summary = "run folders by name, for gate --against",
    .usage = "[save NAME FOLDER | remove NAME...]",
    .description =
        "Lists the names that 'etprof ab --save NAME' gave, with the folder of each and whether it "
        "is still\n"
        "the run that was saved: moved, or changed, is said. A name is kept with the hash of the\n"
        "folder's manifest in ~/.local/state/etprof/baselines ($XDG_STATE_HOME).\n"
        "\n"
        "'save' gives a finished run folder a name, 'remove' takes names away; folders stay.",
    .examples = "  etprof ab model.pte --save main\n"
                "  etprof gate out_model --against main\n"
                "  etprof baselines save main out_model/runs/linux_x86_64\n"
                "  etprof baselines remove main",
    .opts = k_options,
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = -1,
    .run = run,
};
