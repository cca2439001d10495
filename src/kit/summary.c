// SPDX-License-Identifier: Apache-2.0
// Documents over all experiments: metrics.json, analysis_summary.json and the pipeline summary.
#include "kit/parts.h"

#include <math.h>

#include "document/document.h"
#include "document/rows.h"
#include "report/report.h"
#include "show/json.h"
#include "trace/ops.h"

// The session's first phase is KIT itself; without phases there is no other.
static const etp_kit *kit_of(const etp_kit *kit, size_t phase)
{
    return phase == 0 ? kit : &kit->later[phase - 1];
}

static size_t count_arms(const etp_kit *kit)
{
    size_t n = 0;
    for (size_t p = 0; p <= kit->n_later; p++) {
        n += kit_of(kit, p)->n_arms;
    }
    return n;
}

// Dumps alone do not name their program, so the key is null rather than made up of their names.
static const char *model_of(const etp_kit *kit, etp_arena *scratch)
{
    return kit->run ? etp_arena_printf(scratch, "%s.pte", kit->stem) : NULL;
}

static etp_status write_file(const etp_shape *shape, const void *file, etp_sink *sink)
{
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_object_write(&j, shape, file, file);
    etp_json_end_document(&j);
    return ETP_OK;
}

static etp_kit_moments moments_of(const uint64_t *ns, size_t n, etp_arena *scratch)
{
    double *v = ETP_NEW_ARRAY(scratch, double, n);
    for (size_t i = 0; i < n; i++) {
        v[i] = (double)ns[i];
    }
    return etp_kit_describe(v, n);
}

// The runner's log lies beside the recording of its launch; bare dumps have none.
static const char *log_of(const etp_kit *kit, const etp_kit_arm *arm, etp_arena *scratch)
{
    if (!kit->run || arm->n_dumps == 0) {
        return NULL;
    }
    return etp_run_dump_name(scratch, &kit->run->arms.items[arm->index], arm->dumps[0]->block,
                             ".log");
}

static const char *dump_name(const etp_kit_arm *arm)
{
    return arm->n_dumps ? arm->dump_names[0] : NULL;
}

// ---- metrics.json ----

typedef struct metrics_row {
    const char *phase;
    const etp_ab_arm *arm;
    const uint64_t *ns; // [runs]
    uint64_t runs;
    double median_ms, min_ms, max_ms;
    const char *etdump, *log, *source;
    int64_t traced_ns;
} metrics_row;

typedef struct metrics_file {
    const char *model;
    metrics_row *rows;
    size_t n;
} metrics_file;

ITS_LENGTH(k_runs, metrics_row, (size_t)it->runs)
FIND(latency_ms, metrics_row, void, MAKE(real, (double)it->ns[at->index] / 1e6))
KNOWN(never, void, it == NULL)
// Keys that the kit alone writes are in the schema, so that its files are valid by it, and never in
// ours.
static void not_ours(etp_json *j, const etp_json_cursor *at) // the kit writes it
{
    (void)at;
    etp_json_null(j);
}

#define OF etp_ab_arm
// Members of the arm stand between those of the row, where the kit has them, so the arm comes in
// pieces.
static const etp_field k_name_rows[] = {
    FIELD("experiment", TEXT, name, "", .flags = ETP_SET),
};
static SHAPE(k_name, k_name_rows);
static const etp_field k_threads_rows[] = {
    FIELD("threads", UINT, threads, "of the runner", .flags = ETP_ZERO),
};
static SHAPE(k_threads, k_threads_rows);
static const etp_field k_level_rows[] = {
    FIELD("level", TEXT, level_name, "CPU-feature level; null: unknown"),
};
static SHAPE(k_level, k_level_rows);
static const etp_field k_untraced_rows[] = {
    FIELD("median_ns", NS, median_ns, "untraced inference"),
    FIELD("lo_ns", ROUNDED, lo_ns, "its 95 % interval: low end"),
    FIELD("hi_ns", ROUNDED, hi_ns, "high end"),
};
static SHAPE(k_untraced, k_untraced_rows);
#undef OF
#define OF metrics_row
#define OF_KIT(key, type, limits)                                                              \
    WRITTEN(key, not_ours, "{\"type\":[\"" type "\",\"null\"]" limits "}", "of the kit alone", \
            .when = never, .flags = ETP_ABSENT)
