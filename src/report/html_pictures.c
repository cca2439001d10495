// SPDX-License-Identifier: Apache-2.0
// Pictures that the page's script draws (pictures.js): what they are drawn from, at their place.
#include <math.h>

#include "base/json.h"
#include "report/html_parts.h"
#include "report/svg.h"

static void put_count(etp_json *j, const char *key, unsigned v)
{
    if (v) {
        etp_json_kv_u64(j, key, v);
    }
}

static void write_strings(etp_json *j, const char *key, const etp_str *items, size_t n)
{
    etp_json_key(j, key);
    etp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        etp_json_str(j, items[i]);
    }
    etp_json_end(j);
}

static void write_graph(etp_json *j, const etp_graph *g)
{
    etp_json_kv_str(j, "title", g->title);
    write_strings(j, "views", g->views, ETP_GRAPH_VIEWS);
    write_strings(j, "groups", g->groups.items, g->groups.n);
    etp_json_key(j, "boxes");
    etp_json_begin_array(j);
    for (size_t i = 0; i < g->boxes.n; i++) {
        const etp_graph_item *b = &g->boxes.items[i];
        etp_json_begin_object(j);
        etp_json_kv_str(j, "label", b->label);
        etp_html_put(j, "link", b->link);
        etp_html_put(j, "tip", b->tip);
        etp_json_kv_i64(j, "group", b->group == ETP_NO_INDEX ? -1 : (int64_t)b->group);
        etp_json_key(j, "heat"); // per cent
        etp_json_begin_array(j);
        for (int k = 0; k < ETP_GRAPH_VIEWS; k++) {
            double heat = b->heat[k]; // fmin and fmax pass over NAN
            etp_json_rounded(j, isfinite(heat) ? 100 * fmax(-1, fmin(heat, 1)) : (double)NAN);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "edges");
    etp_json_begin_array(j);
    for (size_t i = 0; i < g->edges.n; i++) {
        etp_json_begin_array(j);
        etp_json_u64(j, g->edges.items[i].from);
        etp_json_u64(j, g->edges.items[i].to);
        etp_json_end(j);
    }
    etp_json_end(j);
}

// A hundredth of a per cent is as fine as anybody sees.
static double hundredths(double v)
{
    return floor(v * 100 + 0.5) / 100;
}

static void write_track(etp_json *j, const etp_spans *s, uint32_t track, double most)
{
    etp_view v = etp_view_for(s->kind, most, NULL, 0);
    char buf[ETP_VIEW_CHARS];
    etp_json_begin_object(j);
    etp_json_kv_str(j, "label", s->tracks.items[track].label);
    etp_json_kv_z(j, "time", etp_view_value(&v, s->tracks.items[track].length, buf));
    etp_json_key(j, "spans");
    etp_json_begin_array(j);
    for (size_t i = 0; i < s->spans.n; i++) {
        const etp_span_item *span = &s->spans.items[i];
        double width = 100 * span->length / most;
        // Less than a pixel: what it is a part of shows it.
        if (span->track != track || width < 0.1) {
            continue;
        }
        etp_json_begin_object(j);
        etp_json_kv_str(j, "label", span->label);
        etp_html_put(j, "link", span->link);
        etp_json_kv_z(j, "time", etp_view_value(&v, span->length, buf));
        etp_json_kv_double(j, "left", hundredths(100 * span->from / most));
        etp_json_kv_double(j, "width", hundredths(width));
        put_count(j, "color", span->color);
        put_count(j, "depth", span->depth);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

// How long the longest track is: all have one scale, so that a shorter arm is shorter to the eye.
static double longest(const etp_spans *s)
{
    double most = 0;
    for (size_t i = 0; i < s->tracks.n; i++) {
        most = fmax(most, s->tracks.items[i].length);
    }
    for (size_t i = 0; i < s->spans.n; i++) {
        most = fmax(most, s->spans.items[i].from + s->spans.items[i].length);
    }
    return most;
}

static void write_spans(etp_json *j, const etp_spans *s)
{
    etp_json_kv_str(j, "title", s->title);
    etp_json_key(j, "tracks");
    etp_json_begin_array(j);
    const double most = longest(s);
    for (uint32_t t = 0; t < s->tracks.n; t++) {
        write_track(j, s, t, most);
    }
    etp_json_end(j);
}

static void write_plane_items(etp_json *j, const char *key, const etp_plane_item *items, size_t n)
{
    etp_json_key(j, key);
    etp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        etp_json_begin_object(j);
        etp_json_kv_str(j, "label", items[i].label);
        etp_html_put(j, "link", items[i].link);
        put_count(j, "color", items[i].color);
        etp_json_kv_ratio(j, "x", items[i].x);
        etp_json_kv_ratio(j, "y", items[i].y);
        etp_json_kv_ratio(j, "from_y", items[i].from_y);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void write_plane(etp_json *j, const etp_plane *p)
{
    etp_json_kv_str(j, "title", p->title);
    etp_json_kv_str(j, "x_title", p->x_title);
    etp_json_kv_str(j, "y_title", p->y_title);
    write_plane_items(j, "roofs", p->roofs.items, p->roofs.n);
    write_plane_items(j, "points", p->points.items, p->points.n);
}

static void write_plan(etp_json *j, const etp_plan *p)
{
    double highest = p->most;
    etp_json_kv_str(j, "title", p->title);
    etp_json_kv_str(j, "description", p->description);
    etp_json_kv_str(j, "x_title", p->x_title);
    etp_json_key(j, "series");
    etp_json_begin_array(j);
    for (size_t k = 0; k < p->series.n; k++) {
        etp_json_begin_object(j);
        etp_json_kv_str(j, "label", p->series.items[k].label);
        etp_json_kv_u64(j, "color", p->series.items[k].color);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "boxes");
    etp_json_begin_array(j);
    for (size_t i = 0; i < p->boxes.n; i++) {
        const etp_plan_item *b = &p->boxes.items[i];
        highest = fmax(highest, b->place + b->size);
        etp_json_begin_object(j);
        etp_json_kv_str(j, "label", b->label);
        etp_json_kv_u64(j, "series", b->series);
        etp_json_kv_double(j, "from", b->from);
        etp_json_kv_double(j, "to", b->to);
        etp_json_kv_double(j, "place", b->place);
        etp_json_kv_double(j, "size", b->size);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "sums");
    etp_json_begin_array(j);
    for (size_t i = 0; i < p->sums.n; i++) {
        etp_json_double(j, p->sums.items[i]);
    }
    etp_json_end(j);
    etp_view v = etp_view_for(p->kind, highest, NULL, 0);
    etp_json_kv_str(j, "peak", p->peak);
    etp_json_kv_z(j, "unit", v.unit ? v.unit : "");
    etp_json_kv_double(j, "divide", v.divide);
}

bool etp_html_draws_nothing(const etp_block *b)
{
    return (b->graph && b->graph->boxes.n == 0) || (b->plane && b->plane->points.n == 0) ||
           (b->spans && !(longest(b->spans) > 0));
}

void etp_html_picture(etp_json *j, const etp_block *b)
{
    if (b->graph) {
        write_graph(j, b->graph);
    } else if (b->spans) {
        write_spans(j, b->spans);
    } else if (b->plane) {
        write_plane(j, b->plane);
    } else if (b->plan) {
        write_plan(j, b->plan);
    }
}
