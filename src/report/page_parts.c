// SPDX-License-Identifier: Apache-2.0
// Building the graphs, spans, planes and plans of the HTML page.
#include <math.h>

#include "report/tree.h"

static double finite_or_none(double v)
{
    return isfinite(v) ? v : (double)NAN;
}

etp_graph *etp_report_graph(etp_report *r, const char *id, const char *title,
                            const char *const views[ETP_GRAPH_VIEWS])
{
    etp_graph *g = r ? ETP_NEW(r->arena, etp_graph) : NULL;
    etp_block *b = g ? etp_report_add_block(r, ETP_BLOCK_GRAPH) : NULL;
    if (!b) {
        return NULL;
    }
    *g = (etp_graph){
        .report = r, .id = etp_report_clean(r, id), .title = etp_report_clean(r, title)};
    for (int i = 0; i < ETP_GRAPH_VIEWS; i++) {
        g->views[i] = etp_report_clean(r, views[i]);
    }
    b->graph = g;
    b->medium = ETP_ON_PAGE;
    return g;
}

void etp_graph_add(etp_graph *g, const etp_graph_box *box)
{
    if (!g) {
        return;
    }
    etp_report *r = g->report;
    etp_graph_item item = {.label = etp_report_clean(r, box->label),
                           .tip = etp_report_clean(r, box->tip),
                           .link = etp_report_link(r, box->link),
                           .group = ETP_NO_INDEX};
    for (int i = 0; i < ETP_GRAPH_VIEWS; i++) {
        item.heat[i] = finite_or_none(box->heat[i]);
    }
    if (box->group) {
        etp_str name = etp_report_clean(r, box->group);
        const etp_graph_item *before =
            g->boxes.n ? &g->boxes.items[g->boxes.n - 1] : NULL; // frames are of neighbours
        bool same = before && before->group != ETP_NO_INDEX &&
                    etp_str_eq(g->groups.items[before->group], name);
        if (!same) {
            ETP_ADD(r->arena, &g->groups, name);
        }
        item.group = g->groups.n ? (uint32_t)g->groups.n - 1 : ETP_NO_INDEX;
    }
    ETP_ADD(r->arena, &g->boxes, item);
}

void etp_graph_edge(etp_graph *g, uint32_t from, uint32_t to)
{
    // An edge that leads back is dropped: layers need an order, and the boxes' own is the
    // program's.
    if (g && from < to && to < g->boxes.n) {
        etp_graph_link link = {from, to};
        ETP_ADD(g->report->arena, &g->edges, link);
    }
}

etp_spans *etp_report_spans(etp_report *r, const char *id, const char *title, etp_kind kind)
{
    etp_spans *s = r ? ETP_NEW(r->arena, etp_spans) : NULL;
    etp_block *b = s ? etp_report_add_block(r, ETP_BLOCK_SPANS) : NULL;
    if (!b) {
        return NULL;
    }
    *s = (etp_spans){.report = r,
                     .id = etp_report_clean(r, id),
                     .title = etp_report_clean(r, title),
                     .kind = kind};
    b->spans = s;
    b->medium = ETP_ON_PAGE;
    return s;
}

void etp_spans_track(etp_spans *s, const char *label, double length)
{
    if (s) {
        etp_span_track track = {etp_report_clean(s->report, label), finite_or_none(length)};
        ETP_ADD(s->report->arena, &s->tracks, track);
    }
}

void etp_spans_add(etp_spans *s, const etp_span *span)
{
    // A span without length cannot be seen, and one that is not finite has no place to be drawn at.
    if (s && s->tracks.n && isfinite(span->from) && isfinite(span->length) && span->length > 0) {
        etp_span_item item = {.label = etp_report_clean(s->report, span->label),
                              .link = etp_report_link(s->report, span->link),
                              .from = span->from,
                              .length = span->length,
                              .depth = span->depth,
                              .color = span->color,
                              .track = (uint32_t)s->tracks.n - 1};
        ETP_ADD(s->report->arena, &s->spans, item);
    }
}

etp_plane *etp_report_plane(etp_report *r, const char *title, const char *x_title,
                            const char *y_title)
{
    etp_plane *p = r ? ETP_NEW(r->arena, etp_plane) : NULL;
    etp_block *b = p ? etp_report_add_block(r, ETP_BLOCK_PLANE) : NULL;
    if (!b) {
        return NULL;
    }
    *p = (etp_plane){.report = r,
                     .title = etp_report_clean(r, title),
                     .x_title = etp_report_clean(r, x_title),
                     .y_title = etp_report_clean(r, y_title)};
    b->plane = p;
    b->medium = ETP_ON_PAGE;
    return p;
}

static bool positive(double v)
{
    return isfinite(v) && v > 1e-30 && v < 1e30; // of which a logarithm can be drawn
}

void etp_plane_roof(etp_plane *p, const char *label, double slope, double ceiling)
{
    if (p && (positive(slope) || positive(ceiling))) {
        etp_plane_item roof = {
            .label = etp_report_clean(p->report, label),
            .link = {"", 0},
            .x = positive(slope) ? slope : 0,
            .y = positive(ceiling) ? ceiling : 0
        };
        ETP_ADD(p->report->arena, &p->roofs, roof);
    }
}

void etp_plane_add(etp_plane *p, const etp_plane_point *point)
{
    if (p && positive(point->x) && positive(point->y)) {
        etp_plane_item item = {.label = etp_report_clean(p->report, point->label),
                               .link = etp_report_link(p->report, point->link),
                               .color = point->color,
                               .x = point->x,
                               .y = point->y,
                               .from_y = positive(point->from_y) ? point->from_y : (double)NAN};
        ETP_ADD(p->report->arena, &p->points, item);
    }
}

etp_plan *etp_report_plan(etp_report *r, const char *title, const char *description,
                          const char *x_title, etp_kind kind)
{
    etp_plan *p = r ? ETP_NEW(r->arena, etp_plan) : NULL;
    etp_block *b = p ? etp_report_add_block(r, ETP_BLOCK_PLAN) : NULL;
    if (!b) {
        return NULL;
    }
    *p = (etp_plan){
        .report = r,
        .title = etp_report_clean(r, title),
        .description = etp_report_clean(r, description),
        .x_title = etp_report_clean(r, x_title),
        .peak = {"", 0},
        .kind = kind
    };
    b->plan = p;
    b->medium = ETP_ON_PAGE;
    return p;
}

void etp_plan_series(etp_plan *p, const char *label, unsigned color)
{
    if (p) {
        etp_plan_series_item item = {etp_report_clean(p->report, label), color};
        ETP_ADD(p->report->arena, &p->series, item);
    }
}

void etp_plan_box(etp_plan *p, const char *label, size_t series, double from, double to,
                  double place, double size)
{
    if (p && isfinite(place) && isfinite(size)) {
        etp_plan_item item = {etp_report_clean(p->report, label), series, from, to, place, size};
        ETP_ADD(p->report->arena, &p->boxes, item);
    }
}

void etp_plan_sum(etp_plan *p, const char *label, double value)
{
    if (p && isfinite(value)) {
        if (p->sums.n == 0 || value > p->most) {
            p->most = value;
            p->peak = etp_report_clean(p->report, label);
        }
        ETP_ADD(p->report->arena, &p->sums, value);
    }
}
