// SPDX-License-Identifier: Apache-2.0
// A measuring session as the verbs run it: device, folder, progress on the terminal, outcome.
#ifndef ETP_CLI_MEASURE_H
#define ETP_CLI_MEASURE_H

#include "cli/command.h"
#include "measure/session.h"

#define ETP_PREPARE_DIR ".etprof/devices" // journals of --prepare
#define ETP_CPUS_HELP "pin the runner: big, mid, little, or a list like 0 or 2-3,6"
#define ETP_COOL_HELP "begin each block at most C degrees warm; wait TIME at most (default 10m)"
#define ETP_PREPARE_HELP "set an Android device up: boost, app or fixed; undone at the end"

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

// --runner, --runner-on and --runner-off: a stock executor_runner goes into OPTIONS; *out_runner is what
// is left for the device.
ETP_NODISCARD etp_status etp_foreign_option(etp_cli *cli, const char *runner, const char *on,
                                            const char *off, etp_session_options *options,
                                            const char **out_runner, etp_error *err);

// --cool "C" or "C,TIME" into OPTIONS; TEXT NULL: nothing.
ETP_NODISCARD etp_status etp_cool_parse(const char *text, etp_session_options *options, etp_error *err);

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

// --threads as numbers of 1 to 1024.
ETP_NODISCARD etp_status etp_threads_parse(etp_cli *cli, const etp_opt_list *list,
                                           const uint32_t **out, etp_error *err);

// Example inputs that an export left beside the model (<model>.pte.inputs/<method>/<n>.bin) in the
// form of --inputs; says so. NULL when there are none.
const char *etp_inputs_beside(etp_cli *cli, const char *model, const char *method);

// Rows of option tables that measuring verbs share.
#define ETP_PRECISION_HELP "stop when every speedup's interval is within ± this, e.g. 1%"
#define ETP_BUDGET_HELP "stop after the last whole block that fits, e.g. 2m"

#endif
