// SPDX-License-Identifier: Apache-2.0
// etprof history FOLDER...: figures over many sessions, and where they changed.
#include <stddef.h>

#include "cli/emit.h"
#include "cli/say.h"
#include "os/os.h"
#include "study/history/history.h"

#define CSV_LIMIT ((size_t)256 << 20)

typedef struct history_options {
    double min_change;
    const char *otava;
} history_options;

static const etp_opt k_options[] = {
    {"min-change", 0, ETP_OPT_PERCENT, offsetof(history_options, min_change), "PERCENT",
     "smaller changes are not worth telling (default 2%)", NULL},
    {"otava", 0, ETP_OPT_STRING, offsetof(history_options, otava), "DIR",
     "also write the series and otava.yaml there, for Apache Otava", NULL},
    {0},
};

static etp_status read_all(etp_cli *cli, int argc, char **argv, etp_history *h, etp_error *err)
{
    size_t left_out = 0;
    if (argc == 1 && !etp_os_is_dir(argv[0])) {
        etp_str text;
        ETP_TRY(etp_os_read_text(argv[0], CSV_LIMIT, &cli->arena, &text, err));
        return etp_history_of_csv(text, h, err) == ETP_OK ? ETP_OK
                                                          : etp_fail_ctx(err, "%s", argv[0]);
    }
    ETP_TRY(etp_history_of_folders((const char *const *)argv, (size_t)argc, h, &left_out, err));
    if (left_out > 0 && !cli->quiet) {
        etp_say("left out   %zu sessions: unfinished, emulated or without timed launches\n",
                left_out);
    }
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const history_options *o = opts;
    etp_history h = {.arena = &cli->arena};
    ETP_TRY(read_all(cli, argc, argv, &h, err));
    ETP_TRY(etp_history_find_changes(&h, o->min_change, err));
    if (o->otava) {
        ETP_TRY(etp_history_otava(&h, o->otava, err));
    }
    if (cli->format == ETP_CLI_CSV) {
        etp_strbuf text;
        etp_strbuf_init(&text, &cli->arena);
        etp_sink sink = etp_sink_strbuf(&text);
        etp_history_csv(&h, &sink);
        return text.failed ? etp_fail_nomem(err, "the table")
                           : etp_cli_emit_bytes(cli, etp_strbuf_str(&text), err);
    }
    etp_answer answer = {
        .json = etp_history_json, .data = &h, .report = etp_history_report(&h, &cli->arena)};
    return etp_cli_emit(cli, &answer, err);
}

const etp_command etp_cmd_history = {
    .name = "history",
    .summary = "figures over many sessions, and where they changed",
    .usage = "FOLDER... | FILE.csv",
    .description = "Reads run folders, and folders that have some in them, in the order of their "
                   "times: latency of\n"
                   "every arm and speedup over the baseline. Tells where a series changed "
                   "(E-divisive, p ≤ 0.001,\n"
                   "three runs on either side) and what else changed there: program, runner, "
                   "ExecuTorch, etprof,\n"
                   "CPU. The run folders are the store; there is no database to keep. --format csv "
                   "writes one row a\n"
                   "run with a column per series, and this verb reads any such table that has a "
                   "column 'time'.",
    .examples = "  etprof history out_model/runs\n"
                "  etprof history nightly/ --format csv --output nightly.csv\n"
                "  etprof history nightly.csv --min-change 5%\n"
                "  etprof history nightly/ --otava otava && otava analyze --config-file "
                "otava/otava.yaml NAME",
    .opts = k_options,
    .opts_size = sizeof(history_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
