// SPDX-License-Identifier: Apache-2.0
// A measuring session as the verbs run it: what the environment offers, progress on the terminal,
// the outcome as exit code.
#ifndef ETP_CLI_MEASURE_H
#define ETP_CLI_MEASURE_H

#include "cli/command.h"
#include "session/arguments.h"

// Where temporary folders go: .etprof/work, or the user's state where the working directory cannot
// be written to, or a new folder in TMPDIR where that cannot either (no home, a read-only one).
const char *etp_cli_work(etp_cli *cli);

// The user's own state: $XDG_STATE_HOME/etprof, else ~/.local/state/etprof; BELOW, "/…" or "", is a
// place in it. NULL without a home. Never the working directory, which may be anybody's.
const char *etp_cli_state(etp_cli *cli, const char *below);

etp_place etp_cli_place(etp_cli *cli);

// `run` becomes `ab`, and says by ETPROF_CONFIG which config that comes from, whose folder is not
// meant exactly, and by ETPROF_COMMAND which line repeats it.
// A session, and that of again->dir once more beside it: command and place are filled in.
ETP_NODISCARD etp_status etp_cli_measure(etp_cli *cli, etp_session_options *options,
                                         const char **out_dir, etp_error *err);
ETP_NODISCARD etp_status etp_cli_repeat(etp_cli *cli, etp_session_options *again,
                                        const char **out_dir, etp_error *err);
// --resume: goes on with the session of the folder that it names (or the newest one there).
// OPERANDS as of etp_session_again_of.
ETP_NODISCARD etp_status etp_cli_resume(etp_cli *cli, const etp_session_options *given,
                                        const char *operands, const char **out_dir, etp_error *err);

#endif
