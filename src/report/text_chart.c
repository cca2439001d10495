// SPDX-License-Identifier: Apache-2.0
// Charts in the terminal: a compact picture out of block characters, always with the numbers.
#include <math.h>
#include <string.h>

#include "report/text.h"

#define LABEL_MAX 24

static const char *const k_fill_unicode[] = {"█", "▓", "▒", "░", "▚", "╱",
                                             "╳", "·", "▞", "◦", "═", "┆"};
static const char *const k_fill_ascii[] = {"#", "=", "+", "-", "%", "/",
                                           "x", ".", "*", "o", ":", "~"};
// 256-colour numbers close to the palette of the pictures.
static const char *const k_fill_sgr[] = {"38;5;32",  "38;5;208", "38;5;36",  "38;5;175",
                                         "38;5;167", "38;5;74",  "38;5;178", "38;5;245",
                                         "38;5;98",  "38;5;149", "38;5;66",  "38;5;218"};
enum { N_FILLS = sizeof k_fill_unicode / sizeof *k_fill_unicode };

static const char *fill(const etp_text *o, size_t series)
{
    return (o->unicode ? k_fill_unicode : k_fill_ascii)[series % N_FILLS];
}

static size_t label_width(const etp_chart *c)
{
    size_t width = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        size_t w = etp_width(c->entries.items[i].label);
        width = ETP_MAX(w, width);
    }
    return ETP_MIN(width, LABEL_MAX);
}

static size_t rest(const etp_text *o, size_t used)
{
    return o->width > used + 10 ? o->width - used : 10;
}

// ---- stacked bars ----

// The entries from FROM to before TO, in columns of WIDTH.
static void legend_part(etp_text *o, const etp_chart *c, const etp_view *v, size_t name_width,
                        size_t width, size_t from, size_t to)
{
    etp_view share = etp_view_for(ETP_KIND_PERCENT, 1, NULL, 1);
    etp_sink_repeat(o->sink, ' ', name_width + 2);
    for (size_t i = from; i < to; i++) {
        etp_text_putz(o, "  ");
        etp_text_cell(o, c->entries.items[i].label, width, true);
    }
    etp_sink_char(o->sink, '\n');
    for (size_t k = 0; k < c->series.n; k++) {
        etp_text_sgr(o, k_fill_sgr[k % N_FILLS]);
        etp_sink_z(o->sink, fill(o, k));
        etp_text_plain(o, "x");
        etp_sink_char(o->sink, ' ');
        etp_text_cell(o, c->series.items[k], name_width, false);
        for (size_t i = from; i < to; i++) {
            const etp_chart_entry *e = &c->entries.items[i];
            char value[ETP_VIEW_CHARS], percent[ETP_VIEW_CHARS];
            etp_text_putz(o, "  ");
            etp_text_cell(o, etp_str_from(etp_view_value(v, e->values[k], value)), width - 8, true);
            etp_text_cell(o,
                          etp_str_from(etp_view_number(
                              &share, etp_share(e->values[k], etp_entry_sum(e)), percent)),
                          8, true);
        }
        etp_sink_char(o->sink, '\n');
    }
}

// As many entries side by side as there is room for, the others below.
static void stacked_legend(etp_text *o, const etp_chart *c, const etp_view *v)
{
    size_t name_width = 0, label = label_width(c), width = ETP_MAX(label, 18);
    for (size_t k = 0; k < c->series.n; k++) {
        size_t w = etp_width(c->series.items[k]);
        name_width = ETP_MAX(w, name_width);
    }
    name_width = ETP_MIN(name_width, 28);
    size_t room = o->width > name_width + 2 ? (o->width - name_width - 2) / (width + 2) : 0;
    room = ETP_MAX(room, 1);
    for (size_t i = 0; i < c->entries.n; i += room) {
        legend_part(o, c, v, name_width, width, i, ETP_MIN(i + room, c->entries.n));
    }
}

