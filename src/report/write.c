// SPDX-License-Identifier: Apache-2.0
// The one way out of a report: picks the writer and turns its troubles into a status.
#include "base/guard.h"
#include "report/tree.h"

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

static etp_status not_found(etp_error *err, const char *what, const char *id)
{
    if (!id) {
        return etp_fail(err, ETP_USAGE, "this report has no %s", what);
    }
    return etp_fail(err, ETP_USAGE, "this report has no %s named '%s'", what, id);
}

static etp_status write(const etp_report *r, etp_format format, const etp_report_style *style,
                        etp_arena *arena, etp_sink *sink, etp_error *err)
{
    switch (format) {
    case ETP_FORMAT_TEXT:
        etp_report_write_text(r, style, arena, sink);
        break;
    case ETP_FORMAT_MD:
        etp_report_write_md(r, style, sink);
        break;
    case ETP_FORMAT_HTML:
        etp_report_write_html(r, style, arena, sink);
        break;
    case ETP_FORMAT_CSV: {
        const etp_table *t = etp_report_table_named(r, style->select);
        if (!t) {
            return not_found(err, "table", style->select);
        }
        etp_table_write_csv(t, sink);
        break;
    }
    case ETP_FORMAT_SVG: {
        const etp_chart *c = find_chart(r, style->select);
        if (!c) {
            return not_found(err, "chart", style->select);
        }
        etp_chart_write_svg(c, arena, sink);
        break;
    }
    }
    return etp_sink_check(sink, err, "the report");
}

static etp_status guarded(const etp_report *r, etp_format format, const etp_report_style *style,
                          etp_arena *arena, etp_sink *sink, etp_error *err)
{
    ETP_GUARDED(arena, err, "report", write(r, format, style, arena, sink, err));
}

etp_status etp_report_write(const etp_report *r, etp_format format, const etp_report_style *style,
                            etp_sink *sink, etp_error *err)
{
    static const etp_report_style k_plain;
    ETP_NEED(r && !r->arena->failed, err, "report"); // who built it may have had no guard
    etp_arena scratch;
    etp_arena_scratch(&scratch, r->arena);
    etp_status status = guarded(r, format, style ? style : &k_plain, &scratch, sink, err);
    etp_arena_dispose(&scratch);
    return status;
}
