// SPDX-License-Identifier: Apache-2.0
// Documents over all experiments: metrics.json, analysis_summary.json and the pipeline summary.
#include "kit/parts.h"

#include <math.h>

#include "document/document.h"
#include "report/report.h"
#include "show/json.h"

static void put_text(etp_json *j, const char *key, etp_str s) // empty is null
{
    etp_json_kv_str_if(j, key, s, s.len);
}

static void put_threads(etp_json *j, const etp_kit_arm *arm)
{
    etp_json_kv_u64_if(j, "threads", arm->arm->threads, arm->arm->threads);
}

// The session's first phase is KIT itself; without phases there is no other.
static const etp_kit *kit_of(const etp_kit *kit, size_t phase)
{
    return phase == 0 ? kit : &kit->later[phase - 1];
}

static void put_phase(const etp_kit *kit, etp_json *j)
{
    if (kit->ab->phase) {
        etp_json_kv_z(j, "phase", kit->ab->phase->name);
    }
}

static void put_model(const etp_kit *kit, etp_json *j, etp_arena *scratch)
{
    const char *name = kit->run ? etp_arena_printf(scratch, "%s.pte", kit->stem) : NULL;
    etp_json_kv_z(j, "model", name);
}

static double *doubles_of(const uint64_t *ns, size_t n, etp_arena *scratch)
{
    double *v = ETP_NEW_ARRAY(scratch, double, n);
    for (size_t i = 0; v && i < n; i++) {
        v[i] = (double)ns[i];
    }
    return v;
}

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

static etp_status metrics_of(const etp_kit *kit, const etp_kit_arm *arm, etp_json *j,
                             etp_arena *scratch, etp_error *err)
{
    bool untraced = arm->n_untraced > 0;
    const uint64_t *ns = untraced ? arm->untraced_ns : arm->latency_ns;
    size_t n = untraced ? arm->n_untraced : arm->n_runs;
    double *v = doubles_of(ns, n, scratch);
    ETP_NEED(v, err, "metrics");
    etp_kit_moments m = etp_kit_describe(v, n);
    etp_json_begin_object(j);
    etp_json_kv_z(j, "experiment", arm->arm->name);
    put_phase(kit, j);
    etp_json_key(j, "metrics");
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "runs", n);
    put_threads(j, arm);
    etp_json_key(j, "latency_ms");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < n; i++) {
        etp_json_double(j, (double)ns[i] / 1e6);
    }
    etp_json_end(j);
    etp_json_kv_double(j, "median_ms", m.median / 1e6);
    etp_json_kv_double(j, "min_ms", m.min / 1e6);
    etp_json_kv_double(j, "max_ms", m.max / 1e6);
    const char *log = log_of(kit, arm, scratch);
    etp_json_kv_z(j, "etdump", dump_name(arm));
    etp_json_kv_z(j, "log", log);
    etp_json_kv_z(j, "etdump_rel", dump_name(arm));
    etp_json_kv_z(j, "log_rel", log);
    etp_json_kv_z(j, "level", arm->arm->level_name);
    etp_json_kv_z(j, "source", untraced ? "untraced iterations" : "Method::execute");
    etp_ns_member(j, "median_ns", arm->arm->median_ns);
    etp_json_kv_rounded(j, "lo_ns", arm->arm->lo_ns);
    etp_json_kv_rounded(j, "hi_ns", arm->arm->hi_ns);
    etp_ns_member(j, "traced_ns", arm->arm->profile ? arm->arm->traced_ns : ETP_NS_UNKNOWN);
    etp_json_end(j);
    etp_json_end(j);
    return ETP_OK;
}

