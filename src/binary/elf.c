// SPDX-License-Identifier: Apache-2.0
// ELF files: segments, symbols, build id and unwind table, reduced to sorted arrays of functions.
#include "binary/elf.h"

#include <stdlib.h>

#include "binary/unwind.h"

#define HEADER_BYTES 64
#define SEGMENT_BYTES 56
#define SECTION_BYTES 64
#define SYMBOL_BYTES 24
#define MAX_SEGMENTS 256
#define MAX_SECTIONS 65535
#define MAX_SYMBOLS ((uint64_t)1 << 23)

enum { PT_LOAD = 1, PT_NOTE = 4, PF_X = 1 };
enum { SHT_SYMTAB = 2, SHT_DYNSYM = 11, SHT_NOBITS = 8 };
enum { STT_FUNC = 2, STT_GNU_IFUNC = 10, NT_GNU_BUILD_ID = 3 };

typedef struct segment {
    uint64_t address, size; // file bytes of an executable segment
    etp_bytes bytes;
} segment;

typedef struct symbol {
    uint64_t start, end; // end == start: size unknown
    etp_str name;
} symbol;

struct etp_elf {
    etp_bytes file;
    etp_machine machine;
    etp_str build_id;
    segment segments[MAX_SEGMENTS];
    size_t n_segments;
    struct {
        symbol *items; // by start, then longest, then name
        size_t n, cap;
    } symbols;
    etp_ranges unwind; // by start
};

typedef struct section {
    uint32_t name, type, link;
    uint64_t address;
    etp_bytes bytes; // empty when it has none in the file
} section;

const char *etp_machine_name(etp_machine machine)
{
    static const char *const k_names[] = {"unknown", "x86_64", "aarch64"};
    return k_names[machine];
}

etp_machine etp_machine_find(etp_str name)
{
    return etp_str_eqz(name, "x86_64")    ? ETP_MACHINE_X86_64
           : etp_str_eqz(name, "aarch64") ? ETP_MACHINE_AARCH64
                                          : ETP_MACHINE_UNKNOWN;
}

// A part of the file that tables speak of; empty when it does not lie inside.
static etp_bytes part(etp_bytes file, uint64_t offset, uint64_t size)
{
    if (offset > file.len || size > file.len - offset) {
        return (etp_bytes){0};
    }
    return (etp_bytes){file.ptr + offset, (size_t)size, offset};
}

