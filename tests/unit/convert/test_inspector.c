// SPDX-License-Identifier: Apache-2.0
// Inspector's tables of what no recording at hand has; expected values worked out from Inspector's
// rules. Recordings, byte for byte against ExecuTorch's own Inspector: check_inspector_rows.py.
#include <stdio.h>

#include "convert/inspector.h"
#include "etdump_writer.h"
#include "unit.h"

static etp_str tsv_of(etp_bytes bytes, etp_arena *arena)
{
    etp_etdump dump;
    etp_inspector_table table;
    etp_error err = {0};
    if (etp_etdump_open(bytes, &dump, &err) != ETP_OK ||
        etp_inspector_build(&dump, arena, &table, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_inspector_tsv(&table, &sink);
    assert_false(sink.failed);
    return etp_strbuf_str(&text);
}

static const char k_header[] =
    "\tevent_block_name\tevent_name\tp10 (ms)\tp50 (ms)\tp90 (ms)\tavg (ms)\tmin (ms)\tmax (ms)"
    "\top_types\tis_delegated_op\tdelegate_backend_name\tstart_time\n";

static void expect_tsv(dump_writer *w, etp_arena *arena, const char *rows)
{
    etp_str got = tsv_of(dump_finish(w, true), arena);
    char want[4096];
    snprintf(want, sizeof want, "%s%s", k_header, rows);
    if (!etp_str_eqz(got, want)) {
        fail_msg("%.*s\nexpected\n%s", ETP_STR_ARG(got), want);
    }
}

static void kernel(dump_writer *w, const char *name, int32_t chain, int32_t instruction,
                   uint64_t start, uint64_t end)
{
    dump_event(w, &(dump_profile){.name = name,
                                  .chain = chain,
                                  .instruction = instruction,
                                  .delegate_id = -1,
                                  .start = start,
                                  .end = end});
}

static void the_last_of_equal_events_wins(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    kernel(&w, "native_call_add.out", 0, 3, 0, 1000000);
    kernel(&w, "native_call_mul.out", 0, 4, 0, 5000000);
    kernel(&w, "native_call_add.out", 0, 3, 0, 2000000); // a second round of a loop
    kernel(&w, "native_call_mul.out", 1, 4, 0, 7000000); // another chain
    dump_run(&w, "Execute", -1);
    expect_tsv(&w, arena,
               "0\tExecute\tnative_call_add.out\t2.0\t2.0\t2.0\t2.0\t2.0\t2.0\t[]\tFalse\t\t[0]\n"
               "1\tExecute\tnative_call_mul.out\t7.0\t7.0\t7.0\t7.0\t7.0\t7.0\t[]\tFalse\t\t[0]\n");
}

static void blocks_appear_in_file_order(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    for (uint64_t i = 0; i < 2; i++) {
        kernel(&w, "a", 0, 0, i, i + 1000000);
        dump_run(&w, "Execute", -1);
        kernel(&w, "b", 0, 0, i, i + 3000000);
        dump_run(&w, "Execute", -1);
    }
    kernel(&w, "xOPERATOR_CALLx", 0, 0, 0, 1); // hidden rows do not count
    kernel(&w, "c", 0, 0, 0, 123456789000000000);
    dump_run(&w, "Execute", -1);
    expect_tsv(&w, arena,
               "0\tExecute\ta\t1.0\t1.0\t1.0\t1.0\t1.0\t1.0\t[]\tFalse\t\t[0, 1]\n"
               "1\tExecute\tb\t3.0\t3.0\t3.0\t3.0\t3.0\t3.0\t[]\tFalse\t\t[0, 1]\n"
               "2\tExecute\tc\t123456789000.0\t123456789000.0\t123456789000.0\t123456789000.0"
               "\t123456789000.0\t123456789000.0\t[]\tFalse\t\t[0]\n");
}

// numpy.percentile and numpy.mean of 0.1, 0.2 … 0.9 ms, and the shortest digits of the results.
static void arithmetic_is_numpys(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    for (uint64_t i = 1; i <= 9; i++) {
        kernel(&w, "a", 0, 0, 0, i * 100000);
        dump_run(&w, "Execute", -1);
    }
    expect_tsv(&w, arena,
               "0\tExecute\ta\t0.18000000000000002\t0.5\t0.8200000000000001\t0.5\t0.1\t0.9\t[]"
               "\tFalse\t\t[0, 0, 0, 0, 0, 0, 0, 0, 0]\n");
}

// 300 samples of (i × 7919² mod 1000003) ns: enough for numpy's sum to split, and the digits tell
// how it does. Values by numpy.
static void sums_are_split_as_numpy_does(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    for (uint64_t i = 0; i < 300; i++) {
        kernel(&w, "a", 0, 0, 0, i * 7919 * 7919 % 1000003);
        dump_run(&w, "Execute", -1);
    }
    etp_str tsv = tsv_of(dump_finish(&w, true), arena);
    static const char k_want[] = "\ta\t0.1015574\t0.499119\t0.9007466000000002\t0.5007454\t0.0"
                                 "\t0.998238\t[]";
    if (etp_str_find(tsv, ETP_STR(k_want)) == tsv.len) {
        fail_msg("%.*s", 400, tsv.ptr);
    }
}

// Inspector's rule for a wrapped counter is one tick short, and takes place after the division by
// 1e6 for what a delegate did: 4294967295 ms too much.
static void wrapped_counters_are_misread_alike(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    kernel(&w, "a", 0, 0, 4294967286, 5);
    dump_event(
        &w, &(dump_profile){.delegate_str = "b", .delegate_id = -1, .start = 4294967286, .end = 5});
    dump_run(&w, "Execute", -1);
    expect_tsv(&w, arena,
               "0\tExecute\ta\t1.4e-05\t1.4e-05\t1.4e-05\t1.4e-05\t1.4e-05\t1.4e-05\t[]\tFalse\t\t"
               "[4294967286]\n"
               "1\tExecute\tb\t4294963000.0327187\t4294963000.0327187\t4294963000.0327187"
               "\t4294963000.0327187\t4294963000.0327187\t4294963000.0327187\t[]\tTrue\t\t"
               "[4294967286]\n");
}

static void what_inspector_fails_on_is_left_out(void **state)
{
    etp_arena *arena = *state;
    dump_writer w = dump_begin(arena);
    dump_run_without_events(&w, "Execute");
    dump_run(&w, "Execute", -1);
    expect_tsv(&w, arena, "");
    w = dump_begin(arena);
    dump_allocation(&w, 1, 10);
    kernel(&w, "a", 0, 0, 0, 1000);
    dump_run(&w, "Execute", -1);
    expect_tsv(&w, arena,
               "0\tExecute\ta\t0.001\t0.001\t0.001\t0.001\t0.001\t0.001\t[]\tFalse\t\t"
               "[0]\n");
}
