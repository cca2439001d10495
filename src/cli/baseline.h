// SPDX-License-Identifier: Apache-2.0
// Run folders by name: --against, --list, --save and --forget of gate.
#ifndef ETP_CLI_BASELINE_H
#define ETP_CLI_BASELINE_H

#include "cli/command.h"

// DIR gets NAME, and a line says so.
ETP_NODISCARD etp_status etp_cli_save(etp_cli *cli, const char *name, const char *dir,
                                      etp_error *err);
// *PATH is a folder, or else the name of one: it becomes that folder. ETP_IO, ETP_CORRUPT: the
// folder that got the name is gone, or another one. ETP_USAGE: nothing is called so.
ETP_NODISCARD etp_status etp_cli_resolve_baseline(etp_cli *cli, const char **path, etp_error *err);

#endif
