// SPDX-License-Identifier: Apache-2.0
// Reading ELF files: this test program itself, whose truth the linker gave us, and damaged copies.
#include <stdlib.h>

#include "binary/code.h"
#include "binary/image_parts.h"
#include "os/os.h"
#include "unit.h"

typedef struct self {
    etp_arena arena;
    etp_file file;
    etp_image *elf;
} self;

static int open_self(void **state)
{
    self *s = calloc(1, sizeof *s);
    etp_error err = {0};
    const char *path = etp_os_self_exe(&s->arena);
    if (!path || etp_file_open(path, UINT64_MAX, &s->file, &err) != ETP_OK ||
        etp_image_open(s->file.bytes, &s->arena, &s->elf, &err) != ETP_OK) {
        print_error("%s\n", err.msg);
        return -1;
    }
    *state = s;
    return 0;
}

static int close_self(void **state)
{
    self *s = *state;
    etp_file_close(&s->file);
    etp_arena_dispose(&s->arena);
    free(s);
    return 0;
}

// A function that the compiler must keep as it is.
int etp_test_marker(volatile int *p);
__attribute__((noinline, used)) int etp_test_marker(volatile int *p)
{
    *p = 42;
    return *p + 1;
}

static uint64_t address_of_marker(const etp_image *elf)
{
    // Positions in the file do not move; its own address does (PIE), so look it up by difference.
    for (uint64_t a = 0; a < (uint64_t)1 << 24; a++) {
        etp_function f;
        if (!etp_image_function(elf, a, &f)) {
            continue;
        }
        if (etp_str_eqz(f.symbol, "etp_test_marker")) {
            return f.start;
        }
        a = f.end - 1;
    }
    return 0;
}

static void functions_have_names_bounds_and_code(void **state)
{
    const self *s = *state;
    assert_true(etp_image_symbol_count(s->elf) > 20);
    assert_true(etp_image_range_count(s->elf) > 20);
    uint64_t start = address_of_marker(s->elf);
    assert_true(start != 0);
    etp_function f;
    assert_true(etp_image_function(s->elf, start + 1, &f));
    assert_int_equal(f.start, start);
    assert_int_equal(f.bounds, ETP_BOUNDS_SYMBOL);
    etp_bytes code;
    assert_true(etp_image_code(s->elf, f.start, f.end, &code));
    // The file's bytes are those that run.
    assert_memory_equal(code.ptr, (const void *)(uintptr_t)etp_test_marker, code.len);
    assert_true(etp_image_function(s->elf, f.end - 1, &f));
    assert_int_equal(f.start, start);
    etp_function next;
    bool more = etp_image_function(s->elf, f.end, &next);
    assert_true(!more || next.start >= f.end);
}

// With the section headers gone names and unwind table are too, but code stays.
static void without_sections_code_stays(void **state)
{
    const self *s = *state;
    etp_arena arena = {0};
    uint8_t *copy = etp_arena_alloc_raw(&arena, s->file.bytes.len, 1);
    memcpy(copy, s->file.bytes.ptr, s->file.bytes.len);
    memset(copy + 40, 0, 8);
    memset(copy + 60, 0, 4);
    etp_image *elf;
    assert_int_equal(etp_image_open((etp_bytes){copy, s->file.bytes.len, 0}, &arena, &elf, NULL),
                     ETP_OK);
    assert_int_equal(etp_image_symbol_count(elf), 0);
    etp_bytes code;
    uint64_t start = address_of_marker(s->elf);
    assert_true(etp_image_code(elf, start, start + 8, &code));
    etp_arena_dispose(&arena);
}

// Bounds by unwind entry where the symbol is gone: every symbol of this file that has an entry must
// have the same bounds there (the linker's and the compiler's word for one thing).
static void unwind_agrees_with_symbols(void **state)
{
    const self *s = *state;
    etp_arena arena = {0};
    uint8_t *copy = etp_arena_alloc_raw(&arena, s->file.bytes.len, 1);
    memcpy(copy, s->file.bytes.ptr, s->file.bytes.len);
    uint64_t table = etp_load_u64(copy + 40);
    for (unsigned i = 0; i < etp_load_u16(copy + 60); i++) {
        uint8_t *section = copy + table + 64 * i;
        uint32_t type = etp_load_u32(section + 4);
        if (type == 2 || type == 11) {
            memset(section + 4, 0, 4);
        }
    }
    etp_image *stripped;
    assert_int_equal(
        etp_image_open((etp_bytes){copy, s->file.bytes.len, 0}, &arena, &stripped, NULL), ETP_OK);
    assert_int_equal(etp_image_symbol_count(stripped), 0);
    etp_function named, bare;
    uint64_t start = address_of_marker(s->elf);
    assert_true(etp_image_function(s->elf, start, &named));
    assert_true(etp_image_function(stripped, start + 2, &bare));
    assert_int_equal(bare.bounds, ETP_BOUNDS_UNWIND);
    assert_int_equal(bare.start, named.start);
    assert_int_equal(bare.end, named.end);
    assert_int_equal(bare.symbol.len, 0);
    etp_arena_dispose(&arena);
}