static const etp_field k_metrics_rows[] = {
    FIELD("runs", UINT, runs, "executions"),
    POINTER(NULL, arm, &k_threads, ""),
    COMPUTED_PER("latency_ms", NUMBER, latency_ms, &k_runs, "of each",
                 .flags = ETP_SKIP | ETP_ONE_LINE),
    FIELD("median_ms", NUMBER, median_ms, "of these"),
    FIELD("min_ms", NUMBER, min_ms, ""),
    FIELD("max_ms", NUMBER, max_ms, ""),
    FIELD("etdump", TEXT, etdump, "the first recording"),
    FIELD("log", TEXT, log, "of its launch"),
    FIELD("etdump_rel", TEXT, etdump, "", .flags = ETP_LATER),
    FIELD("log_rel", TEXT, log, "", .flags = ETP_LATER),
    OF_KIT("avg_latency_ms", "number", ",\"minimum\":0"),
    OF_KIT("warmup", "integer", ",\"minimum\":0"),
    POINTER(NULL, arm, &k_level, "", .flags = ETP_LATER),
    FIELD("source", TEXT, source, "of the latencies", .flags = ETP_LATER),
    POINTER(NULL, arm, &k_untraced, "", .flags = ETP_LATER),
    FIELD("traced_ns", NS, traced_ns, "mean of Method::execute", .flags = ETP_LATER),
};
static SHAPE(k_metrics, k_metrics_rows);
static const etp_field k_result_rows[] = {
    POINTER(NULL, arm, &k_name, ""),
    FIELD("phase", TEXT, phase, "of a session that measured several", .flags = ETP_ABSENT),
    GROUP("metrics", &k_metrics, ""),
};
static SHAPE(k_result, k_result_rows);
#undef OF
#define OF metrics_file
static const etp_field k_metrics_file_rows[] = {
    FIELD("model", TEXT, model, "file name", .flags = ETP_LATER),
    LIST("results", OBJECT, rows, n, "of every experiment", .shape = &k_result),
};
static SHAPE(k_metrics_file, k_metrics_file_rows);
#undef OF

const etp_document k_etp_metrics_document = {
    "metrics.json", "metrics.json: latencies of every experiment", &k_metrics_file};

// Untraced iterations where the session has them. The kit has traced ones alone (defect D13), so
// `source` says which these are.
static metrics_row metrics_of(const etp_kit *kit, const etp_kit_arm *arm, etp_arena *scratch)
{
    bool untraced = arm->n_untraced > 0;
    const uint64_t *ns = untraced ? arm->untraced_ns : arm->latency_ns;
    size_t runs = untraced ? arm->n_untraced : arm->n_runs;
    etp_kit_moments m = moments_of(ns, runs, scratch);
    return (metrics_row){
        .phase = kit->ab->phase,
        .arm = arm->arm,
        .ns = ns,
        .runs = runs,
        .median_ms = m.median / 1e6,
        .min_ms = m.min / 1e6,
        .max_ms = m.max / 1e6,
        .etdump = dump_name(arm),
        .log = log_of(kit, arm, scratch),
        .source = untraced ? "untraced iterations" : "Method::execute",
        .traced_ns = arm->arm->profile ? arm->arm->traced_ns : ETP_NS_UNKNOWN,
    };
}

etp_status etp_kit_metrics(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                           etp_arena *scratch, etp_error *err)
{
    (void)none, (void)err;
    metrics_file file = {.model = model_of(kit, scratch)};
    file.rows = ETP_NEW_ARRAY(scratch, metrics_row, count_arms(kit));
    for (size_t p = 0; p <= kit->n_later; p++) {
        const etp_kit *of = kit_of(kit, p);
        for (size_t i = 0; i < of->n_arms; i++) {
            file.rows[file.n++] = metrics_of(of, &of->arms[i], scratch);
        }
    }
    return write_file(&k_metrics_file, &file, sink);
}

