// SPDX-License-Identifier: Apache-2.0
// The tables of a 64-bit little-endian ELF file: segments, sections, symbols. Without memory of its
// own. The file is hostile; what does not lie inside is not there.
#ifndef ETP_BINARY_ELF_TABLES_H
#define ETP_BINARY_ELF_TABLES_H

#include <etprof/bytes.h>

#define ETP_ELF_SEGMENT_BYTES 56
#define ETP_ELF_SYMBOL_BYTES 24

typedef enum etp_elf_number { // the few that are asked for, as the format has them
    ETP_ELF_LOAD = 1,
    ETP_ELF_INTERPRETER = 3,
    ETP_ELF_NOTE = 4,
    ETP_ELF_EH_FRAME_HDR = 0x6474e550,
    ETP_ELF_EXECUTABLE = 1, // flag of a segment
    ETP_ELF_PROGBITS = 1,
    ETP_ELF_SYMTAB = 2,
    ETP_ELF_RELA = 4,
    ETP_ELF_NOBITS = 8,
    ETP_ELF_DYNSYM = 11,
    ETP_ELF_CODE = 4, // flag of a section
    ETP_ELF_FUNCTION = 2,
    ETP_ELF_IFUNC = 10,
    ETP_ELF_X86_64 = 62,
    ETP_ELF_AARCH64 = 183
} etp_elf_number;

typedef struct etp_elf_tables {
    etp_bytes file;
    uint16_t machine;
    etp_bytes segments, sections, names; // the tables; sections may be cut off
    size_t n_segments, n_sections;
} etp_elf_tables;

typedef struct etp_elf_segment {
    uint32_t type, flags;
    uint64_t address;
    etp_bytes bytes; // ptr NULL: not in the file
} etp_elf_segment;

typedef struct etp_elf_section {
    uint32_t name, type, link;
    uint64_t address, flags;
    etp_bytes bytes; // empty when it has none in the file
} etp_elf_section;

typedef struct etp_elf_symbol {
    uint32_t name;
    unsigned type;
    uint16_t section; // 0: defined elsewhere
    uint64_t start, size;
} etp_elf_symbol;

// A part of the file that tables speak of; empty when it does not lie inside.
etp_bytes etp_image_part(etp_bytes file, uint64_t offset, uint64_t size);
// A NUL-terminated name in a table of names; empty when it runs out of the table.
etp_str etp_image_name_at(etp_bytes names, uint32_t offset);

// False when it is no such file. A table that makes no sense is empty.
bool etp_elf_open(etp_bytes file, etp_elf_tables *out);
etp_elf_segment etp_elf_segment_at(const etp_elf_tables *t, size_t i);
// False when it has no bytes in the file.
bool etp_elf_section_at(const etp_elf_tables *t, size_t i, etp_elf_section *out);
etp_elf_symbol etp_elf_symbol_at(etp_bytes table, size_t i);

#endif
