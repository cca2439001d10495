// SPDX-License-Identifier: Apache-2.0
// The screen of an answer: what it holds, and how it is laid out in the width there is. No word is
// ever cut: what does not fit stands on a line of its own, and bars go first.
#include "report/screen.h"

#include "base/guard.h"
#include "report/text.h"

enum { BAR_MOST = 24, BAR_LEAST = 6, INDENT = 2, MOST_LINES = 30, MOST_LINES_AT = 80 };

typedef struct headline {
    etp_str words, parts[ETP_SCREEN_PARTS];
    etp_severity severity;
} headline;

typedef struct grid_row {
    etp_str label, figures[ETP_SCREEN_FIGURES], note, short_note;
    double bar;
    etp_severity severity;
    bool total;
} grid_row;

typedef struct step {
    etp_str id, gain, text, todo;
    bool command;
} step;

typedef struct entry { // a remark, a mark, a line of more
    etp_str title, text;
    etp_severity severity;
    bool command;
} entry;

typedef struct entries {
    entry *items;
    size_t n, cap;
} entries;

struct etp_screen {
    etp_arena *arena;
    etp_str title, grid_title, grid_unit, columns[ETP_SCREEN_FIGURES], steps_title;
    struct {
        headline *items;
        size_t n, cap;
    } headlines;
    struct {
        grid_row *items;
        size_t n, cap;
    } rows;
    struct {
        step *items;
        size_t n, cap;
    } steps;
    entries remarks, marks, more;
    size_t kept; // of the remarks, whatever room there is
};

// ---- what it holds ----

// Z as a terminal can show it; what came from files may hold anything.
static etp_str keep(etp_screen *s, const char *z)
{
    etp_strbuf out;
    etp_strbuf_init(&out, s->arena);
    etp_sink sink = etp_sink_strbuf(&out);
    etp_sink_shown(&sink, z ? etp_str_from(z) : ETP_STR(""), false);
    return etp_strbuf_str(&out);
}

etp_screen *etp_screen_create(etp_arena *arena, const char *title)
{
    etp_screen *s = ETP_NEW(arena, etp_screen);
    if (s) {
        s->arena = arena;
        s->title = keep(s, title);
    }
    return s;
}

void etp_screen_headline(etp_screen *s, etp_severity severity, const char *text,
                         const char *const parts[ETP_SCREEN_PARTS])
{
    if (s) {
        headline h = {.words = keep(s, text), .severity = severity};
        for (int k = 0; k < ETP_SCREEN_PARTS; k++) {
            h.parts[k] = keep(s, parts[k]);
        }
        ETP_ADD(s->arena, &s->headlines, h);
    }
}

static void add_entry(etp_screen *s, entries *to, const char *title, etp_severity severity,
                      const char *text, bool command)
{
    if (s) {
        entry e = {.title = keep(s, title),
                   .text = keep(s, text),
                   .severity = severity,
                   .command = command};
        ETP_ADD(s->arena, to, e);
    }
}

void etp_screen_remark(etp_screen *s, etp_severity severity, const char *text)
{
    if (s) {
        add_entry(s, &s->remarks, NULL, severity, text, false);
    }
}

void etp_screen_keep_remarks(etp_screen *s)
{
    if (s) {
        s->kept = s->remarks.n;
    }
}

void etp_screen_grid(etp_screen *s, const char *title, const char *unit,
                     const char *const columns[ETP_SCREEN_FIGURES])
{
    if (s) {
        s->grid_title = keep(s, title);
        s->grid_unit = keep(s, unit);
        for (int k = 0; k < ETP_SCREEN_FIGURES; k++) {
            s->columns[k] = keep(s, columns[k]);
        }
    }
}

void etp_screen_add(etp_screen *s, const etp_screen_row *row)
{
    if (s) {
        grid_row r = {.label = keep(s, row->label),
                      .note = keep(s, row->note),
                      .short_note = keep(s, row->short_note),
                      .bar = row->bar,
                      .severity = row->severity,
                      .total = row->total};
        for (int k = 0; k < ETP_SCREEN_FIGURES; k++) {
            r.figures[k] = keep(s, ETP_OR(row->figures[k], "–"));
        }
        ETP_ADD(s->arena, &s->rows, r);
    }
}

