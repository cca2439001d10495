// SPDX-License-Identifier: Apache-2.0
// What an event is and what contains it, from names, ids and file order. Of times only the order of
// what was not logged as it ended is taken.
#ifndef ETP_TRACE_TREE_H
#define ETP_TRACE_TREE_H

#include <etprof/trace.h>

// Fills kind, parent and leaf of EVENTS, whose other fields are set. SCRATCH: room for N indices.
void etp_tree_build(etp_trace_event *events, size_t n, uint32_t *scratch);

// Brings events that were logged after what they are a part of, by their names or by their TIMES
// (n) in one execution, in front of it, and fills IN_FILE (n): where each was; TIMES are moved with
// their events. False when all are where they were. SCRATCH is for what it needs while it looks.
typedef struct etp_tree_times {
    uint64_t start, end;
} etp_tree_times;
bool etp_tree_order(etp_trace_event *events, size_t n, etp_tree_times *times, etp_arena *scratch,
                    uint32_t *in_file);

#endif
