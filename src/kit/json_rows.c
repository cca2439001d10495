// SPDX-License-Identifier: Apache-2.0
// A table's lines as JSON objects, as the kit's --json writes them: one rendering, two formats.
#include "kit/parts.h"

#include "base/csv.h"
#include "base/number.h"

// Columns whose cells are text even where they look like numbers.
static bool is_text(etp_str column)
{
    static const char *const k_text[] = {"model_id",         "name",  "type",
                                         "delegate_backend", "block", "kind",
                                         "category",         "five",  "level"};
    for (size_t i = 0; i < sizeof k_text / sizeof *k_text; i++) {
        if (etp_str_eqz(column, k_text[i])) {
            return true;
        }
    }
    return false;
}

// A CSV has no types: what reads as a number is one, but for columns of names ("1" may be a model).
static void put_cell(etp_str column, etp_str cell, etp_json *j)
{
    int64_t whole;
    double v;
    etp_json_key_str(j, column);
    if (is_text(column) && cell.len) {
        etp_json_str(j, cell);
    } else if (etp_parse_i64(cell, &whole)) {
        etp_json_i64(j, whole);
    } else if (etp_parse_double(cell, &v)) {
        etp_json_double(j, v);
    } else {
        etp_json_null(j);
    }
}

static etp_status put_rows(etp_str text, etp_json *j, etp_arena *scratch, etp_error *err)
{
    etp_csv_reader reader;
    etp_csv_row head = {0}, row = {0};
    bool more;
    etp_csv_open(&reader, text, scratch);
    ETP_TRY(etp_csv_next(&reader, &head, &more, err));
    etp_json_begin_array(j);
    for (;;) {
        ETP_TRY(etp_csv_next(&reader, &row, &more, err));
        if (!more) {
            break;
        }
        etp_json_begin_object_inline(j);
        for (size_t i = 0; i < head.n && i < row.n; i++) {
            put_cell(head.cells[i], row.cells[i], j);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end_document(j);
    return ETP_OK;
}

// The table is made in memory and read back. That costs room, but a second rendering could come to
// differ from the first.
etp_status etp_kit_as_json(etp_kit_render *table, const etp_kit *kit, const etp_kit_arm *arm,
                           etp_sink *sink, etp_arena *scratch, etp_error *err)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, scratch);
    etp_sink text = etp_sink_strbuf(&buf);
    ETP_TRY(table(kit, arm, &text, scratch, err));
    etp_json j;
    etp_json_init(&j, sink, true);
    return put_rows(etp_strbuf_str(&buf), &j, scratch, err);
}