void etp_screen_step(etp_screen *s, const char *title, const char *id, const char *gain,
                     const char *text, const char *todo, bool command)
{
    if (s) {
        step t = {.id = keep(s, id),
                  .gain = keep(s, gain),
                  .text = keep(s, text),
                  .todo = keep(s, todo),
                  .command = command};
        s->steps_title = keep(s, title);
        ETP_ADD(s->arena, &s->steps, t);
    }
}

void etp_screen_trust(etp_screen *s, etp_severity severity, const char *text)
{
    if (s) {
        add_entry(s, &s->marks, "Trust", severity, text, false);
    }
}

void etp_screen_more(etp_screen *s, const char *title, const char *text, bool command)
{
    if (s) {
        add_entry(s, &s->more, title, ETP_PLAIN, text, command);
    }
}

// ---- how it is laid out ----

static void in_colour(etp_text *o, const char *sgr, etp_str text)
{
    etp_text_sgr(o, sgr);
    etp_text_put(o, text);
    etp_text_plain(o, sgr);
}

// Words with what stands beside them in columns; below them where the line is too short.
static void write_headlines(etp_text *o, const etp_screen *s)
{
    // Headlines without parts take no column: they may be as long as the line.
    size_t width[1 + ETP_SCREEN_PARTS] = {0}, all = INDENT;
    for (size_t i = 0; i < s->headlines.n; i++) {
        const headline *h = &s->headlines.items[i];
        bool alone = true;
        for (int k = 0; k < ETP_SCREEN_PARTS; k++) {
            alone = alone && h->parts[k].len == 0;
        }
        width[0] = etp_larger(width[0], alone ? 0 : etp_width(h->words));
        for (int k = 0; k < ETP_SCREEN_PARTS; k++) {
            width[1 + k] = etp_larger(width[1 + k], etp_width(h->parts[k]));
        }
    }
    for (int k = 0; k <= ETP_SCREEN_PARTS; k++) {
        if (width[k]) {
            all += width[k] + (k ? 3 : 0);
        }
    }
    bool beside = all <= o->width;
    for (size_t i = 0; i < s->headlines.n; i++) {
        const headline *h = &s->headlines.items[i];
        size_t at = INDENT, owed = 0;
        etp_sink_repeat(o->sink, ' ', INDENT);
        etp_text_sgr(o, "1");
        etp_text_sgr(o, k_etp_sgr_severity[h->severity]);
        if (at + etp_width(h->words) > o->width) {
            etp_text_wrap(o, h->words, at, INDENT);
            at = 0;
        } else {
            etp_text_put(o, h->words);
            at += etp_width(h->words);
            owed = beside && etp_width(h->words) < width[0] ? width[0] - etp_width(h->words) : 0;
        }
        etp_text_plain(o, "1");
        for (int k = 0; k < ETP_SCREEN_PARTS; k++) {
            size_t w = etp_width(h->parts[k]);
            if (w && !beside && at && at + 3 + w > o->width) {
                etp_sink_char(o->sink, '\n');
                at = 0;
            }
            if (w) {
                size_t gap = at ? 3 + owed : 2 * INDENT;
                etp_sink_repeat(o->sink, ' ', gap);
                etp_text_put(o, h->parts[k]);
                at += gap + w;
                owed = 0;
            }
            owed += beside ? width[1 + k] - w : 0;
        }
        if (at) {
            etp_sink_char(o->sink, '\n');
        }
    }
}

typedef struct grid {
    size_t label, figures[ETP_SCREEN_FIGURES]; // columns they take; 0: left out
    size_t room;                               // for bars and notes
    double most;                               // of the bars
} grid;

