// SPDX-License-Identifier: Apache-2.0
// Which kernels a program or library holds, by the instruction set of their code. Built in, not
// run: what ran is inspect/kernels/kernels.h.
#ifndef ETP_INSPECT_KERNELS_BINARY_H
#define ETP_INSPECT_KERNELS_BINARY_H

#include "binary/code.h"
#include "document/fields.h"
#include "report/report.h"

typedef struct etp_built_kernel { // a function with a name of XNNPACK or KleidiAI
    etp_str name;
    uint64_t address, bytes;
    etp_code code;
} etp_built_kernel;

// What is built in, told from the code itself: symbols may be stripped, and a build's options are
// nowhere in the file.
typedef struct etp_kernel_binary {
    const char *title;
    const char *format;
    etp_machine machine;
    etp_str build_id; // "" none
    uint64_t functions, named, undecoded;
    uint64_t of[ETP_CODES], bytes_of[ETP_CODES]; // functions, and their code
    struct {
        etp_built_kernel *items; // by name
        size_t n, cap;
    } kernels;
} etp_kernel_binary;

// True when FILE begins as a program or library does that can be read.
bool etp_kernel_binary_is(etp_bytes file);
// Texts borrow from FILE. Of functions that lie in each other the outer one counts.
ETP_NODISCARD etp_status etp_kernel_binary_read(etp_bytes file, etp_arena *arena,
                                                etp_kernel_binary *out, etp_error *err);

typedef struct etp_kernel_binaries {
    const etp_kernel_binary *files;
    size_t n;           // 1 or 2
    const char *filter; // only kernels with this in their name, NULL all
} etp_kernel_binaries;
extern const etp_document k_etp_kernel_binary_document; // of etp_kernel_binaries
// Tables "isa" and "kernels".
const etp_report *etp_kernel_binaries_report(const etp_kernel_binaries *b, etp_arena *arena);

#endif
