// SPDX-License-Identifier: Apache-2.0
// The report as one self-contained page: no network, on a phone and on paper, readable without
// script but for some pictures. Style and scripts are page.css, pictures.js and page.js.
#include <stdlib.h>
#include <string.h>

#include "report/html_parts.h"
#include "report/svg.h"

// The writer goes through the blocks twice: once to nowhere, to learn how long each is
// (make_budget), and once for good. Whatever a block's writing changes here has to be set back
// between the two.
typedef struct page {
    etp_sink *sink;
    etp_arena *arena;
    const etp_report *report;
    size_t ordinal;  // of the block being written
    size_t tab;      // of the last section
    etp_str heading; // the last one written
    bool told;       // that something of this section is left out
    etp_html_links links;
    etp_html_budget budget;
} page;

static void z(page *p, const char *s)
{
    etp_sink_z(p->sink, s);
}

static void text(page *p, etp_str s)
{
    etp_sink_xml(p->sink, s);
}

static void linked(page *p, etp_str s)
{
    etp_html_text(p->sink, s, &p->links);
}

static void element(page *p, const char *tag, const char *cls, etp_str s)
{
    if (s.len) {
        etp_sink_printf(p->sink, *cls ? "<%s class=\"%s\">" : "<%s>", tag, cls);
        text(p, s);
        etp_sink_printf(p->sink, "</%s>\n", tag);
    }
}

// ---- head ----

static void write_head(page *p)
{
    const etp_report *r = p->report;
    z(p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         // The browser itself refuses whatever would leave the page.
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>");
    text(p, r->title);
    z(p, "</title>\n<style>\n");
    etp_sink_write(p->sink, k_etp_page_files[ETP_PAGE_CSS].text);
    z(p, "</style>\n</head>\n<body>\n<header>\n");
    element(p, "h1", "", r->title);
    element(p, "p", "subtitle", r->subtitle);
    z(p, "</header>\n");
}

// Two elements of one id would make links lead to the first of them.
static void section_id(page *p, size_t block)
{
    const etp_str id = p->report->blocks.items[block].id;
    etp_html_id(p->sink, id);
    for (size_t i = 0; i < block; i++) {
        const etp_block *b = &p->report->blocks.items[i];
        if (b->kind == ETP_BLOCK_SECTION && b->medium != ETP_OFF_PAGE && etp_str_eq(b->id, id)) {
            etp_sink_printf(p->sink, "-%zu", block); // our authors do not; the page stays valid
            return;
        }
    }
}

static bool is_section(const etp_block *b, const etp_report_style *style)
{
    return b->kind == ETP_BLOCK_SECTION && b->level == 1 && !b->inner &&
           etp_block_shown(b, style, ETP_ON_PAGE);
}

// Of a part that is a tab, whose sections are listed as those of the first tab are.
static bool is_of_tab(const etp_block *b, const etp_report_style *style)
{
    return b->kind == ETP_BLOCK_SECTION && b->level == 2 && b->tab && !b->inner &&
           etp_block_shown(b, style, ETP_ON_PAGE);
}

// How many parts the list LIST has: those up to the next section that is none.
// A list of one would be a choice without a choice, so is_shown leaves it out.
static size_t count_parts(const etp_report *r, size_t list, const etp_report_style *style)
{
    size_t n = 0;
    for (size_t i = list + 1; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (is_section(b, style) && !b->part) {
            break;
        }
        n += is_section(b, style);
    }
    return n;
}

// Does anything stand in the fold, until what ends it?
static bool holds_something(const etp_report *r, size_t fold, const etp_report_style *style)
{
    for (size_t i = fold + 1; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        bool ends = b->kind == ETP_BLOCK_SECTION || b->kind == ETP_BLOCK_DRAWER ||
                    b->kind == ETP_BLOCK_FOLD;
        if (ends || etp_block_shown(b, style, ETP_ON_PAGE)) {
            return !ends;
        }
    }
    return false;
}

static bool is_shown(const page *p, size_t block, const etp_report_style *style)
{
    const etp_block *b = &p->report->blocks.items[block];
    return etp_block_shown(b, style, ETP_ON_PAGE) &&
           !(b->parts && count_parts(p->report, block, style) < 2) &&
           !(b->kind == ETP_BLOCK_FOLD && !holds_something(p->report, block, style));
}

static void section_link(page *p, size_t block)
{
    z(p, "<li><a href=\"#");
    section_id(p, block);
    z(p, "\">");
    text(p, p->report->blocks.items[block].text);
    z(p, "</a></li>");
}

static void write_navigation(page *p, const etp_report_style *style)
{
    const etp_report *r = p->report;
    bool listed = false; // the parts that are looked at have a list of their own
    z(p, "<nav aria-label=\"Sections\"><ul>");
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (is_section(b, style) && is_shown(p, i, style)) {
            listed = b->parts || (listed && b->part);
            if (!listed || !b->part) {
                section_link(p, i);
            }
        } else if (is_of_tab(b, style)) {
            section_link(p, i);
        }
    }
    z(p, "</ul></nav>\n");
}

