// SPDX-License-Identifier: Apache-2.0
// Names out of files, made fit for formats that cannot hold every byte.
#ifndef ETP_CONVERT_CLEAN_H
#define ETP_CONVERT_CLEAN_H

#include "base/sink.h"

typedef enum etp_clean {
    ETP_CLEAN_UTF8,   // broken sequences become U+FFFD: protobuf
    ETP_CLEAN_LINE,   // control characters too, those that XML forbids included: SVG
    ETP_CLEAN_FOLDED, // and ';', which parts frames, becomes ',': collapsed stacks
} etp_clean;

// Appends S to BUF.
void etp_clean_append(etp_strbuf *buf, etp_str s, etp_clean how);

#endif
