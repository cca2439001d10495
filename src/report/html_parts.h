// SPDX-License-Identifier: Apache-2.0
// What the parts of the HTML writer share. Private to the report room.
#ifndef ETP_REPORT_HTML_PARTS_H
#define ETP_REPORT_HTML_PARTS_H

#include "base/embedded.h"
#include "report/tree.h"

extern const etp_embedded k_etp_page_files[];
enum { // rows of it, in the order of CMakeLists.txt
    ETP_PAGE_CSS,
    ETP_PAGE_PICTURES,
    ETP_PAGE_JS
};

extern const char *const k_etp_css_severity[5]; // "", "info", "good", "warn", "bad"

// Ids of the page's drawers, ascending. Words that are one of them become links.
typedef struct etp_html_links {
    etp_str *items;
    size_t n;
    etp_str scope; // of the words that are looked at now: "op12" in "pair-2" is "pair-2-op12"
} etp_html_links;
// Orders ids; for etp_html_links.items.
int etp_html_id_order(const void *a, const void *b);
bool etp_html_links_have(const etp_html_links *links, etp_str id);
// S escaped, with its links.
void etp_html_text(etp_sink *sink, etp_str s, const etp_html_links *links);

// ID with everything but letters, digits, '-' and '_' replaced: fit for an attribute and a link.
void etp_html_id(etp_sink *sink, etp_str id);
// The begin of a link to the drawer ID.
void etp_html_link(etp_sink *sink, etp_str id);
void etp_html_command(etp_sink *sink, etp_str s);
// What to do next, as cards; ID: of the heading, of this LEVEL.
void etp_html_actions(etp_sink *sink, const etp_actions *a, etp_str id, int level,
                      const etp_html_links *links);
// The big numbers, what to do next, small facts.
void etp_html_summary(etp_sink *sink, const etp_report *r);
// What to do next, and the facts: behind what stands before the first section.
void etp_html_decides(etp_sink *sink, const etp_report *r, const etp_html_links *links);
// HEADING of the section names a table without a caption to those who cannot see the page. MOST:
// rows beside totals.
void etp_html_table(etp_sink *sink, const etp_table *t, size_t ordinal, etp_str heading,
                    size_t most, const etp_html_links *links);

// What all answers of a page together may have, when it has several (parts or tabs): what is of
// all of them comes on top. The drawers have bytes of their own. docs/reading.md tells the rule.
#define ETP_HTML_ANSWER_BYTES 1100000
#define ETP_HTML_DRAWER_BYTES 500000
typedef struct etp_html_budget {
    const size_t *rows; // of each block: SIZE_MAX whole, 0 left out, else so many rows of its table
    size_t answers, drawers, drawers_left;
} etp_html_budget;
// SIZES of the blocks, 0 of those that are not shown.
void etp_html_choose(const etp_report *r, const size_t *sizes, etp_arena *arena,
                     etp_html_budget *out);
// Whether anything of the answer that begins with the block BEGIN is left out.
bool etp_html_is_cut(const etp_html_budget *budget, const etp_report *r, size_t begin);

// Of a graph, spans, a plane, boxes: what pictures.js draws it from.
void etp_html_picture(etp_sink *sink, const etp_block *b, const etp_html_links *links);

// All tables and charts of R as one JSON document that is safe inside a <script> element.
void etp_report_write_data(const etp_report *r, etp_sink *sink);
// Writes to PAGE what may stand inside a <script> element.
etp_sink etp_script_sink(etp_sink *page);
// JSON text as it may stand inside a <script> element: '<' only occurs in strings and is escaped.
void etp_script_json(etp_sink *sink, etp_str json);

#endif
