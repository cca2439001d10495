// SPDX-License-Identifier: Apache-2.0
// etprof history FOLDER...: figures over many sessions, and where they changed.
#include <stddef.h>
#include <string.h>

#include "cli/archived.h"
#include "cli/emit.h"
#include "cli/say.h"
#include "os/os.h"
#include "study/history/history.h"
#include "study/history/stored.h"

#define CSV_LIMIT ((size_t)256 << 20)

typedef struct history_options {
    double min_change;
    const char *store;
    etp_archive_filter filter;
} history_options;

static const etp_opt k_options[] = {
    {"min-change", 0, ETP_OPT_PERCENT, offsetof(history_options, min_change), "PERCENT",
     "smaller changes are not worth telling (default 2%)", NULL},
    {"store", 0, ETP_OPT_STRING, offsetof(history_options, store), ETP_STORE_ARG, ETP_STORE_HELP,
     NULL},
    {"of", 0, ETP_OPT_STRING, offsetof(history_options, filter.model), "MODEL",
     "of the store: sessions of this model alone", NULL},
    {"on", 0, ETP_OPT_STRING, offsetof(history_options, filter.device), "DEVICE",
     "of the store: this device, by its address or its processor", NULL},
    {"since", 0, ETP_OPT_STRING, offsetof(history_options, filter.since), "DATE",
     "of the store: sessions from then on, like 2026-03 or 2026-03-01", NULL},
    {0},
};

// ---- the store ----

static void tell(void *ctx, const char *path, const char *why)
{
    (void)ctx;
    etp_say("left out   %s: %s\n", path, why);
}

static void say_entered(const etp_cli *cli, const etp_history_entered *e)
{
    if (!cli->quiet) {
        etp_say("store      %zu new, %zu made again, %zu known", e->added, e->renewed, e->known);
        if (e->unfinished) {
            etp_say(", %zu unfinished or without timed launches", e->unfinished);
        }
        if (e->kept) {
            etp_say(", %zu kept as they were: their folders are gone", e->kept);
        }
        if (e->bad) {
            etp_say(", %zu that cannot be read", e->bad);
        }
        etp_say("\n");
    }
}

// "add" enters what is new; "rebuild" makes entries again, whose folders stay the truth.
static etp_status fill(etp_cli *cli, const history_options *o, bool rebuild, int argc, char **argv,
                       etp_error *err)
{
    if (argc == 0 && !rebuild) {
        return etp_fail(err, ETP_USAGE, "name the folders to add: etprof history add FOLDER...");
    }
    etp_archive *a = NULL;
    etp_history_entered entered;
    ETP_TRY(etp_cli_archive(cli, o->store, ETP_ARCHIVE_WRITE, &a, err));
    const char *const *paths = (const char *const *)argv;
    size_t n = (size_t)argc;
    // Entering looks for sessions below the folders; rebuilding makes entries again from where
    // their folders were.
    etp_status st = rebuild ? etp_history_rebuild(a, paths, n, tell, NULL, &entered, err)
                            : etp_history_enter(a, paths, n, tell, NULL, &entered, err);
    etp_archive_close(a);
    say_entered(cli, &entered); // also of one that ended early: what is in is in
    if (entered.bad) {
        etp_cli_outcome(cli, 4);
    }
    return st;
}

static etp_status list(etp_cli *cli, const history_options *o, etp_error *err)
{
    etp_archive *a = NULL;
    etp_archive_list found = {0};
    ETP_TRY(etp_cli_archive(cli, o->store, ETP_ARCHIVE_READ, &a, err));
    // No file yet is a store without sessions, and no error of who only looks.
    etp_status st = a ? etp_archive_sessions(a, &o->filter, &cli->arena, &found, err) : ETP_OK;
    etp_archive_close(a);
    if (st != ETP_OK) {
        return st;
    }
    etp_answer answer = {
        .json = etp_sessions_json,
        .data = &found,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_sessions_report(&found, &cli->arena),
        .csv_table = "sessions"};
    return etp_cli_emit(cli, &answer, err);
}

