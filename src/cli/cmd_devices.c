// SPDX-License-Identifier: Apache-2.0
// etprof devices: what --device can name here.
#include "answer/devices.h"
#include "cli/emit.h"

#include <stddef.h>

typedef struct devices_options {
    const char *ssh_config;
} devices_options;

static const etp_opt k_options[] = {
    {"ssh-config", 0, ETP_OPT_STRING, offsetof(devices_options, ssh_config), "FILE",
     "list the hosts of this file (default: ETPROF_SSH_CONFIG, else ~/.ssh/config)", NULL},
    {0},
};

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    (void)argv;
    const devices_options *o = opts;
    etp_device_options how = {
        .qemu = cli->env_qemu,
        .search_path = cli->env_path,
        .program = cli->program,
        .ssh_config = o->ssh_config ? o->ssh_config : cli->env_ssh_config,
    };
    if (!how.ssh_config && cli->env_home) {
        const char *path = etp_arena_printf(&cli->arena, "%s/.ssh/config", cli->env_home);
        how.ssh_config = path && etp_os_is_file(path) ? path : NULL;
    }
    etp_device_list list;
    ETP_TRY(etp_device_list_make(&how, &cli->arena, &list, err));
    etp_cli_answer answer = {
        .json = etp_devices_json,
        .data = &list,
        .report = etp_devices_report(&list, &cli->arena),
        .csv_table = "devices",
    };
    return etp_cli_emit(cli, &answer, err);
}

const etp_command etp_cmd_devices = {
    .name = "devices",
    .summary = "what --device can name here",
    .usage = "",
    .description = "Lists this machine, an emulator where there is one, every device adb knows with its state, and\n"
                   "the hosts of the ssh configuration. Hosts are not contacted; patterns are left out.",
    .examples = "  etprof devices\n  etprof devices --format json",
    .opts = k_options,
    .opts_size = sizeof(devices_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = 0,
    .run = run,
};
