// SPDX-License-Identifier: Apache-2.0
// The report as GitHub Markdown, for pull requests and issues. Charts become tables.
#include <math.h>

#include "report/view.h"

typedef struct writer {
    etp_sink *sink;
} writer;

static void putz(writer *w, const char *z)
{
    etp_sink_z(w->sink, z);
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Whether Markdown would act on S[i]. AT_START: S begins a line, where lists, headings and quotes
// start; everything else matters anywhere, but '_' not between letters.
// By the rules of GitHub Flavored Markdown: '|' parts cells, '~' strikes out, '$' begins a formula;
// "1." and "1)" begin a numbered list.
static bool is_special(etp_str s, size_t i, bool at_start)
{
    char c = s.ptr[i], next = i + 1 < s.len ? s.ptr[i + 1] : ' ';
    if (c == '_') {
        return !(i > 0 && is_word(s.ptr[i - 1]) && is_word(next));
    }
    if (memchr("\\`*[]|~$", c, 8)) {
        return true;
    }
    if (!at_start) {
        return false;
    }
    if (i > 0 && (c == '.' || c == ')') && next == ' ') {
        size_t digits = 0;
        while (digits < i && is_digit(s.ptr[digits])) {
            digits++;
        }
        return digits == i;
    }
    return i == 0 && memchr("#+-=", c, 4);
}

// Whether what ends before S[i] is WORD, which is of small letters, and a word of its own.
static bool ends_word(etp_str s, size_t i, etp_str word, bool any_case)
{
    if (i < word.len) {
        return false;
    }
    const char *at = s.ptr + i - word.len;
    for (size_t k = 0; k < word.len; k++) {
        if ((any_case ? at[k] | 0x20 : at[k]) != word.ptr[k]) {
            return false;
        }
    }
    return at == s.ptr || !(is_word(at[-1]) || at[-1] == '_');
}

// ":name:", also within "std::name::of". Names are of small letters, and none is of two digits,
// which times have.
static bool is_emoji(etp_str s, size_t i)
{
    size_t k = i + 1, digits = 0;
    for (; k < s.len && (is_word(s.ptr[k]) || memchr("_+-", s.ptr[k], 3)); k++) {
        if (s.ptr[k] >= 'A' && s.ptr[k] <= 'Z') {
            return false;
        }
        digits += is_digit(s.ptr[k]);
    }
    size_t n = k - i - 1;
    return k < s.len && s.ptr[k] == ':' && n > 0 && !(digits == n && n < 3);
}

// Whether GitHub would make a link or a picture of what begins before S[i + 1] and goes on with it:
// "#1" and "GH-1" are issues, which show that they are spoken of, "@name" tells whom it names,
// "me@host.org", "http://" and "www." lead anywhere. The hash of a commit is left as it is: it
// becomes a link only where the repository has that commit, and nobody is told.
static bool begins_link(etp_str s, size_t i)
{
    if (i + 1 == s.len) {
        return false;
    }
    char next = s.ptr[i + 1];
    switch (s.ptr[i]) {
    case '#':
        return is_digit(next);
    case '@':
        return is_word(next);
    case '-':
        return is_digit(next) && ends_word(s, i, ETP_STR("gh"), true);
    case 'w':
        return next == '.' && ends_word(s, i + 1, ETP_STR("www"), false);
    case ':':
        return (next == '/' && i + 2 < s.len && s.ptr[i + 2] == '/') || is_emoji(s, i);
    default:
        return false;
    }
}

// Text that GitHub shows as it is. An empty comment in the middle keeps it from becoming a link.
static void put(writer *w, etp_str s, bool at_start)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '<' || c == '>' || c == '&') {
            putz(w, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
            continue;
        }
        if (is_special(s, i, at_start)) {
            etp_sink_char(w->sink, '\\');
        }
        etp_sink_char(w->sink, c);
        if (begins_link(s, i)) {
            putz(w, "<!-- -->");
        }
    }
}

