// SPDX-License-Identifier: Apache-2.0
// etprof convert: one recording, or two of them aligned, as files of other people's viewers; the
// rows of any number of run folders as tables.
#include <string.h>

#include "base/number.h"
#include "base/path.h"
#include "cli/convert_views.h"
#include "cli/emit.h"
#include "cli/python.h"
#include "cli/say.h"
#include "cli/units.h"
#include "compare/phases.h"
#include "judge/open.h"
#include "os/os.h"
#include "show/report.h"

#define DUMP_LIMIT ((uint64_t)4 << 30)
#define PROGRAM_LIMIT ((uint64_t)64 << 30)

static const char *const k_tables[] = {"operators", "samples", "launches", NULL};

typedef struct convert_options {
    etp_trace_units units;
    int to, table; // indices into k_to and k_tables
    const char *program, *record, *output, *baseline, *candidate, *phase, *name1, *name2;
    bool negate, uncompressed;
} convert_options;

// In the order of k_to, one higher: an option that was not given is −1, and so 0 is "none".
enum { TO_NONE, TO_CHROME, TO_SPEEDSCOPE, TO_FOLDED, TO_PARQUET };

static const char *const k_to[] = {"chrome", "speedscope", "folded", "parquet", NULL};

// −1: not given. 0 would be the first word of the list.
static const convert_options k_defaults = {.to = -1, .table = -1};

#define OF convert_options
static const etp_opt k_options[] = {
    CHOICE("to", to, "FORMAT", "what to write", k_to),
    OPT("output", 'o', STRING, output, "FILE", "write there instead of to standard output"),
    OPT("pte", 0, STRING, program, "FILE",
        "the program of bare dumps: adds nodes, shapes and work"),
    OPT("etrecord", 'r', STRING, record, "FILE",
        "the exporter's record: adds source lines (needs --pte)"),
    OPT("baseline", 'b', STRING, baseline, "ARM", "of a run folder: the arm to start from"),
    OPT("candidate", 'c', STRING, candidate, "ARM",
        "of a run folder: the arm to end at (default the first other one)"),
    OPT("phase", 0, STRING, phase, "NAME",
        "only the phase of this name, e.g. 'decode@256' (default: the first)"),
    OPT("name1", 0, STRING, name1, "NAME", "what to call the first of two"),
    OPT("name2", 0, STRING, name2, "NAME", "what to call the second"),
    OPT("negate", 0, FLAG, negate, NULL,
        "folded: the baseline last, so that viewers show what vanished"),
    CHOICE("table", table, "TABLE", "parquet: which rows (default: operators)", k_tables),
    OPT("uncompressed", 0, FLAG, uncompressed, NULL,
        "parquet: pages as they are, for readers without zstd"),
    ETP_CLI_UNITS,
    {0},
};

typedef struct view { // what is written, one of the two
    int to;
    const etp_slices *slices;
    const etp_stacks *stacks;
    bool negate;
    etp_arena *arena;
} view;

// Called while the file is written: what comes out may be larger than memory should hold.
static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    const view *v = ctx;
    switch (v->to) {
    case TO_CHROME:
        return etp_slices_chrome(v->slices, v->arena, sink, err);
    case TO_SPEEDSCOPE:
        return etp_stacks_speedscope(v->stacks, v->arena, sink, err);
    default:
        return etp_stacks_folded(v->stacks, v->negate, v->arena, sink, err);
    }
}

static etp_status write_slices(etp_cli *cli, const convert_options *o, const etp_slices *slices,
                               etp_error *err)
{
    view v = {.to = o->to + 1, .slices = slices, .arena = &cli->arena};
    ETP_TRY(etp_cli_emit_by(cli, fill, &v, err));
    if (slices->unclocked && !cli->quiet) {
        etp_say("etprof: %zu executions have times that do not nest; they are drawn by their "
                "durations\n",
                slices->unclocked);
    }
    return ETP_OK;
}

