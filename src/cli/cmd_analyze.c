// SPDX-License-Identifier: Apache-2.0
// etprof analyze: explain a run folder or bare dumps, or several run folders as one. Never
// measures.
#include "cli/emit.h"
#include "cli/newest.h"
#include "cli/show_ab.h"
#include "cli/units.h"
#include "kit/folder.h"

typedef struct analyze_options {
    etp_trace_units units;
    const char *baseline;
    double margin;
    const char *out;
    const char *program, *record, *roofs, *model_id, *phase, *title, *table;
    uint64_t run_index;
    bool full, proof, price, renew, combined, json_rows;
    uint64_t limit;
} analyze_options;

#define OF analyze_options
static const etp_opt k_options[] = {
    OPT("baseline", 'b', STRING, baseline, "ARM", "compare the others with this arm"),
    OPT("margin", 0, PERCENT, margin, "PERCENT", "differences below this are 'same' (default 1)"),
    ETP_CLI_EXPLAINED,
    OPT("phase", 0, STRING, phase, "NAME",
        "only the phase of this name, e.g. 'decode@256' (default: all)"),
    OPT("full", 0, FLAG, full, NULL, "every section, also in text"),
    OPT("proof", 0, FLAG, proof, NULL, "operator names side by side: what ran where"),
    OPT("price", 0, FLAG, price, NULL,
        "what each arm costs: inferences, loading, memory, size on disk"),
    OPT("table", 0, STRING, table, "TABLE",
        "with --format csv: this table of the report, e.g. 'loading' with --price"),
    OPT("title", 0, STRING, title, "TEXT", "title of the report (default: the model)"),
    OPT("renew", 0, FLAG, renew, NULL,
        "write the run folder's report.html, report.md, report.json and tables anew"),
    OPT("combined", 0, FLAG, combined, NULL,
        "show folders of dumps side by side, as run folders always are"),
    OPT("out", 0, STRING, out, "DIR", "write the tables as CSV and JSON files there"),
    OPT("run-index", 0, COUNT, run_index, "K",
        "with --out: also the timeline of run K alone (run 0 always)"),
    OPT("json-rows", 0, FLAG, json_rows, NULL,
        "with --out: timelines and operator statistics also as JSON"),
    OPT("model-id", 0, STRING, model_id, "ID", "with --out, of one dump: the column model_id"),
    OPT("limit", 0, COUNT, limit, "BYTES", "with --format github: at most so many (default 60000)"),
    ETP_CLI_UNITS,
    {0},
};

// One report over several folders. What is about one folder would have no effect and is refused.
static etp_status show_combined(etp_cli *cli, const analyze_options *o, const etp_ab_options *how,
                                int argc, char **argv, etp_error *err)
{
    const struct {
        const char *option;
        bool given;
    } of_one[] = {
        {"--renew", o->renew},
        {"--proof", o->proof},
        {"--price", o->price},
        {"--phase", o->phase},
        {"--table", o->table},
        {"--out",   o->out  }
    };
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++) {
        if (of_one[i].given) {
            return etp_fail(err, ETP_USAGE, "%s needs a single folder; here are %d",
                            of_one[i].option, argc);
        }
    }
    return etp_show_combined(cli, (const char *const *)argv, (size_t)argc, how, o->title, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const analyze_options *o = opts;
    ETP_TRY(etp_cli_limit(cli, o->limit, err));
    if (!o->out && (o->run_index || o->json_rows || o->model_id)) {
        return etp_fail(
            err, ETP_USAGE,
            "--run-index, --json-rows and --model-id are about files; name a folder with --out");
    }
    if (o->run_index > UINT32_MAX || (o->model_id && !o->model_id[0])) {
        return etp_fail(err, ETP_USAGE,
                        o->model_id ? "--model-id is empty" : "--run-index is too large");
    }
    etp_ab_options how = {.units = o->units,
                          .baseline = o->baseline,
                          .margin = o->margin,
                          .program = o->program,
                          .record = o->record,
                          .roofs = o->roofs};
    bool combined = o->combined && argc > 1;
    for (int i = 0; argc > 1 && i < argc; i++) {
        combined = combined || etp_run_is(argv[i]);
    }
    if (combined) {
        return show_combined(cli, o, &how, argc, argv, err);
    }
    // A folder of Arm's kit has no recordings that these options could be about. With any of them
    // the operands are read as dumps, and the error says what is missing.
    bool plain = !o->out && !o->program && !o->record && !o->roofs && !o->baseline && !o->proof &&
                 !o->price && !o->phase && !o->renew;
    bool kit = false;
    if (argc == 1 && plain) {
        ETP_TRY(etp_kit_folder_is(argv[0], &kit, err));
    }
    if (kit) {
        return etp_show_kit_folder(cli, argv[0], o->full, err);
    }
    if (o->renew && !etp_run_is(argv[0])) {
        return etp_fail(err, ETP_USAGE,
                        "--renew writes into a run folder; %s holds no manifest.json of etprof",
                        argv[0]);
    }
    const char *out = o->out;
    if (out && cli->newest && etp_run_is(out)) { // tables go where what they are of is
        ETP_TRY(etp_cli_newest(cli, &out, err));
    }
    etp_show_options show = {
        .full = o->full,
        .proof = o->proof,
        .price = o->price,
        .table = o->table,
        .phase = o->phase,
        .title = o->title,
        .write_files = o->renew,
        .tables_dir = out,
        .tables = {.model_id = o->model_id,
                   .run_index = (uint32_t)o->run_index,
                   .json = o->json_rows},
    };
    return etp_show_ab(cli, (const char *const *)argv, (size_t)argc, &how, &show, err);
}

const etp_command etp_cmd_analyze = {
    .name = "analyze",
    .summary = "explain a run folder, several as one, or dumps of any runner",
    .usage = "FOLDER... | DUMP...",
    .description = "A run folder is re-analysed from its raw files; several give one report, "
                   "platform beside platform.\n"
                   "Bare .etdump files (or folders holding them) and timeline CSVs become one arm "
                   "each; times are then\n"
                   "traced ones, the grade is D and there is no verdict.\n"
                   "A folder that Arm's kit left (flat, or a folder for each experiment; several "
                   "models and thread counts) gives\n"
                   "its latencies as the kit computes them and as they are.",
    .examples = "  etprof analyze out_model\n"
                "  etprof analyze out_model --full\n"
                "  etprof analyze out_model -o report.html\n"
                "  etprof analyze out_model/runs/mac out_model/runs/android -o combined.html\n"
                "  etprof analyze on.etdump off.etdump --baseline off\n"
                "  etprof analyze out_model/runs/android",
    .opts = k_options,
    .opts_size = sizeof(analyze_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML) |
               ETP_CLI_FORMAT_BIT(ETP_CLI_GITHUB),
    .page = etp_write_html,
    .comment = etp_report_write_github,
    .takes_runs = true,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
