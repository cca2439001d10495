// SPDX-License-Identifier: Apache-2.0
// Bar charts: stacked bars with a legend of numbers, and bars with whiskers.
#include <math.h>

#include "report/svg.h"

static double max_sum(const etp_chart *c)
{
    double max = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        max = fmax(max, etp_entry_sum(&c->entries.items[i]));
    }
    return max;
}

// Labels of bars are bold, hence wider than measured.
static double longest_label(const etp_chart *c, double limit)
{
    double w = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        w = fmax(w, etp_svg_text_width(c->entries.items[i].label) * ETP_SVG_BOLD);
    }
    return fmin(w, limit);
}

#define GROUP_GAP 16

// Of row I below the top, in rows of that height: groups stand apart.
static double group_gaps(const etp_chart *c, size_t i)
{
    double gaps = 0;
    for (size_t k = 1; k <= i && k < c->entries.n; k++) {
        gaps += c->entries.items[k].begins_group ? GROUP_GAP : 0;
    }
    return gaps;
}

static double value_of(const etp_chart_entry *e, size_t k)
{
    return isfinite(e->values[k]) && e->values[k] > 0 ? e->values[k] : 0;
}

// Name and share where there is room for both, else the share, else nothing: the legend has it.
static void segment_label(etp_svg *o, const etp_chart *c, const etp_chart_entry *e, size_t k,
                          double x, double y, double w)
{
    char text[ETP_VIEW_CHARS], cls[16], on[8];
    etp_view share = etp_view_for(ETP_KIND_PERCENT, 1, NULL, 1);
    share.decimals = 0;
    etp_view_value(&share, value_of(e, k) / etp_entry_sum(e), text);
    snprintf(cls, sizeof cls, "c %s", etp_svg_on(etp_chart_color(c, k), on));
    double share_width = etp_svg_text_width(etp_str_from(text));
    double name_width = etp_svg_text_width(c->series.items[k]);
    if (name_width + 12 <= w) {
        etp_svg_text(o, x + w / 2, y - 3, ETP_MIDDLE, cls, c->series.items[k], 0);
        etp_svg_textz(o, x + w / 2, y + 13, ETP_MIDDLE, cls, text);
    } else if (share_width + 6 <= w) {
        etp_svg_textz(o, x + w / 2, y + 4, ETP_MIDDLE, cls, text);
    }
}

// A table beside the picture has its figures; one of its own has none beside it.
static bool names_alone(const etp_svg *o, const etp_chart *c)
{
    return c->only_names && !o->standalone;
}

// Swatches and names of the series behind each other, in as many lines as they take; gives their
// height (O NULL: nothing is drawn).
static double names(etp_svg *o, const etp_chart *c, double x, double y, double right)
{
    double at = x, line = y + 14;
    for (size_t k = 0; k < c->series.n; k++) {
        char cls[8];
        double w = fmin(etp_svg_text_width(c->series.items[k]), 200) + 20;
        if (at > x && at + w > right) {
            at = x;
            line += 20;
        }
        if (o) {
            etp_svg_rect(o, at, line - 10, 12, 12, etp_svg_fill(etp_chart_color(c, k), cls));
            etp_svg_text(o, at + 18, line, ETP_LEFT, "", c->series.items[k], 200);
        }
        at += w + 18;
    }
    return line + 10 - y;
}

