// SPDX-License-Identifier: Apache-2.0
// Reading Mach-O files: a small one written here by Apple's description of the format, damaged
// copies of it, and the runner bundle of macOS against what LLVM's tools say of it.
#include <stdlib.h>
#include <string.h>

#include "binary/code.h"
#include "os/os.h"
#include "unit.h"

enum { TEXT_AT = 0x400, CODE_BYTES = 0x40, DATA_BYTES = 0x10 };
#define BASE 0x100000000u

typedef struct file {
    uint8_t bytes[0x800];
    size_t len, at;
    uint32_t commands;
} file;

static void put(file *f, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        f->bytes[f->at++] = (uint8_t)(i < 8 ? v >> 8 * i : 0);
    }
}

static void put_name(file *f, const char *name)
{
    char padded[16] = {0};
    memcpy(padded, name, strlen(name));
    memcpy(f->bytes + f->at, padded, 16);
    f->at += 16;
}

static void put_section(file *f, const char *name, uint64_t address, uint64_t size, uint32_t offset,
                        uint32_t flags)
{
    put_name(f, name);
    put_name(f, "__TEXT");
    put(f, address, 8);
    put(f, size, 8);
    put(f, offset, 4);
    put(f, 0, 12); // alignment, relocations
    put(f, flags, 4);
    put(f, 0, 12);
}

static void put_symbol(file *f, uint32_t name, uint8_t type, uint8_t section, uint64_t value)
{
    put(f, name, 4);
    put(f, type, 1);
    put(f, section, 1);
    put(f, 0, 2);
    put(f, value, 8);
}

// Three functions of 16, 32 and 16 bytes: the first plain, the second an outer product, the third
// NEON. Names: "_plain", "_xnn_f32_gemm_ukernel__sme", and one of data that is no function. STARTS:
// with the linker's list.
static void make(file *f, bool starts)
{
    static const char k_names[] = "\0_plain\0_xnn_f32_gemm_ukernel__sme\0_table";
    static const uint32_t k_code[16] = {
        0xd503201f, 0xd503201f, 0xd503201f, 0xd65f03c0, // nop, nop, nop, ret
        0x80800000, 0xd503201f, 0xd503201f, 0xd503201f, // fmopa za0.s, p0/m, p0/m, z0.s, z0.s
        0xd503201f, 0xd503201f, 0xd503201f, 0xd65f03c0,
        0x4e21d400, 0xd503201f, 0xd503201f, 0xd65f03c0}; // fadd v0.4s, v0.4s, v1.4s
    const uint32_t n_sections = 2, symbols_at = 0x500, names_at = 0x580, starts_at = 0x600;
    *f = (file){.at = 32};
    put(f, 0x19, 4); // LC_SEGMENT_64
    put(f, 72 + 80 * n_sections, 4);
    put_name(f, "__TEXT");
    put(f, BASE, 8);
    put(f, 0x800, 8);
    put(f, 0, 8);
    put(f, 0x800, 8);
    put(f, 5, 4);
    put(f, 5, 4);
    put(f, n_sections, 4);
    put(f, 0, 4);
    put_section(f, "__text", BASE + TEXT_AT, CODE_BYTES, TEXT_AT, 0x80000400);
    put_section(f, "__const", BASE + TEXT_AT + CODE_BYTES, DATA_BYTES, TEXT_AT + CODE_BYTES, 0);
    put(f, 2, 4); // LC_SYMTAB
    put(f, 24, 4);
    put(f, symbols_at, 4);
    put(f, 4, 4);
    put(f, names_at, 4);
    put(f, sizeof k_names, 4);
    put(f, 0x1b, 4); // LC_UUID
    put(f, 24, 4);
    for (uint64_t i = 0; i < 16; i++) {
        put(f, 0xa0 + i, 1);
    }
    put(f, 0x26, 4); // LC_FUNCTION_STARTS
    put(f, 16, 4);
    put(f, starts_at, 4);
    put(f, starts ? 5 : 0, 4);
    f->commands = 4;
    uint32_t size = (uint32_t)f->at - 32;
    f->at = 0;
    put(f, 0xfeedfacf, 4);
    put(f, 0x0100000c, 4);
    put(f, 0, 4);
    put(f, 6, 4);
    put(f, f->commands, 4);
    put(f, size, 4);
    memcpy(f->bytes + TEXT_AT, k_code, sizeof k_code);
    f->at = symbols_at;
    put_symbol(f, 1, 0x0f, 1, BASE + TEXT_AT);
    put_symbol(f, 8, 0x0e, 1, BASE + TEXT_AT + 0x10);
    put_symbol(f, 35, 0x0f, 2, BASE + TEXT_AT + CODE_BYTES); // in __const
    put_symbol(f, 8, 0x64, 1, BASE + TEXT_AT + 0x20);        // a debugger's
    memcpy(f->bytes + names_at, k_names, sizeof k_names);
    f->at = starts_at;
    put(f, 0x80, 1); // 0x400 as LEB128
    put(f, 0x08, 1);
    put(f, 0x10, 1);
    put(f, 0x20, 1);
    put(f, 0x00, 1);
    f->len = 0x800;
}