static void write_stacked(etp_text *o, const etp_chart *c)
{
    etp_view v = etp_view_chart(c);
    size_t label = label_width(c), width = rest(o, label + 2 + 11);
    double max = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        max = fmax(max, etp_entry_sum(&c->entries.items[i]));
    }
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        char buf[ETP_VIEW_CHARS];
        etp_text_cell(o, e->label, label, false);
        etp_text_putz(o, " ");
        etp_text_cell(o, etp_str_from(etp_view_value(&v, etp_entry_sum(e), buf)), 10, true);
        etp_text_putz(o, "  ");
        // Each series ends where the running sum, rounded, ends: rounding every piece by itself
        // would make bars of equal sums differ in length.
        double running = 0;
        size_t at = 0;
        for (size_t k = 0; k < e->n_values; k++) {
            running += etp_known_or_0(e->values[k]);
            size_t end = max > 0 ? etp_text_cells_of(running / max, width) : 0;
            etp_text_sgr(o, k_fill_sgr[k % N_FILLS]);
            etp_text_repeat(o, fill(o, k), ETP_LESS(end, at));
            etp_text_plain(o, "x");
            at = ETP_MAX(end, at);
        }
        etp_sink_char(o->sink, '\n');
    }
    stacked_legend(o, c, &v);
}

// ---- waterfall ----

static void write_range(etp_text *o, const etp_view *v, const etp_chart_entry *e)
{
    char buf[ETP_VIEW_CHARS];
    if (e->n_values && isfinite(e->lo[0]) && isfinite(e->hi[0])) {
        etp_text_putz(o, "  [");
        etp_text_putz(o, etp_view_number(v, e->lo[0], buf));
        etp_text_putz(o, ", ");
        etp_text_putz(o, etp_view_number(v, e->hi[0], buf));
        etp_text_putz(o, "]");
    }
}

static void waterfall_bar(etp_text *o, double from, double to, const etp_chart_entry *e, double lo,
                          double hi, size_t width)
{
    size_t a = hi > lo ? etp_text_cells_of((fmin(from, to) - lo) / (hi - lo), width) : 0;
    size_t b = hi > lo ? etp_text_cells_of((fmax(from, to) - lo) / (hi - lo), width) : 0;
    if (from == to) {
        return;
    }
    if (b == a) { // too small to see: one cell all the same
        b = a < width ? a + 1 : a;
        a = b - 1;
    }
    const char *sgr = to < from ? "32" : "31", *block = to < from ? "░" : "▓";
    const char *ascii = to < from ? "-" : "+";
    sgr = e->muted ? "2" : sgr;
    if (e->role == ETP_ROLE_TOTAL) {
        sgr = "1";
        block = "█";
        ascii = "#";
    }
    etp_sink_repeat(o->sink, ' ', a);
    etp_text_sgr(o, sgr);
    etp_text_repeat(o, o->unicode ? block : ascii, b - a);
    etp_text_plain(o, sgr);
}

static void write_waterfall(etp_text *o, const etp_chart *c)
{
    etp_view v = etp_view_chart(c), step = v;
    step.sign = true;
    size_t label = label_width(c), width = rest(o, label + 2 + 12 + 20);
    // The lowest and highest running sum, zero included: a ledger may dip below zero on its way.
    // Totals restart the sum instead of adding to it.
    double lo = 0, hi = 0, running = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        running = etp_known_or_0(e->values[0]) + (e->role == ETP_ROLE_TOTAL ? 0 : running);
        lo = fmin(lo, running);
        hi = fmax(hi, running);
    }
    running = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        char buf[ETP_VIEW_CHARS];
        bool total = e->role == ETP_ROLE_TOTAL;
        double value = etp_known_or_0(e->values[0]);
        double from = total ? 0 : running, to = total ? value : running + value;
        const char *sgr = etp_if(total, "1");
        etp_text_sgr(o, sgr);
        etp_text_cell(o, e->label, label, false);
        etp_text_putz(o, " ");
        etp_text_cell(o, etp_str_from(etp_view_value(total ? &v : &step, e->values[0], buf)), 11,
                      true);
        etp_text_plain(o, sgr);
        etp_text_putz(o, "  ");
        waterfall_bar(o, from, to, e, lo, hi, width);
        write_range(o, &step, e);
        etp_sink_char(o->sink, '\n');
        running = to;
    }
}

