// SPDX-License-Identifier: Apache-2.0
// What `etprof inspect` derives: parts that add up, weights counted once, differences.
#include <math.h>
#include <stdio.h>

#include "../corpus.h"
#include "../formats/golden.h"
#include "unit.h"

#include <etprof/program.h>
#include <etprof/trace.h>

#include "base/json.h"
#include "inspect/inspect.h"
#include "inspect/ops.h"
#include "inspect/tensors.h"

static const char k_data[] = ETP_TEST_SOURCE_DIR "/tests/data";

static void open_inspect(const char *path, etp_file *file, etp_arena *arena, etp_inspect *out)
{
    etp_error err = {0};
    golden_open(path, file);
    if (etp_inspect_open(path, file->bytes, (etp_bytes){0}, arena, out, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
}

static uint64_t bytes_of_kind(const etp_pte *pte, etp_pte_segment_kind kind)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pte->n_segments; i++) {
        sum += pte->segments[i].kind == kind ? pte->segments[i].data.len : 0;
    }
    return sum;
}

static uint64_t alignment_slack(const etp_pte *pte)
{
    // Constants of kernels are padded to 16 bytes inside their segment.
    return pte->constant_segment == ETP_PTE_NO_SEGMENT ? 0 : 2 * 16;
}

static void check_program(const etp_inspect *in)
{
    const etp_pte *pte = in->program->pte;
    uint64_t parts = 0, types = in->scale_bytes, in_file = in->weight_bytes - in->external_bytes;
    for (size_t i = 0; i < in->n_parts; i++) {
        parts += in->parts[i].bytes;
    }
    assert_int_equal(parts, pte->file_size);
    for (int d = 0; d < ETP_DTYPE_COUNT; d++) {
        types += in->by_dtype[d];
    }
    assert_int_equal(types, in->weight_bytes);
    // Everything that the file stores as weights is found once, and nothing twice.
    uint64_t stored =
        bytes_of_kind(pte, ETP_PTE_SEGMENT_NAMED) + bytes_of_kind(pte, ETP_PTE_SEGMENT_CONSTANT);
    assert_true(in_file <= stored && stored - in_file <= alignment_slack(pte));
    for (size_t i = 1; i < in->n_weights; i++) {
        assert_true(in->weights[i - 1].bytes >= in->weights[i].bytes);
    }
    uint64_t kernels = 0, calls = 0;
    for (uint32_t i = 0; i < in->program->n_methods; i++) {
        kernels += in->program->methods[i].n_of_kind[ETP_INSTR_KERNEL];
    }
    for (size_t i = 0; i < in->n_operators; i++) {
        calls += in->operators[i].delegated ? 0 : in->operators[i].calls;
    }
    assert_int_equal(kernels, calls);
}

static size_t check_folder(const char *dir)
{
    etp_arena arena = {0};
    golden_files files = {0};
    golden_list(dir, ".pte", &arena, &files);
    for (size_t i = 0; i < files.n; i++) {
        etp_file file;
        etp_inspect in;
        open_inspect(files.items[i], &file, &arena, &in);
        check_program(&in);
        bool external = strstr(files.items[i], "external") != NULL;
        assert_int_equal(in.external_bytes > 0, external);
        etp_inspect_close(&in);
        etp_file_close(&file);
    }
    etp_arena_dispose(&arena);
    return files.n;
}

static void fixtures_add_up(void **state)
{
    assert_true(check_folder(k_data) >= 4);
}

static void corpus_adds_up(void **state)
{
    const char *dir = need_corpus();
    char models[512];
    snprintf(models, sizeof models, "%s/models", dir);
    assert_true(check_folder(models) >= 17);
}

