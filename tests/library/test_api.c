// SPDX-License-Identifier: Apache-2.0
// What a program of others sees of libetprof: installed headers and the shared library alone.
// usage: test_api DATA RUN_FOLDER SCRATCH MODEL runner|none
#include <etprof/etprof.h>

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *s_data, *s_run, *s_scratch, *s_model_path;
static bool s_has_runner;

static const char *in(const char *folder, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

#define DATA(name) in(s_data, (name), (char[512]){0}, 512)
#define SCRATCH(name) in(s_scratch, (name), (char[512]){0}, 512)

static etp_analysis *run(void)
{
    etp_analysis *a = NULL;
    etp_error err = {0};
    if (etp_analysis_open_run(s_run, NULL, &a, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    return a;
}

static etp_analysis *both(void)
{
    etp_analysis *a = NULL;
    etp_error err = {0};
    const etp_analysis_options o = {
        .struct_size = sizeof o, .names = {"first", "second"}
    };
    if (etp_analysis_compare(DATA("mixed_xnnpack_fp32.etdump"), DATA("mixed_xnnpack_fp32.etdump"),
                             &o, &a, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    return a;
}

static void version_is_that_of_the_headers(void **state)
{
    assert_string_equal(etp_version(), ETP_VERSION);
    char numbers[32];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", ETP_VERSION_NUMBER / 10000,
             ETP_VERSION_NUMBER / 100 % 100, ETP_VERSION_NUMBER % 100);
    assert_string_equal(numbers, ETP_VERSION);
}

static void a_mapping_has_the_bytes(void **state)
{
    etp_mapping *m = NULL;
    etp_error err = {0};
    assert_int_equal(etp_mapping_open(DATA("mixed_xnnpack_fp32.etdump"), &m, &err), ETP_OK);
    etp_bytes bytes = etp_mapping_bytes(m);
    assert_true(bytes.len > 100);
    etp_trace *t = NULL;
    assert_int_equal(etp_trace_open(bytes, NULL, &t, &err), ETP_OK);
    etp_trace_close(t);
    etp_mapping_close(m);
    assert_int_equal(etp_mapping_open(DATA("no such file"), &m, &err), ETP_IO);
    assert_non_null(strstr(err.msg, "no such file"));
    assert_null(m);
    assert_int_equal(etp_mapping_open(s_data, &m, &err), ETP_IO);
    assert_int_equal(etp_mapping_open(NULL, &m, &err), ETP_USAGE);
    assert_int_equal(etp_mapping_open(s_data, NULL, NULL), ETP_USAGE);
    assert_true(etp_mapping_bytes(NULL).len == 0);
    etp_mapping_close(NULL);
}

// The folder's manifest: three arms on an emulator, 1 block each, the model image_encoder.
static void a_run_folder_tells_its_arms(void **state)
{
    etp_analysis *a = run();
    etp_analysis_summary about = {.struct_size = sizeof about};
    assert_int_equal(etp_analysis_about(a, &about, NULL), ETP_OK);
    assert_int_equal(about.arms, 3);
    assert_int_equal(about.comparisons, 2);
    assert_true(about.emulated && !about.bare);
    assert_true(etp_str_eqz(about.state, "finished"));
    assert_true(etp_str_ends(about.folder, ETP_STR("image_encoder_int8_qemu")));
    bool seen[3] = {false};
    for (uint32_t i = 0; i < about.arms; i++) {
        static const char *const k_names[] = {"linux_sme2_on", "linux_sme2_off", "linux_sme1"};
        etp_arm_result arm = {.struct_size = sizeof arm};
        assert_int_equal(etp_analysis_arm(a, i, &arm, NULL), ETP_OK);
        for (int k = 0; k < 3; k++) {
            seen[k] = seen[k] || etp_str_eqz(arm.name, k_names[k]);
        }
        assert_int_equal(arm.threads, 1);
        assert_true(arm.struct_size == sizeof arm);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    etp_comparison_result c = {.struct_size = sizeof c};
    assert_int_equal(etp_analysis_comparison(a, 1, &c, NULL), ETP_OK);
    assert_true(etp_str_eqz(c.withheld, "emulated") && isnan(c.speedup));
    assert_true(c.withheld_text.len > 10 && c.verdict == ETP_VERDICT_UNKNOWN);
    for (uint32_t i = 0; i < about.findings; i++) {
        etp_finding_result f = {.struct_size = sizeof f};
        assert_int_equal(etp_analysis_finding(a, i, &f, NULL), ETP_OK);
        assert_true(f.id.ptr[0] == 'F' && f.text.len > 0 && f.severity.len > 0 && f.kind.len > 0);
    }
    etp_analysis_close(a);
}

// native_call_cumsum.out: 227 ns by ExecuTorch's Inspector (mixed_xnnpack_fp32.etdump.tsv).
static void a_recording_against_itself(void **state)
{
    etp_analysis *a = both();
    etp_comparison_result c = {.struct_size = sizeof c};
    assert_int_equal(etp_analysis_comparison(a, 0, &c, NULL), ETP_OK);
    assert_float_equal(c.speedup, 1.0, 1e-12);
    assert_true(c.verdict == ETP_VERDICT_UNKNOWN && etp_str_eqz(c.method, "traced-means"));
    etp_arm_result arm = {.struct_size = sizeof arm};
    assert_int_equal(etp_analysis_arm(a, c.candidate, &arm, NULL), ETP_OK);
    assert_true(etp_str_eqz(arm.name, "second") && arm.median_ns == ETP_UNKNOWN_NS);
    etp_analysis_summary about = {.struct_size = sizeof about};
    assert_int_equal(etp_analysis_about(a, &about, NULL), ETP_OK);
    bool found = false;
    for (uint32_t i = 0; i < about.operators; i++) {
        etp_str name;
        int64_t ns;
        assert_int_equal(etp_analysis_operator_in(a, i, 1, &name, &ns, NULL), ETP_OK);
        etp_operator_result op = {.struct_size = sizeof op};
        assert_int_equal(etp_analysis_operator(a, i, &op, NULL), ETP_OK);
        if (etp_str_eqz(name, "native_call_cumsum.out")) {
            found = true;
            assert_int_equal(ns, 227);
            assert_false(op.delegated);
        }
    }
    assert_true(found);
    etp_analysis_close(a);
}

// Of Inspector's reply; ExecuTorch's own: mixed_xnnpack_fp32.etdump.tsv.
static void check_columns(const etp_reply *r)
{
    etp_inspector_columns c = {.struct_size = 0};
    assert_int_equal(etp_reply_columns(r, &c, NULL), ETP_USAGE);
    c.struct_size = sizeof c;
    assert_int_equal(etp_reply_columns(NULL, &c, NULL), ETP_USAGE);
    assert_int_equal(etp_reply_columns(r, NULL, NULL), ETP_USAGE);
    assert_int_equal(etp_reply_columns(r, &c, NULL), ETP_OK);
    assert_int_equal(c.n_rows, 7); // one of them the TSV does not show
    assert_int_equal(c.n_times, 21);
    for (uint64_t i = 0; i <= c.n_rows; i++) {
        assert_int_equal(c.first[i], 3 * i);
    }
    size_t row = 0;
    while (row < c.n_rows && c.start[3 * row] != 6284408351u) {
        row++;
    }
    assert_true(row < c.n_rows);
    const double cumsum[] = {0.000076, 0.0001, 0.0004288, 0.000227, 0.00007, 0.000511};
    for (size_t i = 0; i < 6; i++) {
        const double off = c.statistics[c.n_rows * i + row] - cumsum[i];
        assert_true(off < 1e-12 && off > -1e-12);
    }
    assert_true(c.raw_ms[3 * row + 1] > 0.0000999 && c.raw_ms[3 * row + 1] < 0.0001001);
    assert_true(c.start[3 * row + 2] == 6284434680u);
    assert_non_null(strstr(c.others, "\"event_name\":"));
    assert_null(strstr(c.others, "debug_data")); // which says nothing
    assert_int_equal(strlen(c.others), c.others_len);
    etp_buffer_dispose(&c.memory);
}

static void a_reply_is_a_document_and_a_table(void **state)
{
    const char *dump = DATA("mixed_xnnpack_fp32.etdump");
    etp_question q = {.struct_size = sizeof q, .kind = ETP_QUESTION_OPS, .paths = &dump};
    etp_reply *r = NULL;
    etp_error err = {0};
    assert_int_equal(etp_reply_open(&q, &r, &err), ETP_USAGE); // no paths
    q.n_paths = 1;
    assert_int_equal(etp_reply_open(&q, &r, &err), ETP_OK);
    const etp_analysis_output how = {.struct_size = sizeof how, .format = ETP_OUTPUT_JSON};
    etp_buffer text = {0}, name = {0};
    assert_int_equal(etp_reply_text(r, &how, &text, &err), ETP_OK);
    assert_non_null(strstr(text.ptr, "native_call_cumsum.out"));
    assert_int_equal(etp_reply_table_name(r, 0, &name, &err), ETP_OK);
    assert_string_equal(name.ptr, "categories");
    etp_buffer_dispose(&name);
    assert_int_equal(etp_reply_table_name(r, 99, &name, &err), ETP_OK);
    assert_true(name.len == 0);
    struct ArrowArrayStream stream;
    assert_int_equal(etp_reply_table(r, "no such table", &stream, &err), ETP_USAGE);
    assert_int_equal(etp_reply_table(r, NULL, &stream, &err), ETP_OK);
    etp_inspector_columns columns = {.struct_size = sizeof columns};
    assert_int_equal(etp_reply_columns(r, &columns, &err), ETP_USAGE); // of another kind
    etp_reply_close(r); // what follows holds on to nothing of it
    struct ArrowSchema schema;
    struct ArrowArray rows, end;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &rows), 0);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    stream.release(&stream);
    assert_int_equal(rows.length, 3); // one portable kernel, two nodes of the delegate
    assert_int_equal(rows.n_children, schema.n_children);
    int64_t mean = 0;
    for (int64_t i = 0; i < schema.n_children; i++) {
        if (strcmp(schema.children[i]->name, "mean_ns") == 0) {
            assert_string_equal(schema.children[i]->format, "l");
            mean = ((const int64_t *)rows.children[i]->buffers[1])[0];
        }
    }
    assert_int_equal(mean, 227); // Inspector: mixed_xnnpack_fp32.etdump.tsv
    rows.release(&rows);
    schema.release(&schema);
    etp_buffer_dispose(&text);
    q.kind = ETP_QUESTION_INSPECTOR;
    assert_int_equal(etp_reply_open(&q, &r, &err), ETP_OK);
    assert_int_equal(etp_reply_text(r, NULL, &text, &err), ETP_OK);
    assert_non_null(strstr(text.ptr, "DELEGATE_CALL"));
    assert_int_equal(etp_reply_table(r, NULL, &stream, &err), ETP_USAGE);
    check_columns(r);
    etp_reply_close(r);
    etp_buffer_dispose(&text);
    dump = DATA("no such file");
    assert_int_equal(etp_reply_open(&q, &r, &err), ETP_IO);
    assert_null(r);
    q.kind = ETP_QUESTIONS;
    assert_int_equal(etp_reply_open(&q, &r, &err), ETP_USAGE);
    assert_int_equal(etp_reply_open(NULL, &r, &err), ETP_USAGE);
    assert_int_equal(etp_reply_text(NULL, NULL, &text, &err), ETP_USAGE);
    etp_reply_close(NULL);
}

static void an_analysis_gives_tables(void **state)
{
    etp_analysis *a = run();
    etp_buffer name = {0};
    size_t n = 0;
    for (; etp_analysis_table_name(a, n, &name, NULL) == ETP_OK && name.len > 0; n++) {
        struct ArrowArrayStream stream;
        assert_int_equal(etp_analysis_table(a, name.ptr, &stream, NULL), ETP_OK);
        struct ArrowArray rows;
        assert_int_equal(stream.get_next(&stream, &rows), 0);
        if (rows.release) {
            rows.release(&rows);
        }
        stream.release(&stream);
        etp_buffer_dispose(&name);
    }
    assert_true(n >= 3);
    struct ArrowArrayStream stream;
    assert_int_equal(etp_analysis_table(a, NULL, &stream, NULL), ETP_OK);
    struct ArrowArray rows;
    assert_int_equal(stream.get_next(&stream, &rows), 0);
    etp_analysis_summary about = {.struct_size = sizeof about};
    assert_int_equal(etp_analysis_about(a, &about, NULL), ETP_OK);
    assert_int_equal(rows.length, about.operators);
    stream.release(&stream);
    etp_analysis_close(a);
    rows.release(&rows);
}

static void wrong_words_are_refused(void **state)
{
    etp_analysis *a = NULL;
    etp_error err = {0};
    const char *paths[] = {DATA("mixed_xnnpack_fp32.etdump"), NULL};
    assert_int_equal(etp_analysis_open_run(NULL, NULL, &a, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_open_run(DATA("kit"), NULL, &a, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "manifest.json"));
    assert_int_equal(etp_analysis_open_run("/no/such/folder", NULL, &a, &err), ETP_IO);
    assert_int_equal(etp_analysis_open_run(s_run, NULL, NULL, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_open_dumps(paths, 2, NULL, &a, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_open_dumps(NULL, 1, NULL, &a, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_open_dumps(paths, 0, NULL, &a, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_compare(paths[0], NULL, NULL, &a, NULL), ETP_USAGE);
    assert_int_not_equal(etp_analysis_compare(paths[0], DATA("no.etdump"), NULL, &a, &err), ETP_OK);
    assert_non_null(strstr(err.msg, "no.etdump"));
    etp_analysis_options o = {.struct_size = sizeof o, .baseline = "nobody"};
    assert_int_equal(etp_analysis_open_run(s_run, &o, &a, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "nobody"));
    o.baseline = NULL;
    o.margin = -1;
    assert_int_equal(etp_analysis_open_run(s_run, &o, &a, &err), ETP_USAGE);
    assert_null(a);
    etp_analysis_close(NULL);
}

static void damaged_recordings_say_where(void **state)
{
    char bytes[65536];
    FILE *f = fopen(DATA("mixed_xnnpack_fp32.etdump"), "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(n > 64 && n < sizeof bytes);
    memset(bytes + 12, 0xff, 16);
    f = fopen(SCRATCH("damaged.etdump"), "wb");
    assert_non_null(f);
    assert_true(fwrite(bytes, 1, n, f) == n);
    fclose(f);
    const char *path = SCRATCH("damaged.etdump");
    etp_analysis *a = NULL;
    etp_error err = {0};
    etp_status st = etp_analysis_open_dumps(&path, 1, NULL, &a, &err);
    if (st == ETP_OK) { // said in the answer instead
        etp_analysis_summary about = {.struct_size = sizeof about};
        assert_int_equal(etp_analysis_about(a, &about, NULL), ETP_OK);
        etp_arm_result arm = {.struct_size = sizeof arm};
        assert_int_equal(etp_analysis_arm(a, 0, &arm, NULL), ETP_OK);
        assert_true(about.findings > 0 && arm.traced_ns == ETP_UNKNOWN_NS);
        etp_analysis_close(a);
    } else {
        assert_int_equal(st, ETP_CORRUPT);
        assert_non_null(strstr(err.msg, "damaged.etdump"));
        assert_null(a);
    }
}

static void sizes_of_other_versions(void **state)
{
    etp_analysis *a = NULL;
    etp_error err = {0};
    struct {
        etp_analysis_options now;
        uint64_t later;
    } newer = {.now = {.struct_size = sizeof newer}};
    assert_int_equal(etp_analysis_open_run(s_run, &newer.now, &a, &err), ETP_OK);
    etp_analysis_close(a);
    newer.later = 1;
    assert_int_equal(etp_analysis_open_run(s_run, &newer.now, &a, &err), ETP_UNSUPPORTED);
    newer.now.struct_size = 0;
    assert_int_equal(etp_analysis_open_run(s_run, &newer.now, &a, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "struct_size"));

    a = run();
    struct {
        etp_arm_result now;
        uint64_t later;
    } out = {.now = {.struct_size = sizeof out}, .later = 7};
    assert_int_equal(etp_analysis_arm(a, 0, &out.now, &err), ETP_OK);
    assert_true(out.later == 0 && out.now.struct_size == sizeof out && out.now.name.len > 0);
    etp_arm_result arm = {0};
    assert_int_equal(etp_analysis_arm(a, 0, &arm, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_arm(a, 0, NULL, &err), ETP_USAGE);
    arm.struct_size = sizeof arm;
    assert_int_equal(etp_analysis_arm(a, 3, &arm, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "3"));
    assert_int_equal(etp_analysis_arm(NULL, 0, &arm, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_operator_in(a, 0, 3, NULL, NULL, NULL), ETP_USAGE);
    etp_analysis_close(a);
}

typedef struct received {
    size_t bytes, calls, limit;
} received;

static bool receive(void *ctx, const char *bytes, size_t len)
{
    received *r = ctx;
    assert_true(bytes || len == 0);
    r->bytes += len;
    r->calls++;
    return r->bytes <= r->limit;
}

static void every_format_to_every_receiver(void **state)
{
    etp_analysis *a = both();
    for (int f = 0; f < ETP_OUTPUT_FORMATS; f++) {
        const etp_analysis_output how = {.struct_size = sizeof how, .format = (etp_output_format)f};
        etp_buffer text = {0};
        etp_error err = {0};
        if (etp_analysis_text(a, &how, &text, &err) != ETP_OK) {
            fail_msg("format %d: %s", f, err.msg);
        }
        assert_true(text.len > 50 && text.ptr[text.len] == '\0' && strlen(text.ptr) == text.len);
        received r = {.limit = SIZE_MAX};
        assert_int_equal(etp_analysis_write(a, &how, receive, &r, NULL), ETP_OK);
        assert_true(r.bytes == text.len);
        r = (received){.limit = 20};
        assert_int_equal(etp_analysis_write(a, &how, receive, &r, &err), ETP_IO);
        assert_int_equal(etp_analysis_write_file(a, &how, SCRATCH("out"), NULL), ETP_OK);
        etp_mapping *m = NULL;
        assert_int_equal(etp_mapping_open(SCRATCH("out"), &m, NULL), ETP_OK);
        assert_true(etp_mapping_bytes(m).len == text.len &&
                    memcmp(etp_mapping_bytes(m).ptr, text.ptr, text.len) == 0);
        etp_mapping_close(m);
        etp_buffer_dispose(&text);
        assert_null(text.ptr);
    }
    etp_analysis_close(a);
}

static void output_that_cannot_be(void **state)
{
    etp_analysis *a = both();
    etp_error err = {0};
    etp_buffer text = {0};
    etp_analysis_output how = {.struct_size = sizeof how, .format = (etp_output_format)99};
    assert_int_equal(etp_analysis_text(a, &how, &text, &err), ETP_USAGE);
    how.format = ETP_OUTPUT_CSV;
    how.select = "no such table";
    assert_int_equal(etp_analysis_text(a, &how, &text, &err), ETP_USAGE);
    assert_null(text.ptr);
    assert_int_equal(etp_analysis_text(a, NULL, NULL, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_text(NULL, NULL, &text, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_json(NULL, &text, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_write(a, NULL, NULL, NULL, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_write_file(a, NULL, NULL, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_write_file(a, NULL, "/no/such/folder/report", &err), ETP_IO);
    assert_int_equal(etp_analysis_renew_folder(a, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_renew_folder(NULL, &err), ETP_USAGE);
    assert_int_equal(etp_analysis_write_tables(a, NULL, &err), ETP_USAGE);
    etp_buffer_dispose(NULL);
    etp_analysis_close(a);
}

// Two threads read one analysis while each opens one of its own; all say the same.
static void *read_and_open(void *shared)
{
    etp_buffer one = {0}, other = {0};
    etp_analysis *own = NULL;
    bool same = etp_analysis_open_run(s_run, NULL, &own, NULL) == ETP_OK &&
                etp_analysis_json(shared, &one, NULL) == ETP_OK &&
                etp_analysis_json(own, &other, NULL) == ETP_OK && one.len == other.len &&
                memcmp(one.ptr, other.ptr, one.len) == 0;
    const etp_analysis_output html = {.struct_size = sizeof html, .format = ETP_OUTPUT_HTML};
    etp_buffer page = {0};
    same = same && etp_analysis_text(shared, &html, &page, NULL) == ETP_OK;
    etp_buffer_dispose(&page);
    etp_buffer_dispose(&one);
    etp_buffer_dispose(&other);
    etp_analysis_close(own);
    return same ? shared : NULL;
}

static void threads_do_not_meet(void **state)
{
    etp_analysis *a = run();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_and_open, a), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, a);
    }
    etp_analysis_close(a);
}

static etp_measurement *measurement_of(const char *runner, const char *folder, bool kernels,
                                       const etp_measurement_callbacks *on)
{
    const etp_measurement_options o = {.struct_size = sizeof o,
                                       .models = &s_model_path,
                                       .n_models = 1,
                                       .runner = runner,
                                       .folder = folder,
                                       .blocks = 2,
                                       .warmup = 1,
                                       .iterations = 3,
                                       .kernels = kernels,
                                       .work_dir = s_scratch};
    etp_measurement *m = NULL;
    etp_error err = {0};
    if (etp_measurement_create(&o, on, &m, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    return m;
}

static etp_measurement *measurement(const char *runner, const char *folder,
                                    const etp_measurement_callbacks *on)
{
    return measurement_of(runner, folder, false, on);
}

static void wrong_measurements_are_refused(void **state)
{
    etp_measurement *m = NULL;
    etp_error err = {0};
    const char *models[] = {"a.pte", NULL};
    etp_measurement_options o = {.struct_size = sizeof o, .models = models, .n_models = 2};
    assert_int_equal(etp_measurement_create(NULL, NULL, &m, &err), ETP_USAGE);
    assert_int_equal(etp_measurement_create(&o, NULL, &m, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "model 2 of 2"));
    o.n_models = 1;
    assert_int_equal(etp_measurement_create(&o, NULL, NULL, &err), ETP_USAGE);
    o.precision = -1;
    assert_int_equal(etp_measurement_create(&o, NULL, &m, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "precision"));
    o.precision = 0;
    o.n_threads = 1;
    assert_int_equal(etp_measurement_create(&o, NULL, &m, &err), ETP_USAGE);
    o.n_threads = 0;
    o.struct_size = 4;
    assert_int_equal(etp_measurement_create(&o, NULL, &m, &err), ETP_USAGE);
    assert_null(m);
    assert_int_equal(etp_measurement_run(NULL, &err), ETP_USAGE);
    assert_int_equal(etp_measurement_about(NULL, NULL, &err), ETP_USAGE);
    etp_measurement_cancel(NULL);
    etp_measurement_destroy(NULL);
}

static void what_cannot_run_leaves_nothing(void **state)
{
    etp_error err = {0};
    etp_measurement *m = measurement("/no/such/runner", SCRATCH("never"), NULL);
    assert_int_equal(etp_measurement_run(m, &err), ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "/no/such/runner"));
    assert_int_equal(etp_measurement_run(m, &err), ETP_USAGE);
    etp_measurement_summary about = {.struct_size = sizeof about};
    assert_int_equal(etp_measurement_about(m, &about, &err), ETP_OK);
    assert_true(about.folder.len == 0 && about.blocks == 0);
    etp_measurement_destroy(m);
    m = measurement("/no/such/runner", SCRATCH("never"), NULL);
    etp_measurement_cancel(m);
    assert_int_equal(etp_measurement_run(m, &err), ETP_INTERRUPTED);
    etp_measurement_destroy(m);
    etp_mapping *none = NULL;
    assert_int_equal(etp_mapping_open(SCRATCH("never/manifest.json"), &none, &err), ETP_IO);
}

typedef struct told {
    etp_measurement *m;
    unsigned calls, cancel_in; // block in which to cancel, 0 never
} told;

static void cancel_there(void *ctx, const etp_measurement_progress *p)
{
    told *t = ctx;
    t->calls++;
    if (t->cancel_in && p->block == t->cancel_in) {
        etp_measurement_cancel(t->m);
    }
}

static void cancelling_keeps_whole_blocks(void **state)
{
    if (!s_has_runner) {
        skip();
    }
    told t = {.cancel_in = 2};
    const etp_measurement_callbacks on = {
        .struct_size = sizeof on, .ctx = &t, .progress = cancel_there};
    etp_error err = {0};
    t.m = measurement(NULL, SCRATCH("cancelled"), &on);
    if (etp_measurement_run(t.m, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    etp_measurement_summary about = {.struct_size = sizeof about};
    assert_int_equal(etp_measurement_about(t.m, &about, &err), ETP_OK);
    assert_true(about.cancelled && about.restored && t.calls > 1);
    assert_int_equal(about.blocks, 1);
    etp_measurement_destroy(t.m);
    etp_analysis *a = NULL;
    etp_analysis_summary found = {.struct_size = sizeof found};
    assert_int_equal(etp_analysis_open_run(SCRATCH("cancelled"), NULL, &a, &err), ETP_OK);
    assert_int_equal(etp_analysis_about(a, &found, &err), ETP_OK);
    assert_true(etp_str_eqz(found.state, "interrupted"));
    etp_analysis_close(a);
}

// As the command line samples: until enough is known, or why not.
static void sampling_ends_for_a_reason(void **state)
{
    etp_error err = {0};
    if (!s_has_runner) {
        skip();
    }
    etp_measurement *m = measurement_of(NULL, SCRATCH("sampled"), true, NULL);
    if (etp_measurement_run(m, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    etp_measurement_destroy(m);
    etp_mapping *manifest = NULL;
    assert_int_equal(etp_mapping_open(SCRATCH("sampled/manifest.json"), &manifest, &err), ETP_OK);
    const etp_bytes bytes = etp_mapping_bytes(manifest);
    char text[1 << 16] = "";
    assert_true(bytes.len < sizeof text);
    memcpy(text, bytes.ptr, bytes.len);
    size_t told = 0;
    for (const char *at = text; (at = strstr(at, "\"sampling\": \"")); at++) {
        told++;
    }
    assert_true(told > 0);
    etp_mapping_close(manifest);
}

static void *measure_there(void *folder)
{
    told t = {0};
    const etp_measurement_callbacks on = {
        .struct_size = sizeof on, .ctx = &t, .progress = cancel_there};
    etp_measurement *m = measurement(NULL, folder, &on);
    etp_status st = etp_measurement_run(m, NULL);
    etp_measurement_summary about = {.struct_size = sizeof about};
    bool whole = st == ETP_OK && etp_measurement_about(m, &about, NULL) == ETP_OK &&
                 about.blocks == 2 && !about.cancelled && t.calls > 0;
    etp_measurement_destroy(m);
    return whole ? folder : NULL;
}

static void two_sessions_at_once(void **state)
{
    if (!s_has_runner) {
        skip();
    }
    char one[512], other[512];
    in(s_scratch, "one", one, sizeof one);
    in(s_scratch, "other", other, sizeof other);
    pthread_t threads[2];
    void *results[2] = {NULL, NULL};
    assert_int_equal(pthread_create(&threads[0], NULL, measure_there, one), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, measure_there, other), 0);
    assert_int_equal(pthread_join(threads[0], &results[0]), 0);
    assert_int_equal(pthread_join(threads[1], &results[1]), 0);
    assert_ptr_equal(results[0], one);
    assert_ptr_equal(results[1], other);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: test_api DATA RUN_FOLDER SCRATCH MODEL runner|none\n");
        return 2;
    }
    s_data = argv[1];
    s_run = argv[2];
    s_scratch = argv[3];
    s_model_path = argv[4];
    s_has_runner = strcmp(argv[5], "runner") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_that_of_the_headers),
        cmocka_unit_test(a_mapping_has_the_bytes),
        cmocka_unit_test(a_run_folder_tells_its_arms),
        cmocka_unit_test(a_recording_against_itself),
        cmocka_unit_test(a_reply_is_a_document_and_a_table),
        cmocka_unit_test(an_analysis_gives_tables),
        cmocka_unit_test(wrong_words_are_refused),
        cmocka_unit_test(damaged_recordings_say_where),
        cmocka_unit_test(sizes_of_other_versions),
        cmocka_unit_test(every_format_to_every_receiver),
        cmocka_unit_test(output_that_cannot_be),
        cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(wrong_measurements_are_refused),
        cmocka_unit_test(what_cannot_run_leaves_nothing),
        cmocka_unit_test(cancelling_keeps_whole_blocks),
        cmocka_unit_test(sampling_ends_for_a_reason),
        cmocka_unit_test(two_sessions_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
