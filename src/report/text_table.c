// SPDX-License-Identifier: Apache-2.0
// Tables in the terminal: columns as wide as their content, fitted to the line.
#include <math.h>

#include "base/json.h"
#include "base/utf8.h"
#include "report/text.h"

#define BAR_WIDTH 10
#define MIN_TEXT 16
#define MIN_TITLE 8

typedef struct layout_column {
    etp_view view;
    etp_str title;
    char title_buf[96];
    size_t width, min; // min: what fit() may cut to
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
        lc->width = 0;
        for (size_t i = 0; i < t->rows.n; i++) {
            char buf[ETP_VIEW_CHARS];
            if (etp_row_shown(t, i)) {
                etp_str s = etp_view_cell(&lc->view, &t->rows.items[i].cells[k], buf);
                lc->width = larger(lc->width, etp_width(s));
            }
        }
        lc->min = lc->right ? larger(lc->width, MIN_TITLE) : MIN_TEXT;
        lc->width = larger(lc->width, etp_width(lc->title));
    }
}

static size_t longest_word(etp_str s)
{
    size_t longest = 0;
    while (s.len) {
        size_t n = etp_str_find(s, ETP_STR(" "));
        longest = larger(longest, etp_width((etp_str){s.ptr, n}));
        n += n < s.len;
        s = (etp_str){s.ptr + n, s.len - n};
    }
    return longest;
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

// Narrows the widest column that may be narrower until the line fits.
static void shrink(layout *l, size_t width, bool titles_only)
{
    for (size_t total = total_width(l); total > width; total--) {
        layout_column *widest = NULL;
        for (size_t k = 0; k < l->n; k++) {
            layout_column *lc = &l->columns[k];
            size_t min = titles_only ? larger(lc->min, longest_word(lc->title)) : lc->min;
            if (lc->shown && (lc->right || !titles_only) && lc->width > min &&
                (!widest || lc->width > widest->width)) {
                widest = lc;
            }
        }
        if (!widest) {
            return;
        }
        widest->width--;
    }
}

// What goes when the line is too short: bars, minor columns from the right, one-line titles, then
// the middle of texts and words of titles. Numbers are never cut.
static void fit(layout *l, const etp_table *t, size_t width)
{
    for (size_t k = l->n; k-- > 0 && total_width(l) > width;) {
        l->columns[k].bar = false;
    }
    for (size_t k = l->n; k-- > 0 && total_width(l) > width;) {
        l->columns[k].shown = !(t->columns[k].flags & ETP_COL_MINOR);
    }
    shrink(l, width, true);
    shrink(l, width, false);
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
        const char *sgr = k_etp_sgr_severity[etp_cell_judgement(&t->columns[k], &lc->view, c)];
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

// Takes the next line of at most WIDTH columns off *title, at a blank, '_' or '-' where possible.
static etp_str next_line(etp_str *title, size_t width)
{
    size_t cut = 0, columns = 0, i = 0;
    while (i < title->len && columns < width) {
        bool valid = false;
        i += etp_utf8_next((etp_str){title->ptr + i, title->len - i}, &valid);
        columns++;
        if (i < title->len && (memchr(" _-", title->ptr[i - 1], 3) || title->ptr[i] == ' ')) {
            cut = i;
        }
    }
    cut = i == title->len || cut == 0 ? i : cut;
    etp_str line = {title->ptr, cut > 0 && title->ptr[cut - 1] == ' ' ? cut - 1 : cut};
    while (cut < title->len && title->ptr[cut] == ' ') {
        cut++;
    }
    *title = (etp_str){title->ptr + cut, title->len - cut};
    return line;
}

static size_t line_count(const layout_column *lc)
{
    size_t n = 0;
    for (etp_str rest = lc->title; rest.len; n++) {
        next_line(&rest, lc->width);
    }
    return n;
}

// Titles that were made narrower than their text run over several lines, the last ones level.
static void write_header(etp_text *o, layout *l)
{
    size_t lines = 1, skip[ETP_TABLE_MAX_COLUMNS] = {0};
    for (size_t k = 0; k < l->n; k++) {
        skip[k] = l->columns[k].shown ? line_count(&l->columns[k]) : 0;
        lines = larger(lines, skip[k]);
    }
    for (size_t i = 0; i < lines; i++) {
        size_t at = 0, blank = 0; // blanks owed: none are written at a line's end
        etp_text_sgr(o, "2");
        for (size_t k = 0; k < l->n; k++) {
            layout_column *lc = &l->columns[k];
            if (!lc->shown) {
                continue;
            }
            bool here = i + skip[k] >= lines;
            etp_str line = here ? next_line(&lc->title, lc->width) : (etp_str){"", 0};
            size_t w = etp_width(line), pad = lc->width > w ? lc->width - w : 0;
            blank += (at++ ? 2 : 0) + (lc->right ? pad : 0);
            if (w) {
                etp_sink_repeat(o->sink, ' ', blank);
                etp_text_put(o, line);
                blank = 0;
            }
            blank += (lc->right ? 0 : pad) + (lc->bar ? 1 + BAR_WIDTH : 0);
        }
        etp_text_plain(o, "2");
        etp_sink_char(o->sink, '\n');
    }
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
