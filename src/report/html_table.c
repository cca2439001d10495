// SPDX-License-Identifier: Apache-2.0
// Tables of the HTML page: semantic, scrolling inside their box, raw values beside the shown ones
// for sorting. A page of hundreds of operators is mostly cells: those are written without the end
// tags and quotes that HTML does not ask for.
#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "report/html_parts.h"
#include "report/svg.h"

const char *const k_etp_css_severity[5] = {"", "info", "good", "warn", "bad"};

enum {
    TALL = 24, // rows from which a table scrolls under a fixed header
    LONG = 40, // characters from which a text is a sentence, and takes several lines
};

// A column without any figure says nothing.
// The first column names the rows and stays.
static bool is_empty(const etp_table *t, size_t column)
{
    bool empty = column > 0;
    for (size_t i = 0; empty && i < t->rows.n; i++) {
        empty = t->rows.items[i].cells[column].type == ETP_CELL_MISSING;
    }
    return empty;
}

static void write_header(etp_sink *sink, const etp_table *t, const etp_view *views,
                         const bool *empty)
{
    etp_sink_z(sink, "<thead><tr>");
    for (size_t k = 0; k < t->n_columns; k++) {
        const etp_column *col = &t->columns[k];
        if (empty[k]) {
            continue;
        }
        etp_sink_z(sink, "<th scope=\"col\"");
        if (etp_column_is_number(col) || (col->flags & ETP_COL_FIGURES)) {
            etp_sink_z(sink, " class=\"n\"");
        }
        if (!(col->flags & (ETP_COL_UNSORTED | ETP_COL_FIGURES))) {
            etp_sink_printf(sink, " data-sort=\"%s\"", etp_column_is_number(col) ? "n" : "t");
        }
        if (col->flags & ETP_COL_CHOICE) {
            etp_sink_z(sink, " data-choice=\"\"");
        }
        if (col->help && *col->help) {
            etp_sink_z(sink, " title=\"");
            etp_sink_xml(sink, etp_str_from(col->help));
            etp_sink_char(sink, '"');
        }
        etp_sink_char(sink, '>');
        etp_sink_xml(sink, etp_str_from(col->title));
        if (views[k].unit && !views[k].suffix) {
            etp_sink_z(sink, " <span class=\"u\">");
            etp_sink_xml(sink, etp_str_from(views[k].unit));
            etp_sink_z(sink, "</span>");
        }
        etp_sink_z(sink, "</th>");
    }
    etp_sink_z(sink, "</tr></thead>\n");
}

// The script sorts by it: shown values are rounded, and two that look alike may differ.
static void write_raw(etp_sink *sink, const etp_column *col, const etp_cell *c)
{
    char buf[ETP_NUMBER_CHARS];
    etp_sink_z(sink, " data-v=");
    if (c->type == ETP_CELL_I64) {
        etp_sink_printf(sink, "%" PRId64, c->v.i64);
    } else if (c->type == ETP_CELL_U64) {
        etp_sink_printf(sink, "%" PRIu64, c->v.u64);
    } else if (col->kind == ETP_KIND_RATIO || col->kind == ETP_KIND_PERCENT) {
        etp_sink_printf(sink, "%.6g", c->v.d); // as JSON has them
    } else {
        etp_sink_z(sink, etp_format_double(c->v.d, buf));
    }
}

// A cell of a raw value is to the right without a class, and a bar is one that has a width.
static void write_classes(etp_sink *sink, const etp_column *col, const etp_cell *c)
{
    const char *severity = k_etp_css_severity[c->severity];
    char swatch[8] = "";
    if (c->color) {
        snprintf(swatch, sizeof swatch, "k%u", (c->color - 1) % ETP_SVG_COLORS + 1);
    }
    bool bare = (etp_column_is_number(col) || (col->flags & ETP_COL_FIGURES)) &&
                !isfinite(etp_cell_number(c));
    bool sentence = c->type == ETP_CELL_TEXT && !(col->flags & ETP_COL_CODE) &&
                    etp_width(c->called.len ? c->called : c->v.text) >= LONG;
    const char *parts[] = {bare ? "n" : "", severity, c->type == ETP_CELL_MISSING ? "none" : "",
                           sentence ? "long" : "", swatch};
    char classes[48] = "";
    size_t at = 0, n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (*parts[i]) {
            at += (size_t)snprintf(classes + at, sizeof classes - at, n++ ? " %s" : "%s", parts[i]);
        }
    }
    if (n) {
        etp_sink_printf(sink, n > 1 ? " class=\"%s\"" : " class=%s", classes);
    }
}

