// SPDX-License-Identifier: Apache-2.0
// etprof kernels FOLDER | LOG [LOG2]: which kernels ran, from the sampled launches of a run folder,
// or which XNNPACK registered, from its own log; or which are built into a program file.
#include <string.h>

#include "base/path.h"
#include "cli/emit.h"
#include "cli/say.h"
#include "inspect/kernels/binary.h"
#include "inspect/kernels/kernels.h"
#include "inspect/kernels/log.h"

#define LOG_LIMIT ((size_t)1 << 30)
#define BINARY_LIMIT ((uint64_t)2 << 30)

typedef struct kernels_options {
    const char *filter, *title, *name1, *name2, *model_id;
} kernels_options;

#define OF kernels_options
static const etp_opt k_options[] = {
    OPT("filter", 0, STRING, filter, "TEXT",
        "logs and programs: only kernels with TEXT in their name"),
    OPT("title", 0, STRING, title, "TEXT", "logs: heading of the view"),
    OPT("name1", 0, STRING, name1, "NAME", "logs and programs: what to call the first"),
    OPT("name2", 0, STRING, name2, "NAME", "logs and programs: what to call the second"),
    OPT("model-id", 0, STRING, model_id, "ID",
        "logs: the column model_id (default: the file's name)"),
    {0},
};