// Figures are taken in as long as they fit, from the left; bars and notes get what is left. TITLE
// is what the title needs in the column of labels.
static grid layout(const etp_screen *s, size_t width, size_t title)
{
    grid g = {.label = title};
    for (size_t i = 0; i < s->rows.n; i++) {
        const grid_row *r = &s->rows.items[i];
        g.label = etp_larger(g.label, INDENT + etp_width(r->label));
        g.most = ETP_MAX(r->bar, g.most);
        for (int k = 0; k < ETP_SCREEN_FIGURES; k++) {
            g.figures[k] = etp_larger(g.figures[k], etp_width(r->figures[k]));
        }
    }
    size_t used = g.label;
    for (int k = 0; k < ETP_SCREEN_FIGURES; k++) {
        g.figures[k] = etp_larger(g.figures[k], etp_width(s->columns[k]));
        bool fits = used + 2 + g.figures[k] <= width;
        used += fits ? 2 + g.figures[k] : 0;
        g.figures[k] = fits ? g.figures[k] : 0;
    }
    g.room = width > used + 2 ? width - used - 2 : 0;
    return g;
}

static void write_figures(etp_text *o, const grid *g, const etp_str *figures, const char *sgr)
{
    for (int k = 0; k < ETP_SCREEN_FIGURES; k++) {
        if (g->figures[k]) {
            bool last = k + 1 == ETP_SCREEN_FIGURES;
            etp_text_putz(o, "  ");
            etp_text_sgr(o, etp_if(last, sgr));
            etp_text_cell(o, figures[k], g->figures[k], true);
            etp_text_plain(o, etp_if(last, sgr));
        }
    }
}

static void write_row(etp_text *o, const grid *g, const grid_row *r)
{
    const char *sgr = k_etp_sgr_severity[r->severity];
    size_t bar = ETP_MIN(g->room, BAR_MOST);
    // A note takes the place of the bar, the short one where the long one does not fit.
    etp_str note = etp_width(r->note) <= g->room ? r->note : r->short_note;
    etp_sink_repeat(o->sink, ' ', INDENT);
    etp_text_sgr(o, etp_if(r->total, "1"));
    etp_text_cell(o, r->label, g->label - INDENT, false);
    etp_text_plain(o, etp_if(r->total, "1"));
    write_figures(o, g, r->figures, sgr);
    if (note.len && etp_width(note) <= g->room) {
        etp_text_putz(o, "  ");
        in_colour(o, r->total ? "2" : k_etp_sgr_severity[ETP_INFO], note);
    } else if (r->bar > 0 && g->most > 0 && g->room >= BAR_LEAST &&
               etp_text_bar_shows(o, r->bar / g->most, bar)) {
        etp_text_putz(o, "  ");
        etp_text_sgr(o, sgr);
        etp_text_bar(o, r->bar / g->most, bar, false);
        etp_text_plain(o, sgr);
    }
    etp_sink_char(o->sink, '\n');
}

static void write_grid(etp_text *o, const etp_screen *s)
{
    size_t unit = etp_width(s->grid_unit);
    size_t title = etp_width(s->grid_title) + (unit ? 2 + unit : 0);
    grid g = layout(s, o->width, title), bare = layout(s, o->width, 0);
    // Where the title with its unit is what makes the column of labels wide, and that leaves no
    // room for bars or triples the column, the unit goes to the next line.
    bool beside = !unit || g.label > title || (g.room >= BAR_LEAST && title <= 3 * bare.label);
    g = beside ? g : bare;
    etp_sink_char(o->sink, '\n');
    etp_text_sgr(o, "1");
    if (beside) {
        etp_text_put(o, s->grid_title);
        etp_text_putz(o, etp_if(unit, ", "));
    } else {
        etp_text_wrap(o, s->grid_title, 0, INDENT);
        etp_sink_repeat(o->sink, ' ', INDENT);
    }
    etp_text_cell(o, s->grid_unit, g.label - (beside ? title - unit : INDENT), false);
    etp_text_plain(o, "1");
    etp_text_sgr(o, "2");
    write_figures(o, &g, s->columns, "");
    etp_text_plain(o, "2");
    etp_sink_char(o->sink, '\n');
    for (size_t i = 0; i < s->rows.n; i++) {
        write_row(o, &g, &s->rows.items[i]);
    }
}