// ---- intervals ----

static etp_str before_bracket(etp_str s)
{
    const char *at = s.len ? memchr(s.ptr, '[', s.len) : NULL;
    size_t n = at ? (size_t)(at - s.ptr) : s.len;
    return (etp_str){s.ptr, n > 0 && at ? n - 1 : n};
}

static void write_intervals(etp_text *o, const etp_chart *c)
{
    etp_view v = etp_view_chart(c);
    enum { FIGURES = 14, RANGES = 38 }; // the value; its interval and a ratio with its own
    size_t label = label_width(c), width = rest(o, label + 2 + 12 + 36);
    bool narrow = label + FIGURES + width + RANGES > o->width; // a ratio without its interval
    double max = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        max = fmax(max, c->entries.items[i].values[0]);
    }
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        char buf[ETP_VIEW_CHARS];
        etp_text_cell(o, e->label, label, false);
        etp_text_putz(o, " ");
        etp_text_cell(o, etp_str_from(etp_view_value(&v, e->values[0], buf)), 11, true);
        etp_text_putz(o, "  ");
        etp_text_bar(o, max > 0 && isfinite(e->values[0]) ? e->values[0] / max : 0, width, false);
        write_range(o, &v, e);
        if (e->note.len) {
            etp_text_putz(o, "  ");
            etp_text_put(o, narrow ? before_bracket(e->note) : e->note);
        }
        etp_sink_char(o->sink, '\n');
    }
}

// ---- one line per series ----

// Heights between the series' own minimum and maximum, which are printed behind: the series of an
// A/B comparison differ by far more than each of them varies.
static void write_sparklines(etp_text *o, const etp_chart *c)
{
    static const char *const k_height[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    etp_view v = etp_view_chart(c);
    size_t label = 0;
    for (size_t k = 0; k < c->series.n; k++) {
        size_t w = etp_width(c->series.items[k]);
        label = ETP_MAX(w, label);
    }
    label = ETP_MIN(label, LABEL_MAX);
    for (size_t k = 0; k < c->series.n; k++) {
        double lo = (double)INFINITY, hi = -(double)INFINITY;
        for (size_t i = 0; i < c->entries.n; i++) {
            lo = fmin(lo, c->entries.items[i].values[k]);
            hi = fmax(hi, c->entries.items[i].values[k]);
        }
        char a[ETP_VIEW_CHARS], b[ETP_VIEW_CHARS];
        etp_text_cell(o, c->series.items[k], label, false);
        etp_text_putz(o, "  ");
        size_t room = rest(o, label + 30), n = ETP_MIN(c->entries.n, room);
        for (size_t i = 0; o->unicode && i < n; i++) {
            double y = c->entries.items[i].values[k];
            size_t height = hi > lo && isfinite(y) ? etp_text_cells_of((y - lo) / (hi - lo), 7) : 0;
            etp_sink_z(o->sink, isfinite(y) ? k_height[height] : " ");
        }
        etp_sink_z(o->sink, etp_if(o->unicode, "  "));
        etp_text_putz(o, etp_view_number(&v, etp_value_if(isfinite(lo), lo), a));
        etp_text_putz(o, " to ");
        etp_text_putz(o, etp_view_value(&v, etp_value_if(isfinite(hi), hi), b));
        etp_sink_char(o->sink, '\n');
    }
}

void etp_text_chart(etp_text *o, const etp_chart *c)
{
    if (c->title.len) {
        etp_text_sgr(o, "1");
        etp_text_wrap(o, c->title, 0, 0);
        etp_text_plain(o, "1");
    }
    if (c->lacks.len && c->entries.n == 0) {
        etp_text_wrap(o, c->lacks, 0, 0);
        return;
    }
    switch (c->chart) {
    case ETP_CHART_STACKED:
        write_stacked(o, c);
        break;
    case ETP_CHART_WATERFALL:
        write_waterfall(o, c);
        break;
    case ETP_CHART_INTERVALS:
        write_intervals(o, c);
        break;
    case ETP_CHART_BLOCKS:
    case ETP_CHART_LINES:
        write_sparklines(o, c);
        break;
    }
}
