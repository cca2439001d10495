// SPDX-License-Identifier: Apache-2.0
// From rows to the groups of a file, by one thread or several.
#ifndef ETP_CONVERT_PARQUET_ROWS_H
#define ETP_CONVERT_PARQUET_ROWS_H

#include "convert/parquet.h"

// All rows of SOURCE into FILE, which has begun.
ETP_NODISCARD etp_status etp_parquet_rows(etp_parquet_file *file, etp_run_table_source *source,
                                          const etp_parquet_options *options, etp_error *err);

#endif
