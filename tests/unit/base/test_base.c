// SPDX-License-Identifier: Apache-2.0
// Tests of the base room: arithmetic of views, arena under memory shortage, numbers, JSON, CSV,
// SHA-256.
#include <math.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/json.h"
#include "base/number.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/sha256_blocks.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "memory.h"
#include "unit.h"

static void bytes_sub_refuses_wrapping_ranges(void **state)
{
    uint8_t data[16] = {0};
    etp_bytes b = {data, sizeof data, 100}, out;
    etp_error err;
    assert_int_equal(etp_bytes_sub(b, 4, 12, "part", &out, &err), ETP_OK);
    assert_int_equal(out.base, 104);
    assert_int_equal(etp_bytes_sub(b, 4, 13, "part", &out, &err), ETP_CORRUPT);
    assert_int_equal(err.offset, 104);
    assert_string_equal(err.msg, "part needs 13 bytes, 12 left");
    assert_int_equal(etp_bytes_sub(b, 8, UINT64_MAX - 4, "part", &out, &err), ETP_CORRUPT);
    assert_int_equal(etp_bytes_sub(b, 17, 0, "part", &out, &err), ETP_CORRUPT);
}

static void errors_gather_context(void **state)
{
    etp_error err;
    etp_status st = etp_fail_at(&err, ETP_CORRUPT, 7, "vector of %d", 3);
    assert_int_equal(st, ETP_CORRUPT);
    assert_int_equal(etp_fail_ctx(&err, "block %d", 2), ETP_CORRUPT);
    assert_string_equal(err.msg, "block 2: vector of 3");
    assert_int_equal(err.offset, 7);
    assert_int_equal(etp_status_exit_code(ETP_CORRUPT), 4);
    assert_int_equal(etp_status_exit_code(ETP_DEVICE), 5);
    assert_int_equal(etp_fail(NULL, ETP_IO, "x"), ETP_IO);
}

static void arena_reports_shortage_and_frees_all(void **state)
{
    for (int allowed = 0; allowed < 6; allowed++) {
        memory m = {.left = allowed};
        etp_allocator alloc = {limited, &m};
        etp_arena arena;
        etp_arena_init(&arena, &alloc);
        struct {
            int *items;
            size_t n, cap;
        } v = {0};
        bool ok = true;
        for (int i = 0; ok && i < 20000; i++) {
            ok = ETP_PUSH(&arena, &v, i);
        }
        assert_true(ok == (v.n == 20000));
        for (size_t i = 0; i < v.n; i++) {
            assert_int_equal(v.items[i], i);
        }
        assert_null(etp_arena_alloc_array(&arena, SIZE_MAX / 2, 4));
        etp_arena_dispose(&arena);
        etp_arena_dispose(&arena);
    }
}

// One refusal, then memory enough: what was made before is whole, and nothing is made afterwards.
static void arena_remembers_shortage(void **state)
{
    memory m = {.left = 1};
    etp_allocator alloc = {limited, &m};
    etp_arena arena;
    etp_arena_init(&arena, &alloc);
    char *text = etp_arena_printf(&arena, "%d", 42);
    assert_int_equal(etp_arena_check(&arena, NULL, "text"), ETP_OK);
    assert_null(etp_arena_alloc(&arena, 100000));
    m.left = 100;
    assert_null(etp_arena_alloc(&arena, 1)); // there is room left in the first block
    assert_null(etp_arena_alloc_raw(&arena, 1, 1));
    assert_null(etp_arena_strdup(&arena, ETP_STR("x")));
    assert_null(etp_arena_printf(&arena, "x"));
    struct {
        int *items;
        size_t n, cap;
    } v = {0};
    ETP_ADD(&arena, &v, 1);
    bool pushed = ETP_PUSH(&arena, &v, 1);
    assert_false(pushed);
    assert_int_equal(v.n, 0);
    etp_strbuf buf;
    etp_strbuf_init(&buf, &arena);
    etp_strbuf_printf(&buf, "%s", "x");
    assert_true(buf.failed);
    assert_string_equal(etp_strbuf_str(&buf).ptr, "");
    assert_int_equal(m.left, 100); // nobody was asked
    etp_error err;
    assert_int_equal(etp_arena_check(&arena, &err, "the list"), ETP_NOMEM);
    assert_string_equal(err.msg, "out of memory (the list)");
    assert_string_equal(text, "42");
    etp_arena_dispose(&arena);
    assert_int_equal(etp_arena_check(&arena, NULL, "text"), ETP_OK);
    assert_non_null(etp_arena_alloc(&arena, 1));
    etp_arena_dispose(&arena);
    assert_null(etp_arena_alloc_array(&arena, SIZE_MAX / 2, 4)); // a size that wraps is the same
    assert_int_equal(etp_arena_check(&arena, NULL, "text"), ETP_NOMEM);
}