static void svg_legend(etp_svg *o, const etp_chart *c, double x, double y, double width)
{
    if (names_alone(o, c)) {
        names(o, c, x, y, x + width);
        return;
    }
    etp_view v = etp_view_chart(c), share = etp_view_for(ETP_KIND_PERCENT, 1, NULL, 1);
    // On a phone names take what the figures, with their values where those fit beside short names,
    // leave.
    double n = fmax((double)c->entries.n, 1), least = 110;
    double figures = n * ((width - least - 22) / n >= 112 ? 112 : 60);
    double limit = o->narrow ? fmax(least, width - 22 - figures) : 200;
    double name = 0;
    for (size_t k = 0; k < c->series.n; k++) {
        name = fmax(name, etp_svg_text_width(c->series.items[k]));
    }
    name = fmin(name, limit) + 22;
    double room = c->entries.n ? (width - name) / (double)c->entries.n : 0;
    double column = fmin(room, o->narrow ? 122 : 150);
    double widest = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        widest = fmax(widest, etp_svg_text_width(c->entries.items[i].label));
    }
    // A column whose head would be cut off says nothing; the bars have the shares then.
    bool with_value = column >= 112,
         with_share = column >= 44 && (widest <= column - 8 || c->entries.n <= 3);
    for (size_t i = 0; i < c->entries.n && with_share; i++) {
        etp_svg_text(o, x + name + column * (double)(i + 1), y + 12, ETP_RIGHT, "m",
                     c->entries.items[i].label, column - 8);
    }
    for (size_t k = 0; k < c->series.n; k++) {
        char buf[ETP_VIEW_CHARS], cls[8];
        double line = y + 32 + 20 * (double)k;
        etp_svg_rect(o, x, line - 10, 12, 12, etp_svg_fill(etp_chart_color(c, k), cls));
        etp_svg_text(o, x + 20, line, ETP_LEFT, "", c->series.items[k], name - 22);
        for (size_t i = 0; i < c->entries.n && with_share; i++) {
            const etp_chart_entry *e = &c->entries.items[i];
            double right = x + name + column * (double)(i + 1), sum = etp_entry_sum(e);
            double part = etp_value_if(isfinite(e->values[k]), etp_share(e->values[k], sum));
            etp_svg_textz(o, right, line, ETP_RIGHT, "m", etp_view_value(&share, part, buf));
            if (with_value) {
                etp_svg_textz(o, right - 56, line, ETP_RIGHT, "",
                              etp_view_value(&v, e->values[k], buf));
            }
        }
    }
}

// ---- stacked ----

// The same series of two neighbouring bars joined by a pale band: what shrank, what grew.
static void join_bars(etp_svg *o, const etp_chart *c, size_t i, const etp_scale *x, double y1,
                      double y2)
{
    const etp_chart_entry *a = &c->entries.items[i], *b = &c->entries.items[i + 1];
    double at_a = 0, at_b = 0;
    for (size_t k = 0; k < c->series.n; k++) {
        double end_a = at_a + value_of(a, k), end_b = at_b + value_of(b, k);
        char fill[8];
        etp_sink_printf(o->sink, "<path class=\"band %s\" d=\"M",
                        etp_svg_fill(etp_chart_color(c, k), fill));
        const double points[4][2] = {
            {at_a,  y1},
            {end_a, y1},
            {end_b, y2},
            {at_b,  y2}
        };
        for (size_t p = 0; p < 4; p++) {
            etp_sink_z(o->sink, etp_if(p, "L"));
            etp_svg_number(o->sink, etp_scale_at(x, points[p][0]));
            etp_sink_char(o->sink, ' ');
            etp_svg_number(o->sink, points[p][1]);
        }
        etp_sink_z(o->sink, "Z\"/>\n");
        at_a = end_a;
        at_b = end_b;
    }
}

static void lying_bar(etp_svg *o, const etp_chart *c, const etp_chart_entry *e, const etp_scale *x,
                      double y, double h)
{
    double running = 0;
    for (size_t k = 0; k < c->series.n; k++) {
        double from = etp_scale_at(x, running), to = etp_scale_at(x, running + value_of(e, k));
        running += value_of(e, k);
        if (to <= from) {
            continue;
        }
        char cls[16], fill[8];
        snprintf(cls, sizeof cls, "seg %s", etp_svg_fill(etp_chart_color(c, k), fill));
        // "Convolution, neon: 612.4 ms, 52.7 %"
        char value[ETP_VIEW_CHARS], percent[ETP_VIEW_CHARS];
        etp_view v = etp_view_chart(c), share = etp_view_for(ETP_KIND_PERCENT, 1, NULL, 1);
        double part = value_of(e, k) / etp_entry_sum(e);
        etp_svg_group_begin(o,
                            etp_arena_printf(o->scratch.arena, "%.*s, %.*s: %s, %s",
                                             ETP_STR_ARG(c->series.items[k]), ETP_STR_ARG(e->label),
                                             etp_view_value(&v, e->values[k], value),
                                             etp_view_value(&share, part, percent)));
        etp_svg_rect(o, from, y, to - from, h, cls);
        segment_label(o, c, e, k, from, y + h / 2, to - from);
        etp_svg_group_end(o);
    }
}

