// SPDX-License-Identifier: Apache-2.0
// A graph drawn in layers: a box stands below what leads to it, frames one below the other.
#include <math.h>
#include <stdlib.h>

#include "report/html_parts.h"
#include "report/svg.h"

#define BOX_W 200 // as the page's style has them
#define BOX_H 22
#define GAP_X 24
#define GAP_Y 14
#define FRAME 8
#define FRAME_TITLE 20

typedef struct place {
    uint32_t layer;
    double want, x, y; // x: of the middle
} place;

typedef struct layout {
    const etp_graph *g;
    etp_graph_link *edges; // by where they lead
    uint32_t *first;       // of a box's edges
    place *places;         // of the boxes
    uint32_t *order;       // boxes from the top, then from left to right
    double left, right, bottom;
} layout;

// By both ends, so that the page does not depend on what qsort does with equals.
static int by_end(const void *pa, const void *pb)
{
    const etp_graph_link *a = pa, *b = pb;
    return a->to != b->to ? (a->to > b->to) - (a->to < b->to)
                          : (a->from > b->from) - (a->from < b->from);
}

static bool begins_frame(const etp_graph *g, size_t box)
{
    uint32_t group = g->boxes.items[box].group;
    return box == 0 || group == ETP_NO_INDEX || group != g->boxes.items[box - 1].group;
}

// Boxes come in an order in which nothing leads back, so one pass is enough: a box stands one layer
// below the lowest that leads to it. A frame begins below everything before it, so that frames
// never overlap.
static void find_layers(layout *o)
{
    uint32_t floor = 0, most = 0;
    for (size_t i = 0; i < o->g->boxes.n; i++) {
        floor = i && begins_frame(o->g, i) ? most + 1 : floor;
        uint32_t layer = floor;
        for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++) {
            uint32_t above = o->places[o->edges[k].from].layer;
            layer = above >= layer ? above + 1 : layer;
        }
        o->places[i].layer = layer;
        most = layer > most ? layer : most;
    }
}

// Each box below the middle of what leads to it, as far as its neighbours let it.
static void place_layer(layout *o, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++) {
        uint32_t box = o->order[i], edges = o->first[box + 1] - o->first[box];
        double sum = 0;
        for (uint32_t k = o->first[box]; k < o->first[box + 1]; k++) {
            sum += o->places[o->edges[k].from].x;
        }
        o->places[box].want = edges ? sum / edges : 0;
        size_t k = i;
        for (; k > from && o->places[o->order[k - 1]].want > o->places[box].want; k--) {
            o->order[k] = o->order[k - 1];
        }
        o->order[k] = box;
    }
    // Boxes are pushed to the right until none overlap; moving the whole layer back by the mean of
    // that leaves it centred below what leads to it.
    double shift = 0, at = -INFINITY;
    for (size_t i = from; i < from + n; i++) {
        place *p = &o->places[o->order[i]];
        p->x = fmax(p->want, at + BOX_W + GAP_X);
        at = p->x;
        shift += p->want - p->x;
    }
    for (size_t i = from; i < from + n; i++) {
        place *p = &o->places[o->order[i]];
        p->x += shift / (double)n;
        o->left = fmin(o->left, p->x - BOX_W / 2.0);
        o->right = fmax(o->right, p->x + BOX_W / 2.0);
    }
}

static int by_layer(const place *a, const place *b)
{
    return (a->layer > b->layer) - (a->layer < b->layer);
}

static void find_places(layout *o, etp_arena *arena)
{
    const etp_graph *g = o->g;
    size_t n = g->boxes.n;
    o->edges = ETP_NEW_ARRAY(arena, etp_graph_link, g->edges.n + 1);
    o->first = ETP_NEW_ARRAY(arena, uint32_t, n + 2);
    o->places = ETP_NEW_ARRAY(arena, place, n + 1);
    o->order = ETP_NEW_ARRAY(arena, uint32_t, n + 1);
    // A counting sort: first[i] … first[i + 1] are the edges that lead to box i.
    for (size_t k = 0; k < g->edges.n; k++) {
        o->edges[k] = g->edges.items[k];
        o->first[g->edges.items[k].to + 1]++;
    }
    for (size_t i = 0; i < n; i++) {
        o->first[i + 1] += o->first[i];
    }
    if (g->edges.n) {
        qsort(o->edges, g->edges.n, sizeof *o->edges, by_end);
    }
    find_layers(o);
    for (size_t i = 0; i < n; i++) { // nearly sorted already
        size_t k = i;
        for (; k > 0 && by_layer(&o->places[o->order[k - 1]], &o->places[i]) > 0; k--) {
            o->order[k] = o->order[k - 1];
        }
        o->order[k] = (uint32_t)i;
    }
    double y = 0;
    for (size_t from = 0, next; from < n; from = next) {
        uint32_t layer = o->places[o->order[from]].layer, box = o->order[from];
        for (next = from; next < n && o->places[o->order[next]].layer == layer; next++) {
            box = o->order[next] < box ? o->order[next] : box;
        }
        bool framed = g->boxes.items[box].group != ETP_NO_INDEX;
        if (begins_frame(g, box)) {
            y += FRAME + (framed ? FRAME_TITLE : 0);
        }
        place_layer(o, from, next - from);
        for (size_t i = from; i < next; i++) {
            o->places[o->order[i]].y = y;
        }
        y += BOX_H + GAP_Y;
        bool ends = next == n || begins_frame(g, o->order[next]);
        y += ends && framed ? FRAME : 0;
    }
    o->bottom = y;
}

