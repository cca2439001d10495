// SPDX-License-Identifier: Apache-2.0
// Charts of points: raw blocks in one panel per series, and lines of y against x.
#include <math.h>

#include "base/number.h"
#include "report/svg.h"

enum { MAX_TICKS = 8 };

static void widen(etp_scale *s, double v)
{
    if (isfinite(v)) {
        s->lo = fmin(s->lo, v);
        s->hi = fmax(s->hi, v);
    }
}

// Room above and below the points; a flat series gets a span of its own size.
static void pad(etp_scale *s)
{
    // No finite value at all: lo and hi are still the infinities they began with.
    if (!(s->hi >= s->lo)) {
        s->lo = 0;
        s->hi = 1;
    }
    // One that hardly varies is as good as flat: its ticks would differ in their last digits alone.
    bool flat = s->hi - s->lo < 0.001 * fmax(fabs(s->hi), fabs(s->lo));
    double room = flat ? fmax(fabs(s->hi) * 0.05, 1e-9) : (s->hi - s->lo) * 0.12;
    s->lo -= room;
    s->hi += room;
}

static void y_axis(etp_svg *o, const etp_view *v, const etp_scale *y, double left, size_t n)
{
    double ticks[MAX_TICKS], step = 1;
    n = etp_scale_ticks(y, n, ticks, &step);
    etp_view tick = etp_view_ticks(v, step);
    for (size_t i = 0; i < n; i++) {
        char buf[ETP_VIEW_CHARS];
        double at = etp_scale_at(y, ticks[i]);
        etp_svg_line(o, left, at, o->width, at, "grid");
        etp_svg_textz(o, left - 8, at + 4, ETP_RIGHT, "m c", etp_view_number(&tick, ticks[i], buf));
    }
}

// ---- blocks ----

typedef struct panel {
    etp_str title;
    etp_view view;
    size_t series;
    bool ratio; // first series ÷ second
    double top, height, left;
} panel;

static double panel_value(const panel *p, const etp_chart_entry *e)
{
    return p->ratio ? e->values[0] / e->values[1] : e->values[p->series];
}

static double block_x(const etp_svg *o, const etp_chart *c, double left, size_t i)
{
    return left + (o->width - left) * ((double)i + 0.5) / (double)c->entries.n;
}

static void draw_panel(etp_svg *o, const etp_chart *c, const panel *p)
{
    etp_scale y = {(double)INFINITY, -(double)INFINITY, p->top + p->height - 6, p->top + 24};
    for (size_t i = 0; i < c->entries.n; i++) {
        widen(&y, panel_value(p, &c->entries.items[i]));
    }
    pad(&y);
    etp_svg_text(o, 0, p->top + 13, ETP_LEFT, "b", p->title, o->width * 0.6);
    if (p->view.unit && !p->view.suffix) {
        double at = fmin(etp_svg_text_width(p->title), o->width * 0.6) * ETP_SVG_BOLD + 8;
        etp_svg_textz(o, at, p->top + 13, ETP_LEFT, "m c", p->view.unit);
    }
    y_axis(o, &p->view, &y, p->left, 4);
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        double v = panel_value(p, e), x = block_x(o, c, p->left, i);
        char buf[ETP_VIEW_CHARS];
        etp_svg_group_begin(
            o, etp_arena_printf(o->scratch.arena, "%.*s %.*s, %.*s: %s", ETP_STR_ARG(c->x_title),
                                ETP_STR_ARG(e->label), ETP_STR_ARG(p->title),
                                isfinite(v) ? etp_view_value(&p->view, v, buf) : "missing"));
        if (isfinite(v)) {
            etp_svg_mark(o, x, etp_scale_at(&y, v), p->ratio ? 2 : p->series);
        } else {
            etp_svg_textz(o, x, y.from, ETP_MIDDLE, "m", "×");
        }
        etp_svg_group_end(o);
    }
}

static double labels_width(const etp_svg *o)
{
    return o->narrow ? 46 : 60;
}

// One panel per series with its own scale: the arms differ by far more than each of them varies.
// With two series a further panel shows the ratio of each block, which the estimate is made of.
void etp_svg_blocks(etp_svg *o, const etp_chart *c)
{
    static const double k_height = 104;
    bool ratio = c->series.n == 2 && !c->no_ratio;
    double panels = (double)c->series.n + ratio, bottom = panels * k_height;
    double left = labels_width(o);
    etp_svg_begin(o, c, bottom + 40);
    for (size_t i = 0; i < c->entries.n; i++) { // guides that pair the dots of a block
        double x = block_x(o, c, left, i);
        etp_svg_line(o, x, 22, x, bottom, "grid");
    }
    for (size_t k = 0; k < c->series.n; k++) {
        panel p = {.title = c->series.items[k],
                   .view = etp_view_chart(c),
                   .series = k,
                   .top = (double)k * k_height,
                   .height = k_height,
                   .left = left};
        draw_panel(o, c, &p);
    }
    if (ratio) {
        etp_strbuf title;
        etp_strbuf_init(&title, o->scratch.arena);
        etp_strbuf_append(&title, c->series.items[0]);
        etp_strbuf_appendz(&title, " ÷ ");
        etp_strbuf_append(&title, c->series.items[1]);
        panel p = {.title = etp_strbuf_str(&title),
                   .view = etp_view_for(ETP_KIND_RATIO, 0, NULL, 0),
                   .ratio = true,
                   .top = 2 * k_height,
                   .height = k_height,
                   .left = left};
        draw_panel(o, c, &p);
    }
    size_t every = 1 + c->entries.n / (o->narrow ? 10 : 24);
    for (size_t i = 0; i < c->entries.n; i += every) {
        etp_svg_text(o, block_x(o, c, left, i), bottom + 14, ETP_MIDDLE, "m c",
                     c->entries.items[i].label, 60);
    }
    etp_svg_text(o, left + (o->width - left) / 2, bottom + 32, ETP_MIDDLE, "m", c->x_title,
                 o->width - left);
    etp_svg_end(o);
}

