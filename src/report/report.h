// SPDX-License-Identifier: Apache-2.0
// The report tree: what an answer looks like before a format is chosen. Authors append sections,
// notes, tables and charts; one writer per format turns the tree into bytes.
//
// Building never fails visibly: a report remembers that it ran out of memory and etp_report_write
// says so. Builders copy every string into the report's arena, so arguments may be temporary.
// Copies are made harmless at that moment: valid UTF-8, control characters shown as pictures (ESC
// becomes ␛), bidirectional overrides and other invisible characters replaced by U+FFFD. Writers
// therefore only have to escape for their own syntax.
//
// Same tree, same bytes: writers use no locale, clock, path or environment.
#ifndef ETP_REPORT_REPORT_H
#define ETP_REPORT_REPORT_H

#include "base/number.h"
#include "base/sink.h"

typedef struct etp_report etp_report;
typedef struct etp_table etp_table;
typedef struct etp_keys etp_keys;
typedef struct etp_chart etp_chart;

typedef enum etp_severity {
    ETP_PLAIN, // no judgement
    ETP_INFO,
    ETP_GOOD,
    ETP_WARN,
    ETP_BAD
} etp_severity;

// What a number is. Decides its view ("1.234 ms"), its unit and how data formats write it.
typedef enum etp_kind {
    ETP_KIND_TEXT,
    ETP_KIND_INT,
    ETP_KIND_NS, // nanoseconds; a table or chart shows them in one common unit
    ETP_KIND_BYTES,
    ETP_KIND_RATIO,   // shown as 3.90×
    ETP_KIND_PERCENT, // a share 0…1, shown as 12.3 %
    ETP_KIND_DOUBLE
} etp_kind;

// ---- report ----

// The report lives in ARENA. NULL on out of memory, which every function below accepts, so that
// only etp_report_write's result needs a check.
etp_report *etp_report_create(etp_arena *arena, const char *title);
// Where the report lives: what is made only to be put into it comes from here too, so that the
// report is known to be incomplete where that could not be had. R is not NULL.
etp_arena *etp_report_arena(const etp_report *r);
void etp_report_subtitle(etp_report *r, const char *fmt, ...) ETP_PRINTF(2, 3);
// Numbers for the HTML page's own script, already JSON, in a block of the id ID; of a part its own.
// Borrows JSON until the report is no longer used.
void etp_report_attach_json(etp_report *r, const char *id, etp_str json);

// The big number of the first screen, a ratio of times (1: as fast). Several comparisons
// give several cards.
typedef struct etp_headline {
    const char *label;     // "sme2 against neon"
    const char *verdict;   // "faster", "same", "unknown", "withheld: outputs differ"
    etp_severity severity; // colour of the verdict
    double value, lo, hi;  // NAN = none: the verdict then stands alone
    const char *interval;  // "95 % interval, 10 blocks"; may be NULL
    const char *detail;    // one sentence below; may be NULL
    // Times that the value is made of, as two bars in HTML: before and after. A name of NULL: no
    // bars.
    struct etp_headline_end {
        const char *name;
        double value, lo, hi; // NAN = not known
        const char *note;     // a few words beside the value, "2,556 tok/s"; may be NULL
    } ends[2];
} etp_headline;
// Cards and facts are for all formats or for the HTML page alone.
void etp_report_headline(etp_report *r, const etp_headline *h);
// Small label/value pairs below the headlines: "noise floor" "0.8 %".
void etp_report_fact(etp_report *r, const char *label, const char *fmt, ...) ETP_PRINTF(3, 4);

// Something to do, as a card of the HTML page's first screen, within a part at its place, and
// nowhere else: the other formats have it where their author puts it.
typedef struct etp_action {
    const char *id;      // "N1"; links to the drawer of this id when there is one
    const char *of;      // whose it is among several answers; may be NULL
    const char *text;    // what is wrong
    const char *advice;  // what to do, in words; may be NULL
    const char *command; // to copy; may be NULL
    double whole;        // nanoseconds that the gain is a part of
    double gain, lo, hi; // NAN = not known
} etp_action;
void etp_report_action(etp_report *r, const etp_action *a);
// Why there is none, where the cards would stand.
void etp_report_no_action(etp_report *r, const char *fmt, ...) ETP_PRINTF(2, 3);

