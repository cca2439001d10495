// SPDX-License-Identifier: Apache-2.0
// The files that Arm's kit writes too: names, every column, figures against numpy and scipy, sums
// that close, hostile names, and a run folder from beginning to end.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../folder.h"
#include "base/number.h"
#include "kit/parts.h"
#include "unit.h"

#define LOAD_STEM "mixed_xnnpack_fp32_load"

static const char *fixture(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/tests/data/%s", ETP_TEST_SOURCE_DIR, name);
    return path;
}

static void assert_starts(etp_str text, const char *line)
{
    if (!etp_str_starts(text, etp_str_from(line))) {
        fail_msg("expected\n%sfound\n%.*s", line, (int)etp_str_find(text, ETP_STR("\n")), text.ptr);
    }
}

static void assert_number(const json_t *object, const char *key, double expected)
{
    const json_t *v = json_object_get(object, key);
    if (!json_is_number(v) || !(fabs(json_number_value(v) - expected) <= 1e-12)) {
        fail_msg("%s is %.17g, not %.17g", key, json_number_value(v), expected);
    }
}

// ---- bare dumps ----

// The columns of Arm's kit stand first, in its order.
static void columns_of_the_kit(void **state)
{
    static const struct {
        const char *name, *columns;
    } k_files[] = {
        {LOAD_STEM "_exec_all_runs_timeline.csv",
         "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,"
         "run_index,block,"                                                                            },
        {LOAD_STEM "_exec_run0_timeline.csv",
         "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,"
         "run_index,block,"                                                                            },
        {LOAD_STEM "_exec_ops_stats.csv",
         "model_id,name,type,delegate_backend,count,total_ms,avg_ms,pct_total,"                        },
        {LOAD_STEM "_category_summary.csv",       "category,total_ms,avg_ms,pct_of_e2e,operator_count,"},
        {LOAD_STEM "_operator_details.csv",
         "operator,category,total_ms,avg_ms,pct_of_e2e,event_count,"                                   },
        {LOAD_STEM "_other_top_ops.csv",
         "operator,category,total_ms,avg_ms,pct_of_e2e,event_count,"                                   },
        {LOAD_STEM "_e2e_latency.csv",            "model_name,num_runs,total_ms,avg_ms,min_ms,max_ms," },
    };
    folder *f = *state;
    write_kit_files((const char *const[]){fixture(LOAD_STEM ".etdump")}, 1, f->path);
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        assert_starts(folder_read(f, k_files[i].name), k_files[i].columns);
    }
}

// expected/ was made by make_expected.py from what flatc says about the dump.
static void timeline_equals_flatc(void **state)
{
    folder *f = *state;
    etp_str expected;
    static const char k_name[] = LOAD_STEM "_exec_all_runs_timeline.csv";
    write_kit_files((const char *const[]){fixture(LOAD_STEM ".etdump")}, 1, f->path);
    const char *path =
        etp_arena_printf(&f->arena, "%s/tests/unit/kit/expected/%s", ETP_TEST_SOURCE_DIR, k_name);
    assert_int_equal(etp_os_read_text(path, 1 << 20, &f->arena, &expected, NULL), ETP_OK);
    etp_str found = folder_read(f, k_name);
    assert_string_equal(found.ptr, expected.ptr);
    // Run 0 is the same lines, without load and later runs.
    etp_str run0 = folder_read(f, LOAD_STEM "_exec_run0_timeline.csv");
    size_t header = etp_str_find(run0, ETP_STR("\n")) + 1;
    etp_str lines = {run0.ptr + header, run0.len - header};
    assert_true(etp_str_find(found, lines) < found.len);
    table t = folder_csv(f, LOAD_STEM "_exec_run0_timeline.csv");
    assert_int_equal(t.rows.n, 7); // events of one execution by hand
    for (size_t i = 0; i < t.rows.n; i++) {
        assert_true(etp_str_eqz(cell(&t, i, "run_index"), "0"));
    }
}

