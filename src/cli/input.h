// SPDX-License-Identifier: Apache-2.0
// Standard input in place of a file.
#ifndef ETP_CLI_INPUT_H
#define ETP_CLI_INPUT_H

#include "cli/command.h"

typedef struct etp_cli_input {
    const char *name;       // for people: the path, or "standard input"
    const etp_str *content; // what standard input holds, NULL: the path is the file
    etp_str text;           // private
} etp_cli_input;

// PATH "-" is standard input, at most LIMIT bytes of it.
ETP_NODISCARD etp_status etp_cli_take_input(etp_cli *cli, const char *path, size_t limit,
                                            etp_cli_input *out, etp_error *err);

#endif