// What follows, until the next call, is for all formats, for the HTML page alone, or for all but
// it. Gives what was so before.
typedef enum etp_medium { ETP_EVERYWHERE, ETP_ON_PAGE, ETP_OFF_PAGE } etp_medium;
etp_medium etp_report_medium(etp_report *r, etp_medium medium);
// What follows, until the next section or fold, is shut under TITLE in HTML and Markdown until the
// reader opens it.
void etp_report_fold(etp_report *r, const char *title);

// Starts a drawer: what is known of one thing, by its id ("op12": letters, then digits). What
// follows belongs to it until the next drawer or section. Of the HTML page alone: a section at its
// place, which the script shows at the side. Words of texts, keys and findings that are the id of a
// drawer are links to it there.
void etp_report_drawer(etp_report *r, const char *id, const char *title);
// Of several answers in one report each has an "op12" of its own: what is added from here on,
// drawers, rows, keys and texts, speaks of those of ID ("pair-2"), which TITLE calls by name in
// each drawer. NULL: of none. A part is a scope by its own id.
void etp_report_scope(etp_report *r, const char *id, const char *title);

// Starts a section; what follows belongs to it. LEVEL 1 or 2. ID: lower-case letters, digits, '-',
// unique; the anchor in HTML.
void etp_report_section(etp_report *r, int level, const char *id, const char *title);
// The section just started (with its level-2 sections) is left out when the style is `brief`.
void etp_report_section_is_detail(etp_report *r);
// The section just started is shut on the HTML page, with those inside it, until its heading is
// clicked. One inside another stays as it is.
void etp_report_section_is_folded(etp_report *r);
// Sections that start while this is on stand within the one before on the HTML page: a level
// deeper, and not in its list of sections.
void etp_report_inner(etp_report *r, bool inner);
// Starts a section of level 1 that sections of level 1 belong to: until the part ends they count as
// level 2, and ids of sections, tables and charts get ID and '-' in front. So the same authors may
// write several times.
void etp_report_begin_part(etp_report *r, const char *id, const char *title);
void etp_report_end_part(etp_report *r);
// The section just started begins a part or a tab, and COMMAND shows all of it: a page of many
// answers shortens each, and says this. NULL: none does.
void etp_report_section_whole(etp_report *r, const char *command);
bool etp_report_in_part(const etp_report *r);
// The parts that follow are answers of one kind. HTML lists them under TITLE and, with its script,
// shows one at a time; where fewer than two follow there is no list. Of the HTML page alone.
void etp_report_parts(etp_report *r, const char *title);

// What follows, until the next call, is a tab of the HTML page that begins with a section of level
// 1: its name. NULL: of no tab. The tabs of a report follow each other; without the page's script
// and on paper they stand one below the other, other formats know none.
void etp_report_tab(etp_report *r, const char *name);

void etp_report_text(etp_report *r, const char *fmt, ...) ETP_PRINTF(2, 3);
void etp_report_note(etp_report *r, etp_severity severity, const char *fmt, ...) ETP_PRINTF(3, 4);
// Something to paste: shown verbatim, newlines kept.
void etp_report_code(etp_report *r, const char *caption, etp_str text);
// Likewise one line to copy, a command or a quotation, that a narrow page breaks between its words.
void etp_report_line(etp_report *r, const char *caption, const char *line);
// Likewise a list of lines to read, indented by what they belong to: one that is longer than a
// terminal goes on below, four columns further in.
void etp_report_listing(etp_report *r, etp_str text);

// A list "key  value", values wrapped under themselves. TITLE may be NULL.
etp_keys *etp_report_keys(etp_report *r, const char *title);
void etp_keys_add(etp_keys *k, etp_severity severity, const char *key, const char *fmt, ...)
    ETP_PRINTF(4, 5);

