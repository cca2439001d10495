// SPDX-License-Identifier: Apache-2.0
// Run folders by name: --save of ab, --against, --list, --save and --forget of gate.
#ifndef ETP_CLI_BASELINE_H
#define ETP_CLI_BASELINE_H

#include "archive/archive.h"
#include "cli/command.h"

// DIR gets NAME, and a line says so.
ETP_NODISCARD etp_status etp_cli_save(etp_cli *cli, const char *name, const char *dir,
                                      etp_error *err);
// *PATH is a folder, or else the name of one: it becomes that folder. When the folder that got the
// name is gone or another one, *OUT_STORED is its run_id if the store of sessions has it, and else
// it is ETP_IO or ETP_CORRUPT. ETP_USAGE when nothing is called so.
ETP_NODISCARD etp_status etp_cli_resolve_baseline(etp_cli *cli, const char **path,
                                                  const etp_archive_session **out_stored,
                                                  etp_error *err);

#endif
