// SPDX-License-Identifier: Apache-2.0
// Charts in Markdown: tables of their numbers.
#include <math.h>

#include "report/md.h"

static void put_value(etp_sink *sink, const etp_view *v, double value)
{
    char buf[ETP_VIEW_CHARS];
    etp_sink_z(sink, etp_view_value(v, value, buf));
}

// Rows are series, columns are bars: the two or three arms of a comparison stand side by side.
static void write_stacked(etp_sink *sink, const etp_chart *c, const etp_view *v)
{
    etp_view share = etp_view_for(ETP_KIND_PERCENT, 1, NULL, 1);
    etp_sink_z(sink, "| ");
    for (size_t i = 0; i < c->entries.n; i++) {
        etp_sink_z(sink, " | ");
        etp_md_text(sink, c->entries.items[i].label, false);
        etp_sink_z(sink, " | share");
    }
    etp_sink_z(sink, " |\n| ---");
    for (size_t i = 0; i < c->entries.n; i++) {
        etp_sink_z(sink, " | ---: | ---:");
    }
    etp_sink_z(sink, " |\n");
    for (size_t k = 0; k < c->series.n; k++) {
        etp_sink_z(sink, "| ");
        etp_md_text(sink, c->series.items[k], false);
        for (size_t i = 0; i < c->entries.n; i++) {
            const etp_chart_entry *e = &c->entries.items[i];
            etp_sink_z(sink, " | ");
            put_value(sink, v, e->values[k]);
            etp_sink_z(sink, " | ");
            put_value(sink, &share, etp_share(e->values[k], etp_entry_sum(e)));
        }
        etp_sink_z(sink, " |\n");
    }
}

static void put_interval(etp_sink *sink, const etp_view *v, const etp_chart_entry *e)
{
    if (isfinite(e->lo[0]) && isfinite(e->hi[0])) {
        char buf[ETP_VIEW_CHARS];
        etp_sink_z(sink, "\\[");
        etp_sink_z(sink, etp_view_number(v, e->lo[0], buf));
        etp_sink_z(sink, ", ");
        etp_sink_z(sink, etp_view_number(v, e->hi[0], buf));
        etp_sink_z(sink, "\\]");
    }
}

// Waterfall and intervals: one value per line.
static void write_list(etp_sink *sink, const etp_chart *c, const etp_view *v)
{
    etp_view step = *v;
    step.sign = true;
    etp_sink_z(sink, "| | | interval | |\n| --- | ---: | ---: | --- |\n");
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        const char *bold = etp_if(e->role == ETP_ROLE_TOTAL, "**");
        const etp_view *view = e->role == ETP_ROLE_STEP ? &step : v;
        etp_sink_z(sink, "| ");
        etp_sink_z(sink, etp_if(e->label.len, bold));
        etp_md_text(sink, e->label, false);
        etp_sink_z(sink, etp_if(e->label.len, bold));
        etp_sink_z(sink, " | ");
        etp_sink_z(sink, bold);
        put_value(sink, view, e->values[0]);
        etp_sink_z(sink, bold);
        etp_sink_z(sink, " | ");
        put_interval(sink, view, e);
        etp_sink_z(sink, " | ");
        etp_md_text(sink, e->note, false);
        etp_sink_z(sink, " |\n");
    }
}

static void write_matrix(etp_sink *sink, const etp_chart *c, const etp_view *v)
{
    char buf[ETP_VIEW_CHARS];
    etp_view x = etp_view_for(ETP_KIND_DOUBLE, 0, NULL, 0);
    etp_sink_z(sink, "| ");
    etp_md_text(sink, c->x_title, false);
    for (size_t k = 0; k < c->series.n; k++) {
        etp_sink_z(sink, " | ");
        etp_md_text(sink, c->series.items[k], false);
    }
    etp_sink_z(sink, " |\n| ---:");
    for (size_t k = 0; k < c->series.n; k++) {
        etp_sink_z(sink, " | ---:");
    }
    etp_sink_z(sink, " |\n");
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        etp_sink_z(sink, "| ");
        if (c->chart == ETP_CHART_LINES) {
            etp_sink_z(sink, etp_view_number(&x, e->x, buf));
        } else {
            etp_md_text(sink, e->label, false);
        }
        for (size_t k = 0; k < e->n_values; k++) {
            etp_sink_z(sink, " | ");
            put_value(sink, v, e->values[k]);
        }
        etp_sink_z(sink, " |\n");
    }
}

void etp_md_chart(etp_sink *sink, const etp_chart *c)
{
    etp_view v = etp_view_chart(c);
    if (c->title.len) {
        etp_sink_z(sink, "**");
        etp_md_text(sink, c->title, false);
        etp_sink_z(sink, "**\n\n");
    }
    if (c->lacks.len && c->entries.n == 0) {
        etp_md_text(sink, c->lacks, true);
        etp_sink_z(sink, "\n\n");
        return;
    }
    switch (c->chart) {
    case ETP_CHART_STACKED:
        write_stacked(sink, c, &v);
        break;
    case ETP_CHART_WATERFALL:
    case ETP_CHART_INTERVALS:
        write_list(sink, c, &v);
        break;
    case ETP_CHART_BLOCKS:
    case ETP_CHART_LINES:
        write_matrix(sink, c, &v);
        break;
    }
    etp_sink_z(sink, "\n");
}
