// SPDX-License-Identifier: Apache-2.0
// Function bounds out of an .eh_frame section.
#ifndef ETP_BINARY_UNWIND_H
#define ETP_BINARY_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <etprof/bytes.h>

typedef struct etp_range {
    uint64_t start, end;
} etp_range;

typedef struct etp_unwind { // private but for etp_unwind_begin
    etp_bytes section;
    uint64_t address;
    size_t at;  // of the next record
    size_t cie; // of the last record: where it is, how it encodes pointers
    uint8_t encoding;
    bool usable;
} etp_unwind;

// SECTION is loaded at ADDRESS.
etp_unwind etp_unwind_begin(etp_bytes section, uint64_t address);
// The next function, in file order. False behind the last one, and at the first record that makes
// no sense.
bool etp_unwind_next(etp_unwind *u, etp_range *out);

#endif