etp_status etp_kit_metrics(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                           etp_arena *scratch, etp_error *err)
{
    (void)none;
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    put_model(kit, &j, scratch);
    etp_json_key(&j, "results");
    etp_json_begin_array(&j);
    for (size_t p = 0; p <= kit->n_later; p++) {
        const etp_kit *of = kit_of(kit, p);
        for (size_t i = 0; i < of->n_arms; i++) {
            ETP_TRY(metrics_of(of, &of->arms[i], &j, scratch, err));
        }
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}

// ---- analysis_summary.json ----

static void put_categories(const etp_means *mean, const char *key, etp_json *j)
{
    etp_json_key(j, key);
    etp_json_begin_object(j);
    for (int c = 0; mean && c < ETP_CATEGORY_COUNT; c++) {
        if (mean->category_rows[c]) {
            etp_json_kv_double(j, etp_category_name((etp_category)c),
                               (double)mean->category_ns[c] / 1e6);
        }
    }
    etp_json_end(j);
}

// As many lines as the Inspector's table of this dump has.
static uint64_t table_rows(const etp_trace *trace)
{
    uint64_t rows = 0;
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        for (size_t e = 0; e < block->n_events; e++) {
            rows += block->events[e].kind != ETP_EVENT_OPERATOR_CALL;
        }
    }
    return rows;
}

static etp_status put_dump(const etp_kit *kit, const etp_kit_arm *arm, size_t d, etp_json *j,
                           etp_arena *scratch, etp_error *err)
{
    const etp_profile *p = arm->arm->profile;
    uint64_t runs = p ? p->per_dump_all_executions[d] : 0;
    etp_means mean;
    ETP_TRY(etp_means_of(p, d, scratch, &mean, err));
    etp_json_begin_object(j);
    etp_json_kv_z(j, "etdump", arm->dump_names[d]);
    put_categories(&mean, "categories_ms", j);
    etp_json_kv_u64(j, "rows", table_rows(arm->dumps[d]->trace));
    etp_json_kv_z(j, "csv_timeline", etp_kit_timeline_file(kit, arm));
    etp_json_kv_z(j, "csv_stats", etp_kit_arm_file(kit, arm, ETP_KIT_OPS_STATS));
    etp_json_kv_z(j, "experiment", arm->arm->name);
    put_phase(kit, j);
    etp_json_kv_u64(j, "runs", runs);
    int64_t rest = mean.boundary_ns + mean.framework_ns + mean.unexplained_ns;
    etp_ns_member(j, "execute_ns", runs ? mean.execute_ns : ETP_NS_UNKNOWN);
    etp_ns_member(j, "remainder_ns", runs ? rest : ETP_NS_UNKNOWN);
    etp_json_end(j);
    return ETP_OK;
}

static void put_experiment(const etp_kit *kit, const etp_kit_arm *arm, etp_json *j)
{
    int64_t five[ETP_KIT_CATEGORY_COUNT] = {0};
    bool occurs[ETP_KIT_CATEGORY_COUNT] = {false};
    etp_json_begin_object(j);
    etp_json_kv_z(j, "experiment", arm->arm->name);
    put_phase(kit, j);
    put_threads(j, arm);
    etp_json_kv_z(j, "level", arm->arm->level_name);
    put_categories(&arm->mean, "categories_ms", j);
    etp_json_key(j, "categories_ns");
    etp_json_begin_object(j);
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        if (arm->mean.category_rows[c]) {
            etp_kit_category f = etp_kit_category_of((etp_category)c);
            five[f] += arm->mean.category_ns[c];
            occurs[f] = true;
            etp_json_kv_i64(j, etp_category_name((etp_category)c), arm->mean.category_ns[c]);
        }
    }
    etp_json_end(j);
    etp_json_key(j, "five_ns");
    etp_json_begin_object(j);
    for (int f = 0; f < ETP_KIT_CATEGORY_COUNT; f++) {
        if (occurs[f]) {
            etp_json_kv_i64(j, etp_kit_category_name((etp_kit_category)f), five[f]);
        }
    }
    etp_json_end(j);
    bool known = arm->arm->profile != NULL;
    etp_ns_member(j, "boundary_ns", known ? arm->mean.boundary_ns : ETP_NS_UNKNOWN);
    etp_ns_member(j, "framework_ns", known ? arm->mean.framework_ns : ETP_NS_UNKNOWN);
    etp_ns_member(j, "unexplained_ns", known ? arm->mean.unexplained_ns : ETP_NS_UNKNOWN);
    etp_ns_member(j, "execute_ns", known ? arm->mean.execute_ns : ETP_NS_UNKNOWN);
    etp_json_end(j);
}

