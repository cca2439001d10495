// SPDX-License-Identifier: Apache-2.0
// A table as CSV: keys as header, raw values (integer nanoseconds, ratios with six digits).
#include "base/csv.h"

#include <inttypes.h>

#include "base/number.h"
#include "report/tree.h"

// The name, not what people read instead of it: programs join tables by it.
static void write_cell(etp_sink *sink, const etp_column *col, const etp_cell *c)
{
    char buf[ETP_NUMBER_CHARS];
    switch (c->type) {
    case ETP_CELL_TEXT:
        etp_csv_text(sink, c->v.text);
        break;
    case ETP_CELL_I64:
        etp_sink_printf(sink, "%" PRId64, c->v.i64);
        break;
    case ETP_CELL_U64:
        etp_sink_printf(sink, "%" PRIu64, c->v.u64);
        break;
    case ETP_CELL_DOUBLE:
        etp_sink_z(sink, col->kind == ETP_KIND_RATIO || col->kind == ETP_KIND_PERCENT
                             ? etp_format_ratio(c->v.d, buf)
                             : etp_format_double(c->v.d, buf));
        break;
    case ETP_CELL_MISSING:
        break;
    }
}

etp_status etp_write_csv(const etp_report *r, const etp_report_style *style, etp_arena *arena,
                         etp_sink *sink, etp_error *err)
{
    (void)arena;
    const etp_table *t = etp_report_table_named(r, style->select);
    if (!t) {
        return etp_report_lacks("table", style->select, err);
    }
    for (size_t k = 0; k < t->n_columns; k++) {
        etp_sink_z(sink, etp_if(k, ","));
        etp_csv_text(sink, etp_str_from(t->columns[k].key));
    }
    etp_sink_char(sink, '\n');
    // All rows: a table's limit is for people.
    for (size_t i = 0; i < t->rows.n; i++) {
        for (size_t k = 0; k < t->n_columns; k++) {
            etp_sink_z(sink, etp_if(k, ","));
            write_cell(sink, &t->columns[k], &t->rows.items[i].cells[k]);
        }
        etp_sink_char(sink, '\n');
    }
    return ETP_OK;
}
