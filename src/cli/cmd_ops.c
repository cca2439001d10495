// SPDX-License-Identifier: Apache-2.0
// etprof ops DUMP: every operator of one ETDump.
#include <stddef.h>

#include "cli/emit.h"
#include "cli/ops.h"
#include "convert/inspector.h"
#include "inspect/ops.h"
#include "os/os.h"

#define DUMP_LIMIT ((uint64_t)4 << 30)
#define PROGRAM_LIMIT ((uint64_t)64 << 30)

typedef struct ops_options {
    const char *program, *record, *buffer;
} ops_options;

static const etp_opt k_options[] = {
    {"pte", 0, ETP_OPT_STRING, offsetof(ops_options, program), "FILE",
     "the program: adds nodes, shapes, work and names of methods", NULL},
    {"etrecord", 'r', ETP_OPT_STRING, offsetof(ops_options, record), "FILE",
     "the exporter's record: adds source lines and modules (needs --pte)", NULL},
    {"debug-buffer", 0, ETP_OPT_STRING, offsetof(ops_options, buffer), "FILE",
     "debug buffer written beside the dump (inspector-json)", NULL},
    {"pte", 'p', ETP_OPT_STRING, offsetof(ops_options, program), "FILE", NULL, NULL},
    {0},
};

typedef struct inputs {
    etp_file dump, pte, record_file, buffer;
    etp_trace *trace;
    const etp_program *program;
    etp_etrecord record;
} inputs;

static etp_status read_record(etp_cli *cli, const char *path, inputs *in, etp_error *err)
{
    ETP_TRY(etp_file_open(path, PROGRAM_LIMIT, &in->record_file, err));
    return etp_etrecord_read(in->record_file.bytes, &cli->arena, &in->record, err) == ETP_OK
               ? ETP_OK
               : etp_fail_ctx(err, "%s", path);
}

// The tables of ExecuTorch's Inspector, its losses included.
static etp_status inspector_tables(etp_cli *cli, const char *buffer, bool json, inputs *in,
                                   etp_error *err)
{
    etp_etdump dump;
    etp_inspector_table table;
    etp_strbuf buf;
    etp_strbuf_init(&buf, &cli->arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    if (buffer) {
        ETP_TRY(etp_file_open(buffer, DUMP_LIMIT, &in->buffer, err));
    }
    ETP_TRY(etp_etdump_open(in->dump.bytes, &dump, err));
    etp_status st = etp_inspector_build(&dump, &cli->arena, &table, err);
    if (st == ETP_OK && in->record_file.bytes.ptr) {
        st = etp_inspector_annotate(&table, &in->record, &cli->arena, err);
    }
    if (st == ETP_OK && !json) {
        etp_inspector_tsv(&table, &sink);
    } else if (st == ETP_OK) {
        st = etp_inspector_json(&table, buffer ? &in->buffer.bytes : NULL, &sink, err);
    }
    ETP_TRY(st);
    return buf.failed ? etp_fail_nomem(err, "output")
                      : etp_cli_emit_bytes(cli, etp_strbuf_str(&buf), err);
}

static etp_status tables_from(etp_cli *cli, const char *dump, const char *record,
                              const char *buffer, bool json, inputs *in, etp_error *err)
{
    ETP_TRY(etp_file_open(dump, DUMP_LIMIT, &in->dump, err));
    if (record) {
        ETP_TRY(read_record(cli, record, in, err));
    }
    return inspector_tables(cli, buffer, json, in, err) == ETP_OK ? ETP_OK
                                                                  : etp_fail_ctx(err, "%s", dump);
}

static void close_inputs(inputs *in)
{
    etp_trace_close(in->trace);
    etp_program_close(in->program);
    etp_file_close(&in->dump);
    etp_file_close(&in->pte);
    etp_file_close(&in->record_file);
    etp_file_close(&in->buffer);
}

etp_status etp_ops_inspector(etp_cli *cli, const char *dump, const char *record, const char *buffer,
                             bool json, etp_error *err)
{
    inputs in = {0};
    etp_status st = tables_from(cli, dump, record, buffer, json, &in, err);
    close_inputs(&in);
    return st;
}

static etp_status answer_from(etp_cli *cli, const char *path, const ops_options *o, inputs *in,
                              etp_error *err)
{
    if (cli->format == ETP_CLI_INSPECTOR || cli->format == ETP_CLI_INSPECTOR_JSON) {
        return tables_from(cli, path, o->record, o->buffer, cli->format == ETP_CLI_INSPECTOR_JSON,
                           in, err);
    }
    ETP_TRY(etp_file_open(path, DUMP_LIMIT, &in->dump, err));
    if (o->record) {
        ETP_TRY(read_record(cli, o->record, in, err));
    }
    if (etp_trace_open(in->dump.bytes, NULL, &in->trace, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    if (o->program) {
        ETP_TRY(etp_file_open(o->program, PROGRAM_LIMIT, &in->pte, err));
        if (etp_program_open(in->pte.bytes, NULL, &in->program, err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", o->program);
        }
    }
    if (o->record && !o->program) {
        return etp_fail(err, ETP_USAGE,
                        "--etrecord needs --pte: the program leads from "
                        "operators to the record");
    }
    etp_ops_answer ops;
    ETP_TRY(etp_ops_answer_build(in->trace, in->program, o->record ? &in->record : NULL, path,
                                 &cli->arena, &ops, err));
    etp_answer answer = {
        .json = etp_ops_json,
        .data = &ops,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_ops_report(&ops, &cli->arena),
        .csv_table = "operators",
    };
    return etp_cli_emit(cli, &answer, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    inputs in = {0};
    etp_status st = answer_from(cli, argv[0], opts, &in, err);
    close_inputs(&in);
    return st;
}

const etp_command etp_cmd_ops = {
    .name = "ops",
    .summary = "operators of an ETDump with their times",
    .usage = "DUMP [--pte MODEL.pte [--etrecord FILE]]",
    .description =
        "One row per operator: delegate operators, portable kernels, and calls that hold neither.\n"
        "Operators plus remainder are Method::execute to the nanosecond.",
    .examples =
        "  etprof ops model.etdump\n"
        "  etprof ops model.etdump --pte model.pte --format json\n"
        "  etprof ops model.etdump --format inspector   # what Inspector.save_data_to_tsv writes",
    .opts = k_options,
    .opts_size = sizeof(ops_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_INSPECTOR) |
               ETP_CLI_FORMAT_BIT(ETP_CLI_INSPECTOR_JSON),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