// A code span; text with a backtick in it is written as ordinary text.
static void put_code(writer *w, etp_str s)
{
    if (s.len == 0 || memchr(s.ptr, '`', s.len)) {
        put(w, s, false);
        return;
    }
    etp_sink_char(w->sink, '`');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '|') { // GitHub splits table cells before it looks for code
            etp_sink_char(w->sink, '\\');
        }
        etp_sink_char(w->sink, s.ptr[i]);
    }
    etp_sink_char(w->sink, '`');
}

static void write_card(writer *w, const etp_card *card)
{
    char buf[ETP_VIEW_CHARS];
    etp_view v = etp_view_card(card);
    putz(w, "**");
    if (isfinite(card->value)) {
        putz(w, etp_view_value(&v, card->value, buf));
        putz(w, " ");
    }
    put(w, card->verdict, false);
    putz(w, "**");
    if (isfinite(card->lo) && isfinite(card->hi)) {
        etp_view bare = etp_view_bare(&v);
        // A bare bracket would begin a link.
        putz(w, " \\[");
        putz(w, etp_view_number(&bare, card->lo, buf));
        putz(w, ", ");
        putz(w, etp_view_number(&bare, card->hi, buf));
        putz(w, "\\]");
    }
    if (card->label.len) {
        putz(w, " ");
        put(w, card->label, false);
    }
    if (card->interval.len) {
        putz(w, " (");
        put(w, card->interval, false);
        putz(w, ")");
    }
    putz(w, "\n\n");
    if (card->detail.len) {
        put(w, card->detail, true);
        putz(w, "\n\n");
    }
}

static void write_head(writer *w, const etp_report *r)
{
    putz(w, "# ");
    put(w, r->title, false);
    putz(w, "\n\n");
    if (r->subtitle.len) {
        put(w, r->subtitle, true);
        putz(w, "\n\n");
    }
    for (size_t i = 0; i < r->cards.n; i++) {
        write_card(w, &r->cards.items[i]);
    }
    for (size_t i = 0; i < r->facts.n; i++) {
        putz(w, i ? " · " : "");
        put(w, r->facts.items[i].key, i == 0);
        putz(w, " **");
        put(w, r->facts.items[i].value, false);
        putz(w, "**");
    }
    putz(w, r->facts.n ? "\n\n" : "");
}

static void write_header(writer *w, const etp_table *t)
{
    if (t->caption.len) {
        put(w, t->caption, true);
        putz(w, "\n\n");
    }
    for (size_t k = 0; k < t->n_columns; k++) {
        etp_view v = etp_view_column(t, k);
        putz(w, k ? " | " : "| ");
        put(w, etp_str_from(t->columns[k].title), false);
        // A unit stands in the heading once, unless every figure brings its own.
        if (v.unit && !v.suffix) {
            putz(w, " (");
            put(w, etp_str_from(v.unit), false);
            putz(w, ")");
        }
    }
    putz(w, " |\n");
    for (size_t k = 0; k < t->n_columns; k++) {
        putz(w, k ? " | " : "| ");
        putz(w, etp_column_is_number(&t->columns[k]) ? "---:" : "---");
    }
    putz(w, " |\n");
}

static void write_table(writer *w, const etp_table *t)
{
    write_header(w, t);
    for (size_t i = 0; i < t->rows.n; i++) {
        const etp_row *row = &t->rows.items[i];
        if (!etp_row_shown(t, i)) {
            continue;
        }
        for (size_t k = 0; k < t->n_columns; k++) {
            char buf[ETP_VIEW_CHARS];
            etp_view v = etp_view_column(t, k);
            etp_str s = etp_view_cell(&v, &row->cells[k], buf);
            putz(w, k ? " | " : "| ");
            putz(w, row->total && s.len ? "**" : "");
            // What people read instead of a name is prose, also in a column of code.
            if ((t->columns[k].flags & ETP_COL_CODE) && !row->cells[k].called.len) {
                put_code(w, s);
            } else {
                put(w, s, false);
            }
            putz(w, row->total && s.len ? "**" : "");
        }
        putz(w, " |\n");
    }
    size_t hidden = etp_rows_hidden(t);
    if (hidden) {
        etp_sink_printf(w->sink, "\n%zu more rows\n", hidden);
    }
    putz(w, "\n");
}

