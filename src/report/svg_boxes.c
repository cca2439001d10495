// SPDX-License-Identifier: Apache-2.0
// Boxes over steps: a plan of memory, as tensors that stand at their places while they are needed.
#include <math.h>

#include "report/svg.h"

static bool is_box(const etp_chart_entry *e)
{
    return e->role == ETP_ROLE_VALUE;
}

static double top_of(const etp_chart_entry *e)
{
    return (is_box(e) ? e->lo[0] : 0) + e->values[0];
}

static void draw_box(etp_svg *o, const etp_chart *c, const etp_chart_entry *e, const etp_scale *x,
                     const etp_scale *y)
{
    char cls[20], color[8];
    double left = etp_scale_at(x, e->x), width = etp_scale_at(x, e->to) - left;
    double upper = etp_scale_at(y, top_of(e)), height = etp_scale_at(y, e->lo[0]) - upper;
    etp_svg_group_begin(o);
    etp_svg_tip(o, e->label);
    etp_svg_tip_end(o);
    snprintf(cls, sizeof cls, "seg %s", etp_svg_fill(etp_chart_color(c, e->arm), color));
    etp_svg_rect(o, left, upper, fmax(width, 1), height, cls);
    if (height >= 15 && width >= 50) {
        snprintf(cls, sizeof cls, "c %s", etp_svg_on(etp_chart_color(c, e->arm), color));
        etp_svg_text(o, left + 5, upper + height / 2 + 4, ETP_LEFT, cls, e->label, width - 10);
    }
    etp_svg_group_end(o);
}

// The line of the sums: what falls into one column of pixels is its highest.
static void draw_line(etp_svg *o, const etp_chart *c, const etp_scale *x, const etp_scale *y)
{
    double at = 0, most = 0, before = 0;
    const char *command = "M";
    etp_sink_z(o->sink, "<path class=\"wh\" d=\"");
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        if (is_box(e)) {
            continue;
        }
        most = fmax(most, e->values[0]);
        at++;
        double from = etp_scale_at(x, before), to = etp_scale_at(x, at);
        if (to - from < 1 && i + 1 < c->entries.n) {
            continue;
        }
        etp_sink_z(o->sink, command);
        etp_svg_number(o->sink, from);
        etp_sink_char(o->sink, ' ');
        etp_svg_number(o->sink, etp_scale_at(y, most));
        etp_sink_char(o->sink, 'H');
        etp_svg_number(o->sink, to);
        before = at;
        most = 0;
        command = "L";
    }
    etp_sink_z(o->sink, "\"/>\n");
}

// A line through the middle of STEP, its words on the side that has more room for them.
static void draw_mark(etp_svg *o, etp_str words, double step, const etp_scale *x,
                      const etp_scale *y)
{
    double at = etp_scale_at(x, step + 0.5), before = at - x->from, behind = x->to - at;
    etp_sink_printf(o->sink, "<path class=\"s5\" d=\"M%.1f %.1fV%.1f\"/>\n", at, y->to - 16,
                    y->from);
    if (before > behind) {
        etp_svg_text(o, at - 6, y->to - 6, ETP_RIGHT, "b c", words, before - 10);
    } else {
        etp_svg_text(o, at + 6, y->to - 6, ETP_LEFT, "b c", words, behind - 10);
    }
}

void etp_svg_boxes(etp_svg *o, const etp_chart *c)
{
    double left = o->narrow ? 46 : 60, names = etp_svg_names(NULL, c, left, 0, o->width);
    double top = names + 24, bottom = top + 260;
    etp_scale x = {0, 0, left, o->width - 18}, y = {0, 0, bottom, top};
    const etp_chart_entry *most = NULL;
    double steps = 0, marked = 0, ticks[8], step = 1;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        y.hi = fmax(y.hi, top_of(e));
        if (!is_box(e) && (!most || e->values[0] > most->values[0])) {
            most = e;
            marked = steps;
        }
        steps += is_box(e) ? 0 : 1;
    }
    x.hi = steps;
    etp_view v = etp_view_for(c->kind, y.hi, NULL, 0);
    etp_svg_begin(o, c, bottom + 40);
    etp_svg_textz(o, left - 8, 14, ETP_RIGHT, "m c", v.unit ? v.unit : "");
    etp_svg_names(o, c, left, 0, o->width);
    etp_svg_y_axis(o, &v, &y, left, 6);
    for (size_t i = 0; i < c->entries.n; i++) {
        if (is_box(&c->entries.items[i])) {
            draw_box(o, c, &c->entries.items[i], &x, &y);
        }
    }
    draw_line(o, c, &x, &y);
    if (most) {
        draw_mark(o, most->label, marked, &x, &y);
    }
    etp_svg_line(o, left, bottom, x.to, bottom, "axis");
    size_t n = etp_scale_ticks(&x, (size_t)fmin(o->narrow ? 4 : 8, steps + 1), ticks, &step);
    for (size_t i = 0; i < n; i++) { // below the middle of its step
        char buf[16];
        snprintf(buf, sizeof buf, "%.0f", ticks[i]);
        if (ticks[i] < steps) {
            etp_svg_textz(o, etp_scale_at(&x, ticks[i] + 0.5), bottom + 16, ETP_MIDDLE, "m c", buf);
        }
    }
    etp_svg_text(o, (left + x.to) / 2, bottom + 34, ETP_MIDDLE, "m", c->x_title, x.to - left);
    etp_svg_end(o);
}
