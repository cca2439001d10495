// SPDX-License-Identifier: Apache-2.0
// Mach-O files: sections with code, symbols, UUID, and where functions begin.
#include <stdlib.h>

#include "base/choice.h"
#include "binary/image_parts.h"

#define HEADER_BYTES 32
#define SEGMENT_BYTES 72
#define SECTION_BYTES 80
#define SYMBOL_BYTES 16
#define MAX_COMMANDS 4096

enum { CPU_X86_64 = 0x01000007, CPU_ARM64 = 0x0100000c };
enum { LC_SYMTAB = 2, LC_SEGMENT_64 = 0x19, LC_UUID = 0x1b, LC_FUNCTION_STARTS = 0x26 };
enum { N_STAB = 0xe0, N_TYPE = 0x0e, N_SECT = 0x0e };
#define HAS_CODE 0x80000400u // S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS

typedef struct command {
    uint32_t type;
    etp_bytes bytes; // with its type and size
} command;

// The command after AT, which begins at 0; false behind the last.
static bool next_command(const etp_image *image, size_t *at, command *out)
{
    etp_bytes all = etp_image_part(image->file, HEADER_BYTES, etp_load_u32(image->file.ptr + 20));
    if (!all.ptr || all.len - *at < 8) {
        return false;
    }
    uint32_t size = etp_load_u32(all.ptr + *at + 4);
    if (size < 8 || size > all.len - *at) {
        return false;
    }
    *out = (command){
        etp_load_u32(all.ptr + *at), {all.ptr + *at, size, all.base + *at}
    };
    *at += size;
    return true;
}

typedef struct section {
    etp_str name, segment;
    uint64_t address;
    etp_bytes bytes;
    bool code;
} section;

static etp_str padded(const uint8_t *p)
{
    return (etp_str){(const char *)p, strnlen((const char *)p, 16)};
}

static section section_at(const etp_image *image, const uint8_t *p)
{
    uint32_t flags = etp_load_u32(p + 64);
    section s = {padded(p), padded(p + 16), etp_load_u64(p + 32), {0}, (flags & HAS_CODE) != 0};
    uint32_t type = flags & 0xffu;
    bool zeros = type == 1 || type == 0x0c || type == 0x12; // of no bytes in the file
    if (!zeros) {
        s.bytes = etp_image_part(image->file, etp_load_u32(p + 48), etp_load_u64(p + 40));
    }
    return s;
}

static uint32_t sections_of(const command *c)
{
    uint32_t n = c->bytes.len >= SEGMENT_BYTES ? etp_load_u32(c->bytes.ptr + 64) : 0;
    return n <= (c->bytes.len - SEGMENT_BYTES) / SECTION_BYTES ? n : 0;
}

etp_bytes etp_macho_section(const etp_image *image, const char *name)
{
    command c;
    size_t at = 0;
    while (next_command(image, &at, &c)) {
        uint32_t n = c.type == LC_SEGMENT_64 ? sections_of(&c) : 0;
        for (uint32_t i = 0; i < n; i++) {
            section s = section_at(image, c.bytes.ptr + SEGMENT_BYTES + (size_t)i * SECTION_BYTES);
            if (etp_str_eqz(s.name, name)) {
                return s.bytes;
            }
        }
    }
    return (etp_bytes){0};
}

typedef struct reader {
    etp_image *image;
    etp_arena *arena;
    uint64_t text;  // address that function starts count from
    bool code[256]; // of the sections by their number, from 1
    uint32_t n_sections;
    etp_bytes starts; // LC_FUNCTION_STARTS
    struct {
        uint64_t *items;
        size_t n, cap;
    } begins;
} reader;

static void read_segment(reader *r, const command *c)
{
    etp_image *image = r->image;
    uint32_t n = sections_of(c);
    if (c->bytes.len >= SEGMENT_BYTES && etp_str_eqz(padded(c->bytes.ptr + 8), "__TEXT")) {
        r->text = etp_load_u64(c->bytes.ptr + 24);
    }
    for (uint32_t i = 0; i < n; i++) {
        section s = section_at(image, c->bytes.ptr + SEGMENT_BYTES + (size_t)i * SECTION_BYTES);
        bool code = s.code && s.bytes.len > 0 && s.bytes.len <= UINT64_MAX - s.address &&
                    !etp_str_eqz(s.name, "__stubs") && !etp_str_eqz(s.name, "__stub_helper");
        r->n_sections++;
        if (r->n_sections < 256) {
            r->code[r->n_sections] = code;
        }
        if (code && image->n_segments < ETP_IMAGE_SEGMENTS) {
            image->segments[image->n_segments++] =
                (etp_image_segment){s.address, s.bytes.len, s.bytes};
        }
    }
}

// Names of C carry an underscore that no source has.
static void read_symbols(reader *r, const command *c)
{
    if (c->bytes.len < 24) {
        return;
    }
    const uint8_t *p = c->bytes.ptr;
    uint64_t n = etp_load_u32(p + 12);
    etp_bytes table = etp_image_part(r->image->file, etp_load_u32(p + 8), n * SYMBOL_BYTES);
    etp_bytes names = etp_image_part(r->image->file, etp_load_u32(p + 16), etp_load_u32(p + 20));
    for (uint64_t i = 0; table.ptr && i < n && i < ETP_IMAGE_SYMBOLS; i++) {
        const uint8_t *s = table.ptr + i * SYMBOL_BYTES;
        etp_str name = etp_image_name_at(names, etp_load_u32(s));
        if ((s[4] & N_STAB) || (s[4] & N_TYPE) != N_SECT || !r->code[s[5]] || name.len == 0) {
            continue;
        }
        if (name.ptr[0] == '_' && name.len > 1) {
            name = (etp_str){name.ptr + 1, name.len - 1};
        }
        uint64_t start = etp_load_u64(s + 8);
        etp_image_symbol symbol = {start, start, name};
        ETP_ADD(r->arena, &r->image->symbols, symbol);
    }
}

