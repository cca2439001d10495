// SPDX-License-Identifier: Apache-2.0
// Rows of a fleet's sources, each read once. Expected counts: the Inspector's table of the dump,
// the lines of the example's samples.csv.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"
#include <etprof/fleet.h>

#define RUN ETP_TEST_SOURCE_DIR "/examples/runs/image_encoder_int8_qemu"
#define DUMP ETP_TEST_SOURCE_DIR "/tests/data/mixed_xnnpack_fp32.etdump"

static etp_fleet *opened(const char *const *sources, size_t n)
{
    etp_fleet *fleet = NULL;
    assert_int_equal(etp_fleet_read(sources, n, &fleet, NULL), ETP_OK);
    return fleet;
}

static int64_t streamed(etp_fleet *fleet, etp_fleet_table table)
{
    struct ArrowArrayStream stream;
    struct ArrowArray rows;
    int64_t n = 0;
    assert_int_equal(etp_fleet_stream(fleet, table, &stream, NULL), ETP_OK);
    for (;;) {
        assert_int_equal(stream.get_next(&stream, &rows), 0);
        if (!rows.release) {
            break;
        }
        n += rows.length;
        rows.release(&rows);
    }
    stream.release(&stream);
    return n;
}

// Of the whole numbers in COLUMN.
static int64_t streamed_sum(etp_fleet *fleet, etp_fleet_table table, const char *column)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray rows;
    int64_t at = 0, sum = 0;
    assert_int_equal(etp_fleet_stream(fleet, table, &stream, NULL), ETP_OK);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    while (strcmp(schema.children[at]->name, column) != 0) {
        assert_true(++at < schema.n_children);
    }
    schema.release(&schema);
    for (;;) {
        assert_int_equal(stream.get_next(&stream, &rows), 0);
        if (!rows.release) {
            break;
        }
        const int64_t *values = rows.children[at]->buffers[1];
        for (int64_t i = 0; i < rows.length; i++) {
            sum += values[i];
        }
        rows.release(&rows);
    }
    stream.release(&stream);
    return sum;
}

static void test_rows(void **state)
{
    static const char *const k_sources[] = {DUMP, RUN};
    etp_fleet *fleet = opened(k_sources, 2);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SESSIONS), 2);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_ARMS), 1 + 3);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_COMPARISONS), 2);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SAMPLES), 3 + 12);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_ERRORS), 0);
    for (int t = 0; t < ETP_FLEET_TABLES; t++) {
        uint64_t n = etp_fleet_rows(fleet, (etp_fleet_table)t);
        assert_int_equal(streamed(fleet, (etp_fleet_table)t), n);
        assert_int_equal(streamed(fleet, (etp_fleet_table)t), 0); // they were taken out
    }
    etp_fleet_close(fleet);
}

// One that is damaged after rows were put leaves one row of errors; those around it keep theirs.
static void test_damaged(void **state)
{
    char cut[] = "/tmp/etp-cut-XXXXXX", bytes[1500];
    int fd = mkstemp(cut);
    FILE *from = fopen(DUMP, "rb");
    assert_true(fd >= 0 && from != NULL);
    assert_int_equal(fread(bytes, 1, sizeof bytes, from), sizeof bytes);
    assert_int_equal(write(fd, bytes, sizeof bytes), (ssize_t)sizeof bytes);
    fclose(from);
    close(fd);
    const char *const sources[] = {cut, DUMP, "/nowhere/x.etdump", DUMP, "/nowhere/x.tar.zst", cut};
    etp_fleet *fleet = opened(sources, 6);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_ERRORS), 4);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SESSIONS), 2);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SAMPLES), 6);
    assert_int_equal(streamed(fleet, ETP_FLEET_SAMPLES), 6);
    etp_fleet_close(fleet); // what no stream took goes with it
    unlink(cut);
}

// DUMP with the execution whose start lies at offset AT beginning at START, by flatc's listing.
static void write_shifted(const char *path, size_t at, uint64_t start, uint64_t duration)
{
    char bytes[8192];
    FILE *from = fopen(DUMP, "rb"), *to = fopen(path, "wb");
    assert_true(from != NULL && to != NULL);
    size_t n = fread(bytes, 1, sizeof bytes, from);
    assert_true(n > at + 16 && n < sizeof bytes);
    for (size_t i = 0; i < 8; i++) {
        bytes[at + i] = (char)(start >> 8 * i);
        bytes[at + 8 + i] = (char)((start + duration) >> 8 * i);
    }
    assert_int_equal(fwrite(bytes, 1, n, to), n);
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

// The third execution begins beyond 2^63: by then two rows of samples were put. The dump after it
// begins with the start that the last of these two had.
static void test_damaged_late(void **state)
{
    char late[] = "/tmp/etp-late-XXXXXX", after[] = "/tmp/etp-after-XXXXXX";
    int one = mkstemp(late), other = mkstemp(after);
    assert_true(one >= 0 && other >= 0);
    close(one);
    close(other);
    write_shifted(late, 104, (uint64_t)1 << 63, 2564);
    write_shifted(after, 1184, 6284422612, 4727);
    const char *const sources[] = {DUMP, late, after};
    etp_fleet *fleet = opened(sources, 3);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_ERRORS), 1);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SESSIONS), 2);
    assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SAMPLES), 6);
    assert_int_equal(streamed_sum(fleet, ETP_FLEET_SAMPLES, "start_ns"),
                     (6284405327 + 6284422612 + 6284433619) +
                         (6284422612 + 6284422612 + 6284433619));
    etp_fleet_close(fleet);
    unlink(late);
    unlink(after);
}

