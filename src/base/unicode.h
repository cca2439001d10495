// SPDX-License-Identifier: Apache-2.0
// Texts that PowerShell and others write: UTF-16 or UTF-32, with a byte order mark or without.
#ifndef ETPROF_BASE_UNICODE_H
#define ETPROF_BASE_UNICODE_H

#include <stdbool.h>

#include <etprof/arena.h>
#include <etprof/bytes.h>

// "UTF-16" or "UTF-32": by its mark, or by four units of ASCII that it begins with. NULL: neither.
const char *etp_unicode_wide(etp_str text);
// TEXT as UTF-8 in ARENA where it is either, else TEXT itself without a mark of UTF-8. What is no
// character becomes U+FFFD. ARENA stands under a guard.
etp_str etp_unicode_decode(etp_str text, etp_arena *arena);

#endif