// What can be copied from the terminal as one command, after INDENT columns: lines end where a
// shell goes on.
static void write_command(etp_text *o, etp_str s, size_t indent)
{
    size_t at = indent;
    etp_text_sgr(o, "36");
    for (bool first = true; s.len; first = false) {
        // Bytes of the first word as a shell sees it: blanks inside quotes do not end it, and
        // outside of them a backslash takes a quote its meaning.
        char quote = '\0';
        size_t n = 0;
        for (; n < s.len && (quote || s.ptr[n] != ' '); n++) {
            char c = s.ptr[n];
            bool mark = (c == '\'' || c == '"') && !(n > 0 && !quote && s.ptr[n - 1] == '\\');
            if (quote) {
                quote = c == quote ? '\0' : quote;
            } else if (mark) {
                quote = c;
            }
        }
        etp_str w = {s.ptr, n};
        s = n < s.len ? (etp_str){s.ptr + n + 1, s.len - n - 1} : (etp_str){s.ptr + n, 0};
        bool fits = at + 1 + etp_width(w) + (s.len ? 2 : 0) <= o->width;
        if (!first) {
            etp_text_putz(o, fits ? " " : " \\\n");
            etp_sink_repeat(o->sink, ' ', fits ? 0 : indent + INDENT);
            at = fits ? at + 1 : indent + INDENT;
        }
        etp_text_put(o, w);
        at += etp_width(w);
    }
    etp_text_plain(o, "36");
    etp_sink_char(o->sink, '\n');
}

static void write_steps(etp_text *o, const etp_screen *s, size_t most)
{
    if (s->steps.n == 0) {
        return;
    }
    size_t id = 0, gain = 0;
    for (size_t i = 0; i < s->steps.n; i++) {
        id = etp_larger(id, etp_width(s->steps.items[i].id));
        gain = etp_larger(gain, etp_width(s->steps.items[i].gain));
    }
    etp_sink_char(o->sink, '\n');
    in_colour(o, "1", s->steps_title);
    etp_sink_char(o->sink, '\n');
    size_t beside = gain ? gain + 2 : 0, left = INDENT + id + 2, at = left + beside;
    for (size_t i = 0; i < s->steps.n && i < most; i++) {
        const step *t = &s->steps.items[i];
        etp_sink_repeat(o->sink, ' ', INDENT);
        etp_text_sgr(o, "1");
        etp_text_cell(o, t->id, id + 2, false);
        etp_text_plain(o, "1");
        etp_text_sgr(o, "32");
        etp_text_cell(o, t->gain, beside, false);
        etp_text_plain(o, "32");
        etp_text_wrap(o, t->text, at, left);
        etp_sink_repeat(o->sink, ' ', left);
        if (t->command) {
            write_command(o, t->todo, left);
        } else {
            etp_text_wrap(o, t->todo, left, left);
        }
    }
}

// One after the other as far as they fit, the next ones below under the first.
static void write_marks(etp_text *o, const etp_screen *s, size_t left)
{
    size_t at = 0;
    for (size_t i = 0; i < s->marks.n; i++) {
        const entry *w = &s->marks.items[i];
        size_t sign = o->unicode || w->severity < ETP_GOOD ? 2 : 4,
               wide = sign + etp_width(w->text);
        if (i == 0) {
            etp_sink_char(o->sink, '\n');
            etp_text_sgr(o, "1");
            etp_text_cell(o, w->title, left, false);
            etp_text_plain(o, "1");
            at = left;
        } else if (at + 2 + wide > o->width) {
            etp_sink_char(o->sink, '\n');
            etp_sink_repeat(o->sink, ' ', left);
            at = left;
        } else {
            etp_text_putz(o, "  ");
            at += 2;
        }
        static const char *const k_signs[] = {"?", "·", "✓", "✗", "✗"};
        static const char *const k_ascii[] = {"?", "-", "ok:", "NO:", "NO:"};
        in_colour(o, k_etp_sgr_severity[w->severity],
                  etp_str_from(o->unicode ? k_signs[w->severity] : k_ascii[w->severity]));
        etp_text_putz(o, " ");
        etp_text_put(o, w->text);
        at += wide;
    }
    if (at) {
        etp_sink_char(o->sink, '\n');
    }
}

// How much of what may be many is shown.
typedef struct room {
    size_t steps, remarks, more;
} room;

