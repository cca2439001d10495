// SPDX-License-Identifier: Apache-2.0
// etprof doctor levels: which CPU-feature levels this machine has and can be switched to.
#include "cli/emit.h"
#include "cli/measure.h"
#include "cli/setup.h"
#include "device/device.h"
#include "machine/levels.h"

etp_status etp_cli_levels(etp_cli *cli, etp_error *err)
{
    etp_levels levels;
    etp_device_options how = {.runner = cli->env_runner,
                              .search_path = cli->env_path,
                              .program = cli->program,
                              .work_root = etp_cli_work(cli)};
    etp_device *device = NULL;
    etp_status st = etp_device_open(&how, &device, err); // without a runner the CPU alone counts
    if (st == ETP_NOMEM) {
        return st;
    }
    st = etp_levels_here(st == ETP_OK ? device->bundle.dir : NULL, &levels, err);
    etp_device_close(device);
    ETP_TRY(st);
    return etp_cli_show(cli, &k_etp_levels_document, &levels,
                        etp_levels_report(&levels, &cli->arena), "levels", err);
}
