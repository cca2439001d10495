// SPDX-License-Identifier: Apache-2.0
// The verbs, in the order of help.
#include "cli/command.h"

// Declared here and nowhere else: nobody calls a verb but through the table below.
extern const etp_command etp_cmd_ab;
extern const etp_command etp_cmd_analyze;
extern const etp_command etp_cmd_compare;
extern const etp_command etp_cmd_convert;
extern const etp_command etp_cmd_doctor;
extern const etp_command etp_cmd_explain;
extern const etp_command etp_cmd_export;
extern const etp_command etp_cmd_fix;
extern const etp_command etp_cmd_gate;
extern const etp_command etp_cmd_history;
extern const etp_command etp_cmd_inspect;
extern const etp_command etp_cmd_kernels;
extern const etp_command etp_cmd_mcp;
extern const etp_command etp_cmd_ops;
extern const etp_command etp_cmd_replay;
extern const etp_command etp_cmd_rerun;
extern const etp_command etp_cmd_roofs;
extern const etp_command etp_cmd_run;
extern const etp_command etp_cmd_skills;
extern const etp_command etp_cmd_stats;
extern const etp_command etp_cmd_validate;
extern const etp_command etp_cmd_verify;
extern const etp_command etp_cmd_whatif;

const etp_command *const k_etp_commands[] = {
    &etp_cmd_ab,      &etp_cmd_run,     &etp_cmd_analyze,  &etp_cmd_compare,
    &etp_cmd_explain, &etp_cmd_whatif,  &etp_cmd_fix,      &etp_cmd_gate,
    &etp_cmd_history, &etp_cmd_convert, &etp_cmd_validate, &etp_cmd_verify,
    &etp_cmd_rerun,   &etp_cmd_replay,  &etp_cmd_kernels,  &etp_cmd_ops,
    &etp_cmd_inspect, &etp_cmd_stats,   &etp_cmd_export,   &etp_cmd_doctor,
    &etp_cmd_roofs,   &etp_cmd_skills,  &etp_cmd_mcp,      NULL,
};
