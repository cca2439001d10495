// SPDX-License-Identifier: Apache-2.0
// The one place that writes to standard error: whatever names, messages and programs put into a
// line, the terminal gets text.
#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/sink.h"

static void show(const char *text, size_t n)
{
    etp_sink sink = etp_sink_file(stderr);
    etp_sink_shown(&sink, (etp_str){text, n}, true);
}

void etp_say(const char *fmt, ...)
{
    char small[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
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

void etp_say_again(const char *text, size_t width)
{
    size_t n = 0;
    fputc('\r', stderr);
    while (text[n]) {
        n++;
    }
    show(text, n);
    fprintf(stderr, "%*s", (int)(width > n ? width - n : 0), "");
    if (n == 0) {
        fputc('\r', stderr);
    }
    fflush(stderr);
}
