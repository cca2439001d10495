// SPDX-License-Identifier: Apache-2.0
// Characters of texts that may not be UTF-8, or not what they seem.
#ifndef ETP_BASE_UTF8_H
#define ETP_BASE_UTF8_H

#include <etprof/bytes.h>

// Decodes one UTF-8 sequence at the start of S; gives its length (≥ 1 for non-empty S) and sets
// *valid. Shared by every writer that has to refuse broken text.
size_t etp_utf8_next(etp_str s, bool *valid);
// Of the N valid bytes at P.
uint32_t etp_utf8_code_point(const unsigned char *p, size_t n);
// Letters of ASCII in lower case, everything else as it is.
static inline char etp_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
// Could reorder, hide or break what a reader sees, or is what XML forbids.
bool etp_is_deceptive(uint32_t code_point);

#endif
