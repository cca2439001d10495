// SPDX-License-Identifier: Apache-2.0
// What the parts of the HTML writer share. Private to the report room.
#ifndef ETP_REPORT_PAGE_H
#define ETP_REPORT_PAGE_H

#include "base/embedded.h"
#include "report/tree.h"

extern const etp_embedded k_etp_page_files[];
enum { // rows of it, in the order of CMakeLists.txt
    ETP_PAGE_CSS,
    ETP_PAGE_JS
};

extern const char *const k_etp_css_severity[5]; // "", "info", "good", "warn", "bad"

// ID with everything but letters, digits, '-' and '_' replaced: fit for an attribute and a link.
void etp_html_id(etp_sink *sink, etp_str id);
// The big numbers, what to do next, small facts.
void etp_html_summary(etp_sink *sink, const etp_report *r);
// HEADING of the section names a table without a caption to those who cannot see the page.
void etp_html_table(etp_sink *sink, const etp_table *t, size_t ordinal, etp_str heading);

// All tables and charts of R as one JSON document that is safe inside a <script> element.
void etp_report_write_data(const etp_report *r, etp_sink *sink);
// JSON text as it may stand inside a <script> element: '<' only occurs in strings and is escaped.
void etp_script_json(etp_sink *sink, etp_str json);

#endif
