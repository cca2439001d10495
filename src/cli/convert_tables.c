// SPDX-License-Identifier: Apache-2.0
// Tables for other tools, written row group by row group: memory does not grow with the rows.
#include "cli/convert_tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "convert/parquet.h"
#include "os/os.h"

const char *const k_etp_table_words[] = {"operators", "samples", "launches", NULL};

typedef struct job {
    etp_table table;
    etp_parquet_options how;
    const char *const *folders;
    size_t n_folders;
    uint64_t rows;
} job;

static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    job *j = ctx;
    etp_table_source *source;
    ETP_TRY(etp_table_open(j->table, j->folders, j->n_folders, &source, err));
    etp_status status = etp_parquet_write(source, &j->how, sink, &j->rows, err);
    etp_table_close(source);
    return status;
}

etp_status etp_convert_parquet(etp_cli *cli, int table, bool uncompressed, const char *const *folders,
                               size_t n_folders, etp_error *err)
{
    job j = {.table = table < 0 ? ETP_TABLE_OPERATORS : (etp_table)table,
             .how = {.plain = uncompressed},
             .folders = folders,
             .n_folders = n_folders};
    if (cli->output) {
        ETP_TRY(etp_os_replace_by(cli->output, fill, &j, err));
    } else if (cli->terminal) {
        return etp_fail(err, ETP_USAGE, "Parquet is binary and standard output is a terminal; add "
                                        "--output FILE.parquet");
    } else {
        etp_sink sink = etp_sink_file(stdout);
        ETP_TRY(fill(&j, &sink, err));
        if (sink.failed || fflush(stdout) != 0) {
            return etp_fail_errno(err, ETP_IO, "writing standard output");
        }
    }
    if (!cli->quiet) {
        fprintf(stderr, "%s: %" PRIu64 " rows of %zu folder%s\n", etp_table_name(j.table), j.rows, n_folders,
                n_folders == 1 ? "" : "s");
    }
    return ETP_OK;
}