static etp_status fill_hex(etp_elf *elf, etp_bytes id, etp_arena *arena, etp_error *err)
{
    char *text = etp_arena_alloc(arena, 2 * id.len + 1);
    if (!text) {
        return etp_fail_nomem(err, "build id");
    }
    for (size_t i = 0; i < id.len; i++) {
        text[2 * i] = "0123456789abcdef"[id.ptr[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[id.ptr[i] & 15];
    }
    elf->build_id = (etp_str){text, 2 * id.len};
    return ETP_OK;
}

// Notes are name and content, each padded to four bytes.
static etp_status read_notes(etp_elf *elf, etp_bytes notes, etp_arena *arena, etp_error *err)
{
    size_t pos = 0;
    while (notes.len - pos >= 12 && elf->build_id.len == 0) {
        uint64_t name = etp_load_u32(notes.ptr + pos), size = etp_load_u32(notes.ptr + pos + 4);
        uint32_t type = etp_load_u32(notes.ptr + pos + 8);
        uint64_t name_room = (name + 3) & ~(uint64_t)3, room = (size + 3) & ~(uint64_t)3;
        pos += 12;
        if (name_room > notes.len - pos || size > notes.len - pos - name_room) {
            return ETP_OK;
        }
        const uint8_t *content = notes.ptr + pos + name_room;
        if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(notes.ptr + pos, "GNU", 4) == 0 &&
            size > 0 && size <= 64) {
            return fill_hex(elf, (etp_bytes){content, (size_t)size, 0}, arena, err);
        }
        if (room > notes.len - pos - name_room) {
            return ETP_OK;
        }
        pos += (size_t)(name_room + room);
    }
    return ETP_OK;
}

static etp_status read_segments(etp_elf *elf, etp_arena *arena, etp_error *err)
{
    const uint8_t *head = elf->file.ptr;
    uint64_t offset = etp_load_u64(head + 32);
    uint16_t size = etp_load_u16(head + 54), count = etp_load_u16(head + 56);
    etp_bytes table = part(elf->file, offset, (uint64_t)count * SEGMENT_BYTES);
    if (size != SEGMENT_BYTES || count == 0 || count > MAX_SEGMENTS || !table.ptr) {
        return etp_fail_at(err, ETP_CORRUPT, 32,
                           "program headers: %u of %u bytes at %llu in a file of %zu bytes", count,
                           size, (unsigned long long)offset, elf->file.len);
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = table.ptr + i * SEGMENT_BYTES;
        uint32_t type = etp_load_u32(p), flags = etp_load_u32(p + 4);
        uint64_t address = etp_load_u64(p + 16);
        etp_bytes bytes = part(elf->file, etp_load_u64(p + 8), etp_load_u64(p + 32));
        if (!bytes.ptr) {
            continue; // a stripped file may speak of segments that were cut off
        }
        if (type == PT_LOAD && (flags & PF_X) && bytes.len <= UINT64_MAX - address) {
            elf->segments[elf->n_segments++] = (segment){address, bytes.len, bytes};
        } else if (type == PT_NOTE) {
            ETP_TRY(read_notes(elf, bytes, arena, err));
        }
    }
    if (elf->n_segments == 0) {
        return etp_fail_at(err, ETP_CORRUPT, offset, "no segment of the file holds code");
    }
    return ETP_OK;
}

static bool read_section(const etp_elf *elf, etp_bytes table, size_t i, section *out)
{
    const uint8_t *p = table.ptr + i * SECTION_BYTES;
    *out = (section){.name = etp_load_u32(p), .type = etp_load_u32(p + 4),
                     .link = etp_load_u32(p + 40), .address = etp_load_u64(p + 16)};
    if (out->type != SHT_NOBITS) {
        out->bytes = part(elf->file, etp_load_u64(p + 24), etp_load_u64(p + 32));
    }
    return out->bytes.ptr != NULL;
}

// A NUL-terminated name in a table of names; empty when it runs out of the table.
static etp_str name_at(etp_bytes names, uint32_t offset)
{
    if (offset >= names.len) {
        return (etp_str){0};
    }
    const char *start = (const char *)names.ptr + offset;
    const void *end = memchr(start, 0, names.len - offset);
    return end ? (etp_str){start, (size_t)((const char *)end - start)} : (etp_str){0};
}

static etp_status read_symbols(etp_elf *elf, etp_bytes table, etp_bytes names, etp_arena *arena,
                               etp_error *err)
{
    size_t n = table.len / SYMBOL_BYTES;
    for (size_t i = 0; i < n && elf->symbols.n < MAX_SYMBOLS; i++) {
        const uint8_t *p = table.ptr + i * SYMBOL_BYTES;
        unsigned type = p[4] & 15u;
        uint16_t where = etp_load_u16(p + 6);
        uint64_t start = etp_load_u64(p + 8), size = etp_load_u64(p + 16);
        etp_str name = name_at(names, etp_load_u32(p));
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || where == 0 || name.len == 0 ||
            size > UINT64_MAX - start) {
            continue;
        }
        symbol s = {start, start + size, name};
        if (!ETP_PUSH(arena, &elf->symbols, s)) {
            return etp_fail_nomem(err, "symbols");
        }
    }
    return ETP_OK;
}

static etp_status read_sections(etp_elf *elf, etp_arena *arena, etp_error *err)
{
    const uint8_t *head = elf->file.ptr;
    uint64_t offset = etp_load_u64(head + 40);
    uint16_t size = etp_load_u16(head + 58), count = etp_load_u16(head + 60);
    uint16_t names_index = etp_load_u16(head + 62);
    etp_bytes table = part(elf->file, offset, (uint64_t)count * SECTION_BYTES);
    if (count == 0 || size != SECTION_BYTES || !table.ptr) {
        return ETP_OK; // a program runs without them
    }
    section names = {0};
    if (names_index < count && !read_section(elf, table, names_index, &names)) {
        names.bytes = (etp_bytes){0};
    }
    for (size_t i = 0; i < count; i++) {
        section s, texts;
        if (!read_section(elf, table, i, &s)) {
            continue;
        }
        if ((s.type == SHT_SYMTAB || s.type == SHT_DYNSYM) && s.link < count &&
            read_section(elf, table, s.link, &texts)) {
            ETP_TRY(read_symbols(elf, s.bytes, texts.bytes, arena, err));
        } else if (etp_str_eqz(name_at(names.bytes, s.name), ".eh_frame") &&
                   !etp_unwind_read(s.bytes, s.address, arena, &elf->unwind)) {
            return etp_fail_nomem(err, "unwind table");
        }
    }
    return ETP_OK;
}