static void not_an_elf(void **state)
{
    etp_arena *arena = *state;
    etp_image *elf;
    etp_error err;
    uint8_t bytes[128] = "\177ELF\2\1\1";
    assert_int_equal(etp_image_open((etp_bytes){bytes, 12, 0}, arena, &elf, &err), ETP_UNSUPPORTED);
    assert_int_equal(etp_image_open((etp_bytes){bytes, 128, 0}, arena, &elf, &err), ETP_CORRUPT);
    bytes[4] = 1; // 32 bits
    assert_int_equal(etp_image_open((etp_bytes){bytes, 128, 0}, arena, &elf, &err),
                     ETP_UNSUPPORTED);
    bytes[0] = 'M';
    assert_int_equal(etp_image_open((etp_bytes){bytes, 128, 0}, arena, &elf, &err),
                     ETP_UNSUPPORTED);
}

// Damage anywhere must give an error or an answer, and no read outside (sanitizers watch).
static void damage_is_bearable(void **state)
{
    const self *s = *state;
    etp_file small = {0};
    int rounds = 60, opened = 0;
    etp_bytes file = s->file.bytes;
#ifdef DAMAGED_FILE
    assert_int_equal(etp_file_open(DAMAGED_FILE, UINT64_MAX, &small, NULL), ETP_OK);
    rounds = 3000;
    file = small.bytes;
#endif
    size_t len = file.len;
    uint8_t *copy = malloc(len);
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < rounds; round++) {
        memcpy(copy, file.ptr, len);
        size_t n = len;
        uint64_t sections = etp_load_u64(copy + 40);
        for (int k = 0; k < 6; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            // Headers first, where every byte matters; then the section table; then anywhere.
            const size_t places[] = {16 + (size_t)(x % 700), (size_t)sections + (size_t)(x % 1900),
                                     (size_t)(x % len)};
            size_t at = places[round % 3];
            copy[at < len ? at : len - 1] = (uint8_t)(x >> 32);
        }
        if (round % 7 == 0) {
            n = (size_t)(x % len);
        }
        etp_arena arena = {0};
        etp_image *elf = NULL;
        etp_error err;
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, copy, n);
        if (etp_image_open((etp_bytes){exact, n, 0}, &arena, &elf, &err) == ETP_OK) {
            opened++;
            for (uint64_t a = 0; a < 0x40000; a += 0x1357) {
                etp_function f;
                etp_bytes code;
                if (etp_image_function(elf, a, &f)) {
                    assert_true(f.start <= a && a < f.end);
                    if (etp_image_code(elf, f.start, f.end, &code)) {
                        assert_int_equal(code.len, f.end - f.start);
                        assert_true(code.ptr >= exact &&
                                    code.len <= (size_t)(exact + n - code.ptr));
                    }
                }
            }
        }
        free(exact);
        etp_arena_dispose(&arena);
    }
    free(copy);
    etp_file_close(&small);
    assert_true(opened >= rounds / 3); // else little but the header was damaged
}

// One CIE ("zR", pc-relative signed 32 bits) and one function, then an entry that lies.
static void unwind_by_hand(void **state)
{
    static const uint8_t k_section[] = {
        0x10, 0,    0,    0,    0,    0, 0,    0, 1,    'z',
        'R',  0,    1,    0x78, 16,   1, 0x1b, 0, 0,    0, // CIE, 20 bytes
        0x10, 0,    0,    0,    0x18, 0, 0,    0, 0xe4, 0x0f,
        0,    0,    0x40, 0,    0,    0, 0,    0, 0,    0, // FDE at 20
        0xff, 0xff, 0,    0,    0x2c, 0, 0,    0,          // longer than it is
    };
    etp_arena *arena = *state;
    etp_ranges r = {0};
    etp_image_read_unwind((etp_bytes){k_section, sizeof k_section, 0}, 0x2000, arena, &r);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.items[0].start, 0x2000 + 28 + 0xfe4);
    assert_int_equal(r.items[0].end, r.items[0].start + 0x40);
    for (size_t n = 0; n < sizeof k_section; n++) { // cut anywhere
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, k_section, n);
        etp_ranges cut = {0};
        etp_image_read_unwind((etp_bytes){exact, n, 0}, 0x2000, arena, &cut);
        assert_true(cut.n == (n >= 40 ? 1 : 0));
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_names_bounds_and_code),
        cmocka_unit_test(without_sections_code_stays),
        cmocka_unit_test(unwind_agrees_with_symbols),
        cmocka_unit_test_setup_teardown(not_an_elf, arena_begin, arena_end),
        cmocka_unit_test(damage_is_bearable),
        cmocka_unit_test_setup_teardown(unwind_by_hand, arena_begin, arena_end),
    };
    return cmocka_run_group_tests(tests, open_self, close_self);
}
