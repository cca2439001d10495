// SPDX-License-Identifier: Apache-2.0
// Programs and libraries as files: which function covers an address, and the bytes of its code.
// 64-bit little-endian ELF and Mach-O; the file is hostile until opened, every access is checked.
#ifndef ETP_BINARY_IMAGE_H
#define ETP_BINARY_IMAGE_H

#include <etprof/arena.h>

typedef enum etp_machine {
    ETP_MACHINE_UNKNOWN,
    ETP_MACHINE_X86_64,
    ETP_MACHINE_AARCH64,
    ETP_MACHINES
} etp_machine;

// "x86_64", "aarch64", "unknown"; find gives ETP_MACHINE_UNKNOWN for anything else.
const char *etp_machine_name(etp_machine machine);
etp_machine etp_machine_find(etp_str name);

typedef enum etp_bounds { // who says where a function begins and ends
    ETP_BOUNDS_NONE,
    ETP_BOUNDS_SYMBOL,
    ETP_BOUNDS_UNWIND, // the table that exceptions use; there also in stripped files
    ETP_BOUNDS_STARTS, // Mach-O: the linker's list of where functions begin, each up to the next
    ETP_BOUNDS_FLOW    // no table: the code itself, by where control can go
} etp_bounds;
const char *etp_bounds_name(etp_bounds bounds); // "none", "symbol"

typedef struct etp_function {
    uint64_t start, end; // virtual addresses of the file, end exclusive
    etp_str symbol;      // "" none; borrows from the file
    etp_bounds bounds;
} etp_function;

typedef enum etp_image_format { ETP_IMAGE_ELF, ETP_IMAGE_MACHO } etp_image_format;

typedef struct etp_image etp_image; // lives in the arena given to open; borrows from the bytes

// ETP_UNSUPPORTED when it is no file of these kinds (of a universal Mach-O the arm64 part is read,
// else the x86-64 one), ETP_CORRUPT with a position when it is damaged. Damage of a table that
// other tables can replace (symbols, unwind) loses the table, no more.
ETP_NODISCARD etp_status etp_image_open(etp_bytes file, etp_arena *arena, etp_image **out,
                                        etp_error *err);
// Likewise, without the functions that only the code itself shows: disassembling the libraries of
// ExecuTorch takes seconds.
ETP_NODISCARD etp_status etp_image_open_tables(etp_bytes file, etp_arena *arena, etp_image **out,
                                               etp_error *err);
etp_image_format etp_image_format_of(const etp_image *image);
etp_machine etp_image_machine(const etp_image *image);
etp_str etp_image_build_id(const etp_image *image); // hexadecimal (Mach-O: the UUID), "" none
// Bytes of the section of that name (".comment", "__eh_frame"), empty when there is none.
etp_bytes etp_image_section(const etp_image *image, const char *name);
size_t etp_image_symbol_count(const etp_image *image); // functions with a name
size_t etp_image_range_count(
    const etp_image *image); // functions in the table beside the symbols, and those of the gaps
// The I-th of them, with its name where a symbol begins there; those of the gaps come last, both by
// address.
etp_function etp_image_range_at(const etp_image *image, size_t i);
// The I-th function with a name, by address; one without a size has the bounds of the table beside
// the symbols.
etp_function etp_image_symbol_at(const etp_image *image, size_t i);

// The function that covers ADDRESS. Bounds come from a symbol with a size where there is one,
// else from the table beside the symbols; the name of a symbol that begins there is used in both
// cases.
bool etp_image_function(const etp_image *image, uint64_t address, etp_function *out);
// The code of [start, end); false when that is not wholly executable bytes of the file.
bool etp_image_code(const etp_image *image, uint64_t start, uint64_t end, etp_bytes *out);

#endif
