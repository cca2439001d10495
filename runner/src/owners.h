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

typedef struct etp_memory {
    uint64_t dirty_bytes, clean_bytes; // resident: of no file (written), and pages of files
    bool known;                        // the rows; they add up to dirty_bytes + clean_bytes
    etp_memory_rows rows;
} etp_memory;

// FILES: paths of the program and its data. CACHE: that of packed weights, "" none. PLANNED: its
// arenas. False: not known here.
bool etp_memory_read(const char *const *files, size_t n_files, const char *cache,
                     const etp_memory_span *planned, size_t n_planned, etp_memory *out);

#ifdef __cplusplus
}
#endif

#endif
