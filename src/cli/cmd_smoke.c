// SPDX-License-Identifier: Apache-2.0
// etprof smoke: a small model the whole way through, on any device: measured, analysed, reported,
// validated.
#include <stddef.h>
#include <string.h>

#include "base/path.h"
#include "cli/emit.h"
#include "cli/measure.h"
#include "integrity/smoke.h"

#define MODEL "toy_cnn_xnnpack_fp32.pte" // float32: its names tell SME from NEON
// A first export installs PyTorch, which takes minutes on a slow line.
#define EXPORT_SECONDS 900
#define EXPORT_OUTPUT ((size_t)1 << 20)

typedef struct smoke_options {
    const char *model, *export_name, *device, *runner, *out, *ssh_config, *remote;
} smoke_options;

#define OPT(name, short, field, arg, help) \
    {name, short, ETP_OPT_STRING, offsetof(smoke_options, field), arg, help, NULL}

static const etp_opt k_options[] = {
    OPT("device", 'd', device, "SPEC", "local (default), adb[:SERIAL], ssh:HOST or qemu[:CPU]"),
    OPT("model", 0, model, "MODEL", "this program instead of the bundled one"),
    OPT("export", 0, export_name, "NAME", "export this model first (PyTorch), in float16"),
    OPT("runner", 0, runner, "PATH", "runner program or bundle folder"),
    OPT("remote", 0, remote, "HOST:PORT", "the adb device at that address"),
    OPT("ssh-config", 0, ssh_config, "FILE", "of ssh:HOST, instead of the user's own"),
    OPT("out", 0, out, "DIR",
        "keep the run folder there (default: it is removed unless a step fails)"),
    OPT("model", 'm', model, "MODEL", NULL),
    {0},
};

// Installed beside the program, or in the source tree.
static const char *bundled_model(etp_cli *cli)
{
    static const char *const k_places[] = {"../share/etprof/models", "../../../examples/models",
                                           "../examples/models", "examples/models"};
    const char *self = cli->program ? etp_os_absolute(cli->program, &cli->arena) : NULL;
    etp_str folder = self ? etp_path_folder(self) : (etp_str){0};
    for (size_t i = 0; folder.ptr && i < sizeof k_places / sizeof *k_places; i++) {
        const char *path =
            etp_arena_printf(&cli->arena, "%.*s/%s/" MODEL, ETP_STR_ARG(folder), k_places[i]);
        if (path && etp_os_is_file(path)) {
            return path;
        }
    }
    return NULL;
}

// Runs `etprof export` and finds what it wrote into DIR.
static etp_status export_model(etp_cli *cli, const char *name, const char *dir, const char **out,
                               etp_error *err)
{
    const char *const argv[] = {cli->program, "export",   name, "--dtype",
                                "fp16",       "--outdir", dir,  NULL};
    etp_process process = {0};
    etp_str text, log;
    etp_dir_list list = {0};
    if (!cli->program) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "this program does not know its own path; use --model");
    }
    ETP_TRY(etp_process_capture(&(etp_process_spec){.argv = argv}, EXPORT_SECONDS * 1000000000ull,
                                EXPORT_OUTPUT, &cli->arena, &process, &text, &log, err));
    if (process.signal || process.exit_code) {
        // The end of what it said: a Python traceback has its reason in the last line.
        size_t from = log.len > 300 ? log.len - 300 : 0;
        return etp_fail(err, ETP_ENVIRONMENT, "etprof export %s ended with %d: %.*s", name,
                        process.exit_code, (int)(log.len - from), log.ptr ? log.ptr + from : "");
    }
    ETP_TRY(etp_os_list(dir, &cli->arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        etp_str file = etp_str_from(list.items[i].name);
        // The exporter chooses the file's name from model, backend and precision (docs/export.md).
        if (etp_str_ends(file, ETP_STR(".pte")) && etp_str_starts(file, etp_str_from(name))) {
            *out = etp_arena_printf(&cli->arena, "%s/%s", dir, list.items[i].name);
            return etp_arena_check(&cli->arena, err, dir);
        }
    }
    return etp_fail(err, ETP_ENVIRONMENT, "etprof export %s left no .pte in %s", name, dir);
}

static etp_status find_model(etp_cli *cli, const smoke_options *o, const char *work,
                             const char **out, etp_error *err)
{
    if (o->model) {
        *out = o->model;
        return etp_os_is_file(*out) ? ETP_OK : etp_fail(err, ETP_IO, "%s does not exist", *out);
    }
    if (o->export_name) {
        const char *dir = etp_arena_printf(&cli->arena, "%s/artifacts", work);
        ETP_TRY(etp_arena_check(&cli->arena, err, work)); // a NULL would cut the command short
        return export_model(cli, o->export_name, dir, out, err);
    }
    *out = bundled_model(cli);
    return *out ? ETP_OK
                : etp_fail(err, ETP_ENVIRONMENT,
                           MODEL
                           " is not beside this program; name a model with --model or --export");
}

