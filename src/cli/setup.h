// SPDX-License-Identifier: Apache-2.0
// Is this machine fit to measure on: what doctor and validate setup ask alike.
#ifndef ETP_CLI_SETUP_H
#define ETP_CLI_SETUP_H

#include "cli/command.h"
#include "machine/doctor.h"

// RUNNER NULL: the default. A missing runner is a check that failed, not an error.
ETP_NODISCARD etp_status etp_cli_check_setup(etp_cli *cli, const char *runner, etp_doctor *out,
                                             etp_error *err);

#endif
