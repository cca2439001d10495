// SPDX-License-Identifier: Apache-2.0
// The ETDump view: framing, values, and files that are cut off, altered or something else.
#include <stdlib.h>

#include "unit.h"
#include <etprof/etdump.h>
#include <etprof/trace.h>

#include "convert/inspector.h"
#include "etdump_writer.h"
#include "os/os.h"
#include "trace/ops.h"
#include "trace_check.h"

static etp_bytes small_dump(etp_arena *arena, bool prefix, uint32_t version)
{
    dump_writer w = dump_begin(arena);
    dump_allocator(&w, "planned");
    dump_event(&w, &(dump_profile){.delegate_str = "Add (ND) #1",
                                   .delegate_id = -1,
                                   .start = 5,
                                   .end = 9,
                                   .metadata = ""});
    dump_event(
        &w, &(dump_profile){
                .name = "Method::execute", .chain = -1, .delegate_id = -1, .start = 1, .end = 10});
    dump_run(&w, "Execute", -1);
    return dump_finish_version(&w, prefix, version);
}

static void framings_are_told_apart(void **state)
{
    etp_arena *arena = *state;
    etp_etdump d;
    etp_bytes prefixed = small_dump(arena, true, 0), plain = small_dump(arena, false, 0);
    etp_bytes stripped = {prefixed.ptr + 4, prefixed.len - 4, 0};
    const etp_bytes files[] = {prefixed, plain, stripped};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(etp_etdump_open(files[i], &d, NULL), ETP_OK);
        assert_int_equal(d.framing, i == 0 ? ETP_ETDUMP_PREFIXED : ETP_ETDUMP_PLAIN);
        assert_int_equal(d.n_runs, 1);
        etp_etdump_run run = etp_etdump_run_at(&d, 0);
        assert_true(etp_str_eqz(run.name, "Execute"));
        assert_true(etp_str_eqz(etp_etdump_allocator_name(&run, 0), "planned"));
        etp_etdump_profile p;
        assert_true(etp_etdump_profile_of(etp_etdump_event_at(&run, 0), &p));
        assert_int_equal(p.end - p.start, 4);
        assert_non_null(p.delegate_metadata.ptr);
        assert_int_equal(p.delegate_metadata.len, 0);
        assert_null(p.name.ptr);
        assert_int_equal(p.instruction_id, 0);
    }
}

static void expect(etp_bytes bytes, etp_status status, uint64_t offset, const char *message)
{
    etp_etdump d;
    etp_error err = {0};
    assert_int_equal(etp_etdump_open(bytes, &d, &err), status);
    if (strstr(err.msg, message) == NULL) {
        fail_msg("expected \"%s\", got \"%s\"", message, err.msg);
    }
    assert_int_equal(err.offset, offset);
}

static void other_files_are_named(void **state)
{
    etp_arena *arena = *state;
    expect((etp_bytes){NULL, 0, 0}, ETP_CORRUPT, 0, "empty file, expected an ETDump");
    static const uint8_t k_pte[] = "\x10\0\0\0ET12\0\0\0\0\0\0\0";
    expect((etp_bytes){k_pte, sizeof k_pte, 0}, ETP_UNSUPPORTED, 4,
           "expected an ETDump, this is an ExecuTorch program (.pte)");
    static const uint8_t k_zip[] = "PK\3\4 and so on, and on";
    expect((etp_bytes){k_zip, sizeof k_zip, 0}, ETP_UNSUPPORTED, 0, "zip archive");
    static const uint8_t k_text[] = "hello, this is no dump";
    expect((etp_bytes){k_text, sizeof k_text, 0}, ETP_UNSUPPORTED, 4, "not an ETDump");
    expect((etp_bytes){k_text, 7, 0}, ETP_CORRUPT, 7, "7 bytes are too few for an ETDump");
    etp_bytes b = small_dump(arena, true, 0);
    expect((etp_bytes){b.ptr, b.len - 1, 0}, ETP_CORRUPT, 0, "(the file is cut off)");
    b = small_dump(arena, true, 1);
    expect(b, ETP_UNSUPPORTED, 4 + etp_load_u32(b.ptr + 4),
           "ETDump version 1, this etprof reads up to 0");
}