// ---- analysis_summary.json ----

// As many lines as the Inspector's table of this dump has.
static uint64_t table_rows(const etp_trace *trace)
{
    uint64_t rows = 0;
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        for (size_t e = 0; e < block->n_events; e++) {
            rows += !etp_ops_left_out(block->events[e].name);
        }
    }
    return rows;
}

// Times by category of an experiment are over all its recordings; each recording has them once more
// by itself.
typedef struct summary_experiment {
    const char *phase;
    const etp_ab_arm *arm;
    const etp_means *mean; // zeroed without a profile
    int64_t five[ETP_KIT_CATEGORY_COUNT];
    bool occurs[ETP_KIT_CATEGORY_COUNT];
    int64_t boundary_ns, framework_ns, unexplained_ns, execute_ns;
} summary_experiment;

typedef struct summary_dump {
    const char *etdump, *csv_timeline, *csv_stats, *experiment, *phase;
    etp_means mean;
    uint64_t rows, runs;
    int64_t execute_ns, remainder_ns;
} summary_dump;

typedef struct summary_file {
    const etp_kit *kit;
    const char *run_dir, *etrecord, *totals_of;
    const etp_means *totals;
    summary_experiment *experiments;
    summary_dump *dumps;
    const char **csv_files;
    size_t n_experiments, n_dumps, n_csv_files;
} summary_file;

static const void *category_ms(const etp_means *mean, size_t c, etp_made *made)
{
    return mean && mean->category_rows[c] ? MAKE(real, (double)mean->category_ns[c] / 1e6) : NULL;
}
AXIS(k_categories, void, ETP_CATEGORY_COUNT, etp_category_name((etp_category)i))
AXIS(k_five, void, ETP_KIT_CATEGORY_COUNT, etp_kit_category_name((etp_kit_category)i))
FIND(dump_ms, summary_dump, void, category_ms(&it->mean, at->index, made))
FIND(experiment_ms, summary_experiment, void, category_ms(it->mean, at->index, made))
FIND(totals_ms, summary_file, void, category_ms(it->totals, at->index, made))
FIND(experiment_ns, summary_experiment, void,
     it->mean->category_rows[at->index] ? &it->mean->category_ns[at->index] : NULL)
FIND(five_ns, summary_experiment, void, it->occurs[at->index] ? &it->five[at->index] : NULL)

#define OF summary_experiment
#define CATEGORIES(key, find)                                                                   \
    COMPUTED_PER(key, NUMBER, find, &k_categories, "mean of an execution", .range = ETP_SIGNED, \
                 .flags = ETP_SKIP)
