// SPDX-License-Identifier: Apache-2.0
// The one way in for JSON, which may be hostile: bounded depth, no duplicate keys, and what was
// wrong as a word.
#ifndef ETP_BASE_JSON_READ_H
#define ETP_BASE_JSON_READ_H

#include <jansson.h>

#include <etprof/arena.h>

#define ETP_JSON_MAX_NESTING 16

// Parses one document that is nested up to LEVELS deep. The caller frees *out with json_decref.
// Errors are ETP_CORRUPT with a byte position and the line in the text.
ETP_NODISCARD etp_status etp_json_parse(etp_str text, int levels, json_t **out, etp_error *err);
// An object, up to ETP_JSON_MAX_NESTING levels.
ETP_NODISCARD etp_status etp_json_read(etp_str text, json_t **out, etp_error *err);

// Getters of one object that remember their first failure, so that a document is read straight down
// and judged once. Absent or null members give the zero value; a wrong type is the failure.
typedef struct etp_json_object {
    const json_t *object;
    const char *where; // for messages: "plan", "plan.arms[3]"
    etp_arena *arena;  // texts are copied here
    etp_error *err;
    etp_status *status; // shared by the whole document
} etp_json_object;

etp_str etp_json_get_str(const etp_json_object *o, const char *key);
uint64_t etp_json_get_u64(const etp_json_object *o, const char *key, uint64_t max);
uint32_t etp_json_get_u32(const etp_json_object *o, const char *key, uint32_t max);
double etp_json_get_double(const etp_json_object *o, const char *key);
bool etp_json_get_bool(const etp_json_object *o, const char *key);
etp_json_object etp_json_get_object(const etp_json_object *o,
                                    const char *key); // object NULL: absent
// Length of the array of that name, 0 when absent; fails above MAX.
size_t etp_json_get_array(const etp_json_object *o, const char *key, size_t max,
                          const json_t **out);
etp_json_object etp_json_element(const etp_json_object *o, const char *key, const json_t *array,
                                 size_t i);
void etp_json_reject(const etp_json_object *o, const char *key, const char *expected);

#endif
