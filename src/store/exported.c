// SPDX-License-Identifier: Apache-2.0
// How a program was exported, as etprof's exporter says it in the export.json beside the program.
#include "base/json_read.h"
#include "base/path.h"
#include "store/internal.h"

#define EXPORT_LIMIT ((size_t)16 << 20)
#define MAX_ENTRIES 10000

static void read_command(const etp_json_object *entry, etp_run_model *out)
{
    const json_t *words;
    size_t n = etp_json_get_array(entry, "command", ETP_RUN_MAX_WORDS, &words);
    for (size_t i = 0; i < n; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (!word) {
            etp_json_reject(entry, "command", "texts");
            return;
        }
        etp_str kept = etp_str_from(etp_arena_strdup(entry->arena, etp_str_from(word)));
        ETP_ADD(entry->arena, &out->command, kept);
    }
}

static void read_recipes(const etp_json_object *entry, etp_run_model *out)
{
    const json_t *recipes;
    size_t n = etp_json_get_array(entry, "recipes", ETP_RUN_MAX_RECIPES, &recipes);
    for (size_t i = 0; i < n; i++) {
        const etp_json_object at = etp_json_element(entry, "recipes", recipes, i);
        const etp_run_recipe recipe = {.name = etp_json_get_str(&at, "name"),
                                       .places =
                                           etp_json_get_u64(&at, "places", ETP_RUN_MAX_PLACES)};
        ETP_ADD(entry->arena, &out->recipes, recipe);
    }
}

etp_status etp_run_read_export(const char *model, etp_bytes bytes, etp_arena *arena,
                               etp_run_model *out, etp_error *err)
{
    const char *path =
        etp_arena_printf(arena, "%.*sexport.json", (int)(etp_path_name(model) - model), model);
    etp_str text;
    json_t *json = NULL;
    etp_error why;
    ETP_TRY(etp_arena_check(arena, err, "export.json"));
    etp_status st =
        etp_os_is_file(path) ? etp_os_read_text(path, EXPORT_LIMIT, arena, &text, &why) : ETP_NO;
    if (st == ETP_OK) {
        st = etp_json_read(text, &json, &why);
    }
    if (st != ETP_OK) {
        return st == ETP_NOMEM ? etp_fail_nomem(err, path) : ETP_OK;
    }
    etp_run_model found = *out;
    char hex[ETP_SHA256_HEX_CHARS];
    if (found.sha256.len == 0) {
        etp_sha256_of(bytes.ptr, bytes.len, hex);
        found.sha256 = etp_str_from(etp_arena_strdup(arena, etp_str_from(hex)));
    }
    const etp_json_object root = {
        .object = json, .where = "", .arena = arena, .err = &why, .status = &st};
    const json_t *entries;
    size_t n = etp_json_get_array(&root, "artifacts", MAX_ENTRIES, &entries);
    for (size_t i = 0; i < n && st == ETP_OK && found.command.n == 0; i++) {
        const etp_json_object entry = etp_json_element(&root, "artifacts", entries, i);
        if (etp_str_eq(etp_json_get_str(&entry, "sha256"), found.sha256)) {
            read_command(&entry, &found);
            read_recipes(&entry, &found);
        }
    }
    json_decref(json);
    *out = st == ETP_OK ? found : *out;
    return etp_arena_check(arena, err, path);
}