// How often the value just added was how large: COUNTS of N equal steps from LO to HI (the last one
// also holds what is above). HTML alone draws it, in tenths of the highest.
void etp_keys_histogram(etp_keys *k, double lo, double hi, const uint64_t *counts, size_t n);

// ---- tables ----

enum {
    ETP_COL_BAR = 1,      // a bar; bar columns of one kind share their scale
    ETP_COL_SIGNED = 2,   // differences: positive values carry a plus
    ETP_COL_MINOR = 4,    // first to go when the terminal is narrow
    ETP_COL_CODE = 8,     // names of operators, files: monospace
    ETP_COL_CHOICE = 16,  // few different texts: HTML offers to show the rows of one
    ETP_COL_FIGURES = 32, // texts that are figures, of several units: HTML puts them to the right
    ETP_COL_ABSENT = 64   // left out, with its cell in every row
};

typedef struct etp_column {
    const char *key;   // CSV header and JSON key: "median_ns"
    const char *title; // for people, without unit: "median"
    etp_kind kind;
    unsigned flags;   // ETP_COL_…
    const char *unit; // NULL: the kind's own
    int decimals;     // of RATIO, PERCENT, DOUBLE; 0 = the kind's default (2, 1, 3)
    const char *help; // tooltip and nothing more; may be NULL
} etp_column;

typedef enum etp_cell_type {
    ETP_CELL_MISSING, // shown as –, empty in CSV, null in JSON
    ETP_CELL_TEXT,
    ETP_CELL_I64,
    ETP_CELL_U64,
    ETP_CELL_DOUBLE
} etp_cell_type;

typedef struct etp_cell {
    etp_cell_type type;
    etp_severity severity;
    unsigned color; // swatch in HTML, 1 … 18; 0 none
    etp_str called; // TEXT: what people read instead of it, "": nothing else
    union {
        etp_str text;
        int64_t i64;
        uint64_t u64;
        double d;
    } v;
} etp_cell;

static inline etp_cell etp_cell_missing(void)
{
    return (etp_cell){0};
}

static inline etp_cell etp_cell_str(etp_str s)
{
    return (etp_cell){.type = ETP_CELL_TEXT, .v.text = s};
}

static inline etp_cell etp_cell_if(bool known, etp_cell cell) // else missing
{
    return known ? cell : etp_cell_missing();
}

static inline etp_cell etp_cell_z(const char *z) // NULL is missing
{
    return z ? etp_cell_str(etp_str_from(z)) : etp_cell_missing();
}

// CSV and JSON have NAME, people read CALLED: "linux_vnni" is VNNI.
static inline etp_cell etp_cell_called(const char *name, const char *called)
{
    etp_cell c = etp_cell_z(name);
    c.called =
        called && name && strcmp(called, name) != 0 ? etp_str_from(called) : (etp_str){"", 0};
    return c;
}

static inline etp_cell etp_cell_i64(int64_t v)
{
    return (etp_cell){.type = ETP_CELL_I64, .v.i64 = v};
}

static inline etp_cell etp_cell_u64(uint64_t v)
{
    return (etp_cell){.type = ETP_CELL_U64, .v.u64 = v};
}

static inline etp_cell etp_cell_ns(int64_t ns) // ETP_NS_UNKNOWN is missing; bytes likewise
{
    return ns == ETP_NS_UNKNOWN ? etp_cell_missing() : etp_cell_i64(ns);
}

etp_cell etp_cell_rounded_ns(double ns); // not finite is missing

static inline etp_cell etp_cell_double(double v) // not finite is missing
{
    return v - v == 0 ? (etp_cell){.type = ETP_CELL_DOUBLE, .v.d = v} : etp_cell_missing();
}

static inline etp_cell etp_cell_judged(etp_cell c, etp_severity severity)
{
    c.severity = severity;
    return c;
}

