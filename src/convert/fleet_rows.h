// SPDX-License-Identifier: Apache-2.0
// Rows of one source for all tables of a fleet, kept until they are asked for.
#ifndef ETP_CONVERT_FLEET_ROWS_H
#define ETP_CONVERT_FLEET_ROWS_H

#include <jansson.h>

#include <etprof/tables.h>
#include <etprof/trace.h>

#include "convert/table.h"
#include "store/store.h"

const etp_column_def *etp_fleet_columns(etp_fleet_table table, size_t *out_n);

// ---- rows that wait ----

typedef struct etp_kept_rows { // of one table; a zeroed one with defs is empty
    const etp_column_def *defs;
    size_t n_defs;
    etp_arena arena; // of the list
    struct {
        etp_batch *items;
        size_t n, cap;
    } batches;
    size_t taken;  // batches that a stream has handed out
    uint32_t made; // batches ever, by which the one at work is told from those before
} etp_kept_rows;

#define ETP_KEPT_MAX_COLUMNS 64
// A source that turns out damaged halfway must leave no rows. Batches behind the mark go, and in
// the one at work each column is put back to what it had stored.
typedef struct etp_kept_mark { // what was there before a source
    size_t batches, rows, text_bytes;
    struct {
        size_t stored, nulls;
    } columns[ETP_KEPT_MAX_COLUMNS];
} etp_kept_mark;

// A batch with room for a row; NULL: out of memory.
etp_batch *etp_kept_room(etp_kept_rows *rows, etp_error *err);
void etp_kept_take_mark(const etp_kept_rows *rows, etp_kept_mark *out);
void etp_kept_roll_back(etp_kept_rows *rows, const etp_kept_mark *mark);
uint64_t etp_kept_count(const etp_kept_rows *rows);
void etp_kept_dispose(etp_kept_rows *rows);
// Moves ROWS, which are empty afterwards, into a stream.
ETP_NODISCARD etp_status etp_kept_stream(etp_kept_rows *rows, struct ArrowArrayStream *out,
                                         etp_error *err);

// ---- of sources ----

typedef struct etp_source_labels { // from folders of its path ("device=pixel9"); "" none
    etp_str day, device, model, build, experiment, level;
    uint32_t threads; // 0: none
    etp_str stem;     // of its file
} etp_source_labels;
void etp_source_read_path(const char *path, etp_source_labels *out);

// What the dumps before said, so that a name is looked up once and not once a row. Zeroed is empty.
typedef struct etp_dump_memory {
    etp_arena arena; // owns the rest
    etp_index index; // of names
    struct {
        struct etp_dump_name *items;
        size_t n, cap;
    } names;
    struct {
        struct etp_dump_text *items; // by event
        size_t n, cap;
    } ids; // of the first block's events
} etp_dump_memory;
void etp_dump_memory_dispose(etp_dump_memory *memory);

typedef struct etp_fleet_source {
    const char *path, *kind; // as it is named in the tables; "run", "dump"
    const char *id;
    etp_source_labels labels;
} etp_fleet_source;

// ROWS: a table each. The caller takes back what a failed one left.
// REPORT: the run's etprof.ab/1 document, which the caller frees.
ETP_NODISCARD etp_status etp_fleet_put_run(etp_kept_rows *rows, const etp_fleet_source *source,
                                           const etp_run *run, json_t *report, etp_error *err);
ETP_NODISCARD etp_status etp_fleet_put_dump(etp_kept_rows *rows, etp_dump_memory *memory,
                                            const etp_fleet_source *source, const etp_trace *trace,
                                            etp_error *err);
ETP_NODISCARD etp_status etp_fleet_put_error(etp_kept_rows *rows, const etp_fleet_source *source,
                                             const etp_error *problem, etp_error *err);

#endif
