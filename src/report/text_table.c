// SPDX-License-Identifier: Apache-2.0
// Tables in the terminal: columns as wide as their content, fitted to the line. A table with more
// columns than a line has room for goes on below, behind its first column.
#include <math.h>

#include "base/json.h"
#include "base/utf8.h"
#include "report/text.h"

#define BAR_WIDTH 10
#define MIN_TEXT 16
#define LEAST_TEXT 12 // before a table goes on below
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

// Where a word that is longer than a line may be broken: best behind what separates names of a
// list, path or scope (2), else behind what joins the parts of a name (1), but not "AVX-512".
static int joint(etp_str s, size_t at)
{
    char c = s.ptr[at - 1];
    bool digit = s.ptr[at] >= '0' && s.ptr[at] <= '9';
    if (c == '/' || (c == ',' && !digit) ||
        (c == ':' && at > 1 && s.ptr[at - 2] == ':' && s.ptr[at] != ':')) {
        return 2;
    }
    return c == '_' || c == '=' || (c == '-' && !digit);
}

// The longest of S's words; of one above MOST_WORD the longest piece.
static size_t longest_word(etp_str s)
{
    size_t longest = 0;
    while (s.len) {
        etp_str word = {s.ptr, etp_text_word(s)};
        size_t from = 0, whole = etp_width(word);
        for (size_t i = 1; i <= word.len && whole > MOST_WORD; i++) {
            if (i == word.len || joint(word, i)) {
                longest = etp_larger(longest, etp_width((etp_str){word.ptr + from, i - from}));
                from = i;
            }
        }
        longest = whole > MOST_WORD ? longest : etp_larger(longest, whole);
        size_t next = word.len < s.len ? word.len + 1 : s.len;
        s = (etp_str){s.ptr + next, s.len - next};
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
        // "median (ms)": the unit stands in the header unless each number carries it.
        if (lc->view.unit && !lc->view.suffix) {
            snprintf(lc->title_buf, sizeof lc->title_buf, "%.60s (%.16s)", col->title,
                     lc->view.unit);
            lc->title = etp_str_from(lc->title_buf);
        } else {
            lc->title = etp_str_from(col->title);
        }
        lc->width = lc->word = 0;
        for (size_t i = 0; i < t->rows.n; i++) {
            char buf[ETP_VIEW_CHARS];
            if (!etp_row_shown(t, i)) {
                continue;
            }
            etp_str s = etp_view_cell(&lc->view, &t->rows.items[i].cells[k], buf);
            if (s.len > lc->word) { // else neither it nor a word of it is wider than what was seen
                lc->width = etp_larger(lc->width, etp_width(s));
                lc->word = etp_larger(lc->word, longest_word(s));
            }
        }
        // Before the title is counted in: a column of numbers may be narrower than its title, never
        // than its numbers.
        lc->min = lc->width;
        lc->width = etp_larger(lc->width, etp_width(lc->title));
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
// least (0: they keep all) and their longest word, titles of numbers their longest word; numbers
// stay whole.
// One column at a time off the widest: this levels long texts before it touches short ones.
static void shrink(layout *l, size_t width, size_t text)
{
    for (size_t total = total_width(l); total > width; total--) {
        layout_column *widest = NULL;
        for (size_t k = 0; k < l->n; k++) {
            layout_column *lc = &l->columns[k];
            size_t title = etp_larger(longest_word(lc->title), MIN_TITLE);
            size_t word = ETP_MIN(lc->word, MOST_WORD);
            size_t left = text ? etp_larger(text, word) : lc->width;
            size_t min = lc->right ? etp_larger(lc->min, title) : left;
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

static void shrink_texts(layout *l, size_t width)
{
    shrink(l, width, 0);
    shrink(l, width, MIN_TEXT);
    shrink(l, width, LEAST_TEXT);
}

// Bytes of WORD, which is wider than a line, that go on a line of WIDTH columns.
static size_t piece_of(etp_str word, size_t width)
{
    size_t i = 0, at[3] = {0}; // behind the last joint of each kind
    for (size_t columns = 0; i < word.len && columns < width; columns++) {
        bool valid = false;
        i += etp_utf8_next((etp_str){word.ptr + i, word.len - i}, &valid);
        if (i < word.len) {
            at[joint(word, i)] = i;
        }
    }
    size_t weak = ETP_OR(at[1], i);
    return ETP_OR(at[2], weak);
}

// Takes the next line of at most WIDTH columns off *REST: as many words as there is room for.
static etp_str next_line(etp_str *rest, size_t width)
{
    size_t end = rest->len <= width ? rest->len : 0, columns = 0; // most fit as they are
    while (end < rest->len) {
        size_t from = end ? end + 1 : 0;
        etp_str word = {rest->ptr + from,
                        etp_text_word((etp_str){rest->ptr + from, rest->len - from})};
        columns += (end > 0) + etp_width(word);
        if (columns > width) {
            end = ETP_OR(end, piece_of(word, width));
            break;
        }
        end = etp_larger(from + word.len, 1);
    }
    etp_str line = {rest->ptr, end};
    while (end < rest->len && rest->ptr[end] == ' ') {
        end++;
    }
    *rest = (etp_str){rest->ptr + end, rest->len - end};
    return line;
}

// The cells' texts; those of texts that are wider than their column go on below.
typedef struct row_texts {
    etp_str rest[ETP_TABLE_MAX_COLUMNS];
    char buf[ETP_TABLE_MAX_COLUMNS][ETP_VIEW_CHARS];
    size_t last; // columns up to the last that is shown
} row_texts;

// Writes one line of a row. False: nothing was left to write, and nothing is written.
// A row is written line by line until no cell has anything left; numbers stand in the first.
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
        size_t w = etp_width(s), pad = ETP_LESS(lc->width, w);
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

// The columns that are shown, with all rows.
static void write_part(etp_text *o, const layout *l, const etp_table *t)
{
    size_t rule = total_width(l);
    // Titles that were made narrower than their text run over several lines, the last ones level.
    size_t lines = 1, skip[ETP_TABLE_MAX_COLUMNS] = {0};
    etp_str rest[ETP_TABLE_MAX_COLUMNS];
    for (size_t k = 0; k < l->n; k++) {
        rest[k] = l->columns[k].title;
        for (etp_str title = rest[k]; l->columns[k].shown && title.len; skip[k]++) {
            next_line(&title, l->columns[k].width);
        }
        lines = etp_larger(lines, skip[k]);
    }
    for (size_t i = 0; i < lines; i++) {
        size_t at = 0, blank = 0; // blanks owed: none are written at a line's end
        etp_text_sgr(o, "2");
        for (size_t k = 0; k < l->n; k++) {
            const layout_column *lc = &l->columns[k];
            if (!lc->shown) {
                continue;
            }
            bool here = i + skip[k] >= lines;
            etp_str line = here ? next_line(&rest[k], lc->width) : (etp_str){"", 0};
            size_t w = etp_width(line), pad = ETP_LESS(lc->width, w);
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
}

void etp_text_table(etp_text *o, const etp_table *t)
{
    // `whole` has the widths that the columns would like: a part of the table has more room than
    // all of it had.
    layout whole = {.n = 0};
    measure(&whole, t);
    layout l = whole;
    // What goes when the line is too short: bars, minor columns from the right, one-line titles
    // and, last, one-line texts. No number and no word is broken. In three steps, each only as far
    // as needed. What still does not fit then goes on below.
    for (size_t k = l.n; k-- > 0 && total_width(&l) > o->width;) {
        l.columns[k].bar = false;
    }
    for (size_t k = l.n; k-- > 0 && total_width(&l) > o->width;) {
        l.columns[k].shown = !(t->columns[k].flags & ETP_COL_MINOR);
    }
    shrink_texts(&l, o->width);
    if (t->caption.len) {
        etp_text_wrap(o, t->caption, 0, 0);
    }
    layout part = l;
    for (size_t k = 1; k <= l.n;) { // from here on
        for (size_t i = 0; i < l.n; i++) {
            part.columns[i] = l.columns[i];
            part.columns[i].shown = (i == 0 || i >= k) && l.columns[i].shown;
        }
        size_t end = l.n;
        while (end > k + 1 && total_width(&part) > o->width) {
            part.columns[--end].shown = false;
        }
        for (size_t i = 0; i < l.n && (k > 1 || end < l.n); i++) { // a part may have more room
            part.columns[i].width = whole.columns[i].width;
        }
        shrink_texts(&part, o->width);
        write_part(o, &part, t);
        while (end < l.n && !l.columns[end].shown) {
            end++;
        }
        if (end >= l.n) {
            break;
        }
        etp_sink_char(o->sink, '\n');
        k = end;
    }
    size_t hidden = etp_rows_hidden(t);
    if (hidden) {
        etp_sink_printf(o->sink, "%zu more rows\n", hidden);
    }
}
