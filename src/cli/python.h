// SPDX-License-Identifier: Apache-2.0
// A question that the Python package answers.
#ifndef ETP_CLI_PYTHON_H
#define ETP_CLI_PYTHON_H

#include "cli/command.h"

// What `python -m etprof.VERB OPERAND` prints. The error has its words and its kind.
ETP_NODISCARD etp_status etp_cli_ask_python(etp_cli *cli, const char *verb, const char *operand,
                                            etp_str *out, etp_error *err);

#endif
