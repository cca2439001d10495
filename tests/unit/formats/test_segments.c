// SPDX-License-Identifier: Apache-2.0
// Segments of a .pte and a .ptd against what their headers say of them. The files are fixtures of
// which flatc says (the .json.gz beside each) where the last segment ends; the exporter writes the
// same number as segment_data_size.
#include "golden.h"
#include "unit.h"

#include <etprof/flat_tensor.h>
#include <etprof/pte.h>

static const char k_data[] = ETP_TEST_SOURCE_DIR "/tests/data/";

// A copy of a fixture whose header says SIZE, with MORE bytes behind its end.
static etp_bytes with_size(const char *name, size_t at, uint64_t size, size_t more,
                           etp_arena *arena)
{
    etp_file file;
    golden_open(etp_arena_printf(arena, "%s%s", k_data, name), &file);
    uint8_t *copy = etp_arena_alloc(arena, file.bytes.len + more);
    assert_non_null(copy);
    memcpy(copy, file.bytes.ptr, file.bytes.len);
    memcpy(copy + at, &size, sizeof size);
    etp_bytes out = {copy, file.bytes.len + more, 0};
    etp_file_close(&file);
    return out;
}

enum { PTD_SIZE_AT = 8 + 32, PTD_ENDS = 140 }; // linear_external.ptd: 128 + 12
enum { PTE_SIZE_AT = 8 + 24, PTE_ENDS = 908 }; // linear_xnnpack_fp32.pte

static void says(const etp_error *err, const char *text)
{
    if (!strstr(err->msg, text)) {
        fail_msg("\"%s\" does not say \"%s\"", err->msg, text);
    }
    assert_true(err->offset != ETP_NO_OFFSET);
}

static etp_status read_ptd(uint64_t size, size_t more, etp_error *err)
{
    etp_arena arena = {0};
    etp_flat_tensor ptd;
    etp_status status = etp_flat_tensor_read(
        with_size("linear_external.ptd", PTD_SIZE_AT, size, more, &arena), &arena, &ptd, err);
    etp_arena_dispose(&arena);
    return status;
}

static etp_status read_pte(uint64_t size, size_t more, etp_error *err)
{
    etp_arena arena = {0};
    etp_pte pte;
    etp_status status = etp_pte_read(
        with_size("linear_xnnpack_fp32.pte", PTE_SIZE_AT, size, more, &arena), &arena, &pte, err);
    etp_arena_dispose(&arena);
    return status;
}

static void data_files_keep_to_their_header(void **state)
{
    etp_error err = {0};
    assert_int_equal(read_ptd(PTD_ENDS, 0, &err), ETP_OK);
    assert_int_equal(read_ptd(PTD_ENDS, 1000, &err), ETP_OK); // something was appended
    // Segments that lie in the file, but beyond what is said to be segments.
    assert_int_equal(read_ptd(PTD_ENDS - 1, 0, &err), ETP_CORRUPT);
    says(&err, "segment 1 (offset 128, 12 bytes)");
    says(&err, "139 bytes of segments");
    assert_int_equal(read_ptd(PTD_ENDS - 1, 1000, &err), ETP_CORRUPT);
    assert_int_equal(read_ptd(0, 0, &err), ETP_CORRUPT);
    says(&err, "segment 0 (offset 0, 48 bytes)");
    // Beyond the file, header and segments agreeing or not.
    assert_int_equal(read_ptd(PTD_ENDS + 1, 0, &err), ETP_CORRUPT);
    says(&err, "the file is cut off");
}

static void programs_keep_to_their_header(void **state)
{
    etp_error err = {0};
    assert_int_equal(read_pte(PTE_ENDS, 0, &err), ETP_OK);
    assert_int_equal(read_pte(PTE_ENDS, 1000, &err), ETP_OK);
    assert_int_equal(read_pte(PTE_ENDS - 1, 0, &err), ETP_CORRUPT);
    says(&err, "907 bytes of segments");
    assert_int_equal(read_pte(PTE_ENDS - 1, 1000, &err), ETP_CORRUPT);
    assert_int_equal(read_pte(PTE_ENDS + 1, 0, &err), ETP_CORRUPT);
    says(&err, "the file is cut off");
    // ExecuTorch takes 0 for "does not say": the size is younger than the header.
    assert_int_equal(read_pte(0, 0, &err), ETP_OK);
}