// Differences as unsigned LEB128, the first from the begin of __TEXT; zero ends the list.
static void read_starts(reader *r)
{
    uint64_t address = r->text, delta = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < r->starts.len; i++) {
        uint8_t byte = r->starts.ptr[i];
        delta |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
        if (byte & 0x80) {
            continue;
        }
        if (delta == 0) {
            break;
        }
        address += delta; // wraps only in a damaged file: then it lies in no section
        ETP_ADD(r->arena, &r->begins, address);
        delta = 0;
        shift = 0;
    }
}

// Without the linker's list: where symbols and entries of __eh_frame begin.
static void guess_starts(reader *r)
{
    const etp_image *image = r->image;
    etp_ranges unwind = {0};
    command c;
    size_t at = 0;
    while (next_command(image, &at, &c)) {
        uint32_t n = c.type == LC_SEGMENT_64 ? sections_of(&c) : 0;
        for (uint32_t i = 0; i < n; i++) {
            section s = section_at(image, c.bytes.ptr + SEGMENT_BYTES + (size_t)i * SECTION_BYTES);
            if (etp_str_eqz(s.name, "__eh_frame") && s.bytes.len > 0) {
                etp_image_read_unwind(s.bytes, s.address, r->arena, &unwind);
            }
        }
    }
    for (size_t i = 0; i < unwind.n; i++) {
        ETP_ADD(r->arena, &r->begins, unwind.items[i].start);
    }
    for (size_t i = 0; i < image->symbols.n; i++) {
        ETP_ADD(r->arena, &r->begins, image->symbols.items[i].start);
    }
}

static int by_address(const void *pa, const void *pb)
{
    uint64_t a, b;
    memcpy(&a, pa, sizeof a);
    memcpy(&b, pb, sizeof b);
    return ETP_ORDER(a, b);
}

// From each begin to the next, or to the end of its section.
static void make_ranges(reader *r)
{
    etp_image *image = r->image;
    if (r->begins.n > 1) {
        qsort(r->begins.items, r->begins.n, sizeof *r->begins.items, by_address);
    }
    for (size_t i = 0; i < r->begins.n; i++) {
        uint64_t start = r->begins.items[i], end = 0;
        if (i + 1 < r->begins.n && r->begins.items[i + 1] == start) {
            continue;
        }
        for (size_t k = 0; k < image->n_segments; k++) {
            const etp_image_segment *s = &image->segments[k];
            if (start >= s->address && start - s->address < s->size) {
                end = s->address + s->size;
            }
        }
        if (i + 1 < r->begins.n && r->begins.items[i + 1] < end) {
            end = r->begins.items[i + 1];
        }
        etp_range range = {start, end};
        if (end > start) {
            ETP_ADD(r->arena, &image->ranges, range);
        }
    }
}

etp_status etp_macho_read(etp_image *image, etp_arena *arena, etp_error *err)
{
    reader r = {.image = image, .arena = arena};
    if (image->file.len < HEADER_BYTES) {
        return etp_fail_at(err, ETP_CORRUPT, image->file.base,
                           "a Mach-O file of %zu bytes has no header", image->file.len);
    }
    uint32_t cpu = etp_load_u32(image->file.ptr + 4), n = etp_load_u32(image->file.ptr + 16),
             seen = 0;
    image->format = ETP_IMAGE_MACHO;
    image->range_bounds = ETP_BOUNDS_STARTS;
    image->machine = cpu == CPU_ARM64 ? ETP_MACHINE_AARCH64 : ETP_MACHINE_UNKNOWN;
    image->machine = cpu == CPU_X86_64 ? ETP_MACHINE_X86_64 : image->machine;
    command c;
    size_t at = 0;
    while (seen < n && seen < MAX_COMMANDS && next_command(image, &at, &c)) {
        if (c.type == LC_SEGMENT_64) {
            read_segment(&r, &c);
        } else if (c.type == LC_SYMTAB) {
            read_symbols(&r, &c); // sections come before it
        } else if (c.type == LC_UUID && c.bytes.len >= 24) {
            etp_image_set_id(r.image, etp_image_part(c.bytes, 8, 16), r.arena);
        } else if (c.type == LC_FUNCTION_STARTS && c.bytes.len >= 16) {
            r.starts = etp_image_part(r.image->file, etp_load_u32(c.bytes.ptr + 8),
                                      etp_load_u32(c.bytes.ptr + 12));
        }
        seen++;
    }
    if (seen < n) {
        return etp_fail_at(err, ETP_CORRUPT, image->file.base + HEADER_BYTES + at,
                           "load command %u of %u does not fit into the file", seen + 1, n);
    }
    if (image->n_segments == 0) {
        return etp_fail_at(err, ETP_CORRUPT, image->file.base + HEADER_BYTES,
                           "no section of the file holds code");
    }
    if (r.starts.len > 0) {
        read_starts(&r);
    }
    if (r.begins.n == 0) {
        guess_starts(&r);
    }
    make_ranges(&r);
    return ETP_OK;
}