// The one delegate of the program that flatc shows is "XnnpackBackend"; in a recording alone
// XNNPACK's numbering of its operators (" #k") says so.
static void delegates_are_called_by_their_backend(void **state)
{
    static const char *const k_tables[] = {"_exec_all_runs_timeline.csv", "_exec_ops_stats.csv",
                                           "_operator_details.csv"};
    char program[512];
    snprintf(program, sizeof program, "%s", fixture("mixed_xnnpack_fp32.pte"));
    for (int known = 0; known < 2; known++) {
        folder f;
        folder_make(&f);
        const etp_ab_options options = {.program = known ? program : NULL};
        write_kit_files_of((const char *const[]){fixture(LOAD_STEM ".etdump")}, 1, &options,
                           f.path);
        for (size_t k = 0; k < 3; k++) {
            table t = folder_csv(&f, etp_arena_printf(&f.arena, LOAD_STEM "%s", k_tables[k]));
            size_t named = 0;
            for (size_t i = 0; i < t.rows.n; i++) {
                etp_str backend = cell(&t, i, "delegate_backend");
                bool own = etp_str_eqz(backend, "XnnpackBackend");
                assert_true(own || etp_str_eqz(backend, "portable"));
                named += own;
            }
            assert_true(named > 0);
        }
        folder_remove(&f);
    }
}

// "_b10" tells blocks of one recording apart; without others it is a part of the name.
static void one_block_keeps_its_name(void **state)
{
    static const char *const k_names[] = {"toy_on_t1_b10.etdump", "toy_off_t1_b2.etdump",
                                          "toy_off_t1.etdump"};
    const char *paths[3];
    folder f, out;
    folder_make(&f);
    folder_make(&out);
    for (size_t i = 0; i < 3; i++) {
        folder_copy(&f, fixture(LOAD_STEM ".etdump"), k_names[i]);
        paths[i] = folder_path(&f, k_names[i]);
    }
    write_kit_files(paths, 1, out.path);
    table t = folder_csv(&out, "toy_on_t1_b10_exec_all_runs_timeline.csv");
    assert_true(etp_str_eqz(cell(&t, 0, "model_id"), "toy_on_t1_b10"));
    write_kit_files(paths, 3, out.path);
    t = folder_csv(&out, "toy_off_t1_exec_all_runs_timeline.csv"); // of both blocks
    assert_true(etp_str_eqz(cell(&t, t.rows.n - 1, "run_index"), "5"));
    folder_remove(&out);
    folder_remove(&f);
}

// By hand from expected/: three executions of 25257, 2934 and 4116 ns; run 0's first linear took
// 1000 ns, the other operators of delegates 0.
static void tables_by_hand(void **state)
{
    folder *f = *state;
    write_kit_files((const char *const[]){fixture(LOAD_STEM ".etdump")}, 1, f->path);
    table t = folder_csv(f, LOAD_STEM "_e2e_latency.csv");
    assert_int_equal(t.rows.n, 1);
    assert_true(etp_str_eqz(cell(&t, 0, "num_runs"), "3"));
    assert_true(etp_str_eqz(cell(&t, 0, "total_ms"), "0.032307"));
    assert_true(etp_str_eqz(cell(&t, 0, "avg_ms"), "0.010769"));
    assert_true(etp_str_eqz(cell(&t, 0, "min_ms"), "0.002934"));
    assert_true(etp_str_eqz(cell(&t, 0, "max_ms"), "0.025257"));
    // Two linears of the same name in two delegates stay two operators.
    t = folder_csv(f, LOAD_STEM "_operator_details.csv");
    assert_int_equal(t.rows.n, 3);
    assert_true(etp_str_eq(cell(&t, 1, "operator"), cell(&t, 2, "operator")));
    assert_true(etp_str_eqz(cell(&t, 1, "instruction"), "0"));
    assert_true(etp_str_eqz(cell(&t, 2, "instruction"), "2"));
    assert_true(etp_str_eqz(cell(&t, 1, "total_ms"), "0.001000"));
    assert_true(etp_str_eqz(cell(&t, 2, "total_ms"), "0.000000"));
    // 100 · 1976 / 10769
    assert_true(etp_str_eqz(cell(&t, 0, "pct_of_e2e"), "18.349"));
    t = folder_csv(f, LOAD_STEM "_category_summary.csv");
    assert_int_equal(t.rows.n, 2);
    assert_true(etp_str_eqz(cell(&t, 0, "category"), "Reduction"));
    assert_true(etp_str_eqz(cell(&t, 0, "pct_of_e2e"), "18.349"));
    assert_true(etp_str_eqz(cell(&t, 1, "category"), "GEMM"));
    assert_true(etp_str_eqz(cell(&t, 1, "total_ms"), "0.001000"));
    assert_true(etp_str_eqz(cell(&t, 1, "operator_count"), "2"));
    // 1000 ns in one of three executions: not the mean of those around the median.
    assert_true(etp_str_eqz(cell(&t, 1, "average"), "mean of all executions"));
    // 1000 / 3; boundary and framework have the same remainder, one of the three is rounded up.
    bool up = etp_str_eqz(cell(&t, 1, "avg_ms"), "0.000334");
    assert_true(up || etp_str_eqz(cell(&t, 1, "avg_ms"), "0.000333"));
    t = folder_csv(f, LOAD_STEM "_e2e_latency.csv");
    assert_true(etp_str_eqz(cell(&t, 0, "operators_ns"), up ? "2310" : "2309"));
    assert_true(up || etp_str_eqz(cell(&t, 0, "boundary_ns"), "6190") ||
                etp_str_eqz(cell(&t, 0, "framework_ns"), "2271"));
    t = folder_csv(f, LOAD_STEM "_exec_ops_stats.csv");
    assert_true(etp_str_eqz(cell(&t, 0, "name"), "Method::execute"));
    assert_true(etp_str_eqz(cell(&t, 0, "pct_total"), "100"));
    assert_true(etp_str_eqz(cell(&t, 1, "name"), "DELEGATE_CALL"));
    assert_true(etp_str_eqz(cell(&t, 1, "count"), "2"));
    assert_true(etp_str_eqz(cell(&t, 1, "calls"), "6"));
}

