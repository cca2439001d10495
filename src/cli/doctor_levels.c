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
    const etp_place place = etp_cli_place(cli);
    etp_device *device = NULL;
    // Without a runner the CPU alone counts.
    etp_status st = etp_session_open_device(&place, NULL, NULL, 0, &device, err);
    if (st == ETP_NOMEM) {
        return st;
    }
    st = etp_levels_here(st == ETP_OK ? device->bundle.dir : NULL, &levels, err);
    etp_device_close(device);
    ETP_TRY(st);
    return etp_cli_show(cli, &k_etp_levels_document, &levels,
                        etp_levels_report(&levels, &cli->arena), "levels", err);
}