static void values_of_every_type(void **state)
{
    static const int64_t k_shape[] = {2, 3};
    dump_writer w = dump_begin(*state);
    const etp_fbb_ref values[] = {
        dump_int(&w, -7, false),
        dump_bool(&w, true, true),
        dump_float(&w, 1.5F, false),
        dump_double(&w, -0.25, false),
        dump_tensor(&w, 6, k_shape, 2, 64, true),
        dump_tensor_list(&w, 4, k_shape, 2, 8, 2, false),
        0,
    };
    for (size_t i = 0; i < 7; i++) {
        dump_debug_event(&w, &(dump_debug){.name = "n",
                                           .chain = UINT64_MAX,
                                           .instruction = 3,
                                           .delegate_id = -1,
                                           .value = values[i]});
    }
    dump_allocation(&w, 2, (uint64_t)1 << 40);
    dump_run(&w, "Execute", 4);
    etp_etdump d;
    assert_int_equal(etp_etdump_open(dump_finish(&w, true), &d, NULL), ETP_OK);
    etp_etdump_run run = etp_etdump_run_at(&d, 0);
    assert_int_equal(run.bundled_input, 4);
    etp_etdump_debug e[7];
    for (size_t i = 0; i < 7; i++) {
        etp_etdump_profile p;
        assert_true(etp_etdump_debug_of(&d, etp_etdump_event_at(&run, i), &e[i]));
        assert_false(etp_etdump_profile_of(etp_etdump_event_at(&run, i), &p));
        assert_true(e[i].chain_index == UINT64_MAX);
    }
    assert_true(e[0].value.type == ETP_ETDUMP_INT && e[0].value.i == -7);
    assert_true(e[1].value.type == ETP_ETDUMP_BOOL && e[1].value.b && e[1].value.is_output);
    assert_true(e[2].value.type == ETP_ETDUMP_FLOAT && e[2].value.d == 1.5);
    assert_true(e[3].value.type == ETP_ETDUMP_DOUBLE && e[3].value.d == -0.25);
    assert_true(e[4].value.type == ETP_ETDUMP_TENSOR && e[4].value.is_output);
    assert_int_equal(etp_etdump_tensor_size(&e[4].value.tensor, 1), 3);
    assert_int_equal(e[4].value.tensor.buffer_offset, 64);
    assert_int_equal(e[5].value.n_tensors, 2);
    assert_int_equal(etp_etdump_value_tensor(&e[5].value, 1).scalar_type, 4);
    assert_false(e[6].has_value);
    assert_int_equal(e[6].value.type, ETP_ETDUMP_NULL);
    etp_etdump_allocation a;
    assert_true(etp_etdump_allocation_of(etp_etdump_event_at(&run, 7), &a));
    assert_true(a.allocator_id == 2 && a.size_bytes == (uint64_t)1 << 40);
}

// Little-endian sizes as they stand in a file.
static etp_etdump_tensor tensor_of(uint8_t buf[24], int8_t type, int64_t a, int64_t b, int64_t c,
                                   int64_t offset)
{
    const int64_t sizes[3] = {a, b, c};
    for (size_t i = 0; i < 24; i++) {
        buf[i] = (uint8_t)((uint64_t)sizes[i / 8] >> (8 * (i % 8)));
    }
    return (etp_etdump_tensor){type, 3, 0, offset, buf, NULL};
}