void etp_svg_stacked(etp_svg *o, const etp_chart *c)
{
    double bar = 40, gap = c->entries.n > 3 ? 14 : 26, n = (double)c->entries.n;
    // The legend has one line per series with every bar's value and share.
    double bars = n * bar + (n > 0 ? n - 1 : 0) * gap + group_gaps(c, c->entries.n),
           left = longest_label(c, o->narrow ? 90 : 240) + 10,
           legend = names_alone(o, c) ? names(NULL, c, left, 0, o->width)
                                      : 24 + 20 * (double)c->series.n;
    char widest[ETP_VIEW_CHARS];
    etp_view v = etp_view_chart(c);
    etp_str total = etp_str_from(etp_view_value(&v, max_sum(c), widest));
    double right = etp_svg_text_width(total) * ETP_SVG_BOLD + 10;
    etp_scale x = {0, max_sum(c), left, o->width - right};
    etp_svg_begin(o, c, bars + 14 + legend);
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        double y = (double)i * (bar + gap) + group_gaps(c, i), sum = etp_entry_sum(e);
        char buf[ETP_VIEW_CHARS];
        if (i + 1 < c->entries.n && !e[1].begins_group) {
            join_bars(o, c, i, &x, y + bar, y + bar + gap);
        }
        etp_svg_label(o, left - 10, y + bar / 2, e->label, left - 10);
        lying_bar(o, c, e, &x, y, bar);
        etp_svg_textz(o, etp_scale_at(&x, sum) + 8, y + bar / 2 + 4, ETP_LEFT, "b",
                      etp_view_value(&v, sum, buf));
    }
    svg_legend(o, c, left, bars + 10, o->width - left);
    etp_svg_end(o);
}

// ---- bars with whiskers ----

static void interval_row(etp_svg *o, const etp_chart *c, const etp_chart_entry *e,
                         const etp_scale *x, double y)
{
    etp_view v = etp_view_chart(c);
    char value[ETP_VIEW_CHARS], lo[ETP_VIEW_CHARS], hi[ETP_VIEW_CHARS], range[128], cls[8];
    bool known = isfinite(e->lo[0]) && isfinite(e->hi[0]);
    double end = etp_scale_at(x, e->values[0]);
    range[0] = '\0';
    if (known) {
        snprintf(range, sizeof range, "[%s, %s]", etp_view_number(&v, e->lo[0], lo),
                 etp_view_number(&v, e->hi[0], hi));
    }
    etp_view_value(&v, e->values[0], value);
    etp_svg_group_begin(
        o, etp_arena_printf(o->scratch.arena, "%.*s: %s %s", ETP_STR_ARG(e->label), value, range));
    etp_svg_label(o, x->from - 10, y + 14, e->label, x->from - 10);
    etp_svg_rect(o, x->from, y, end - x->from, 28, etp_svg_arm(e->arm, cls));
    if (known) {
        double a = etp_scale_at(x, e->lo[0]), b = etp_scale_at(x, e->hi[0]);
        etp_svg_whisker(o, a, y + 14, b, y + 14, "wh");
        end = fmax(end, b);
    }
    etp_svg_textz(o, end + 10, y + (o->narrow || !known ? 18 : 12), ETP_LEFT, "b", value);
    double after = end + 10 + etp_svg_text_width(etp_str_from(value)) * ETP_SVG_BOLD + 10;
    if (e->note.len && !o->narrow) {
        etp_svg_text(o, after, y + (known ? 12 : 18), ETP_LEFT, "", e->note, o->width - after);
    }
    if (known && !o->narrow) {
        etp_svg_textz(o, end + 10, y + 27, ETP_LEFT, "m c", range);
    }
    etp_svg_group_end(o);
}

void etp_svg_intervals(etp_svg *o, const etp_chart *c)
{
    double max = 0, row = 42;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        max = fmax(max, fmax(e->values[0], e->hi[0])); // fmax ignores NAN
    }
    double left = longest_label(c, o->narrow ? 100 : 240) + 10;
    etp_scale x = {0, max, left, o->width - (o->narrow ? 88 : 220)};
    double height = row * (double)c->entries.n + group_gaps(c, c->entries.n);
    etp_svg_begin(o, c, height + 2);
    etp_svg_line(o, left, 0, left, height - 8, "axis");
    for (size_t i = 0; i < c->entries.n; i++) {
        interval_row(o, c, &c->entries.items[i], &x, 3 + row * (double)i + group_gaps(c, i));
    }
    etp_svg_end(o);
}
