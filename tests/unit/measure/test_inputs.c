// SPDX-License-Identifier: Apache-2.0
// From --inputs to raw files, against the linear fixture: a 2×4 float32 input, one bundled case.

#include "../flatbuf/builder.h"
#include "formats/pte_schema.h"
#include "measure/inputs.h"
#include "os/os.h"
#include "unit.h"

#define DATA ETP_TEST_SOURCE_DIR "/tests/data/"
static const char k_model[] = DATA "linear_xnnpack_fp32.pte";

static etp_arena g_arena;
static const char *g_dir;

static etp_status prepare(const char *spec, etp_inputs *out, etp_error *err)
{
    return etp_inputs_prepare(spec, k_model, NULL, g_dir, &g_arena, out, err);
}

static void expect_floats(const char *path, const float *wanted, size_t n)
{
    etp_file file;
    assert_int_equal(etp_file_open(path, UINT64_MAX, &file, NULL), ETP_OK);
    assert_int_equal(file.bytes.len, n * sizeof *wanted);
    if (n) {
        assert_memory_equal(file.bytes.ptr, wanted, n * sizeof *wanted);
    }
    etp_file_close(&file);
}

// asfortranarray([[0, .25, .5, .75], [1, 1.25, 1.5, 1.75]]): the program wants rows.
static void arrays(void **state)
{
    static const float k_rows[] = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f, 1.5f, 1.75f};
    static const char *const k_specs[] = {DATA "npz/linear.npz", DATA "npz/linear.npy"};
    for (size_t i = 0; i < 2; i++) {
        etp_inputs in;
        etp_error err = {0};
        ASSERT_OK(prepare(k_specs[i], &in, &err), err);
        assert_true(in.n == 1 && in.expected == NULL);
        assert_string_equal(in.spec, k_specs[i]);
        expect_floats(in.files[0], k_rows, 8);
    }
}

static void refused(void **state)
{
    static const struct {
        const char *spec;
        etp_status status;
        const char *text;
    } k_cases[] = {
        {DATA "npz/linear_f64.npz",                    ETP_USAGE,
         "input 0 is float64[2,4], method forward takes float32[2,4]"                                       },
        {DATA "npz/linear_wide.npz",                   ETP_USAGE,   "float32[2,5]"                          },
        {DATA "npz/positional.npz",                    ETP_USAGE,   "holds 3 inputs, method forward takes 1"},
        {DATA "npz/mixed.npz",                         ETP_CORRUPT, "order is not known"                    },
        {DATA "npz/none.npz",                          ETP_IO,      "does not exist"                        },
        {DATA "linear_xnnpack_fp32.bpte#1",            ETP_USAGE,   "1 cases"                               },
        {DATA "linear_xnnpack_fp32.bpte#x",            ETP_USAGE,   "no case"                               },
        {DATA "linear_xnnpack_fp32.bpte#",             ETP_USAGE,   "no case"                               },
        {DATA "npz/linear.npy," DATA "npz/linear.npy", ETP_USAGE,   "takes 1"                               },
        {"nowhere.bin",                                ETP_IO,      "does not exist"                        },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_inputs in;
        etp_error err = {0};
        etp_status status = prepare(k_cases[i].spec, &in, &err);
        if (status != k_cases[i].status || !strstr(err.msg, k_cases[i].text)) {
            fail_msg("%s: %d %s", k_cases[i].spec, status, err.msg);
        }
    }
}

// Input of every fixture: 0/8 … 7/8 (tests/data/README.md).
static void bundled(void **state)
{
    static const float k_input[] = {0, 0.125f, 0.25f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f};
    etp_inputs in;
    etp_error err = {0};
    ASSERT_OK(prepare(DATA "linear_xnnpack_fp32.bpte", &in, &err), err);
    assert_string_equal(in.spec, DATA "linear_xnnpack_fp32.bpte#0");
    expect_floats(in.files[0], k_input, 8);
    assert_non_null(in.expected);
    etp_str text;
    assert_int_equal(etp_os_read_text(etp_arena_printf(&g_arena, "%s/outputs.json", in.expected),
                                      65536, &g_arena, &text, NULL),
                     ETP_OK);
    assert_true(
        etp_str_find(text, ETP_STR("\"dtype\":\"float32\",\"shape\":[2,3],\"dim_order\":[0,1]")) <
        text.len);
}

// The exporter writes an optional input that was None as a value of type Null. The array that
// stands in its place among the others is not read.
static void left_out(void **state)
{
    etp_fbb b;
    etp_fbb_init(&b, &g_arena);
    etp_fbb_begin(&b);
    etp_fbb_ref null = etp_fbb_end(&b);
    etp_fbb_begin(&b);
    etp_fbb_add(&b, UNION_TYPE, 1, 1); // KernelTypes.Null in program.fbs
    etp_fbb_add_ref(&b, UNION_VALUE, null);
    etp_fbb_ref value = etp_fbb_end(&b);
    etp_fbb_ref name = etp_fbb_str(&b, ETP_STR("forward"));
    etp_fbb_ref values = etp_fbb_vec_refs(&b, &value, 1);
    etp_fbb_ref inputs = etp_fbb_vec(&b, &(int32_t){0}, 1, 4, 0);
    etp_fbb_begin(&b);
    etp_fbb_add_ref(&b, PLAN_NAME, name);
    etp_fbb_add_ref(&b, PLAN_VALUES, values);
    etp_fbb_add_ref(&b, PLAN_INPUTS, inputs);
    etp_fbb_ref plan = etp_fbb_end(&b);
    etp_fbb_ref plans = etp_fbb_vec_refs(&b, &plan, 1);
    etp_fbb_begin(&b);
    etp_fbb_add_ref(&b, PROGRAM_PLANS, plans);
    etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), "ET12", false);
    const char *path = etp_arena_printf(&g_arena, "%s/optional.pte", g_dir);
    assert_int_equal(etp_os_write_atomic(path, (etp_str){(const char *)file.ptr, file.len}, NULL),
                     ETP_OK);
    etp_inputs in;
    etp_error err = {0};
    if (etp_inputs_prepare(DATA "npz/linear.npy", path, NULL, g_dir, &g_arena, &in, &err)) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(in.n, 1);
    expect_floats(in.files[0], NULL, 0);
}

static void passed_on(void **state)
{
    etp_inputs in;
    assert_int_equal(prepare("random:7", &in, NULL), ETP_OK);
    assert_true(in.files == NULL && strcmp(in.spec, "random:7") == 0);
    assert_int_equal(etp_inputs_prepare(DATA "samples.csv," DATA "README.md", "no.pte", NULL, g_dir,
                                        &g_arena, &in, NULL),
                     ETP_OK); // raw files need no program
    assert_true(in.n == 2 && strcmp(in.files[1], DATA "README.md") == 0);
}

static int make_dir(void **state)
{
    return etp_os_temp_dir("/tmp", "test-inputs", &g_arena, &g_dir, NULL) == ETP_OK ? 0 : -1;
}

static int remove_dir(void **state)
{
    etp_status status = etp_os_remove_tree(g_dir, NULL);
    etp_arena_dispose(&g_arena);
    return status == ETP_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays),   cmocka_unit_test(refused),   cmocka_unit_test(bundled),
        cmocka_unit_test(left_out), cmocka_unit_test(passed_on),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