static const etp_field k_experiment_rows[] = {
    POINTER(NULL, arm, &k_name, ""),
    FIELD("phase", TEXT, phase, "of a session that measured several", .flags = ETP_ABSENT),
    POINTER(NULL, arm, &k_threads, ""),
    POINTER(NULL, arm, &k_level, ""),
    CATEGORIES("categories_ms", experiment_ms),
    COMPUTED_PER("categories_ns", INT, experiment_ns, &k_categories, "the same, exact",
                 .range = ETP_SIGNED, .flags = ETP_SKIP),
    COMPUTED_PER("five_ns", INT, five_ns, &k_five, "in the kit's five", .range = ETP_SIGNED,
                 .flags = ETP_SKIP),
    FIELD("boundary_ns", NS, boundary_ns, "between runtime and delegates", .range = ETP_SIGNED),
    FIELD("framework_ns", NS, framework_ns, "of the runtime", .range = ETP_SIGNED),
    FIELD("unexplained_ns", NS, unexplained_ns, "what is left", .range = ETP_SIGNED),
    FIELD("execute_ns", NS, execute_ns, "mean of Method::execute"),
};
static SHAPE(k_experiment, k_experiment_rows);
#undef OF
#define OF summary_dump
static const etp_field k_dump_rows[] = {
    FIELD("etdump", TEXT, etdump, "file name", .flags = ETP_SET),
    CATEGORIES("categories_ms", dump_ms),
    FIELD("rows", UINT, rows, "of the Inspector's table"),
    FIELD("csv_timeline", TEXT, csv_timeline, "file name"),
    FIELD("csv_stats", TEXT, csv_stats, "file name"),
    FIELD("experiment", TEXT, experiment, "that it is of", .flags = ETP_SET | ETP_LATER),
    FIELD("phase", TEXT, phase, "of a session that measured several", .flags = ETP_ABSENT),
    FIELD("runs", UINT, runs, "executions", .flags = ETP_LATER),
    FIELD("execute_ns", NS, execute_ns, "mean of Method::execute", .flags = ETP_LATER),
    FIELD("remainder_ns", NS, remainder_ns, "of it that no category has", .range = ETP_SIGNED,
          .flags = ETP_LATER),
};
static SHAPE(k_dump, k_dump_rows);
#undef OF
#define OF summary_file
static const etp_field k_summary_rows[] = {
    FIELD("run_dir", TEXT, run_dir, "folder", .flags = ETP_SET),
    FIELD("etrecord", TEXT, etrecord, "of the kit"),
    FIELD("etdump_count", UINT, n_dumps, "recordings"),
    CATEGORIES("category_totals_ms", totals_ms),
    FIELD("category_totals_of", TEXT, totals_of, "the experiment of these", .flags = ETP_LATER),
    LIST("experiments", OBJECT, experiments, n_experiments, "over all recordings",
         .shape = &k_experiment, .flags = ETP_LATER),
    LIST("per_etdump", OBJECT, dumps, n_dumps, "each recording", .shape = &k_dump),
    LIST("csv_files", TEXT, csv_files, n_csv_files, "that were written", .flags = ETP_SET),
};
static SHAPE(k_summary, k_summary_rows);
#undef OF

const etp_document k_etp_analysis_summary_document = {
    "analysis_summary.json", "analysis_summary.json: time by category", &k_summary};

static etp_status take_dump(const etp_kit *kit, const etp_kit_arm *arm, size_t d, summary_dump *out,
                            etp_arena *scratch, etp_error *err)
{
    const etp_profile *p = arm->arm->profile;
    *out = (summary_dump){
        .etdump = arm->dump_names[d],
        .rows = table_rows(arm->dumps[d]->trace),
        .csv_timeline = etp_kit_timeline_file(kit, arm),
        // The kit has a table for each dump. Ours is of the experiment: all its dumps name one
        // file.
        .csv_stats = etp_kit_arm_file(kit, arm, ETP_KIT_OPS_STATS),
        .experiment = arm->arm->name,
        .phase = kit->ab->phase,
        .runs = p ? p->per_dump_all_executions[d] : 0,
    };
    ETP_TRY(etp_means_of(p, d, scratch, &out->mean, err));
    const etp_means *m = &out->mean;
    int64_t rest = m->boundary_ns + m->framework_ns + m->unexplained_ns;
    // Means without an execution are zeroed, and a 0 here would read as a time that was measured.
    out->execute_ns = out->runs ? m->execute_ns : ETP_NS_UNKNOWN;
    out->remainder_ns = out->runs ? rest : ETP_NS_UNKNOWN;
    return ETP_OK;
}

static summary_experiment experiment_of(const etp_kit *kit, const etp_kit_arm *arm)
{
    const etp_means *m = &arm->mean;
    bool known = arm->arm->profile != NULL;
    summary_experiment out = {
        .phase = kit->ab->phase,
        .arm = arm->arm,
        .mean = m,
        .boundary_ns = known ? m->boundary_ns : ETP_NS_UNKNOWN,
        .framework_ns = known ? m->framework_ns : ETP_NS_UNKNOWN,
        .unexplained_ns = known ? m->unexplained_ns : ETP_NS_UNKNOWN,
        .execute_ns = known ? m->execute_ns : ETP_NS_UNKNOWN,
    };
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        if (m->category_rows[c]) {
            etp_kit_category f = etp_kit_category_of((etp_category)c);
            out.five[f] += m->category_ns[c];
            out.occurs[f] = true;
        }
    }
    return out;
}