// With the script a choice of what is shown, without it a table of contents.
static void list_parts(page *p, size_t list, const etp_report_style *style)
{
    const etp_report *r = p->report;
    z(p, "<ul class=\"answers\">");
    for (size_t i = list + 1, n = count_parts(r, list, style); n > 0; i++) {
        if (is_section(&r->blocks.items[i], style)) {
            section_link(p, i);
            n--;
        }
    }
    z(p, "</ul>\n");
}

// ---- blocks ----

static void write_note(page *p, const etp_block *b)
{
    static const char *const k_word[] = {"", "Note", "OK", "Warning", "Problem"};
    if (b->severity == ETP_PLAIN) {
        z(p, "<p>");
        linked(p, b->text);
        z(p, "</p>\n");
        return;
    }
    etp_sink_printf(p->sink, "<p class=\"note %s\"><b>%s</b> ", k_etp_css_severity[b->severity],
                    k_word[b->severity]);
    linked(p, b->text);
    z(p, "</p>\n");
}

// One line to copy is set in words, so that a narrow screen breaks it between them; copied, it
// is the same line.
static void write_code(page *p, const etp_block *b)
{
    z(p, "<figure class=\"code\">");
    element(p, "figcaption", "", b->caption);
    z(p, "<pre tabindex=\"0\"><code>");
    if (b->line) {
        etp_html_command(p->sink, b->text);
    } else {
        text(p, b->text);
    }
    z(p, "</code></pre></figure>\n");
}

static void write_keys(page *p, const etp_keys *k)
{
    element(p, "p", "", k->title);
    z(p, "<dl class=keys>\n");
    for (size_t i = 0; i < k->pairs.n; i++) {
        const etp_key_value *pair = &k->pairs.items[i];
        etp_sink_printf(p->sink, pair->severity ? "<dt class=%s>" : "<dt>",
                        k_etp_css_severity[pair->severity]);
        // Ids in a list are those of the answer that its author spoke of, which may change from
        // pair to pair.
        p->links.scope = pair->scope;
        linked(p, pair->key);
        z(p, "<dd"); // which ends the <dt>
        if (pair->histogram.len) {
            z(p, " data-h=\"");
            text(p, pair->histogram);
            etp_sink_char(p->sink, '"');
        }
        etp_sink_char(p->sink, '>');
        linked(p, pair->value);
        etp_sink_char(p->sink, '\n');
    }
    z(p, "</dl>\n");
}

static void write_chart(page *p, const etp_chart *c)
{
    enum { MOST_BARS = 32 };
    bool bars = c->chart == ETP_CHART_STACKED || c->chart == ETP_CHART_INTERVALS;
    etp_chart drawn = *c;
    // A copy of the struct with a shorter list: the entries themselves are shared.
    drawn.entries.n = bars && c->entries.n > MOST_BARS ? MOST_BARS : c->entries.n;
    z(p, "<figure class=\"chart\">\n");
    element(p, "figcaption", "", c->title);
    if (c->lacks.len && c->entries.n == 0) { // a sentence breaks its lines where a drawing cannot
        element(p, "p", "", c->lacks);
        z(p, "</figure>\n");
        return;
    }
    c->page(p->sink, &drawn, (unsigned)p->ordinal, p->arena);
    element(p, "p", "caption", c->description);
    if (drawn.entries.n < c->entries.n) {
        etp_sink_printf(p->sink,
                        "<p class=\"left\">The first %zu of %zu bars are drawn; the tables have "
                        "all.</p>\n",
                        drawn.entries.n, c->entries.n);
    }
    z(p, "</figure>\n");
}

