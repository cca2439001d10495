// SPDX-License-Identifier: Apache-2.0
// ETRecords, and operators to Python lines: against what ExecuTorch's Inspector says about the same
// recordings, and against damaged and malicious archives.
#include <stdio.h>
#include <stdlib.h>
#include <zip.h>

#include "../corpus.h"
#include "../formats/golden.h"
#include "unit.h"

#include <etprof/join.h>

static const char k_data[] = ETP_TEST_SOURCE_DIR "/tests/data";

static etp_status read_file(const char *path, etp_file *file, etp_arena *arena, etp_etrecord *out,
                            etp_error *err)
{
    golden_open(path, file);
    return etp_etrecord_read(file->bytes, arena, out, err);
}

// ---- the fixture ----

static void fixture_by_hand(void **state)
{
    etp_file file;
    etp_etrecord r;
    char path[512];
    snprintf(path, sizeof path, "%s/mixed_xnnpack_fp32.etrecord", k_data);
    assert_int_equal(read_file(path, &file, *state, &r, NULL), ETP_OK);
    assert_int_equal(r.n_methods, 1);
    const etp_record_method *m = etp_etrecord_method(&r, ETP_STR("forward"));
    assert_non_null(m);
    assert_null(etp_etrecord_method(&r, ETP_STR("backward")));
    assert_int_equal(m->n_sources, 4); // linear, relu, cumsum, linear
    const etp_source *s = etp_etrecord_source(m, 1);
    assert_non_null(s);
    assert_true(etp_str_eqz(s->op, "aten.linear.default"));
    assert_true(etp_str_eqz(s->file, "tests/data/make_fixtures.py")); // not torch/nn/…/linear.py
    assert_true(etp_str_eqz(s->function, "forward"));
    assert_true(etp_str_eqz(s->module, "a"));
    assert_true(etp_str_eqz(s->module_type, "torch.nn.modules.linear.Linear"));
    assert_true(etp_str_eqz(etp_etrecord_source(m, 3)->op, "aten.cumsum.default"));
    assert_int_equal(etp_etrecord_source(m, 3)->module.len, 0);
    assert_null(etp_etrecord_source(m, 5));
    assert_null(etp_etrecord_source(m, -1));
    assert_null(etp_etrecord_source(NULL, 1));
    assert_int_equal(m->n_instructions, 3);
    const etp_record_instruction *first = etp_etrecord_instruction(m, 0);
    assert_true(etp_str_eqz(first->delegate, "XnnpackBackend"));
    assert_int_equal(first->n_handles, 2);
    assert_int_equal(first->handles[1], 2);
    assert_int_equal(etp_etrecord_instruction(m, 1)->n_handles, 1);
    assert_int_equal(etp_etrecord_instruction(m, 1)->delegate.len, 0);
    assert_null(etp_etrecord_instruction(m, 3));
    etp_file_close(&file);
}

// ---- against the Inspector ----

// Whether one of ROW's module hierarchies ends in MODULE and one of its stacks contains FILE:LINE.
static bool row_has_source(const json_t *row, const etp_source *s)
{
    const char *key = NULL;
    json_t *value = NULL;
    bool module = false, line = false;
    char frame[512];
    snprintf(frame, sizeof frame, "File \"%.*s\", line %u,", ETP_STR_ARG(s->file), s->line);
    json_object_foreach(json_object_get(row, "stack_traces"), key, value)
    {
        line = line || strstr(json_string_value(value), frame) != NULL;
    }
    json_object_foreach(json_object_get(row, "module_hierarchy"), key, value)
    {
        const char *inner = NULL, *last = "";
        json_t *pair = NULL;
        json_object_foreach(value, inner, pair)
        {
            last = json_string_value(json_array_get(pair, 0));
        }
        module = module || etp_str_eqz(s->module, last);
    }
    return module && line;
}

static const json_t *row_named(const json_t *rows, size_t *at, etp_str name)
{
    for (; *at < json_array_size(rows); (*at)++) {
        const json_t *row = json_array_get(rows, *at);
        if (etp_str_eqz(name, golden_string(row, "event_name")) &&
            strcmp(golden_string(row, "event_block_name"), "Execute") == 0) {
            (*at)++;
            return row;
        }
    }
    return NULL;
}

typedef struct count {
    size_t kernels, operators, without;
} count;

