// SPDX-License-Identifier: Apache-2.0
// The tables of ExecuTorch's Inspector by columns.
#include "base/buffer.h"
#include "convert/inspector.h"
#include "library/reply_files.h"
#include "library/sized.h"

static etp_status fill_columns(void *ctx, etp_sink *sink, etp_error *err)
{
    const etp_reply *r = ctx;
    return etp_inspector_columns_write(r->inspector, r->has_buffer ? &r->buffer_file.bytes : NULL,
                                       sink, err);
}

etp_status etp_reply_columns(const etp_reply *reply, etp_inspector_columns *out, etp_error *err)
{
    if (!reply || !reply->inspector) {
        return etp_fail(err, ETP_USAGE, reply ? "not Inspector's reply" : "no reply");
    }
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for the columns");
    }
    // The sizes are known before anything is written, and the writer puts the arrays one behind the
    // other in this order (convert/inspector.h). So they are found by arithmetic in one block of
    // memory, which the caller frees at once.
    etp_inspector_columns c = {.n_rows = reply->inspector->n_rows};
    for (size_t i = 0; i < c.n_rows; i++) {
        c.n_times += reply->inspector->rows[i].n;
    }
    ETP_TRY(etp_buffer_make(fill_columns, (void *)(uintptr_t)reply, &c.memory, err));
    // The memory of a buffer is aligned for any of these.
    c.statistics = (const void *)c.memory.ptr;
    c.first = (const void *)(c.statistics + 6 * c.n_rows);
    c.raw_ms = (const void *)(c.first + c.n_rows + 1);
    c.start = (const void *)(c.raw_ms + c.n_times);
    c.others = (const void *)(c.start + c.n_times);
    c.others_len = c.memory.len - (size_t)(c.others - c.memory.ptr);
    etp_status st = etp_result_give(&c, sizeof c, ETP_SIZE_TO(etp_inspector_columns, memory), out,
                                    "etp_inspector_columns", err);
    if (st != ETP_OK) {
        etp_buffer_dispose(&c.memory);
    }
    return st;
}
