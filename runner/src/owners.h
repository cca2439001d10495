// SPDX-License-Identifier: Apache-2.0
// Who holds this process's memory.
#ifndef ETP_RUNNER_OWNERS_H
#define ETP_RUNNER_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that XNNPACK was refused first, 0 none, and those that it had until then.
uint64_t etp_memory_refused(uint64_t *before);

// From here on what XNNPACK allocates is no more of loading.
void etp_memory_loaded(void);

typedef struct etp_memory_span {
    const void *at;
    size_t size;
} etp_memory_span;

typedef struct etp_memory_spans {
    const etp_memory_span *items;
    size_t n;
} etp_memory_spans;

// What is known by its place. Borrowed until the next one.
typedef struct etp_memory_places {
    const char *const *files; // paths of the program and its data
    size_t n_files;
    const char *cache;                      // path of that of packed weights, "" none
    etp_memory_spans planned, kept, copies; // arenas, mutable buffers in them, copies of these
} etp_memory_places;
void etp_memory_know(const etp_memory_places *places);

typedef struct etp_memory {
    uint64_t dirty_bytes, clean_bytes; // resident: of no file (written), and pages of files
    bool known;                        // the rows; they add up to dirty_bytes + clean_bytes
    etp_memory_rows rows;
} etp_memory;

// False: not known here.
bool etp_memory_read(etp_memory *out);

// ON: from here on it is also read where most is held, which is before something goes.
void etp_memory_watch(bool on);
// A mapping or block is about to go.
void etp_memory_before_less(void);
// Of all readings since, that with most; NULL: none.
const etp_memory *etp_memory_most(void);

#ifdef __cplusplus
}
#endif

#endif
