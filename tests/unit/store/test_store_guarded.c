// SPDX-License-Identifier: Apache-2.0
// Memory that ends below a caller's guard, while a run folder's files are mapped and parsed:
// nothing of them is left, wherever it ends.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/guard.h"
#include "memory.h"
#include "store/roofs_file.h"
#include "store/store.h"
#include "unit.h"

#define RUN ETP_TEST_SOURCE_DIR "/examples/runs/image_encoder_int8_qemu"

static int s_json; // objects of JSON that are alive

static void *json_alloc(size_t size)
{
    s_json++;
    return malloc(size);
}

static void json_release(void *ptr)
{
    s_json -= ptr != NULL;
    free(ptr);
}

typedef etp_status reading(etp_arena *arena, etp_error *err);

static etp_status read_run(etp_arena *arena, etp_error *err)
{
    etp_run run;
    return etp_run_open(RUN, arena, &run, err);
}

// Texts so long that what is parsed asks for another block than the file's own.
static char s_folder[] = "/tmp/etprof-guarded-XXXXXX";

static FILE *begin(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", s_folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

static void write_files(void)
{
    assert_non_null(mkdtemp(s_folder));
    FILE *f = begin("derived.json");
    fprintf(f, "{\"schema\": \"etprof.derived/1\", \"files\": [");
    for (int i = 0; i < 60; i++) {
        fprintf(f, "%s{\"path\": \"%0200d\", \"sha256\": \"%064d\", \"bytes\": 1}", i ? "," : "", i,
                i);
    }
    fprintf(f, "]}");
    assert_int_equal(fclose(f), 0);
    f = begin("report.json");
    fprintf(f, "{\"comparisons\": [{\"baseline\": \"%06000d\", \"margin\": 0.01}]}", 0);
    assert_int_equal(fclose(f), 0);
}

static void remove_files(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/derived.json", s_folder);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/report.json", s_folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(s_folder), 0);
}

static etp_status read_derived(etp_arena *arena, etp_error *err)
{
    etp_run_derived derived;
    return etp_run_derived_read(s_folder, arena, &derived, err);
}

static etp_status read_options(etp_arena *arena, etp_error *err)
{
    const char *baseline;
    double margin;
    return etp_run_report_options(s_folder, arena, &baseline, &margin, err);
}

static etp_status read_roofs(etp_arena *arena, etp_error *err)
{
    static char text[6000];
    etp_roof_table table;
    memset(text, 'x', sizeof text);
    memcpy(text, "{\"device\":\"", 11);
    memcpy(text + sizeof text - 2, "\"}", 2);
    etp_status st = etp_roofs_read((etp_str){text, sizeof text}, arena, &table, err);
    return st == ETP_CORRUPT ? ETP_OK : st; // it has no other fields
}

static etp_status guarded(reading *read, etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "what is read", read(arena, err));
}

// How often READ ran out of memory before it had enough.
static int shortages(reading *read)
{
    memory m = {0};
    const etp_allocator alloc = {limited, &m};
    for (int allowed = 0; allowed < 1000; allowed++) {
        etp_arena arena;
        etp_error err;
        etp_arena_init(&arena, &alloc);
        m.left = allowed;
        etp_status st = guarded(read, &arena, &err);
        assert_int_equal(s_json, 0);
        etp_arena_dispose(&arena);
        assert_int_equal(m.alive, 0);
        if (st != ETP_NOMEM) {
            assert_string_equal(st ? err.msg : "", "");
            return allowed;
        }
    }
    return -1;
}

static void nothing_is_left_of_what_was_read(void **state)
{
    json_set_alloc_funcs(json_alloc, json_release);
    write_files();
    assert_true(shortages(read_run) > 3);
    assert_true(shortages(read_derived) > 0);
    assert_true(shortages(read_options) > 0);
    assert_true(shortages(read_roofs) > 0);
    remove_files();
}
