// SPDX-License-Identifier: Apache-2.0
// Samples from wherever the user has them: a CSV, standard input, a run folder.
#ifndef ETP_CLI_SAMPLE_FILE_H
#define ETP_CLI_SAMPLE_FILE_H

#include <etprof/stats.h>

#include "cli/command.h"
#include "store/store.h"

typedef struct etp_sample_file {
    const char *name; // for people: the path, or "standard input"
    etp_sample_table table;
    const etp_run *run; // NULL: not a run folder
    uint32_t baseline;  // by the rule of etp_choose_baseline
    double launch_ns;   // cost of one timed launch beyond its timed iterations, traced and control
                        // launches included; NAN unknown (only run folders know)
} etp_sample_file;

// PATH "-" is standard input. WANTED names the baseline, NULL leaves it to the rule. Everything
// lives in cli->arena.
ETP_NODISCARD etp_status etp_sample_file_read(etp_cli *cli, const char *path, const char *wanted,
                                              etp_sample_file *out, etp_error *err);

#endif
