// SPDX-License-Identifier: Apache-2.0
// The one place that writes to standard error: whatever names, messages and programs put into a
// line, the terminal gets text.
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/sink.h"

bool etp_terminal_is_utf8(void)
{
    static const char *const k_names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names && !locale; i++) {
        const char *v = getenv(k_names[i]);
        locale = etp_z_if(v && v[0], v);
    }
    // "en_US.UTF-8", "C.utf8", "de_DE.UTF-8@euro": the character set stands somewhere in it, in
    // either spelling.
    const char *set = locale;
    for (; set && *set; set++) {
        if (strncasecmp(set, "UTF-8", 5) == 0 || strncasecmp(set, "UTF8", 4) == 0) {
            return true;
        }
    }
    return false;
}

static void show(const char *text, size_t n)
{
    etp_sink sink = etp_sink_file(stderr);
    if (etp_terminal_is_utf8()) {
        etp_sink_shown(&sink, (etp_str){text, n}, true);
        return;
    }
    etp_arena arena = {0};
    etp_strbuf clean;
    etp_strbuf_init(&clean, &arena);
    etp_sink safe = etp_sink_strbuf(&clean);
    etp_sink_shown(&safe, (etp_str){text, n}, true);
    etp_sink_ascii(&sink, etp_strbuf_str(&clean));
    etp_arena_dispose(&arena);
}

void etp_say(const char *fmt, ...)
{
    char small[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    // Nearly every line fits: no memory is asked for, so that "out of memory" can be said.
    if (n >= 0 && (size_t)n < sizeof small) {
        show(small, (size_t)n);
        return;
    }
    etp_arena arena = {0};
    char *big = n >= 0 ? etp_arena_alloc_raw(&arena, (size_t)n + 1, 1) : NULL;
    if (big) {
        va_start(ap, fmt);
        (void)vsnprintf(big, (size_t)n + 1, fmt, ap);
        va_end(ap);
        show(big, (size_t)n);
    }
    etp_arena_dispose(&arena);
}

void etp_say_ours(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text)); // where else could that be said?
    (void)ignored;
}

size_t etp_say_again(const char *text, size_t width, size_t columns)
{
    size_t n = 0, at = 0; // at: bytes; a line that the terminal wraps cannot be written over
    while (text[at] && n + 1 < columns) {
        n++;
        at++;
        while (((unsigned char)text[at] & 0xC0) == 0x80) {
            at++;
        }
    }
    fputc('\r', stderr);
    show(text, at);
    fprintf(stderr, "%*s", (int)ETP_LESS(width, n), "");
    if (n == 0) {
        fputc('\r', stderr);
    }
    fflush(stderr);
    return n;
}
