// SPDX-License-Identifier: Apache-2.0
// etprof doctor devices: what --device can name here; etprof doctor devices restore: settings that
// a session left.
#include "cli/emit.h"
#include "cli/measure.h"
#include "cli/setup.h"
#include "machine/devices.h"

#include <string.h>

// argv[0] is the word "restore"; without names all are meant.
static bool is_wanted(const char *spec, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], spec) == 0) {
            return true;
        }
    }
    return argc == 1;
}

static void restore_one(etp_cli *cli, const etp_device_options *how,
                        const etp_prepare_journal *journal, bool force, const char **why)
{
    etp_error failed = {0};
    etp_device *device = NULL;
    // Undoing what a session that measures has set would change its device in the middle of a
    // block.
    if (journal->live && !force) {
        *why = "its session still runs (--force restores anyway)";
        return;
    }
    etp_device_options options = *how;
    options.spec = journal->spec;
    etp_status st = etp_device_open(&options, &device, &failed);
    if (st == ETP_OK) {
        st = etp_prepare_undo(device, journal->path, &failed);
    }
    etp_device_close(device);
    if (st != ETP_OK) {
        *why = etp_arena_printf(&cli->arena, "%s", failed.msg);
    }
}

static etp_status restore(etp_cli *cli, const etp_device_options *how, bool force, int argc,
                          char **argv, etp_error *err)
{
    etp_prepare_journals journals;
    etp_restored_list done = {0};
    // Caught, so that a signal does not end this in the middle of a device's settings.
    ETP_TRY(etp_os_catch_signals(err));
    const char *dir = etp_cli_state(cli, "/" ETP_PREPARE_DIR);
    ETP_TRY(etp_prepare_list(ETP_OR(dir, ""), &cli->arena, &journals, err));
    for (size_t i = 0; i < journals.n; i++) {
        const etp_prepare_journal *journal = &journals.items[i];
        if (!is_wanted(journal->spec, argc, argv)) {
            continue;
        }
        etp_restored item = {.spec = journal->spec, .mode = journal->mode};
        restore_one(cli, how, journal, force, &item.why);
        ETP_ADD(&cli->arena, &done, item);
        // One device that does not answer leaves the others to be restored.
        if (item.why) {
            etp_cli_outcome(cli, 5);
        }
    }
    if (done.n == 0 && argc > 1) {
        return etp_fail(
            err, ETP_USAGE,
            "no session left settings on %s; 'etprof doctor devices' lists where any are", argv[1]);
    }
    return etp_cli_show(cli, &k_etp_restored_document, &done,
                        etp_restored_report(&done, &cli->arena), "restored", err);
}

etp_status etp_cli_devices(etp_cli *cli, bool force, int argc, char **argv, etp_error *err)
{
    etp_device_options how = {
        .qemu = cli->env_qemu,
        .search_path = cli->env_path,
        .program = cli->program,
        .ssh_config = cli->env_ssh_config,
    };
    if (argc > 0 && strcmp(argv[0], "restore") != 0) {
        return etp_fail(err, ETP_USAGE, "'doctor devices' takes 'restore' or nothing, not '%s'",
                        argv[0]);
    }
    if (argc > 0) {
        // Setting a device back needs no program of ours on it.
        how.no_runner = true;
        how.work_root = etp_cli_work(cli);
        return restore(cli, &how, force, argc, argv, err);
    }
    if (!how.ssh_config && cli->env_home) {
        const char *path = etp_arena_printf(&cli->arena, "%s/.ssh/config", cli->env_home);
        how.ssh_config = etp_z_if(path && etp_os_is_file(path), path);
    }
    etp_devices_answer found;
    ETP_TRY(etp_device_list_make(&how, &cli->arena, &found.list, err));
    const char *dir = etp_cli_state(cli, "/" ETP_PREPARE_DIR);
    ETP_TRY(etp_prepare_list(ETP_OR(dir, ""), &cli->arena, &found.prepared, err));
    return etp_cli_show(cli, &k_etp_devices_document, &found,
                        etp_devices_report(&found, &cli->arena), "devices", err);
}
