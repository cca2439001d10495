// SPDX-License-Identifier: Apache-2.0
// Replies to programs as text, in any form.
#include "base/buffer.h"
#include "library/forms.h"
#include "library/reply.h"
#include "library/reply_files.h"

typedef struct writing {
    const etp_reply *reply;
    etp_analysis_output how;
    etp_report_style style;
} writing;

static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    const writing *w = ctx;
    if (w->reply->write) {
        return w->reply->write(w->reply, w->how.format, sink, err);
    }
    etp_arena arena = {0};
    // JSON is written from the data itself; a report would be made for nothing.
    const etp_answer answer = etp_reply_answer(w->reply, w->how.format != ETP_OUTPUT_JSON, &arena);
    etp_status st =
        etp_answer_write(&answer, etp_output_writer(w->how.format), &w->style, sink, err);
    etp_arena_dispose(&arena);
    return st;
}

etp_status etp_reply_text(const etp_reply *reply, const etp_analysis_output *how, etp_buffer *out,
                          etp_error *err)
{
    writing w = {.reply = reply};
    if (!reply || !out) {
        return etp_fail(err, ETP_USAGE, reply ? "no place for the text" : "no reply");
    }
    *out = (etp_buffer){0};
    ETP_TRY(etp_output_take(how, &w.how, &w.style, err));
    return etp_buffer_make(fill, &w, out, err);
}
