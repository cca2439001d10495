// SPDX-License-Identifier: Apache-2.0
// etprof stats FILE.csv: the paired analysis of anybody's samples; robust statistics of timelines.
#include <string.h>

#include "base/path.h"
#include "cli/emit.h"
#include "cli/input.h"
#include "cli/say.h"
#include "cli/show_ab.h"
#include "kit/latency.h"
#include "study/stats/samples.h"

#define TIMELINE_LIMIT ((uint64_t)1 << 30)

typedef struct stats_options {
    const char *baseline, *phase;
    double margin;
    const char *name1, *name2, *out;
} stats_options;

#define OF stats_options
static const etp_opt k_options[] = {
    OPT("baseline", 'b', STRING, baseline, "ARM", "experiment the others are compared with"),
    OPT("phase", 0, STRING, phase, "NAME",
        "only the phase of this name, e.g. 'decode@256' (default: the first)"),
    OPT("margin", 0, PERCENT, margin, "PERCENT", "differences below this are 'same' (default 1)"),
    OPT("name1", 0, STRING, name1, "NAME", "timelines: what to call the first"),
    OPT("name2", 0, STRING, name2, "NAME", "timelines: what to call the second"),
    OPT("out", 0, STRING, out, "DIR",
        "timelines: write ..._robust_stats.json and ..._robust_comparison.json there"),
    {0},
};

static etp_status show_timelines(etp_cli *cli, const stats_options *o, int argc, char **argv,
                                 etp_error *err)
{
    etp_kit_timeline timelines[2];
    const char *stems[2] = {0}, *names[2] = {o->name1, o->name2};
    etp_kit_latencies x;
    if (o->baseline || o->phase || o->margin > 0) {
        return etp_fail(err, ETP_USAGE,
                        "--baseline, --phase and --margin are for tables of samples; timelines "
                        "have no verdict");
    }
    for (int i = 0; i < argc; i++) {
        etp_str text;
        ETP_TRY(etp_os_read_text(argv[i], TIMELINE_LIMIT, &cli->arena, &text, err));
        if (etp_kit_timeline_read(text, &cli->arena, &timelines[i], err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", argv[i]);
        }
        stems[i] = etp_arena_strdup(&cli->arena, etp_path_stem(argv[i]));
    }
    ETP_TRY(etp_arena_check(&cli->arena, err, "timelines"));
    ETP_TRY(etp_kit_latencies_of(timelines, stems, names, (size_t)argc, &cli->arena, &x, err));
    if (o->out) {
        etp_kit_kept kept = {.arena = &cli->arena};
        ETP_TRY(etp_kit_latencies_write(&x, o->out, &kept, &cli->arena, err));
        etp_cli_say_kept(cli, &kept);
    }
    return etp_cli_show(cli, &k_etp_latency_document, &x, etp_kit_latencies_report(&x, &cli->arena),
                        "latencies", err);
}

// By its first line; what cannot be read is not a timeline here, and said by who reads it as
// samples.
static bool is_timeline(const char *path)
{
    etp_file file;
    if (!etp_os_is_file(path) || etp_file_open(path, TIMELINE_LIMIT, &file, NULL) != ETP_OK) {
        return false;
    }
    bool yes = etp_kit_is_timeline((etp_str){(const char *)file.bytes.ptr, file.bytes.len});
    etp_file_close(&file);
    return yes;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const stats_options *o = opts;
    // A timeline has traced inferences of one launch and no blocks: it is described, never compared
    // with a verdict.
    if (is_timeline(argv[0])) {
        return show_timelines(cli, o, argc, argv, err);
    }
    if (argc > 1 || o->name1 || o->name2 || o->out) {
        return etp_fail(
            err, ETP_USAGE,
            "%s is not a timeline; a second table, --name1, --name2 and --out are for timelines",
            argv[0]);
    }
    etp_cli_input in;
    etp_stats_answer stats;
    // A run folder, a file, or "-": whoever reads the samples tells the first two apart.
    ETP_TRY(etp_cli_take_input(cli, argv[0], ETP_SAMPLES_LIMIT, &in, err));
    ETP_TRY(etp_stats_answer_build(in.name, in.content, o->baseline, o->phase, o->margin,
                                   &cli->arena, &stats, err));
    return etp_cli_show(cli, &k_etp_stats_document, &stats,
                        cli->format == ETP_CLI_JSON ? NULL : etp_stats_report(&stats, &cli->arena),
                        "comparisons", err);
}

const etp_command etp_cmd_stats = {
    .name = "stats",
    .summary = "paired statistics of a CSV of samples",
    .usage = "FILE.csv | FOLDER | TIMELINE.csv [TIMELINE2.csv]",
    .description =
        "Needs the columns experiment, block, iteration and duration_ns; '-' reads standard input, "
        "a\n"
        "run folder gives its samples.csv. One block holds one launch of every experiment, "
        "measured\n"
        "close together; incomplete blocks are dropped and counted. With a column phase only "
        "'timed'\n"
        "rows are compared, and 'control' rows (the baseline launched a second time) give the "
        "noise\n"
        "floor. A timeline CSV (of 'analyze --out' or of Arm's kit) gives the kit's robust "
        "statistics of its\n"
        "traced inferences; two of them are set side by side, first / second, without a verdict.",
    .examples =
        "  etprof stats samples.csv\n"
        "  etprof stats samples.csv --baseline neon --format json\n"
        "  etprof stats off_timeline.csv on_timeline.csv --name1 off --name2 on --out stats",
    .opts = k_options,
    .opts_size = sizeof(stats_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .min_args = 1,
    .max_args = 2,
    .run = run,
};
