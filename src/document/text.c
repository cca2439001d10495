// SPDX-License-Identifier: Apache-2.0
// Documents and objects of theirs as texts.
#include "document/fields.h"

typedef struct text_writer {
    etp_strbuf text;
    etp_sink sink;
    etp_json json;
} text_writer;

static etp_json *begin_text(text_writer *w, bool pretty, etp_arena *arena)
{
    etp_strbuf_init(&w->text, arena);
    w->sink = etp_sink_strbuf(&w->text);
    etp_json_init(&w->json, &w->sink, pretty);
    return &w->json;
}

static etp_str end_text(const text_writer *w)
{
    return w->text.failed ? ETP_STR("") : etp_strbuf_str(&w->text);
}

etp_str etp_object_text(const etp_shape *shape, const void *object, const void *root,
                        etp_arena *arena)
{
    text_writer w;
    etp_object_write(begin_text(&w, false, arena), shape, object, root);
    return end_text(&w);
}

etp_str etp_document_text(const etp_document *document, const void *object, const void *root,
                          bool pretty, etp_arena *arena)
{
    text_writer w;
    etp_document_write(begin_text(&w, pretty, arena), document, object, root);
    return end_text(&w);
}
