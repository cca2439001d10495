// SPDX-License-Identifier: Apache-2.0
// Files that are kept compressed. The frames are written by hand after RFC 8878: magic number, a
// header with the size of the content, one block that is stored as it is or repeats a byte.
#include <string.h>

#include "unit.h"

#define FOLDER "packed-test"
#include "fixture.h"

#define MAGIC "\x28\xb5\x2f\xfd"
#define LIMIT ((uint64_t)1 << 32)
#define FRAME(bytes) {bytes, sizeof bytes - 1}

static etp_status open_bytes(fixture *f, etp_str bytes, uint64_t limit, etp_file *file,
                             etp_error *err)
{
    const char *path = in_dir(f, "file");
    assert_int_equal(etp_os_write_atomic(path, bytes, err), ETP_OK);
    return etp_file_open_unpacked(path, limit, file, err);
}

static void a_frame_gives_its_content_and_other_files_theirs(void **state)
{
    static const char k_stored[] = MAGIC "\x20\x05"     // one segment, five bytes
                                         "\x29\x00\x00" // last, stored, 5 << 3
                                         "hello";
    static const char k_repeated[] = MAGIC "\x20\x07"
                                           "\x3b\x00\x00" // last, repeated, 7 << 3
                                           "x";
    static const struct {
        etp_str bytes, content;
    } k_files[] = {
        {FRAME(k_stored),        {"hello", 5}          },
        {FRAME(k_repeated),      {"xxxxxxx", 7}        },
        {{"not compressed", 14}, {"not compressed", 14}},
        {{"", 0},                {"", 0}               },
        {{"\x28\xb5", 2},        {"\x28\xb5", 2}       },
    };
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        etp_file file;
        assert_int_equal(open_bytes(*state, k_files[i].bytes, LIMIT, &file, NULL), ETP_OK);
        assert_int_equal(file.bytes.len, k_files[i].content.len);
        assert_memory_equal(file.bytes.ptr, k_files[i].content.ptr, file.bytes.len);
        etp_file_close(&file);
    }
}

static void hostile_frames_are_refused_before_memory_is_taken(void **state)
{
    static const char k_bomb[] = MAGIC "\xa0\xff\xff\xff\x7f"
                                       "\xfb\xff\xff"
                                       "x";
    static const char k_sizeless[] = MAGIC "\x00\x00"
                                           "\x29\x00\x00"
                                           "hello";
    static const char k_short[] = MAGIC "\x20\x06"
                                        "\x29\x00\x00"
                                        "hello";
    static const char k_cut[] = MAGIC "\x20\x05"
                                      "\x29\x00\x00"
                                      "hel";
    static const struct {
        etp_str bytes;
        etp_status status;
        const char *says;
    } k_files[] = {
        {FRAME(k_bomb),     ETP_UNSUPPORTED, "too large unpacked"},
        {FRAME(k_sizeless), ETP_UNSUPPORTED, "does not say"      },
        {FRAME(k_short),    ETP_CORRUPT,     "cannot be unpacked"},
        {FRAME(k_cut),      ETP_CORRUPT,     "cannot be unpacked"},
        {{MAGIC, 4},        ETP_UNSUPPORTED, "does not say"      },
    };
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        etp_file file;
        etp_error err;
        assert_int_equal(open_bytes(*state, k_files[i].bytes, LIMIT, &file, &err),
                         k_files[i].status);
        assert_non_null(strstr(err.msg, k_files[i].says));
    }
    static const char k_fine[] = MAGIC "\x20\x05"
                                       "\x29\x00\x00"
                                       "hello";
    etp_file file;
    etp_error err;
    assert_int_equal(open_bytes(*state, (etp_str)FRAME(k_fine), 4, &file, &err), ETP_UNSUPPORTED);
}

static void what_is_packed_comes_back_and_a_changed_byte_is_seen(void **state)
{
    fixture *f = *state;
    size_t n = (size_t)1 << 18;
    char *content = etp_arena_alloc_raw(&f->arena, n, 1);
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) { // compressible, and not the same byte all along
        x = x * 1664525u + 1013904223u;
        content[i] = (char)(x >> 28);
    }
    etp_str packed;
    etp_file file;
    etp_error err;
    assert_int_equal(etp_os_pack((etp_str){content, n}, &f->arena, &packed, &err), ETP_OK);
    assert_true(packed.len < n * 2 / 3);
    assert_memory_equal(packed.ptr, MAGIC, 4);
    assert_int_equal(open_bytes(f, packed, LIMIT, &file, &err), ETP_OK);
    assert_int_equal(file.bytes.len, n);
    assert_memory_equal(file.bytes.ptr, content, n);
    etp_file_close(&file);

    char *changed = etp_arena_alloc_raw(&f->arena, packed.len, 1);
    memcpy(changed, packed.ptr, packed.len);
    changed[packed.len - 1] ^= 1; // of the checksum at its end
    assert_int_equal(open_bytes(f, (etp_str){changed, packed.len}, LIMIT, &file, &err),
                     ETP_CORRUPT);
}
