// SPDX-License-Identifier: Apache-2.0
// What XNNPACK does while a program is loaded.
#ifndef ETP_RUNNER_LOADING_H
#define ETP_RUNNER_LOADING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum etp_loading_mode {
    ETP_LOADING_OFF,
    ETP_LOADING_TIMES, // what is asked of the allocator while delegates are created, and when
    ETP_LOADING_SIZES  // how much each operator packs; nothing that is loaded can be executed
} etp_loading_mode;
void etp_loading_watch(etp_loading_mode mode);

typedef struct etp_delegate_load {
    uint64_t begin_ns, from_ns, to_ns; // graph begun, creation begun and ended; CLOCK_MONOTONIC
    size_t workspace; // that it computes in, from 1 in the order of loading; others may share it
} etp_delegate_load;
size_t etp_loading_delegates(void); // created while times were watched
etp_delegate_load etp_loading_delegate(size_t delegate);
// Packed weights number I of DELEGATE: their size, and the time from when XNNPACK asked for their
// memory to its next request. 0: no more. With *ns 0 they were asked of something else than the
// allocator, such as a file of packed weights.
size_t etp_loading_packed(size_t delegate, size_t i, uint64_t *ns);

// From owners.c: XNNPACK prepares a delegate; it asks for SIZE bytes that are aligned, 0 for
// others.
void etp_loading_begins(void);
void etp_loading_asked(size_t size);

uint64_t etp_loading_mapped_ns(void); // the end of the last mapping of a file; 0: not seen
uint64_t etp_loading_faults(void);    // page faults of this process until now

#ifdef __cplusplus
}
#endif

#endif