static void put_value(writer *w, const etp_view *v, double value)
{
    char buf[ETP_VIEW_CHARS];
    putz(w, etp_view_value(v, value, buf));
}

// Rows are series, columns are bars: the two or three arms of a comparison stand side by side.
static void write_stacked(writer *w, const etp_chart *c, const etp_view *v)
{
    etp_view share = etp_view_for(ETP_KIND_PERCENT, 1, NULL, 1);
    putz(w, "| ");
    for (size_t i = 0; i < c->entries.n; i++) {
        putz(w, " | ");
        put(w, c->entries.items[i].label, false);
        putz(w, " | share");
    }
    putz(w, " |\n| ---");
    for (size_t i = 0; i < c->entries.n; i++) {
        putz(w, " | ---: | ---:");
    }
    putz(w, " |\n");
    for (size_t k = 0; k < c->series.n; k++) {
        putz(w, "| ");
        put(w, c->series.items[k], false);
        for (size_t i = 0; i < c->entries.n; i++) {
            const etp_chart_entry *e = &c->entries.items[i];
            double sum = 0;
            for (size_t j = 0; j < e->n_values; j++) {
                sum += isfinite(e->values[j]) ? e->values[j] : 0;
            }
            putz(w, " | ");
            put_value(w, v, e->values[k]);
            putz(w, " | ");
            put_value(w, &share, sum > 0 ? e->values[k] / sum : (double)NAN);
        }
        putz(w, " |\n");
    }
}

static void put_interval(writer *w, const etp_view *v, const etp_chart_entry *e, size_t k)
{
    if (isfinite(e->lo[k]) && isfinite(e->hi[k])) {
        char buf[ETP_VIEW_CHARS];
        putz(w, "\\[");
        putz(w, etp_view_number(v, e->lo[k], buf));
        putz(w, ", ");
        putz(w, etp_view_number(v, e->hi[k], buf));
        putz(w, "\\]");
    }
}

// Waterfall and intervals: one value per line.
static void write_list(writer *w, const etp_chart *c, const etp_view *v)
{
    etp_view step = *v;
    step.sign = true;
    putz(w, "| | | interval | |\n| --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        const char *bold = e->role == ETP_ROLE_TOTAL ? "**" : "";
        const etp_view *view = e->role == ETP_ROLE_STEP ? &step : v;
        putz(w, "| ");
        putz(w, e->label.len ? bold : "");
        put(w, e->label, false);
        putz(w, e->label.len ? bold : "");
        putz(w, " | ");
        putz(w, bold);
        put_value(w, view, e->values[0]);
        putz(w, bold);
        putz(w, " | ");
        put_interval(w, view, e, 0);
        putz(w, " | ");
        put(w, e->note, false);
        putz(w, " |\n");
    }
}

static void write_matrix(writer *w, const etp_chart *c, const etp_view *v)
{
    char buf[ETP_VIEW_CHARS];
    etp_view x = etp_view_for(ETP_KIND_DOUBLE, 0, NULL, 0);
    putz(w, "| ");
    put(w, c->x_title, false);
    for (size_t k = 0; k < c->series.n; k++) {
        putz(w, " | ");
        put(w, c->series.items[k], false);
    }
    putz(w, " |\n| ---:");
    for (size_t k = 0; k < c->series.n; k++) {
        putz(w, " | ---:");
    }
    putz(w, " |\n");
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        putz(w, "| ");
        if (c->chart == ETP_CHART_LINES) {
            putz(w, etp_view_number(&x, e->x, buf));
        } else {
            put(w, e->label, false);
        }
        for (size_t k = 0; k < e->n_values; k++) {
            putz(w, " | ");
            put_value(w, v, e->values[k]);
            putz(w, isfinite(e->lo[k]) && isfinite(e->hi[k]) ? " " : "");
            put_interval(w, v, e, k);
        }
        putz(w, " |\n");
    }
}

