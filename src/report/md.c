// SPDX-License-Identifier: Apache-2.0
// The report as GitHub Markdown, for pull requests and issues. Charts become tables.
#include <math.h>

#include "report/md.h"

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
void etp_md_text(etp_sink *sink, etp_str s, bool at_start)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '<' || c == '>' || c == '&') {
            const char *bracket = c == '<' ? "&lt;" : "&gt;";
            etp_sink_z(sink, c == '&' ? "&amp;" : bracket);
            continue;
        }
        if (is_special(s, i, at_start)) {
            etp_sink_char(sink, '\\');
        }
        etp_sink_char(sink, c);
        if (begins_link(s, i)) {
            etp_sink_z(sink, "<!-- -->");
        }
    }
}

// A code span; text with a backtick in it is written as ordinary text.
static void put_code(etp_sink *sink, etp_str s)
{
    if (s.len == 0 || memchr(s.ptr, '`', s.len)) {
        etp_md_text(sink, s, false);
        return;
    }
    etp_sink_char(sink, '`');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '|') { // GitHub splits table cells before it looks for code
            etp_sink_char(sink, '\\');
        }
        etp_sink_char(sink, s.ptr[i]);
    }
    etp_sink_char(sink, '`');
}

static void write_card(etp_sink *sink, const etp_card *card)
{
    char buf[ETP_VIEW_CHARS];
    etp_view v = etp_view_for(ETP_KIND_RATIO, 0, NULL, 0);
    etp_sink_z(sink, "**");
    if (isfinite(card->value)) {
        etp_sink_z(sink, etp_view_value(&v, card->value, buf));
        etp_sink_z(sink, " ");
    }
    etp_md_text(sink, card->verdict, false);
    etp_sink_z(sink, "**");
    if (isfinite(card->lo) && isfinite(card->hi)) {
        etp_view bare = etp_view_bare(&v);
        // A bare bracket would begin a link.
        etp_sink_z(sink, " \\[");
        etp_sink_z(sink, etp_view_number(&bare, card->lo, buf));
        etp_sink_z(sink, ", ");
        etp_sink_z(sink, etp_view_number(&bare, card->hi, buf));
        etp_sink_z(sink, "\\]");
    }
    if (card->label.len) {
        etp_sink_z(sink, " ");
        etp_md_text(sink, card->label, false);
    }
    if (card->interval.len) {
        etp_sink_z(sink, " (");
        etp_md_text(sink, card->interval, false);
        etp_sink_z(sink, ")");
    }
    etp_sink_z(sink, "\n\n");
    if (card->detail.len) {
        etp_md_text(sink, card->detail, true);
        etp_sink_z(sink, "\n\n");
    }
}

static void write_table(etp_sink *sink, const etp_table *t)
{
    if (t->caption.len) {
        etp_md_text(sink, t->caption, true);
        etp_sink_z(sink, "\n\n");
    }
    for (size_t k = 0; k < t->n_columns; k++) {
        etp_view v = etp_view_column(t, k);
        etp_sink_z(sink, k ? " | " : "| ");
        etp_md_text(sink, etp_str_from(t->columns[k].title), false);
        // A unit stands in the heading once, unless every figure brings its own.
        if (v.unit && !v.suffix) {
            etp_sink_z(sink, " (");
            etp_md_text(sink, etp_str_from(v.unit), false);
            etp_sink_z(sink, ")");
        }
    }
    etp_sink_z(sink, " |\n");
    for (size_t k = 0; k < t->n_columns; k++) {
        etp_sink_z(sink, k ? " | " : "| ");
        etp_sink_z(sink, etp_column_is_number(&t->columns[k]) ? "---:" : "---");
    }
    etp_sink_z(sink, " |\n");
    for (size_t i = 0; i < t->rows.n; i++) {
        const etp_row *row = &t->rows.items[i];
        if (!etp_row_shown(t, i)) {
            continue;
        }
        for (size_t k = 0; k < t->n_columns; k++) {
            char buf[ETP_VIEW_CHARS];
            etp_view v = etp_view_column(t, k);
            etp_str s = etp_view_cell(&v, &row->cells[k], buf);
            etp_sink_z(sink, k ? " | " : "| ");
            etp_sink_z(sink, etp_if(row->total && s.len, "**"));
            // What people read instead of a name is prose, also in a column of code.
            if ((t->columns[k].flags & ETP_COL_CODE) && !row->cells[k].called.len) {
                put_code(sink, s);
            } else {
                etp_md_text(sink, s, false);
            }
            etp_sink_z(sink, etp_if(row->total && s.len, "**"));
        }
        etp_sink_z(sink, " |\n");
    }
    size_t hidden = etp_rows_hidden(t);
    if (hidden) {
        etp_sink_printf(sink, "\n%zu more rows\n", hidden);
    }
    etp_sink_z(sink, "\n");
}

