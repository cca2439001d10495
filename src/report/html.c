// SPDX-License-Identifier: Apache-2.0
// The report as one self-contained page: page.html, with its style and scripts in it and its sample
// replaced by this report. What decides (headline, what to do next, charts) is markup, read without
// scripts; everything else is JSON, of which build.js makes the page.
#include <string.h>

#include "report/html_parts.h"

typedef struct page {
    etp_sink *sink;
    etp_arena *arena;
    const etp_report *report;
    const etp_report_style *style;
    etp_html_budget budget;
} page;

static void z(page *p, const char *s)
{
    etp_sink_z(p->sink, s);
}

static void file(page *p, const char *tag, int first, int last)
{
    etp_sink_printf(p->sink, "<%s>\n", tag);
    for (int k = first; k <= last; k++) {
        etp_sink_write(p->sink, k_etp_page_files[k].text);
    }
    etp_sink_printf(p->sink, "</%s>\n", tag);
}

// "</script" or "<!--" in a text would end the element or change how it is read. In JSON '<' occurs
// in strings alone, where \u003c is the same character.
static bool write_script(etp_sink *sink, const char *ptr, size_t len)
{
    etp_sink *target = sink->target;
    size_t start = 0;
    for (size_t i = 0; i < len; i++) {
        if (ptr[i] == '<') {
            etp_sink_write(target, (etp_str){ptr + start, i - start});
            etp_sink_z(target, "\\u003c");
            start = i + 1;
        }
    }
    etp_sink_write(target, (etp_str){ptr + start, len - start});
    return !target->failed;
}

static void write_json(page *p, etp_str id, etp_str json)
{
    etp_sink escaped = {.write = write_script, .target = p->sink};
    z(p, "<script type=\"application/json\" id=\"");
    etp_html_id(p->sink, id);
    z(p, "\">");
    etp_sink_write(&escaped, json);
    z(p, "</script>\n");
}

static bool is_shown(const page *p, const etp_block *b)
{
    return etp_block_shown(b, p->style, ETP_ON_PAGE) && !(b->table && b->table->rows.n == 0);
}

// ---- what is read without scripts ----

static void write_note(page *p, const etp_block *b)
{
    static const char *const k_word[] = {"", "Note", "OK", "Warning", "Problem"};
    if (b->severity == ETP_PLAIN) {
        z(p, "<p>");
    } else {
        etp_sink_printf(p->sink, "<p class=\"note %s\"><b>%s</b> ", k_etp_css_severity[b->severity],
                        k_word[b->severity]);
    }
    etp_sink_xml(p->sink, b->text);
    z(p, "</p>\n");
}

static void write_chart(page *p, const etp_chart *c, size_t ordinal)
{
    enum { MOST_BARS = 32 };
    bool bars = c->chart == ETP_CHART_STACKED || c->chart == ETP_CHART_INTERVALS;
    etp_chart drawn = *c;
    // A copy of the struct with a shorter list: the entries themselves are shared.
    drawn.entries.n = bars && c->entries.n > MOST_BARS ? MOST_BARS : c->entries.n;
    z(p, "<figure class=\"chart\">\n");
    etp_html_element(p->sink, "figcaption", "", c->title);
    if (c->lacks.len && c->entries.n == 0) { // a sentence breaks its lines where a drawing cannot
        etp_html_element(p->sink, "p", "", c->lacks);
        z(p, "</figure>\n");
        return;
    }
    c->page(p->sink, &drawn, (unsigned)ordinal, p->arena);
    etp_html_element(p->sink, "p", "caption", c->description);
    if (drawn.entries.n < c->entries.n) {
        etp_sink_printf(p->sink,
                        "<p class=\"left\">The first %zu of %zu bars are drawn; the tables have "
                        "all.</p>\n",
                        drawn.entries.n, c->entries.n);
    }
    z(p, "</figure>\n");
}

static void write_placed(page *p, const etp_block *b, size_t ordinal)
{
    if (b->chart) {
        write_chart(p, b->chart, ordinal);
    } else if (b->actions) {
        etp_html_actions(p->sink, b->actions, b->id, 3);
    } else {
        write_json(p, b->id, b->text);
    }
}

// Notes before the first section say how far the headline can be trusted.
static bool is_first_note(const etp_block *b, bool in_section)
{
    return b->kind == ETP_BLOCK_TEXT && !in_section;
}

// In the order of the blocks: build.js takes one after the other to its place.
static void write_markup(page *p, bool of_sections)
{
    const etp_report *r = p->report;
    bool in_section = false;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        in_section = in_section || (b->kind == ETP_BLOCK_SECTION && is_shown(p, b));
        if (!is_shown(p, b) || p->budget.rows[i] == 0 || in_section != of_sections) {
            continue;
        }
        if (is_first_note(b, in_section)) {
            write_note(p, b);
        } else if (etp_html_is_placed(b)) {
            write_placed(p, b, i);
        }
    }
}

// ---- the blocks as JSON ----

