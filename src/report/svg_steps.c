// SPDX-License-Identifier: Apache-2.0
// The waterfall: one line per step, so that names of any length stay readable.
#include <math.h>

#include "report/svg.h"

#define ROW 26.0

static double value_of(const etp_chart_entry *e)
{
    return etp_known_or_0(e->values[0]);
}

// Zero is in it, since totals are bars from there, and so are the ends of every interval.
static void find_domain(const etp_chart *c, etp_scale *x)
{
    double running = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        double from = e->role == ETP_ROLE_TOTAL ? 0 : running;
        running = from + value_of(e);
        x->lo = fmin(x->lo, running);
        x->hi = fmax(x->hi, running);
        if (isfinite(e->lo[0]) && isfinite(e->hi[0])) {
            x->lo = fmin(x->lo, from + e->lo[0]);
            x->hi = fmax(x->hi, from + e->hi[0]);
        }
    }
}

// The group in words, unless it only repeats the label.
static bool shows_group(const etp_svg *o, const etp_chart_entry *e)
{
    return e->note.len && !o->narrow && !etp_str_eq(e->note, e->label);
}

static void step_tip(etp_svg *o, const etp_view *v, const etp_chart_entry *e)
{
    char value[ETP_VIEW_CHARS], lo[ETP_VIEW_CHARS], hi[ETP_VIEW_CHARS];
    bool range = isfinite(e->lo[0]) && isfinite(e->hi[0]);
    etp_svg_group_begin(
        o,
        etp_arena_printf(o->scratch.arena, "%.*s%s%.*s%s: %s%s%s%s%s%s", ETP_STR_ARG(e->label),
                         etp_if(e->note.len, " ("), ETP_STR_ARG(e->note), etp_if(e->note.len, ")"),
                         etp_view_value(v, e->values[0], value), etp_if(range, " ["),
                         etp_if(range, etp_view_number(v, e->lo[0], lo)), etp_if(range, ", "),
                         etp_if(range, etp_view_number(v, e->hi[0], hi)), etp_if(range, "]")));
}

// The bar from FROM to TO; a step too small to see is still a hair line.
static void step_bar(etp_svg *o, const etp_chart_entry *e, const etp_scale *x, double y,
                     double from, double to)
{
    double a = etp_scale_at(x, fmin(from, to)), b = etp_scale_at(x, fmax(from, to));
    double h = ROW - 8;
    if (b - a < 1.5 && from != to) {
        b = a + 1.5;
    }
    if (e->muted) {
        etp_sink_printf(o->sink, "<g fill=\"url(#hatch%u%c)\">", o->serial, o->narrow ? 'n' : 'w');
        etp_svg_rect(o, a, y, b - a, h, "");
        etp_svg_group_end(o);
    } else {
        const char *change = to < from ? "fg" : "fb";
        etp_svg_rect(o, a, y, b - a, h, e->role == ETP_ROLE_TOTAL ? "ft" : change);
    }
    if (isfinite(e->lo[0]) && isfinite(e->hi[0])) {
        double lo = etp_scale_at(x, from + e->lo[0]), hi = etp_scale_at(x, from + e->hi[0]);
        // A whisker narrower than its own caps hides the bar.
        if (hi - lo >= 3) {
            etp_svg_whisker(o, lo, y + h / 2, hi, y + h / 2, "wh");
        }
    }
}

void etp_svg_waterfall(etp_svg *o, const etp_chart *c)
{
    double label = 0, height = ROW * (double)c->entries.n;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        double note = shows_group(o, e) ? etp_svg_text_width(e->note) + 10 : 0;
        label = fmax(label, etp_svg_text_width(e->label) + note);
    }
    double left = fmin(label, o->narrow ? 124 : 280) + 12, right = o->narrow ? 80 : 88;
    etp_scale x = {0, 0, left, o->width - right};
    find_domain(c, &x);
    etp_view v = etp_view_chart(c), signed_view = v;
    signed_view.sign = true;
    etp_svg_begin(o, c, height + 24);
    double ticks[8], step = 1;
    size_t n = etp_scale_ticks(&x, o->narrow ? 4 : 7, ticks, &step);
    etp_view tick = etp_view_ticks(&v, step);
    for (size_t i = 0; i < n; i++) {
        char buf[ETP_VIEW_CHARS];
        double at = etp_scale_at(&x, ticks[i]);
        etp_svg_line(o, at, 0, at, height, ticks[i] == 0 ? "axis" : "grid");
        bool last = i + 1 == n;
        etp_svg_textz(o, at, height + 15, ETP_MIDDLE, "m c",
                      last ? etp_view_value(&tick, ticks[i], buf)
                           : etp_view_number(&tick, ticks[i], buf));
    }
    double running = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        bool total = e->role == ETP_ROLE_TOTAL;
        const etp_view *view = total ? &v : &signed_view;
        double y = ROW * (double)i + 4, from = total ? 0 : running, to = from + value_of(e);
        char buf[ETP_VIEW_CHARS];
        step_tip(o, view, e);
        double room = left - (shows_group(o, e) ? etp_svg_text_width(e->note) + 22 : 12);
        etp_svg_text(o, 0, y + 13, ETP_LEFT, etp_if(total, "b"), e->label, fmax(room, 60));
        if (shows_group(o, e)) {
            etp_svg_text(o, left - 12, y + 13, ETP_RIGHT, "m c", e->note, left * 0.5);
        }
        if (!total && i > 0) {
            double at = etp_scale_at(&x, running);
            etp_svg_line(o, at, y - 8, at, y + ROW - 8, "join");
        }
        step_bar(o, e, &x, y, from, to);
        etp_svg_textz(o, o->width, y + 13, ETP_RIGHT, etp_if(total, "b"),
                      etp_view_value(view, e->values[0], buf));
        etp_svg_group_end(o);
        running = to;
    }
    etp_svg_end(o);
}