// "yes", "no" or, below 0, "?"; BAD is how bad a no is.
static inline etp_cell etp_cell_answer(int ok, etp_severity bad)
{
    if (ok < 0) {
        return etp_cell_z("?");
    }
    return etp_cell_judged(etp_cell_z(etp_yes_no(ok)), ok ? ETP_GOOD : bad);
}

// A ratio above 1 is good, below it bad, as far as its 95 % interval says so: one that holds 1, or
// none (NAN), says nothing.
static inline etp_cell etp_cell_gain(double ratio, double lo, double hi)
{
    etp_severity no_gain = hi < 1 ? ETP_BAD : ETP_PLAIN;
    return etp_cell_judged(etp_cell_double(ratio), lo > 1 ? ETP_GOOD : no_gain);
}

static inline etp_cell etp_cell_colored(etp_cell c, unsigned color)
{
    c.color = color;
    return c;
}

#define ETP_TABLE_MAX_COLUMNS 32

// ID as for sections; also what selects the table for CSV. COLUMNS are copied.
etp_table *etp_report_table(etp_report *r, const char *id, const char *caption,
                            const etp_column *columns, size_t n_columns);
// Text and Markdown show the first N rows (and totals) and say how many more there are.
void etp_table_limit(etp_table *t, size_t n);
// N must be the number of columns, those that are left out among them.
void etp_table_add_row(etp_table *t, const etp_cell *cells, size_t n);
// The row just added is about what the drawer of this id tells.
void etp_table_row_link(etp_table *t, const char *id);
// The row just added is a total: set apart, and left at the bottom when sorted.
void etp_table_row_is_total(etp_table *t);

// ETP_ROW(table, etp_cell_z("conv"), etp_cell_ns(120), …)
#define ETP_ROW(table, ...)                                     \
    etp_table_add_row((table), (const etp_cell[]){__VA_ARGS__}, \
                      sizeof((const etp_cell[]){__VA_ARGS__}) / sizeof(etp_cell))

// What was put in, for those who hand tables on as data. NULL: there is none.
const etp_table *etp_report_table_at(const etp_report *r, size_t index);      // in their order
const etp_table *etp_report_table_named(const etp_report *r, const char *id); // NULL: the first
etp_str etp_table_id(const etp_table *t);
const etp_column *etp_table_columns(const etp_table *t, size_t *out_n);
const etp_cell *etp_table_cells(const etp_table *t, size_t row); // NULL behind the last

// ---- charts ----

typedef enum etp_chart_kind {
    ETP_CHART_STACKED,   // a bar per row, split by series; horizontal
    ETP_CHART_WATERFALL, // total, steps, total
    ETP_CHART_INTERVALS, // a bar per row with whiskers
    ETP_CHART_BLOCKS, // a dot per series and row (block), a panel per series; with two series also
                      // the ratio first ÷ second: give the baseline first to see the speedup
    ETP_CHART_LINES   // x against y per series
} etp_chart_kind;

// KIND: of the values. Charts with series want all etp_chart_series calls before the first row.
etp_chart *etp_report_chart(etp_report *r, etp_chart_kind chart, const char *id, const char *title,
                            etp_kind kind);
// What the picture shows, for people who cannot see it and as its caption.
void etp_chart_describe(etp_chart *c, const char *fmt, ...) ETP_PRINTF(2, 3);
// What stands in the place of a picture without bars: a sentence instead of "no data".
void etp_chart_lacks(etp_chart *c, const char *sentence);
void etp_chart_x_title(etp_chart *c, const char *title); // BLOCKS, LINES
void etp_chart_series(etp_chart *c, const char *label);
// STACKED: the same with one of the colours 1 … 18, so that it has the same in every picture.
void etp_chart_series_colored(etp_chart *c, const char *label, unsigned color);
// STACKED: what the colours mean, without the figures: a table beside it has them.
void etp_chart_only_names(etp_chart *c);
void etp_chart_ceiling(etp_chart *c,
                       double value);  // LINES: values above it stand at the upper edge
