// SPDX-License-Identifier: Apache-2.0
// What an event is and what contains it, from names, ids and file order; never from times.
#ifndef ETP_TRACE_TREE_H
#define ETP_TRACE_TREE_H

#include <etprof/trace.h>

// Fills kind, parent and leaf of EVENTS, whose other fields are set. SCRATCH: room for N indices.
void etp_tree_build(etp_trace_event *events, size_t n, uint32_t *scratch);

// Brings events that were logged after what they are a part of in front of it, and fills IN_FILE
// (n): where each was. False when all are where they were.
bool etp_tree_order(etp_trace_event *events, size_t n, uint32_t *in_file);

#endif
