// SPDX-License-Identifier: Apache-2.0
// The drawing surface of the chart files: escaped text, shapes with classes, axes. Colours come
// from CSS classes only: the HTML page and the stand-alone picture each bring their own sheet.
// Private to the report room.
#ifndef ETP_REPORT_SVG_H
#define ETP_REPORT_SVG_H

#include "report/view.h"

#define ETP_SVG_COLORS 20 // classes f1…f20 (fill), o1…o20 (text on the fill)
#define ETP_SVG_ARMS 6    // classes s1…s6 (stroke), a1…a6 (fill): of arms, and of no category
#define ETP_SVG_BOLD 1.18 // how much wider bold text is

typedef struct etp_svg {
    etp_sink *sink;
    etp_strbuf scratch; // for one truncated string at a time
    double width;       // of the drawing area
    bool narrow;        // for a phone: labels are shortened, extras left out
    bool standalone;    // with title, margins, style sheet
    unsigned serial;    // makes ids unique in a page
} etp_svg;

typedef enum etp_anchor { ETP_LEFT, ETP_MIDDLE, ETP_RIGHT } etp_anchor;

void etp_svg_begin(etp_svg *o, const etp_chart *c, double height);
void etp_svg_end(etp_svg *o);

void etp_svg_number(etp_sink *sink, double v);
double etp_svg_text_width(etp_str s); // estimate at the chart's font size

// Text cut to MAX_WIDTH (0 = as it is). CLS may be "".
void etp_svg_text(etp_svg *o, double x, double y, etp_anchor anchor, const char *cls, etp_str s,
                  double max_width);
// A row's label left of X around the middle Y: in two lines when one is wider than WIDTH.
void etp_svg_label(etp_svg *o, double x, double y, etp_str s, double width);
void etp_svg_textz(etp_svg *o, double x, double y, etp_anchor anchor, const char *cls,
                   const char *z);
void etp_svg_rect(etp_svg *o, double x, double y, double w, double h, const char *cls);
void etp_svg_line(etp_svg *o, double x1, double y1, double x2, double y2, const char *cls);
// Horizontal or vertical range with end caps.
void etp_svg_whisker(etp_svg *o, double x1, double y1, double x2, double y2, const char *cls);
// A mark whose shape tells series apart without colour.
void etp_svg_mark(etp_svg *o, double x, double y, size_t arm); // a shape and a colour of its own
// <g><title>…</title>: TIP is shown for what is drawn until the end.
void etp_svg_group_begin(etp_svg *o, const char *tip);
void etp_svg_group_end(etp_svg *o);

// Which of the colours SERIES has, from 0.
size_t etp_chart_color(const etp_chart *c, size_t series);
// "f3": class for the colour of SERIES.
const char *etp_svg_fill(size_t series, char buf[static 8]);
const char *etp_svg_stroke(size_t arm, char buf[static 8]);
const char *etp_svg_arm(size_t arm, char buf[static 8]);
const char *etp_svg_on(size_t series, char buf[static 8]);

// A vertical scale has `from` below `to` in the drawing, where y grows downwards.
typedef struct etp_scale { // data → drawing
    double lo, hi, from, to;
} etp_scale;

double etp_scale_at(const etp_scale *s, double v); // clamped to the drawing's range
// Up to N round values inside the scale; gives how many.
size_t etp_scale_ticks(const etp_scale *s, size_t n, double *ticks, double *step);
// The chart's view with as many decimals as STEP needs.
etp_view etp_view_ticks(const etp_view *v, double step);

// Each draws a whole picture of the width of O.
void etp_svg_stacked(etp_svg *o, const etp_chart *c);
void etp_svg_intervals(etp_svg *o, const etp_chart *c);
void etp_svg_waterfall(etp_svg *o, const etp_chart *c);
void etp_svg_blocks(etp_svg *o, const etp_chart *c);
void etp_svg_lines(etp_svg *o, const etp_chart *c);

// Draws twice, wide and narrow.
void etp_svg_for_page(etp_sink *sink, const etp_chart *c, unsigned serial, etp_arena *arena);

#endif
