// SPDX-License-Identifier: Apache-2.0
// Tables in the terminal: columns as wide as their content, fitted to the line.
#include <math.h>

#include "report/text.h"

#define BAR_WIDTH 10
#define MIN_TEXT 12

typedef struct layout_column {
    etp_view view;
    etp_str title;
    char title_buf[96];
    size_t width;
    double max;
    bool shown, right, bar;
} layout_column;

typedef struct layout {
    layout_column columns[ETP_TABLE_MAX_COLUMNS];
    size_t n;
} layout;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

// "median (ms)": the unit stands in the header unless each number carries it.
static void set_title(layout_column *lc, const etp_column *col)
{
    if (lc->view.unit && !lc->view.suffix) {
        snprintf(lc->title_buf, sizeof lc->title_buf, "%.60s (%.16s)", col->title, lc->view.unit);
        lc->title = etp_str_from(lc->title_buf);
    } else {
        lc->title = etp_str_from(col->title);
    }
}

static void measure(layout *l, const etp_table *t)
{
    l->n = t->n_columns;
    for (size_t k = 0; k < l->n; k++) {
        const etp_column *col = &t->columns[k];
        layout_column *lc = &l->columns[k];
        lc->view = etp_view_column(t, k);
        lc->max = etp_bar_max(t, k);
        lc->shown = true;
        lc->right = etp_column_is_number(col);
        lc->bar = lc->max > 0;
        set_title(lc, col);
        lc->width = etp_width(lc->title);
        for (size_t i = 0; i < t->rows.n; i++) {
            char buf[ETP_VIEW_CHARS];
            if (etp_row_shown(t, i)) {
                etp_str s = etp_view_cell(&lc->view, &t->rows.items[i].cells[k], buf);
                lc->width = larger(lc->width, etp_width(s));
            }
        }
    }
}

static size_t total_width(const layout *l)
{
    size_t total = 0;
    for (size_t k = 0; k < l->n; k++) {
        const layout_column *lc = &l->columns[k];
        if (lc->shown) {
            total += (total ? 2 : 0) + lc->width + (lc->bar ? 1 + BAR_WIDTH : 0);
        }
    }
    return total;
}

// What goes when the line is too short: bars, minor columns from the right, then the middle of the
// widest text.
static void fit(layout *l, const etp_table *t, size_t width)
{
    for (size_t k = l->n; k-- > 0 && total_width(l) > width;) {
        l->columns[k].bar = false;
    }
    for (size_t k = l->n; k-- > 0 && total_width(l) > width;) {
        l->columns[k].shown = !(t->columns[k].flags & ETP_COL_MINOR);
    }
    for (size_t total = total_width(l); total > width; total = total_width(l)) {
        layout_column *widest = NULL;
        for (size_t k = 0; k < l->n; k++) {
            layout_column *lc = &l->columns[k];
            if (lc->shown && !lc->right && lc->width > MIN_TEXT &&
                (!widest || lc->width > widest->width)) {
                widest = lc;
            }
        }
        if (!widest) {
            break; // numbers are never cut
        }
        widest->width--;
    }
}

static void write_row(etp_text *o, const etp_table *t, const layout *l, const etp_row *row)
{
    bool first = true;
    size_t last = l->n;
    while (last > 1 && !l->columns[last - 1].shown) {
        last--;
    }
    for (size_t k = 0; k < last; k++) {
        const layout_column *lc = &l->columns[k];
        if (!lc->shown) {
            continue;
        }
        char buf[ETP_VIEW_CHARS];
        const etp_cell *c = &row->cells[k];
        const char *sgr = k_etp_sgr_severity[etp_cell_judgement(&t->columns[k], c)];
        etp_text_putz(o, first ? "" : "  ");
        etp_text_sgr(o, sgr);
        etp_str s = etp_view_cell(&lc->view, c, buf);
        bool trailing = k + 1 == last && !lc->bar && !lc->right && etp_width(s) <= lc->width;
        etp_text_cell(o, s, trailing ? etp_width(s) : lc->width, lc->right);
        etp_text_plain(o, sgr);
        if (lc->bar && !(row->total && k + 1 == last)) {
            double share = fabs(etp_cell_number(c)) / lc->max;
            etp_sink_char(o->sink, ' ');
            etp_text_bar(o, row->total || !isfinite(share) ? 0 : share, BAR_WIDTH, k + 1 < last);
        }
        first = false;
    }
    etp_sink_char(o->sink, '\n');
}

static void write_header(etp_text *o, const layout *l)
{
    bool first = true;
    etp_text_sgr(o, "2");
    for (size_t k = 0; k < l->n; k++) {
        const layout_column *lc = &l->columns[k];
        if (!lc->shown) {
            continue;
        }
        etp_text_putz(o, first ? "" : "  ");
        bool last = true;
        for (size_t j = k + 1; j < l->n; j++) {
            last = last && !l->columns[j].shown;
        }
        size_t w = last && !lc->right ? etp_width(lc->title) : lc->width;
        etp_text_cell(o, lc->title, w < lc->width ? w : lc->width, lc->right);
        etp_sink_repeat(o->sink, ' ', lc->bar && !last ? 1 + BAR_WIDTH : 0);
        first = false;
    }
    etp_text_plain(o, "2");
    etp_sink_char(o->sink, '\n');
}

void etp_text_table(etp_text *o, const etp_table *t)
{
    layout l = {.n = 0};
    measure(&l, t);
    fit(&l, t, o->width);
    if (t->caption.len) {
        etp_text_wrap(o, t->caption, 0, 0);
    }
    size_t rule = total_width(&l);
    write_header(o, &l);
    etp_text_rule(o, rule);
    bool in_totals = false;
    for (size_t i = 0; i < t->rows.n; i++) {
        const etp_row *row = &t->rows.items[i];
        if (!etp_row_shown(t, i)) {
            continue;
        }
        if (row->total && !in_totals && i > 0) {
            etp_text_rule(o, rule);
        }
        in_totals = row->total;
        write_row(o, t, &l, row);
    }
    size_t hidden = etp_rows_hidden(t);
    if (hidden) {
        etp_sink_printf(o->sink, "%zu more rows\n", hidden);
    }
}
