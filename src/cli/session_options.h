// SPDX-License-Identifier: Apache-2.0
// What a user may say about a session, the same way for every verb that measures.
#ifndef ETP_CLI_SESSION_OPTIONS_H
#define ETP_CLI_SESSION_OPTIONS_H

#include "cli/command.h"
#include "measure/session.h"

// Rows of option tables that measuring verbs share.
#define ETP_PRECISION_HELP "stop when every speedup's interval is within ± this, e.g. 1%"
#define ETP_BUDGET_HELP "stop after the last whole block that fits, e.g. 2m"
#define ETP_RESIDENT_HELP "also let the arms take turns, loaded side by side: a second estimate"
#define ETP_CPUS_HELP "pin the runner: big, mid, little, or a list like 0 or 2-3,6"
#define ETP_COOL_HELP "begin each block at most C degrees warm; wait TIME at most (default 10m)"
#define ETP_TRUST_HELP "use what a folder names although another machine made it"
#define ETP_PREPARE_HELP \
    "set an Android device up: boost, app, fixed or none (default); undone at the end"

typedef struct etp_session_given { // as typed for ab and sweep; zero: not given
    etp_opt_list levels, threads, fail_on;
    const char *baseline, *device, *runner, *out, *method, *inputs, *data, *cpus, *ssh_config,
        *resume, *prepare, *cool;
    uint64_t blocks, iterations, warmup, seed;
    double budget, timeout, margin_percent, precision_percent;
    bool full, no_trace, resident, trust;
} etp_session_given;

// Everything in GIVEN but models, threads and inputs, which each verb chooses in its own way.
ETP_NODISCARD etp_status etp_session_options_given(const etp_session_given *given,
                                                   etp_session_options *out, etp_error *err);

// The plan of a resumed session is in its folder: an option of TABLE that could contradict it is
// refused. OPERANDS: what the operands are called when there are any, else NULL.
ETP_NODISCARD etp_status etp_resume_check(const etp_opt *table, const void *opts,
                                          const char *operands, etp_error *err);

// --runner, --runner-on and --runner-off: a stock executor_runner goes into OPTIONS; *out_runner is
// what is left for the device.
ETP_NODISCARD etp_status etp_foreign_option(etp_cli *cli, const char *runner, const char *on,
                                            const char *off, etp_session_options *options,
                                            const char **out_runner, etp_error *err);

// --cool "C" or "C,TIME" into OUT; TEXT NULL: nothing.
ETP_NODISCARD etp_status etp_cool_parse(const char *text, etp_cool *out, etp_error *err);

// --threads as numbers of 1 to 1024.
ETP_NODISCARD etp_status etp_threads_parse(etp_cli *cli, const etp_opt_list *list,
                                           const uint32_t **out, etp_error *err);

// Example inputs that an export left beside the model (<model>.pte.inputs/<method>/<n>.bin) in the
// form of --inputs; says so. NULL when there are none.
const char *etp_inputs_beside(etp_cli *cli, const char *model, const char *method);

#endif
