// SPDX-License-Identifier: Apache-2.0
// A text with an arena of its own.
#include "base/buffer.h"

typedef struct owner { // lives in its arena
    etp_arena arena;
    etp_strbuf text;
} owner;

static void drop(owner *o)
{
    etp_arena arena = o->arena;
    etp_arena_dispose(&arena);
}

etp_status etp_buffer_make(etp_buffer_fill *fill, void *ctx, etp_buffer *out, etp_error *err)
{
    *out = (etp_buffer){0};
    etp_arena arena = {0};
    owner *o = ETP_NEW(&arena, owner);
    ETP_NEED(o, err, "text");
    o->arena = arena;
    etp_strbuf_init(&o->text, &o->arena);
    etp_sink sink = etp_sink_strbuf(&o->text);
    etp_status st = fill(ctx, &sink, err);
    if (st == ETP_OK) {
        etp_strbuf_appendz(&o->text, ""); // there is a text, and a NUL behind it
        st = o->text.failed ? etp_fail_nomem(err, "text") : ETP_OK;
    }
    if (st != ETP_OK) {
        drop(o);
        return st;
    }
    *out = (etp_buffer){o->text.ptr, o->text.len, o};
    return ETP_OK;
}

void etp_buffer_dispose(etp_buffer *buffer)
{
    if (buffer && buffer->owner) {
        drop(buffer->owner);
    }
    if (buffer) {
        *buffer = (etp_buffer){0};
    }
}
