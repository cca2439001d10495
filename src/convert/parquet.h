// SPDX-License-Identifier: Apache-2.0
// Writes a table as a Parquet file, a row group at a time, front to back: into a pipe as well as
// into a file. Format: https://parquet.apache.org/docs/file-format/
#ifndef ETP_CONVERT_PARQUET_H
#define ETP_CONVERT_PARQUET_H

#include "base/sink.h"
#include "convert/parquet_group.h"
#include "convert/table.h"

typedef struct etp_parquet_options {
    bool plain;       // pages are not compressed; else ZSTD
    uint32_t threads; // that encode beside the one that reads; the bytes are the same with any
} etp_parquet_options;

// All rows of SOURCE. When SINK fails the writer stops and says ETP_OK: the sink's owner knows why.
ETP_NODISCARD etp_status etp_parquet_write(etp_run_table_source *source,
                                           const etp_parquet_options *options, etp_sink *sink,
                                           uint64_t *out_rows, etp_error *err);

// ---- a file of groups ----

typedef struct etp_parquet_file { // borrows everything
    etp_sink *sink;
    const etp_column_def *defs;
    size_t n_columns;
    const char *table; // its name, "samples"
    uint64_t at;       // bytes written
    etp_arena arena;   // of the footer
    etp_strbuf groups; // RowGroup structs so far
    size_t n_groups;
    uint64_t rows;
} etp_parquet_file;

// Sink, defs, n_columns and table of FILE are set.
void etp_parquet_begin(etp_parquet_file *file);
ETP_NODISCARD etp_status etp_parquet_put(etp_parquet_file *file, const etp_parquet_group *group,
                                         etp_error *err);
ETP_NODISCARD etp_status etp_parquet_end(etp_parquet_file *file, etp_error *err);
void etp_parquet_dispose(etp_parquet_file *file); // also after a failure

#endif
