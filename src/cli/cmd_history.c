// SPDX-License-Identifier: Apache-2.0
// etprof history: figures over many sessions, and where they changed. The Python package answers,
// whose tables DuckDB holds; what may be typed is here.
#include "cli/command.h"
#include "cli/python.h"

typedef struct history_options {
    double min_change;
    const char *model, *device, *since;
    int engine;
} history_options;

static const char *const k_engines[] = {"duckdb", "spark", NULL};
#define OF history_options
static const etp_opt k_options[] = {
    OPT("min-change", 0, PERCENT, min_change, "PERCENT", "ignore smaller changes (default 2%)"),
    OPT("of", 0, STRING, model, "MODEL", "only sessions of this model"),
    OPT("on", 0, STRING, device, "DEVICE", "only sessions on this device, by address or processor"),
    OPT("since", 0, STRING, since, "DATE", "only sessions since then, e.g. 2026-03 or 2026-03-01"),
    CHOICE("engine", engine, "NAME", "engine that reads a lake: duckdb (default) or spark",
           k_engines),
    {0},
};

const etp_command etp_cmd_history = {
    .name = "history",
    .summary = "figures over many sessions, and where they changed",
    .usage = "[list] [FOLDER... | LAKE | FILE.csv]",
    .description =
        "Tells where latency of an arm or speedup over the baseline changed from session "
        "to session\n"
        "(E-divisive, p at most 0.001, three runs on either side) and what else changed there: "
        "program,\n"
        "runner, ExecuTorch, etprof, CPU.\n"
        "\n"
        "Reads run folders and folders that have some in them (the working directory where none "
        "is named), a\n"
        "lake of python -m etprof.fleet, or a table. 'list' shows which sessions there are; a "
        "folder of that\n"
        "name is ./list. --format csv writes one row a run with a column per series, and this "
        "verb reads any\n"
        "such table that has a column 'time'. Folders need the Python package duckdb.",
    .examples = "  etprof history\n"
                "  etprof history out_model/runs --of mobilenet_v2 --on local\n"
                "  etprof history list nightly/ --since 2026-03\n"
                "  etprof history nightly/ --format csv --output nightly.csv\n"
                "  etprof history nightly.csv --min-change 5%",
    .opts = k_options,
    .opts_size = sizeof(history_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .min_args = 0,
    .max_args = -1,
    .run = etp_cli_run_in_python,
};
