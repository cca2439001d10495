// SPDX-License-Identifier: Apache-2.0
// The verbs, in the order of help.
#include "cli/command.h"

extern const etp_command etp_cmd_run, etp_cmd_ab, etp_cmd_analyze, etp_cmd_compare, etp_cmd_devices, etp_cmd_explain,
    etp_cmd_export, etp_cmd_inspect, etp_cmd_kernels, etp_cmd_levels, etp_cmd_models,
    etp_cmd_ops,
    etp_cmd_plan, etp_cmd_report, etp_cmd_roofs, etp_cmd_stats, etp_cmd_whatif;
extern const etp_command etp_cmd_verify;
extern const etp_command etp_cmd_rerun;
extern const etp_command etp_cmd_pack;
extern const etp_command etp_cmd_unpack;
extern const etp_command etp_cmd_doctor;

const etp_command *const k_etp_commands[] = {
    &etp_cmd_ab, &etp_cmd_run, &etp_cmd_analyze, &etp_cmd_compare, &etp_cmd_explain,
    &etp_cmd_whatif, &etp_cmd_report, &etp_cmd_verify, &etp_cmd_rerun, &etp_cmd_pack, &etp_cmd_unpack, &etp_cmd_kernels, &etp_cmd_ops, &etp_cmd_inspect, &etp_cmd_stats,
    &etp_cmd_plan, &etp_cmd_export, &etp_cmd_models, &etp_cmd_levels, &etp_cmd_doctor, &etp_cmd_devices, &etp_cmd_roofs, NULL,
};
