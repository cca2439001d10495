// SPDX-License-Identifier: Apache-2.0
// Talk: everything that goes to standard error. Control characters become pictures (ESC ␛), what is
// no UTF-8 and what hides or reorders text becomes U+FFFD; line breaks and tabs stay.
#ifndef ETP_CLI_SAY_H
#define ETP_CLI_SAY_H

#include <stdbool.h>

#include <etprof/error.h>

void etp_say(const char *fmt, ...) ETP_PRINTF(1, 2);
// Words of our own, as they are, with next to no stack.
void etp_say_ours(const char *text);
// Whether the locale that the environment names has more than ASCII: LC_ALL, LC_CTYPE, LANG, in
// this order.
bool etp_terminal_is_utf8(void);
// A line that is written again and again in its place, blank up to WIDTH, cut to COLUMNS; gives the
// columns it took. Empty text clears it.
size_t etp_say_again(const char *text, size_t width, size_t columns);

#endif