// ---- lines ----

static void x_axis(etp_svg *o, const etp_chart *c, const etp_scale *x, double bottom)
{
    double ticks[MAX_TICKS], step = 1;
    etp_view plain = etp_view_for(ETP_KIND_DOUBLE, 0, NULL, 0);
    if (c->entries.n <= MAX_TICKS) { // few points: label exactly them
        for (size_t i = 0; i < c->entries.n; i++) {
            char buf[ETP_VIEW_CHARS];
            etp_format_digits(c->entries.items[i].x, 4, buf);
            etp_svg_textz(o, etp_scale_at(x, c->entries.items[i].x), bottom + 15, ETP_MIDDLE, "m c",
                          buf);
        }
        return;
    }
    size_t n = etp_scale_ticks(x, o->narrow ? 5 : MAX_TICKS, ticks, &step);
    etp_view tick = etp_view_ticks(&plain, step);
    for (size_t i = 0; i < n; i++) {
        char buf[ETP_VIEW_CHARS];
        etp_svg_textz(o, etp_scale_at(x, ticks[i]), bottom + 15, ETP_MIDDLE, "m c",
                      etp_view_number(&tick, ticks[i], buf));
    }
}

static void draw_line(etp_svg *o, const etp_chart *c, size_t k, const etp_scale *x,
                      const etp_scale *y)
{
    char cls[8];
    bool pen_down = false;
    etp_sink_printf(o->sink, "<path class=\"%s\" d=\"", etp_svg_stroke(k, cls));
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        // The line breaks at a missing value: a stroke across it would show what nobody measured.
        if (!isfinite(e->values[k])) {
            pen_down = false;
            continue;
        }
        etp_sink_z(o->sink, pen_down ? "L" : "M");
        etp_svg_number(o->sink, etp_scale_at(x, e->x));
        etp_sink_char(o->sink, ' ');
        etp_svg_number(o->sink, etp_scale_at(y, e->values[k]));
        pen_down = true;
    }
    etp_sink_z(o->sink, pen_down || c->entries.n ? "\"/>\n" : "M0 0\"/>\n");
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        char buf[ETP_VIEW_CHARS];
        if (!isfinite(e->values[k])) {
            continue;
        }
        etp_view v = etp_view_chart(c);
        double px = etp_scale_at(x, e->x);
        etp_svg_group_begin(
            o, etp_arena_printf(o->scratch.arena, "%.*s at %s: %s", ETP_STR_ARG(c->series.items[k]),
                                ETP_DIGITS(e->x, 6), etp_view_value(&v, e->values[k], buf)));
        if (e->values[k] > y->hi) { // beyond the axis: at its end, with the value
            etp_svg_textz(o, px - 10, y->to + 4 + 15 * (double)k, ETP_RIGHT, "m c", buf);
        }
        etp_svg_mark(o, px, etp_scale_at(y, e->values[k]), k);
        etp_svg_group_end(o);
    }
}

void etp_svg_lines(etp_svg *o, const etp_chart *c)
{
    double height = 260, left = labels_width(o), legend = 26;
    etp_scale x = {(double)INFINITY, -(double)INFINITY, left + 16, o->width - 16};
    etp_scale y = {0, -(double)INFINITY, height, legend + 10};
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        widen(&x, e->x);
        for (size_t k = 0; k < e->n_values; k++) {
            widen(&y, e->values[k]);
        }
    }
    double bottom_value = y.lo;
    pad(&y);
    y.lo = bottom_value == 0 ? 0 : y.lo; // bars and ratios start at zero
    y.hi = c->ceiling > 0 ? c->ceiling : y.hi;
    etp_view v = etp_view_chart(c);
    etp_svg_begin(o, c, height + 40);
    double at = left;
    for (size_t k = 0; k < c->series.n; k++) {
        double w = fmin(etp_svg_text_width(c->series.items[k]), 140);
        etp_svg_mark(o, at + 6, 10, k);
        etp_svg_text(o, at + 16, 14, ETP_LEFT, "", c->series.items[k], 140);
        at += w + 36;
    }
    if (v.unit && !v.suffix) {
        etp_svg_textz(o, left - 8, 14, ETP_RIGHT, "m c", v.unit);
    }
    y_axis(o, &v, &y, left, 6);
    etp_svg_line(o, left, height, o->width, height, "axis");
    x_axis(o, c, &x, height);
    for (size_t k = 0; k < c->series.n; k++) {
        draw_line(o, c, k, &x, &y);
    }
    etp_svg_text(o, left + (o->width - left) / 2, height + 34, ETP_MIDDLE, "m", c->x_title,
                 o->width - left);
    etp_svg_end(o);
}