static etp_status show_logs(etp_cli *cli, const kernels_options *o, int argc, char **argv,
                            etp_error *err)
{
    etp_kernel_log logs[2];
    // Operands are at most two (max_args below), as are the names they can be given.
    const char *names[] = {o->name1, o->name2};
    for (int i = 0; i < argc; i++) {
        etp_str text;
        ETP_TRY(etp_os_read_text(argv[i], LOG_LIMIT, &cli->arena, &text, err));
        if (etp_kernel_log_read(text, &cli->arena, &logs[i], err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", argv[i]);
        }
        const char *stem = etp_arena_strdup(&cli->arena, etp_path_stem(argv[i]));
        // What was typed, then what the log says of itself, then the name of its file.
        logs[i].title = names[i] ? names[i] : stem;
        const char *own = logs[i].model_id ? logs[i].model_id : stem;
        logs[i].model_id = ETP_OR(o->model_id, own);
    }
    if (argc == 2 && logs[0].sampled != logs[1].sampled) {
        return etp_fail(err, ETP_USAGE,
                        "one of %s and %s is a table of what ran, the other a log of what was "
                        "registered: give two of one kind",
                        argv[0], argv[1]);
    }
    etp_kernel_logs view = {logs, (size_t)argc, o->filter, o->title};
    return etp_cli_show(cli, &k_etp_kernel_log_document, &view,
                        etp_kernel_logs_report(&view, &cli->arena), argc == 2 ? "view" : "kernels",
                        err);
}

static etp_status show_binaries(etp_cli *cli, const kernels_options *o, int argc, char **argv,
                                etp_error *err)
{
    etp_kernel_binary files[2];
    // Names of kernels point into the files: they are closed when the answer is out.
    etp_file held[2] = {0};
    const char *names[] = {o->name1, o->name2};
    etp_status status = ETP_OK;
    for (int i = 0; i < argc && status == ETP_OK; i++) {
        status = etp_file_open(argv[i], BINARY_LIMIT, &held[i], err);
        if (status == ETP_OK) {
            status = etp_kernel_binary_read(held[i].bytes, &cli->arena, &files[i], err);
            status = status == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", argv[i]);
        }
        files[i].title = names[i] ? names[i] : etp_path_name(argv[i]);
    }
    etp_kernel_binaries view = {files, (size_t)argc, o->filter};
    if (status == ETP_OK) {
        etp_answer answer = {.document = &k_etp_kernel_binary_document,
                             .data = &view,
                             .report = etp_kernel_binaries_report(&view, &cli->arena),
                             .csv_table = "kernels",
                             .brief = !o->filter};
        status = etp_cli_emit(cli, &answer, err);
    }
    for (int i = 0; i < argc; i++) {
        etp_file_close(&held[i]);
    }
    return status;
}

static bool is_binary(const char *path)
{
    etp_file file;
    if (etp_file_open(path, BINARY_LIMIT, &file, NULL) != ETP_OK) {
        return false;
    }
    bool is = etp_kernel_binary_is(file.bytes);
    etp_file_close(&file);
    return is;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const kernels_options *o = opts;
    // Told by the first bytes, since programs and logs have any name.
    if (etp_os_is_file(argv[0]) && is_binary(argv[0])) {
        if (o->title || o->model_id) {
            return etp_fail(err, ETP_USAGE,
                            "--title and --model-id are for logs of XNNPACK; %s is a program",
                            argv[0]);
        }
        return show_binaries(cli, o, argc, argv, err);
    }
    if (etp_os_is_file(argv[0])) {
        return show_logs(cli, o, argc, argv, err);
    }
    // A folder's kernels are of its arms, which have names: none of these options is about it.
    if (argc > 1 || o->filter || o->title || o->name1 || o->name2 || o->model_id) {
        return etp_fail(err, ETP_USAGE,
                        "%s is not a file; two operands and their options are for logs of XNNPACK",
                        argv[0]);
    }
    ETP_TRY(etp_run_expect(argv[0], err));
    etp_run folder;
    etp_kernels_answer answer;
    ETP_TRY(etp_run_open(argv[0], &cli->arena, &folder, err));
    ETP_TRY(etp_kernels_load(&folder, &cli->arena, &answer, err));
    ETP_TRY(etp_run_altered(&folder, &cli->arena, &answer.altered, err));
    // Samples of one arm that cannot be read do not keep those of the others from being shown; the
    // exit code says that something was wrong.
    bool damaged = false;
    for (size_t i = 0; i < answer.n_arms; i++) {
        damaged = damaged || answer.arms[i].problem;
    }
    if (answer.n_sampled == 0 && !damaged) {
        return etp_fail(
            err, ETP_USAGE,
            "%s has no sampled launches; measure with 'etprof ab MODEL.pte --kernels always'",
            argv[0]);
    }
    // The files are derived ones of the folder: written together, with their hashes, or not at all.
    etp_run_deriving deriving;
    etp_run_derive_begin(argv[0], &cli->arena, &deriving);
    etp_status written = etp_kernels_write_files(&answer, &deriving, &cli->arena, err);
    ETP_TRY(etp_run_derive_end(&deriving, written, err));
    etp_answer out = {
        .document = &k_etp_kernels_document,
        .data = &answer,
        .report = etp_kernels_report(&answer, &cli->arena),
        .csv_table = ETP_KERNELS_TABLE,
    };
    ETP_TRY(etp_cli_emit(cli, &out, err));
    for (size_t i = 0; i < answer.n_arms; i++) {
        if (answer.arms[i].problem) {
            etp_say("etprof: samples of %s: %s\n", answer.arms[i].name, answer.arms[i].problem);
        }
        if (answer.arms[i].proof.truth == ETP_CONTRADICTED) {
            etp_cli_outcome(cli, 6);
        }
    }
    if (damaged) {
        etp_cli_outcome(cli, 4);
    }
    return ETP_OK;
}

const etp_command etp_cmd_kernels = {
    .name = "kernels",
    .summary = "which kernels ran, and in which instruction set",
    .usage = "FOLDER | LOG [LOG2] | PROGRAM [PROGRAM2]",
    .description = "Shows what 'etprof ab' sampled: program counters of unmodified "
                   "libraries, counted by\n"
                   "function, instruction set (told from the machine code) and operator. Writes "
                   "kernel_view.md and\n"
                   "each arm's P_kernels.csv into the folder. Exit code 6 when an arm ran what its "
                   "level hides.\n"
                   "A log of XNNPACK (\"Using ... microkernel\") or a P_kernels.csv shows what was "
                   "registered for the CPU;\n"
                   "two of them, which kernel is in which. An unmodified program or library (ELF, "
                   "Mach-O) shows what is\n"
                   "built in, by the instruction set of the code: a runner without SME2 kernels "
                   "cannot use SME2.",
    .examples = "  etprof ab model.pte --levels vnni,avx512,avx2\n"
                "  etprof kernels out_model\n"
                "  etprof kernels on_xnntrace.log off_xnntrace.log --filter gemm --format md\n"
                "  etprof kernels libexecutorch_backend_xnnpack.dylib",
    .opts = k_options,
    .opts_size = sizeof(kernels_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .min_args = 1,
    .max_args = 2,
    .run = run,
};
