// SPDX-License-Identifier: Apache-2.0
// etprof doctor: is this machine fit to measure on?
#include <stddef.h>

#include "cli/emit.h"
#include "cli/measure.h"
#include "cli/setup.h"
#include "machine/doctor.h"

typedef struct doctor_options {
    const char *runner;
} doctor_options;

static const etp_opt k_options[] = {
    {"runner", 0, ETP_OPT_STRING, offsetof(doctor_options, runner), "PATH",
     "runner program or bundle folder", NULL},
    {0},
};

etp_status etp_cli_check_setup(etp_cli *cli, const char *runner, etp_doctor *out, etp_error *err)
{
    etp_device_options how = {
        .runner = runner ? runner : cli->env_runner,
        .search_path = cli->env_path,
        .program = cli->program,
        .work_root = etp_cli_work(cli),
    };
    etp_device *device = NULL;
    etp_error why = {.offset = ETP_NO_OFFSET};
    const char *qemu = NULL;
    // Opening the device of this machine is looking for its runner.
    etp_status st = etp_device_open(&how, &device, &why);
    if (st == ETP_NOMEM) {
        return etp_fail(err, st, "%s", why.msg);
    }
    bool there = st == ETP_OK;
    const char *reason = etp_arena_strdup(&cli->arena, etp_str_from(why.msg)); // out outlives us
    st = etp_doctor_runner(out, there ? device : NULL, reason, &cli->arena, err);
    etp_status found =
        etp_qemu_find(cli->env_qemu, cli->env_path, cli->program, &cli->arena, &qemu, &why);
    st = st == ETP_OK && found == ETP_NOMEM ? etp_fail(err, found, "%s", why.msg) : st;
    qemu = found == ETP_OK ? qemu : NULL;
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
    (void)argc;
    (void)argv;
    const doctor_options *o = opts;
    etp_doctor doctor = {0};
    ETP_TRY(etp_cli_check_setup(cli, o->runner, &doctor, err));
    // Not part of the set-up that validate asks for: it takes a second, and a noisy
    // machine is no broken one.
    etp_doctor_noise(&doctor, &cli->arena);
    etp_answer answer = {
        .json = etp_doctor_json,
        .data = &doctor,
        .report = etp_doctor_report(&doctor, &cli->arena),
        .csv_table = "checks",
    };
    ETP_TRY(etp_cli_emit(cli, &answer, err));
    etp_cli_outcome(cli, etp_doctor_fit(&doctor) ? 0 : 1);
    return ETP_OK;
}

const etp_command etp_cmd_doctor = {
    .name = "doctor",
    .summary = "is this machine fit to measure on, and what would make it better",
    .usage = "",
    .description = "Looks for the runner, asks it what the CPU has, lets it prove that hiding CPU "
                   "features works, reads\n"
                   "what disturbs measurements (load, clock control, heat, power), and measures "
                   "for a second how\n"
                   "restless the machine is now, with what would make it calmer. Exit code 1 when "
                   "something is missing without which nothing can be measured.",
    .examples = "  etprof doctor\n  etprof doctor --format json",
    .opts = k_options,
    .opts_size = sizeof(doctor_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = 0,
    .run = run,
};