static void tensor_data_stays_inside_the_buffer(void **state)
{
    static const uint8_t k_data[100] = {0};
    const etp_bytes buffer = {k_data, sizeof k_data, 1000};
    static const struct {
        int8_t type;
        int64_t a, b, c, offset;
        etp_status status;
        size_t len;
    } k_cases[] = {
        {6,  1,                5,                5, 0,         ETP_OK,          100},
        {6,  1,                5,                5, 1,         ETP_CORRUPT,     0  },
        {0,  2,                3,                4, 76,        ETP_OK,          24 },
        {0,  2,                3,                4, 77,        ETP_CORRUPT,     0  },
        {0,  2,                3,                4, -1,        ETP_CORRUPT,     0  },
        {0,  2,                3,                4, INT64_MAX, ETP_CORRUPT,     0  },
        {7,  0,                3,                4, -1,        ETP_OK,          0  }, // empty: the offset says nothing
        {7,  INT64_MAX,        INT64_MAX,        0, -1,        ETP_OK,          0  },
        {7,  INT64_MAX,        2,                2, 0,         ETP_CORRUPT,     0  },
        {7,  (int64_t)1 << 32, (int64_t)1 << 32, 1, 0,         ETP_CORRUPT,     0  }, // product wraps to 0
        {7,  -1,               1,                1, 0,         ETP_CORRUPT,     0  },
        {18, 1,                1,                1, 0,         ETP_UNSUPPORTED, 0  },
        {-1, 1,                1,                1, 0,         ETP_UNSUPPORTED, 0  },
        {99, 1,                1,                1, 0,         ETP_UNSUPPORTED, 0  },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        uint8_t sizes[24];
        etp_etdump_tensor t = tensor_of(sizes, k_cases[i].type, k_cases[i].a, k_cases[i].b,
                                        k_cases[i].c, k_cases[i].offset);
        etp_bytes data;
        etp_error err = {0};
        etp_status status = etp_etdump_tensor_data(&t, buffer, &data, &err);
        if (status != k_cases[i].status || (status == ETP_OK && data.len != k_cases[i].len)) {
            fail_msg("case %zu: status %d", i, (int)status);
        }
    }
}

// ---- every length, every byte ----

// Everything a reader may do with a file that opened.
static void use_all(etp_bytes bytes, size_t *opened)
{
    etp_trace *t = NULL;
    etp_etdump dump;
    etp_error err = {0}, full_err = {0};
    etp_status status = etp_trace_open(bytes, NULL, &t, &err);
    // The shortcut for runs that repeat each other may not change what is refused, and why.
    etp_status full = etp_etdump_open(bytes, &dump, &full_err);
    if (full != ETP_OK) {
        assert_int_equal(status, full);
        assert_string_equal(err.msg, full_err.msg);
        assert_true(err.offset == full_err.offset);
    }
    if (status != ETP_OK) {
        assert_true(status == ETP_CORRUPT || status == ETP_UNSUPPORTED);
        assert_true(err.msg[0] != '\0');
        return;
    }
    check_equals_file(t);
    ++*opened;
    etp_arena arena = {0};
    etp_op_table ops;
    assert_int_equal(etp_ops_compute(t, &arena, &ops, &err), ETP_OK);
    assert_true(ops.execute_ns == ops.operators_ns + ops.remainder_ns);
    etp_inspector_table table;
    etp_strbuf text;
    etp_strbuf_init(&text, &arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_status built = etp_inspector_build(etp_trace_dump(t), &arena, &table, &err);
    if (built == ETP_OK) {
        etp_inspector_tsv(&table, &sink);
        etp_status json = etp_inspector_json(&table, NULL, &sink, &err);
        assert_true(json == ETP_OK || err.msg[0] != '\0');
        assert_int_equal(etp_inspector_columns_write(&table, NULL, &sink, &err), json);
    } else { // the Inspector takes no time that goes back beyond 32 bits
        assert_int_equal(built, ETP_CORRUPT);
        assert_true(etp_trace_damage_count(t) > 0);
        assert_non_null(strstr(err.msg, "before its start"));
    }
    etp_arena_dispose(&arena);
    etp_trace_close(t);
}

static void cut_and_flip(etp_bytes good)
{
    size_t opened = 0;
    for (size_t len = 0; len < good.len; len++) {
        uint8_t *p = malloc(len ? len : 1); // the sanitizer watches the end of this block
        assert_non_null(p);
        memcpy(p, good.ptr, len);
        use_all((etp_bytes){p, len, 0}, &opened);
        free(p);
    }
    assert_int_equal(opened, 0);
    uint8_t *p = malloc(good.len);
    assert_non_null(p);
    for (size_t at = 0; at < good.len; at++) {
        static const uint8_t k_masks[] = {0x01, 0x80, 0xff};
        for (size_t m = 0; m < sizeof k_masks; m++) {
            memcpy(p, good.ptr, good.len);
            p[at] ^= k_masks[m];
            use_all((etp_bytes){p, good.len, 0}, &opened);
        }
    }
    free(p);
    assert_true(opened > 0);
}

static void broken_recordings_are_errors(void **state)
{
    static const char *const k_files[] = {"linear_xnnpack_fp32.etdump",
                                          "mixed_xnnpack_fp32_load.etdump"};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/tests/data/%s", ETP_TEST_SOURCE_DIR, k_files[i]);
        etp_file file = {0};
        assert_int_equal(etp_file_open(path, 1 << 20, &file, NULL), ETP_OK);
        cut_and_flip(file.bytes);
        etp_file_close(&file);
    }
}

