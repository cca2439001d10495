// SPDX-License-Identifier: Apache-2.0
// The tables of ExecuTorch's Inspector, which `ops` and `convert` both write.
#ifndef ETP_CLI_OPS_H
#define ETP_CLI_OPS_H

#include "cli/command.h"

// DUMP's table as text, or with JSON as rows; RECORD and BUFFER (a debug buffer, for JSON) may be
// NULL.
ETP_NODISCARD etp_status etp_ops_inspector(etp_cli *cli, const char *dump, const char *record,
                                           const char *buffer, bool json, etp_error *err);

#endif
