// SPDX-License-Identifier: Apache-2.0
// Who holds the memory of a process: its resident bytes by owner. The rows add up to the whole, so
// what nobody is known to hold is a row too. Shared by runner and tool. libc only.
#ifndef ETP_BASE_MEMORY_ROWS_H
#define ETP_BASE_MEMORY_ROWS_H

#include <stdint.h>

// ROW(member, title for people, what it is). SOME: a row that is left out where it is 0, because
// there is none or an older etprof recorded it.
#define ETP_MEMORY_ROWS(ROW, SOME)                                                       \
    ROW(program, "program", "pages of the program's files that were touched")            \
    ROW(planned, "planned arenas", "tensors, as the program plans them")                 \
    SOME(kept, "mutable buffers (KV cache)", "planned, and kept from call to call")      \
    SOME(copies, "copies of these", "etprof's own, put back before each repetition")     \
    ROW(packed, "XNNPACK at load", "allocated while loading: packed weights, operators") \
    ROW(cache, "packed cache", "pages of the file of packed weights that were touched")  \
    ROW(workspace, "XNNPACK later", "allocated since: workspace")                        \
    ROW(code, "code", "pages of the runner and its libraries")                           \
    ROW(allocator, "other objects", "in use of malloc by everything else")               \
    ROW(freed, "free in malloc", "freed, and not given back to the system; at least")    \
    ROW(stack, "stack", "of the main thread")                                            \
    ROW(unaccounted, "unaccounted", "stacks of threads, zeroed data of libraries, and others")

typedef struct etp_memory_rows { // bytes
#define ETP_MEMORY_MEMBER(member, title, what) uint64_t member;
    ETP_MEMORY_ROWS(ETP_MEMORY_MEMBER, ETP_MEMORY_MEMBER)
#undef ETP_MEMORY_MEMBER
} etp_memory_rows;

// When it is read beside the end of the measured iterations. STAGE(member, when)
#define ETP_MEMORY_STAGES(STAGE)                             \
    STAGE(load, "after loading, before the first inference") \
    STAGE(first, "after the first inference")                \
    STAGE(peak, "when most was held, of all readings: before something goes there is one")

typedef struct etp_memory_stage {
    etp_memory_rows rows;
    uint64_t peak_bytes; // most that was resident until then; peak: at all
} etp_memory_stage;

typedef struct etp_memory_stages {
#define ETP_MEMORY_MEMBER(member, when) etp_memory_stage member;
    ETP_MEMORY_STAGES(ETP_MEMORY_MEMBER)
#undef ETP_MEMORY_MEMBER
} etp_memory_stages;

static inline uint64_t etp_memory_sum(const etp_memory_rows *rows)
{
#define ETP_MEMORY_ADD(member, title, what) +rows->member
    return 0 ETP_MEMORY_ROWS(ETP_MEMORY_ADD, ETP_MEMORY_ADD);
#undef ETP_MEMORY_ADD
}

#endif
