// SPDX-License-Identifier: Apache-2.0
// The operators of an answer as a graph and as tracks, for the HTML page.
#ifndef ETP_SHOW_GRAPH_H
#define ETP_SHOW_GRAPH_H

#include "show/report.h"

typedef struct etp_ab_edge {
    uint32_t from, to; // operators
} etp_ab_edge;

typedef struct etp_ab_flow { // what leads from one operator to another, by where it leads
    etp_ab_edge *items;
    size_t n, cap;
} etp_ab_flow;

// The method of its program that the operators of an arm were joined to; NULL: it is not known.
const etp_method *etp_ab_method_of(const etp_ab_arm *arm);
// Of no edges where no program says it, and where ARENA, which knows it, ran out.
etp_ab_flow etp_ab_flow_of(const etp_ab *ab, etp_arena *arena);
// Kernels, shapes, work, neighbours and source of an operator (operator_facts.c), to KEYS; the
// lines of the model around it behind them.
void etp_ab_operator_facts(const etp_ab *ab, const etp_ab_operator *op, const etp_ab_flow *flow,
                           etp_report *r, etp_keys *keys, etp_arena *arena);
void etp_ab_graph_section(const etp_ab *ab, const etp_ab_flow *flow, etp_report *r);
void etp_ab_roofline_section(const etp_ab *ab, etp_report *r); // roofline.c; nothing without roofs
void etp_ab_spans_section(const etp_ab *ab, etp_report *r, etp_arena *arena);

#endif
