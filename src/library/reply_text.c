// SPDX-License-Identifier: Apache-2.0
// Replies to programs as text, in any form.
#include "base/buffer.h"
#include "library/forms.h"
#include "library/reply.h"
#include "library/reply_files.h"
#include "library/sized.h"

typedef struct writing {
    const etp_reply *reply;
    etp_analysis_output how;
} writing;

static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    const writing *w = ctx;
    if (w->reply->write) {
        return w->reply->write(w->reply, w->how.format, sink, err);
    }
    const etp_report_style style = {
        .width = (int)w->how.width,
        .color = w->how.color,
        .unicode = !w->how.ascii,
        .select = w->how.select,
    };
    etp_arena arena = {0};
    // JSON is written from the data itself; a report would be made for nothing.
    const etp_answer answer = etp_reply_answer(w->reply, w->how.format != ETP_OUTPUT_JSON, &arena);
    etp_status st = etp_answer_write(&answer, etp_output_writer(w->how.format), &style, sink, err);
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
    ETP_TRY(etp_options_take(&w.how, sizeof w.how, ETP_SIZE_TO(etp_analysis_output, select), how,
                             "etp_analysis_output", err));
    if ((unsigned)w.how.format >= ETP_OUTPUT_FORMATS || w.how.width > 10000) {
        return etp_fail(err, ETP_USAGE,
                        "format %u or %u columns: there are %d formats, 10000 columns",
                        (unsigned)w.how.format, w.how.width, ETP_OUTPUT_FORMATS);
    }
    return etp_buffer_make(fill, &w, out, err);
}
