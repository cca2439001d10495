// SPDX-License-Identifier: Apache-2.0
// The forms that a result can be written in, and what receives the bytes.
//
// Thread rule: values only; a write function is called on the thread of the call that was given it.
#ifndef ETPROF_OUTPUT_H
#define ETPROF_OUTPUT_H

#include <etprof/error.h>

#include <stdbool.h>

ETP_C_BEGIN

typedef enum etp_output_format { // numbers stay what they are
    ETP_OUTPUT_TEXT = 0,         // for a terminal
    ETP_OUTPUT_JSON = 1,         // one document with a schema name and its major version
    ETP_OUTPUT_CSV = 2,          // one table, RFC 4180 with LF
    ETP_OUTPUT_MD = 3,           // GitHub Markdown
    ETP_OUTPUT_HTML = 4,         // one self-contained page
    ETP_OUTPUT_SVG = 5,          // one chart as a picture of its own
    ETP_OUTPUT_FORMATS
} etp_output_format;

// Takes the next LEN bytes, which are its own only during the call. False ends the writing.
typedef bool etp_output_write(void *ctx, const char *bytes, size_t len);

ETP_C_END

#endif