static etp_status put_dumps(const etp_kit *kit, etp_json *j, etp_arena *scratch, etp_error *err)
{
    for (size_t i = 0; i < kit->n_arms; i++) {
        for (size_t d = 0; d < kit->arms[i].n_dumps; d++) {
            ETP_TRY(put_dump(kit, &kit->arms[i], d, j, scratch, err));
        }
    }
    return ETP_OK;
}

static uint64_t count_dumps(const etp_kit *kit)
{
    uint64_t n = 0;
    for (size_t p = 0; p <= kit->n_later; p++) {
        for (size_t i = 0; i < kit_of(kit, p)->n_arms; i++) {
            n += kit_of(kit, p)->arms[i].n_dumps;
        }
    }
    return n;
}

etp_status etp_kit_analysis_summary(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                                    etp_arena *scratch, etp_error *err)
{
    (void)none;
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "run_dir", ".");
    etp_json_kv_null(&j, "etrecord");
    etp_json_kv_u64(&j, "etdump_count", count_dumps(kit));
    put_categories(kit->n_arms ? &kit->arms[0].mean : NULL, "category_totals_ms", &j);
    etp_json_kv_z(&j, "category_totals_of", kit->n_arms ? kit->arms[0].arm->name : NULL);
    etp_json_key(&j, "experiments");
    etp_json_begin_array(&j);
    for (size_t p = 0; p <= kit->n_later; p++) {
        for (size_t i = 0; i < kit_of(kit, p)->n_arms; i++) {
            put_experiment(kit_of(kit, p), &kit_of(kit, p)->arms[i], &j);
        }
    }
    etp_json_end(&j);
    etp_json_key(&j, "per_etdump");
    etp_json_begin_array(&j);
    for (size_t p = 0; p <= kit->n_later; p++) {
        ETP_TRY(put_dumps(kit_of(kit, p), &j, scratch, err));
    }
    etp_json_end(&j);
    etp_json_key(&j, "csv_files");
    etp_json_begin_array(&j);
    for (size_t p = 0; p <= kit->n_later; p++) {
        for (size_t i = 0; i < kit_of(kit, p)->csv_files.n; i++) {
            etp_json_z(&j, kit_of(kit, p)->csv_files.items[i]);
        }
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}

// ---- pipeline summary ----

static const char *status_of(const etp_kit *kit, const etp_kit_arm *arm)
{
    if (!kit->run) {
        return "analysis-only";
    }
    return arm->n_runs || arm->n_untraced ? "ok" : "failed";
}

static void put_paths(const etp_kit *kit, const etp_kit_arm *arm, etp_json *j, etp_arena *scratch)
{
    bool any = arm->n_dumps > 0;
    etp_json_key(j, "paths");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "latency_log", log_of(kit, arm, scratch));
    etp_json_kv_z(j, "timeline_all", any ? etp_kit_timeline_file(kit, arm) : NULL);
    etp_json_kv_z(j, "timeline_run0",
                  any ? etp_kit_arm_file(kit, arm, ETP_KIT_TIMELINE_RUN0) : NULL);
    etp_json_kv_z(j, "etdump", dump_name(arm));
    etp_json_kv_z(j, "ops_stats", any ? etp_kit_arm_file(kit, arm, ETP_KIT_OPS_STATS) : NULL);
    etp_json_end(j);
}

