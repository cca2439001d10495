// SPDX-License-Identifier: Apache-2.0
#include "binary/elf_tables.h"

#define HEADER_BYTES 64
#define SECTION_BYTES 64

etp_bytes etp_image_part(etp_bytes file, uint64_t offset, uint64_t size)
{
    if (offset > file.len || size > file.len - offset) {
        return (etp_bytes){0};
    }
    return (etp_bytes){file.ptr + offset, (size_t)size, file.base + offset};
}

etp_str etp_image_name_at(etp_bytes names, uint32_t offset)
{
    if (offset >= names.len) {
        return (etp_str){0};
    }
    const char *start = (const char *)names.ptr + offset;
    const void *end = memchr(start, 0, names.len - offset);
    return end ? (etp_str){start, (size_t)((const char *)end - start)} : (etp_str){0};
}

bool etp_elf_open(etp_bytes file, etp_elf_tables *out)
{
    const uint8_t *head = file.ptr;
    if (file.len < HEADER_BYTES ||
        memcmp(head,
               "\x7f"
               "ELF",
               4) != 0 ||
        head[4] != 2 || head[5] != 1) {
        return false;
    }
    *out = (etp_elf_tables){.file = file, .machine = etp_load_u16(head + 18)};
    uint16_t segments = etp_load_u16(head + 56), sections = etp_load_u16(head + 60);
    if (etp_load_u16(head + 54) == ETP_ELF_SEGMENT_BYTES) {
        out->segments = etp_image_part(file, etp_load_u64(head + 32),
                                       (uint64_t)segments * ETP_ELF_SEGMENT_BYTES);
        out->n_segments = out->segments.ptr ? segments : 0;
    }
    if (etp_load_u16(head + 58) == SECTION_BYTES) {
        out->sections =
            etp_image_part(file, etp_load_u64(head + 40), (uint64_t)sections * SECTION_BYTES);
        out->n_sections = out->sections.ptr ? sections : 0;
    }
    etp_elf_section names;
    uint16_t at = etp_load_u16(head + 62);
    if (at < out->n_sections && etp_elf_section_at(out, at, &names)) {
        out->names = names.bytes;
    }
    return true;
}

etp_elf_segment etp_elf_segment_at(const etp_elf_tables *t, size_t i)
{
    const uint8_t *p = t->segments.ptr + i * ETP_ELF_SEGMENT_BYTES;
    return (etp_elf_segment){
        .type = etp_load_u32(p),
        .flags = etp_load_u32(p + 4),
        .address = etp_load_u64(p + 16),
        .bytes = etp_image_part(t->file, etp_load_u64(p + 8), etp_load_u64(p + 32))};
}

bool etp_elf_section_at(const etp_elf_tables *t, size_t i, etp_elf_section *out)
{
    const uint8_t *p = t->sections.ptr + i * SECTION_BYTES;
    *out = (etp_elf_section){.name = etp_load_u32(p),
                             .type = etp_load_u32(p + 4),
                             .link = etp_load_u32(p + 40),
                             .address = etp_load_u64(p + 16),
                             .flags = etp_load_u64(p + 8)};
    if (out->type != ETP_ELF_NOBITS) {
        out->bytes = etp_image_part(t->file, etp_load_u64(p + 24), etp_load_u64(p + 32));
    }
    return out->bytes.ptr != NULL;
}

etp_elf_symbol etp_elf_symbol_at(etp_bytes table, size_t i)
{
    const uint8_t *p = table.ptr + i * ETP_ELF_SYMBOL_BYTES;
    return (etp_elf_symbol){.name = etp_load_u32(p),
                            .type = p[4] & 15u,
                            .section = etp_load_u16(p + 6),
                            .start = etp_load_u64(p + 8),
                            .size = etp_load_u64(p + 16)};
}
