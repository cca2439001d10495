// SPDX-License-Identifier: Apache-2.0
// Tracks of spans on one scale: boxes whose place and width are shares of the longest track, so
// that they fit every width.
#include <math.h>

#include "report/html_parts.h"
#include "report/svg.h"

static void write_span(etp_sink *sink, const etp_span_item *s, const etp_view *v, double most,
                       const etp_html_links *links)
{
    char buf[ETP_VIEW_CHARS];
    double width = 100 * s->length / most;
    bool link = s->link.len && etp_html_links_have(links, s->link);
    if (width < 0.1) { // less than a pixel: what it is a part of shows it
        return;
    }
    etp_sink_z(sink, link ? "<a href=#" : "<span");
    if (link) {
        etp_html_id(sink, s->link);
    }
    if (s->color) {
        etp_sink_printf(sink, s->depth ? " class=\"f%u d\"" : " class=f%u",
                        (s->color - 1) % ETP_SVG_COLORS + 1);
    } else if (s->depth) {
        etp_sink_z(sink, " class=d");
    }
    etp_sink_printf(sink, " style=left:%.2f%%;width:%.2f%%", 100 * s->from / most, width);
    if (s->depth > 1) {
        etp_sink_printf(sink, ";--d:%u", s->depth);
    }
    if (!link) { // the drawer has it
        etp_sink_z(sink, " title=\"");
        etp_sink_xml(sink, s->label);
        etp_sink_printf(sink, " %s\"", etp_view_value(v, s->length, buf));
    }
    etp_sink_char(sink, '>');
    // Narrower boxes have no room for a word.
    if (width >= 3) {
        etp_sink_xml(sink, s->label);
    }
    etp_sink_z(sink, link ? "</a>" : "</span>");
}

// All tracks have one scale, so that a shorter arm is shorter to the eye.
void etp_html_spans(etp_sink *sink, const etp_spans *s, const etp_html_links *links)
{
    double most = 0;
    for (size_t i = 0; i < s->tracks.n; i++) {
        most = fmax(most, s->tracks.items[i].length);
    }
    for (size_t i = 0; i < s->spans.n; i++) {
        most = fmax(most, s->spans.items[i].from + s->spans.items[i].length);
    }
    if (!(most > 0)) {
        return;
    }
    etp_view v = etp_view_for(s->kind, most, NULL, 0);
    char buf[ETP_VIEW_CHARS];
    etp_sink_z(sink, "<figure class=\"spans\"><figcaption>");
    etp_sink_xml(sink, s->title);
    etp_sink_z(sink, "</figcaption>\n");
    for (size_t t = 0; t < s->tracks.n; t++) {
        unsigned depth = 0;
        for (size_t i = 0; i < s->spans.n; i++) {
            const etp_span_item *span = &s->spans.items[i];
            depth = span->track == t && span->depth > depth ? span->depth : depth;
        }
        etp_sink_z(sink, "<p class=\"label\">");
        etp_sink_xml(sink, s->tracks.items[t].label);
        etp_sink_printf(sink, " <b>%s</b></p><div class=\"track\" style=\"--n:%u\">\n",
                        etp_view_value(&v, s->tracks.items[t].length, buf), depth + 1);
        for (size_t i = 0; i < s->spans.n; i++) {
            if (s->spans.items[i].track == t) {
                write_span(sink, &s->spans.items[i], &v, most, links);
            }
        }
        etp_sink_z(sink, "</div>\n");
    }
    etp_sink_z(sink, "</figure>\n");
}