static void numbers_parse_strictly(void **state)
{
    uint64_t u = 0;
    int64_t i = 0;
    double d = 0;
    assert_true(etp_parse_u64(ETP_STR("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_true(etp_parse_u64(ETP_STR("0xff"), &u) && u == 255);
    assert_false(etp_parse_u64(ETP_STR("18446744073709551616"), &u));
    assert_false(etp_parse_u64(ETP_STR(" 1"), &u));
    assert_false(etp_parse_u64(ETP_STR("1 "), &u));
    assert_false(etp_parse_u64(ETP_STR("-1"), &u));
    assert_false(etp_parse_u64(ETP_STR(""), &u));
    uint8_t bytes[4] = {0};
    assert_true(etp_parse_hex(ETP_STR("00ff9a"), bytes));
    assert_memory_equal(bytes, ((const uint8_t[]){0x00, 0xff, 0x9a, 0}), 4);
    assert_true(etp_parse_hex(ETP_STR(""), bytes));
    static const char *const k_no_hex[] = {"0", "00f", "0g", "g0", "Ff", "fF", "0x", " 0", "0:"};
    for (size_t k = 0; k < sizeof k_no_hex / sizeof *k_no_hex; k++) {
        assert_false(etp_parse_hex(etp_str_from(k_no_hex[k]), bytes));
    }
    assert_true(etp_parse_i64(ETP_STR("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_false(etp_parse_i64(ETP_STR("9223372036854775808"), &i));
    assert_true(etp_parse_double(ETP_STR("1.5e3"), &d) && d == 1500.0);
    assert_false(etp_parse_double(ETP_STR("nan"), &d));
    assert_false(etp_parse_double(ETP_STR("0x10"), &d));
    assert_false(etp_parse_double(ETP_STR("1e999"), &d));
    char buf[ETP_NUMBER_CHARS];
    assert_string_equal(etp_format_double(0.1, buf), "0.1");
    assert_string_equal(etp_format_double(3.9, buf), "3.9");
    assert_string_equal(etp_format_double(1.0 / 3.0, buf), "0.3333333333333333");
    // Whole numbers and thousandths go a way of their own; these are at its ends and beside it.
    static const struct {
        double v;
        const char *text;
    } k_doubles[] = {
        {0,                 "0"                    },
        {-0.0,              "-0"                   },
        {0.001,             "0.001"                },
        {0.0005,            "0.0005"               },
        {-1.5,              "-1.5"                 },
        {1.05,              "1.05"                 },
        {100,               "100"                  },
        {0.1 + 0.2,         "0.30000000000000004"  },
        {1234567.125,       "1234567.125"          },
        {3999999999999.999, "3999999999999.999"    },
        {8999999999999.998, "8999999999999.998"    },
        {1e15,              "1e+15"                },
        {5e-324,            "4.94065645841247e-324"}
    };
    for (size_t n = 0; n < sizeof k_doubles / sizeof *k_doubles; n++) {
        assert_string_equal(etp_format_double(k_doubles[n].v, buf), k_doubles[n].text);
    }
    for (uint64_t k = 1; k < 9000000000000000; k += k / 7 + 1) { // as printf says it
        char plain[ETP_NUMBER_CHARS];
        double v = (double)k / 1000;
        for (int digits = 15; digits <= 17; digits++) {
            (void)snprintf(plain, sizeof plain, "%.*g", digits, v);
            if (strtod(plain, NULL) == v) {
                break;
            }
        }
        assert_string_equal(etp_format_double(v, buf), plain);
    }
    assert_string_equal(etp_format_u64(UINT64_MAX, buf).ptr, "18446744073709551615");
    assert_string_equal(etp_format_u64(0, buf).ptr, "0");
    assert_string_equal(etp_format_i64(INT64_MIN, buf).ptr, "-9223372036854775808");
    assert_string_equal(etp_format_i64(-7, buf).ptr, "-7");
    assert_string_equal(etp_format_ratio(3.9034567, buf), "3.90346");
    assert_string_equal(etp_format_ns(1234567, buf), "1.235 ms");
    assert_string_equal(etp_format_ns(-43210, buf), "−43.21 µs");
    assert_string_equal(etp_format_ns(999, buf), "999 ns");
    assert_string_equal(etp_format_ns(-999, buf), "−999 ns");
    assert_string_equal(etp_format_change(1.25, 1, buf), "+1.2"); // ties to even, as printf
    assert_string_equal(etp_format_change(-0.64, 2, buf), "−0.64");
    assert_string_equal(etp_format_change(-0.004, 2, buf), "0.00"); // no sign of nothing
    assert_string_equal(etp_format_change(-1e300, 0, buf), "−1000000000000000");
    assert_string_equal(etp_format_bytes(10171296, buf), "10.2 MB");
}

static void intervals_that_tell(void **state)
{
    assert_true(etp_common_unit(318e3, 4.7e6, 1e6) == 1e6);      // 0.318 and 4.700 ms
    assert_true(etp_common_unit(20e6, 2.5e9, 1e9) == 1e6);       // 20.00 and 2500.0 ms, not 0.020 s
    assert_true(etp_common_unit(99e3, 4.7e6, 1e6) == 1e3);       // 99.00 and 4700.0 µs
    assert_true(etp_common_unit(30e3, 12e6, 1e6) == 0);          // 12000.0 µs is hard to read
    assert_true(etp_common_unit((double)INFINITY, 0, 1e3) == 0); // of no time
    assert_true(etp_interval_tells(0.02, 99) && etp_interval_tells(1.71, 1.76));
    assert_false(etp_interval_tells(0.9, 101) || etp_interval_tells(0.005, 1.1));
    assert_false(etp_interval_tells((double)NAN, (double)NAN));
    assert_string_equal(ETP_INTERVAL(1.704, 1.746, 2), "[1.70, 1.75]");
    assert_string_equal(ETP_ESTIMATE(1.72, 1.704, 1.746, 3), "1.720× [1.704, 1.746]");
    assert_string_equal(ETP_ESTIMATE(1e38, 1e37, 1e38, 0), // as of ratios of 64-bit counts
                        "99999999999999997748809823456034029568× "
                        "[9999999999999999538762658202121142272, "
                        "99999999999999997748809823456034029568]");
}

static void digits_have_no_exponent(void **state)
{
    char buf[ETP_NUMBER_CHARS];
    assert_string_equal(etp_format_digits(2.2891, 4, buf), "2.289");
    assert_string_equal(etp_format_digits(1.30, 4, buf), "1.3"); // as %g, no zeros at the end
    assert_string_equal(etp_format_digits(9.9996, 4, buf), "10");
    assert_string_equal(etp_format_digits(102.4, 2, buf), "102"); // where %g has 1e+02
    assert_string_equal(etp_format_digits(1234567.8, 3, buf), "1234568");
    assert_string_equal(etp_format_digits(0.0000312, 2, buf), "0.000031");
    assert_string_equal(etp_format_digits(-0.25, 3, buf), "−0.25");
    assert_string_equal(etp_format_digits(0, 3, buf), "0");
    assert_string_equal(etp_format_digits(1e-12, 3, buf), "< 0.000000001");
    assert_string_equal(etp_format_digits(1e300, 3, buf), "> 999999999999999");
    assert_string_equal(etp_format_digits(-1e14, 3, buf), "−100000000000000");
    assert_string_equal(etp_format_digits((double)NAN, 3, buf), "unknown");
}

static void json_escapes_and_nests(void **state)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, *state);
    etp_sink sink = etp_sink_strbuf(&buf);
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    etp_json_kv_str(&j, "a\"b", (etp_str){"\x01<b>\\\xFF\n\xC2\x9B\xC2\xA0\xF3\xA0\x81\x81", 15});
    etp_json_kv_u64(&j, "u", UINT64_MAX);
    etp_json_kv_double(&j, "nan", NAN);
    etp_json_key(&j, "v");
    etp_json_begin_array(&j);
    etp_json_i64(&j, -1);
    etp_json_bool(&j, true);
    etp_json_ratio(&j, 2.0 / 3.0);
    etp_json_begin_object(&j);
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    assert_false(sink.failed);
    assert_string_equal(
        buf.ptr, "{\"a\\\"b\":\"\\u0001<b>\\\\\xEF\xBF\xBD\\n\\u009b\xC2\xA0\\udb40\\udc41\",\"u\":"
                 "18446744073709551615,"
                 "\"nan\":null,\"v\":[-1,true,0.666667,{}]}\n");
}

static void json_writes_the_unknown_as_null(void **state)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, *state);
    etp_sink sink = etp_sink_strbuf(&buf);
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    for (int known = 1; known >= 0; known--) {
        etp_json_key(&j, known ? "u" : "u?");
        if (known) {
            etp_json_u64(&j, UINT64_MAX);
        } else {
            etp_json_null(&j);
        }
        etp_json_kv_i64_if(&j, known ? "i" : "i?", INT64_MIN, known);
        etp_json_kv_double(&j, known ? "d" : "d?", etp_value_if(known, 0.5));
        etp_json_kv_bool_if(&j, known ? "b" : "b?", false, known);
    }
    etp_json_key(&j, "r");
    etp_json_rounded(&j, -2.5);
    etp_json_key(&j, "nan");
    etp_json_rounded(&j, NAN);
    etp_json_key(&j, "large");
    etp_json_rounded(&j, 1e19);
    etp_json_end(&j);
    etp_json_end_document(&j);
    assert_string_equal(buf.ptr, "{\"u\":18446744073709551615,\"i\":-9223372036854775808,\"d\":0.5,"
                                 "\"b\":false,\"u?\":null,\"i?\":null,\"d?\":null,\"b?\":null,"
                                 "\"r\":-3,\"nan\":null,\"large\":null}\n");
}

static void csv_reads_what_it_writes(void **state)
{
    static const char *const k_cells[] = {"plain", "with,comma", "with \"quote\"", "two\nlines",
                                          ""};
    etp_arena *arena = *state;
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    for (int row = 0; row < 2; row++) {
        for (size_t i = 0; i < 5; i++) {
            etp_sink_z(&sink, i ? "," : "");
            etp_csv_cell(&sink, etp_str_from(k_cells[i]), ',');
        }
        etp_sink_z(&sink, row ? "" : "\r\n\n");
    }
    etp_csv_reader r;
    etp_csv_open(&r, etp_strbuf_str(&buf), arena);
    etp_csv_row row = {0};
    bool more = false;
    etp_error err;
    for (int n = 0; n < 2; n++) {
        assert_int_equal(etp_csv_next(&r, &row, &more, &err), ETP_OK);
        assert_true(more);
        assert_int_equal(row.n, 5);
        for (size_t i = 0; i < 5; i++) {
            assert_true(etp_str_eqz(row.cells[i], k_cells[i]));
        }
    }
    assert_int_equal(row.line, 4);
    assert_int_equal(etp_csv_next(&r, &row, &more, &err), ETP_OK);
    assert_false(more);
    etp_csv_open(&r, ETP_STR("a,\"b\nc"), arena);
    assert_int_equal(etp_csv_next(&r, &row, &more, &err), ETP_CORRUPT);
    assert_int_equal(err.offset, 2);
}

static void sha256_matches_published_vectors(void **state)
{
    static const struct {
        const char *text, *hex;
    } k_vectors[] = {
        {"",                                                         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc",                                                      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"                                                            }
    };
    for (size_t i = 0; i < 3; i++) {
        etp_sha256 h;
        char hex[ETP_SHA256_HEX_CHARS];
        etp_sha256_init(&h);
        for (const char *p = k_vectors[i].text; *p; p++) {
            etp_sha256_update(&h, p, 1);
        }
        etp_sha256_hex(&h, hex);
        assert_string_equal(hex, k_vectors[i].hex);
    }
}

// A million letters a in pieces that end anywhere: FIPS 180-2's third example.
static void sha256_takes_any_pieces(void **state)
{
    enum { PIECE = 1000 };
    char text[PIECE], hex[ETP_SHA256_HEX_CHARS];
    memset(text, 'a', sizeof text);
    for (size_t step = 1; step <= PIECE; step = step * 3 + 1) {
        etp_sha256 h;
        etp_sha256_init(&h);
        for (size_t left = 1000000; left > 0;) {
            size_t n = step < left ? step : left;
            etp_sha256_update(&h, text, n);
            left -= n;
        }
        etp_sha256_hex(&h, hex);
        assert_string_equal(hex,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

static void sha256_is_the_same_by_instructions(void **state)
{
    uint8_t blocks[5 * 64 + 1];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof blocks; i++) {
        seed = seed * 1664525 + 1013904223;
        blocks[i] = (uint8_t)(seed >> 24);
    }
    for (size_t n = 0; n <= 5; n++) {
        uint32_t a[8] = {1, 2, 3, 4, 5, 6, 7, 0xffffffff}, b[8];
        memcpy(b, a, sizeof a);
        if (!etp_sha256_blocks_x86(a, blocks + 1, n)) { // at no boundary
            print_message("skipped: no x86 processor with SHA instructions\n");
            return;
        }
        etp_sha256_blocks_portable(b, blocks + 1, n);
        assert_memory_equal(a, b, sizeof a);
    }
}

static void blanks_are_trimmed(void **state)
{
    assert_true(etp_str_eqz(etp_str_trim(ETP_STR("  a b\t "), " \t"), "a b"));
    assert_true(etp_str_eqz(etp_str_trim(ETP_STR(" \ta"), " "), "\ta"));
    assert_int_equal(etp_str_trim(ETP_STR("   "), " ").len, 0);
    assert_int_equal(etp_str_trim((etp_str){NULL, 0}, " ").len, 0);
    assert_int_equal(etp_str_trim((etp_str){"a\0", 2}, " ").len, 2); // a zero is no blank
}

static void parts_of_paths(void **state)
{
    static const struct {
        const char *path, *name, *stem, *folder;
    } k_cases[] = {
        {"a/b.pte", "b.pte", "b",    "a"  },
        {"b.pte",   "b.pte", "b",    NULL },
        {"/b",      "b",     "b",    ""   },
        {"a/.pte",  ".pte",  ".pte", "a"  },
        {"a.b/c",   "c",     "c",    "a.b"},
        {"a/",      "a/",    "a/",   "a"  },
        {"",        "",      "",     NULL },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        assert_string_equal(etp_path_name(k_cases[i].path), k_cases[i].name);
        assert_true(etp_str_eqz(etp_path_stem(k_cases[i].path), k_cases[i].stem));
        etp_str folder = etp_path_folder(k_cases[i].path);
        assert_int_equal(folder.ptr != NULL, k_cases[i].folder != NULL);
        assert_true(etp_str_eqz(folder, k_cases[i].folder ? k_cases[i].folder : ""));
    }
}

static void ends_of_paths(void **state)
{
    static const struct {
        const char *path, *trimmed, *last, *above, *above_two;
    } k_cases[] = {
        {"a/b/c", "a/b/c", "c", "a/b", "a"},
        {"/a/b",  "/a/b",  "b", "/a",  "" },
        {"a/b/",  "a/b",   "",  "a/b", "a"},
        {"a//",   "a",     "",  "a/",  "a"},
        {"a",     "a",     "a", "",    "" },
        {"/",     "/",     "",  "",    "" },
        {"///",   "/",     "",  "//",  "/"},
        {"",      "",      "",  "",    "" },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        const etp_str path = etp_str_from(k_cases[i].path);
        assert_true(etp_str_eqz(etp_path_trimmed(path), k_cases[i].trimmed));
        assert_true(etp_str_eqz(etp_path_last(path), k_cases[i].last));
        assert_true(etp_str_eqz(etp_path_above(path, 1), k_cases[i].above));
        assert_true(etp_str_eqz(etp_path_above(path, 2), k_cases[i].above_two));
        assert_true(etp_str_eqz(etp_path_above(path, 0), k_cases[i].path));
    }
}

static void commands_can_be_copied(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *word, *shown;
    } k_cases[] = {
        {"out_m/runs/linux", "etprof analyze out_m/runs/linux"},
        {"my run",           "etprof analyze 'my run'"        },
        {"it's",             "etprof analyze 'it'\\''s'"      },
        {"~/a",              "etprof analyze '~/a'"           },
        {"$(x)",             "etprof analyze '$(x)'"          },
        {"",                 "etprof analyze ''"              },
        {"100%s",            "etprof analyze 100%s"           },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        assert_string_equal(etp_shell_command(arena, "etprof analyze %s", k_cases[i].word),
                            k_cases[i].shown);
    }
    assert_string_equal(etp_shell_command(arena, "%s %s --x", "a", "b c"), "a 'b c' --x");
}

// Both ends of what Unicode 16 calls Default_Ignorable_Code_Point, and what no eye sees besides;
// letters beside them are kept.
static void what_no_eye_sees_is_told(void **state)
{
    static const uint32_t k_hidden[] = {
        0xAD,    0x34F,   0x61C,   0x115F,  0x1160,  0x17B4,  0x17B5, 0x180B, 0x180F,
        0x200B,  0x200F,  0x202A,  0x202E,  0x2060,  0x206F,  0x2800, 0x3164, 0xFE00,
        0xFE0F,  0xFEFF,  0xFFA0,  0xFFF0,  0xFFF8,  0xFFFE,  0xFFFF, 0x85,   0x2028,
        0x1BCA0, 0x1BCA3, 0x1D173, 0x1D17A, 0xE0000, 0xE0FFF,
    };
    static const uint32_t k_seen[] = {'a',    0xE9,   0x350,   0x115E,  0x1161,
                                      0x17B6, 0x1810, 0x2010,  0x2801,  0x3165,
                                      0x4E2D, 0xFE10, 0x1F600, 0x1D17B, 0xE1000};
    for (size_t i = 0; i < sizeof k_hidden / sizeof *k_hidden; i++) {
        assert_true(etp_is_deceptive(k_hidden[i]));
    }
    for (size_t i = 0; i < sizeof k_seen / sizeof *k_seen; i++) {
        assert_false(etp_is_deceptive(k_seen[i]));
    }
}

static void commands_to_a_runner_are_broken(void **state)
{
    static const struct {
        const char *text, *shown;
    } k_cases[] = {
        {"::error::x",           ":':error::x"          }, // as GitHub's runner reads them
        {"  ::ERROR file=a::x",  "  :':ERROR file=a::x" },
        {"a ::stop-commands::t", "a :':stop-commands::t"},
        {"##[group]x",           "#'#[group]x"          },
        {"##vso[task.x]",        "#'#vso[task.x]"       },
        {"Method::execute",      "Method::execute"      },
        {"torch::errors::f",     "torch::errors::f"     },
        {"a::b::",               "a::b::"               },
        {"### x ::",             "### x ::"             },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_arena arena = {0};
        etp_strbuf out;
        etp_strbuf_init(&out, &arena);
        etp_sink sink = etp_sink_strbuf(&out);
        etp_sink_shown(&sink, etp_str_from(k_cases[i].text), false);
        assert_string_equal(etp_strbuf_str(&out).ptr, k_cases[i].shown);
        bool same = strcmp(k_cases[i].text, k_cases[i].shown) == 0;
        assert_int_equal(etp_is_harmless(etp_str_from(k_cases[i].text)), same);
        etp_arena_dispose(&arena);
    }
}
