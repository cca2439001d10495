// SPDX-License-Identifier: Apache-2.0
// ELF files: segments, symbols, build id and unwind table.
#include "binary/image_parts.h"

#define HEADER_BYTES 64
#define SEGMENT_BYTES 56
#define SECTION_BYTES 64
#define SYMBOL_BYTES 24
#define RELOCATION_BYTES 24
#define MAX_SECTIONS 65535

enum { PT_LOAD = 1, PT_NOTE = 4, PF_X = 1 };
enum { SHT_PROGBITS = 1, SHT_RELA = 4, SHF_EXECINSTR = 4 };
enum { R_X86_64_RELATIVE = 8, R_AARCH64_RELATIVE = 1027 };
enum { SHT_SYMTAB = 2, SHT_DYNSYM = 11, SHT_NOBITS = 8 };
enum { STT_FUNC = 2, STT_GNU_IFUNC = 10, NT_GNU_BUILD_ID = 3 };

typedef struct section {
    uint32_t name, type, link;
    uint64_t address, flags;
    etp_bytes bytes; // empty when it has none in the file
} section;

// Notes are name and content, each padded to four bytes.
static etp_status read_notes(etp_image *elf, etp_bytes notes, etp_arena *arena, etp_error *err)
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
            return etp_image_set_id(elf, (etp_bytes){content, (size_t)size, 0}, arena, err);
        }
        if (room > notes.len - pos - name_room) {
            return ETP_OK;
        }
        pos += (size_t)(name_room + room);
    }
    return ETP_OK;
}

static etp_status read_segments(etp_image *elf, etp_arena *arena, etp_error *err)
{
    const uint8_t *head = elf->file.ptr;
    uint64_t offset = etp_load_u64(head + 32);
    uint16_t size = etp_load_u16(head + 54), count = etp_load_u16(head + 56);
    etp_bytes table = etp_image_part(elf->file, offset, (uint64_t)count * SEGMENT_BYTES);
    if (size != SEGMENT_BYTES || count == 0 || count > ETP_IMAGE_SEGMENTS || !table.ptr) {
        return etp_fail_at(err, ETP_CORRUPT, 32,
                           "program headers: %u of %u bytes at %llu in a file of %zu bytes", count,
                           size, (unsigned long long)offset, elf->file.len);
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = table.ptr + i * SEGMENT_BYTES;
        uint32_t type = etp_load_u32(p), flags = etp_load_u32(p + 4);
        uint64_t address = etp_load_u64(p + 16);
        etp_bytes bytes = etp_image_part(elf->file, etp_load_u64(p + 8), etp_load_u64(p + 32));
        if (!bytes.ptr) {
            continue; // a stripped file may speak of segments that were cut off
        }
        if (type == PT_LOAD && (flags & PF_X) && bytes.len <= UINT64_MAX - address) {
            elf->segments[elf->n_segments++] = (etp_image_segment){address, bytes.len, bytes};
        } else if (type == PT_NOTE) {
            ETP_TRY(read_notes(elf, bytes, arena, err));
        }
    }
    if (elf->n_segments == 0) {
        return etp_fail_at(err, ETP_CORRUPT, offset, "no segment of the file holds code");
    }
    return ETP_OK;
}

static bool read_section(const etp_image *elf, etp_bytes table, size_t i, section *out)
{
    const uint8_t *p = table.ptr + i * SECTION_BYTES;
    *out = (section){.name = etp_load_u32(p),
                     .type = etp_load_u32(p + 4),
                     .link = etp_load_u32(p + 40),
                     .address = etp_load_u64(p + 16),
                     .flags = etp_load_u64(p + 8)};
    if (out->type != SHT_NOBITS) {
        out->bytes = etp_image_part(elf->file, etp_load_u64(p + 24), etp_load_u64(p + 32));
    }
    return out->bytes.ptr != NULL;
}

static etp_status read_symbols(etp_image *elf, etp_bytes table, etp_bytes names, etp_arena *arena,
                               etp_error *err)
{
    size_t n = table.len / SYMBOL_BYTES;
    for (size_t i = 0; i < n && elf->symbols.n < ETP_IMAGE_SYMBOLS; i++) {
        const uint8_t *p = table.ptr + i * SYMBOL_BYTES;
        unsigned type = p[4] & 15u;
        uint16_t where = etp_load_u16(p + 6);
        uint64_t start = etp_load_u64(p + 8), size = etp_load_u64(p + 16);
        etp_str name = etp_image_name_at(names, etp_load_u32(p));
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || where == 0 || name.len == 0 ||
            size > UINT64_MAX - start) {
            continue;
        }
        etp_image_symbol s = {start, start + size, name};
        ETP_NEED(ETP_PUSH(arena, &elf->symbols, s), err, "symbols");
    }
    return ETP_OK;
}

