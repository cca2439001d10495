// SPDX-License-Identifier: Apache-2.0
// A chart as SVG: by its kind, as a picture of its own or within a page.
#include "report/svg.h"

// One chart of O's width.
static void svg_chart(etp_svg *o, const etp_chart *c)
{
    if (c->entries.n == 0) {
        etp_svg_begin(o, c, 30);
        etp_svg_text(o, 0, 20, ETP_LEFT, "m", c->lacks.len ? c->lacks : ETP_STR("no data"),
                     o->width);
        etp_svg_end(o);
        return;
    }
    switch (c->chart) {
    case ETP_CHART_STACKED:
        etp_svg_stacked(o, c);
        break;
    case ETP_CHART_WATERFALL:
        etp_svg_waterfall(o, c);
        break;
    case ETP_CHART_INTERVALS:
        etp_svg_intervals(o, c);
        break;
    case ETP_CHART_BLOCKS:
        etp_svg_blocks(o, c);
        break;
    case ETP_CHART_LINES:
        etp_svg_lines(o, c);
        break;
    }
}

static const etp_chart *find_chart(const etp_report *r, const char *id)
{
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_chart *c = r->blocks.items[i].chart;
        if (c && r->blocks.items[i].medium != ETP_ON_PAGE && (!id || etp_str_eqz(c->id, id))) {
            return c;
        }
    }
    return NULL;
}

etp_status etp_write_svg(const etp_report *r, const etp_report_style *style, etp_arena *arena,
                         etp_sink *sink, etp_error *err)
{
    const etp_chart *c = find_chart(r, style->select);
    if (!c) {
        return etp_report_lacks("chart", style->select, err);
    }
    etp_svg o = {.sink = sink, .width = 860, .standalone = true};
    etp_strbuf_init(&o.scratch, arena);
    svg_chart(&o, c);
    return ETP_OK;
}

// A wide picture that is scaled down has letters too small to read, so a phone gets a drawing of
// its own; the page's style shows one of the two.
void etp_svg_for_page(etp_sink *sink, const etp_chart *c, unsigned serial, etp_arena *arena)
{
    etp_svg o = {.sink = sink, .width = 860, .serial = serial};
    etp_strbuf_init(&o.scratch, arena);
    svg_chart(&o, c);
    o.width = 360;
    o.narrow = true;
    svg_chart(&o, c);
}
