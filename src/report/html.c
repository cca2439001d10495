// SPDX-License-Identifier: Apache-2.0
// The report as one self-contained page: no network, readable without script, on a phone and on
// paper. Style and script are page.css and page.js.
#include <math.h>

#include "report/page.h"
#include "report/svg.h"

typedef struct page {
    etp_sink *sink;
    etp_arena *arena;
    const etp_report *report;
    size_t ordinal;  // of the block being written
    etp_str heading; // the last one written
    bool failed;     // out of memory once
} page;

static void z(page *p, const char *s)
{
    etp_sink_z(p->sink, s);
}

static void text(page *p, etp_str s)
{
    etp_sink_xml(p->sink, s);
}

static void element(page *p, const char *tag, const char *cls, etp_str s)
{
    if (s.len) {
        etp_sink_printf(p->sink, *cls ? "<%s class=\"%s\">" : "<%s>", tag, cls);
        text(p, s);
        etp_sink_printf(p->sink, "</%s>\n", tag);
    }
}

void etp_html_id(etp_sink *sink, etp_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_';
        etp_sink_char(sink, fine ? c : '-');
    }
}

// ---- head ----

// The interval on a line with the point of no difference: where the estimate stands, at a glance.
static void strip(page *p, const etp_card *card)
{
    if (!isfinite(card->value) || !isfinite(card->lo) || !isfinite(card->hi) ||
        !isfinite(card->reference)) {
        return;
    }
    etp_svg o = {.sink = p->sink, .width = 320};
    etp_view v = etp_view_card(card);
    char buf[ETP_VIEW_CHARS];
    double lo = fmin(card->reference, card->lo), hi = fmax(card->reference, card->hi);
    double room = (hi - lo) * 0.08;
    etp_scale x = {lo - room, hi + room, 4, 316};
    double reference = etp_scale_at(&x, card->reference);
    z(p, "<svg class=\"strip\" viewBox=\"0 0 320 40\" role=\"img\" "
         "aria-label=\"estimate and interval against no difference\">\n");
    etp_svg_line(&o, 4, 14, 316, 14, "grid");
    etp_svg_line(&o, reference, 4, reference, 24, "axis");
    etp_anchor anchor = reference < 160 ? ETP_LEFT : ETP_RIGHT;
    char label[ETP_VIEW_CHARS + 20];
    snprintf(label, sizeof label, "%s no difference", etp_view_value(&v, card->reference, buf));
    etp_svg_textz(&o, reference, 37, anchor, "m c", label);
    etp_svg_rect(&o, etp_scale_at(&x, card->lo), 10,
                 fmax(etp_scale_at(&x, card->hi) - etp_scale_at(&x, card->lo), 2), 8, "ci");
    etp_sink_z(p->sink, "<circle r=\"5\" cy=\"14\" class=\"est\" cx=\"");
    etp_svg_number(p->sink, etp_scale_at(&x, card->value));
    etp_sink_z(p->sink, "\"/>\n</svg>\n");
}

static void write_card(page *p, const etp_card *card)
{
    char buf[ETP_VIEW_CHARS];
    etp_view v = etp_view_card(card), bare = etp_view_bare(&v);
    etp_sink_printf(p->sink, "<article class=\"card %s\">\n", k_etp_css_severity[card->severity]);
    element(p, "p", "label", card->label);
    z(p, "<p class=\"value\">");
    if (isfinite(card->value)) {
        z(p, "<b>");
        z(p, etp_view_value(&v, card->value, buf));
        z(p, "</b> ");
    }
    z(p, "<span class=\"verdict\">");
    text(p, card->verdict);
    z(p, "</span></p>\n");
    z(p, "<p class=\"interval\">");
    if (isfinite(card->lo) && isfinite(card->hi)) {
        z(p, "<b>");
        z(p, etp_view_number(&bare, card->lo, buf));
        z(p, " … ");
        z(p, etp_view_number(&bare, card->hi, buf));
        z(p, "</b> ");
    }
    text(p, card->interval);
    z(p, "</p>\n");
    strip(p, card);
    element(p, "p", "detail", card->detail);
    z(p, "</article>\n");
}

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

static void section_id(page *p, size_t block)
{
    const etp_str id = p->report->blocks.items[block].id;
    etp_html_id(p->sink, id);
    for (size_t i = 0; i < block; i++) {
        const etp_block *b = &p->report->blocks.items[i];
        if (b->kind == ETP_BLOCK_SECTION && etp_str_eq(b->id, id)) {
            etp_sink_printf(p->sink, "-%zu", block); // our authors do not; the page stays valid
            return;
        }
    }
}

static void write_navigation(page *p, const etp_report_style *style)
{
    const etp_report *r = p->report;
    z(p, "<nav aria-label=\"Sections\"><ul>");
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (b->kind == ETP_BLOCK_SECTION && b->level == 1 && etp_block_shown(b, style)) {
            z(p, "<li><a href=\"#");
            section_id(p, i);
            z(p, "\">");
            text(p, b->text);
            z(p, "</a></li>");
        }
    }
    z(p, "</ul></nav>\n");
}

