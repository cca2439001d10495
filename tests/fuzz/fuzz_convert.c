// SPDX-License-Identifier: Apache-2.0
// The writers of convert, on whatever recording can be read: what is meant as JSON is JSON.
#include <jansson.h>

#include "convert/slices.h"
#include "convert/stacks.h"
#include "fuzz.h"
#include "trace/ops.h"
#include <etprof/trace.h>

static etp_sink begin(etp_strbuf *buf, etp_arena *arena)
{
    etp_strbuf_init(buf, arena);
    return etp_sink_strbuf(buf);
}

static void check_json(const etp_strbuf *buf)
{
    json_error_t why;
    json_t *v = json_loadb(buf->ptr, buf->len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!v) {
        fprintf(stderr, "byte %d: %s\n", why.position, why.text);
    }
    FUZZ_CHECK(v != NULL);
    json_decref(v);
}

static void slices(const etp_trace *trace, const etp_op_table *table, etp_arena *arena)
{
    etp_slices s;
    etp_strbuf buf;
    etp_slice_op *ops = ETP_NEW_ARRAY(arena, etp_slice_op, table->n_rows);
    for (size_t i = 0; ops && i < table->n_rows; i++) {
        ops[i].category = "Other";
    }
    if (!ops || etp_slices_of_trace(trace, table, ops, ETP_STR("t"), arena, &s, NULL) != ETP_OK) {
        return;
    }
    etp_sink sink = begin(&buf, arena);
    if (etp_slices_chrome(&s, arena, &sink, NULL) == ETP_OK && !buf.failed) {
        check_json(&buf);
    }
}

static void stacks(const etp_trace *trace, const etp_op_table *table, etp_arena *arena)
{
    etp_stacks s;
    etp_strbuf buf;
    const char **categories = ETP_NEW_ARRAY(arena, const char *, table->n_rows);
    for (size_t i = 0; categories && i < table->n_rows; i++) {
        categories[i] = "Other";
    }
    if (!categories ||
        etp_stacks_of_trace(trace, table, categories, ETP_STR("t"), arena, &s, NULL) != ETP_OK) {
        return;
    }
    etp_sink sink = begin(&buf, arena);
    if (etp_stacks_speedscope(&s, arena, &sink, NULL) == ETP_OK && !buf.failed) {
        check_json(&buf);
    }
    sink = begin(&buf, arena);
    FUZZ_CHECK(etp_stacks_folded(&s, false, arena, &sink, NULL) != ETP_INTERNAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_trace *trace = NULL;
    etp_arena arena = {0};
    etp_op_table table;
    if (etp_trace_open((etp_bytes){data, size, 0}, NULL, &trace, NULL) == ETP_OK &&
        etp_ops_compute(trace, &arena, &table, NULL) == ETP_OK) {
        slices(trace, &table, &arena);
        stacks(trace, &table, &arena);
    }
    etp_trace_close(trace);
    etp_arena_dispose(&arena);
    return 0;
}