static etp_status take_kit(const etp_kit *kit, summary_file *out, etp_arena *scratch,
                           etp_error *err)
{
    for (size_t i = 0; i < kit->n_arms; i++) {
        const etp_kit_arm *arm = &kit->arms[i];
        out->experiments[out->n_experiments++] = experiment_of(kit, arm);
        for (size_t d = 0; d < arm->n_dumps; d++) {
            ETP_TRY(take_dump(kit, arm, d, &out->dumps[out->n_dumps++], scratch, err));
        }
    }
    for (size_t i = 0; i < kit->csv_files.n; i++) {
        out->csv_files[out->n_csv_files++] = kit->csv_files.items[i];
    }
    return ETP_OK;
}

etp_status etp_kit_analysis_summary(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                                    etp_arena *scratch, etp_error *err)
{
    (void)none;
    size_t n_dumps = 0, n_csv_files = 0;
    for (size_t p = 0; p <= kit->n_later; p++) {
        const etp_kit *of = kit_of(kit, p);
        n_csv_files += of->csv_files.n;
        for (size_t i = 0; i < of->n_arms; i++) {
            n_dumps += of->arms[i].n_dumps;
        }
    }
    summary_file file = {
        // Never the folder's own path: the same raw files give the same bytes wherever they lie.
        .run_dir = ".",
        // The kit adds up all experiments and threads here (defect D1), which is no time that
        // anything took. The key holds the baseline's and says so beside it.
        .totals_of = kit->n_arms ? kit->arms[0].arm->name : NULL,
        .totals = kit->n_arms ? &kit->arms[0].mean : NULL,
        .experiments = ETP_NEW_ARRAY(scratch, summary_experiment, count_arms(kit)),
        .dumps = ETP_NEW_ARRAY(scratch, summary_dump, n_dumps),
        .csv_files = ETP_NEW_ARRAY(scratch, const char *, n_csv_files),
    };
    for (size_t p = 0; p <= kit->n_later; p++) {
        ETP_TRY(take_kit(kit_of(kit, p), &file, scratch, err));
    }
    return write_file(&k_summary, &file, sink);
}

// ---- pipeline summary ----

typedef enum run_status { RUN_OK, RUN_ANALYSIS_ONLY, RUN_FAILED, RUN_STATUSES } run_status;
typedef enum run_mode { MODE_TIMING, MODE_XNNTRACE, MODES } run_mode;

static const char *status_name(run_status s)
{
    static const char *const k_names[RUN_STATUSES] = {"ok", "analysis-only", "failed"};
    return k_names[s];
}

static const char *mode_name(run_mode m)
{
    return m == MODE_XNNTRACE ? "xnntrace" : "timing";
}
WORDS(k_statuses, status_name, run_status, RUN_STATUSES)
WORDS(k_modes, mode_name, run_mode, MODES)

typedef struct pipeline_run {
    const etp_ab_arm *arm;
    run_mode mode; // the other is the kit's
    run_status status;
    const char *latency_log, *timeline_all, *timeline_run0, *etdump, *ops_stats, *robust_stats;
    double median_ms, mean_ms, cv_percent;
    uint64_t runs, warmup; // UINT64_MAX: not known
} pipeline_run;

typedef struct pipeline_file {
    const char *model, *output_root;
    etp_str generated_at;
    pipeline_run *runs;
    size_t n_runs;
    const etp_ab *ab;
} pipeline_file;

KNOWN(has_runs, pipeline_run, it->runs > 0)

