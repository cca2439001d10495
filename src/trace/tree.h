// SPDX-License-Identifier: Apache-2.0
// What an event is and what contains it, from names, ids and file order; never from times.
#ifndef ETP_TRACE_TREE_H
#define ETP_TRACE_TREE_H

#include <etprof/trace.h>

// Fills kind, parent and leaf of EVENTS, whose other fields are set. SCRATCH: room for N indices.
void etp_tree_build(etp_trace_event *events, size_t n, uint32_t *scratch);

#endif
