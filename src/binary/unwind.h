// SPDX-License-Identifier: Apache-2.0
// Function bounds out of an .eh_frame section.
#ifndef ETP_BINARY_UNWIND_H
#define ETP_BINARY_UNWIND_H

#include <etprof/arena.h>

typedef struct etp_range {
    uint64_t start, end;
} etp_range;

typedef struct etp_ranges {
    etp_range *items;
    size_t n, cap;
} etp_ranges;

// Reads the entries of SECTION, which is loaded at ADDRESS, in file order. Reading ends quietly at
// the first entry that makes no sense: what came before stays. False on out of memory.
bool etp_unwind_read(etp_bytes section, uint64_t address, etp_arena *arena, etp_ranges *out);

#endif
