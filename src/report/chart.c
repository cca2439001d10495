// SPDX-License-Identifier: Apache-2.0
// Building charts. A chart brings its writers along: a verb without charts links none.
#include <assert.h>
#include <math.h>

#include "report/md.h"
#include "report/svg.h"
#include "report/text.h"

etp_chart *etp_report_chart(etp_report *r, etp_chart_kind chart, const char *id, const char *title,
                            etp_kind kind)
{
    if (!r) {
        return NULL;
    }
    etp_chart *c = ETP_NEW(r->arena, etp_chart);
    if (!c) {
        return NULL;
    }
    *c = (etp_chart){
        .report = r,
        .text = etp_text_chart,
        .md = etp_md_chart,
        .page = etp_svg_for_page,
        .chart = chart,
        .kind = kind,
        .id = etp_report_part_id(r, id),
        .title = etp_report_clean(r, title),
        .description = {"", 0},
        .x_title = {"", 0}
    };
    etp_report_add_block(r, ETP_BLOCK_CHART)->chart = c;
    return c;
}

void etp_chart_describe(etp_chart *c, const char *fmt, ...)
{
    if (c) {
        va_list ap;
        va_start(ap, fmt);
        c->description = etp_report_format(c->report, fmt, ap);
        va_end(ap);
    }
}

void etp_chart_lacks(etp_chart *c, const char *sentence)
{
    if (c) {
        c->lacks = etp_report_clean(c->report, sentence);
    }
}

void etp_chart_x_title(etp_chart *c, const char *title)
{
    if (c) {
        c->x_title = etp_report_clean(c->report, title);
    }
}

void etp_chart_series(etp_chart *c, const char *label)
{
    if (c) {
        // An entry has one value for every series, so all series are known before the first.
        assert(c->entries.n == 0);
        etp_report *r = c->report;
        ETP_ADD(r->arena, &c->series, etp_report_clean(r, label));
    }
}

void etp_chart_series_colored(etp_chart *c, const char *label, unsigned color)
{
    if (c && c->series.n < ETP_CHART_COLORED) {
        c->colors[c->series.n] = color;
    }
    etp_chart_series(c, label);
}

// Copies N values, anything not finite becomes NAN. NULL in gives N times NAN.
// Writers then ask one question, isfinite, and an infinity of a division never reaches a scale.
static const double *copy_values(etp_report *r, const double *values, size_t n)
{
    double *copy = ETP_NEW_ARRAY(r->arena, double, n);
    if (!copy) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] = values && isfinite(values[i]) ? values[i] : (double)NAN;
    }
    return copy;
}

// lo and hi are always arrays of n, so that writers index them without asking.
static void add_entry(etp_chart *c, etp_chart_entry e, const double *values, const double *lo,
                      const double *hi, size_t n)
{
    etp_report *r = c->report;
    e.values = copy_values(r, values, n);
    e.lo = copy_values(r, lo, n);
    e.hi = copy_values(r, hi, n);
    e.n_values = n;
    e.begins_group = c->next_begins_group;
    c->next_begins_group = false;
    if (e.values && e.lo && e.hi) {
        ETP_ADD(r->arena, &c->entries, e);
    }
}

void etp_chart_only_names(etp_chart *c)
{
    if (c) {
        c->only_names = true;
    }
}

void etp_chart_ceiling(etp_chart *c, double value)
{
    if (c) {
        c->ceiling = value;
    }
}

void etp_chart_no_ratio(etp_chart *c)
{
    if (c) {
        c->no_ratio = true;
    }
}

void etp_chart_group(etp_chart *c)
{
    if (c) {
        c->next_begins_group = true;
    }
}

void etp_chart_row(etp_chart *c, const char *label, const double *values, size_t n)
{
    if (c) {
        // A series that could not be added for want of memory leaves the numbers apart.
        assert(n == c->series.n || c->report->arena->failed);
        etp_chart_entry e = {
            .label = etp_report_clean(c->report, label), .note = {"", 0}
        };
        add_entry(c, e, values, NULL, NULL, n);
    }
}

void etp_chart_point(etp_chart *c, double x, const double *values, size_t n)
{
    if (c) {
        assert((n == c->series.n || c->report->arena->failed) && isfinite(x));
        etp_chart_entry e = {
            .label = {"", 0},
              .note = {"", 0},
              .x = x
        };
        add_entry(c, e, values, NULL, NULL, n);
    }
}

void etp_chart_interval(etp_chart *c, size_t arm, const char *label, const char *note, double value,
                        double lo, double hi)
{
    if (c) {
        etp_chart_entry e = {.label = etp_report_clean(c->report, label),
                             .note = etp_report_clean(c->report, note),
                             .arm = arm};
        add_entry(c, e, &value, &lo, &hi, 1);
    }
}

void etp_chart_total(etp_chart *c, const char *label, double value)
{
    if (c) {
        etp_chart_entry e = {
            .label = etp_report_clean(c->report, label), .note = {"", 0},
                  .role = ETP_ROLE_TOTAL
        };
        add_entry(c, e, &value, NULL, NULL, 1);
    }
}

void etp_chart_step(etp_chart *c, const char *label, const char *group, bool muted, double delta,
                    double lo, double hi)
{
    if (c) {
        etp_chart_entry e = {.label = etp_report_clean(c->report, label),
                             .note = etp_report_clean(c->report, group),
                             .role = ETP_ROLE_STEP,
                             .muted = muted};
        add_entry(c, e, &delta, &lo, &hi, 1);
    }
}
