// SPDX-License-Identifier: Apache-2.0
// What a runner says that it has sampled is bounded, and the reason says by what.
#include "measure/sampled.h"
#include "unit.h"

#define ROOT "sampled-test"
#define DUMP "tests/data/linear_xnnpack_fp32.etdump"
#define MOST ((size_t)1 << 20) // of a launch

static etp_status keep(const char *raw, etp_arena *arena, etp_error *err)
{
    static const etp_device k_device = {.bundle.dir = ROOT};
    static const etp_settings k_settings = {0};
    const etp_launch_outcome o = {0};
    etp_sampled_libraries libraries = {0};
    const etp_sampled_files files = {.raw = raw,
                                     .dump = ETP_TEST_SOURCE_DIR "/" DUMP,
                                     .dir = ROOT,
                                     .samples = "P.samples",
                                     .code = "P.code",
                                     .settings = &k_settings};
    etp_status st = etp_sampled_keep(&k_device, &libraries, &o, &files, arena, err);
    etp_sampled_close(&libraries);
    return st;
}

// ROWS samples outside any library, one a nanosecond.
static const char *write_raw(size_t rows, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_strbuf_appendz(&text, "time_ns,thread,module,address,symbol,streaming\n");
    for (size_t i = 0; i < rows; i++) {
        etp_strbuf_printf(&text, "%zu,1,,,,\n", i);
    }
    const char *path = ROOT "/raw";
    assert_int_equal(etp_os_mkdirs(ROOT, NULL), ETP_OK);
    assert_int_equal(etp_os_write_atomic(path, etp_strbuf_str(&text), NULL), ETP_OK);
    return path;
}

static void too_many_samples_are_no_want_of_memory(void **state)
{
    etp_arena *arena = *state;
    static const size_t k_rows[] = {2, MOST + 1};
    for (size_t i = 0; i < 2; i++) {
        etp_error err = {.offset = ETP_NO_OFFSET};
        etp_status st = keep(write_raw(k_rows[i], arena), arena, &err);
        assert_int_equal(st, i == 0 ? ETP_OK : ETP_CORRUPT);
        assert_true(i == 0 || strstr(err.msg, "more than 1048576 samples") != NULL);
        assert_false(arena->failed);
        assert_int_equal(etp_os_remove_tree(ROOT, NULL), ETP_OK);
    }
}