static etp_status write_stacks(etp_cli *cli, const convert_options *o, const etp_stacks *stacks,
                               etp_error *err)
{
    view v = {.to = o->to + 1, .stacks = stacks, .negate = o->negate, .arena = &cli->arena};
    ETP_TRY(etp_cli_emit_by(cli, fill, &v, err));
    // What a picture of widths cannot show is said.
    if (!cli->quiet) {
        for (size_t side = 0; side < stacks->n_sides; side++) {
            // A mean of differences may be negative (a remainder that is over-explained); a width
            // cannot.
            if (stacks->below_zero_ns[side]) {
                etp_say("etprof: %.*s: the stacks leave out %s ns of negative sums\n",
                        ETP_STR_ARG(stacks->names[side]),
                        ETP_CHANGE((double)stacks->below_zero_ns[side], 0));
            }
            if (stacks->tracer_ns[side]) {
                etp_say("etprof: %.*s: stacks are of traced inferences; untraced ones take %s ns\n",
                        ETP_STR_ARG(stacks->names[side]),
                        ETP_CHANGE((double)stacks->tracer_ns[side], 0));
            }
        }
    }
    return ETP_OK;
}

static bool to_slices(const convert_options *o)
{
    return o->to + 1 == TO_CHROME;
}

// ---- one dump ----

// Everything that the answer borrows from until it is written.
typedef struct inputs {
    etp_file dump, pte, record_file;
    etp_trace *trace;
    const etp_program *program;
    etp_etrecord record;
} inputs;

// "model" of "dir/model.etdump".
static etp_str stem(const char *path)
{
    etp_str name = etp_str_from(etp_path_name(path));
    if (etp_str_ends(name, ETP_STR(ETP_OS_PACKED))) {
        name.len -= sizeof ETP_OS_PACKED - 1;
    }
    if (etp_str_ends(name, ETP_STR(".etdump")) && name.len > 7) {
        name.len -= 7;
    }
    return name;
}

