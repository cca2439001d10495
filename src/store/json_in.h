// SPDX-License-Identifier: Apache-2.0
// Reading JSON that may be hostile: bounded depth, no duplicate keys, and what was wrong as a word.
#ifndef ETP_STORE_JSON_IN_H
#define ETP_STORE_JSON_IN_H

#include <jansson.h>

#include <etprof/arena.h>

#define ETP_JSON_MAX_NESTING 16

typedef enum etp_json_fault {
    ETP_JSON_FINE,
    ETP_JSON_EMPTY, // nothing in it
    ETP_JSON_DEEP,  // nested beyond ETP_JSON_MAX_NESTING
    ETP_JSON_TWICE, // a key occurs twice in one object
    ETP_JSON_UTF8,  // not UTF-8
    ETP_JSON_CUT,   // ends in the middle
    ETP_JSON_NAN,   // NaN or Infinity, which is no JSON
    ETP_JSON_SYNTAX,
    ETP_JSON_NO_OBJECT, // sound, but no object
} etp_json_fault;

// Parses one document. The caller frees *out with json_decref. *out_fault may be NULL; errors are
// ETP_CORRUPT with a byte position and the line in the text.
ETP_NODISCARD etp_status etp_json_parse(etp_str text, json_t **out, etp_json_fault *out_fault,
                                        etp_error *err);
// The same, and an object at the top.
ETP_NODISCARD etp_status etp_json_read(etp_str text, json_t **out, etp_error *err);

#endif