#define OF etp_ab_arm
static const etp_field k_times_rows[] = {
    FIELD("untraced_median_ns", NS, median_ns, "untraced inference"),
    FIELD("untraced_lo_ns", ROUNDED, lo_ns, "its 95 % interval: low end"),
    FIELD("untraced_hi_ns", ROUNDED, hi_ns, "high end"),
};
static SHAPE(k_times, k_times_rows);
static const etp_field k_iterations_rows[] = {
    FIELD("level", TEXT, level_name, "CPU-feature level; null: unknown"),
    FIELD("untraced_iterations", UINT, samples, "of all launches"),
};
static SHAPE(k_iterations, k_iterations_rows);
#undef OF
#define OF pipeline_run
static const etp_field k_path_rows[] = {
    FIELD("latency_log", TEXT, latency_log, "", .flags = ETP_LATER),
    FIELD("timeline_all", TEXT, timeline_all, "", .flags = ETP_LATER),
    FIELD("timeline_run0", TEXT, timeline_run0, "", .flags = ETP_LATER),
    FIELD("etdump", TEXT, etdump, "", .flags = ETP_LATER),
    OF_KIT("xnntrace_log", "string", ""),
    OF_KIT("kernel_csv", "string", ""),
    FIELD("ops_stats", TEXT, ops_stats, "", .flags = ETP_LATER),
};
static SHAPE(k_paths, k_path_rows);
static const etp_field k_figure_rows[] = {
    FIELD("median_ms", NUMBER, median_ms, "of Method::execute"),
    FIELD("mean_ms", NUMBER, mean_ms, ""),
    FIELD("cv_percent", RATIO, cv_percent, "standard deviation ÷ mean"),
    FIELD("robust_stats_path", TEXT, robust_stats, "file name"),
};
static SHAPE(k_figures, k_figure_rows);
static const etp_field k_all_figure_rows[] = {
    GROUP(NULL, &k_figures, "", .when = has_runs, .flags = ETP_ABSENT | ETP_LATER),
    POINTER(NULL, arm, &k_times, "", .flags = ETP_LATER),
};
static SHAPE(k_all_figures, k_all_figure_rows);
static const etp_field k_run_rows[] = {
    POINTER(NULL, arm, &k_name, ""),
    POINTER(NULL, arm, &k_threads, ""),
    FIELD("mode", WORD, mode, "", .words = &k_modes),
    FIELD("status", WORD, status, "", .words = &k_statuses),
    GROUP("paths", &k_paths, "names of files"),
    GROUP("metrics", &k_all_figures, ""),
    FIELD("runs", UINT, runs, "executions"),
    FIELD("warmup", UINT, warmup, "executions before", .flags = ETP_MAX_IS_NULL),
    POINTER(NULL, arm, &k_iterations, "", .flags = ETP_LATER),
};
static SHAPE(k_run, k_run_rows);
#undef OF
#define OF etp_ab
static const etp_field k_answer_rows[] = {
    LIST("comparisons", OBJECT, comparisons, n_comparisons, "each other arm against the baseline",
         .shape = &k_etp_ab_comparison),
    FIELD("grade", TEXT, judged.grade, "how much the arms have in common"),
    FIELD("note", TEXT, misnamed, "names of experiments that say what did not run"),
    FIELD("executorch_sha", TEXT, executorch_sha, "revision of ExecuTorch"),
};
static SHAPE(k_answer, k_answer_rows);
#undef OF
#define OF pipeline_file
static const etp_field k_pipeline_rows[] = {
    FIELD("model", TEXT, model, "file name"),
    // When it was measured, as the manifest says: never when this file was made.
    FIELD("generated_at", STR, generated_at, "when it was measured", .flags = ETP_EMPTY),
    FIELD("output_root", TEXT, output_root, "folder", .flags = ETP_SET),
    LIST("runs", OBJECT, runs, n_runs, "every experiment", .shape = &k_run),
    POINTER(NULL, ab, &k_answer, "", .root = etp_itself, .flags = ETP_LATER),
};
static SHAPE(k_pipeline, k_pipeline_rows);
#undef OF

const etp_document k_etp_pipeline_summary_document = {
    "pipeline_summary.json", "<model>_pipeline_summary.json: index of a run", &k_pipeline};

