// SPDX-License-Identifier: Apache-2.0
// What the readers of single formats fill in; for this room alone.
#ifndef ETP_BINARY_IMAGE_PARTS_H
#define ETP_BINARY_IMAGE_PARTS_H

#include "binary/elf_tables.h"
#include "binary/image.h"
#include "binary/unwind.h"
#include "binary/x86_reader.h"

#define ETP_IMAGE_SEGMENTS 256
#define ETP_IMAGE_RANGES ((size_t)1 << 22)
#define ETP_IMAGE_SYMBOLS ((uint64_t)1 << 23)

typedef struct etp_image_segment {
    uint64_t address, size; // file bytes that can be executed
    etp_bytes bytes;
} etp_image_segment;

typedef struct etp_image_symbol {
    uint64_t start, end; // end == start: size unknown
    etp_str name;
} etp_image_symbol;

typedef struct etp_ranges {
    etp_range *items;
    size_t n, cap;
} etp_ranges;

typedef struct etp_addresses {
    uint64_t *items;
    size_t n, cap;
} etp_addresses;

struct etp_image {
    etp_bytes file; // of a universal file the part that is read
    etp_image_format format;
    etp_machine machine;
    etp_str build_id;
    etp_image_segment segments[ETP_IMAGE_SEGMENTS];
    size_t n_segments;
    struct {
        etp_image_symbol *items; // by start, then longest, then name
        size_t n, cap;
    } symbols;
    etp_ranges ranges; // by start
    etp_bounds range_bounds;
    etp_ranges code;        // sections of code; empty where the file has no table of sections
    etp_addresses pointers; // that the loader puts into tables, whatever they point to
    etp_ranges flows;       // what gaps.c found between all others, by start
};

void etp_image_set_id(etp_image *image, etp_bytes id, etp_arena *arena);

// Appends the functions of SECTION, an .eh_frame that is loaded at ADDRESS.
void etp_image_read_unwind(etp_bytes section, uint64_t address, etp_arena *arena, etp_ranges *out);

// Ranges and symbols must be sorted.
void etp_image_join_labels(etp_image *image, etp_arena *arena);
// Addresses outside known functions that code and tables of the file name, sorted; READER is for
// x86-64.
void etp_image_references(const etp_image *image, etp_x86_reader *reader, etp_arena *arena,
                          etp_addresses *out);
// Functions between the sorted ranges and symbols, into `flows`.
ETP_NODISCARD etp_status etp_image_fill_gaps(etp_image *image, etp_arena *arena, etp_error *err);
bool etp_image_has_symbol(const etp_image *image, uint64_t start); // that begins there
// The one ADDRESS lies in, by bisection; NULL between them. They ascend and do not overlap.
const etp_range *etp_range_at(const etp_ranges *ranges, uint64_t address);

ETP_NODISCARD etp_status etp_elf_read(etp_image *image, etp_arena *arena, etp_error *err);
etp_bytes etp_elf_section_named(const etp_image *image, const char *name);
ETP_NODISCARD etp_status etp_macho_read(etp_image *image, etp_arena *arena, etp_error *err);
etp_bytes etp_macho_section(const etp_image *image, const char *name);

#endif
