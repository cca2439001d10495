// SPDX-License-Identifier: Apache-2.0
// What the Python package does: start.py has the verbs.
#ifndef ETP_CLI_PYTHON_H
#define ETP_CLI_PYTHON_H

#include "cli/command.h"

// This process becomes `python -m etprof.VERB ARGV`; comes back only when that failed.
ETP_NODISCARD etp_status etp_cli_become_python(etp_cli *cli, const char *verb, int argc,
                                               const char *const *argv, etp_error *err);
// The same with N OPTIONS, of which NULL are left out, then "--" and ARGV.
ETP_NODISCARD etp_status etp_cli_become_python_with(etp_cli *cli, const char *verb,
                                                    const char *const *options, size_t n, int argc,
                                                    char **argv, etp_error *err);
// `run` of a verb whose options are texts, lists, flags, choices, counts, times and ratios: with
// what was typed of them and of those that every verb has.
ETP_NODISCARD etp_status etp_cli_run_in_python(etp_cli *cli, const void *opts, int argc,
                                               char **argv, etp_error *err);
// What `python -m etprof.VERB OPERAND` prints. The error has its words and its kind.
ETP_NODISCARD etp_status etp_cli_ask_python(etp_cli *cli, const char *verb, const char *operand,
                                            etp_str *out, etp_error *err);

#endif