// Of bare dumps nothing tells that a run went well; of a session an experiment without any
// execution has failed.
static run_status status_of(const etp_kit *kit, const etp_kit_arm *arm)
{
    if (!kit->run) {
        return RUN_ANALYSIS_ONLY;
    }
    return arm->n_runs || arm->n_untraced ? RUN_OK : RUN_FAILED;
}

// Files are named only where write_arm writes them: timelines and statistics of operators need a
// dump, robust statistics an execution.
static pipeline_run pipeline_run_of(const etp_kit *kit, const etp_kit_arm *arm, etp_arena *scratch)
{
    etp_kit_moments m = moments_of(arm->latency_ns, arm->n_runs, scratch);
    bool any = arm->n_dumps > 0;
    return (pipeline_run){
        .arm = arm->arm,
        .mode = MODE_TIMING,
        .status = status_of(kit, arm),
        .latency_log = log_of(kit, arm, scratch),
        .timeline_all = any ? etp_kit_timeline_file(kit, arm) : NULL,
        .timeline_run0 = any ? etp_kit_arm_file(kit, arm, ETP_KIT_TIMELINE_RUN0) : NULL,
        .etdump = dump_name(arm),
        .ops_stats = any ? etp_kit_arm_file(kit, arm, ETP_KIT_OPS_STATS) : NULL,
        .robust_stats = arm->n_runs ? etp_kit_arm_file(kit, arm, ETP_KIT_ROBUST_STATS) : NULL,
        .median_ms = m.median / 1e6,
        .mean_ms = m.mean / 1e6,
        .cv_percent = m.cv_percent,
        .runs = arm->n_runs,
        .warmup = kit->run ? kit->run->arms.items[arm->index].warmup : UINT64_MAX,
    };
}

etp_status etp_kit_pipeline_json(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                                 etp_arena *scratch, etp_error *err)
{
    (void)none, (void)err;
    pipeline_file file = {
        .model = model_of(kit, scratch),
        .output_root = ".",
        .generated_at = kit->run ? kit->run->generated_at : (etp_str){0},
        .runs = ETP_NEW_ARRAY(scratch, pipeline_run, kit->n_arms),
        .ab = kit->ab,
    };
    for (size_t i = 0; i < kit->n_arms; i++) {
        file.runs[file.n_runs++] = pipeline_run_of(kit, &kit->arms[i], scratch);
    }
    return write_file(&k_pipeline, &file, sink);
}

static void speedup_table(const etp_kit *kit, etp_report *r, etp_arena *scratch)
{
    static const etp_column k_columns[] = {
        {.key = "baseline", .title = "Baseline", .flags = ETP_COL_CODE},
        {.key = "candidate", .title = "Candidate", .flags = ETP_COL_CODE},
        {.key = "measured", .title = "Measured"},
        {.key = "speedup", .title = "Speedup", .kind = ETP_KIND_RATIO},
        {.key = "lo", .title = "95 % from", .kind = ETP_KIND_RATIO},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO},
        {.key = "blocks", .title = "Blocks", .kind = ETP_KIND_INT},
        {.key = "verdict", .title = "Verdict"},
        {.key = "withheld", .title = "Withheld"},
        {.key = "method", .title = "Method"},
    };
    etp_table *t =
        etp_report_table(r, "speedup-table", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < kit->ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &kit->ab->comparisons[i];
        const char *measured =
            etp_arena_printf(scratch, "%s against %s", kit->ab->arms[c->candidate].measured,
                             kit->ab->arms[c->baseline].measured);
        ETP_ROW(t, etp_cell_z(kit->ab->arms[c->baseline].name),
                etp_cell_z(kit->ab->arms[c->candidate].name), etp_cell_z(measured),
                etp_cell_double(c->estimate), etp_cell_double(c->lo), etp_cell_double(c->hi),
                etp_cell_if(c->blocks, etp_cell_u64(c->blocks)),
                etp_cell_z(c->withheld ? "withheld"
                                       : etp_verdict_cell(scratch, c->verdict, c->lo, c->hi,
                                                          c->blocks, c->margin)),
                etp_cell_z(etp_withheld_name(c->withheld)),
                etp_cell_z(etp_ab_method_name(c->method)));
    }
    etp_report_text(r, "Speedup is the baseline's time divided by the candidate's: above 1 the "
                       "candidate is faster.");
}