// Kernels have their own row with a source; operators of a delegate must have one of those that the
// Inspector lists for their DELEGATE_CALL.
static void check_block(const etp_program *program, const etp_etrecord *record,
                        const etp_trace_block *block, const json_t *rows, count *n)
{
    etp_arena arena = {0};
    etp_join join;
    size_t at = 0;
    assert_int_equal(etp_join_block(program, block, &arena, &join, NULL), ETP_OK);
    for (uint32_t i = 0; i < block->n_events; i++) {
        const etp_trace_event *e = &block->events[i];
        etp_source s;
        if (e->kind == ETP_EVENT_NATIVE_CALL) {
            const json_t *row = row_named(rows, &at, e->name);
            assert_non_null(row);
            assert_true(etp_join_source(program, &join, i, record, &s));
            assert_true(row_has_source(row, &s));
            n->kernels++;
        } else if (e->kind == ETP_EVENT_DELEGATE_CALL) {
            const json_t *row = row_named(rows, &at, e->name);
            assert_non_null(row);
            for (uint32_t k = 0; k < i; k++) {
                if (block->events[k].parent != i) {
                    continue;
                }
                if (!etp_join_source(program, &join, k, record, &s)) {
                    n->without++;
                } else {
                    assert_true(row_has_source(row, &s));
                    n->operators++;
                }
            }
        }
    }
    etp_arena_dispose(&arena);
}