static void summary_closes(void **state)
{
    folder *f = *state;
    write_kit_files((const char *const[]){fixture(LOAD_STEM ".etdump")}, 1, f->path);
    json_t *root = folder_json(f, "analysis_summary.json");
    assert_true(json_is_null(json_object_get(root, "etrecord")));
    assert_int_equal(json_integer_value(json_object_get(root, "etdump_count")), 1);
    json_t *dump = json_array_get(json_object_get(root, "per_etdump"), 0);
    assert_int_equal(json_integer_value(json_object_get(dump, "execute_ns")), 10769);
    json_t *categories = json_object_get(dump, "categories_ms");
    double sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach(categories, key, value)
    {
        assert_true(etp_category_find(etp_str_from(key)) != ETP_CATEGORY_COUNT);
        sum += 1e6 * json_real_value(value);
    }
    json_int_t rest = json_integer_value(json_object_get(dump, "remainder_ns"));
    assert_int_equal(llround(sum) + rest, 10769);
    // 5928 ns of cumsum in three executions, 1000 ns of linear.
    assert_number(categories, "Reduction", 0.001976);
    assert_true(json_equal(categories, json_object_get(root, "category_totals_ms")));
    json_t *files = json_object_get(root, "csv_files");
    assert_int_equal(json_array_size(files), 7);
    for (size_t i = 0; i < json_array_size(files); i++) {
        folder_read(f, json_string_value(json_array_get(files, i)));
    }
    json_decref(root);
}

static void same_bytes_again(void **state)
{
    folder *f = *state;
    const char *a = folder_path(f, "a"), *b = folder_path(f, "b/deeper");
    const char *dump = etp_arena_printf(&f->arena, "%s", fixture("mixed_xnnpack_fp32.etdump"));
    const char *const paths[] = {dump, fixture(LOAD_STEM ".etdump")};
    write_kit_files(paths, 2, a);
    write_kit_files(paths, 2, b);
    etp_dir_list list = {0};
    assert_int_equal(etp_os_list(a, &f->arena, &list, NULL), ETP_OK);
    assert_int_equal(list.n, 2 * 4 + 5 + 4); // per experiment, tables, documents
    for (size_t i = 0; i < list.n; i++) {
        const char *one = etp_arena_printf(&f->arena, "a/%s", list.items[i].name);
        const char *two = etp_arena_printf(&f->arena, "b/deeper/%s", list.items[i].name);
        etp_str x = folder_read(f, one), y = folder_read(f, two);
        assert_true(etp_str_eq(x, y));
        assert_int_equal(etp_str_find(x, etp_str_from(f->path)), x.len); // no path in any of them
    }
}