// Pointers that move with the file.
static etp_status read_pointers(etp_image *elf, etp_bytes table, etp_arena *arena, etp_error *err)
{
    uint32_t wanted = elf->machine == ETP_MACHINE_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
    for (size_t at = 0; at + RELOCATION_BYTES <= table.len && elf->pointers.n < ETP_IMAGE_SYMBOLS;
         at += RELOCATION_BYTES) {
        uint64_t address = etp_load_u64(table.ptr + at + 16);
        bool relative = etp_load_u32(table.ptr + at + 8) == wanted;
        if (relative && !ETP_PUSH(arena, &elf->pointers, address)) {
            return etp_fail_nomem(err, "relocations");
        }
    }
    return ETP_OK;
}

// Sections of functions: what the linker adds for its own calls is none.
static bool is_code(const section *s, etp_str name)
{
    bool stubs = etp_str_starts(name, ETP_STR(".plt")) || etp_str_eqz(name, ".init") ||
                 etp_str_eqz(name, ".fini");
    return s->type == SHT_PROGBITS && (s->flags & SHF_EXECINSTR) && !stubs &&
           s->bytes.len <= UINT64_MAX - s->address;
}

static etp_status read_sections(etp_image *elf, etp_arena *arena, etp_error *err)
{
    const uint8_t *head = elf->file.ptr;
    uint64_t offset = etp_load_u64(head + 40);
    uint16_t size = etp_load_u16(head + 58), count = etp_load_u16(head + 60);
    uint16_t names_index = etp_load_u16(head + 62);
    etp_bytes table = etp_image_part(elf->file, offset, (uint64_t)count * SECTION_BYTES);
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
        etp_str name = etp_image_name_at(names.bytes, s.name);
        etp_range code = {s.address, s.address + s.bytes.len};
        if (is_code(&s, name) && !ETP_PUSH(arena, &elf->code, code)) {
            return etp_fail_nomem(err, "sections");
        }
        if (s.type == SHT_RELA) {
            ETP_TRY(read_pointers(elf, s.bytes, arena, err));
        }
        if ((s.type == SHT_SYMTAB || s.type == SHT_DYNSYM) && s.link < count &&
            read_section(elf, table, s.link, &texts)) {
            ETP_TRY(read_symbols(elf, s.bytes, texts.bytes, arena, err));
        } else if (etp_str_eqz(name, ".eh_frame") &&
                   !etp_image_read_unwind(s.bytes, s.address, arena, &elf->ranges)) {
            return etp_fail_nomem(err, "unwind table");
        }
    }
    return ETP_OK;
}

etp_bytes etp_elf_section(const etp_image *elf, const char *name)
{
    const uint8_t *head = elf->file.ptr;
    uint16_t size = etp_load_u16(head + 58), count = etp_load_u16(head + 60);
    uint16_t names_index = etp_load_u16(head + 62);
    etp_bytes table =
        etp_image_part(elf->file, etp_load_u64(head + 40), (uint64_t)count * SECTION_BYTES);
    section names, s;
    if (size != SECTION_BYTES || !table.ptr || names_index >= count ||
        !read_section(elf, table, names_index, &names)) {
        return (etp_bytes){0};
    }
    for (size_t i = 0; i < count; i++) {
        if (read_section(elf, table, i, &s) &&
            etp_str_eqz(etp_image_name_at(names.bytes, s.name), name)) {
            return s.bytes;
        }
    }
    return (etp_bytes){0};
}

etp_status etp_elf_read(etp_image *elf, etp_arena *arena, etp_error *err)
{
    if (elf->file.len < HEADER_BYTES) {
        return etp_fail_at(err, ETP_UNSUPPORTED, 0, "no ELF file");
    }
    if (elf->file.ptr[4] != 2 || elf->file.ptr[5] != 1) {
        return etp_fail_at(err, ETP_UNSUPPORTED, 4, "only 64-bit little-endian ELF files are read");
    }
    uint16_t machine = etp_load_u16(elf->file.ptr + 18);
    elf->format = ETP_IMAGE_ELF;
    elf->range_bounds = ETP_BOUNDS_UNWIND;
    elf->machine = machine == 62    ? ETP_MACHINE_X86_64
                   : machine == 183 ? ETP_MACHINE_AARCH64
                                    : ETP_MACHINE_UNKNOWN;
    ETP_TRY(read_segments(elf, arena, err));
    return read_sections(elf, arena, err);
}
