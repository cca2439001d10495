// SPDX-License-Identifier: Apache-2.0
// The timeline of every dump of the reference corpus: exclusive times add up to Method::execute in
// every single execution, percentages have it as their whole, summaries close.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../corpus.h"
#include "../folder.h"
#include "base/number.h"
#include "unit.h"

static size_t g_dumps, g_executions;

static int64_t number(const table *t, size_t row, const char *column)
{
    int64_t v = 0;
    if (!etp_parse_i64(cell(t, row, column), &v)) {
        fail_msg("%s of row %zu is no integer", column, row);
    }
    return v;
}

// Rows of one execution follow each other, Method::execute among them.
static void check_timeline(const table *t)
{
    int64_t sum = 0, whole = -1, run = -1;
    for (size_t i = 0; i <= t->rows.n; i++) {
        int64_t next = i < t->rows.n ? number(t, i, "run_index") : INT64_MAX;
        if (next != run) {
            if (run >= 0) {
                assert_true(whole >= 0);
                assert_int_equal(sum, whole);
                g_executions++;
                assert_true(next == -1 || next == run + 1 || next == INT64_MAX);
            }
            sum = 0;
            whole = -1;
            run = next;
        }
        if (i == t->rows.n) {
            return;
        }
        bool outside = etp_str_eqz(cell(t, i, "kind"), "outside");
        sum += outside ? 0 : number(t, i, "exclusive_ns");
        assert_true(outside || run >= 0);
        if (!outside && etp_str_eqz(cell(t, i, "name"), "Method::execute")) {
            whole = number(t, i, "duration_ns");
            assert_true(whole == 0 || etp_str_eqz(cell(t, i, "pct_total"), "100"));
        }
    }
}

static int64_t sum_of(const json_t *object)
{
    int64_t sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        sum += json_integer_value(value);
    }
    return sum;
}

static void check_summary(folder *f)
{
    json_t *root = folder_json(f, "analysis_summary.json");
    json_t *e = json_array_get(json_object_get(root, "experiments"), 0);
    const json_t *whole = json_object_get(e, "execute_ns");
    int64_t operators = sum_of(json_object_get(e, "categories_ns"));
    assert_int_equal(sum_of(json_object_get(e, "five_ns")), operators);
    if (!json_is_null(whole)) {
        static const char *const k_rest[] = {"boundary_ns", "framework_ns", "unexplained_ns"};
        for (size_t i = 0; i < 3; i++) {
            operators += json_integer_value(json_object_get(e, k_rest[i]));
        }
        assert_int_equal(operators, json_integer_value(whole));
    }
    json_decref(root);
}

static void every_dump_closes(void **state)
{
    const char *dir = *state;
    etp_arena arena = {0};
    etp_dir_list list = {0};
    const char *dumps = etp_arena_printf(&arena, "%s/dumps", dir);
    assert_int_equal(etp_os_list(dumps, &arena, &list, NULL), ETP_OK);
    for (size_t i = 0; i < list.n; i++) {
        etp_str name = etp_str_from(list.items[i].name);
        if (!etp_str_ends(name, ETP_STR(".etdump"))) {
            continue;
        }
        folder f;
        folder_make(&f);
        const char *path = etp_arena_printf(&arena, "%s/%s", dumps, name.ptr);
        name.len -= strlen(".etdump");
        write_kit_files(&path, 1, f.path);
        table t = folder_csv(
            &f, etp_arena_printf(&arena, "%.*s_exec_all_runs_timeline.csv", ETP_STR_ARG(name)));
        check_timeline(&t);
        check_summary(&f);
        g_dumps++;
        folder_remove(&f);
    }
    printf("%zu dumps, %zu executions\n", g_dumps, g_executions);
    assert_true(g_dumps > 0 && g_executions > 0);
    etp_arena_dispose(&arena);
}

// Categories of a comparison sum up what the operators do, arm by arm, whatever the alignment: but
// for the executions far from the median, which the operators' means have and the comparison has
// not.
static void comparison_of_levels(void **state)
{
    const char *dir = *state;
    folder f;
    folder_make(&f);
    static const char k_stem[] = "toy_cnn_xnnpack_fp32.x86";
    const char *a = etp_arena_printf(&f.arena, "%s/dumps/%s_full.etdump", dir, k_stem);
    const char *b = etp_arena_printf(&f.arena, "%s/dumps/%s_sse.etdump", dir, k_stem);
    const char *const paths[] = {a, b};
    write_kit_files(paths, 2, f.path);
    table c = folder_csv(&f, etp_arena_printf(&f.arena, "%s_comparison.csv", k_stem));
    table o = folder_csv(&f, etp_arena_printf(&f.arena, "%s_operator_details.csv", k_stem));
    for (size_t arm = 0; arm < 2; arm++) {
        const char *name = arm ? "sse" : "full";
        const char *column = etp_arena_printf(&f.arena, "%s_ns", name);
        for (size_t i = 0; i < c.rows.n; i++) {
            int64_t sum = 0;
            for (size_t k = 0; k < o.rows.n; k++) {
                if (etp_str_eqz(cell(&o, k, "experiment"), name) &&
                    etp_str_eq(cell(&o, k, "category"), cell(&c, i, "category"))) {
                    sum += number(&o, k, "mean_ns");
                }
            }
            assert_true(llabs(sum - number(&c, i, column)) < sum / 10 + 1000);
        }
    }
    double speedup = 0;
    assert_true(etp_str_eqz(cell(&c, 0, "category"), "Convolution"));
    assert_true(etp_parse_double(cell(&c, 0, "speedup"), &speedup));
    double ratio = (double)number(&c, 0, "sse_ns") / (double)number(&c, 0, "full_ns");
    // The lower level is the baseline. All columns are of the same executions.
    assert_true(fabs(speedup - ratio) < 1e-5 * ratio);
    assert_true(ratio > 2);
    folder_remove(&f);
}

int main(void)
{
    const char *dir = corpus_dir();
    if (!dir) {
        printf("SKIP: no reference corpus (set ETPROF_CORPUS)\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        {"every_dump_closes",    every_dump_closes,    NULL, NULL, (void *)(uintptr_t)dir},
        {"comparison_of_levels", comparison_of_levels, NULL, NULL, (void *)(uintptr_t)dir},
    };
    return cmocka_run_group_tests_name("kit files of the corpus", tests, NULL, NULL);
}