// Names with everything that CSV, JSON, Markdown and the file system care about; and twice the same
// file name in two folders.
static void hostile_names(void **state)
{
    static const char k_name[] = "a\"b,c|d\ne<f>=g.etdump";
    folder *f = *state;
    assert_int_equal(etp_os_mkdirs(folder_path(f, "in/x"), NULL), ETP_OK);
    assert_int_equal(etp_os_mkdirs(folder_path(f, "in/y"), NULL), ETP_OK);
    folder_copy(f, fixture(LOAD_STEM ".etdump"), etp_arena_printf(&f->arena, "in/x/%s", k_name));
    folder_copy(f, fixture(LOAD_STEM ".etdump"), etp_arena_printf(&f->arena, "in/y/%s", k_name));
    const char *out = folder_path(f, "out");
    write_kit_files((const char *const[]){folder_path(f, "in")}, 1, out);
    etp_dir_list list = {0};
    size_t timelines = 0;
    assert_int_equal(etp_os_list(out, &f->arena, &list, NULL), ETP_OK);
    for (size_t i = 0; i < list.n; i++) {
        etp_str name = etp_str_from(list.items[i].name);
        const char *path = etp_arena_printf(&f->arena, "out/%.*s", ETP_STR_ARG(name));
        assert_false(list.items[i].is_dir);
        assert_int_equal(etp_str_find(name, ETP_STR("\n")), name.len);
        if (etp_str_ends(name, ETP_STR(".csv"))) {
            table t = folder_csv(f, path);
            timelines += etp_str_ends(name, ETP_STR("_all_runs_timeline.csv"));
            if (etp_csv_column(&t.header, "experiment") >= 0 && t.rows.n) {
                assert_true(etp_str_find(cell(&t, 0, "experiment"), ETP_STR("\"b,c|d\ne")) <
                            cell(&t, 0, "experiment").len);
            }
        } else if (etp_str_ends(name, ETP_STR(".json"))) {
            json_decref(folder_json(f, path));
        }
    }
    assert_int_equal(timelines, 2);
}

// 200 bytes of two-byte characters: cut between characters, and still two different names.
static void long_names(void **state)
{
    folder *f = *state;
    char name[256] = {0};
    for (size_t i = 0; i < 100; i++) {
        memcpy(name + 2 * i, "\xC3\xA4", 2);
    }
    static const char *const k_ends[] = {"x.etdump", "y.etdump"};
    assert_int_equal(etp_os_mkdirs(folder_path(f, "in"), NULL), ETP_OK);
    for (size_t i = 0; i < 2; i++) {
        memcpy(name + 200, k_ends[i], 9);
        folder_copy(f, fixture(LOAD_STEM ".etdump"), etp_arena_printf(&f->arena, "in/%s", name));
    }
    write_kit_files((const char *const[]){folder_path(f, "in")}, 1, folder_path(f, "out"));
    name[150] = '\0'; // 75 characters
    folder_read(f, etp_arena_printf(&f->arena, "out/%s_exec_ops_stats.csv", name));
    folder_read(f, etp_arena_printf(&f->arena, "out/%s~2_exec_ops_stats.csv", name));
}

static void no_place_to_write(void **state)
{
    folder *f = *state;
    etp_error err = ERROR_NONE;
    etp_ab_session *session = NULL;
    etp_ab_options options = {0};
    folder_copy(f, fixture(LOAD_STEM ".etdump"), "file");
    const char *path = fixture(LOAD_STEM ".etdump");
    assert_int_equal(etp_ab_open(&path, 1, &options, &session, &err), ETP_OK);
    assert_int_equal(etp_kit_write_files(session, folder_path(f, "file/out"), NULL, &err), ETP_IO);
    assert_non_null(strstr(err.msg, "file/out"));
    etp_ab_close(session);
}

// ---- statistics ----

static json_t *robust_stats_of(uint64_t *ns, size_t n, etp_arena *arena)
{
    const etp_ab_arm ab_arm = {.name = "x", .median_ns = ETP_NS_UNKNOWN};
    const etp_kit_arm arm = {.arm = &ab_arm, .stem = "x", .latency_ns = ns, .n_runs = n};
    const etp_kit kit = {.arena = arena};
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    assert_int_equal(etp_kit_robust_stats(&kit, &arm, &sink, arena, NULL), ETP_OK);
    json_t *json = json_loadb(buf.ptr, buf.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json); // D35: NaN is no JSON
    return json;
}