static void broken_debug_events_are_errors(void **state)
{
    static const int64_t k_shape[] = {2, 3};
    dump_writer w = dump_begin(*state);
    for (int run = 0; run < 2; run++) {
        dump_debug_event(&w, &(dump_debug){.instruction = 0,
                                           .delegate_id = -1,
                                           .value = dump_tensor(&w, 6, k_shape, 2, 0, false)});
        dump_debug_event(&w,
                         &(dump_debug){.instruction = 0,
                                       .delegate_id = -1,
                                       .value = dump_tensor_list(&w, 4, k_shape, 2, 64, 2, true)});
        dump_debug_event(&w, &(dump_debug){.instruction = 0,
                                           .delegate_str = "d",
                                           .delegate_id = -1,
                                           .value = dump_double(&w, 1, false)});
        dump_event(&w, &(dump_profile){
                           .name = "native_call_add.out", .delegate_id = -1, .start = 1, .end = 3});
        dump_event(&w, &(dump_profile){.name = "OPERATOR_CALL", .delegate_id = -1, .end = 5});
        dump_allocation(&w, 1, 2);
        dump_run(&w, "Execute", run);
    }
    cut_and_flip(dump_finish(&w, true));
}

// Several runs of two methods: most of them are recognised as repetitions.
static void broken_repetitions_are_errors(void **state)
{
    dump_writer w = dump_begin(*state);
    for (uint64_t i = 0; i < 3; i++) {
        dump_event(&w, &(dump_profile){.delegate_str = "Add (ND) #1",
                                       .delegate_id = -1,
                                       .start = i,
                                       .end = i + 9,
                                       .metadata = ""});
        dump_event(&w, &(dump_profile){.name = "DELEGATE_CALL", .delegate_id = -1, .end = i});
        dump_run(&w, "Execute", -1);
        dump_event(&w, &(dump_profile){.name = "native_call_add.out",
                                       .chain = 1,
                                       .instruction = 2,
                                       .delegate_id = -1,
                                       .end = 2 * i});
        dump_debug_event(
            &w,
            &(dump_debug){.instruction = 0, .delegate_id = -1, .value = dump_int(&w, 5, false)});
        dump_run(&w, "Execute", -1);
    }
    cut_and_flip(dump_finish(&w, true));
}

// An entry of the run list is made to lead to every place behind it: a tree there may look like one
// seen before for a while, and then the file ends.
static void runs_may_lead_anywhere(void **state)
{
    dump_writer w = dump_begin(*state);
    for (uint64_t i = 0; i < 4; i++) {
        dump_event(&w, &(dump_profile){.delegate_str = "Add (ND) #1",
                                       .delegate_id = -1,
                                       .start = i,
                                       .end = i + 9,
                                       .metadata = ""});
        dump_run(&w, "Execute", -1);
    }
    etp_bytes good = dump_finish(&w, true);
    etp_etdump d;
    assert_int_equal(etp_etdump_open(good, &d, NULL), ETP_OK);
    size_t opened = 0;
    for (size_t entry = 1; entry < 4; entry++) {
        size_t at = (size_t)(d.at_runs - good.ptr) + 4 * entry;
        for (size_t to = at + 4; to < good.len; to++) {
            uint8_t *p = malloc(good.len);
            assert_non_null(p);
            memcpy(p, good.ptr, good.len);
            for (size_t i = 0; i < 4; i++) {
                p[at + i] = (uint8_t)((to - at) >> (8 * i));
            }
            use_all((etp_bytes){p, good.len, 0}, &opened);
            free(p);
        }
    }
    assert_in_range(opened, 12, good.len); // each entry can lead to any of the four runs
}