static etp_status steps(etp_cli *cli, const smoke_options *o, const char *device, const char *work,
                        etp_smoke *s, etp_error *err)
{
    const char *model = NULL, *dir = NULL;
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_status st = find_model(cli, o, work, &model, &why);
    if (st != ETP_OK) {
        etp_cli_outcome(cli, etp_status_exit_code(st));
        return etp_smoke_failed(s, &cli->arena, ETP_SMOKE_MODEL,
                                "name a program with --model FILE.pte", &why, err);
    }
    etp_smoke_note(s, &cli->arena, ETP_SMOKE_MODEL, 1, NULL, "%s%s", model,
                   o->export_name ? ", exported now"
                   : o->model     ? ""
                                  : ", bundled");
    const char *wanted = o->out ? o->out : etp_arena_printf(&cli->arena, "%s/run", work);
    etp_session_options options = etp_session_trial(&model, 1);
    options.call = (etp_session_call){.device = device, .runner = o->runner};
    options.dir = wanted;
    options.exact = o->out == NULL;
    ETP_TRY(etp_arena_check(&cli->arena, err, work)); // NULL would be another folder
    // Its errors become a step that failed, so that the other steps and the advice are still told.
    st = etp_cli_measure(cli, &options, &dir, &why);
    if (st != ETP_OK) {
        etp_cli_outcome(cli, etp_status_exit_code(st));
        return etp_smoke_failed(s, &cli->arena, ETP_SMOKE_MEASURE,
                                "etprof validate setup says what is missing", &why, err);
    }
    s->folder = dir;
    return etp_smoke_examine(s, dir, etp_cli_work(cli), &cli->arena, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    (void)argv;
    const smoke_options *o = opts;
    if (o->model && o->export_name) {
        return etp_fail(err, ETP_USAGE, "--model and --export exclude each other");
    }
    const char *device = NULL;
    ETP_TRY(etp_device_at(o->device, o->remote, &cli->arena, &device, err));
    cli->env_ssh_config = o->ssh_config ? o->ssh_config : cli->env_ssh_config;
    etp_smoke s = {0};
    const char *work = NULL;
    uint64_t start = etp_os_now_ns();
    // A folder of its own, so that a smoke leaves nothing behind and meets nothing of an earlier
    // one.
    ETP_TRY(etp_os_temp_dir(etp_cli_work(cli), "smoke", &cli->arena, &work, err));
    etp_status st = steps(cli, o, device, work, &s, err);
    s.seconds = (double)(etp_os_now_ns() - start) / 1e9;
    // What failed has to be looked at, so its temporary folder stays where it is.
    bool keep = s.failed && s.folder && !o->out;
    if (!keep) {
        s.folder = o->out ? s.folder : NULL;
        // The first error is the one to tell; that the folder could not be removed counts only
        // without another.
        etp_status removed = etp_os_remove_tree(work, st == ETP_OK ? err : NULL);
        st = st == ETP_OK ? removed : st;
    }
    if (st == ETP_OK) {
        etp_answer answer = {
            .json = etp_smoke_json,
            .data = &s,
            .report = etp_smoke_report(&s, &cli->arena),
            .csv_table = "steps",
        };
        st = etp_cli_emit(cli, &answer, err);
    }
    for (size_t i = 0; i < s.steps.n; i++) {
        if (s.steps.items[i].ok == 0) {
            // A level that did not run is not a wrong file: 6, as of every session whose proof is
            // false.
            etp_cli_outcome(cli, s.steps.items[i].id == ETP_SMOKE_EVIDENCE ? 6 : 1);
        }
    }
    return st;
}

const etp_command etp_cmd_smoke = {
    .name = "smoke",
    .summary = "does everything work here: a small model measured, analysed, reported, validated",
    .usage = "[--device SPEC] [--model FILE.pte | --export NAME]",
    .description = "Takes a small bundled model (or one of yours, or exports one) the whole way: "
                   "measures two levels in a few\n"
                   "inferences, explains them, writes every report and table, validates all files "
                   "and reads the dumps once\n"
                   "more alone. Takes seconds; its figures say nothing about speed. Exit code 0: "
                   "no step failed; 1: a\n"
                   "result is wrong; 5: something is missing here; 6: a measured program failed or "
                   "did not run at its level.",
    .examples = "  etprof smoke\n"
                "  etprof smoke --device qemu\n"
                "  etprof smoke --export toy_cnn --out out_toy_cnn/runs/linux\n"
                "  etprof smoke --format json",
    .opts = k_options,
    .opts_size = sizeof(smoke_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = 0,
    .run = run,
};