static void write_chart(writer *w, const etp_chart *c)
{
    etp_view v = etp_view_chart(c);
    if (c->title.len) {
        putz(w, "**");
        put(w, c->title, false);
        putz(w, "**\n\n");
    }
    switch (c->chart) {
    case ETP_CHART_STACKED:
    case ETP_CHART_COLUMNS:
        write_stacked(w, c, &v);
        break;
    case ETP_CHART_WATERFALL:
    case ETP_CHART_INTERVALS:
        write_list(w, c, &v);
        break;
    case ETP_CHART_BLOCKS:
    case ETP_CHART_LINES:
        write_matrix(w, c, &v);
        break;
    }
    putz(w, "\n");
}

static void write_keys(writer *w, const etp_keys *k)
{
    if (k->title.len) {
        put(w, k->title, true);
        putz(w, "\n\n");
    }
    for (size_t i = 0; i < k->pairs.n; i++) {
        const etp_key_value *p = &k->pairs.items[i];
        putz(w, p->key.len ? "- **" : "  - "); // without a key: more of the one before
        put(w, p->key, false);
        putz(w, p->key.len ? "** " : "");
        put(w, p->value, p->key.len == 0);
        putz(w, "\n");
    }
    putz(w, "\n");
}

// A fence longer than any run of backticks inside.
// Three are the least that begin a block of code.
static void write_code(writer *w, const etp_block *b)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < b->text.len; i++) {
        run = b->text.ptr[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    size_t fence = longest < 3 ? 3 : longest + 1;
    if (b->caption.len) {
        put(w, b->caption, true);
        putz(w, "\n\n");
    }
    etp_sink_repeat(w->sink, '`', fence);
    putz(w, "\n");
    etp_sink_write(w->sink, b->text);
    putz(w, "\n");
    etp_sink_repeat(w->sink, '`', fence);
    putz(w, "\n\n");
}

static void write_block(writer *w, const etp_block *b)
{
    static const char *const k_note[] = {"", "> [!NOTE]\n> ", "> [!TIP]\n> ", "> [!WARNING]\n> ",
                                         "> [!CAUTION]\n> "};
    switch (b->kind) {
    case ETP_BLOCK_SECTION:
        putz(w, b->level == 1 ? "## " : "### ");
        put(w, b->text, false);
        putz(w, "\n\n");
        break;
    case ETP_BLOCK_TEXT:
        putz(w, k_note[b->severity]);
        put(w, b->text, true);
        putz(w, "\n\n");
        break;
    case ETP_BLOCK_CODE:
        write_code(w, b);
        break;
    case ETP_BLOCK_KEYS:
        write_keys(w, b->keys);
        break;
    case ETP_BLOCK_TABLE:
        write_table(w, b->table);
        break;
    case ETP_BLOCK_CHART:
        write_chart(w, b->chart);
        break;
    case ETP_BLOCK_FOLD: // of the page alone
    case ETP_BLOCK_DRAWER:
    case ETP_BLOCK_GRAPH:
    case ETP_BLOCK_SPANS:
    case ETP_BLOCK_PLANE:
    case ETP_BLOCK_ACTIONS:
    case ETP_BLOCK_DATA:
        break;
    }
}

etp_status etp_write_md(const etp_report *r, const etp_report_style *style, etp_arena *arena,
                        etp_sink *sink, etp_error *err)
{
    (void)arena;
    (void)err;
    writer w = {.sink = sink};
    write_head(&w, r);
    for (size_t i = 0; i < r->blocks.n; i++) {
        if (etp_block_shown(&r->blocks.items[i], style, ETP_OFF_PAGE)) {
            write_block(&w, &r->blocks.items[i]);
        }
    }
    if (r->footer.len) {
        putz(&w, "---\n\n");
        put(&w, r->footer, true);
        putz(&w, "\n");
    }
    return ETP_OK;
}