static etp_status convert_dump(etp_cli *cli, const convert_options *o, const char *path, inputs *in,
                               etp_error *err)
{
    ETP_TRY(etp_file_open_unpacked(path, DUMP_LIMIT, &in->dump, err));
    const etp_trace_options how = {.units = o->units};
    if (etp_trace_open(in->dump.bytes, &how, &in->trace, err) != ETP_OK ||
        etp_trace_tell_modes(in->trace, err) != ETP_OK ||
        etp_trace_need_time(in->trace, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    if (o->program) {
        ETP_TRY(etp_file_open(o->program, PROGRAM_LIMIT, &in->pte, err));
        if (etp_program_open(in->pte.bytes, NULL, &in->program, err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", o->program);
        }
    }
    if (o->record) {
        ETP_TRY(etp_file_open(o->record, PROGRAM_LIMIT, &in->record_file, err));
        if (etp_etrecord_read(in->record_file.bytes, &cli->arena, &in->record, err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", o->record);
        }
    }
    etp_ops_answer ops;
    ETP_TRY(etp_ops_answer_build(in->trace, in->program, o->record ? &in->record : NULL, path,
                                 &cli->arena, &ops, err));
    const char *doubt = cli->quiet ? NULL : etp_ops_doubt(&ops);
    if (doubt) {
        etp_say("etprof: %s: %s\n", path, doubt);
    }
    const etp_str title = o->name1 ? etp_str_from(o->name1) : stem(path);
    if (to_slices(o)) {
        etp_slice_op *rows = NULL;
        etp_slices slices;
        ETP_TRY(etp_convert_ops(&ops, &cli->arena, &rows, err));
        ETP_TRY(etp_slices_of_trace(ops.trace, &ops.table, rows, title, &cli->arena, &slices, err));
        return write_slices(cli, o, &slices, err);
    }
    const char **categories = ETP_NEW_ARRAY(&cli->arena, const char *, ops.table.n_rows);
    ETP_NEED(categories, err, "operators");
    for (size_t i = 0; i < ops.table.n_rows; i++) {
        categories[i] = etp_category_name(ops.names[i].category);
    }
    etp_stacks stacks;
    ETP_TRY(
        etp_stacks_of_trace(ops.trace, &ops.table, categories, title, &cli->arena, &stacks, err));
    return write_stacks(cli, o, &stacks, err);
}

// ---- two sides ----

static etp_status find_comparison(const etp_ab *ab, const char *path, const char *candidate,
                                  size_t *out, etp_error *err)
{
    if (ab->n_comparisons == 0) {
        return etp_fail(err, ETP_USAGE,
                        "%s has one arm, %s; give its dump instead, or a second operand", path,
                        ab->n_arms ? ab->arms[0].name : "without a name");
    }
    // Without a name the first other arm, which is the one that reports begin with.
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        if (!candidate || strcmp(ab->arms[ab->comparisons[i].candidate].name, candidate) == 0) {
            *out = i;
            return ETP_OK;
        }
    }
    return etp_fail(err, ETP_USAGE, "%s compares no arm '%s' with %s; its first other arm is %s",
                    path, candidate, ab->arms[ab->baseline].name,
                    ab->arms[ab->comparisons[0].candidate].name);
}

static etp_status write_sides(etp_cli *cli, const convert_options *o, const etp_ab *ab,
                              const char *path, etp_error *err)
{
    size_t at = 0;
    etp_sides sides;
    ETP_TRY(find_comparison(ab, path, o->candidate, &at, err));
    ETP_TRY(etp_convert_sides(ab, at, &cli->arena, &sides, err));
    if (to_slices(o)) {
        etp_slices slices;
        ETP_TRY(etp_slices_of_sides(&sides, &cli->arena, &slices, err));
        ETP_TRY(write_slices(cli, o, &slices, err));
    } else {
        etp_stacks stacks;
        ETP_TRY(etp_stacks_of_sides(&sides, &cli->arena, &stacks, err));
        ETP_TRY(write_stacks(cli, o, &stacks, err));
    }
    etp_withheld withheld = ab->comparisons[at].withheld;
    // The picture is drawn all the same, since the times were measured; that their ratio is not to
    // be quoted cannot be seen in it.
    if (withheld && !cli->quiet) {
        etp_say("etprof: the comparison is withheld: %s\n", etp_ab_withheld_text(withheld));
    }
    return ETP_OK;
}

static etp_status convert_sides(etp_cli *cli, const convert_options *o, const char *const *paths,
                                size_t n, etp_error *err)
{
    etp_ab_options how = {
        .units = o->units,
        .baseline = o->baseline,
        .program = o->program,
        .record = o->record,
        .two_sides = n == 2,
        .names = {o->name1, o->name2}
    };
    etp_ab_session *session = NULL;
    ETP_TRY(etp_ab_open(paths, n, &how, &session, err));
    const etp_ab *ab;
    etp_status st = etp_ab_of_phase(etp_ab_answer(session), o->phase, &ab, err);
    if (st == ETP_OK) {
        st = write_sides(cli, o, ab, paths[0], err);
    }
    etp_ab_close(session);
    return st;
}

// ---- the verb ----

// What fits rows does not fit views, and the other way round.
static etp_status check_kind(const convert_options *o, int operands, etp_error *err)
{
    bool rows = o->to + 1 == TO_PARQUET;
    if (!rows && (o->table >= 0 || o->uncompressed)) {
        return etp_fail(err, ETP_USAGE, "%s is for --to parquet",
                        o->table >= 0 ? "--table" : "--uncompressed");
    }
    if (!rows && operands > 2) {
        return etp_fail(
            err, ETP_USAGE,
            "%d operands: --to %s shows one or two, --to parquet takes any number of run "
            "folders",
            operands, k_to[o->to]);
    }
    if (rows && (o->program || o->record || o->baseline || o->candidate || o->phase || o->name1 ||
                 o->name2 || o->negate)) {
        return etp_fail(err, ETP_USAGE,
                        "--to parquet writes what is in the folders; its only other options are "
                        "--table, --uncompressed and --output");
    }
    return ETP_OK;
}

// The Python package writes the rows: pyarrow has the format.
static etp_status become_parquet(etp_cli *cli, const convert_options *o, int n_folders,
                                 char **folders, etp_error *err)
{
    if (!cli->output && cli->terminal) {
        return etp_fail(err, ETP_USAGE,
                        "Parquet is binary and standard output is a terminal; add "
                        "--output FILE.parquet");
    }
    const char *const how[] = {
        "--table",
        k_tables[ETP_MAX(o->table, 0)],
        etp_z_if(o->uncompressed, "--uncompressed"),
        etp_z_if(cli->quiet, "--quiet"),
        cli->output ? etp_arena_printf(&cli->arena, "--output=%s", cli->output) : NULL,
    };
    return etp_cli_become_python_with(cli, "parquet", how, sizeof how / sizeof *how, n_folders,
                                      folders, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const convert_options *o = opts;
    // What is written depends on the operands: a dump is drawn by its own times, while a run folder
    // or two operands are sides that were aligned.
    bool one = argc == 1, folder = one && etp_os_is_dir(argv[0]);
    if (o->to >= 0) {
        ETP_TRY(check_kind(o, argc, err));
    }
    // The verb has no --format, and so --output is an option of its own here.
    cli->output = o->output;
    if (o->to + 1 == TO_PARQUET) {
        return become_parquet(cli, o, argc, argv, err);
    }
    // Each combination that has no meaning is refused with the reason. An option that is silently
    // ignored would be taken for one that worked.
    int to = o->to + 1;
    if (to == TO_NONE) {
        return etp_fail(err, ETP_USAGE, "--to is missing: chrome, speedscope, folded or parquet");
    }
    if (o->record && !o->program) {
        return etp_fail(err, ETP_USAGE,
                        "--etrecord needs --pte: the program leads from operators to the record");
    }
    if (o->negate && (to != TO_FOLDED || (one && !folder))) {
        return etp_fail(err, ETP_USAGE, "--negate is for --to folded of two sides");
    }
    if ((o->baseline || o->candidate) && !(one && folder)) {
        return etp_fail(err, ETP_USAGE,
                        "--baseline and --candidate choose arms of one run folder; of two operands "
                        "the first is the baseline");
    }
    if (o->phase && !(one && folder)) {
        return etp_fail(err, ETP_USAGE,
                        "--phase is for one run folder; of two operands the arms "
                        "say it, as in DIR:ARM");
    }
    if (o->name2 && one) {
        return etp_fail(err, ETP_USAGE, "--name2 is for two operands");
    }
    if (!one || folder) {
        return convert_sides(cli, o, (const char *const *)argv, (size_t)argc, err);
    }
    inputs in = {0};
    etp_status st = convert_dump(cli, o, argv[0], &in, err);
    etp_trace_close(in.trace);
    etp_program_close(in.program);
    // In the order of who borrows from whom: trace and program first, then the files they lie in.
    etp_file_close(&in.dump);
    etp_file_close(&in.pte);
    etp_file_close(&in.record_file);
    return st;
}

const etp_command etp_cmd_convert = {
    .name = "convert",
    .summary = "write recordings as files of other viewers, rows as tables",
    .usage = "DUMP | FOLDER... | A B --to FORMAT",
    .description =
        "chrome (JSON, which Perfetto opens) shows a dump's executions at their recorded "
        "times; operators of\n"
        "delegates, whose times are durations only, have a track of their own. "
        "speedscope and folded (collapsed\n"
        "stacks, which speedscope opens too) show model, delegate, category and "
        "operator.\n"
        "Two operands, or a run folder, are two aligned sides, means per inference in "
        "the order of the ledger:\n"
        "in chrome both begin at 0, with arrows between equal operators and a counter "
        "of what is saved so far;\n"
        "speedscope has both and their differences.\n"
        "parquet is the rows of any number of run folders as one file, which pandas, "
        "DuckDB, Spark and others read\n"
        "without etprof. Tables: operators (those of the report, a row for each arm),\n"
        "samples (every iteration), launches (every process). All begin with the same "
        "columns, which say what was run\n"
        "where; times are whole nanoseconds, what is unknown is null. docs/tables.md "
        "has the columns.",
    .examples = "  etprof convert model.etdump --to chrome -o model.json\n"
                "  etprof convert out_model --to folded -o difference.txt\n"
                "  etprof convert off.etdump on.etdump --to speedscope -o both.json\n"
                "  etprof convert out_*/runs/* --to parquet --table samples -o samples.parquet",
    .opts = k_options,
    .opts_size = sizeof(convert_options),
    .defaults = &k_defaults,
    .takes_runs = true,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
