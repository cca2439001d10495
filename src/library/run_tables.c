// SPDX-License-Identifier: Apache-2.0
// Tables of run folders, that of their operators from the analysis of the session.
#include "library/run_tables.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/json_read.h"
#include "convert/table.h"
#include "show/json.h"

static etp_status write_json(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    etp_json j;
    etp_json_init(&j, sink, false);
    etp_document_write(&j, &k_etp_ab_document, ctx, ctx);
    return ETP_OK;
}

etp_status etp_session_document(const etp_ab_session *session, json_t **out, etp_error *err)
{
    etp_buffer text = {0};
    *out = NULL;
    ETP_TRY(etp_buffer_make(write_json, (void *)(uintptr_t)etp_ab_answer(session), &text, err));
    etp_status status = etp_json_read((etp_str){text.ptr, text.len}, out, err);
    etp_buffer_dispose(&text);
    return status;
}

static etp_status analyse(const char *dir, json_t **out, etp_error *err)
{
    etp_ab_session *session = NULL;
    *out = NULL;
    ETP_TRY(etp_ab_open(&dir, 1, &(etp_ab_options){0}, &session, err));
    etp_status status = etp_session_document(session, out, err);
    etp_ab_close(session);
    return status;
}

static etp_status next_of_runs(void *source, etp_batch *batch, etp_error *err)
{
    return etp_run_table_next(source, batch, err);
}

static void close_runs(void *source)
{
    etp_run_table_close(source);
}

etp_status etp_tables_stream(etp_run_table table, const char *const *folders, size_t n_folders,
                             struct ArrowArrayStream *out, etp_error *err)
{
    *out = (struct ArrowArrayStream){0};
    etp_run_table_source *source;
    ETP_TRY(etp_run_table_open(table, folders, n_folders, analyse, &source, err));
    etp_rows rows = {.source = source, .next = next_of_runs, .close = close_runs};
    rows.defs = etp_run_table_columns(table, &rows.n_defs);
    return etp_rows_stream(&rows, out, err);
}
