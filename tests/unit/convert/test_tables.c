// SPDX-License-Identifier: Apache-2.0
// The Arrow C stream, struct by struct. Expected values: the lines of the example's samples.csv and
// environment.jsonl.
#include <errno.h>
#include <string.h>

#include "unit.h"
#include <etprof/tables.h>

#define RUN ETP_TEST_SOURCE_DIR "/examples/runs/image_encoder_int8_qemu"

static const char *const k_run[] = {RUN "/"}; // the slash is not part of its name

static struct ArrowArrayStream opened(etp_run_table table, const char *const *folders, size_t n)
{
    struct ArrowArrayStream s;
    assert_int_equal(etp_tables_stream(table, folders, n, &s, NULL), ETP_OK);
    return s;
}

static int column(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (strcmp(schema->children[i]->name, name) == 0) {
            return (int)i;
        }
    }
    fail_msg("no column %s", name);
    return -1;
}

static int64_t number(const struct ArrowArray *a, int64_t row)
{
    return ((const int64_t *)a->buffers[1])[row];
}

static void check_text(const struct ArrowArray *a, int64_t row, const char *expected)
{
    const int32_t *offsets = a->buffers[1];
    int32_t n = offsets[row + 1] - offsets[row];
    assert_int_equal(n, strlen(expected));
    assert_memory_equal((const char *)a->buffers[2] + offsets[row], expected, (size_t)n);
}

static void check_column(const struct ArrowSchema *schema, const char *name, const char *format,
                         int64_t flags)
{
    const struct ArrowSchema *c = schema->children[column(schema, name)];
    assert_string_equal(c->format, format);
    assert_int_equal(c->flags, flags);
    assert_int_equal(c->n_children, 0);
    assert_null(c->dictionary);
}

static void test_schema(void **state)
{
    struct ArrowArrayStream stream = opened(ETP_RUN_TABLE_SAMPLES, k_run, 1);
    struct ArrowSchema schema;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    stream.release(&stream);
    assert_null(stream.release);
    assert_string_equal(schema.format, "+s"); // it outlives the stream
    assert_int_equal(schema.n_children, 22);
    check_column(&schema, "run", "u", 0);
    check_column(&schema, "generated_at", "tsu:UTC", ARROW_FLAG_NULLABLE);
    check_column(&schema, "emulated", "b", 0);
    check_column(&schema, "duration_ns", "l", 0);
    struct ArrowSchema moved = *schema.children[3]; // as a consumer takes a column
    schema.children[3]->release = NULL;
    schema.release(&schema);
    assert_null(schema.release);
    assert_string_equal(moved.name, "platform");
    moved.release(&moved);
    assert_null(moved.release);
}

static void test_samples(void **state)
{
    struct ArrowArrayStream stream = opened(ETP_RUN_TABLE_SAMPLES, k_run, 1);
    struct ArrowSchema schema;
    struct ArrowArray batch, end;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    stream.release(&stream);
    assert_int_equal(batch.length, 12);
    assert_int_equal(batch.n_buffers, 1);
    assert_null(batch.buffers[0]);
    const struct ArrowArray *duration = batch.children[column(&schema, "duration_ns")];
    assert_int_equal(duration->n_buffers, 2);
    assert_null(duration->buffers[0]);
    assert_int_equal(number(duration, 0), 487011832);
    assert_int_equal(number(duration, 3), 283066431);
    assert_int_equal(number(batch.children[column(&schema, "start_ns")], 1), 4065825193551);
    check_text(batch.children[column(&schema, "experiment")], 0, "linux_sme1");
    check_text(batch.children[column(&schema, "experiment")], 2, "linux_sme2_off");
    check_text(batch.children[column(&schema, "level")], 2, "neon");
    check_text(batch.children[column(&schema, "phase")], 3, "timed");
    check_text(batch.children[column(&schema, "run")], 11, RUN);
    // 2026-11-21T09:52:44Z: 20778 days after 1970 began, 35564 s into the day.
    assert_int_equal(number(batch.children[column(&schema, "generated_at")], 0),
                     (20778LL * 86400 + 35564) * 1000000);
    const uint8_t *emulated = batch.children[column(&schema, "emulated")]->buffers[1];
    assert_int_equal(emulated[0], 0xff);
    assert_int_equal(emulated[1], 0x0f);
    // A column that was moved out lives on by itself.
    struct ArrowArray moved = *duration;
    batch.children[column(&schema, "duration_ns")]->release = NULL;
    batch.release(&batch);
    assert_null(batch.release);
    assert_int_equal(number(&moved, 0), 487011832);
    moved.release(&moved);
    schema.release(&schema);
}

static void test_nulls(void **state)
{
    struct ArrowArrayStream stream = opened(ETP_RUN_TABLE_LAUNCHES, k_run, 1);
    struct ArrowSchema schema;
    struct ArrowArray batch;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 6);
    const struct ArrowArray *waited =
        batch.children[column(&schema, "wait_ns")]; // the folder does not tell
    assert_int_equal(waited->null_count, 6);
    assert_int_equal(*(const uint8_t *)waited->buffers[0], 0);
    const struct ArrowArray *faults = batch.children[column(&schema, "major_faults")]; // 0 is known
    assert_int_equal(faults->null_count, 0);
    assert_int_equal(number(faults, 0), 1);
    assert_int_equal(number(faults, 1), 0);
    batch.release(&batch);
    stream.release(&stream);
    schema.release(&schema);
}

static void test_two_folders(void **state)
{
    const char *const folders[] = {RUN, RUN};
    struct ArrowArrayStream stream = opened(ETP_RUN_TABLE_SAMPLES, folders, 2);
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 24);
    batch.release(&batch);
    stream.release(&stream);
}

static void test_failure(void **state)
{
    const char *const folders[] = {RUN, RUN "/nowhere"};
    struct ArrowArrayStream stream = opened(ETP_RUN_TABLE_SAMPLES, folders, 2);
    struct ArrowArray batch;
    assert_null(stream.get_last_error(&stream));
    for (int again = 0; again < 2; again++) { // broken stays broken
        assert_int_equal(stream.get_next(&stream, &batch), EIO);
        assert_null(batch.release);
        assert_non_null(strstr(stream.get_last_error(&stream), "nowhere: No such file"));
    }
    stream.release(&stream);
    // Released before anything was asked.
    stream = opened(ETP_RUN_TABLE_OPERATORS, k_run, 1);
    stream.release(&stream);
    assert_int_equal(etp_run_table_find("launches"), ETP_RUN_TABLE_LAUNCHES);
    assert_int_equal(etp_run_table_find("launch"), ETP_RUN_TABLES);
}
