// SPDX-License-Identifier: Apache-2.0
// Writes a table as a Parquet file, a row group at a time, front to back: into a pipe as well as
// into a file. Format: https://parquet.apache.org/docs/file-format/
#ifndef ETP_CONVERT_PARQUET_H
#define ETP_CONVERT_PARQUET_H

#include "base/sink.h"
#include "convert/table.h"

typedef struct etp_parquet_options {
    bool plain; // pages are not compressed; else ZSTD
} etp_parquet_options;

// All rows of SOURCE. When SINK fails the writer stops and says ETP_OK: the sink's owner knows why.
ETP_NODISCARD etp_status etp_parquet_write(etp_run_table_source *source,
                                           const etp_parquet_options *options, etp_sink *sink,
                                           uint64_t *out_rows, etp_error *err);

// One run of values < 2^WIDTH in Parquet's hybrid of repeated and bit-packed runs, whichever is
// shorter here. WIDTH 1 to 32.
void etp_parquet_runs(etp_strbuf *out, const uint32_t *values, size_t n, unsigned width);

#endif
