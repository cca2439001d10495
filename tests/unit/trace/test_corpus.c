// SPDX-License-Identifier: Apache-2.0
// What has to hold for every real dump: nothing lost in grouping, every execution's exclusive times
// add up to its Method::execute, totals close.
#include <stdio.h>

#include "unit.h"
#include <etprof/etdump.h>

#include "corpus.h"
#include "trace/ops.h"
#include "trace_check.h"

// Walks up from every event, so that the tree is used in the other direction than by the library.
static size_t check_closure(const etp_trace *t, const char *path)
{
    size_t executions = 0;
    for (size_t b = 0; b < etp_trace_block_count(t); b++) {
        const etp_trace_block *block = etp_trace_block_at(t, b);
        for (size_t r = 0; block->has_execute && r < block->n_runs; r++) {
            int64_t sum = 0;
            for (uint32_t e = 0; e < block->n_events; e++) {
                uint32_t top = e;
                while (block->events[top].parent != ETP_NO_INDEX) {
                    assert_true(block->events[top].parent > top);
                    top = block->events[top].parent;
                }
                sum += top == block->execute ? etp_trace_exclusive_ns(block, e, r) : 0;
            }
            if (sum != (int64_t)etp_trace_durations(block, block->execute)[r]) {
                fail_msg("%s: block %zu, execution %zu does not close", path, b, r);
            }
            executions++;
        }
    }
    return executions;
}

static void check_dump(const char *path, size_t *events, size_t *executions)
{
    etp_file file;
    etp_trace *t;
    open_dump(path, &file, &t);
    *events += check_equals_file(t);
    size_t n = check_closure(t, path);
    etp_arena arena = {0};
    etp_op_table ops;
    assert_int_equal(etp_ops_compute(t, &arena, &ops, NULL), ETP_OK);
    assert_int_equal(ops.executions, n);
    assert_true(ops.execute_ns == ops.operators_ns + ops.remainder_ns);
    assert_in_range(ops.delegated_ns, 0, ops.operators_ns);
    *executions += n;
    etp_arena_dispose(&arena);
    etp_trace_close(t);
    etp_file_close(&file);
}

static void check_folder(const char *dir, size_t at_least)
{
    etp_arena arena = {0};
    etp_dir_list list = {0};
    size_t dumps = 0, events = 0, executions = 0;
    assert_int_equal(etp_os_list(dir, &arena, &list, NULL), ETP_OK);
    for (size_t i = 0; i < list.n; i++) {
        if (etp_str_ends(etp_str_from(list.items[i].name), ETP_STR(".etdump"))) {
            check_dump(etp_arena_printf(&arena, "%s/%s", dir, list.items[i].name), &events,
                       &executions);
            dumps++;
        }
    }
    print_message("%zu dumps, %zu events, %zu executions closed\n", dumps, events, executions);
    assert_true(dumps >= at_least);
    etp_arena_dispose(&arena);
}

static void fixtures_close(void **state)
{
    check_folder(ETP_TEST_SOURCE_DIR "/tests/data", 4);
}

static void corpus_closes(void **state)
{
    if (!corpus_dir()) {
        print_message("skipped: no reference corpus (set ETPROF_CORPUS)\n");
        skip();
    }
    char dir[1024];
    snprintf(dir, sizeof dir, "%s/dumps", corpus_dir());
    check_folder(dir, 80);
}

#define RESULT corpus_result // where no corpus is, the test is skipped