static etp_status read_store(etp_cli *cli, const history_options *o, etp_history *h, etp_error *err)
{
    etp_archive *a = NULL;
    ETP_TRY(etp_cli_archive(cli, o->store, ETP_ARCHIVE_READ, &a, err));
    if (!a) {
        return etp_fail(err, ETP_USAGE,
                        "nothing is in the store of sessions yet: ab, sweep and run enter theirs "
                        "when they end, 'etprof history add FOLDER...' enters older ones; or name "
                        "folders: etprof history FOLDER...");
    }
    etp_status st = etp_history_of_archive(a, &o->filter, h, err);
    etp_archive_close(a);
    return st;
}

// ---- series ----

static etp_status read_all(etp_cli *cli, const history_options *o, int argc, char **argv,
                           etp_history *h, etp_error *err)
{
    size_t left_out = 0;
    if (argc == 0) {
        return read_store(cli, o, h, err);
    }
    if (o->store || o->filter.model || o->filter.device || o->filter.since) {
        return etp_fail(
            err, ETP_USAGE,
            "--store, --of, --on and --since choose from the store of sessions; folders "
            "and tables are read whole");
    }
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

static bool is_word(const char *operand, const char *word)
{
    return operand && strcmp(operand, word) == 0;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const history_options *o = opts;
    const char *word = argc > 0 ? argv[0] : NULL; // a folder of that name is ./list
    if (is_word(word, "add") || is_word(word, "rebuild")) {
        return fill(cli, o, word[0] == 'r', argc - 1, argv + 1, err);
    }
    if (is_word(word, "list")) {
        return argc == 1 ? list(cli, o, err)
                         : etp_fail(err, ETP_USAGE, "history list takes no folders");
    }
    etp_history h = {.arena = &cli->arena};
    ETP_TRY(read_all(cli, o, argc, argv, &h, err));
    ETP_TRY(etp_history_find_changes(&h, o->min_change, err));
    // The table is one that this verb reads again, with a column for each series; no report has
    // such a table.
    if (cli->format == ETP_CLI_CSV) {
        etp_strbuf text;
        etp_strbuf_init(&text, &cli->arena);
        etp_sink sink = etp_sink_strbuf(&text);
        etp_history_csv(&h, &sink);
        return etp_cli_emit_bytes(cli, etp_strbuf_str(&text), err);
    }
    etp_answer answer = {
        .json = etp_history_json, .data = &h, .report = etp_history_report(&h, &cli->arena)};
    return etp_cli_emit(cli, &answer, err);
}

const etp_command etp_cmd_history = {
    .name = "history",
    .summary = "figures over many sessions, and where they changed",
    .usage = "[list | add FOLDER... | rebuild [FOLDER...] | FOLDER... | FILE.csv]",
    .description =
        "Tells where latency of an arm or speedup over the baseline changed from session "
        "to session\n"
        "(E-divisive, p at most 0.001, three runs on either side) and what else changed there: "
        "program,\n"
        "runner, ExecuTorch, etprof, CPU.\n"
        "\n"
        "Without operands it reads the store, where ab, sweep and run enter every finished "
        "session\n"
        "(~/.local/share/etprof/sessions.sqlite, XDG_DATA_HOME; ETPROF_STORE=FILE or off). "
        "'list' shows\n"
        "what is in it, 'add' enters run folders, 'rebuild' makes entries again from "
        "their folders,\n"
        "which stay the truth. With operands it reads those: run folders, folders that "
        "have some in\n"
        "them, or a table. --format csv writes one row a run with a column per series, "
        "and this verb\n"
        "reads any such table that has a column 'time'.",
    .examples = "  etprof history --of mobilenet_v2 --on local\n"
                "  etprof history list --since 2026-03\n"
                "  etprof history add nightly/ && etprof history rebuild\n"
                "  etprof history out_model/runs\n"
                "  etprof history nightly/ --format csv --output nightly.csv\n"
                "  etprof history nightly.csv --min-change 5%",
    .opts = k_options,
    .opts_size = sizeof(history_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 0,
    .max_args = -1,
    .run = run,
};
