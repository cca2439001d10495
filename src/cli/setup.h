// SPDX-License-Identifier: Apache-2.0
// Is this machine fit to measure on: what doctor and validate setup ask alike.
#ifndef ETP_CLI_SETUP_H
#define ETP_CLI_SETUP_H

#include "cli/command.h"
#include "machine/doctor.h"

// RUNNER NULL: the default. A missing runner is a check that failed, not an error.
ETP_NODISCARD etp_status etp_cli_check_setup(etp_cli *cli, const char *runner, etp_doctor *out,
                                             etp_error *err);

// `etprof doctor levels`, `etprof doctor devices`: ARGV are the words behind "devices".
ETP_NODISCARD etp_status etp_cli_levels(etp_cli *cli, etp_error *err);
ETP_NODISCARD etp_status etp_cli_devices(etp_cli *cli, bool force, int argc, char **argv,
                                         etp_error *err);

#endif
