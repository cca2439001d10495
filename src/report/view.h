// SPDX-License-Identifier: Apache-2.0
// How values look to people: units common to a column, signs, widths, truncation. Shared by the
// writers of the report room.
#ifndef ETP_REPORT_VIEW_H
#define ETP_REPORT_VIEW_H

#include "report/tree.h"

#define ETP_VIEW_CHARS 48 // enough for any number view, NUL included

// A column or axis shows all its values in one unit, so that they can be compared by eye.
typedef struct etp_view {
    etp_kind kind;
    double divide; // data unit → shown unit
    int decimals;
    const char *unit; // "ms"; NULL = none
    bool suffix;      // the unit is written behind each number (×, %)
    bool sign;        // plus on positive values
} etp_view;

// The view for values of KIND with magnitudes up to MAX. UNIT overrides the kind's own;
// DECIMALS ≤ 0 = the kind's default.
etp_view etp_view_for(etp_kind kind, double max, const char *unit, int decimals);
// Times up to MAX in a unit of so many ns, with the digits that MAX needs in it; 0: in its own.
etp_view etp_view_in_unit(double max, double unit);
etp_view etp_view_column(const etp_table *t, size_t column);
// Without the sign of its unit, for the numbers of "[3.86, 3.95]".
etp_view etp_view_bare(const etp_view *v);
etp_view etp_view_chart(const etp_chart *c);    // unit in which the chart's values are shown
double etp_entry_sum(const etp_chart_entry *e); // of the finite positive values

// The number alone ("1163.00", "3.90×"); "–" when not finite.
const char *etp_view_number(const etp_view *v, double value, char buf[static ETP_VIEW_CHARS]);
// With its unit ("1163.00 ms").
const char *etp_view_value(const etp_view *v, double value, char buf[static ETP_VIEW_CHARS]);
// The cell as shown; text cells come back as they are.
etp_str etp_view_cell(const etp_view *v, const etp_cell *c, char buf[static ETP_VIEW_CHARS]);

double etp_cell_number(const etp_cell *c); // NAN for missing and text
// What a full bar stands for: the largest magnitude in all bar columns of this kind, so that the
// bars of two arms compare. 0 when the column has no bars.
double etp_bar_max(const etp_table *t, size_t column);
bool etp_column_is_number(const etp_column *col);
// Rows that Text and Markdown show: LIMIT plain rows and all totals.
bool etp_row_shown(const etp_table *t, size_t row);
size_t etp_rows_hidden(const etp_table *t);

// Code points; every one is taken as one terminal column wide.
size_t etp_width(etp_str s);
// S cut in the middle to at most WIDTH columns, with "…" there; copies into BUF.
etp_str etp_truncate(etp_strbuf *buf, etp_str s, size_t width);

#endif
