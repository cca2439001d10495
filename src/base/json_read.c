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

etp_status etp_json_parse(etp_str text, int levels, json_t **out, etp_error *err)
{
    *out = NULL;
    size_t where;
    if (text.len == 0) {
        return etp_fail_at(err, ETP_CORRUPT, 0, "the file is empty");
    }
    if (too_deep(text, levels, &where)) {
        return etp_fail_at(err, ETP_CORRUPT, where, "JSON nested deeper than %d levels", levels);
    }
    json_error_t e;
    *out = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &e);
    if (*out) {
        return ETP_OK;
    }
    return etp_fail_at(err, ETP_CORRUPT, e.position > 0 ? (uint64_t)e.position : 0, "line %d: %s",
                       e.line, e.text);
}

etp_status etp_json_read(etp_str text, json_t **out, etp_error *err)
{
    json_t *root;
    *out = NULL;
    ETP_TRY(etp_json_parse(text, ETP_JSON_MAX_NESTING, &root, err));
    if (!json_is_object(root)) {
        json_decref(root);
        return etp_fail_at(err, ETP_CORRUPT, 0, "the JSON is not an object");
    }
    *out = root;
    return ETP_OK;
}