static void write_drawer(page *p, const etp_block *b)
{
    size_t outer = b->scope.len ? b->scope.len + 1 : 0; // the scope is not shown in its ids
    z(p, "<section class=\"drawer\" id=\"");
    etp_html_id(p->sink, b->id);
    z(p, "\"><h3>");
    text(p, (etp_str){b->id.ptr + outer, b->id.len - outer});
    z(p, " ");
    text(p, b->text);
    z(p, "</h3>\n");
    if (b->caption.len) {
        element(p, "p", "subtitle", b->caption);
    }
}

static void write_data(page *p, etp_str id, etp_str json)
{
    z(p, "<script type=\"application/json\" id=\"");
    etp_html_id(p->sink, id);
    z(p, "\">");
    etp_script_json(p->sink, json);
    z(p, "</script>\n");
}

// ---- what is left out of a page of many answers ----

static void say_short(page *p, const etp_block *b)
{
    etp_sink_printf(p->sink,
                    "<div class=\"short\"><p>This page has %zu answers, so this one is shortened: "
                    "where something is left out, it says so.%s</p>\n",
                    p->budget.answers, b->caption.len ? " All of it:" : "");
    if (b->caption.len) {
        z(p, "<div class=\"copy\"><code>");
        etp_html_command(p->sink, b->caption);
        z(p, "</code></div>");
    }
    z(p, "</div>\n");
}

// Once for each section, however many of its blocks are left out.
static void say_left(page *p)
{
    z(p, p->told ? "" : "<p class=\"left\">Left out here, to keep this page small.</p>\n");
    p->told = true;
}

static void write_table(page *p, const etp_table *t)
{
    size_t most = p->budget.rows[p->ordinal], n = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        n += !t->rows.items[i].total;
    }
    etp_html_table(p->sink, t, p->ordinal, p->heading, most, &p->links);
    if (most < n) {
        etp_sink_printf(p->sink,
                        "<p class=\"left\">The first %zu of %zu rows, to keep this page small."
                        "</p>\n",
                        most, n);
    }
}

static void write_section(page *p, const etp_block *b, const etp_report_style *style)
{
    p->heading = b->text;
    p->told = false;
    int level = b->level + 1 + b->inner;
    z(p, b->folded ? "<details class=\"shut\"><summary>" : "");
    etp_sink_printf(p->sink, "<h%d id=\"", level);
    section_id(p, p->ordinal);
    z(p, "\">");
    text(p, b->text);
    etp_sink_printf(p->sink, "</h%d>%s\n", level, b->folded ? "</summary>" : "");
    if (b->parts) {
        list_parts(p, p->ordinal, style);
    }
    bool begins = b->part || (b->tab && b->tab != p->tab);
    p->tab = b->tab;
    if (begins && etp_html_is_cut(&p->budget, p->report, p->ordinal)) {
        say_short(p, b);
    }
}

static void write_block(page *p, const etp_block *b, const etp_report_style *style)
{
    switch (b->kind) {
    case ETP_BLOCK_SECTION:
        write_section(p, b, style);
        break;
    case ETP_BLOCK_ACTIONS:
        etp_html_actions(p->sink, b->actions, b->id, 3, &p->links);
        break;
    case ETP_BLOCK_DATA:
        write_data(p, b->id, b->text);
        break;
    case ETP_BLOCK_FOLD:
        z(p, "<details class=\"fold\">");
        element(p, "summary", "", b->text);
        break;
    case ETP_BLOCK_DRAWER:
        p->heading = b->text;
        write_drawer(p, b);
        break;
    case ETP_BLOCK_TEXT:
        write_note(p, b);
        break;
    case ETP_BLOCK_CODE:
        write_code(p, b);
        break;
    case ETP_BLOCK_KEYS:
        write_keys(p, b->keys);
        break;
    case ETP_BLOCK_TABLE:
        write_table(p, b->table);
        break;
    case ETP_BLOCK_CHART:
        write_chart(p, b->chart);
        break;
    case ETP_BLOCK_GRAPH:
    case ETP_BLOCK_SPANS:
    case ETP_BLOCK_PLANE:
    case ETP_BLOCK_PLAN:
        etp_html_picture(p->sink, b, &p->links);
        break;
    }
}

