// SPDX-License-Identifier: Apache-2.0
// Rows of a CSV file.
#include "base/csv.h"

#include "base/unicode.h"

void etp_csv_open(etp_csv_reader *r, etp_str text, etp_arena *arena)
{
    *r = (etp_csv_reader){.text = text, .line = 1, .arena = arena};
    if (etp_str_starts(text, ETP_STR("\xEF\xBB\xBF"))) {
        r->pos = 3;
    }
}

// The end of the text reads as a line break, so that the last row needs none.
static char peek(const etp_csv_reader *r)
{
    return r->pos < r->text.len ? r->text.ptr[r->pos] : '\n';
}

// A cell that starts with a quote: text up to the closing quote, doubled quotes halved.
static etp_status quoted_cell(etp_csv_reader *r, etp_str *out, etp_error *err)
{
    size_t open = r->pos++;
    size_t start = r->pos;
    size_t doubled = 0;
    for (; r->pos < r->text.len; r->pos++) {
        char c = r->text.ptr[r->pos];
        if (c == '\n') {
            r->line++;
        }
        if (c != '"') {
            continue;
        }
        if (r->pos + 1 < r->text.len && r->text.ptr[r->pos + 1] == '"') {
            doubled++;
            r->pos++;
            continue;
        }
        break;
    }
    if (r->pos >= r->text.len) {
        return etp_fail_at(err, ETP_CORRUPT, open, "a quoted cell is not closed");
    }
    etp_str raw = {r->text.ptr + start, r->pos - start};
    r->pos++; // the closing quote
    char after = peek(r);
    if (after != ',' && after != '\n' && after != '\r') {
        return etp_fail_at(err, ETP_CORRUPT, r->pos, "text after a closing quote");
    }
    if (doubled == 0) {
        *out = raw;
        return ETP_OK;
    }
    char *copy = etp_arena_alloc_raw(r->arena, raw.len - doubled + 1, 1);
    ETP_NEED(copy, err, "csv cell");
    size_t n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        copy[n++] = raw.ptr[i];
        if (raw.ptr[i] == '"') {
            i++; // its twin
        }
    }
    *out = (etp_str){copy, n};
    return ETP_OK;
}

// A quote inside a cell that does not begin with one is a character like any other.
static etp_status next_cell(etp_csv_reader *r, etp_str *out, etp_error *err)
{
    if (peek(r) == '"') {
        return quoted_cell(r, out, err);
    }
    const char *at = r->text.ptr + r->pos, *stop = r->text.ptr + r->text.len;
    size_t start = r->pos;
    while (at < stop && *at != ',' && *at != '\n') {
        at++;
    }
    size_t end = r->pos = (size_t)(at - r->text.ptr);
    if (end > start && r->text.ptr[end - 1] == '\r' && peek(r) == '\n') {
        end--;
    }
    *out = (etp_str){r->text.ptr + start, end - start};
    return ETP_OK;
}

etp_status etp_csv_next(etp_csv_reader *r, etp_csv_row *row, bool *more, etp_error *err)
{
    while (r->pos < r->text.len && (peek(r) == '\n' || peek(r) == '\r')) {
        r->line += peek(r) == '\n';
        r->pos++;
    }
    *more = r->pos < r->text.len;
    if (!*more) {
        return ETP_OK;
    }
    row->n = 0;
    row->offset = r->pos;
    row->line = r->line;
    // A row ends at a line break or at the end of the text; a separator before either means one
    // more, empty cell.
    for (;;) {
        etp_str cell = {0};
        ETP_TRY(next_cell(r, &cell, err));
        if (row->n == row->cap &&
            !etp_arena_grow(r->arena, &row->cells, &row->cap, row->n + 1, sizeof *row->cells)) {
            return etp_fail_nomem(err, "csv row");
        }
        row->cells[row->n++] = cell;
        if (r->pos < r->text.len && peek(r) == '\r') {
            r->pos++;
        }
        if (r->pos >= r->text.len || peek(r) == '\n') {
            break;
        }
        r->pos++; // the separator
    }
    if (r->pos < r->text.len) {
        r->pos++;
        r->line++;
    }
    return ETP_OK;
}

int etp_csv_column(const etp_csv_row *header, const char *name)
{
    for (size_t i = 0; i < header->n; i++) {
        if (etp_str_eqz(header->cells[i], name)) {
            return (int)i;
        }
    }
    return -1;
}

etp_status etp_csv_refuse_others(const etp_csv_row *header, etp_error *err)
{
    static const char *const k_inspector[] = {"event_block_name", "event_name"};
    size_t semicolons = 0, tabs = 0;
    const char *wide = header->n > 0 ? etp_unicode_wide(header->cells[0]) : NULL;
    if (wide) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "a table in %s (\"Unicode text\"); save it in UTF-8, with commas and "
                        "decimal points",
                        wide);
    }
    for (size_t i = 0; i < header->n; i++) {
        etp_str cell = header->cells[i];
        for (size_t at = 0; at < cell.len; at++) {
            semicolons += cell.ptr[at] == ';';
            tabs += cell.ptr[at] == '\t';
        }
        for (size_t k = 0; k < sizeof k_inspector / sizeof *k_inspector; k++) {
            if (etp_str_find(cell, etp_str_from(k_inspector[k])) < cell.len) {
                return etp_fail(err, ETP_UNSUPPORTED,
                                "this is a table of ExecuTorch's Inspector; give the .etdump that "
                                "it was made from");
            }
        }
    }
    bool others = header->n == 1 ? semicolons + tabs > 0 : semicolons > 1 || tabs > 1;
    if (others && header->n < 3) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "a table with %s between its cells, as spreadsheets save it; save it with "
                        "commas and decimal points",
                        semicolons > tabs ? "semicolons" : "tabs");
    }
    return ETP_OK;
}
