// SPDX-License-Identifier: Apache-2.0
// Tables of a report as they were put in.
#include "report/tree.h"

// A table for the page alone says again what others hold.
static const etp_table *shown_table(const etp_block *block)
{
    return block->medium != ETP_ON_PAGE ? block->table : NULL;
}

const etp_table *etp_report_table_at(const etp_report *r, size_t index)
{
    for (size_t i = 0; r && i < r->blocks.n; i++) {
        const etp_table *t = shown_table(&r->blocks.items[i]);
        if (t && index-- == 0) {
            return t;
        }
    }
    return NULL;
}

const etp_table *etp_report_table_named(const etp_report *r, const char *id)
{
    for (size_t i = 0; r && i < r->blocks.n; i++) {
        const etp_table *t = shown_table(&r->blocks.items[i]);
        if (t && (!id || etp_str_eqz(t->id, id))) {
            return t;
        }
    }
    return NULL;
}

etp_str etp_table_id(const etp_table *t)
{
    return t->id;
}

const etp_column *etp_table_columns(const etp_table *t, size_t *out_n)
{
    *out_n = t->n_columns;
    return t->columns;
}

const etp_cell *etp_table_cells(const etp_table *t, size_t row)
{
    return row < t->rows.n ? t->rows.items[row].cells : NULL;
}
