// SPDX-License-Identifier: Apache-2.0
// Which planned memory a method keeps from call to call, as the runner is told it.

#include "measure/decoder.h"
#include "unit.h"

#define DATA ETP_TEST_SOURCE_DIR "/tests/data/"

static void ranges(void **state)
{
    static const struct {
        const char *path, *method, *kept;
    } k_programs[] = {
        // expected.json: four of 8,192 bytes side by side, as ExecuTorch's Python reader has them.
        {DATA "llm/decoder_plain.pte",               NULL,   "1:169984:32768"},
        // The same caches (2 layers, keys and values, 64 places of 32 floats), and views that are
        // read first.
        {DATA "llm/decoder_portable.pte",            NULL,   "1:137728:32768"},
        {DATA "precision/branches_xnnpack_fp32.pte", NULL,   ""              }, // a view, and no buffer
        {DATA "llm/attention.pte",                   "open", ""              },
        {DATA "linear_xnnpack_fp32.pte",             NULL,   ""              },
        {DATA "linear_xnnpack_fp32.pte",             "none", ""              },
        {DATA "no_such_program.pte",                 NULL,   ""              },
    };
    etp_arena arena;
    etp_arena_init(&arena, NULL);
    for (size_t i = 0; i < sizeof k_programs / sizeof *k_programs; i++) {
        const char *kept = NULL;
        assert_int_equal(
            etp_method_kept(k_programs[i].path, k_programs[i].method, &arena, &kept, NULL), ETP_OK);
        assert_string_equal(kept, k_programs[i].kept);
    }
    etp_arena_dispose(&arena);
}
