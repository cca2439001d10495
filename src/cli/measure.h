// SPDX-License-Identifier: Apache-2.0
// A measuring session as the verbs run it: device, folder, progress on the terminal, outcome.
#ifndef ETP_CLI_MEASURE_H
#define ETP_CLI_MEASURE_H

#include "cli/command.h"
#include "measure/session.h"

#define ETP_PREPARE_DIR ".etprof/devices" // journals of --prepare

typedef struct etp_measure_request {
    const char *device, *runner; // --device and --runner; NULL: the defaults
    const char *dir;             // run folder wanted; NULL: out_<model>/runs/<platform>
    bool exact;                  // it must be empty or new; else a taken one becomes <dir>.2
    const char *prepare;         // --prepare, NULL: leave the device as it is
    const char *config;          // path of the config that asked for it, NULL
    bool roofs;                  // measure the device's roofs first unless they are known
    etp_run *resume;             // the folder `dir` as it was read: go on with it; NULL: a new session
} etp_measure_request;

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

// Measures with the plan of the run folder DIR: goes on with it, or repeats it from the beginning in
// another folder beside it. RUNNER NULL and TIMEOUT_S 0: the defaults. ETP_USAGE when there is nothing to
// go on with.
ETP_NODISCARD etp_status etp_measure_again(etp_cli *cli, const char *dir, const char *runner,
                                           double timeout_s, bool resume, const char **out_dir,
                                           etp_error *err);

#endif
