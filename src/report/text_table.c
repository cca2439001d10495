// SPDX-License-Identifier: Apache-2.0
// Tables in the terminal: columns as wide as their content, fitted to the line.
#include <math.h>

#include "base/json.h"
#include "base/utf8.h"
#include "report/text.h"

#define BAR_WIDTH 10
#define MIN_TEXT 16
#define LEAST_TEXT 12 // before words of titles are broken
#define MOST_WORD 24  // longer ones are broken where the line is too short
#define MIN_TITLE 8

typedef struct layout_column {
    etp_view view;
    etp_str title;
    char title_buf[96];
    size_t width, min; // min: of its numbers
    size_t word;       // the longest one of its texts
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

// Behind which a line may end: blanks, and what joins the parts of names, paths and settings.
static bool is_joint(char c)
{
    return c == ' ' || c == '_' || c == '-' || c == '/' || c == '=';
}

// May a line of S end before byte AT, which is not its first? Behind a joint, and the :: of C++.
static bool may_end(etp_str s, size_t at)
{
    return is_joint(s.ptr[at - 1]) || (at > 1 && s.ptr[at - 1] == ':' && s.ptr[at - 2] == ':');
}

// Of the pieces that next_line() does not break.
static size_t longest_word(etp_str s)
{
    size_t longest = 0, from = 0;
    for (size_t i = 0; i <= s.len; i++) {
        bool blank = i == s.len || s.ptr[i] == ' ';
        if (blank || may_end(s, i + 1)) {
            size_t end = blank ? i : i + 1;
            longest = larger(longest, etp_width((etp_str){s.ptr + from, end - from}));
            from = i + 1;
        }
    }
    return longest;
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
        lc->width = lc->word = 0;
        for (size_t i = 0; i < t->rows.n; i++) {
            char buf[ETP_VIEW_CHARS];
            if (!etp_row_shown(t, i)) {
                continue;
            }
            etp_str s = etp_view_cell(&lc->view, &t->rows.items[i].cells[k], buf);
            if (s.len > lc->word) { // else neither it nor a word of it is wider than what was seen
                lc->width = larger(lc->width, etp_width(s));
                lc->word = larger(lc->word, longest_word(s));
            }
        }
        lc->min = lc->width;
        lc->width = larger(lc->width, etp_width(lc->title));
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

// Narrows the widest column that may be narrower until the line fits. Texts keep TEXT columns at
// least (0: they keep all), titles of numbers their longest word or, where WORDS may be broken,
// MIN_TITLE columns; numbers stay whole.
static void shrink(layout *l, size_t width, size_t text, bool words)
{
    for (size_t total = total_width(l); total > width; total--) {
        layout_column *widest = NULL;
        for (size_t k = 0; k < l->n; k++) {
            layout_column *lc = &l->columns[k];
            size_t title = words ? MIN_TITLE : larger(longest_word(lc->title), MIN_TITLE);
            size_t word = lc->word < MOST_WORD ? lc->word : MOST_WORD;
            size_t min = lc->right ? larger(lc->min, title) : text ? larger(text, word) : lc->width;
            if (lc->shown && lc->width > min && (!widest || lc->width > widest->width)) {
                widest = lc;
            }
        }
        if (!widest) {
            return;
        }
        widest->width--;
    }
}

// What goes when the line is too short: bars, minor columns from the right, one-line titles,
// one-line texts and, last, words of titles. Numbers are never broken.
static void fit(layout *l, const etp_table *t, size_t width)
{
    for (size_t k = l->n; k-- > 0 && total_width(l) > width;) {
        l->columns[k].bar = false;
    }
    for (size_t k = l->n; k-- > 0 && total_width(l) > width;) {
        l->columns[k].shown = !(t->columns[k].flags & ETP_COL_MINOR);
    }
    shrink(l, width, 0, false);
    shrink(l, width, MIN_TEXT, false);
    shrink(l, width, LEAST_TEXT, false);
    shrink(l, width, LEAST_TEXT, true);
}

// Takes the next line of at most WIDTH columns off *title, at a joint where possible.
static etp_str next_line(etp_str *title, size_t width)
{
    size_t cut = 0, columns = 0, i = title->len <= width ? title->len : 0; // most fit as they are
    while (i < title->len && columns < width) {
        bool valid = false;
        i += etp_utf8_next((etp_str){title->ptr + i, title->len - i}, &valid);
        columns++;
        if (i < title->len && (may_end(*title, i) || title->ptr[i] == ' ')) {
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

// The cells' texts; those of texts that are wider than their column go on below.
typedef struct row_texts {
    etp_str rest[ETP_TABLE_MAX_COLUMNS];
    char buf[ETP_TABLE_MAX_COLUMNS][ETP_VIEW_CHARS];
    size_t last; // columns up to the last that is shown
} row_texts;

// Writes one line of a row. False: nothing was left to write, and nothing is written.
static bool write_row_line(etp_text *o, const layout *l, const etp_row *row, row_texts *texts,
                           bool first_line)
{
    bool any = first_line;
    for (size_t k = 0; k < texts->last; k++) {
        any = any || (l->columns[k].shown && texts->rest[k].len > 0);
    }
    size_t at = 0, blank = 0; // blanks owed: none are written at a line's end
    for (size_t k = 0; any && k < texts->last; k++) {
        const layout_column *lc = &l->columns[k];
        if (!lc->shown) {
            continue;
        }
        const char *sgr = k_etp_sgr_severity[row->cells[k].severity];
        etp_str s = texts->rest[k];
        if (lc->right) {
            texts->rest[k] = ETP_STR("");
        } else {
            s = next_line(&texts->rest[k], lc->width);
        }
        size_t w = etp_width(s), pad = lc->width > w ? lc->width - w : 0;
        blank += at++ ? 2 : 0;
        if (w) {
            etp_sink_repeat(o->sink, ' ', blank);
            etp_text_sgr(o, sgr);
            etp_sink_repeat(o->sink, ' ', lc->right ? pad : 0);
            etp_text_put(o, s);
            etp_text_plain(o, sgr);
            blank = 0;
        }
        blank += w && lc->right ? 0 : pad;
        bool bar = lc->bar && first_line && !(row->total && k + 1 == texts->last);
        if (bar) {
            double share = fabs(etp_cell_number(&row->cells[k])) / lc->max;
            etp_sink_repeat(o->sink, ' ', blank + 1);
            etp_text_bar(o, row->total || !isfinite(share) ? 0 : share, BAR_WIDTH,
                         k + 1 < texts->last);
            blank = 0;
        } else {
            blank += lc->bar ? 1 + BAR_WIDTH : 0;
        }
    }
    if (any) {
        etp_sink_char(o->sink, '\n');
    }
    return any;
}

static void write_row(etp_text *o, const layout *l, const etp_row *row)
{
    row_texts texts = {.last = l->n};
    while (texts.last > 1 && !l->columns[texts.last - 1].shown) {
        texts.last--;
    }
    for (size_t k = 0; k < texts.last; k++) {
        texts.rest[k] = etp_view_cell(&l->columns[k].view, &row->cells[k], texts.buf[k]);
    }
    bool first = true;
    while (write_row_line(o, l, row, &texts, first)) {
        first = false;
    }
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
        write_row(o, &l, row);
    }
    size_t hidden = etp_rows_hidden(t);
    if (hidden) {
        etp_sink_printf(o->sink, "%zu more rows\n", hidden);
    }
}