// Figures of make_expected.py:
//   x = [2_000_000 + 100 * ((8*i) % 15)**2 for i in range(15)] + [9_000_000, 100_000]
//   x = np.array(x) / 1e6
//   np.percentile(x, p), x.std(ddof=1), scipy.stats.trim_mean(x, 0.05) …
static void robust_statistics_of_numpy(void **state)
{
    folder *f = *state;
    uint64_t ns[17];
    for (uint64_t i = 0; i < 15; i++) {
        ns[i] = 2000000 + 100 * ((8 * i) % 15) * ((8 * i) % 15);
    }
    ns[15] = 9000000;
    ns[16] = 100000;
    json_t *root = robust_stats_of(ns, 17, &f->arena);
    assert_int_equal(json_integer_value(json_object_get(root, "count")), 17);
    assert_number(root, "mean_ms", 2.305970588235294);
    assert_number(root, "median_ms", 2.0049);
    assert_number(root, "std_dev_ms", 1.7857031327899615);
    assert_number(root, "cv_percent", 77.4382); // 77.43824409…, six digits
    assert_number(root, "min_ms", 0.1);
    assert_number(root, "max_ms", 9.0);
    const json_t *p = json_object_get(root, "percentiles");
    assert_number(p, "p50", 2.0049);
    assert_number(p, "p75", 2.0121);
    assert_number(p, "p90", 2.01798);
    assert_number(p, "p95", 3.4156799999999947);
    assert_number(p, "p99", 7.883135999999999);
    const json_t *o = json_object_get(root, "outliers");
    assert_int_equal(json_integer_value(json_object_get(o, "count")), 2);
    assert_number(o, "percentage", 11.7647); // 200/17
    const json_t *outliers = json_object_get(o, "values");
    assert_int_equal(json_array_size(outliers), 2);
    assert_true(json_number_value(json_array_get(outliers, 0)) == 9.0);
    assert_number(json_object_get(o, "bounds"), "lower", 1.9841);
    assert_number(json_object_get(o, "bounds"), "upper", 2.0289);
    assert_number(root, "trimmed_mean_5_ms", 2.305970588235294); // ⌊0.85⌋ cut: the plain mean
    assert_number(root, "trimmed_mean_10_ms", 2.0067666666666666);
    const json_t *r = json_object_get(root, "robust_stats");
    assert_int_equal(json_integer_value(json_object_get(r, "count")), 15);
    assert_number(r, "mean_ms", 2.0067666666666666);
    assert_number(r, "median_ms", 2.0049);
    assert_number(r, "std_dev_ms", 0.0064920464159359745);
    assert_number(r, "cv_percent", 0.323508); // 0.32350778…
    assert_int_equal(json_array_size(json_object_get(root, "latencies_ms")), 17);
    assert_int_equal(json_array_size(json_object_get(root, "run_indices")), 17);
    json_decref(root);
}

static void one_run_has_no_spread(void **state)
{
    folder *f = *state;
    uint64_t ns[] = {5000000, 5000000};
    json_t *root = robust_stats_of(ns, 1, &f->arena);
    assert_number(root, "median_ms", 5);
    assert_number(root, "trimmed_mean_10_ms", 5);
    assert_true(json_is_null(json_object_get(root, "std_dev_ms")));
    assert_true(json_is_null(json_object_get(root, "cv_percent")));
    json_decref(root);
    root = robust_stats_of(ns, 2, &f->arena); // equal values: the fences lie on them
    assert_number(root, "std_dev_ms", 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(root, "outliers"), "count")), 0);
    json_decref(root);
}

// ---- a run folder ----

typedef struct session {
    folder *f;
    etp_run run;
    const char *dir;
} session;

static void add_arm(session *s, const char *name, const char *level)
{
    etp_run_arm arm = {
        .name = etp_str_from(name),
        .level = etp_str_from(level),
        .threads = 1,
        .emulated = s->run.emulated,
        .prefix = etp_str_from(etp_arena_printf(&s->f->arena, "toy_xnnpack_fp32_%s_t1", name)),
        .warmup = 3,
        .iterations = 2,
        .traced = 3,
    };
    assert_true(ETP_PUSH(&s->f->arena, &s->run.arms, arm));
    const char *path = folder_path(s->f, etp_arena_printf(&s->f->arena, "run/%s", name));
    assert_int_equal(etp_os_mkdirs(path, NULL), ETP_OK);
}

static void add_dump(session *s, size_t arm, uint32_t block, const char *source)
{
    const char *name = etp_run_dump_name(&s->f->arena, &s->run.arms.items[arm], block, ".etdump");
    folder_copy(s->f, fixture(source), etp_arena_printf(&s->f->arena, "run/%s", name));
}

