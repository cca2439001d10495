// SPDX-License-Identifier: Apache-2.0
// Points below roofs on two logarithmic axes.
#include <math.h>

#include "base/number.h"
#include "report/html_parts.h"
#include "report/svg.h"

enum { WIDTH = 820, HEIGHT = 420, LEFT = 70, RIGHT = 12, TOP = 12, BOTTOM = 44 };

typedef struct frame {
    etp_scale x, y; // of logarithms to base 10
} frame;

static void widen(double *lo, double *hi, double v)
{
    *lo = fmin(*lo, log10(v));
    *hi = fmax(*hi, log10(v));
}

// Whole powers of ten, so that the grid has round figures. Points have a logarithm (etp_plane_add
// sees to it); a slope without a ceiling bounds nothing here and is cut to the frame.
static frame frame_of(const etp_plane *p)
{
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (size_t i = 0; i < p->points.n; i++) {
        const etp_plane_item *at = &p->points.items[i];
        widen(&x0, &x1, at->x);
        widen(&y0, &y1, at->y);
        if (isfinite(at->from_y)) {
            widen(&y0, &y1, at->from_y);
        }
    }
    for (size_t i = 0; i < p->roofs.n; i++) {
        if (p->roofs.items[i].y > 0) {
            widen(&y0, &y1, p->roofs.items[i].y);
        }
    }
    return (frame){
        {floor(x0 - 0.1), ceil(x1 + 0.1), LEFT,            WIDTH - RIGHT},
        {floor(y0 - 0.1), ceil(y1 + 0.1), HEIGHT - BOTTOM, TOP          },
    };
}

static void write_axes(etp_svg *o, const etp_plane *p, const frame *f)
{
    char text[32];
    for (double d = f->x.lo; d <= f->x.hi; d++) {
        double x = etp_scale_at(&f->x, d);
        etp_svg_line(o, x, TOP, x, HEIGHT - BOTTOM, "grid");
        etp_format_digits(pow(10, d), 1, text);
        etp_svg_textz(o, x, HEIGHT - BOTTOM + 16, ETP_MIDDLE, "m c", text);
    }
    for (double d = f->y.lo; d <= f->y.hi; d++) {
        double y = etp_scale_at(&f->y, d);
        etp_svg_line(o, LEFT, y, WIDTH - RIGHT, y, "grid");
        etp_format_digits(pow(10, d), 1, text);
        etp_svg_textz(o, LEFT - 6, y + 4, ETP_RIGHT, "m c", text);
    }
    etp_svg_text(o, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6, ETP_MIDDLE, "m", p->x_title, 0);
    etp_svg_text(o, LEFT + 6, TOP + 12, ETP_LEFT, "m", p->y_title, 0);
}

static void write_roof(etp_svg *o, const etp_plane_item *r, const frame *f)
{
    double from = f->x.lo, to = f->x.hi;
    // Where the slope of memory meets the ceiling of arithmetic. A roof that has only one of them
    // has its knee at an end of the frame.
    double knee = r->x > 0 ? to : from;
    if (r->x > 0 && r->y > 0) {
        knee = log10(r->y / r->x);
    }
    if (r->x > 0) { // within the frame
        double end = fmin(fmin(knee, to), f->y.hi - log10(r->x));
        double begin = fmax(from, f->y.lo - log10(r->x));
        if (begin < end) {
            etp_svg_line(o, etp_scale_at(&f->x, begin), etp_scale_at(&f->y, begin + log10(r->x)),
                         etp_scale_at(&f->x, end), etp_scale_at(&f->y, end + log10(r->x)), "wh");
        }
    }
    double y = r->y > 0 ? etp_scale_at(&f->y, log10(r->y)) : 0;
    if (r->y > 0 && knee < to) {
        etp_svg_line(o, etp_scale_at(&f->x, fmax(knee, from)), y, etp_scale_at(&f->x, to), y, "wh");
        etp_svg_text(o, WIDTH - RIGHT - 4, y - 5, ETP_RIGHT, "c", r->label, 260);
    }
}

static void write_point(etp_svg *o, const etp_plane_item *at, const frame *f,
                        const etp_html_links *links)
{
    double x = etp_scale_at(&f->x, log10(at->x)), y = etp_scale_at(&f->y, log10(at->y));
    bool link = at->link.len && etp_html_links_have(links, at->link);
    if (link) {
        etp_sink_z(o->sink, "<a href=\"#");
        etp_html_id(o->sink, at->link);
        etp_sink_z(o->sink, "\">");
    }
    etp_sink_z(o->sink, "<g><title>");
    etp_sink_xml(o->sink, at->label);
    etp_sink_z(o->sink, "</title>");
    if (isfinite(at->from_y)) {
        double from = etp_scale_at(&f->y, log10(at->from_y)), tip = y < from ? 6 : -6;
        etp_sink_printf(o->sink, "<path class=\"move\" d=\"M%.1f %.1fV%.1f\"/>", x, from, y);
        if (fabs(from - y) > 8) {
            etp_sink_printf(o->sink,
                            "<path class=\"move\" d=\"M%.1f %.1fl4 %.1fM%.1f %.1fl-4 %.1f\"/>", x,
                            y, tip, x, y, tip);
        }
    }
    etp_sink_printf(o->sink, "<circle class=\"f%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/></g>",
                    at->color ? (at->color - 1) % ETP_SVG_COLORS + 1 : 1, x, y);
    etp_sink_z(o->sink, link ? "</a>\n" : "\n");
}

void etp_html_plane(etp_sink *sink, const etp_plane *p, const etp_html_links *links,
                    etp_arena *arena)
{
    etp_svg o = {.sink = sink, .width = WIDTH};
    if (p->points.n == 0) {
        return;
    }
    etp_strbuf_init(&o.scratch, arena);
    frame f = frame_of(p);
    etp_sink_z(sink, "<figure class=\"chart plane\"><figcaption>");
    etp_sink_xml(sink, p->title);
    etp_sink_printf(
        sink, "</figcaption>\n<div class=\"box\" tabindex=\"0\" role=\"region\" aria-label=\"");
    etp_sink_xml(sink, p->title);
    etp_sink_printf(sink, "\"><svg viewBox=\"0 0 %d %d\" role=\"group\" aria-label=\"", WIDTH,
                    HEIGHT);
    etp_sink_xml(sink, p->title);
    etp_sink_z(sink, "\">\n");
    write_axes(&o, p, &f);
    for (size_t i = 0; i < p->roofs.n; i++) {
        write_roof(&o, &p->roofs.items[i], &f);
    }
    for (size_t i = 0; i < p->points.n; i++) {
        write_point(&o, &p->points.items[i], &f, links);
    }
    etp_sink_z(sink, "</svg></div></figure>\n");
}
