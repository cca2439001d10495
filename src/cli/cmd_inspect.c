// SPDX-License-Identifier: Apache-2.0
// etprof inspect FILE: what is in a model or recording, and what makes it big.
#include "cli/emit.h"
#include "cli/units.h"

typedef struct inspect_options {
    etp_trace_units units;
    const char *record, *other, *buffer, *dump;
    bool tree, tensor;
} inspect_options;

#define OF inspect_options
static const etp_opt k_options[] = {
    OPT("tree", 0, FLAG, tree, NULL, "list every instruction and node"),
    OPT("diff", 0, STRING, other, "OTHER", "compare with another program"),
    OPT("etrecord", 'r', STRING, record, "FILE",
        "exporter's record: adds source lines and modules"),
    OPT("etdump", 0, STRING, dump, "DUMP",
        "a recording of the program: adds what its operators cost"),
    OPT("tensor", 0, FLAG, tensor, NULL, "list the tensors and numbers that a recording logged"),
    OPT("debug-buffer", 0, STRING, buffer, "FILE",
        "debug buffer written beside the dump (--tensor)"),
    ETP_CLI_UNITS,
    {0},
};

// The question is that of <etprof/reply.h>: what the verb answers, a program can ask for.
static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const inspect_options *o = opts;
    const char *path = argv[0];
    const etp_question question = {
        .struct_size = sizeof question,
        .kind = ETP_QUESTION_INSPECT,
        .paths = &path,
        .n_paths = 1,
        .record = o->record,
        .buffer = o->buffer,
        .recording = o->dump,
        .other = o->other,
        .tree = o->tree,
        .tensor = o->tensor,
        .source_unit = o->units.source,
        .delegate_unit = o->units.delegate,
    };
    return etp_cli_emit_reply(cli, etp_reply_inspect, &question, err);
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
