// SPDX-License-Identifier: Apache-2.0
// Which operators a program calls, read from its file.
#ifndef ETP_RUNNER_CALLED_OPERATORS_H
#define ETP_RUNNER_CALLED_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etp_called_operator {
    const char *name; // with its overload, like "aten::add.out"
    size_t calls;     // instructions that call it
    struct etp_called_operator *next;
} etp_called_operator;

typedef struct etp_called {
    etp_called_operator *first; // in the order of the program's table; without those never called
    size_t instructions;        // of the method, calls of delegates among them
} etp_called;

// BYTES are a program's file. False: no such method, no memory, or nothing that could be read.
bool etp_called_read(const void *bytes, size_t size, const char *method, etp_called *out);
void etp_called_dispose(etp_called *called);

#ifdef __cplusplus
}
#endif

#endif