static void kinds_are_told_apart(void **state)
{
    const struct {
        const char *name;
        etp_file_kind kind;
    } k_files[] = {
        {"linear_xnnpack_fp32.pte",     ETP_FILE_PTE     },
        {"linear_xnnpack_fp32.bpte",    ETP_FILE_BPTE    },
        {"linear_external.ptd",         ETP_FILE_PTD     },
        {"linear_xnnpack_fp32.etdump",  ETP_FILE_ETDUMP  },
        {"mixed_xnnpack_fp32.etrecord", ETP_FILE_ETRECORD},
        {"README.md",                   ETP_FILE_UNKNOWN }
    };
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        char path[512];
        etp_file file;
        snprintf(path, sizeof path, "%s/%s", k_data, k_files[i].name);
        golden_open(path, &file);
        assert_int_equal(etp_inspect_probe(file.bytes), k_files[i].kind);
        etp_file_close(&file);
    }
}

static const etp_diff_row *find_row(const etp_inspect_diff *d, const char *kind, const char *name)
{
    for (size_t i = 0; i < d->n_rows; i++) {
        if (strcmp(d->rows[i].kind, kind) == 0 && etp_str_eqz(d->rows[i].name, name)) {
            return &d->rows[i];
        }
    }
    fail_msg("no row %s %s", kind, name);
    return NULL;
}

static void differences(void **state)
{
    char path[512];
    etp_file files[3];
    etp_inspect in[3];
    etp_inspect_diff d;
    etp_arena *arena = *state;
    etp_error err = {0};
    const char *const k_names[] = {"linear_portable_fp32.pte", "linear_xnnpack_fp32.pte",
                                   "linear_external.ptd"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", k_data, k_names[i]);
        open_inspect(path, &files[i], arena, &in[i]);
    }
    assert_int_equal(etp_inspect_compare(&in[0], &in[0], arena, &d, &err), ETP_OK);
    assert_int_equal(d.n_different, 0);
    assert_int_equal(etp_inspect_compare(&in[0], &in[1], arena, &d, &err), ETP_OK);
    assert_true(d.n_different > 0);
    assert_int_equal(find_row(&d, "file", "size")->a, files[0].bytes.len);
    assert_int_equal(find_row(&d, "file", "size")->b, files[1].bytes.len);
    assert_int_equal(find_row(&d, "kernel", "aten::addmm.out")->a, 1);
    assert_int_equal(find_row(&d, "kernel", "aten::addmm.out")->b, 0);
    assert_int_equal(find_row(&d, "delegated operator", "FullyConnected")->b, 1);
    assert_int_equal(find_row(&d, "method", "forward: MACs")->a, 24);
    assert_int_equal(find_row(&d, "method", "forward: MACs")->b, 24);
    assert_int_equal(find_row(&d, "weights", "all")->a, find_row(&d, "weights", "all")->b);
    assert_int_equal(etp_inspect_compare(&in[0], &in[2], arena, &d, &err), ETP_USAGE);
    for (int i = 0; i < 3; i++) {
        etp_inspect_close(&in[i]);
        etp_file_close(&files[i]);
    }
}

// ---- logged values ----

static bool same_tensor(const json_t *j, const etp_logged_value *v)
{
    const json_t *shape = json_object_get(j, "shape");
    double sum = golden_number(j, "sum");
    if (!v->has_data || v->rank != json_array_size(shape)) {
        return false;
    }
    for (size_t i = 0; i < v->rank; i++) {
        if ((double)v->sizes[i] != json_number_value(json_array_get(shape, i))) {
            return false;
        }
    }
    return fabs(v->sum - sum) <= 1e-5 * (fabs(sum) > 1 ? fabs(sum) : 1);
}

// Every tensor below VALUE (lists and objects of the Inspector's JSON) is among ours.
static size_t find_tensors(const json_t *value, const etp_inspect_tensors *t)
{
    const json_t *tensor = json_object_get(value, "tensor");
    const json_t *item = NULL;
    const char *key = NULL;
    json_t *member = NULL;
    size_t i = 0, n = 0;
    if (json_is_object(tensor)) {
        if (!json_is_number(json_object_get(tensor, "sum")) ||
            json_number_value(json_array_get(json_object_get(tensor, "shape"), 0)) == 0.0) {
            return 0; // empty, or of values that have no sum
        }
        for (size_t k = 0; k < t->n_values; k++) {
            if (same_tensor(tensor, &t->values[k])) {
                return 1;
            }
        }
        fail_msg("a tensor with the sum %g is missing", golden_number(tensor, "sum"));
    }
    json_array_foreach(value, i, item)
    {
        n += find_tensors(item, t);
    }
    if (json_is_object(value)) {
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
        {
            n += find_tensors(member, t);
        }
    }
    return n;
}

