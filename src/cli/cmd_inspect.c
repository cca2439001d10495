// SPDX-License-Identifier: Apache-2.0
// etprof inspect FILE: what is in a model or recording, and what makes it big.
#include <stddef.h>

#include "cli/emit.h"
#include "inspect/inspect.h"
#include "inspect/tensors.h"
#include "os/os.h"

#define FILE_LIMIT ((uint64_t)64 << 30)
#define RECORD_LIMIT ((uint64_t)64 << 30)

typedef struct inspect_options {
    const char *record, *other, *buffer, *dump;
    bool tree, tensor;
} inspect_options;

static const etp_opt k_options[] = {
    {"tree", 0, ETP_OPT_FLAG, offsetof(inspect_options, tree), NULL,
     "list every instruction and node", NULL},
    {"diff", 0, ETP_OPT_STRING, offsetof(inspect_options, other), "OTHER",
     "compare with another program", NULL},
    {"etrecord", 'r', ETP_OPT_STRING, offsetof(inspect_options, record), "FILE",
     "exporter's record: adds source lines and modules", NULL},
    {"etdump", 0, ETP_OPT_STRING, offsetof(inspect_options, dump), "DUMP",
     "a recording of the program: adds what its operators cost", NULL},
    {"tensor", 0, ETP_OPT_FLAG, offsetof(inspect_options, tensor), NULL,
     "list the tensors and numbers that a recording logged", NULL},
    {"debug-buffer", 0, ETP_OPT_STRING, offsetof(inspect_options, buffer), "FILE",
     "debug buffer written beside the dump (--tensor)", NULL},
    {"tree", 't', ETP_OPT_FLAG, offsetof(inspect_options, tree), NULL, NULL, NULL},
    {"diff", 'd', ETP_OPT_STRING, offsetof(inspect_options, other), "OTHER", NULL, NULL},
    {"debug-buffer", 'b', ETP_OPT_STRING, offsetof(inspect_options, buffer), "FILE", NULL, NULL},
    {0},
};

typedef struct inputs {
    etp_file file, other_file, record_file, buffer_file, dump_file;
    etp_trace *dump_trace;
    etp_inspect file_view, other_view;
} inputs;

static etp_status open_file(etp_cli *cli, const char *path, etp_bytes record, etp_file *file,
                            etp_inspect *out, etp_error *err)
{
    ETP_TRY(etp_file_open(path, FILE_LIMIT, file, err));
    if (etp_inspect_open(path, file->bytes, record, &cli->arena, out, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    return ETP_OK;
}

static etp_status answer_diff(etp_cli *cli, const inspect_options *o, inputs *in, etp_error *err)
{
    etp_inspect_diff diff;
    ETP_TRY(open_file(cli, o->other, (etp_bytes){0}, &in->other_file, &in->other_view, err));
    ETP_TRY(etp_inspect_compare(&in->file_view, &in->other_view, &cli->arena, &diff, err));
    etp_answer answer = {
        .json = etp_inspect_diff_json,
        .data = &diff,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_inspect_diff_report(&diff, &cli->arena),
        .csv_table = "sizes",
    };
    return etp_cli_emit(cli, &answer, err);
}

static etp_status answer_tensors(etp_cli *cli, const char *path, const inspect_options *o,
                                 inputs *in, etp_error *err)
{
    etp_inspect_tensors tensors;
    ETP_TRY(etp_file_open(path, FILE_LIMIT, &in->file, err));
    if (o->buffer) {
        ETP_TRY(etp_file_open(o->buffer, FILE_LIMIT, &in->buffer_file, err));
    }
    if (etp_inspect_tensors_read(path, in->file.bytes, in->buffer_file.bytes, &cli->arena, &tensors,
                                 err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    etp_answer out = {
        .json = etp_inspect_tensors_json,
        .data = &tensors,
        .report =
            cli->format == ETP_CLI_JSON ? NULL : etp_inspect_tensors_report(&tensors, &cli->arena),
    };
    return etp_cli_emit(cli, &out, err);
}

static etp_status add_times(etp_cli *cli, const char *path, inputs *in, etp_error *err)
{
    ETP_TRY(etp_file_open(path, FILE_LIMIT, &in->dump_file, err));
    if (etp_trace_open(in->dump_file.bytes, NULL, &in->dump_trace, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    return etp_inspect_time(&in->file_view, in->dump_trace, path, &cli->arena, err);
}

static etp_status answer(etp_cli *cli, const char *path, const inspect_options *o, inputs *in,
                         etp_error *err)
{
    if (o->tensor) {
        return answer_tensors(cli, path, o, in, err);
    }
    if (o->record) {
        ETP_TRY(etp_file_open(o->record, RECORD_LIMIT, &in->record_file, err));
    }
    ETP_TRY(open_file(cli, path, in->record_file.bytes, &in->file, &in->file_view, err));
    if (o->other && o->dump) {
        return etp_fail(err, ETP_USAGE,
                        "--diff compares programs, not times: leave out --etdump "
                        "(etprof compare takes two recordings)");
    }
    if (o->other) {
        return answer_diff(cli, o, in, err);
    }
    if (o->tree && !in->file_view.program) {
        return etp_fail(err, ETP_USAGE, "--tree shows programs (.pte, .bpte), %s is none", path);
    }
    if (o->dump) {
        ETP_TRY(add_times(cli, o->dump, in, err));
    }
    const etp_report *report = NULL;
    if (cli->format != ETP_CLI_JSON) {
        report = o->tree ? etp_inspect_tree(&in->file_view, &cli->arena)
                         : etp_inspect_report(&in->file_view, &cli->arena);
    }
    etp_answer out = {
        .json = etp_inspect_json,
        .data = &in->file_view,
        .report = report,
        .csv_table = in->file_view.program ? "operators" : NULL,
    };
    return etp_cli_emit(cli, &out, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    inputs in = {0};
    etp_status status = answer(cli, argv[0], opts, &in, err);
    etp_inspect_close(&in.file_view);
    etp_inspect_close(&in.other_view);
    etp_file_close(&in.file);
    etp_file_close(&in.other_file);
    etp_file_close(&in.record_file);
    etp_file_close(&in.buffer_file);
    etp_trace_close(in.dump_trace);
    etp_file_close(&in.dump_file);
    return status;
}

const etp_command etp_cmd_inspect = {
    .name = "inspect",
    .summary = "what is in a model or recording, and what makes it big",
    .usage = "FILE",
    .description =
        "Reads .pte, .bpte, .ptd, .etrecord and .etdump files. For programs: methods, inputs,\n"
        "memory plan, delegates with their nodes and work, operators outside delegates,\n"
        "segments, weights by type and the largest of them.",
    .examples = "  etprof inspect model.pte\n"
                "  etprof inspect model.pte --tree --etrecord model.etrecord\n"
                "  etprof inspect model.pte --etdump model.etdump   # and what each costs\n"
                "  etprof inspect model_fp32.pte --diff model_int8.pte\n"
                "  etprof inspect model.etdump --tensor --debug-buffer model.debug.bin\n"
                "  etprof inspect model.pte --format json",
    .opts = k_options,
    .opts_size = sizeof(inspect_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
