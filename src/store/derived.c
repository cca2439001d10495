// SPDX-License-Identifier: Apache-2.0
// Files computed from the raw ones, and derived.json with their hashes. None is fsynced: what a
// power cut takes can be computed again, and its hash tells.
#include <stdio.h>

#include "base/json.h"
#include "base/sha256.h"
#include "os/os.h"
#include "store/internal.h"

#define DERIVED_SCHEMA "etprof.derived/1"

typedef struct file_list {
    etp_run_file *items;
    size_t n, cap;
    etp_str manifest; // its hash; empty: not said
    bool plain;
} file_list;

static etp_str format_list(const file_list *list, etp_arena *arena);

static etp_status read_list(const char *path, etp_arena *arena, file_list *out, etp_error *err)
{
    etp_str text;
    json_t *json;
    if (!etp_os_is_file(path)) {
        return ETP_OK;
    }
    ETP_TRY(etp_os_read_text(path, ETP_RUN_MANIFEST_LIMIT, arena, &text, err));
    ETP_TRY(etp_json_read(text, &json, err));
    etp_status status = ETP_OK;
    const etp_json_object root = {
        .object = json, .where = "", .arena = arena, .err = err, .status = &status};
    const json_t *array;
    size_t n = etp_json_get_array(&root, "files", 100000, &array);
    if (json_object_get(json, "manifest_sha256")) {
        out->manifest = etp_json_get_str(&root, "manifest_sha256");
    }
    for (size_t i = 0; i < n && status == ETP_OK; i++) {
        etp_json_object o = etp_json_element(&root, "files", array, i);
        etp_run_file f = {.path = etp_json_get_str(&o, "path"),
                          .sha256 = etp_json_get_str(&o, "sha256"),
                          .bytes = etp_json_get_u64(&o, "bytes", INT64_MAX)};
        if (status == ETP_OK && !etp_run_path_ok(f.path)) {
            etp_json_reject(&o, "path", "a path inside the folder");
        } else if (status == ETP_OK && !ETP_PUSH(arena, out, f)) {
            status = etp_fail_nomem(err, ETP_RUN_DERIVED);
        }
    }
    json_decref(json);
    out->plain = etp_str_eq(format_list(out, arena), text);
    return status;
}

etp_status etp_run_derived_read(const char *dir, etp_arena *arena, etp_run_derived *out,
                                etp_error *err)
{
    file_list list = {0};
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_DERIVED));
    etp_status status = path ? read_list(path, arena, &list, err) : etp_fail_nomem(err, dir);
    *out = status == ETP_OK ? (etp_run_derived){list.items, list.n, list.manifest, list.plain}
                            : (etp_run_derived){0};
    return status == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", path ? path : dir);
}

etp_status etp_run_report_options(const char *dir, etp_arena *arena, const char **out_baseline,
                                  double *out_margin, etp_error *err)
{
    *out_baseline = NULL;
    *out_margin = 0;
    etp_str text;
    json_t *json;
    const char *path = etp_run_path(arena, dir, ETP_STR("report.json"));
    if (!path) {
        return etp_fail_nomem(err, dir);
    }
    if (!etp_os_is_file(path) ||
        etp_os_read_text(path, ETP_RUN_MANIFEST_LIMIT, arena, &text, NULL) != ETP_OK ||
        etp_json_read(text, &json, NULL) != ETP_OK) {
        return ETP_OK; // broken: its hash says so
    }
    etp_status status = ETP_OK;
    const etp_json_object root = {.object = json, .where = "", .arena = arena, .status = &status};
    const json_t *array;
    if (etp_json_get_array(&root, "comparisons", ETP_RUN_MAX_ARMS, &array) > 0) {
        etp_json_object first = etp_json_element(&root, "comparisons", array, 0);
        etp_str baseline = etp_json_get_str(&first, "baseline");
        double margin = etp_json_get_double(&first, "margin");
        if (status == ETP_OK && baseline.len > 0 && margin > 0) {
            *out_baseline = etp_arena_strdup(arena, baseline);
            *out_margin = margin;
        }
    }
    json_decref(json);
    return ETP_OK;
}

static bool put(file_list *list, etp_run_file f, etp_arena *arena)
{
    size_t at = 0;
    while (at < list->n && etp_str_cmp(list->items[at].path, f.path) < 0) {
        at++;
    }
    if (at < list->n && etp_str_eq(list->items[at].path, f.path)) {
        list->items[at] = f;
        return true;
    }
    if (!ETP_PUSH(arena, list, f)) {
        return false;
    }
    for (size_t i = list->n - 1; i > at; i--) {
        list->items[i] = list->items[i - 1];
    }
    list->items[at] = f;
    return true;
}

static etp_str format_list(const file_list *list, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json j;
    etp_json_init(&j, &sink, true);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "schema", DERIVED_SCHEMA);
    if (list->manifest.len > 0) {
        etp_json_kv_str(&j, "manifest_sha256", list->manifest);
    }
    etp_json_key(&j, "files");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < list->n; i++) {
        etp_json_begin_object_inline(&j);
        etp_json_kv_str(&j, "path", list->items[i].path);
        etp_json_kv_str(&j, "sha256", list->items[i].sha256);
        etp_json_kv_u64(&j, "bytes", list->items[i].bytes);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return text.failed ? (etp_str){0} : etp_strbuf_str(&text);
}