static size_t check_tensors(const char *dir, const char *dump)
{
    etp_arena arena = {0};
    etp_file files[2];
    etp_inspect_tensors t;
    etp_error err = {0};
    size_t i = 0, n = 0;
    json_t *row = NULL;
    json_t *rows = golden_load(etp_arena_printf(&arena, "%s/inspector/%s.json", dir, dump));
    if (!rows) {
        rows = golden_load(etp_arena_printf(&arena, "%s/inspector/%s.json.gz", dir, dump));
    }
    golden_open(etp_arena_printf(&arena, "%s/dumps/%s", dir, dump), &files[0]);
    golden_open(etp_arena_printf(&arena, "%s/dumps/%s.debug.bin", dir, dump), &files[1]);
    const etp_bytes bytes = files[0].bytes;
    if (etp_inspect_tensors_read(dump, bytes, files[1].bytes, &arena, &t, &err) != ETP_OK) {
        fail_msg("%s: %s", dump, err.msg);
    }
    assert_true(t.n_values > 0);
    json_array_foreach(rows, i, row)
    {
        n += find_tensors(json_object_get(row, "debug_data"), &t);
    }
    json_decref(rows);
    // A buffer that is too short is an error, not a read behind its end.
    files[1].bytes.len = 16;
    assert_int_equal(etp_inspect_tensors_read(dump, bytes, files[1].bytes, &arena, &t, &err),
                     ETP_CORRUPT);
    etp_file_close(&files[0]);
    etp_file_close(&files[1]);
    etp_arena_dispose(&arena);
    return n;
}

static void tensors_agree_with_the_inspector(void **state)
{
    const char *dir = need_corpus();
    etp_arena *arena = *state;
    golden_files buffers = {0};
    size_t n = 0;
    golden_list(etp_arena_printf(arena, "%s/dumps", dir), ".debug.bin", arena, &buffers);
    for (size_t i = 0; i < buffers.n; i++) {
        const char *name = strrchr(buffers.items[i], '/') + 1;
        n += check_tensors(dir, etp_arena_printf(arena, "%.*s", (int)(strlen(name) - 10), name));
    }
    print_message("%zu tensors of %zu recordings\n", n, buffers.n);
    assert_true(n >= 10);
}

// Shapes of a hostile file can claim anything: no sum comes out smaller than its parts.
static void sums_beyond_64_bits_are_unknown(void **state)
{
    etp_arena *arena = *state;
    etp_file dump, program;
    golden_open(etp_arena_printf(arena, "%s/mixed_xnnpack_fp32.etdump", k_data), &dump);
    golden_open(etp_arena_printf(arena, "%s/mixed_xnnpack_fp32.pte", k_data), &program);
    etp_trace *trace = NULL;
    const etp_program *p = NULL;
    etp_ops_answer a;
    assert_int_equal(etp_trace_open(dump.bytes, NULL, &trace, NULL), ETP_OK);
    assert_int_equal(etp_program_open(program.bytes, NULL, &p, NULL), ETP_OK);
    assert_int_equal(etp_ops_answer_build(trace, p, NULL, "dump", arena, &a, NULL), ETP_OK);
    assert_true(a.table.n_rows >= 2);
    for (size_t i = 0; i < 2; i++) {
        a.facts[i].work = (etp_work){.known = true, .macs = UINT64_MAX / 2 + 1};
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json j;
    etp_json_init(&j, &sink, true);
    etp_document_write(&j, &k_etp_ops_document, &a, &a);
    const char *totals =
        strstr(etp_arena_strdup(arena, etp_strbuf_str(&text)), "\"delegated_share\"") - 60;
    assert_non_null(strstr(totals, "\"macs\": null"));
    etp_trace_close(trace);
    etp_program_close(p);
    etp_file_close(&dump);
    etp_file_close(&program);
}

#define RESULT corpus_result // where no corpus is, the test is skipped
