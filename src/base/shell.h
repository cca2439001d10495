// SPDX-License-Identifier: Apache-2.0
// Words of a POSIX shell: what a script is made of, and the commands a person copies.
#ifndef ETP_BASE_SHELL_H
#define ETP_BASE_SHELL_H

#include "base/buffer.h"

// Appends TEXT in quotes as one word, whatever is in it.
void etp_shell_quote(etp_strbuf *buf, const char *text);
// The same in ARENA. NULL: no memory.
ETP_NODISCARD const char *etp_shell_quoted(etp_arena *arena, const char *text);

// Appends TEXT as one word, in quotes only where it needs them: for commands that people read.
void etp_shell_word(etp_strbuf *buf, const char *text);
// "etprof ab --resume 'my run'" of FORMAT "etprof ab --resume %s": each %s is such a word, nothing
// else begins with %. NULL: no memory.
ETP_NODISCARD const char *etp_shell_command(etp_arena *arena, const char *format, ...);

#endif
