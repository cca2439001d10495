// SPDX-License-Identifier: Apache-2.0
// The operators as the graph they are, coloured by what differs, for the HTML page.
#ifndef ETP_NUMERICS_GRAPH_H
#define ETP_NUMERICS_GRAPH_H

#include "report/report.h"

typedef struct etp_ops etp_ops; // operators.h

typedef struct etp_error_box {
    const char *name;
    const char *call;       // the delegate call it is in; NULL: none
    const uint32_t *makers; // of its operands, places of the graph
    size_t n_makers;
    double snr_db;   // of what it makes, INFINITY: no difference
    bool seen, bad;  // held against the other arm's; the difference is too large
    const char *tip; // NULL: it was not held against anything
} etp_error_box;

typedef struct etp_error_graph { // in the order of execution
    etp_error_box *items;
    size_t n;
} etp_error_graph;

// ARENA is guarded.
void etp_error_graph_of(const etp_ops *ops, etp_arena *arena, etp_error_graph *out);
void etp_error_graph_put(etp_error_graph *graph, uint32_t place, double snr_db, bool bad,
                         etp_arena *arena);
void etp_error_graph_section(const etp_error_graph *graph, etp_report *r);

#endif