// Two experiments of two blocks: untraced 100 and 200 µs per inference for the first, half of it
// for the second.
static void make_run_folder(session *s, folder *f, bool emulated)
{
    *s = (session){.f = f, .dir = folder_path(f, "run")};
    assert_int_equal(etp_os_mkdirs(s->dir, NULL), ETP_OK);
    s->run.platform = ETP_STR("linux");
    s->run.generated_at = ETP_STR("2026-01-02T03:04:05Z");
    s->run.tool_version = ETP_STR("0.1.0");
    s->run.executorch.sha = ETP_STR("0123abcd");
    s->run.settings.blocks = 2;
    s->run.emulated = emulated;
    etp_run_model model = {.path = ETP_STR("/somewhere/toy_xnnpack_fp32.pte"),
                           .stem = ETP_STR("toy_xnnpack_fp32")};
    assert_true(ETP_PUSH(&f->arena, &s->run.models, model));
    add_arm(s, "linux_base", "avx2");
    add_arm(s, "linux_cand", "vnni");
    etp_run_writer w;
    for (uint32_t i = 0; i < 4; i++) { // two blocks of two arms
        assert_true(ETP_PUSH(&f->arena, &s->run.order, i % 2));
    }
    assert_int_equal(etp_run_begin(s->dir, &f->arena, &s->run, &w, NULL), ETP_OK);
    for (uint32_t block = 1; block <= 2; block++) {
        etp_run_sample samples[6];
        size_t n = 0;
        for (uint32_t a = 0; a < 2; a++) {
            uint32_t launch = 2 * block - 1 + a;
            uint64_t unit = a ? 50000 : 100000;
            samples[n++] = (etp_run_sample){a, block, launch, 0, ETP_PHASE_WARMUP, 1, 99 * unit};
            samples[n++] = (etp_run_sample){a, block, launch, 1, ETP_PHASE_TIMED, 2, unit};
            samples[n++] = (etp_run_sample){a, block, launch, 2, ETP_PHASE_TIMED, 3, 2 * unit};
            add_dump(s, a, block, a ? "mixed_xnnpack_fp32.etdump" : LOAD_STEM ".etdump");
        }
        assert_int_equal(etp_run_commit(&w, samples, n, NULL, 0, NULL, 0, NULL), ETP_OK);
    }
    assert_int_equal(etp_run_finish(&w, ETP_RUN_FINISHED, NULL), ETP_OK);
}

// manifest.json and metrics.json both: what the kit's readers look at.
static void check_results(const json_t *root)
{
    const json_t *results = json_object_get(root, "results");
    assert_int_equal(json_array_size(results), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *r = json_array_get(results, i), *m = json_object_get(r, "metrics");
        const char *name = json_string_value(json_object_get(r, "experiment"));
        bool base = strcmp(name, "linux_base") == 0;
        assert_int_equal(json_integer_value(json_object_get(m, "runs")), 4);
        assert_int_equal(json_integer_value(json_object_get(m, "threads")), 1);
        assert_int_equal(json_array_size(json_object_get(m, "latency_ms")), 4);
        assert_number(m, "median_ms", base ? 0.15 : 0.075);
        assert_number(m, "min_ms", base ? 0.1 : 0.05);
        assert_number(m, "max_ms", base ? 0.2 : 0.1);
        assert_string_equal(json_string_value(json_object_get(m, "etdump")),
                            base ? "linux_base/toy_xnnpack_fp32_linux_base_t1.etdump"
                                 : "linux_cand/toy_xnnpack_fp32_linux_cand_t1.etdump");
        assert_true(json_is_string(json_object_get(m, "log")));
    }
}

