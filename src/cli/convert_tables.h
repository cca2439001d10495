// SPDX-License-Identifier: Apache-2.0
// etprof convert --to parquet: rows of run folders as columns.
#ifndef ETP_CLI_CONVERT_TABLES_H
#define ETP_CLI_CONVERT_TABLES_H

#include "cli/command.h"

extern const char
    *const k_etp_table_words[]; // values of --table, as in etp_run_table; ends with NULL

// TABLE is an index of k_etp_table_words, −1 the first. Writes to cli->output or standard output.
ETP_NODISCARD etp_status etp_convert_parquet(etp_cli *cli, int table, bool uncompressed,
                                             const char *const *folders, size_t n_folders,
                                             etp_error *err);

#endif
