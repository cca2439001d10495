// SPDX-License-Identifier: Apache-2.0
// What a path of a run means, the same for all verbs. A folder that is no run itself but holds runs
// (out_<model>, out_<model>/runs, or a folder that out_<model> is in) stands for the newest of
// them. A run folder is itself; with ETPROF_NEWEST set, as the entries of model_profiling do, whose
// paths are fixed, its name stands for the newest run of that name, and so does a file in it.
#ifndef ETP_CLI_NEWEST_H
#define ETP_CLI_NEWEST_H

#include "cli/command.h"

// Replaces *PATH where it stands for another one and says which was taken.
ETP_NODISCARD etp_status etp_cli_newest(etp_cli *cli, const char **path, etp_error *err);

#endif
