// SPDX-License-Identifier: Apache-2.0
// The tensors of a method for which memory was planned: where each lies, which instructions need
// it, and which are kept from call to call.
#ifndef ETP_PROGRAM_PLANNED_H
#define ETP_PROGRAM_PLANNED_H

#include <etprof/program.h>

typedef struct etp_planned {
    const etp_value *value;
    uint64_t bytes, offset; // in its arena
    uint32_t arena;         // as the file numbers them
    uint32_t first, last;   // of the method's instructions that need it, counted over all chains
    bool given, handed;     // an input, an output of the method
    bool needed;            // by any instruction
    bool kept;              // from call to call: a cache, a state
} etp_planned;

// Those that are needed or kept, by arena and offset; OUT borrows from the method.
// Nothing declares a cache: it is what an execution reads before anything has written it, and is no
// view of another tensor. The number; 0 also when out of memory (etp_arena_check).
size_t etp_planned_of(const etp_method *method, etp_arena *arena, etp_planned **out);

#endif