etp_bytes etp_elf_section(const etp_elf *elf, const char *name)
{
    const uint8_t *head = elf->file.ptr;
    uint16_t size = etp_load_u16(head + 58), count = etp_load_u16(head + 60);
    uint16_t names_index = etp_load_u16(head + 62);
    etp_bytes table = part(elf->file, etp_load_u64(head + 40), (uint64_t)count * SECTION_BYTES);
    section names, s;
    if (size != SECTION_BYTES || !table.ptr || names_index >= count ||
        !read_section(elf, table, names_index, &names)) {
        return (etp_bytes){0};
    }
    for (size_t i = 0; i < count; i++) {
        if (read_section(elf, table, i, &s) && etp_str_eqz(name_at(names.bytes, s.name), name)) {
            return s.bytes;
        }
    }
    return (etp_bytes){0};
}

static int by_start(const void *pa, const void *pb)
{
    const symbol *a = pa, *b = pb;
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    if (a->end != b->end) {
        return a->end > b->end ? -1 : 1;
    }
    return etp_str_cmp(a->name, b->name);
}

static int by_range(const void *pa, const void *pb)
{
    const etp_range *a = pa, *b = pb;
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    return (a->end > b->end) - (a->end < b->end);
}

etp_status etp_elf_open(etp_bytes file, etp_arena *arena, etp_elf **out, etp_error *err)
{
    if (file.len < HEADER_BYTES || memcmp(file.ptr, "\177ELF", 4) != 0) {
        return etp_fail_at(err, ETP_UNSUPPORTED, 0, "no ELF file");
    }
    if (file.ptr[4] != 2 || file.ptr[5] != 1) {
        return etp_fail_at(err, ETP_UNSUPPORTED, 4, "only 64-bit little-endian ELF files are read");
    }
    etp_elf *elf = ETP_NEW(arena, etp_elf);
    if (!elf) {
        return etp_fail_nomem(err, "ELF file");
    }
    elf->file = file;
    uint16_t machine = etp_load_u16(file.ptr + 18);
    elf->machine = machine == 62    ? ETP_MACHINE_X86_64
                   : machine == 183 ? ETP_MACHINE_AARCH64
                                    : ETP_MACHINE_UNKNOWN;
    ETP_TRY(read_segments(elf, arena, err));
    ETP_TRY(read_sections(elf, arena, err));
    if (elf->symbols.n > 1) {
        qsort(elf->symbols.items, elf->symbols.n, sizeof *elf->symbols.items, by_start);
    }
    if (elf->unwind.n > 1) {
        qsort(elf->unwind.items, elf->unwind.n, sizeof *elf->unwind.items, by_range);
    }
    *out = elf;
    return ETP_OK;
}

etp_machine etp_elf_machine(const etp_elf *elf)
{
    return elf->machine;
}

etp_str etp_elf_build_id(const etp_elf *elf)
{
    return elf->build_id;
}

size_t etp_elf_symbol_count(const etp_elf *elf)
{
    return elf->symbols.n;
}

size_t etp_elf_unwind_count(const etp_elf *elf)
{
    return elf->unwind.n;
}

// First symbol of the last group that begins at or before ADDRESS, or NULL.
static const symbol *symbol_before(const etp_elf *elf, uint64_t address)
{
    size_t lo = 0, hi = elf->symbols.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (elf->symbols.items[mid].start <= address) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo == 0) {
        return NULL;
    }
    uint64_t start = elf->symbols.items[lo - 1].start;
    size_t first = lo - 1;
    while (first > 0 && elf->symbols.items[first - 1].start == start) {
        first--;
    }
    return &elf->symbols.items[first];
}

static const etp_range *range_of(const etp_elf *elf, uint64_t address)
{
    size_t lo = 0, hi = elf->unwind.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (elf->unwind.items[mid].start <= address) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo > 0 && address < elf->unwind.items[lo - 1].end ? &elf->unwind.items[lo - 1] : NULL;
}

bool etp_elf_function(const etp_elf *elf, uint64_t address, etp_function *out)
{
    *out = (etp_function){0};
    const symbol *s = symbol_before(elf, address);
    if (s && address < s->end) {
        *out = (etp_function){s->start, s->end, s->name, ETP_BOUNDS_SYMBOL};
        return true;
    }
    const etp_range *r = range_of(elf, address);
    if (!r) {
        return false;
    }
    *out = (etp_function){r->start, r->end, {0}, ETP_BOUNDS_UNWIND};
    s = symbol_before(elf, r->start);
    if (s && s->start == r->start) {
        out->symbol = s->name;
    }
    return true;
}

bool etp_elf_code(const etp_elf *elf, uint64_t start, uint64_t end, etp_bytes *out)
{
    for (size_t i = 0; i < elf->n_segments; i++) {
        const segment *s = &elf->segments[i];
        if (start >= s->address && start - s->address <= s->size && end >= start &&
            end - start <= s->size - (start - s->address)) {
            uint64_t at = start - s->address;
            *out = (etp_bytes){s->bytes.ptr + at, (size_t)(end - start), s->bytes.base + at};
            return true;
        }
    }
    return false;
}
