// SPDX-License-Identifier: Apache-2.0
// One of many small charts: how a figure went from moment to moment, and at which level it stood.
#include <math.h>

#include "report/svg.h"

// The two values of a moment (etp_chart_moment).
enum { VALUE, LEVEL };

// At least a tenth of the level on either side, so that noise looks like noise.
static etp_scale range_of(const etp_chart *c, double from, double to)
{
    etp_scale y = {(double)INFINITY, -(double)INFINITY, from, to};
    for (size_t i = 0; i < c->entries.n; i++) {
        const double *v = c->entries.items[i].values;
        double room = isfinite(v[LEVEL]) ? 0.1 * fabs(v[LEVEL]) : 0;
        const double all[] = {v[VALUE], v[LEVEL] - room, v[LEVEL] + room};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            y.lo = isfinite(all[k]) ? fmin(y.lo, all[k]) : y.lo;
            y.hi = isfinite(all[k]) ? fmax(y.hi, all[k]) : y.hi;
        }
    }
    if (!(y.hi > y.lo)) {
        y.lo = isfinite(y.lo) ? y.lo - 0.5 : 0;
        y.hi = y.lo + 1;
    }
    return y;
}

static double place(const etp_chart *c, size_t i, double left, double right)
{
    return left + (right - left) * ((double)i + 0.5) / (double)c->entries.n;
}

// A level holds from half a place before its first moment: the step stands between two dots.
static void steps(etp_svg *o, const etp_chart *c, const etp_scale *y, double left)
{
    double before = (double)NAN;
    char cls[8];
    etp_sink_printf(o->sink, "<path class=\"%s\" d=\"", etp_svg_stroke(2, cls));
    for (size_t i = 0; i < c->entries.n; i++) {
        double level = c->entries.items[i].values[LEVEL];
        if (!isfinite(level)) {
            continue;
        }
        double at = place(c, i, left, o->width) - (o->width - left) / (double)c->entries.n / 2;
        if (!isfinite(before)) {
            etp_sink_char(o->sink, 'M');
            etp_svg_number(o->sink, at);
            etp_sink_char(o->sink, ' ');
            etp_svg_number(o->sink, etp_scale_at(y, level));
        } else if (level != before) {
            etp_sink_char(o->sink, 'H');
            etp_svg_number(o->sink, at);
            etp_sink_char(o->sink, 'V');
            etp_svg_number(o->sink, etp_scale_at(y, level));
        }
        before = level;
    }
    if (isfinite(before)) {
        etp_sink_char(o->sink, 'H');
        etp_svg_number(o->sink, o->width);
    }
    etp_sink_z(o->sink, isfinite(before) ? "\"/>\n" : "M0 0\"/>\n");
}

static void dots(etp_svg *o, const etp_chart *c, const etp_scale *y, double left)
{
    etp_view v = etp_view_chart(c);
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        char buf[ETP_VIEW_CHARS];
        if (!isfinite(e->values[VALUE])) {
            continue;
        }
        etp_svg_group_begin(o);
        etp_svg_tip(o, e->label);
        etp_svg_tipz(o, ": ");
        etp_svg_tipz(o, etp_view_value(&v, e->values[VALUE], buf));
        etp_svg_tip_end(o);
        etp_svg_mark(o, place(c, i, left, o->width), etp_scale_at(y, e->values[VALUE]), 0, 0);
        etp_svg_group_end(o);
    }
}

void etp_svg_trend(etp_svg *o, const etp_chart *c)
{
    enum { HEIGHT = 92, TICKS = 3 };
    double left = 62, ticks[TICKS], step = 1;
    etp_scale y = range_of(c, HEIGHT, 6);
    etp_view v = etp_view_chart(c);
    size_t n = etp_scale_ticks(&y, TICKS, ticks, &step);
    etp_view tick = etp_view_ticks(&v, step);
    etp_svg_begin(o, c, HEIGHT + 22);
    for (size_t i = 0; i < n; i++) {
        char buf[ETP_VIEW_CHARS];
        double at = etp_scale_at(&y, ticks[i]);
        etp_svg_line(o, left, at, o->width, at, "grid");
        etp_svg_textz(o, left - 6, at + 4, ETP_RIGHT, "m c", etp_view_value(&tick, ticks[i], buf));
    }
    steps(o, c, &y, left);
    dots(o, c, &y, left);
    const etp_chart_entry *first = &c->entries.items[0], *last = &first[c->entries.n - 1];
    etp_svg_text(o, left, HEIGHT + 18, ETP_LEFT, "m c", first->label, 150);
    if (last != first) {
        etp_svg_text(o, o->width, HEIGHT + 18, ETP_RIGHT, "m c", last->label, 150);
    }
    etp_svg_end(o);
}