static etp_status make_parent(const char *dir, etp_str relative, etp_arena *arena, etp_error *err)
{
    while (relative.len > 0 && relative.ptr[relative.len - 1] != '/') {
        relative.len--;
    }
    if (relative.len == 0) {
        return ETP_OK;
    }
    const char *parent = etp_run_path(arena, dir, (etp_str){relative.ptr, relative.len - 1});
    return parent ? etp_os_mkdirs(parent, err) : etp_fail_nomem(err, dir);
}

// Hashes what goes through to another sink.
typedef struct tee {
    etp_os_fill *fill;
    void *ctx;
    etp_sink *to;
    etp_sha256 hash;
    uint64_t bytes;
} tee;

static bool tee_write(etp_sink *sink, const char *ptr, size_t len)
{
    tee *t = sink->target;
    etp_sha256_update(&t->hash, ptr, len);
    t->bytes += len;
    etp_sink_write(t->to, (etp_str){ptr, len});
    return !t->to->failed;
}

static etp_status tee_fill(void *ctx, etp_sink *sink, etp_error *err)
{
    tee *t = ctx;
    t->to = sink;
    etp_sha256_init(&t->hash);
    etp_sink through = {.write = tee_write, .target = t};
    etp_status status = t->fill(t->ctx, &through, err);
    sink->failed = sink->failed || through.failed;
    return status;
}

static etp_status fill_text(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    etp_sink_write(sink, *(etp_str *)ctx);
    return ETP_OK;
}

void etp_run_sweep(const char *dir, etp_arena *arena)
{
    etp_dir_list list;
    etp_os_sweep_temporary(dir);
    if (etp_os_list(dir, arena, &list, NULL) != ETP_OK) {
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *path = etp_arena_printf(arena, "%s/%s", dir, list.items[i].name);
        if (path && list.items[i].is_dir) {
            etp_os_sweep_temporary(path);
        }
    }
}

// The manifest holds the hashes of the raw files and can hold none of itself: here is one.
static etp_status record(const char *dir, const char *list_path, etp_str name, tee *t,
                         etp_arena *arena, etp_error *err)
{
    char hex[ETP_SHA256_HEX_CHARS], manifest_hex[ETP_SHA256_HEX_CHARS];
    file_list list = {0};
    etp_str text = {0};
    uint64_t bytes;
    const char *manifest = etp_run_path(arena, dir, ETP_STR(ETP_RUN_MANIFEST));
    etp_sha256_hex(&t->hash, hex);
    if (read_list(list_path, arena, &list, NULL) != ETP_OK) {
        list.n = 0; // a broken list is written anew: it can always be computed again
    }
    list.manifest = manifest && etp_run_hash_file(manifest, manifest_hex, &bytes, NULL) == ETP_OK
                        ? etp_str_from(manifest_hex)
                        : (etp_str){0};
    etp_run_file f = {name, etp_str_from(hex), t->bytes};
    if (put(&list, f, arena)) {
        text = format_list(&list, arena);
    }
    return text.len > 0 ? etp_os_replace_by(list_path, fill_text, &text, err)
                        : etp_fail_nomem(err, ETP_RUN_DERIVED);
}

etp_status etp_run_write_derived_by(const char *dir, const char *relative, etp_os_fill *fill,
                                    void *ctx, etp_error *err)
{
    etp_arena arena = {0};
    etp_str name = etp_str_from(relative);
    const char *path = etp_run_path(&arena, dir, name);
    const char *list_path = etp_run_path(&arena, dir, ETP_STR(ETP_RUN_DERIVED));
    etp_status status = ETP_OK;
    tee t = {.fill = fill, .ctx = ctx};
    if (!path || !list_path) {
        status = etp_fail_nomem(err, relative);
    } else if (!etp_run_path_ok(name) || etp_run_is_raw(name)) {
        status = etp_fail(err, ETP_INTERNAL, "%s is no name for a derived file", relative);
    }
    if (status == ETP_OK) {
        status = make_parent(dir, name, &arena, err);
    }
    if (status == ETP_OK) {
        status = etp_os_replace_by(path, tee_fill, &t, err);
    }
    if (status == ETP_OK) {
        status = record(dir, list_path, name, &t, &arena, err);
    }
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_run_write_derived(const char *dir, const char *relative, etp_str content,
                                 etp_error *err)
{
    return etp_run_write_derived_by(dir, relative, fill_text, &content, err);
}

// RELATIVE in the run folder DIR.
static bool folder_records(const char *dir, const char *relative, etp_arena *arena)
{
    etp_run_derived derived;
    if (!etp_run_is(dir)) {
        return false;
    }
    if (etp_run_is_raw(etp_str_from(relative))) {
        return true;
    }
    if (etp_run_derived_read(dir, arena, &derived, NULL) != ETP_OK) {
        return true; // it cannot be told: rather leave what is there
    }
    for (size_t i = 0; i < derived.n; i++) {
        if (etp_str_eqz(derived.files[i].path, relative)) {
            return true;
        }
    }
    return false;
}

bool etp_run_records(const char *path, etp_arena *arena)
{
    size_t len = strlen(path);
    for (int level = 0; level < 2; level++) { // <run>/name and <run>/<experiment>/name
        while (len > 0 && path[len - 1] != '/') {
            len--;
        }
        const char *dir = len > 1 ? etp_arena_strdup(arena, (etp_str){path, len - 1}) : ".";
        if (dir && folder_records(dir, path + len, arena)) {
            return true;
        }
        while (len > 0 && path[len - 1] == '/') {
            len--;
        }
        if (len == 0) {
            return false;
        }
    }
    return false;
}
