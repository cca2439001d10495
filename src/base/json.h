// SPDX-License-Identifier: Apache-2.0
// Streaming JSON writer: the only way etprof writes JSON. uint64 are exact, doubles shortest
// round-trip, non-finite doubles null, invalid UTF-8 becomes U+FFFD. Misuse (a value where a key
// is due, unbalanced ends) is our bug and asserts.
#ifndef ETP_BASE_JSON_H
#define ETP_BASE_JSON_H

#include "base/sink.h"

#define ETP_JSON_MAX_DEPTH 32

typedef struct etp_json {
    etp_sink *sink;
    bool pretty; // two blanks per level; otherwise one line
    int depth;
    bool after_key;
    struct {
        bool is_object, has_items, compact;
    } stack[ETP_JSON_MAX_DEPTH];
} etp_json;

void etp_json_init(etp_json *j, etp_sink *sink, bool pretty);
void etp_json_end_document(etp_json *j); // checks balance, writes the final newline

void etp_json_begin_object(etp_json *j);
void etp_json_begin_array(etp_json *j);
// As above, but everything inside stays on one line even when pretty.
void etp_json_begin_object_inline(etp_json *j);
void etp_json_begin_array_inline(etp_json *j);
void etp_json_end(etp_json *j);
void etp_json_key(etp_json *j, const char *key);
void etp_json_key_str(etp_json *j, etp_str key);

void etp_json_str(etp_json *j, etp_str s);
void etp_json_z(etp_json *j, const char *z); // NULL writes null
void etp_json_u64(etp_json *j, uint64_t v);
void etp_json_i64(etp_json *j, int64_t v);
void etp_json_double(etp_json *j, double v);
void etp_json_ratio(etp_json *j, double v);   // six significant digits, nan = null
void etp_json_rounded(etp_json *j, double v); // nearest whole number, null beyond int64 and for nan
void etp_json_bool(etp_json *j, bool v);
void etp_json_null(etp_json *j);
void etp_json_raw(etp_json *j, etp_str json); // a value that was written before, on one line

// key + value in one call, for the common case of an object's member.
void etp_json_kv_str(etp_json *j, const char *key, etp_str s);
void etp_json_kv_z(etp_json *j, const char *key, const char *z);
void etp_json_kv_u64(etp_json *j, const char *key, uint64_t v);
void etp_json_kv_i64(etp_json *j, const char *key, int64_t v);
void etp_json_kv_double(etp_json *j, const char *key, double v);
void etp_json_kv_ratio(etp_json *j, const char *key, double v);
void etp_json_kv_bool(etp_json *j, const char *key, bool v);
void etp_json_kv_null(etp_json *j, const char *key);
// Likewise for what may be unknown: null unless KNOWN. V is always evaluated.
void etp_json_kv_i64_if(etp_json *j, const char *key, int64_t v, bool known);
void etp_json_kv_bool_if(etp_json *j, const char *key, bool v, bool known);

#endif
