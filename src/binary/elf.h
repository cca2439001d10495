// SPDX-License-Identifier: Apache-2.0
// Programs and libraries as files: which function covers an address, and the bytes of its code.
// 64-bit little-endian ELF; the file is hostile until opened, every access is checked.
#ifndef ETP_BINARY_ELF_H
#define ETP_BINARY_ELF_H

#include <etprof/arena.h>

typedef enum etp_machine {
    ETP_MACHINE_UNKNOWN,
    ETP_MACHINE_X86_64,
    ETP_MACHINE_AARCH64
} etp_machine;

// "x86_64", "aarch64", "unknown"; find gives ETP_MACHINE_UNKNOWN for anything else.
ETP_API const char *etp_machine_name(etp_machine machine);
ETP_API etp_machine etp_machine_find(etp_str name);

typedef enum etp_bounds { // who says where a function begins and ends
    ETP_BOUNDS_NONE,
    ETP_BOUNDS_SYMBOL,
    ETP_BOUNDS_UNWIND // the table that exceptions use; there also in stripped files
} etp_bounds;

typedef struct etp_function {
    uint64_t start, end; // virtual addresses of the file, end exclusive
    etp_str symbol;      // "" none; borrows from the file
    etp_bounds bounds;
} etp_function;

typedef struct etp_elf etp_elf; // lives in the arena given to open; borrows from the bytes

// ETP_UNSUPPORTED when it is no ELF of that kind, ETP_CORRUPT with a position when it is damaged.
// Damage of a table that other tables can replace (symbols, unwind) loses the table, no more.
ETP_API ETP_NODISCARD etp_status etp_elf_open(etp_bytes file, etp_arena *arena, etp_elf **out,
                                              etp_error *err);
ETP_API etp_machine etp_elf_machine(const etp_elf *elf);
ETP_API etp_str etp_elf_build_id(const etp_elf *elf); // hexadecimal, "" none
// Bytes of the section of that name, empty when there is none.
ETP_API etp_bytes etp_elf_section(const etp_elf *elf, const char *name);
ETP_API size_t etp_elf_symbol_count(const etp_elf *elf); // functions with a name
ETP_API size_t etp_elf_unwind_count(const etp_elf *elf); // functions in the unwind table

// The function that covers ADDRESS. Bounds come from a symbol with a size where there is one,
// else from the unwind table; the name of a symbol that begins there is used in both cases.
ETP_API bool etp_elf_function(const etp_elf *elf, uint64_t address, etp_function *out);
// The code of [start, end); false when that is not wholly executable bytes of the file.
ETP_API bool etp_elf_code(const etp_elf *elf, uint64_t start, uint64_t end, etp_bytes *out);

#endif
