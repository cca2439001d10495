// SPDX-License-Identifier: Apache-2.0
// NaN, Infinity and -Infinity outside strings become empty strings, so that positions stay.
#include "kit/json.h"

#include <math.h>

etp_status etp_kit_json_load(etp_str text, etp_arena *arena, json_t **out, etp_error *err)
{
    *out = NULL;
    char *copy = etp_arena_strdup(arena, text);
    // Python's json writes these three where a number is not finite, and reads them back; strict
    // parsers refuse the whole file. The text keeps its length, so that errors still name the right
    // place.
    static const char *const k_words[] = {"NaN", "-Infinity", "Infinity"};
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        if (in_string) {
            i += copy[i] == '\\';
            in_string = i >= text.len || copy[i] != '"';
            continue;
        }
        in_string = copy[i] == '"';
        for (size_t w = 0; w < 3 && !in_string; w++) {
            size_t n = strlen(k_words[w]);
            if (text.len - i >= n && memcmp(copy + i, k_words[w], n) == 0) {
                memset(copy + i, ' ', n);
                memcpy(copy + i, "\"\"", 2); // as little a number as null, and fits three bytes
                i += n - 1;
                break;
            }
        }
    }
    etp_status st = text.len
                        ? etp_json_parse((etp_str){copy, text.len}, ETP_JSON_MAX_NESTING, out, NULL)
                        : ETP_OK;
    return st == ETP_NOMEM ? etp_fail_nomem(err, "JSON") : ETP_OK;
}

double etp_kit_json_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}
