// SPDX-License-Identifier: Apache-2.0
// What the bytes of a program are, where its tables are shared: parts add up to the file's size.
#include "../flatbuf/builder.h"
#include "formats/pte_schema.h"
#include "inspect/inspect.h"
#include "unit.h"

// A program whose only content is a blob of LEN bytes inside its tables, listed TIMES times.
static etp_bytes program(etp_arena *arena, size_t len, size_t times)
{
    etp_fbb b;
    etp_fbb_ref refs[4];
    etp_fbb_init(&b, arena);
    etp_fbb_ref data = etp_fbb_vec(&b, etp_arena_alloc_array(arena, len, 1), len, 1, 16);
    etp_fbb_begin(&b);
    etp_fbb_add_ref(&b, 0, data);
    etp_fbb_ref blob = etp_fbb_end(&b);
    for (size_t i = 0; i < times; i++) {
        refs[i] = blob;
    }
    etp_fbb_ref list = etp_fbb_vec_refs(&b, refs, times);
    etp_fbb_begin(&b);
    etp_fbb_add_ref(&b, PROGRAM_INLINE_DATA, list);
    return etp_fbb_finish(&b, etp_fbb_end(&b), "ET12", false);
}

static void parts_add_up(void **state)
{
    etp_arena *arena = *state;
    for (size_t times = 1; times <= 4; times++) {
        etp_inspect in;
        etp_error err = {0};
        etp_bytes file = program(arena, 1000, times);
        uint64_t sum = 0;
        ASSERT_OK(etp_inspect_open("m.pte", file, (etp_bytes){0}, arena, &in, &err), err);
        for (size_t i = 0; i < in.n_parts; i++) {
            assert_true(in.parts[i].bytes <= file.len);
            sum += in.parts[i].bytes;
        }
        assert_int_equal(sum, file.len);
        assert_int_equal(in.parts[1].count, times);
        etp_inspect_close(&in);
    }
}
