// SPDX-License-Identifier: Apache-2.0
// Where writers put bytes: a string buffer or an open stdio stream. A sink remembers its first
// failure, so that writers need not check each call; the owner asks once at the end.
#ifndef ETP_BASE_SINK_H
#define ETP_BASE_SINK_H

#include <stdio.h>

#include <etprof/arena.h>

#include "base/choice.h"

typedef struct etp_sink etp_sink;
struct etp_sink {
    bool (*write)(etp_sink *sink, const char *ptr, size_t len); // false = failed
    void *target;
    bool failed;
};

// NUL-terminated growing text; `ptr` is never NULL after the first successful append.
typedef struct etp_strbuf {
    etp_arena *arena;
    char *ptr;
    size_t len, cap;
    bool failed; // out of memory once: contents are then incomplete
} etp_strbuf;

void etp_strbuf_init(etp_strbuf *buf, etp_arena *arena);
void etp_strbuf_append(etp_strbuf *buf, etp_str s);
// Room for N bytes behind the text, which the caller may fill and count in len, with a NUL at the
// end. False on out of memory.
bool etp_strbuf_reserve(etp_strbuf *buf, size_t n);
void etp_strbuf_appendz(etp_strbuf *buf, const char *z);
void etp_strbuf_printf(etp_strbuf *buf, const char *fmt, ...) ETP_PRINTF(2, 3);
etp_str etp_strbuf_str(const etp_strbuf *buf);

etp_sink etp_sink_strbuf(etp_strbuf *buf);
etp_sink etp_sink_file(FILE *file); // borrows FILE until the sink is no longer used

// ETP_NOMEM or ETP_IO when not all of WHAT ("the report") went through.
ETP_NODISCARD etp_status etp_sink_check(const etp_sink *sink, etp_error *err, const char *what);

void etp_sink_write(etp_sink *sink, etp_str s);
void etp_sink_z(etp_sink *sink, const char *z);
void etp_sink_char(etp_sink *sink, char c);
void etp_sink_repeat(etp_sink *sink, char c, size_t n);
void etp_sink_xml(etp_sink *sink,
                  etp_str s); // text or attribute value, escaped for XML and HTML
// S made safe to show: control characters as pictures (ESC becomes ␛), what is no UTF-8, or hides
// or reorders text, as U+FFFD. With LINES line breaks and tabs stay.
void etp_sink_shown(etp_sink *sink, etp_str s, bool lines);
// S for a terminal without UTF-8: one ASCII character for each of S, so that widths stay.
void etp_sink_ascii(etp_sink *sink, etp_str s);
bool etp_is_harmless(etp_str s); // printable ASCII and no command: shown as it is
// Does a command to the runner of a CI service begin at AT ("::error", "##[group]")? Shown, it gets
// an apostrophe behind its first character.
bool etp_runner_command(etp_str s, size_t at);
void etp_sink_printf(etp_sink *sink, const char *fmt, ...) ETP_PRINTF(2, 3);

#endif