static void write_keys(etp_sink *sink, const etp_keys *k)
{
    if (k->title.len) {
        etp_md_text(sink, k->title, true);
        etp_sink_z(sink, "\n\n");
    }
    for (size_t i = 0; i < k->pairs.n; i++) {
        const etp_key_value *p = &k->pairs.items[i];
        etp_sink_z(sink, p->key.len ? "- **" : "  - "); // without a key: more of the one before
        etp_md_text(sink, p->key, false);
        etp_sink_z(sink, etp_if(p->key.len, "** "));
        etp_md_text(sink, p->value, p->key.len == 0);
        etp_sink_z(sink, "\n");
    }
    etp_sink_z(sink, "\n");
}

// A fence longer than any run of backticks inside.
// Three are the least that begin a block of code.
static void write_code(etp_sink *sink, const etp_block *b)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < b->text.len; i++) {
        run = b->text.ptr[i] == '`' ? run + 1 : 0;
        longest = ETP_MAX(run, longest);
    }
    size_t fence = etp_larger(longest + 1, 3);
    if (b->caption.len) {
        etp_md_text(sink, b->caption, true);
        etp_sink_z(sink, "\n\n");
    }
    etp_sink_repeat(sink, '`', fence);
    etp_sink_z(sink, "\n");
    etp_sink_write(sink, b->text);
    etp_sink_z(sink, "\n");
    etp_sink_repeat(sink, '`', fence);
    etp_sink_z(sink, "\n\n");
}

static void write_block(etp_sink *sink, const etp_block *b)
{
    static const char *const k_note[] = {"", "> [!NOTE]\n> ", "> [!TIP]\n> ", "> [!WARNING]\n> ",
                                         "> [!CAUTION]\n> "};
    switch (b->kind) {
    case ETP_BLOCK_SECTION:
        etp_sink_z(sink, b->level == 1 ? "## " : "### ");
        etp_md_text(sink, b->text, false);
        etp_sink_z(sink, "\n\n");
        break;
    case ETP_BLOCK_TEXT:
        etp_sink_z(sink, k_note[b->severity]);
        etp_md_text(sink, b->text, true);
        etp_sink_z(sink, "\n\n");
        break;
    case ETP_BLOCK_CODE:
        write_code(sink, b);
        break;
    case ETP_BLOCK_KEYS:
        write_keys(sink, b->keys);
        break;
    case ETP_BLOCK_TABLE:
        write_table(sink, b->table);
        break;
    case ETP_BLOCK_CHART:
        b->chart->md(sink, b->chart);
        break;
    case ETP_BLOCK_FOLD: // ended in etp_write_md
        etp_sink_z(sink, "<details>\n<summary>");
        etp_md_text(sink, b->text, false);
        etp_sink_z(sink, "</summary>\n\n");
        break;
    case ETP_BLOCK_DRAWER: // of the page alone
    case ETP_BLOCK_PICTURE:
    case ETP_BLOCK_ACTIONS:
    case ETP_BLOCK_DATA:
        break;
    }
}

static const char k_unfold[] = "</details>\n\n";

etp_status etp_write_md(const etp_report *r, const etp_report_style *style, etp_arena *arena,
                        etp_sink *sink, etp_error *err)
{
    (void)arena;
    (void)err;
    etp_sink_z(sink, "# ");
    etp_md_text(sink, r->title, false);
    etp_sink_z(sink, "\n\n");
    if (r->subtitle.len) {
        etp_md_text(sink, r->subtitle, true);
        etp_sink_z(sink, "\n\n");
    }
    for (size_t i = 0; i < r->cards.n; i++) {
        if (!r->cards.items[i].on_page) {
            write_card(sink, &r->cards.items[i]);
        }
    }
    size_t facts = 0;
    for (size_t i = 0; i < r->facts.n; i++) {
        if (r->facts.items[i].on_page) {
            continue;
        }
        etp_sink_z(sink, etp_if(facts, " · "));
        etp_md_text(sink, r->facts.items[i].key, facts++ == 0);
        etp_sink_z(sink, " **");
        etp_md_text(sink, r->facts.items[i].value, false);
        etp_sink_z(sink, "**");
    }
    etp_sink_z(sink, etp_if(facts, "\n\n"));
    bool folded = false;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (!etp_block_shown(b, style, ETP_OFF_PAGE)) {
            continue;
        }
        if (folded && (b->kind == ETP_BLOCK_SECTION || b->kind == ETP_BLOCK_FOLD)) {
            etp_sink_z(sink, k_unfold);
            folded = false;
        }
        folded = folded || b->kind == ETP_BLOCK_FOLD;
        write_block(sink, b);
    }
    etp_sink_z(sink, etp_if(folded, k_unfold));
    return ETP_OK;
}
