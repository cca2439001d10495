// SPDX-License-Identifier: Apache-2.0
// String buffer and output sinks.
#include "base/sink.h"

#include <stdarg.h>

void etp_strbuf_init(etp_strbuf *buf, etp_arena *arena)
{
    *buf = (etp_strbuf){.arena = arena};
}

bool etp_strbuf_reserve(etp_strbuf *buf, size_t extra)
{
    size_t need = 0;
    if (!etp_add_size(buf->len, extra, &need) || !etp_add_size(need, 1, &need)) {
        buf->failed = true;
        return false;
    }
    if (need > buf->cap && !etp_arena_grow(buf->arena, &buf->ptr, &buf->cap, need, 1)) {
        buf->failed = true;
        return false;
    }
    return true;
}

void etp_strbuf_append(etp_strbuf *buf, etp_str s)
{
    if (!etp_strbuf_reserve(buf, s.len)) {
        return;
    }
    if (s.len) {
        memcpy(buf->ptr + buf->len, s.ptr, s.len);
    }
    buf->len += s.len;
    buf->ptr[buf->len] = '\0';
}

void etp_strbuf_appendz(etp_strbuf *buf, const char *z)
{
    etp_strbuf_append(buf, etp_str_from(z));
}

// No va_list is open while memory is asked for: that may end at a guard.
void etp_strbuf_printf(etp_strbuf *buf, const char *fmt, ...)
{
    if (buf->failed || buf->arena->failed) {
        buf->failed = true;
        (void)etp_arena_alloc_raw(buf->arena, 1, 1); // a guard learns of it, as of any other text
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0 && etp_strbuf_reserve(buf, (size_t)n)) {
        va_start(ap, fmt);
        vsnprintf(buf->ptr + buf->len, (size_t)n + 1, fmt, ap);
        va_end(ap);
        buf->len += (size_t)n;
    }
}

etp_str etp_strbuf_str(const etp_strbuf *buf)
{
    return (etp_str){ETP_OR(buf->ptr, ""), buf->len};
}

static bool write_strbuf(etp_sink *sink, const char *ptr, size_t len)
{
    etp_strbuf *buf = sink->target;
    etp_strbuf_append(buf, (etp_str){ptr, len});
    return !buf->failed;
}

static bool write_file(etp_sink *sink, const char *ptr, size_t len)
{
    return fwrite(ptr, 1, len, (FILE *)sink->target) == len;
}

etp_sink etp_sink_strbuf(etp_strbuf *buf)
{
    return (etp_sink){.write = write_strbuf, .target = buf};
}

etp_sink etp_sink_file(FILE *file)
{
    return (etp_sink){.write = write_file, .target = file};
}

etp_status etp_sink_check(const etp_sink *sink, etp_error *err, const char *what)
{
    if (!sink->failed) {
        return ETP_OK;
    }
    return sink->write == write_strbuf ? etp_fail_nomem(err, what)
                                       : etp_fail(err, ETP_IO, "cannot write %s", what);
}

void etp_sink_write(etp_sink *sink, etp_str s)
{
    if (!sink->failed && s.len && !sink->write(sink, s.ptr, s.len)) {
        sink->failed = true;
    }
}

void etp_sink_z(etp_sink *sink, const char *z)
{
    etp_sink_write(sink, etp_str_from(z));
}

void etp_sink_char(etp_sink *sink, char c)
{
    etp_sink_write(sink, (etp_str){&c, 1});
}

void etp_sink_repeat(etp_sink *sink, char c, size_t n)
{
    char chunk[64];
    memset(chunk, c, sizeof chunk);
    for (; n > sizeof chunk; n -= sizeof chunk) {
        etp_sink_write(sink, (etp_str){chunk, sizeof chunk});
    }
    etp_sink_write(sink, (etp_str){chunk, n});
}

void etp_sink_xml(etp_sink *sink, etp_str s)
{
    size_t start = 0;
    for (size_t i = 0; i < s.len; i++) {
        const char *entity = NULL;
        switch (s.ptr[i]) {
        case '&':
            entity = "&amp;";
            break;
        case '<':
            entity = "&lt;";
            break;
        case '>':
            entity = "&gt;";
            break;
        case '"':
            entity = "&quot;";
            break;
        case '\'':
            entity = "&#39;";
            break;
        default:
            continue;
        }
        etp_sink_write(sink, (etp_str){s.ptr + start, i - start});
        etp_sink_z(sink, entity);
        start = i + 1;
    }
    etp_sink_write(sink, (etp_str){s.ptr + start, s.len - start});
}

void etp_sink_printf(etp_sink *sink, const char *fmt, ...)
{
    char small[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0) {
        sink->failed = true;
    } else if ((size_t)n < sizeof small) {
        etp_sink_write(sink, (etp_str){small, (size_t)n});
    } else {
        // Too long for SMALL: it is made again, since the arguments are used up. Nothing is held
        // while it goes into a buffer, whose memory may end at a guard.
        etp_arena arena = {0};
        etp_strbuf own = {.arena = &arena};
        etp_strbuf *to = sink->write == write_strbuf ? sink->target : &own;
        if (!sink->failed && etp_strbuf_reserve(to, (size_t)n)) {
            va_start(ap, fmt);
            vsnprintf(to->ptr + to->len, (size_t)n + 1, fmt, ap);
            va_end(ap);
            to->len += (size_t)n;
        }
        sink->failed = sink->failed || to->failed;
        if (to == &own) {
            etp_sink_write(sink, etp_strbuf_str(&own));
        }
        etp_arena_dispose(&arena);
    }
}