static void run_folder(void **state)
{
    folder *f = *state;
    session s;
    make_run_folder(&s, f, false);
    write_kit_files(&s.dir, 1, s.dir);
    json_t *root = folder_json(f, "run/manifest.json");
    assert_true(json_is_string(json_object_get(root, "model")));
    check_results(root);
    json_decref(root);
    root = folder_json(f, "run/metrics.json");
    check_results(root);
    json_decref(root);
    // All executions of both blocks, numbered through.
    table t = folder_csv(f, "run/linux_cand/toy_xnnpack_fp32_linux_cand_t1"
                            "_exec_all_runs_timeline.csv");
    assert_int_equal(t.rows.n, 2 * 3 * 7);
    assert_true(etp_str_eqz(cell(&t, t.rows.n - 1, "run_index"), "5"));
    assert_true(etp_str_eqz(cell(&t, t.rows.n - 1, "session_block"), "2"));
    assert_starts(folder_read(f, "run/toy_comparison.csv"),
                  "category,linux_base_ms,linux_cand_ms,speedup,linux_base_pct,linux_cand_pct,");
    t = folder_csv(f, "run/toy_comparison.csv");
    for (size_t i = 0; i < t.rows.n; i++) { // baseline ÷ candidate, nothing where one has no time
        double before = 0, after = 0, speedup = 0;
        assert_true(etp_parse_double(cell(&t, i, "linux_base_ns"), &before));
        assert_true(etp_parse_double(cell(&t, i, "linux_cand_ns"), &after));
        bool both = before > 0 && after > 0;
        assert_int_equal(etp_parse_double(cell(&t, i, "speedup"), &speedup), both);
        assert_true(!both || fabs(speedup * after - before) < 1e-5 * before);
    }
    t = folder_csv(f, "run/toy_e2e_latency.csv");
    assert_int_equal(t.rows.n, 2);
    assert_true(etp_str_eqz(cell(&t, 0, "experiment"), "linux_base"));
    // The median of ln 100 µs and ln 200 µs in every launch: √2 · 100 µs.
    assert_true(etp_str_eqz(cell(&t, 0, "untraced_median_ns"), "141421"));
    root = folder_json(f, "run/derived.json");
    assert_int_equal(json_array_size(json_object_get(root, "files")), 2 * 4 + 5 + 4);
    json_decref(root);
}

static void pipeline_summary(void **state)
{
    folder *f = *state;
    session s;
    make_run_folder(&s, f, false);
    write_kit_files(&s.dir, 1, s.dir);
    json_t *root = folder_json(f, "run/toy_xnnpack_fp32_pipeline_summary.json");
    assert_string_equal(json_string_value(json_object_get(root, "model")), "toy_xnnpack_fp32.pte");
    assert_string_equal(json_string_value(json_object_get(root, "generated_at")),
                        "2026-01-02T03:04:05Z");
    json_t *speedup =
        json_object_get(json_array_get(json_object_get(root, "comparisons"), 0), "speedup");
    assert_number(speedup, "estimate", 2); // half the time in every block
    json_t *run = json_array_get(json_object_get(root, "runs"), 1);
    assert_string_equal(json_string_value(json_object_get(run, "status")), "ok");
    assert_string_equal(json_string_value(json_object_get(run, "mode")), "timing");
    assert_int_equal(json_integer_value(json_object_get(run, "runs")), 6);
    assert_int_equal(json_integer_value(json_object_get(run, "warmup")), 3);
    const char *key;
    json_t *value;
    size_t paths = 0;
    json_object_foreach(json_object_get(run, "paths"), key, value)
    {
        if (strcmp(key, "latency_log") != 0) { // this session has no logs
            folder_read(f, etp_arena_printf(&f->arena, "run/%s", json_string_value(value)));
            paths++;
        }
    }
    assert_int_equal(paths, 4);
    etp_str md = folder_read(f, "run/toy_xnnpack_fp32_pipeline_summary.md");
    assert_true(etp_str_find(md, ETP_STR("2.00×")) < md.len);
    assert_true(etp_str_find(md, ETP_STR("| Experiment | Threads | Runs | Warmup | Median")) <
                md.len);
    json_decref(root);
}

// An emulator's times are no speeds: they stay, what is made of them goes.
static void withheld_speedups(void **state)
{
    folder *f = *state;
    session s;
    make_run_folder(&s, f, true);
    write_kit_files(&s.dir, 1, s.dir);
    table t = folder_csv(f, "run/toy_comparison.csv");
    assert_true(t.rows.n > 0);
    for (size_t i = 0; i < t.rows.n; i++) {
        assert_int_equal(cell(&t, i, "speedup").len, 0);
        assert_true(cell(&t, i, "linux_base_ms").len > 0);
    }
    json_t *root = folder_json(f, "run/toy_xnnpack_fp32_pipeline_summary.json");
    json_t *c = json_array_get(json_object_get(root, "comparisons"), 0);
    assert_string_equal(json_string_value(json_object_get(c, "withheld")), "emulated");
    assert_true(json_is_null(json_object_get(json_object_get(c, "speedup"), "estimate")));
    json_decref(root);
}