static void write_cell(etp_sink *sink, const etp_table *t, size_t k, const etp_view *v, double max,
                       const etp_row *row, const etp_html_links *links)
{
    const etp_column *col = &t->columns[k];
    const etp_cell *c = &row->cells[k];
    char buf[ETP_VIEW_CHARS];
    double number = etp_cell_number(c);
    bool bar = max > 0 && isfinite(number) && !row->total;
    etp_sink_z(sink, k == 0 ? "<th scope=row" : "<td");
    write_classes(sink, col, c);
    if (bar) {
        etp_sink_printf(sink, " style=--w:%.0f%%", fabs(number) / max * 100);
    }
    if (isfinite(number)) {
        write_raw(sink, col, c);
    }
    etp_sink_char(sink, '>');
    if (c->type == ETP_CELL_MISSING) {
        etp_sink_z(sink, row->total ? "" : "–");
    } else {
        bool code = (col->flags & ETP_COL_CODE) && !row->total && !c->called.len;
        bool link = k == 0 && row->link.len && etp_html_links_have(links, row->link);
        if (link) {
            etp_html_link(sink, row->link);
        }
        etp_sink_z(sink, code ? "<code>" : "");
        etp_html_text(sink, etp_view_cell(v, c, buf), code || link ? NULL : links);
        etp_sink_z(sink, code ? "</code>" : "");
        etp_sink_z(sink, link ? "</a>" : "");
    }
}

void etp_html_table(etp_sink *sink, const etp_table *t, size_t ordinal, etp_str heading,
                    size_t most, const etp_html_links *links)
{
    etp_view views[ETP_TABLE_MAX_COLUMNS];
    double max[ETP_TABLE_MAX_COLUMNS];
    bool empty[ETP_TABLE_MAX_COLUMNS];
    if (t->rows.n == 0) {
        return; // titles of nothing
    }
    for (size_t k = 0; k < t->n_columns; k++) {
        empty[k] = is_empty(t, k);
        views[k] = etp_view_column(t, k);
        max[k] = etp_bar_max(t, k);
    }
    etp_sink_printf(sink,
                    "<figure class=\"table\"><div class=\"box%s\" tabindex=\"0\" role=\"region\" "
                    "aria-labelledby=\"k%zu\">\n<table><caption id=\"k%zu\"%s><span>",
                    t->rows.n >= TALL ? " tall" : "", ordinal, ordinal,
                    t->caption.len ? "" : " class=\"unseen\"");
    etp_sink_xml(sink, t->caption.len ? t->caption : heading);
    etp_sink_z(sink, "</span></caption>\n");
    write_header(sink, t, views, empty);
    // Totals have a body of their own, which sorting leaves where it is.
    bool in_totals = false;
    etp_html_links own = *links;
    etp_sink_z(sink, "<tbody>\n");
    for (size_t i = 0; i < t->rows.n; i++) {
        const etp_row *row = &t->rows.items[i];
        if (i >= most && !row->total) {
            continue;
        }
        own.scope = row->scope;
        if (row->total && !in_totals) {
            etp_sink_z(sink, "</tbody>\n<tbody class=\"total\">\n");
            in_totals = true;
        }
        etp_sink_z(sink, "<tr>");
        for (size_t k = 0; k < t->n_columns; k++) {
            if (!empty[k]) {
                write_cell(sink, t, k, &views[k], max[k], row, &own);
            }
        }
        etp_sink_z(sink, "</tr>\n");
    }
    etp_sink_z(sink, "</tbody>\n</table></div></figure>\n");
}