static etp_code code_of(const etp_image *image, const etp_function *f)
{
    etp_bytes code;
    etp_code_count count;
    etp_code found = ETP_CODE_UNKNOWN;
    assert_true(etp_image_code(image, f->start, f->end, &code));
    assert_int_equal(etp_code_of(etp_image_machine(image), code, &count, &found, NULL), ETP_OK);
    return found;
}

static void check_small(const etp_image *image, bool starts)
{
    assert_int_equal(etp_image_format_of(image), ETP_IMAGE_MACHO);
    assert_int_equal(etp_image_machine(image), ETP_MACHINE_AARCH64);
    assert_true(etp_str_eqz(etp_image_build_id(image), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"));
    assert_int_equal(etp_image_symbol_count(image), 2);
    assert_int_equal(etp_image_range_count(image), starts ? 3 : 2);
    etp_function f;
    assert_true(etp_image_function(image, BASE + TEXT_AT + 4, &f));
    assert_true(etp_str_eqz(f.symbol, "plain") && f.start == BASE + TEXT_AT &&
                f.end == f.start + 0x10);
    assert_int_equal(f.bounds, ETP_BOUNDS_STARTS);
    assert_int_equal(code_of(image, &f), ETP_CODE_SCALAR);
    assert_true(etp_image_function(image, BASE + TEXT_AT + 0x10, &f));
    assert_true(etp_str_eqz(f.symbol, "xnn_f32_gemm_ukernel__sme") &&
                f.end == f.start + (starts ? 0x20 : 0x30));
    assert_int_equal(code_of(image, &f), ETP_CODE_SME);
    assert_true(etp_image_function(image, BASE + TEXT_AT + 0x3f, &f));
    assert_int_equal(f.symbol.len == 0, starts);
    assert_int_equal(code_of(image, &f), starts ? ETP_CODE_NEON : ETP_CODE_SME);
    assert_false(etp_image_function(image, BASE + TEXT_AT + CODE_BYTES, &f)); // data
    assert_false(etp_image_function(image, BASE + TEXT_AT - 1, &f));
    assert_int_equal(etp_image_section(image, "__const").len, DATA_BYTES);
    assert_int_equal(etp_image_section(image, "__bss").len, 0);
}

// The linker's list names labels too. Pieces of 16 bytes after "plain": PIECES gives the last
// instruction of each of the three behind it; they are one function where code runs on or a
// condition leads over.
static size_t ranges_of(const uint32_t last[3], uint64_t name_at)
{
    file f;
    etp_arena arena = {0};
    etp_image *image;
    make(&f, true);
    for (size_t i = 0; i < 3; i++) {
        memcpy(f.bytes + TEXT_AT + 0x10 * (i + 2) - 4, &last[i], 4);
    }
    uint64_t symbol = BASE + TEXT_AT + name_at;
    memcpy(f.bytes + 0x500 + 16 + 8, &symbol, 8); // of "xnn_f32_gemm_ukernel__sme"
    f.bytes[0x603] = 0x10;                        // 0x10 apart
    f.bytes[0x604] = 0x10;
    f.bytes[0x605] = 0;
    f.bytes[32 + 72 + 160 + 24 + 24 + 12] = 6; // bytes of the list
    assert_int_equal(etp_image_open((etp_bytes){f.bytes, f.len, 0}, &arena, &image, NULL), ETP_OK);
    size_t n = etp_image_range_count(image);
    etp_arena_dispose(&arena);
    return n;
}

#define RET 0xd65f03c0u
#define ADD 0x8b020020u // x0, x1, x2
#define B 0x14000008u
#define BL 0x94000008u
#define BRK 0xd4200020u

static void labels_of_assembly(void **state)
{
    static const struct {
        uint32_t last[3];
        uint64_t name_at;
        size_t ranges; // with "plain"
    } k_cases[] = {
        {{RET, RET, RET},         0x10, 4},
        {{ADD, RET, RET},         0x10, 3}, // runs on
        {{0xd503201fu, RET, RET}, 0x10, 3}, // padding behind work (fmopa) runs on as well
        {{B, BL, BRK},            0x10, 4}, // jumps, calls that do not return, traps
        {{0x540000a1u, RET, RET}, 0x10, 2}, // b.ne 20 bytes on, over one piece: it runs on, too
        {{RET, 0x54ffff21u, RET}, 0x10, 2}, // b.ne 28 bytes back, and runs on
        {{RET, RET, 0xb4ffff80u}, 0x10, 3}, // cbz 16 bytes back
        {{RET, RET, 0x3607ff80u}, 0x10, 3}, // tbz 16 bytes back
        {{ADD, RET, RET},         0x20, 4}, // but a name is a function's
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        size_t n = ranges_of(k_cases[i].last, k_cases[i].name_at);
        if (n != k_cases[i].ranges) {
            fail_msg("case %zu: %zu ranges", i, n);
        }
    }
}

static void small_files(void **state)
{
    for (int starts = 0; starts < 2; starts++) {
        file f;
        etp_image *image;
        make(&f, starts);
        assert_int_equal(etp_image_open((etp_bytes){f.bytes, f.len, 0}, *state, &image, NULL),
                         ETP_OK);
        check_small(image, starts);
    }
}

static void put_big(uint8_t *p, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)(v >> 8 * (n - 1 - i));
    }
}

