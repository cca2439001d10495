// SPDX-License-Identifier: Apache-2.0
// Reading JSON that may be hostile: bounded depth, no duplicate keys.
#include "base/json_read.h"

// jansson recurses per level of nesting up to its own limit of 2048; ours is checked before it
// starts.
static bool too_deep(etp_str text, int levels, size_t *where)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > levels) {
                *where = i;
                return true;
            }
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return false;
}

// jansson calls NaN a syntax error like any other; people who read "NaN" know what to do.
static etp_json_fault fault_of(etp_str text, const json_error_t *e)
{
    switch (json_error_code(e)) {
    case json_error_duplicate_key:
        return ETP_JSON_TWICE;
    case json_error_invalid_utf8:
        return ETP_JSON_UTF8;
    case json_error_premature_end_of_input:
        return ETP_JSON_CUT;
    default:
        break;
    }
    static const char *const k_words[] = {"NaN", "Infinity"};
    for (size_t i = 0; i < 2; i++) { // the position is the end of the bad token
        size_t n = strlen(k_words[i]), end = e->position > 0 ? (size_t)e->position : 0;
        if (end >= n && end <= text.len && memcmp(text.ptr + end - n, k_words[i], n) == 0) {
            return ETP_JSON_NAN;
        }
    }
    return ETP_JSON_SYNTAX;
}

etp_status etp_json_parse_deep(etp_str text, int levels, json_t **out, etp_json_fault *out_fault,
                               etp_error *err)
{
    etp_json_fault unused;
    etp_json_fault *fault = out_fault ? out_fault : &unused;
    *out = NULL;
    size_t where;
    if (text.len == 0) {
        *fault = ETP_JSON_EMPTY;
        return etp_fail_at(err, ETP_CORRUPT, 0, "the file is empty");
    }
    if (too_deep(text, levels, &where)) {
        *fault = ETP_JSON_DEEP;
        return etp_fail_at(err, ETP_CORRUPT, where, "JSON nested deeper than %d levels", levels);
    }
    json_error_t e;
    *out = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &e);
    if (!*out) {
        *fault = fault_of(text, &e);
        return etp_fail_at(err, ETP_CORRUPT, e.position > 0 ? (uint64_t)e.position : 0,
                           "line %d: %s", e.line, e.text);
    }
    *fault = ETP_JSON_FINE;
    return ETP_OK;
}

etp_status etp_json_parse(etp_str text, json_t **out, etp_json_fault *out_fault, etp_error *err)
{
    return etp_json_parse_deep(text, ETP_JSON_MAX_NESTING, out, out_fault, err);
}

etp_status etp_json_read(etp_str text, json_t **out, etp_error *err)
{
    json_t *root;
    *out = NULL;
    ETP_TRY(etp_json_parse(text, &root, NULL, err));
    if (!json_is_object(root)) {
        json_decref(root);
        return etp_fail_at(err, ETP_CORRUPT, 0, "the JSON is not an object");
    }
    *out = root;
    return ETP_OK;
}