// What is known already, and copies, leave nothing; a damaged one is an error each time.
static void test_new(void **state)
{
    static const char k_dump[] = "4ced68400b2982fdc5bdade94f88c4468dbcb4d8b80f75cfae02011651204d0b";
    static const char *const k_sources[] = {"/nowhere/x.etdump", DUMP, RUN, DUMP, RUN,
                                            "/nowhere/x.etdump"};
    etp_error err;
    etp_fleet_known *known;
    bool added;
    assert_int_equal(etp_fleet_known_new(&known, &err), ETP_OK);
    for (int i = 0; i < 2; i++) { // the second time the dump is known
        etp_fleet *fleet;
        assert_int_equal(etp_fleet_read_new(k_sources, 6, known, &fleet, &err), ETP_OK);
        assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SESSIONS), 2 - i);
        assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_SAMPLES), i ? 12 : 3 + 12);
        assert_int_equal(etp_fleet_rows(fleet, ETP_FLEET_ERRORS), 2);
        assert_string_equal(etp_fleet_source_id(fleet, 0), "");
        assert_int_equal(etp_fleet_source_id(fleet, 1) == NULL, i);
        assert_int_equal(strlen(etp_fleet_source_id(fleet, 2)), 64);
        assert_null(etp_fleet_source_id(fleet, 3));
        assert_null(etp_fleet_source_id(fleet, 4));
        assert_null(etp_fleet_source_id(fleet, 6));
        etp_fleet_close(fleet);
        assert_int_equal(etp_fleet_known_add(known, k_dump, &added, &err), ETP_OK);
        assert_int_equal(added, i == 0);
    }
    assert_int_equal(etp_fleet_known_add(known, "4ced", &added, &err), ETP_USAGE);
    etp_fleet_known_close(known);
    etp_fleet_known_close(NULL);
}

static void test_empty(void **state)
{
    etp_fleet *fleet = opened(NULL, 0);
    for (int t = 0; t < ETP_FLEET_TABLES; t++) {
        assert_int_equal(streamed(fleet, (etp_fleet_table)t), 0);
    }
    struct ArrowArrayStream stream;
    etp_error err;
    assert_int_equal(etp_fleet_stream(fleet, ETP_FLEET_TABLES, &stream, &err), ETP_USAGE);
    etp_fleet_close(fleet);
    etp_fleet_close(NULL);
    assert_string_equal(etp_fleet_table_name(ETP_FLEET_ERRORS), "errors");
    assert_string_equal(etp_fleet_table_name(ETP_FLEET_TABLES), "");
}

enum { READERS = 4 };

typedef struct reader {
    pthread_t id;
    etp_fleet_known *known;
    int added; // ids that nobody had added before
    bool bad;
} reader;

static void *read_known(void *data)
{
    static const char *const k_sources[] = {DUMP, RUN, DUMP};
    reader *r = data;
    for (int round = 0; round < 3 && !r->bad; round++) {
        etp_fleet *fleet = NULL;
        etp_error err;
        if (etp_fleet_read_new(k_sources, 3, r->known, &fleet, &err) != ETP_OK) {
            r->bad = true;
            break;
        }
        for (size_t i = 0; i < 3; i++) {
            const char *id = etp_fleet_source_id(fleet, i);
            bool added = false;
            r->bad = r->bad || (id && etp_fleet_known_add(r->known, id, &added, &err) != ETP_OK);
            r->added += added;
        }
        etp_fleet_close(fleet);
    }
    return NULL;
}

// Workers read with what is known while others add to it: each of the two sources is new once. A
// race shows under the thread sanitizer (scripts/check --threads).
static void test_threads(void **state)
{
    reader readers[READERS] = {0};
    etp_fleet_known *known;
    int added = 0;
    assert_int_equal(etp_fleet_known_new(&known, NULL), ETP_OK);
    for (size_t i = 0; i < READERS; i++) {
        readers[i].known = known;
        assert_int_equal(pthread_create(&readers[i].id, NULL, read_known, &readers[i]), 0);
    }
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(readers[i].id, NULL), 0);
        assert_false(readers[i].bad);
        added += readers[i].added;
    }
    assert_int_equal(added, 2);
    etp_fleet_known_close(known);
}

static void test_id(void **state)
{
    char id[65];
    etp_error err;
    assert_int_equal(etp_fleet_id(DUMP, id, &err), ETP_OK); // by sha256sum
    assert_string_equal(id, "4ced68400b2982fdc5bdade94f88c4468dbcb4d8b80f75cfae02011651204d0b");
    assert_int_equal(etp_fleet_id("/nowhere/x.etdump", id, &err), ETP_IO);
    assert_string_equal(id, "");
}