static void check_dump(const char *dir, const char *dump, count *n)
{
    char path[600];
    etp_file files[3];
    const etp_program *program = NULL;
    etp_trace *trace = NULL;
    etp_arena arena = {0};
    etp_etrecord record;
    etp_error err = {0};
    int stem = (int)(strchr(dump, '.') - dump);
    snprintf(path, sizeof path, "%s/inspector/%s.etrecord.json", dir, dump);
    json_t *rows = golden_load(path);
    if (!rows) {
        snprintf(path, sizeof path, "%s/inspector/%s.etrecord.json.gz", dir, dump);
        rows = golden_load(path);
    }
    if (!rows) {
        return; // no record, or the Inspector failed
    }
    snprintf(path, sizeof path, "%s/models/%.*s.etrecord", dir, stem, dump);
    if (read_file(path, &files[0], &arena, &record, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
    snprintf(path, sizeof path, "%s/models/%.*s.pte", dir, stem, dump);
    golden_open(path, &files[1]);
    assert_int_equal(etp_program_open(files[1].bytes, NULL, &program, &err), ETP_OK);
    snprintf(path, sizeof path, "%s/dumps/%s", dir, dump);
    open_dump(path, &files[2], &trace);
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        if (etp_str_eqz(etp_trace_block_at(trace, b)->name, "Execute")) {
            check_block(program, &record, etp_trace_block_at(trace, b), rows, n);
        }
    }
    json_decref(rows);
    etp_trace_close(trace);
    etp_program_close(program);
    for (int i = 0; i < 3; i++) {
        etp_file_close(&files[i]);
    }
    etp_arena_dispose(&arena);
}

static void sources_agree_with_the_inspector(void **state)
{
    const char *dir = need_corpus();
    etp_arena *arena = *state;
    golden_files dumps = {0};
    count n = {0};
    golden_list(etp_arena_printf(arena, "%s/dumps", dir), ".etdump", arena, &dumps);
    for (size_t i = 0; i < dumps.n; i++) {
        check_dump(dir, strrchr(dumps.items[i], '/') + 1, &n);
    }
    print_message("%zu kernels and %zu delegate operators with a source, %zu operators without\n",
                  n.kernels, n.operators, n.without);
    assert_true(n.kernels >= 100 && n.operators >= 500);
    // Layout transposes and boundary converts that the exporter added have no line of their own.
    assert_true(n.without * 4 < n.operators);
}

static void programs_can_carry_their_own_traces(void **state)
{
    const char *dir = need_corpus();
    char path[512];
    etp_file pte, dump;
    const etp_program *program = NULL;
    etp_trace *trace = NULL;
    etp_join join;
    snprintf(path, sizeof path, "%s/models/toy_cnn_portable_fp32_stacktrace.pte", dir);
    golden_open(path, &pte);
    assert_int_equal(etp_program_open(pte.bytes, NULL, &program, NULL), ETP_OK);
    snprintf(path, sizeof path, "%s/dumps/toy_cnn_portable_fp32.x86_full.etdump", dir);
    open_dump(path, &dump, &trace);
    const etp_trace_block *block = etp_trace_block_at(trace, 0);
    assert_int_equal(etp_join_block(program, block, *state, &join, NULL), ETP_OK);
    size_t found = 0;
    for (uint32_t i = 0; i < block->n_events; i++) {
        etp_source s;
        if (etp_join_source(program, &join, i, NULL, &s)) {
            assert_true(etp_str_eqz(s.file, "/opt/src/models.py"));
            assert_int_equal(s.line, 15);
            found++;
        }
    }
    assert_true(found >= 10);
    etp_trace_close(trace);
    etp_program_close(program);
    etp_file_close(&dump);
    etp_file_close(&pte);
}

// ---- hostile archives ----

typedef struct archive {
    etp_arena arena;
    etp_bytes bytes;
} archive;

// Zip of NAME → TEXT (deflated) beside the marker.
static void make_archive(archive *out, const char *name, const char *text, size_t len)
{
    zip_error_t error;
    *out = (archive){0};
    zip_error_init(&error);
    zip_source_t *target = zip_source_buffer_create(NULL, 0, 0, &error);
    assert_non_null(target);
    zip_source_keep(target);
    zip_t *zip = zip_open_from_source(target, ZIP_TRUNCATE, &error);
    assert_non_null(zip);
    assert_true(zip_file_add(zip, "ETRECORD_V0", zip_source_buffer(zip, "", 0, 0), 0) >= 0);
    assert_true(zip_file_add(zip, name, zip_source_buffer(zip, text, len, 0), 0) >= 0);
    assert_int_equal(zip_close(zip), 0);
    assert_int_equal(zip_source_open(target), 0);
    assert_int_equal(zip_source_seek(target, 0, SEEK_END), 0);
    size_t size = (size_t)zip_source_tell(target);
    assert_int_equal(zip_source_seek(target, 0, SEEK_SET), 0);
    uint8_t *copy = etp_arena_alloc(&out->arena, size);
    assert_non_null(copy);
    assert_int_equal(zip_source_read(target, copy, size), size);
    zip_source_close(target);
    zip_source_free(target);
    out->bytes = (etp_bytes){copy, size, 0};
}

static void expect_refusal(const char *name, const char *text, size_t len, const char *message)
{
    archive a;
    etp_arena arena = {0};
    etp_etrecord r;
    etp_error err = {0};
    make_archive(&a, name, text, len);
    assert_int_equal(etp_etrecord_read(a.bytes, &arena, &r, &err), ETP_CORRUPT);
    if (!strstr(err.msg, message)) {
        fail_msg("\"%s\" does not say \"%s\"", err.msg, message);
    }
    etp_arena_dispose(&arena);
    etp_arena_dispose(&a.arena);
}

static void bombs_are_refused(void **state)
{
    static const char k_graph[] = "edge_dialect_exported_program/forward";
    enum { BIG = 64 << 20, MANY = 1 << 20 };
    char *text = calloc(BIG, 1);
    assert_non_null(text);
    expect_refusal(k_graph, text, BIG, "more than allowed"); // 64 MB out of 64 kB
    memset(text, '[', MANY);
    expect_refusal(k_graph, text, MANY, "more values"); // a million lists out of nothing
    memset(text, '[', 4000);
    memset(text + 4000, ']', 4000);
    expect_refusal(k_graph, text, 8000, "nested deeper"); // deep, but few
    free(text);
    expect_refusal("debug_handle_map", "{\"forward\"", 10, "debug_handle_map");
}

static void keys_are_not_repeated(void **state)
{
    static const char k_map[] = "{\"forward\":{\"0\":1,\"0\":2}}";
    expect_refusal("debug_handle_map", k_map, sizeof k_map - 1,
                   "duplicate object key near '\"0\"'");
}

// A digit that was changed on the way makes no other JSON than a sound one: only the check sum
// tells.
static void changed_texts_are_refused(void **state)
{
    static const char k_map[] = "{\"forward\":{\"0\":1}}";
    archive a;
    etp_arena *arena = *state;
    etp_etrecord r;
    etp_error err = {0};
    make_archive(&a, "debug_handle_map", k_map, sizeof k_map - 1);
    uint8_t *at = memmem(a.bytes.ptr, a.bytes.len, k_map, sizeof k_map - 1);
    assert_non_null(at); // so short a text is stored as it is
    assert_int_equal(etp_etrecord_read(a.bytes, arena, &r, &err), ETP_OK);
    at[sizeof k_map - 4] = '2';
    assert_int_equal(etp_etrecord_read(a.bytes, arena, &r, &err), ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "entry debug_handle_map cannot be unpacked: CRC error"));
    etp_arena_dispose(&a.arena);
}

