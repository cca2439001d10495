// SPDX-License-Identifier: Apache-2.0
// CSV after RFC 4180: a reader that splits text into rows of borrowed or unescaped cells, and cell
// writing with minimal quoting.
#ifndef ETP_BASE_CSV_H
#define ETP_BASE_CSV_H

#include "base/sink.h"

// What our tables have in a column "level" where nothing tells which ran: a text, so that it is
// read.
#define ETP_CSV_UNKNOWN "unknown"

typedef struct etp_csv_row {
    etp_str *cells;
    size_t n, cap;
    uint64_t offset; // of the row's first byte in the text
    uint64_t line;   // 1-based
} etp_csv_row;

typedef struct etp_csv_reader { // fields are private; needs no cleanup
    etp_str text;
    size_t pos;
    uint64_t line;
    etp_arena *arena;
} etp_csv_reader;

// Cells borrow from TEXT where no quotes are involved, else from ARENA. A UTF-8 byte order mark is
// skipped.
void etp_csv_open(etp_csv_reader *r, etp_str text, etp_arena *arena);
// Reads the next row into ROW (zeroed before the first call; its storage is reused). Empty lines
// are skipped. *more is false at the end.
ETP_NODISCARD etp_status etp_csv_next(etp_csv_reader *r, etp_csv_row *row, bool *more,
                                      etp_error *err);
// Index of the column named NAME in a header row, or -1.
int etp_csv_column(const etp_csv_row *header, const char *name);

// Refuses by its first row a table that others take for one with commas: one with semicolons, or
// one of ExecuTorch's Inspector. ETP_OK for any other.
ETP_NODISCARD etp_status etp_csv_refuse_others(const etp_csv_row *header, etp_error *err);

// One cell, quoted only where the separator, a quote or a line break demands it.
void etp_csv_cell(etp_sink *sink, etp_str s, char separator);
// The same for tables that people open in a spreadsheet, which would run a text that looks like a
// formula (= + - @ at its beginning): an apostrophe makes it text again.
void etp_csv_text(etp_sink *sink, etp_str s);

#endif
