// SPDX-License-Identifier: Apache-2.0
// ELF files: segments, symbols, build id and unwind table.
#include "binary/image_parts.h"

#define RELOCATION_BYTES 24

enum { R_X86_64_RELATIVE = 8, R_AARCH64_RELATIVE = 1027 };
enum { NT_GNU_BUILD_ID = 3 };

// Notes are name and content, each padded to four bytes.
static void read_notes(etp_image *elf, etp_bytes notes, etp_arena *arena)
{
    size_t pos = 0;
    while (notes.len - pos >= 12 && elf->build_id.len == 0) {
        uint64_t name = etp_load_u32(notes.ptr + pos), size = etp_load_u32(notes.ptr + pos + 4);
        uint32_t type = etp_load_u32(notes.ptr + pos + 8);
        uint64_t name_room = (name + 3) & ~(uint64_t)3, room = (size + 3) & ~(uint64_t)3;
        pos += 12;
        if (name_room > notes.len - pos || size > notes.len - pos - name_room) {
            return;
        }
        const uint8_t *content = notes.ptr + pos + name_room;
        if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(notes.ptr + pos, "GNU", 4) == 0 &&
            size > 0 && size <= 64) {
            etp_image_set_id(elf, (etp_bytes){content, (size_t)size, 0}, arena);
            return; // the first one counts
        }
        if (room > notes.len - pos - name_room) {
            return;
        }
        pos += (size_t)(name_room + room);
    }
}

static void read_symbols(etp_image *elf, etp_bytes table, etp_bytes names, etp_arena *arena)
{
    size_t n = table.len / ETP_ELF_SYMBOL_BYTES;
    for (size_t i = 0; i < n && elf->symbols.n < ETP_IMAGE_SYMBOLS; i++) {
        etp_elf_symbol p = etp_elf_symbol_at(table, i);
        etp_str name = etp_image_name_at(names, p.name);
        if ((p.type != ETP_ELF_FUNCTION && p.type != ETP_ELF_IFUNC) || p.section == 0 ||
            name.len == 0 || p.size > UINT64_MAX - p.start) {
            continue;
        }
        etp_image_symbol s = {p.start, p.start + p.size, name};
        ETP_ADD(arena, &elf->symbols, s);
    }
}

// Pointers that move with the file.
static void read_pointers(etp_image *elf, etp_bytes table, etp_arena *arena)
{
    uint32_t wanted = elf->machine == ETP_MACHINE_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
    for (size_t at = 0; at + RELOCATION_BYTES <= table.len && elf->pointers.n < ETP_IMAGE_SYMBOLS;
         at += RELOCATION_BYTES) {
        uint64_t address = etp_load_u64(table.ptr + at + 16);
        if (etp_load_u32(table.ptr + at + 8) == wanted) {
            ETP_ADD(arena, &elf->pointers, address);
        }
    }
}

// Sections of functions: what the linker adds for its own calls is none.
static bool is_code(const etp_elf_section *s, etp_str name)
{
    bool stubs = etp_str_starts(name, ETP_STR(".plt")) || etp_str_eqz(name, ".init") ||
                 etp_str_eqz(name, ".fini");
    return s->type == ETP_ELF_PROGBITS && (s->flags & ETP_ELF_CODE) && !stubs &&
           s->bytes.len <= UINT64_MAX - s->address;
}

etp_bytes etp_elf_section_named(const etp_image *elf, const char *name)
{
    etp_elf_tables t;
    etp_elf_section s;
    for (size_t i = 0; etp_elf_open(elf->file, &t) && i < t.n_sections; i++) {
        if (etp_elf_section_at(&t, i, &s) &&
            etp_str_eqz(etp_image_name_at(t.names, s.name), name)) {
            return s.bytes;
        }
    }
    return (etp_bytes){0};
}

etp_status etp_elf_read(etp_image *elf, etp_arena *arena, etp_error *err)
{
    etp_elf_tables t;
    if (elf->file.len < 64) {
        return etp_fail_at(err, ETP_UNSUPPORTED, 0, "no ELF file");
    }
    if (!etp_elf_open(elf->file, &t)) {
        return etp_fail_at(err, ETP_UNSUPPORTED, 4, "only 64-bit little-endian ELF files are read");
    }
    elf->format = ETP_IMAGE_ELF;
    elf->range_bounds = ETP_BOUNDS_UNWIND;
    elf->machine = t.machine == ETP_ELF_AARCH64 ? ETP_MACHINE_AARCH64 : ETP_MACHINE_UNKNOWN;
    elf->machine = t.machine == ETP_ELF_X86_64 ? ETP_MACHINE_X86_64 : elf->machine;
    const uint8_t *head = elf->file.ptr;
    uint64_t offset = etp_load_u64(head + 32);
    if (t.n_segments == 0 || t.n_segments > ETP_IMAGE_SEGMENTS) {
        return etp_fail_at(err, ETP_CORRUPT, 32,
                           "program headers: %u of %u bytes at %llu in a file of %zu bytes",
                           etp_load_u16(head + 56), etp_load_u16(head + 54),
                           (unsigned long long)offset, elf->file.len);
    }
    for (size_t i = 0; i < t.n_segments; i++) {
        etp_elf_segment p = etp_elf_segment_at(&t, i);
        if (!p.bytes.ptr) {
            continue; // a stripped file may speak of segments that were cut off
        }
        if (p.type == ETP_ELF_LOAD && (p.flags & ETP_ELF_EXECUTABLE) &&
            p.bytes.len <= UINT64_MAX - p.address) {
            elf->segments[elf->n_segments++] = (etp_image_segment){p.address, p.bytes.len, p.bytes};
        } else if (p.type == ETP_ELF_NOTE) {
            read_notes(elf, p.bytes, arena);
        }
    }
    if (elf->n_segments == 0) {
        return etp_fail_at(err, ETP_CORRUPT, offset, "no segment of the file holds code");
    }
    for (size_t i = 0; i < t.n_sections; i++) { // a program runs without them
        etp_elf_section s, texts;
        if (!etp_elf_section_at(&t, i, &s)) {
            continue;
        }
        etp_str name = etp_image_name_at(t.names, s.name);
        etp_range code = {s.address, s.address + s.bytes.len};
        if (is_code(&s, name)) {
            ETP_ADD(arena, &elf->code, code);
        }
        if (s.type == ETP_ELF_RELA) {
            read_pointers(elf, s.bytes, arena);
        }
        if ((s.type == ETP_ELF_SYMTAB || s.type == ETP_ELF_DYNSYM) && s.link < t.n_sections &&
            etp_elf_section_at(&t, s.link, &texts)) {
            read_symbols(elf, s.bytes, texts.bytes, arena);
        } else if (etp_str_eqz(name, ".eh_frame")) {
            etp_image_read_unwind(s.bytes, s.address, arena, &elf->ranges);
        }
    }
    return ETP_OK;
}
