// SPDX-License-Identifier: Apache-2.0
// Tables of run folders as typed columns, a batch of rows at a time, which the Arrow stream takes.
// docs/tables.md lists the columns.
#ifndef ETP_CONVERT_TABLE_H
#define ETP_CONVERT_TABLE_H

#include <jansson.h>

#include "base/index.h"

#include <etprof/arena.h>
#include <etprof/tables.h>

typedef enum etp_column_type {
    ETP_COLUMN_I64,
    ETP_COLUMN_F64,
    ETP_COLUMN_BOOL,
    ETP_COLUMN_TEXT, // UTF-8; what is not becomes U+FFFD
    ETP_COLUMN_TIME, // microseconds since 1970, UTC
} etp_column_type;

typedef struct etp_column_def {
    const char *name;
    etp_column_type type;
    bool nullable;
} etp_column_def;

typedef union etp_batch_cell {
    int64_t i; // also: 0 or 1, microseconds, index in the column's texts
    double f;
} etp_batch_cell;

// Rows from STORED on are all as the one before: most columns say the same for many rows on end.
typedef struct etp_batch_column {
    etp_batch_cell *cells; // of the rows that are stored; 0 where null
    uint8_t *present;      // of the rows that are stored: 0 or 1
    size_t stored, nulls;  // nulls among them
    struct {
        etp_str *items; // each once, by first use
        size_t n, cap;
    } texts;
    etp_index index; // of texts
    uint32_t last;   // text of the row before
} etp_batch_column;

// A batch is a row group of Parquet and a record batch of Arrow.
#define ETP_BATCH_ROWS ((size_t)64 * 1024)
#define ETP_BATCH_TEXT \
    ((size_t)64 << 20) // bytes of text after which a batch is full, repetitions counted

// Rows in memory. Cells are set from left to right, etp_batch_end_row after the last one.
typedef struct etp_batch {
    etp_arena arena; // owns everything below but the texts; a zeroed batch is an empty one
    etp_arena text_arena;
    const etp_column_def *defs;
    size_t n_columns;
    etp_batch_column *columns;
    size_t rows;
    size_t text_bytes;
    size_t at;   // column of the next cell
    bool failed; // out of memory once
    struct {     // what the row before begins with, by who fills rows; of texts of this batch
        etp_str folder, id;
        uint32_t arm;
        size_t columns, row; // 0 columns: not known
        size_t text_bytes;   // of these columns
    } keyed;
    struct { // ROW is null from COLUMN on, as etp_batch_rest_null made it; of no row: SIZE_MAX
        size_t row, column;
    } rest_null;
} etp_batch;

// The first N cells of a row are those of the row before, with TEXT_BYTES of text.
void etp_batch_repeat(etp_batch *b, size_t n, size_t text_bytes);
// Borrows DEFS.
ETP_NODISCARD etp_status etp_batch_init(etp_batch *b, const etp_column_def *defs, size_t n,
                                        etp_error *err);
void etp_batch_dispose(etp_batch *b);
bool etp_batch_full(const etp_batch *b);
// Stores all rows of COLUMN, for who reads its cells by row.
void etp_batch_spread(etp_batch *b, size_t column);
// The row of COLUMN that is stored and says what ROW does.
static inline size_t etp_batch_row(const etp_batch_column *column, size_t row)
{
    return row < column->stored ? row : column->stored - 1;
}
// The cell of ROW, which is below the batch's rows or the next one; 0 where null.
void etp_batch_set(etp_batch_column *c, size_t row, etp_batch_cell cell, bool present);

void etp_batch_null(etp_batch *b);
void etp_batch_i64(etp_batch *b, int64_t v);
void etp_batch_i64_if(etp_batch *b, uint64_t v, bool known);
void etp_batch_f64_if(etp_batch *b, double v, bool known);
void etp_batch_bool(etp_batch *b, bool v);
void etp_batch_text(etp_batch *b, etp_str s);
void etp_batch_text_if(etp_batch *b, etp_str s); // "" is null
// The text that the batch has at AT of this column's, as etp_batch_text left it in LAST.
void etp_batch_text_at(etp_batch *b, uint32_t at);
void etp_batch_rest_null(etp_batch *b); // all cells up to the row's end
ETP_NODISCARD etp_status etp_batch_end_row(etp_batch *b, etp_error *err);

const etp_column_def *etp_run_table_columns(etp_run_table table, size_t *out_n);

// The rows of folders, read as they are asked for: memory does not grow with their number.
typedef struct etp_run_table_source etp_run_table_source;
// The etprof.ab/1 document of the session in DIR, for the caller to free.
typedef etp_status etp_table_analyse(const char *dir, json_t **out, etp_error *err);
// Copies the names. ANALYSE is asked where TABLE has operators.
ETP_NODISCARD etp_status etp_run_table_open(etp_run_table table, const char *const *folders,
                                            size_t n_folders, etp_table_analyse *analyse,
                                            etp_run_table_source **out, etp_error *err);
// Fills an empty batch until it is full or there are no more rows. No rows: the end.
ETP_NODISCARD etp_status etp_run_table_next(etp_run_table_source *source, etp_batch *batch,
                                            etp_error *err);
void etp_run_table_close(etp_run_table_source *source); // NULL does nothing

// Anybody's rows as an Arrow C stream. What it is made of is the stream's, also when that cannot be
// made.
typedef struct etp_rows {
    const etp_column_def *defs; // valid until close
    size_t n_defs;
    void *source;
    // Fills an empty batch; no rows: the end.
    etp_status (*next)(void *source, etp_batch *batch, etp_error *err);
    void (*close)(void *source);
} etp_rows;
ETP_NODISCARD etp_status etp_rows_stream(const etp_rows *rows, struct ArrowArrayStream *out,
                                         etp_error *err);

#endif
