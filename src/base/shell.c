// SPDX-License-Identifier: Apache-2.0
#include "base/shell.h"

#include <stdarg.h>
#include <string.h>

void etp_shell_quote(etp_strbuf *buf, const char *text)
{
    if (!text) { // one that memory was lacking for: no command is made without it
        buf->failed = true;
        return;
    }
    etp_strbuf_appendz(buf, "'");
    for (const char *p = text; *p; p++) {
        // Between single quotes nothing has a meaning but the quote itself: it is closed, an
        // escaped one put in, and opened again.
        etp_strbuf_append(buf, *p == '\'' ? ETP_STR("'\\''") : (etp_str){p, 1});
    }
    etp_strbuf_appendz(buf, "'");
}

const char *etp_shell_quoted(etp_arena *arena, const char *text)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_shell_quote(&buf, text);
    return etp_z_if(!buf.failed, buf.ptr);
}

void etp_shell_word(etp_strbuf *buf, const char *text)
{
    static const char k_plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_./,:=+@%";
    if (!text) { // one that memory was lacking for: what BUF is of remembers it
        return;
    }
    if (text[0] && text[strspn(text, k_plain)] == '\0') {
        etp_strbuf_appendz(buf, text);
    } else {
        etp_shell_quote(buf, text);
    }
}

const char *etp_shell_command(etp_arena *arena, const char *format, ...)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    va_list words;
    va_start(words, format);
    for (const char *at = format, *next; *at; at = next) {
        const char *mark = strstr(at, "%s");
        next = mark ? mark + 2 : at + strlen(at);
        etp_strbuf_append(&buf, (etp_str){at, (size_t)(ETP_OR(mark, next) - at)});
        if (mark) {
            etp_shell_word(&buf, va_arg(words, const char *));
        }
    }
    va_end(words);
    return etp_z_if(!buf.failed, buf.ptr);
}
