// SPDX-License-Identifier: Apache-2.0
// What an event is and what contains it, from names, ids and file order. Of times only the order of
// what was not logged as it ended is taken.
#ifndef ETP_TRACE_TREE_H
#define ETP_TRACE_TREE_H

#include "trace/internal.h"

// Fills kind, parent and leaf of EVENTS, whose other fields are set. SCRATCH: room for N indices.
void etp_tree_build(etp_trace_event *events, size_t n, uint32_t *scratch);

// Where events that were logged after what they are a part of, by their names or by their TIMES (n)
// in one execution, stand before it: ORDER (n) is filled with the number of the event that comes
// first, second and so on. False when all are where they were. SCRATCH is for what it needs while
// it looks.
bool etp_tree_order(const etp_trace_event *events, size_t n, const etp_ticks *times,
                    etp_arena *scratch, uint32_t *order);

#endif