static void write_summary(page *p)
{
    const etp_report *r = p->report;
    if (r->cards.n) {
        z(p, "<div class=\"cards\">\n");
        for (size_t i = 0; i < r->cards.n; i++) {
            write_card(p, &r->cards.items[i]);
        }
        z(p, "</div>\n");
    }
    if (r->facts.n) {
        z(p, "<dl class=\"facts\">\n");
        for (size_t i = 0; i < r->facts.n; i++) {
            z(p, "<div><dt>");
            text(p, r->facts.items[i].key);
            z(p, "</dt><dd>");
            text(p, r->facts.items[i].value);
            z(p, "</dd></div>\n");
        }
        z(p, "</dl>\n");
    }
}

// ---- blocks ----

static void write_note(page *p, const etp_block *b)
{
    static const char *const k_word[] = {"", "Note", "OK", "Warning", "Problem"};
    if (b->severity == ETP_PLAIN) {
        element(p, "p", "", b->text);
        return;
    }
    etp_sink_printf(p->sink, "<p class=\"note %s\"><b>%s</b> ", k_etp_css_severity[b->severity],
                    k_word[b->severity]);
    text(p, b->text);
    z(p, "</p>\n");
}

static void write_code(page *p, const etp_block *b)
{
    z(p, "<figure class=\"code\">");
    element(p, "figcaption", "", b->caption);
    z(p, "<pre tabindex=\"0\"><code>");
    text(p, b->text);
    z(p, "</code></pre></figure>\n");
}

static void write_keys(page *p, const etp_keys *k)
{
    element(p, "p", "", k->title);
    z(p, "<dl class=\"keys\">\n");
    for (size_t i = 0; i < k->pairs.n; i++) {
        const etp_key_value *pair = &k->pairs.items[i];
        etp_sink_printf(p->sink, "<dt class=\"%s\">", k_etp_css_severity[pair->severity]);
        text(p, pair->key);
        z(p, "</dt><dd>");
        text(p, pair->value);
        z(p, "</dd>\n");
    }
    z(p, "</dl>\n");
}

static void write_chart(page *p, const etp_chart *c)
{
    z(p, "<figure class=\"chart\">\n");
    element(p, "figcaption", "", c->title);
    p->failed = !etp_svg_for_page(p->sink, c, (unsigned)p->ordinal, p->arena) || p->failed;
    element(p, "p", "caption", c->description);
    z(p, "</figure>\n");
}

static void write_block(page *p, const etp_block *b)
{
    switch (b->kind) {
    case ETP_BLOCK_SECTION:
        p->heading = b->text;
        etp_sink_printf(p->sink, "<h%d id=\"", b->level + 1);
        section_id(p, p->ordinal);
        z(p, "\">");
        text(p, b->text);
        etp_sink_printf(p->sink, "</h%d>\n", b->level + 1);
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
        etp_html_table(p->sink, b->table, p->ordinal, p->heading);
        break;
    case ETP_BLOCK_CHART:
        write_chart(p, b->chart);
        break;
    }
}

static void write_scripts(page *p)
{
    const etp_report *r = p->report;
    z(p, "<script type=\"application/json\" id=\"etprof-data\">");
    etp_report_write_data(r, p->sink);
    z(p, "</script>\n");
    if (r->json.len) {
        z(p, "<script type=\"application/json\" id=\"etprof-document\" data-schema=\"");
        text(p, r->json_schema);
        z(p, "\">");
        etp_script_json(p->sink, r->json);
        z(p, "</script>\n");
    }
    z(p, "<script>\n");
    etp_sink_write(p->sink, k_etp_page_files[ETP_PAGE_JS].text);
    z(p, "</script>\n</body>\n</html>\n");
}

bool etp_report_write_html(const etp_report *r, const etp_report_style *style, etp_sink *sink)
{
    etp_arena arena;
    etp_arena_init(&arena, r->arena->alloc);
    page p = {.sink = sink, .arena = &arena, .report = r, .heading = r->title};
    write_head(&p);
    write_navigation(&p, style);
    z(&p, "<main>\n");
    write_summary(&p);
    int open_sections = 0;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (!etp_block_shown(b, style)) {
            continue;
        }
        if (b->kind == ETP_BLOCK_SECTION && b->level == 1) {
            z(&p, open_sections ? "</section>\n<section>\n" : "<section>\n");
            open_sections = 1;
        }
        p.ordinal = i;
        write_block(&p, b);
    }
    z(&p, open_sections ? "</section>\n</main>\n" : "</main>\n");
    if (r->footer.len) {
        z(&p, "<footer><p>");
        text(&p, r->footer);
        z(&p, "</p></footer>\n");
    }
    write_scripts(&p);
    etp_arena_dispose(&arena);
    return !p.failed;
}
