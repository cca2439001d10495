// SPDX-License-Identifier: Apache-2.0
// etprof doctor: is this machine fit to measure on? With a word: its levels, its devices.
#include <string.h>

#include "cli/emit.h"
#include "cli/measure.h"
#include "cli/setup.h"
#include "machine/doctor.h"

typedef struct doctor_options {
    const char *runner;
    bool force;
} doctor_options;

#define OF doctor_options
static const etp_opt k_options[] = {
    OPT("runner", 0, STRING, runner, "PATH", "runner program or bundle folder"),
    OPT("force", 0, FLAG, force, NULL,
        "devices restore: also the settings of a session that seems to be running"),
    {0},
};

etp_status etp_cli_check_setup(etp_cli *cli, const char *runner, etp_doctor *out, etp_error *err)
{
    const etp_place place = etp_cli_place(cli);
    etp_device *device = NULL;
    etp_error why = {.offset = ETP_NO_OFFSET};
    const char *qemu = NULL;
    // Opening the device of this machine is looking for its runner.
    etp_status st = etp_session_open_device(&place, NULL, runner, 0, &device, &why);
    if (st == ETP_NOMEM) {
        return etp_fail(err, st, "%s", why.msg);
    }
    bool there = st == ETP_OK;
    const char *reason = etp_arena_strdup(&cli->arena, etp_str_from(why.msg)); // out outlives us
    const char *advice = "build it with scripts/build-runner, or name one with --runner";
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    if (!there && !runner && !place.runner &&
        !etp_bundle_beside(cli->program, facts.triple, &cli->arena)) {
        reason = etp_arena_printf(&cli->arena, "no runner for %s", facts.triple);
        advice = etp_bundle_advice(facts.triple, &cli->arena);
    }
    st = etp_doctor_runner(out, there ? device : NULL, reason, advice, &cli->arena, err);
    etp_status found =
        etp_qemu_find(cli->env_qemu, cli->env_path, cli->program, &cli->arena, &qemu, &why);
    if (st == ETP_OK && found == ETP_NOMEM) {
        st = etp_fail(err, found, "%s", why.msg);
    }
    qemu = etp_z_if(found == ETP_OK, qemu);
    if (st == ETP_OK) {
        etp_doctor_machine(out, ".", qemu, &cli->arena);
    }
    // What was found is partly in the device's own memory, which goes with it.
    for (size_t i = 0; there && i < out->checks.n; i++) {
        out->checks.items[i].found =
            etp_arena_strdup(&cli->arena, etp_str_from(out->checks.items[i].found));
    }
    etp_device_close(there ? device : NULL);
    return st;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const doctor_options *o = opts;
    const char *word = argc > 0 ? argv[0] : "";
    bool levels = strcmp(word, "levels") == 0, devices = strcmp(word, "devices") == 0;
    if (argc > 0 && !devices && !(levels && argc == 1)) {
        return etp_fail(err, ETP_USAGE,
                        "'%s' is not expected here: doctor takes nothing, 'levels', 'devices' or "
                        "'devices restore [SPEC...]'",
                        levels ? argv[1] : word);
    }
    if (!devices && o->force) {
        return etp_fail(err, ETP_USAGE, "--force is an option of 'doctor devices'");
    }
    if (argc > 0 && o->runner) {
        return etp_fail(err, ETP_USAGE, "--runner is an option of doctor alone");
    }
    if (levels) {
        return etp_cli_levels(cli, err);
    }
    if (devices) {
        return etp_cli_devices(cli, o->force, argc - 1, argv + 1, err);
    }
    etp_doctor doctor = {0};
    ETP_TRY(etp_cli_check_setup(cli, o->runner, &doctor, err));
    // Not part of the set-up that validate asks for: it takes a second, and a noisy
    // machine is no broken one.
    etp_doctor_noise(&doctor, &cli->arena);
    ETP_TRY(etp_cli_show(cli, &k_etp_doctor_document, &doctor,
                         etp_doctor_report(&doctor, &cli->arena), "checks", err));
    etp_cli_outcome(cli, !etp_doctor_fit(&doctor));
    return ETP_OK;
}

const etp_command etp_cmd_doctor = {
    .name = "doctor",
    .summary = "is this machine fit to measure on, and what would make it better",
    .usage = "[levels | devices [restore [SPEC...]]]",
    .description =
        "Looks for the runner, asks it what the CPU has, lets it prove that hiding CPU "
        "features works, reads\n"
        "what disturbs measurements (load, clock control, heat, power), and measures "
        "for a second how\n"
        "restless the machine is now, with what would make it calmer. Exit code 1 when "
        "something is missing without which nothing can be measured.\n"
        "\n"
        "'levels' lists the CPU-feature levels of this machine: ordered masks of CPU "
        "features, each of\n"
        "which hides from ExecuTorch's libraries everything above it. Without --levels, "
        "'etprof ab'\n"
        "compares the best level with plain SIMD.\n"
        "\n"
        "'devices' lists what --device can name: this machine, an emulator where there "
        "is one, every device\n"
        "adb knows with its state, and the hosts of the ssh configuration. Hosts are not "
        "contacted;\n"
        "patterns are left out. 'devices restore' undoes what --prepare set on devices "
        "when its session was\n"
        "killed or lost the connection: on all of them, or on those named.",
    .examples = "  etprof doctor\n  etprof doctor --format json\n  etprof doctor levels\n"
                "  etprof doctor devices\n  etprof doctor devices restore",
    .opts = k_options,
    .opts_size = sizeof(doctor_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = -1,
    .run = run,
};