void etp_chart_no_ratio(etp_chart *c); // of two series of blocks: their quotient is not drawn
// STACKED, INTERVALS: the next bar begins a group; its first one is what the others are compared
// with.
void etp_chart_group(etp_chart *c);
// STACKED, BLOCKS: values[i] belongs to series i; NAN = missing.
void etp_chart_row(etp_chart *c, const char *label, const double *values, size_t n);
// LINES: one x.
void etp_chart_point(etp_chart *c, double x, const double *values, size_t n);
// INTERVALS, in the colour that series ARM of BLOCKS and LINES has: lo and hi NAN = no whisker.
// NOTE
// ("3.90× faster") may be NULL.
void etp_chart_interval(etp_chart *c, size_t arm, const char *label, const char *note, double value,
                        double lo, double hi);
// WATERFALL. A total restarts the running sum at VALUE. A step's DELTA is added to it; LO and HI
// bound the delta (NAN = unknown). GROUP names the step's kind ("operator", "boundary"); steps that
// do not describe the model's own work (tracer, unexplained) are `muted`.
void etp_chart_total(etp_chart *c, const char *label, double value);
void etp_chart_step(etp_chart *c, const char *label, const char *group, bool muted, double delta,
                    double lo, double hi);
// ---- pictures of the HTML page alone ----

// What pictures.js draws a picture from: texts, links and numbers of an object, and lists of them.
// KIND is its function there, which says what it needs: graph, spans, plane, plan. With NULL for
// the picture they do nothing.
typedef struct etp_picture etp_picture;
etp_picture *etp_report_picture(etp_report *r, const char *kind); // until its end
void etp_picture_list(etp_picture *p, const char *key);           // until its end
void etp_picture_item(etp_picture *p); // of a list: an object, until its end
void etp_picture_end(etp_picture *p);
// KEY NULL: an element of a list.
void etp_picture_text(etp_picture *p, const char *key, const char *text); // not if NULL or ""
void etp_picture_number(etp_picture *p, const char *key, double v);       // not finite: null
void etp_picture_link(etp_picture *p, const char *id); // to a drawer, of NULL none

// ---- writing ----

typedef struct etp_report_style { // a zeroed struct is a plain 80-column ASCII file
    int width;                    // TEXT: columns, 0 = 80
    bool color;                   // TEXT: ANSI colours
    bool unicode;                 // TEXT: bars and signs beyond ASCII
    bool brief;                   // leave out sections marked as detail
    const char *select;           // CSV: id of the table, SVG: id of the chart; NULL = the first
} etp_report_style;

// A form of a report. ARENA, which has a guard, is for what it needs while it writes; SINK
// remembers failed writes. Each stands in a file of its own, so that a verb links those it offers.
typedef etp_status etp_report_writer(const etp_report *r, const etp_report_style *style,
                                     etp_arena *arena, etp_sink *sink, etp_error *err);
etp_report_writer etp_write_text; // for a terminal
etp_report_writer etp_write_md;   // GitHub Markdown
etp_report_writer etp_write_csv;  // one table, RFC 4180 with LF
etp_report_writer etp_write_html; // one self-contained page
etp_report_writer etp_write_svg;  // one chart as a picture of its own

// STYLE may be NULL. Errors: ETP_NOMEM (building or writing ran out of memory), ETP_USAGE (no such
// table or chart), ETP_IO (the sink failed).
ETP_NODISCARD etp_status etp_report_write(const etp_report *r, etp_report_writer *writer,
                                          const etp_report_style *style, etp_sink *sink,
                                          etp_error *err);

// As a comment for a pull request: Markdown, the short form first, all of it folded below, at most
// LIMIT bytes, cut at a section or a paragraph; not below ETP_GITHUB_LEAST.
#define ETP_GITHUB_BYTES 60000 // a comment holds 65,536 characters
#define ETP_GITHUB_LEAST 1000
typedef etp_status etp_comment_writer(const etp_report *r, size_t limit, etp_sink *sink,
                                      etp_error *err);
ETP_NODISCARD etp_comment_writer etp_report_write_github;

#endif
