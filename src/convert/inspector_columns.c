// SPDX-License-Identifier: Apache-2.0
// Inspector's table by columns, for programs.
#include <math.h>

#include "convert/inspector_cells.h"

// Is the cell more than [], {}, null or false?
static bool says(const etp_inspector_row *row, etp_inspector_column column)
{
    switch (column) {
    case ETP_INSPECTOR_TYPES:
        return row->n_op_types > 0;
    case ETP_INSPECTOR_ID:
    case ETP_INSPECTOR_DELEGATED:
        return row->delegated;
    case ETP_INSPECTOR_TRACES:
    case ETP_INSPECTOR_MODULES:
        return row->n_nodes > 0;
    case ETP_INSPECTOR_BACKEND:
        return row->backend_name.ptr;
    case ETP_INSPECTOR_DEBUG:
        return row->n_debug > 0;
    default:
        return true;
    }
}

static void put_bytes(etp_sink *sink, const void *ptr, size_t size)
{
    etp_sink_write(sink, (etp_str){ptr, size});
}

etp_status etp_inspector_columns_write(const etp_inspector_table *table, const etp_bytes *buffer,
                                       etp_sink *sink, etp_error *err)
{
    const etp_inspector_tensors how = {.buffer = buffer, .whole = true};
    // In the machine's own order of bytes: whoever reads this runs in the same process.
    const double none = NAN;
    for (size_t c = 0; c < ETP_INSPECTOR_STATISTICS; c++) {
        for (size_t i = 0; i < table->n_rows; i++) {
            const etp_inspector_row *row = &table->rows[i];
            put_bytes(sink, row->n ? &row->statistics[c] : &none, sizeof none);
        }
    }
    uint64_t first = 0;
    put_bytes(sink, &first, sizeof first);
    for (size_t i = 0; i < table->n_rows; i++) {
        first += table->rows[i].n;
        put_bytes(sink, &first, sizeof first);
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        put_bytes(sink, table->rows[i].raw_ms, table->rows[i].n * sizeof(double));
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        put_bytes(sink, table->rows[i].start, table->rows[i].n * sizeof(uint64_t));
    }
    etp_json j;
    etp_json_init(&j, sink, false);
    etp_json_begin_object(&j);
    etp_json_key(&j, "event_block");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < table->n_rows; i++) {
        etp_json_u64(&j, table->rows[i].block);
    }
    etp_json_end(&j);
    for (int c = 0; c < ETP_INSPECTOR_COLUMNS; c++) {
        const etp_inspector_column column = (etp_inspector_column)c;
        bool any = column <= ETP_INSPECTOR_EVENT; // names are always there
        for (size_t i = 0; !any && i < table->n_rows; i++) {
            any = says(&table->rows[i], column);
        }
        if (!any) {
            continue;
        }
        etp_json_key(&j, etp_inspector_column_name((etp_inspector_column)c));
        etp_json_begin_array(&j);
        for (size_t i = 0; i < table->n_rows; i++) {
            ETP_TRY(etp_inspector_cell(&j, &table->rows[i], (etp_inspector_column)c, &how, err));
        }
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}