static void write_all(etp_text *o, const etp_screen *s, room most)
{
    size_t left = s->marks.n ? etp_width(s->marks.items[0].title) : 0;
    for (size_t i = 0; i < s->more.n; i++) {
        left = etp_larger(left, etp_width(s->more.items[i].title));
    }
    left += 3;
    etp_text_wrap(o, s->title, 0, INDENT);
    etp_sink_char(o->sink, '\n');
    write_headlines(o, s);
    for (size_t i = 0; i < s->remarks.n && i < most.remarks; i++) {
        const entry *w = &s->remarks.items[i];
        const char *sgr = k_etp_sgr_severity[w->severity];
        etp_sink_repeat(o->sink, ' ', INDENT);
        etp_text_sgr(o, sgr);
        etp_text_wrap(o, w->text, INDENT, INDENT);
        etp_text_plain(o, sgr);
    }
    if (most.remarks < s->remarks.n) {
        etp_sink_printf(o->sink, "  and %zu more: --full\n", s->remarks.n - most.remarks);
    }
    if (s->rows.n != 0) {
        write_grid(o, s);
    }
    write_steps(o, s, most.steps);
    write_marks(o, s, left);
    for (size_t i = 0; i < most.more; i++) {
        etp_text_sgr(o, "1");
        etp_text_cell(o, s->more.items[i].title, left, false);
        etp_text_plain(o, "1");
        if (s->more.items[i].command) {
            write_command(o, s->more.items[i].text, left);
        } else {
            etp_text_wrap(o, s->more.items[i].text, left, left);
        }
    }
}

// Where headlines and warnings take the place, steps give way, then the last of the paths, then the
// later warnings: --full has all. O writes to PAGE; what is shown is the same at every width.
// The page is written anew for each choice: only that tells how many lines its words take.
static room room_of(etp_text o, const etp_screen *s, etp_strbuf *page)
{
    room most = {s->steps.n, s->remarks.n, s->more.n};
    // At most one of the paths gives way, and none of two.
    const size_t paths = s->more.n > 2 ? s->more.n - 1 : s->more.n;
    o.width = MOST_LINES_AT;
    o.unicode = true;
    while (most.steps > 1 || most.more > paths || most.remarks > s->kept) {
        page->len = 0;
        write_all(&o, s, most);
        size_t lines = 0;
        for (size_t i = 0; i < page->len; i++) {
            lines += page->ptr[i] == '\n';
        }
        if (lines <= MOST_LINES) {
            break;
        }
        if (most.steps > 1) {
            most.steps--;
        } else if (most.more > paths) {
            most.more--;
        } else {
            most.remarks--;
        }
    }
    return most;
}

static etp_status write(const etp_screen *s, const etp_report_style *style, etp_arena *arena,
                        etp_sink *sink, etp_error *err)
{
    int width = ETP_OR(style->width, 80);
    etp_strbuf page;
    etp_strbuf_init(&page, arena);
    etp_sink to_page = etp_sink_strbuf(&page);
    etp_text o = {.sink = &to_page,
                  .width = (size_t)ETP_MAX(width, 40),
                  .color = style->color,
                  .unicode = style->unicode};
    etp_strbuf_init(&o.scratch, arena);
    room most = room_of(o, s, &page);
    page.len = 0;
    write_all(&o, s, most);
    etp_sink_write(sink, etp_strbuf_str(&page));
    return etp_sink_check(sink, err, "the answer");
}

static etp_status guarded(const etp_screen *s, const etp_report_style *style, etp_arena *arena,
                          etp_sink *sink, etp_error *err)
{
    ETP_GUARDED(arena, err, "screen", write(s, style, arena, sink, err));
}

etp_status etp_screen_write(const etp_screen *s, const etp_report_style *style, etp_sink *sink,
                            etp_error *err)
{
    static const etp_report_style k_plain;
    ETP_NEED(s && !s->arena->failed, err, "screen"); // who built it may have had no guard
    etp_arena scratch;
    etp_arena_scratch(&scratch, s->arena);
    etp_status status = guarded(s, ETP_OR(style, &k_plain), &scratch, sink, err);
    etp_arena_dispose(&scratch);
    return status;
}
