// SPDX-License-Identifier: Apache-2.0
// etprof ops DUMP: every operator of one ETDump.
#include "cli/emit.h"
#include "cli/say.h"
#include "cli/units.h"
#include "library/reply.h"

typedef struct ops_options {
    etp_trace_units units;
    const char *program, *record, *buffer;
} ops_options;

#define OF ops_options
static const etp_opt k_options[] = {
    OPT("pte", 0, STRING, program, "FILE",
        "the program: adds nodes, shapes, work and names of methods"),
    OPT("etrecord", 'r', STRING, record, "FILE",
        "the exporter's record: adds source lines and modules (needs --pte)"),
    OPT("debug-buffer", 0, STRING, buffer, "FILE",
        "debug buffer written beside the dump (inspector-json)"),
    ETP_CLI_UNITS,
    {0},
};

// The tables of ExecuTorch's Inspector, its losses included.
static etp_status inspector(etp_cli *cli, const char *dump, const ops_options *o, etp_error *err)
{
    bool json = cli->format == ETP_CLI_INSPECTOR_JSON;
    if (o->units.source || o->units.delegate) {
        return etp_fail(err, ETP_USAGE,
                        "the Inspector's tables divide every tick by 1,000,000; leave --%s out, or "
                        "use another --format",
                        o->units.source ? "source-unit" : "delegate-unit");
    }
    const etp_question question = {
        .struct_size = sizeof question,
        .kind = ETP_QUESTION_INSPECTOR,
        .paths = &dump,
        .n_paths = 1,
        .record = o->record,
        .buffer = o->buffer,
    };
    etp_reply *reply;
    ETP_TRY(etp_reply_make(etp_reply_inspector, &question, &reply, err));
    etp_strbuf text;
    etp_strbuf_init(&text, &cli->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_status st =
        etp_reply_inspector_write(reply, json ? ETP_OUTPUT_JSON : ETP_OUTPUT_TEXT, &sink, err);
    if (st == ETP_OK) {
        st = etp_cli_emit_bytes(cli, etp_strbuf_str(&text), err);
    }
    if (st == ETP_OK && etp_reply_in_cycles(reply)) {
        etp_say(
            "warning: times are cycles of a microcontroller; the Inspector's table divides them "
            "by 1,000,000 and calls them ms\n");
    }
    etp_reply_close(reply);
    return st;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const ops_options *o = opts;
    const char *path = argv[0];
    // These are not formats of our answer but other people's tables, byte for byte.
    if (cli->format == ETP_CLI_INSPECTOR || cli->format == ETP_CLI_INSPECTOR_JSON) {
        return inspector(cli, path, o, err);
    }
    const etp_question question = {
        .struct_size = sizeof question,
        .kind = ETP_QUESTION_OPS,
        .paths = &path,
        .n_paths = 1,
        .program = o->program,
        .record = o->record,
        .source_unit = o->units.source,
        .delegate_unit = o->units.delegate,
    };
    return etp_cli_emit_reply(cli, etp_reply_ops, &question, err);
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