static etp_status put_run(const etp_kit *kit, const etp_kit_arm *arm, etp_json *j,
                          etp_arena *scratch, etp_error *err)
{
    double *v = doubles_of(arm->latency_ns, arm->n_runs, scratch);
    ETP_NEED(v, err, "pipeline summary");
    etp_kit_moments m = etp_kit_describe(v, arm->n_runs);
    etp_json_begin_object(j);
    etp_json_kv_z(j, "experiment", arm->arm->name);
    put_threads(j, arm);
    etp_json_kv_z(j, "mode", "timing");
    etp_json_kv_z(j, "status", status_of(kit, arm));
    put_paths(kit, arm, j, scratch);
    etp_json_key(j, "metrics");
    etp_json_begin_object(j);
    if (arm->n_runs) {
        etp_json_kv_double(j, "median_ms", m.median / 1e6);
        etp_json_kv_double(j, "mean_ms", m.mean / 1e6);
        etp_json_kv_ratio(j, "cv_percent", m.cv_percent);
        etp_json_kv_z(j, "robust_stats_path", etp_kit_arm_file(kit, arm, ETP_KIT_ROBUST_STATS));
    }
    etp_ns_member(j, "untraced_median_ns", arm->arm->median_ns);
    etp_json_kv_rounded(j, "untraced_lo_ns", arm->arm->lo_ns);
    etp_json_kv_rounded(j, "untraced_hi_ns", arm->arm->hi_ns);
    etp_json_end(j);
    etp_json_kv_u64(j, "runs", arm->n_runs);
    etp_json_key(j, "warmup");
    if (kit->run) {
        etp_json_u64(j, kit->run->arms.items[arm->index].warmup);
    } else {
        etp_json_null(j);
    }
    etp_json_kv_z(j, "level", arm->arm->level_name);
    etp_json_kv_u64(j, "untraced_iterations", arm->arm->samples);
    etp_json_end(j);
    return ETP_OK;
}

etp_status etp_kit_pipeline_json(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                                 etp_arena *scratch, etp_error *err)
{
    (void)none;
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    put_model(kit, &j, scratch);
    // When it was measured, as the manifest says: never when this file was made.
    put_text(&j, "generated_at", kit->run ? kit->run->generated_at : (etp_str){0});
    etp_json_kv_z(&j, "output_root", ".");
    etp_json_key(&j, "runs");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < kit->n_arms; i++) {
        ETP_TRY(put_run(kit, &kit->arms[i], &j, scratch, err));
    }
    etp_json_end(&j);
    etp_json_key(&j, "comparisons");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < kit->ab->n_comparisons; i++) {
        etp_object_write(&j, &k_etp_ab_comparison, &kit->ab->comparisons[i], kit->ab);
    }
    etp_json_end(&j);
    etp_json_kv_z(&j, "grade", kit->ab->judged.grade);
    etp_json_kv_z(&j, "note", kit->ab->misnamed);
    etp_json_kv_z(&j, "executorch_sha", kit->ab->executorch_sha);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}

static etp_status experiments_table(const etp_kit *kit, etp_report *r, etp_arena *scratch,
                                    etp_error *err)
{
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
        double *v = doubles_of(arm->latency_ns, arm->n_runs, scratch);
        ETP_NEED(v, err, "pipeline summary");
        etp_kit_moments m = etp_kit_describe(v, arm->n_runs);
        int64_t untraced = arm->arm->median_ns;
        ETP_ROW(
            t, etp_cell_z(arm->arm->name),
            arm->arm->threads ? etp_cell_u64(arm->arm->threads) : etp_cell_missing(),
            etp_cell_u64(arm->n_runs),
            kit->run ? etp_cell_u64(kit->run->arms.items[arm->index].warmup) : etp_cell_missing(),
            etp_cell_double(m.median), etp_cell_double(m.mean), etp_cell_double(m.cv_percent / 100),
            etp_cell_z(arm->n_runs ? etp_kit_arm_file(kit, arm, ETP_KIT_ROBUST_STATS) : NULL),
            etp_cell_ns(untraced), etp_cell_z(arm->arm->level_name),
            etp_cell_z(status_of(kit, arm)));
    }
    return ETP_OK;
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
                c->blocks ? etp_cell_u64(c->blocks) : etp_cell_missing(),
                etp_cell_z(c->withheld ? "withheld"
                                       : etp_verdict_cell(scratch, c->verdict, c->lo, c->blocks)),
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
    etp_report *r = etp_report_create(scratch, title ? title : "");
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
    ETP_TRY(experiments_table(kit, r, scratch, err));
    etp_report_text(r, "Median, mean and CV are of Method::execute in the traced launches, as in "
                       "Arm's kit; the untraced median is what the speedup rests on.");
    return etp_report_write(r, ETP_FORMAT_MD, &(etp_report_style){.unicode = true}, sink, err);
}
