// SPDX-License-Identifier: Apache-2.0
// Reading the kit's JSON, which may hold NaN (that is no JSON): as no number.
#ifndef ETP_KIT_JSON_H
#define ETP_KIT_JSON_H

#include "base/json_read.h"

// *out is NULL for text that is no JSON otherwise either, and for no text. The caller frees it.
// ARENA is under a guard.
ETP_NODISCARD etp_status etp_kit_json_load(etp_str text, etp_arena *arena, json_t **out,
                                           etp_error *err);
double etp_kit_json_number(const json_t *object, const char *key); // NAN when it is none

#endif