static void collect_links(page *p, const etp_report_style *style)
{
    const etp_report *r = p->report;
    p->links.items = ETP_NEW_ARRAY(p->arena, etp_str, r->blocks.n + 1);
    p->links.n = 0;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (b->kind == ETP_BLOCK_DRAWER && etp_block_shown(b, style, ETP_ON_PAGE) &&
            p->budget.rows[i] > 0) {
            p->links.items[p->links.n++] = b->id;
        }
    }
    if (p->links.n) {
        qsort(p->links.items, p->links.n, sizeof *p->links.items, etp_html_id_order);
    }
}

// A sink that only counts; its target is the counter of the block being written.
static bool count_bytes(etp_sink *sink, const char *ptr, size_t len)
{
    (void)ptr;
    *(size_t *)sink->target += len;
    return true;
}

// Writes every block to nowhere, to know how long it is, and chooses what the page has.
static void make_budget(page *p, const etp_report_style *style)
{
    const etp_report *r = p->report;
    etp_sink *sink = p->sink, counter = {.write = count_bytes};
    size_t *sizes = ETP_NEW_ARRAY(p->arena, size_t, r->blocks.n + 1),
           *rows = ETP_NEW_ARRAY(p->arena, size_t, r->blocks.n + 1);
    for (size_t i = 0; i < r->blocks.n; i++) {
        rows[i] = SIZE_MAX;
    }
    p->budget = (etp_html_budget){.rows = rows};
    // With a budget of everything, so that the links of every text count: the page can only become
    // smaller.
    collect_links(p, style);
    p->sink = &counter;
    for (size_t i = 0; i < r->blocks.n; i++) {
        if (is_shown(p, i, style)) {
            counter.target = &sizes[i];
            p->ordinal = i;
            p->links.scope = r->blocks.items[i].scope;
            write_block(p, &r->blocks.items[i], style);
        }
    }
    p->sink = sink;
    p->heading = r->title;
    p->tab = 0;
    etp_html_choose(r, sizes, p->arena, &p->budget);
}

static void write_scripts(page *p)
{
    const etp_report *r = p->report;
    z(p, "<script type=\"application/json\" id=\"etprof-data\">");
    etp_report_write_data(r, p->sink);
    z(p, "</script>\n");
    if (r->json.len) {
        write_data(p, r->json_id, r->json);
    }
    z(p, "<script>\n");
    etp_sink_write(p->sink, k_etp_page_files[ETP_PAGE_PICTURES].text);
    etp_sink_write(p->sink, k_etp_page_files[ETP_PAGE_JS].text);
    z(p, "</script>\n</body>\n</html>\n");
}

// ---- what encloses blocks ----

// What is open at the moment, from the outside: tab, section, drawer, fold.
typedef struct nesting {
    bool section, fold, drawer;
    int shut; // level of the section whose details are open; 0: of none
    size_t tab;
} nesting;

// Links to the tabs. The script shows one of them; without it they stand one below the other.
static void write_tabs(page *p)
{
    const etp_report *r = p->report;
    z(p, "<ul class=\"tabs\">");
    for (size_t i = 0, tab = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (b->kind != ETP_BLOCK_SECTION || b->tab <= tab || b->medium == ETP_OFF_PAGE) {
            continue;
        }
        tab = b->tab;
        z(p, "<li><a href=\"#");
        section_id(p, i);
        z(p, "\"><b>");
        text(p, r->tabs.items[tab - 1]);
        z(p, "</b></a></li>");
    }
    z(p, "</ul>\n");
}

