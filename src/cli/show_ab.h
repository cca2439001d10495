// SPDX-License-Identifier: Apache-2.0
// What ab, run and analyze do alike once the raw data is there.
#ifndef ETP_CLI_SHOW_AB_H
#define ETP_CLI_SHOW_AB_H

#include "cli/command.h"
#include "judge/open.h"
#include "kit/files.h"
#include "session/session.h"

typedef struct etp_show_options {
    bool full;              // every section also in text
    bool proof;             // operator names side by side instead of times
    bool price;             // what the arms cost instead of where time goes
    const char *table;      // of CSV, by its id; NULL: the answer's main one
    const char *tables_dir; // write the tables as files there; NULL: do not
    etp_kit_options tables; // what they are to be like
    const char *phase;      // of a session of several that alone; NULL: all
    const char *title;      // of the report, NULL: the model's
    bool write_files;       // renew the derived files of the run folder
} etp_show_options;

// Opens, writes derived files, prints, and records the outcome for the exit code.
ETP_NODISCARD etp_status etp_show_ab(etp_cli *cli, const char *const *paths, size_t n_paths,
                                     const etp_ab_options *how, const etp_show_options *show,
                                     etp_error *err);

// Says which files of a run folder were left as they are.
void etp_cli_say_kept(const etp_cli *cli, const etp_kit_kept *kept);

// One report over several folders; their files stay as they are.
ETP_NODISCARD etp_status etp_show_combined(etp_cli *cli, const char *const *paths, size_t n_paths,
                                           const etp_ab_options *how, const char *title,
                                           etp_error *err);

// A folder that Arm's kit left: its figures, reproduced and corrected.
ETP_NODISCARD etp_status etp_show_kit_folder(etp_cli *cli, const char *path, bool full,
                                             etp_error *err);

// The end of `ab`: derived files and the answer.
ETP_NODISCARD etp_status etp_show_measured(etp_cli *cli, const char *dir,
                                           const etp_session_options *call, etp_error *err);

#endif