static void write_frames(etp_sink *sink, const layout *o)
{
    const etp_graph *g = o->g;
    for (size_t i = 0, next; i < g->boxes.n; i = next) {
        double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
        for (next = i; next < g->boxes.n && (next == i || !begins_frame(g, next)); next++) {
            const place *p = &o->places[next];
            left = fmin(left, p->x - BOX_W / 2.0);
            right = fmax(right, p->x + BOX_W / 2.0);
            top = fmin(top, p->y);
            bottom = fmax(bottom, p->y + BOX_H);
        }
        if (g->boxes.items[i].group == ETP_NO_INDEX) {
            continue;
        }
        etp_sink_printf(sink,
                        "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
                        "height=\"%.0f\"/><text class=\"m c\" x=\"%.0f\" y=\"%.0f\">",
                        left - FRAME - o->left, top - FRAME_TITLE, right - left + 2 * FRAME,
                        bottom - top + FRAME_TITLE + FRAME, left - o->left, top - 6);
        etp_sink_xml(sink, g->groups.items[g->boxes.items[i].group]);
        etp_sink_z(sink, "</text>\n");
    }
}

// One path, so one element, however many edges there are.
static void write_edges(etp_sink *sink, const layout *o)
{
    etp_sink_z(sink, "<path class=\"flow\" d=\"");
    for (size_t k = 0; k < o->g->edges.n; k++) {
        const place *a = &o->places[o->edges[k].from], *b = &o->places[o->edges[k].to];
        double x1 = a->x - o->left, y1 = a->y + BOX_H, x2 = b->x - o->left, y2 = b->y;
        double bend = fmin((y2 - y1) / 2, 40);
        if (fabs(x1 - x2) < 1) {
            etp_sink_printf(sink, "M%.0f %.0fV%.0f", x1, y1, y2);
        } else {
            etp_sink_printf(sink, "M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f", x1, y1, x1, y1 + bend,
                            x2, y2 - bend, x2, y2);
        }
    }
    etp_sink_z(sink, "\"/>\n");
}

static void write_box(etp_sink *sink, etp_svg *o, const etp_graph_item *b, const place *p,
                      double left, const etp_html_links *links)
{
    bool link = b->link.len && etp_html_links_have(links, b->link), styled = false;
    etp_sink_z(sink, link ? "<a href=#" : "<g");
    if (link) {
        etp_html_id(sink, b->link);
    }
    etp_sink_z(sink, " class=\"n");
    for (int i = 0; i < ETP_GRAPH_VIEWS; i++) {
        // The style knows one colour for each sign; how strong it is stands in a property for each
        // view, so that changing the view needs no script.
        etp_sink_z(sink, b->heat[i] < 0 ? (const char *const[]){" m0", " m1", " m2"}[i] : "");
    }
    etp_sink_printf(sink, "\" transform=translate(%.0f,%.0f)", p->x - BOX_W / 2.0 - left, p->y);
    for (int i = 0; i < ETP_GRAPH_VIEWS; i++) {
        double heat = isfinite(b->heat[i]) ? fmin(fabs(b->heat[i]), 1) : 0;
        if (heat >= 0.005) {
            etp_sink_printf(sink, styled ? ";--v%d:%.0f%%" : " style=--v%d:%.0f%%", i, 100 * heat);
            styled = true;
        }
    }
    etp_sink_char(sink, '>');
    if (!link) { // the drawer has it, whole and with its name
        etp_sink_z(sink, "<title>");
        etp_sink_xml(sink, b->tip.len ? b->tip : b->label);
        etp_sink_z(sink, "</title>");
    }
    etp_sink_z(sink, "<rect/><text>");
    etp_sink_xml(sink, etp_truncate(&o->scratch, b->label, 29, "…"));
    etp_sink_z(sink, link ? "</text></a>\n" : "</text></g>\n");
}

static void write_views(etp_sink *sink, const etp_graph *g, size_t ordinal)
{
    etp_sink_z(sink, "<div class=\"views\" role=\"radiogroup\" aria-label=\"Coloured by\">");
    bool first = true;
    for (int i = 0; i < ETP_GRAPH_VIEWS; i++) {
        if (g->views[i].len) {
            etp_sink_printf(sink, "<label><input type=\"radio\" name=\"view-%zu\" value=\"%d\"%s> ",
                            ordinal, i, first ? " checked=\"\"" : "");
            etp_sink_xml(sink, g->views[i]);
            etp_sink_z(sink, "</label>");
            first = false;
        }
    }
    etp_sink_z(sink, "</div>\n");
}

void etp_html_graph(etp_sink *sink, const etp_graph *g, size_t ordinal, const etp_html_links *links,
                    etp_arena *arena)
{
    layout o = {.g = g, .left = 0, .right = 0};
    if (g->boxes.n == 0) {
        return;
    }
    find_places(&o, arena);
    o.left -= FRAME + 1;
    double width = o.right - o.left + FRAME + 1, height = o.bottom + 1;
    etp_svg svg = {.sink = sink, .width = width};
    etp_strbuf_init(&svg.scratch, arena);
    etp_sink_z(sink, "<figure class=\"graph\">\n");
    write_views(sink, g, ordinal);
    etp_sink_z(sink, "<div class=\"box tall\" tabindex=\"0\" role=\"region\" aria-label=\"");
    etp_sink_xml(sink, g->title);
    etp_sink_printf(
        sink,
        "\"><svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"group\" "
        "aria-label=\"",
        width, height, width, height);
    etp_sink_xml(sink, g->title);
    etp_sink_z(sink, "\">\n");
    write_frames(sink, &o);
    write_edges(sink, &o);
    for (size_t i = 0; i < g->boxes.n; i++) {
        write_box(sink, &svg, &g->boxes.items[i], &o.places[i], o.left, links);
    }
    etp_sink_z(sink, "</svg></div></figure>\n");
}
