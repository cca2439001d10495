// SPDX-License-Identifier: Apache-2.0
// What the parts of the HTML writer share. Private to the report room.
#ifndef ETP_REPORT_HTML_PARTS_H
#define ETP_REPORT_HTML_PARTS_H

#include "base/embedded.h"
#include "base/json.h"
#include "report/tree.h"

extern const etp_embedded k_etp_page_files[];
enum { // rows of it, in the order of CMakeLists.txt
    ETP_PAGE_HTML,
    ETP_PAGE_CSS,
    ETP_PAGE_PICTURES,
    ETP_PAGE_BUILD,
    ETP_PAGE_JS
};

extern const char *const k_etp_css_severity[5]; // "", "info", "good", "warn", "bad"

// S within TAG of the class CLS, which may be ""; nothing where S is empty.
void etp_html_element(etp_sink *sink, const char *tag, const char *cls, etp_str s);
// ID with everything but letters, digits, '-' and '_' replaced: fit for an attribute and a link.
void etp_html_id(etp_sink *sink, etp_str id);
// What to do next, as cards; ID: of the heading, of this LEVEL.
void etp_html_actions(etp_sink *sink, const etp_actions *a, etp_str id, int level);
// The big numbers.
void etp_html_summary(etp_sink *sink, const etp_report *r);
// What to do next, and the facts: behind what stands before the first section.
void etp_html_decides(etp_sink *sink, const etp_report *r);

// The block as an object of the page's JSON, for build.js. ROWS: of a table, beside totals; 0: says
// that it is left out.
void etp_html_block(etp_json *j, const etp_block *b, size_t rows);
// Its markup is written by html.c, and the object only says where it goes.
bool etp_html_is_placed(const etp_block *b);
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

#endif
