// SPDX-License-Identifier: Apache-2.0
// Tables for other tools, written row group by row group: memory does not grow with the rows.
#include "cli/convert_tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/emit.h"
#include "cli/say.h"
#include "convert/parquet.h"
#include "os/os.h"

const char *const k_etp_table_words[] = {"operators", "samples", "launches", NULL};

typedef struct job {
    etp_run_table table;
    etp_parquet_options how;
    const char *const *folders;
    size_t n_folders;
    uint64_t rows;
} job;

static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    job *j = ctx;
    etp_run_table_source *source;
    ETP_TRY(etp_run_table_open(j->table, j->folders, j->n_folders, &source, err));
    etp_status status = etp_parquet_write(source, &j->how, sink, &j->rows, err);
    etp_run_table_close(source);
    return status;
}

etp_status etp_convert_parquet(etp_cli *cli, int table, bool uncompressed,
                               const char *const *folders, size_t n_folders, etp_error *err)
{
    job j = {.table = table < 0 ? ETP_RUN_TABLE_OPERATORS : (etp_run_table)table,
             .how = {.plain = uncompressed},
             .folders = folders,
             .n_folders = n_folders};
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    j.how.threads = facts.cpus > 1 ? 1 : 0; // one encodes faster than rows are read
    if (!cli->output && cli->terminal) {
        return etp_fail(err, ETP_USAGE,
                        "Parquet is binary and standard output is a terminal; add "
                        "--output FILE.parquet");
    }
    ETP_TRY(etp_cli_emit_by(cli, fill, &j, err));
    if (!cli->quiet) {
        etp_say("%s: %" PRIu64 " rows of %zu folder%s\n", etp_run_table_name(j.table), j.rows,
                n_folders, n_folders == 1 ? "" : "s");
    }
    return ETP_OK;
}
