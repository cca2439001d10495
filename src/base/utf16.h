// SPDX-License-Identifier: Apache-2.0
// Texts that PowerShell and others redirect: UTF-16 with a byte order mark.
#ifndef ETPROF_BASE_UTF16_H
#define ETPROF_BASE_UTF16_H

#include <etprof/arena.h>
#include <etprof/bytes.h>

// TEXT as UTF-8 in ARENA where it begins with a byte order mark of UTF-16, else TEXT itself without
// a mark of UTF-8. Half a surrogate pair becomes U+FFFD. ARENA stands under a guard.
etp_str etp_utf16_decode(etp_str text, etp_arena *arena);

#endif