etp_status etp_kit_pipeline_md(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                               etp_arena *scratch, etp_error *err)
{
    (void)none;
    const char *title = etp_arena_printf(scratch, "Pipeline summary: %s", kit->stem);
    etp_report *r = etp_report_create(scratch, title);
    etp_report_section(r, 1, "run", "Run");
    etp_keys *keys = etp_report_keys(r, NULL);
    if (kit->run && kit->run->generated_at.len) {
        etp_keys_add(keys, ETP_PLAIN, "Generated", "%.*s", ETP_STR_ARG(kit->run->generated_at));
    }
    if (kit->ab->subject) {
        etp_keys_add(keys, ETP_PLAIN, "Measured", "%s", kit->ab->subject);
    }
    if (kit->ab->misnamed) {
        etp_keys_add(keys, ETP_WARN, "Names", "%s", kit->ab->misnamed);
    }
    etp_keys_add(keys, ETP_PLAIN, "Output root", ".");
    if (kit->ab->executorch_sha) {
        etp_keys_add(keys, ETP_PLAIN, "ExecuTorch", "%s", kit->ab->executorch_sha);
    }
    if (kit->ab->n_comparisons) {
        etp_report_section(r, 1, "speedup", "Speedup");
        speedup_table(kit, r, scratch);
    }
    etp_report_section(r, 1, "experiments", "Experiments");
    // Columns up to the statistics file are the kit's, in its order and with its titles.
    static const etp_column k_columns[] = {
        {.key = "experiment", .title = "Experiment", .flags = ETP_COL_CODE},
        {.key = "threads", .title = "Threads", .kind = ETP_KIND_INT},
        {.key = "runs", .title = "Runs", .kind = ETP_KIND_INT},
        {.key = "warmup", .title = "Warmup", .kind = ETP_KIND_INT},
        {.key = "median_ns", .title = "Median", .kind = ETP_KIND_NS},
        {.key = "mean_ns", .title = "Mean", .kind = ETP_KIND_NS},
        {.key = "cv", .title = "CV", .kind = ETP_KIND_PERCENT, .decimals = 2},
        {.key = "robust_stats", .title = "Robust Stats", .flags = ETP_COL_CODE},
        {.key = "untraced_median_ns", .title = "Untraced median", .kind = ETP_KIND_NS},
        {.key = "level", .title = "Level"},
        {.key = "status", .title = "Status"},
    };
    etp_table *t = etp_report_table(r, "experiments-table", NULL, k_columns,
                                    sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < kit->n_arms; i++) {
        const etp_kit_arm *arm = &kit->arms[i];
        etp_kit_moments m = moments_of(arm->latency_ns, arm->n_runs, scratch);
        int64_t untraced = arm->arm->median_ns;
        ETP_ROW(
            t, etp_cell_z(arm->arm->name),
            etp_cell_if(arm->arm->threads, etp_cell_u64(arm->arm->threads)),
            etp_cell_u64(arm->n_runs),
            kit->run ? etp_cell_u64(kit->run->arms.items[arm->index].warmup) : etp_cell_missing(),
            etp_cell_double(m.median), etp_cell_double(m.mean), etp_cell_double(m.cv_percent / 100),
            etp_cell_z(arm->n_runs ? etp_kit_arm_file(kit, arm, ETP_KIT_ROBUST_STATS) : NULL),
            etp_cell_ns(untraced), etp_cell_z(arm->arm->level_name),
            etp_cell_z(status_name(status_of(kit, arm))));
    }
    etp_report_text(r, "Median, mean and CV are of Method::execute in the traced launches, as in "
                       "Arm's kit; the untraced median is what the speedup rests on.");
    return etp_report_write(r, etp_write_md, &(etp_report_style){.unicode = true}, sink, err);
}
