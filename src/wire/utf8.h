// SPDX-License-Identifier: Apache-2.0
// One check of UTF-8 for both directions of the protocol.
#ifndef ETP_WIRE_UTF8_H
#define ETP_WIRE_UTF8_H

#include <stddef.h>

// Length of the well-formed UTF-8 sequence at the start of `text` (1 to 4), 0 if
// there is none: overlong forms, surrogates and values past U+10FFFF are refused.
size_t etp_wire_utf8(const char *text, size_t len);

#endif
