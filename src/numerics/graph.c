// SPDX-License-Identifier: Apache-2.0
// Boxes of operators, and their colours.
#include "numerics/graph.h"

#include <math.h>

#include "numerics/operators.h"

#define MOST_BOXES 1500u
#define EXACT_DB 150.0 // no colour from there on: more than float32 holds

void etp_error_graph_of(const etp_ops *ops, etp_arena *arena, etp_error_graph *out)
{
    *out = (etp_error_graph){ETP_NEW_ARRAY(arena, etp_error_box, ops->n), ops->n};
    for (size_t i = 0; i < ops->n; i++) {
        const etp_op *op = &ops->items[i];
        const etp_instruction *call = &op->at.method->instructions[op->at.instruction];
        uint32_t *makers = ETP_NEW_ARRAY(arena, uint32_t, op->n_operands);
        for (size_t k = 0; k < op->n_operands; k++) {
            makers[k] = op->operands[k].maker;
        }
        out->items[i] = (etp_error_box){.name = etp_cut_place_text(&op->at, arena),
                                        .makers = makers,
                                        .n_makers = op->n_operands};
        if (op->at.node != ETP_NO_INDEX) {
            out->items[i].call =
                etp_arena_printf(arena, "delegate call %lu", (unsigned long)call->index);
        }
    }
}

void etp_error_graph_put(etp_error_graph *graph, uint32_t place, double snr_db, bool bad,
                         etp_arena *arena)
{
    etp_error_box *box = &graph->items[place];
    box->seen = true;
    box->bad = bad;
    box->snr_db = isnan(snr_db) ? (double)INFINITY : snr_db;
    box->tip = isinf(box->snr_db) && box->snr_db > 0
                   ? "no difference"
                   : etp_arena_printf(arena, "SNR %s dB", ETP_DIGITS(box->snr_db, 3));
}

void etp_error_graph_section(const etp_error_graph *graph, etp_report *r)
{
    if (graph->n == 0 || graph->n > MOST_BOXES) {
        return;
    }
    etp_report_section(r, 1, "graph", "The model");
    etp_report_text(r,
                    "Operators of the baseline from the first to the last, delegate calls as "
                    "frames. The darker, the larger the error of what an operator makes; what is "
                    "outside the tolerance is orange, what was not compared has no colour.");
    etp_picture *g = etp_report_picture(r, "graph");
    etp_picture_text(g, "title", "Operators and what leads from one to another");
    etp_picture_text(g, "view0", "error");
    etp_picture_list(g, "boxes");
    for (size_t i = 0; i < graph->n; i++) {
        const etp_error_box *b = &graph->items[i];
        const double size = fmin(fmax(1 - b->snr_db / EXACT_DB, 0), 1);
        const double heat = b->bad ? -fmax(size, 0.2) : size;
        etp_picture_item(g);
        etp_picture_text(g, "label", b->name);
        etp_picture_text(g, "tip", ETP_OR(b->tip, "not compared"));
        etp_picture_text(g, "group", b->call);
        etp_picture_list(g, "heat");
        etp_picture_number(g, NULL, etp_value_if(b->seen, round(100 * heat)));
        etp_picture_end(g);
        etp_picture_end(g);
    }
    etp_picture_end(g);
    etp_picture_list(g, "edges");
    for (size_t i = 0; i < graph->n; i++) {
        for (size_t k = 0; k < graph->items[i].n_makers; k++) {
            if (graph->items[i].makers[k] < i) {
                etp_picture_number(g, NULL, graph->items[i].makers[k]);
                etp_picture_number(g, NULL, (double)i);
            }
        }
    }
    etp_picture_end(g);
    etp_picture_end(g);
}