// A sink that only counts; its target is the counter of the block being written.
static bool count_bytes(etp_sink *sink, const char *ptr, size_t len)
{
    (void)ptr;
    *(size_t *)sink->target += len;
    return true;
}

// Writes every block to nowhere, to know how long it is, and chooses what the page has.
static void make_budget(page *p)
{
    const etp_report *r = p->report;
    etp_sink *sink = p->sink, counter = {.write = count_bytes};
    size_t *sizes = ETP_NEW_ARRAY(p->arena, size_t, r->blocks.n + 1);
    etp_json j;
    p->sink = &counter;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        counter.target = &sizes[i];
        if (!is_shown(p, b)) {
            continue;
        }
        etp_json_init(&j, &counter, false);
        etp_html_block(&j, b, SIZE_MAX);
        if (etp_html_is_placed(b)) {
            write_placed(p, b, i);
        }
    }
    p->sink = sink;
    etp_html_choose(r, sizes, p->arena, &p->budget);
}

// ---- the document ----

static void write_head(page *p)
{
    // The browser itself refuses whatever would leave the page.
    z(p, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>");
    etp_sink_xml(p->sink, p->report->title);
    z(p, "</title>\n");
    file(p, "style", ETP_PAGE_CSS, ETP_PAGE_CSS);
}

static void write_header(page *p)
{
    etp_html_element(p->sink, "h1", "", p->report->title);
    etp_html_element(p->sink, "p", "subtitle", p->report->subtitle);
}

static void write_main(page *p)
{
    z(p, "<div class=\"first\">\n");
    etp_html_summary(p->sink, p->report);
    write_markup(p, false);
    etp_html_decides(p->sink, p->report);
    z(p, "</div>\n<div class=\"later\">\n");
    write_markup(p, true);
    z(p, "</div>\n");
}

static void write_end(page *p)
{
    const etp_report *r = p->report;
    etp_sink escaped = {.write = write_script, .target = p->sink};
    etp_json j;
    z(p, "<script type=\"application/json\" id=\"etprof-page\">");
    etp_json_init(&j, &escaped, false);
    etp_json_begin_object(&j);
    etp_json_key(&j, "tabs");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < r->tabs.n; i++) {
        etp_json_str(&j, r->tabs.items[i]);
    }
    etp_json_end(&j);
    etp_json_kv_u64(&j, "answers", p->budget.answers);
    etp_json_kv_u64(&j, "details", p->budget.drawers);
    etp_json_kv_u64(&j, "details_left_out", p->budget.drawers_left);
    etp_json_key(&j, "blocks");
    etp_json_begin_array(&j);
    bool in_section = false, in_drawer = false;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (!is_shown(p, b)) {
            continue;
        }
        in_section = in_section || b->kind == ETP_BLOCK_SECTION;
        in_drawer = b->kind == ETP_BLOCK_DRAWER || (in_drawer && b->kind != ETP_BLOCK_SECTION);
        // A drawer that is left out goes with its whole content and says nothing at its place:
        // nobody looks for it there. Of a section the reader sees that something is missing.
        if (p->budget.rows[i] == 0 && in_drawer) {
            continue;
        }
        if (is_first_note(b, in_section)) {
            etp_json_begin_object(&j);
            etp_json_kv_z(&j, "kind", "placed");
            etp_json_end(&j);
        } else {
            etp_html_block(&j, b, p->budget.rows[i]);
        }
    }
    etp_json_end(&j);
    etp_json_end(&j);
    z(p, "</script>\n");
    if (r->json.len) {
        write_json(p, r->json_id, r->json);
    }
    file(p, "script", ETP_PAGE_PICTURES, ETP_PAGE_BUILD);
    file(p, "script", ETP_PAGE_JS, ETP_PAGE_JS);
}

etp_status etp_write_html(const etp_report *r, const etp_report_style *style, etp_arena *arena,
                          etp_sink *sink, etp_error *err)
{
    (void)err;
    // What stands in page.html between <!-- NAME --> and <!-- /NAME --> is its sample.
    static const struct {
        const char *begin, *end;
        void (*write)(page *p);
    } k_parts[] = {
        {"<!-- head -->",   "<!-- /head -->\n",   write_head  },
        {"<!-- header -->", "<!-- /header -->\n", write_header},
        {"<!-- main -->",   "<!-- /main -->\n",   write_main  },
        {"<!-- end -->",    "<!-- /end -->\n",    write_end   },
    };
    page p = {.sink = sink, .arena = arena, .report = r, .style = style};
    const char *at = k_etp_page_files[ETP_PAGE_HTML].text.ptr;
    make_budget(&p);
    for (size_t i = 0; i < sizeof k_parts / sizeof *k_parts; i++) {
        const char *begin = strstr(at, k_parts[i].begin), *end = strstr(begin, k_parts[i].end);
        etp_sink_write(sink, (etp_str){at, (size_t)(begin - at)});
        k_parts[i].write(&p);
        at = end + strlen(k_parts[i].end);
    }
    z(&p, at);
    return ETP_OK;
}