// Ends what B is no part of, and begins what it is the first of.
// Elements close from the inside out and open from the outside in, or the page would not be
// well-formed.
static void enclose(page *p, nesting *n, const etp_block *b)
{
    bool turns = b->tab != n->tab,
         section = b->kind == ETP_BLOCK_SECTION && b->level == 1 && !b->inner;
    bool breaks = turns || b->kind == ETP_BLOCK_SECTION || b->kind == ETP_BLOCK_DRAWER;
    if (n->fold && (breaks || b->kind == ETP_BLOCK_FOLD)) {
        z(p, "</details>\n");
        n->fold = false;
    }
    bool ends = b->kind == ETP_BLOCK_SECTION && !b->inner && b->level <= n->shut;
    if (n->shut && (turns || ends || b->kind == ETP_BLOCK_DRAWER)) {
        z(p, "</details>\n");
        n->shut = 0;
    }
    if (n->drawer && breaks) {
        z(p, "</section>\n");
        n->drawer = false;
    }
    if (n->section && (turns || section)) {
        z(p, "</section>\n");
        n->section = false;
    }
    if (turns) {
        z(p, n->tab ? "</div>\n" : "");
        if (b->tab == 1) {
            write_tabs(p);
        }
        z(p, b->tab ? "<div class=\"tab\">\n" : "");
        n->tab = b->tab;
    }
    if (section) {
        z(p, b->part ? "<section class=\"part\">\n" : "<section>\n");
        n->section = true;
    }
    n->drawer = n->drawer || b->kind == ETP_BLOCK_DRAWER;
    n->fold = n->fold || b->kind == ETP_BLOCK_FOLD;
    n->shut = b->kind == ETP_BLOCK_SECTION && b->folded ? b->level : n->shut;
}

etp_status etp_write_html(const etp_report *r, const etp_report_style *style, etp_arena *arena,
                          etp_sink *sink, etp_error *err)
{
    (void)err;
    static const etp_block k_end = {.kind = ETP_BLOCK_SECTION}; // of no level, so that none begins
    page p = {.sink = sink, .arena = arena, .report = r, .heading = r->title};
    make_budget(&p, style);
    // Again, now that drawers may have been left out: a text must not link to one that is not
    // there.
    collect_links(&p, style);
    write_head(&p);
    write_navigation(&p, style);
    z(&p, "<noscript><p>The graph, the timeline, the roofline and the plan of memory "
          "are drawn by a script, which does not run here.</p></noscript>\n<main>\n");
    etp_html_summary(sink, r);
    nesting n = {0};
    bool in_drawer = false, decided = false;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (!is_shown(&p, i, style)) {
            continue;
        }
        // A drawer that is left out goes with its whole content and says nothing at its place:
        // nobody looks for it there. Of a section the reader sees that something is missing.
        bool hidden = p.budget.rows[i] == 0, drawer = b->kind == ETP_BLOCK_DRAWER;
        in_drawer = drawer || (in_drawer && b->kind != ETP_BLOCK_SECTION);
        if (hidden && in_drawer) {
            continue;
        }
        if (!decided && b->kind == ETP_BLOCK_SECTION) {
            etp_html_decides(sink, r, &p.links);
            decided = true;
        }
        enclose(&p, &n, b);
        p.ordinal = i;
        p.links.scope = b->scope;
        if (hidden) {
            say_left(&p);
        } else {
            write_block(&p, b, style);
        }
    }
    enclose(&p, &n, &k_end);
    if (!decided) {
        etp_html_decides(sink, r, &p.links);
    }
    if (p.budget.drawers_left) {
        etp_sink_printf(sink,
                        "<p class=\"left\">To keep this page small it has %zu of %zu details. "
                        "<code>etprof explain</code> shows each.</p>\n",
                        p.budget.drawers - p.budget.drawers_left, p.budget.drawers);
    }
    z(&p, n.section ? "</section>\n</main>\n" : "</main>\n");
    if (r->footer.len) {
        z(&p, "<footer><p>");
        text(&p, r->footer);
        z(&p, "</p></footer>\n");
    }
    write_scripts(&p);
    return ETP_OK;
}