// Two parts, x86-64 first: the other one is read, positions count from the begin of the whole file.
static void universal_files(void **state)
{
    etp_arena *arena = *state;
    for (int wide = 0; wide < 2; wide++) {
        file f;
        etp_image *image;
        etp_error err = {0};
        uint8_t whole[0x2000] = {0};
        make(&f, true);
        put_big(whole, wide ? 0xcafebabf : 0xcafebabe, 4);
        put_big(whole + 4, 2, 4);
        for (int i = 0; i < 2; i++) {
            uint8_t *p = whole + 8 + i * (wide ? 32 : 20);
            put_big(p, i ? 0x0100000c : 0x01000007, 4);
            put_big(p + 8, i ? 0x1000 : 0x800, wide ? 8 : 4);
            put_big(p + (wide ? 16 : 12), 0x800, wide ? 8 : 4);
        }
        memcpy(whole + 0x1000, f.bytes, f.len);
        etp_bytes bytes = {whole, sizeof whole, 0};
        assert_int_equal(etp_image_open(bytes, arena, &image, &err), ETP_OK);
        check_small(image, true);
        etp_bytes code;
        assert_true(etp_image_code(image, BASE + TEXT_AT, BASE + TEXT_AT + 4, &code));
        assert_int_equal(code.base, 0x1000 + TEXT_AT);
        put_big(whole + 8 + (wide ? 32 : 20), 0x7,
                4); // no arm64: the x86-64 part, which is no program
        assert_int_equal(etp_image_open(bytes, arena, &image, &err), ETP_UNSUPPORTED);
        put_big(whole + 4, 52, 4); // a Java class of version 52 looks like this
        assert_int_equal(etp_image_open(bytes, arena, &image, &err), ETP_UNSUPPORTED);
    }
}

static void refused(void **state)
{
    file f;
    etp_arena *arena = *state;
    etp_image *image;
    etp_error err = {0};
    make(&f, true);
    assert_int_equal(etp_image_open((etp_bytes){f.bytes, 15, 0}, arena, &image, &err),
                     ETP_UNSUPPORTED);
    assert_int_equal(etp_image_open((etp_bytes){f.bytes, 31, 0}, arena, &image, &err), ETP_CORRUPT);
    assert_int_equal(etp_image_open((etp_bytes){f.bytes, 100, 0}, arena, &image, &err),
                     ETP_CORRUPT);
    f.bytes[16] = 5; // one command more than there is room for
    assert_int_equal(etp_image_open((etp_bytes){f.bytes, f.len, 0}, arena, &image, &err),
                     ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "load command 5 of 5"));
    make(&f, true);
    f.bytes[0] = 0xce; // 32 bits
    assert_int_equal(etp_image_open((etp_bytes){f.bytes, f.len, 0}, arena, &image, &err),
                     ETP_UNSUPPORTED);
    make(&f, true);
    memset(f.bytes + 32 + 72 + 64, 0, 4); // __text without instructions
    assert_int_equal(etp_image_open((etp_bytes){f.bytes, f.len, 0}, arena, &image, &err),
                     ETP_CORRUPT);
}

// Any damage: an error or an answer whose functions hold their address; no read outside (sanitizers
// watch).
static void damage_is_bearable(void **state)
{
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < 4000; round++) {
        file f;
        make(&f, round % 2);
        for (int k = 0; k < 3; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            size_t at = round % 3 ? (size_t)(x % 0x190) : 0x500 + (size_t)(x % 0x110);
            f.bytes[at] = (uint8_t)(x >> 32);
        }
        size_t n = round % 5 ? f.len : (size_t)(x % f.len);
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, f.bytes, n);
        etp_image *image = NULL;
        etp_error err;
        if (etp_image_open((etp_bytes){exact, n, 0}, *state, &image, &err) == ETP_OK) {
            for (size_t i = 0; i < etp_image_range_count(image); i++) {
                etp_function r = etp_image_range_at(image, i), found;
                etp_bytes code;
                assert_true(r.start < r.end);
                assert_true(etp_image_function(image, r.start, &found) && found.start <= r.start &&
                            r.start < found.end);
                if (etp_image_code(image, r.start, r.end, &code)) {
                    assert_true(code.ptr >= exact && code.len <= (size_t)(exact + n - code.ptr));
                }
            }
        }
        free(exact);
    }
}
