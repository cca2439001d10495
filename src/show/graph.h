// SPDX-License-Identifier: Apache-2.0
// The operators of an answer as a graph and as tracks, for the HTML page.
#ifndef ETP_SHOW_GRAPH_H
#define ETP_SHOW_GRAPH_H

#include "show/report.h"

// Kernels, shapes, work, neighbours and source of an operator (operator_facts.c), to KEYS; the
// lines of the model around it behind them.
void etp_ab_operator_facts(const etp_ab *ab, const etp_ab_operator *op, etp_report *r,
                           etp_keys *keys, etp_arena *arena);
void etp_ab_graph_section(const etp_ab *ab, etp_report *r);    // nothing where no program says it
void etp_ab_roofline_section(const etp_ab *ab, etp_report *r); // roofline.c; nothing without roofs
void etp_ab_spans_section(const etp_ab *ab, etp_report *r, etp_arena *arena);

#endif
