// SPDX-License-Identifier: Apache-2.0
// Expected structure from flatc.
#include "golden.h"

#include <stdlib.h>
#include <zlib.h>

#include "unit.h"

json_t *golden_load(const char *path)
{
    gzFile gz = gzopen(path, "rb");
    if (!gz) {
        return NULL;
    }
    size_t len = 0, cap = 1 << 16;
    char *text = malloc(cap);
    assert_non_null(text);
    for (int n; (n = gzread(gz, text + len, (unsigned)(cap - len))) > 0;) {
        len += (size_t)n;
        if (len == cap) {
            cap *= 2;
            text = realloc(text, cap);
            assert_non_null(text);
        }
    }
    gzclose(gz);
    json_error_t error;
    json_t *j = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, &error);
    free(text);
    if (!j) {
        fail_msg("%s: %s", path, error.text);
    }
    return j;
}

double golden_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    if (json_is_true(v)) {
        return 1;
    }
    return json_number_value(v);
}

const char *golden_string(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

void golden_ids(const json_t *array, etp_i32s v)
{
    assert_int_equal(v.n, json_array_size(array));
    for (size_t i = 0; i < v.n; i++) {
        assert_true((double)etp_i32_at(v, i) == json_number_value(json_array_get(array, i)));
    }
}

void golden_str(const json_t *object, const char *key, etp_str s)
{
    const char *want = golden_string(object, key);
    if (!etp_str_eqz(s, want)) {
        fail_msg("%s: \"%.*s\" where flatc has \"%s\"", key, ETP_STR_ARG(s), want);
    }
}

void golden_list(const char *dir, const char *suffix, etp_arena *arena, golden_files *out)
{
    etp_dir_list list = {0};
    etp_error err = {0};
    if (etp_os_list(dir, arena, &list, &err) != ETP_OK) {
        fail_msg("%s: %s", dir, err.msg);
    }
    for (size_t i = 0; i < list.n; i++) {
        if (etp_str_ends(etp_str_from(list.items[i].name), etp_str_from(suffix))) {
            const char *path = etp_arena_printf(arena, "%s/%s", dir, list.items[i].name);
            assert_true(path && ETP_PUSH(arena, out, path));
        }
    }
}

void golden_open(const char *path, etp_file *out)
{
    etp_error err = {0};
    *out = (etp_file){0};
    if (etp_file_open(path, (uint64_t)1 << 32, out, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
}
