// SPDX-License-Identifier: Apache-2.0
// A measuring session as the verbs run it: device, folder, progress on the terminal, outcome.
#ifndef ETP_CLI_MEASURE_H
#define ETP_CLI_MEASURE_H

#include "cli/command.h"
#include "measure/session.h"

#define ETP_PREPARE_DIR "devices" // journals of --prepare, in the user's state

// Where temporary folders go: .etprof/work, or the user's state where the working directory cannot
// be written to.
const char *etp_cli_work(etp_cli *cli);

typedef struct etp_measure_request {
    const char *device, *runner; // --device and --runner; NULL: the defaults
    const char *dir;             // run folder wanted; NULL: out_<model>/runs/<platform>
    bool exact;                  // it must be empty or new; else a taken one becomes <dir>.2
    const char *prepare;         // --prepare, NULL: leave the device as it is
    const char *config;          // path of the config that asked for it, NULL
    bool roofs;                  // measure the device's roofs first unless they are known
    etp_run *resume; // the folder `dir` as it was read: go on with it; NULL: a new session
} etp_measure_request;

// The user's own state: $XDG_STATE_HOME/etprof, else ~/.local/state/etprof; with BELOW a place in
// it. NULL without a home. Never the working directory, which may be anybody's.
const char *etp_cli_state(etp_cli *cli, const char *below);

// Options that depend on the device can be settled once it is known; NULL: nothing to settle.
typedef etp_status etp_measure_settle(void *ctx, const etp_device *device,
                                      const etp_device_cpu *cpu, etp_session_options *options,
                                      etp_error *err);

// Opens the device of --device and --runner (NULL: the defaults) in the user's environment.
ETP_NODISCARD etp_status etp_measure_open(etp_cli *cli, const char *spec, const char *runner,
                                          double timeout_s, etp_device **out, etp_error *err);

// Probes, plans, claims the folder, measures. *out_dir is the run folder.
ETP_NODISCARD etp_status etp_measure(etp_cli *cli, const etp_measure_request *request,
                                     etp_session_options *options, etp_measure_settle *settle,
                                     void *ctx, const char **out_dir, etp_error *err);

typedef struct etp_measure_again_request {
    const char *dir; // run folder whose plan it is
    const char *device,
        *runner;      // --device and --runner; NULL: the folder's device, the default runner
    double timeout_s; // 0: the default
    bool resume;      // go on with it; else repeat it from the beginning in a folder beside it
    bool trust;       // --trust
} etp_measure_again_request;
// May what the folder names be started, contacted and read? Yes when this machine made it, with
// --trust, or when device and runner were both named again. ETP_USAGE otherwise. The one answer for
// all verbs (docs/trust.md).
ETP_NODISCARD etp_status etp_measure_allowed(etp_cli *cli, const etp_measure_again_request *again,
                                             const etp_run *run, etp_error *err);
// Measures with the plan of a run folder. ETP_USAGE when there is nothing to go on with, or it is
// not allowed.
ETP_NODISCARD etp_status etp_measure_again(etp_cli *cli, const etp_measure_again_request *again,
                                           const char **out_dir, etp_error *err);

#endif