// Branches of control flow are graphs in the arguments of a node, up to 16 in one another.
static void graphs_in_graphs_are_read(void **state)
{
    etp_arena *arena = *state;
    static const char k_open[] = "{\"graph\":{\"nodes\":[{\"metadata\":{\"debug_handle\":\"3\"},"
                                 "\"inputs\":[{\"arg\":{\"as_graph\":";
    static const char k_close[] = "}}]}]}}";
    static char text[17 * (sizeof k_open + sizeof k_close) + 64];
    for (int inner = 16; inner <= 17; inner++) {
        size_t n = (size_t)sprintf(text, "{\"graph_module\":");
        for (int i = 0; i < inner; i++) {
            n += (size_t)sprintf(text + n, "%s", k_open);
        }
        n += (size_t)sprintf(text + n, "{\"graph\":{\"nodes\":[{\"metadata\":"
                                       "{\"debug_handle\":\"4\"}}]}}");
        for (int i = 0; i < inner; i++) {
            n += (size_t)sprintf(text + n, "%s", k_close);
        }
        n += (size_t)sprintf(text + n, "}");
        if (inner == 17) {
            expect_refusal("edge_dialect_exported_program", text, n,
                           "graphs nested deeper than 16");
            continue;
        }
        archive a;
        etp_etrecord r;
        etp_error err = {0};
        make_archive(&a, "edge_dialect_exported_program", text, n);
        ASSERT_OK(etp_etrecord_read(a.bytes, arena, &r, &err), err);
        assert_int_equal(r.methods[0].n_nodes, inner + 1);
        assert_true(etp_etrecord_source(&r.methods[0], 4)->nested);
        etp_arena_dispose(&a.arena);
    }
}

static void numbers_beyond_json_are_read(void **state)
{
    static const char k_graph[] =
        "{\"graph_module\":{\"graph\":{\"nodes\":[{\"target\":\"x\",\"inputs\":[{\"arg\":"
        "{\"as_float\":-Infinity}},{\"arg\":{\"as_float\":NaN}}],\"metadata\":"
        "{\"debug_handle\":\"3\",\"stack_trace\":"
        "\"File \\\"Infinity.py\\\", line 7, in NaN\"}}]}}}";
    archive a;
    etp_arena *arena = *state;
    etp_etrecord r;
    etp_error err = {0};
    make_archive(&a, "edge_dialect_exported_program/forward", k_graph, sizeof k_graph - 1);
    ASSERT_OK(etp_etrecord_read(a.bytes, arena, &r, &err), err);
    const etp_source *s = etp_etrecord_source(&r.methods[0], 3);
    assert_non_null(s);
    assert_true(etp_str_eqz(s->file, "Infinity.py")); // text is left alone
    assert_true(etp_str_eqz(s->function, "NaN"));
    assert_int_equal(s->line, 7);
    etp_arena_dispose(&a.arena);
}

static void damaged_records(void **state)
{
    char path[512];
    etp_file file;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/etrecord/stored", ETP_TEST_SOURCE_DIR);
    golden_open(path, &file);
    size_t len = file.bytes.len;
    uint8_t *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, file.bytes.ptr, len);
    for (size_t i = 0; i <= 2 * len; i++) { // first truncations, then one changed byte each
        etp_etrecord r;
        etp_error err = {0};
        size_t n = i < len ? i : len;
        if (i >= len && i < 2 * len) {
            copy[i - len] ^= 0x55;
        }
        uint8_t *exact = malloc(n ? n : 1);
        assert_non_null(exact);
        memcpy(exact, copy, n);
        etp_status status = etp_etrecord_read((etp_bytes){exact, n, 0}, *state, &r, &err);
        if (status != ETP_OK && status != ETP_CORRUPT && status != ETP_UNSUPPORTED) {
            fail_msg("byte %zu: status %d, %s", i, status, err.msg);
        }
        assert_true(i < len ? status != ETP_OK : true); // a zip's directory is at its end
        assert_true((status == ETP_OK) == (err.msg[0] == '\0'));
        free(exact);
        if (i >= len && i < 2 * len) {
            copy[i - len] ^= 0x55;
        }
    }
    free(copy);
    etp_file_close(&file);
}

#define RESULT corpus_result // where no corpus is, the test is skipped
