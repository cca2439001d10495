// SPDX-License-Identifier: Apache-2.0
// Files computed from the raw ones, and derived.json with their hashes. None is fsynced: what a
// power cut takes can be computed again, and its hash tells.
#include <stdio.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/json.h"
#include "base/path.h"
#include "base/sha256.h"
#include "document/rows.h"
#include "os/os.h"
#include "store/internal.h"

#define DERIVED_SCHEMA "etprof.derived/1"

#define OF etp_run_derived
static const etp_field k_list_rows[] = {
    FIELD("manifest_sha256", STR, manifest_sha256, "of the manifest they were computed from",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_SHA256),
    LIST("files", OBJECT, items, n, "every derived file, by name", .shape = &k_etp_run_file,
         .most = 100000, .cap_offset = (uint32_t)offsetof(OF, cap)),
};
static SHAPE(k_list, k_list_rows);
#undef OF
const etp_document k_etp_derived_document = {DERIVED_SCHEMA, "derived.json of a run folder",
                                             &k_list};

static etp_str format_list(const etp_run_derived *list, etp_arena *arena)
{
    return etp_document_text(&k_etp_derived_document, list, list, true, arena);
}

static etp_status read_list(const char *path, etp_arena *arena, etp_run_derived *out,
                            etp_error *err)
{
    etp_str text;
    if (!etp_os_is_file(path)) {
        return ETP_OK;
    }
    ETP_TRY(etp_os_read_text(path, ETP_RUN_MANIFEST_LIMIT, arena, &text, err));
    ETP_TRY(etp_object_of_text(text, &k_list, out, arena, err));
    out->plain = etp_str_eq(format_list(out, arena), text);
    return ETP_OK;
}

etp_status etp_run_derived_read(const char *dir, etp_arena *arena, etp_run_derived *out,
                                etp_error *err)
{
    *out = (etp_run_derived){0};
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_DERIVED));
    if (path && read_list(path, arena, out, err) != ETP_OK) {
        *out = (etp_run_derived){0};
        return etp_fail_ctx(err, "%s", path);
    }
    return etp_arena_check(arena, err, "derived files");
}

static etp_status report_options(const char *dir, etp_arena *arena, const char **out_baseline,
                                 double *out_margin, etp_error *err)
{
    *out_baseline = NULL;
    *out_margin = 0;
    etp_str text;
    json_t *json;
    const char *path = etp_run_path(arena, dir, ETP_STR("report.json"));
    if (!etp_os_is_file(path) ||
        etp_os_read_text(path, ETP_RUN_MANIFEST_LIMIT, arena, &text, NULL) != ETP_OK ||
        etp_json_read(text, &json, NULL) != ETP_OK) {
        return etp_arena_check(arena, err, "report.json"); // broken: its hash says so
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
    return etp_arena_check(arena, err, "report.json");
}

etp_status etp_run_report_options(const char *dir, etp_arena *arena, const char **out_baseline,
                                  double *out_margin, etp_error *err)
{
    ETP_UNGUARDED(arena, report_options(dir, arena, out_baseline, out_margin, err));
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

void etp_run_remove_leftovers(const char *dir, etp_arena *arena)
{
    etp_dir_list list;
    etp_os_remove_temporary(dir);
    if (etp_os_list(dir, arena, &list, NULL) != ETP_OK) {
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *path = etp_arena_printf(arena, "%s/%s", dir, list.items[i].name);
        if (path && list.items[i].is_dir) {
            etp_os_remove_temporary(path);
        }
    }
}

// ---- a batch ----

void etp_run_derive_begin(const char *dir, etp_arena *arena, etp_run_deriving *out)
{
    *out = (etp_run_deriving){.dir = dir, .arena = arena};
}

static etp_status derive(etp_run_deriving *d, const char *relative, etp_os_fill *fill, void *ctx,
                         etp_error *err)
{
    char hex[ETP_SHA256_HEX_CHARS];
    etp_str name = etp_str_from(relative);
    tee t = {.fill = fill, .ctx = ctx};
    if (!etp_run_path_ok(name) || etp_run_is_raw(name)) {
        return etp_fail(err, ETP_INTERNAL, "%s is not a name for a derived file", relative);
    }
    ETP_TRY(etp_os_stage_below(d->dir, relative, tee_fill, &t, err));
    etp_sha256_hex(&t.hash, hex);
    const char *kept = etp_arena_strdup(d->arena, name);
    const char *hash = etp_arena_strdup(d->arena, etp_str_from(hex));
    etp_run_file f = {etp_str_from(kept), etp_str_from(hash), t.bytes};
    ETP_ADD(d->arena, &d->made, f);
    etp_status status = etp_arena_check(d->arena, err, relative);
    if (status != ETP_OK) { // it is on no list: nobody else would remove it
        etp_status ignored = etp_os_unstage_below(d->dir, relative, false, NULL);
        (void)ignored;
    }
    return status;
}

// The file is staged before its name is noted: a caller's guard would leave it in the folder.
etp_status etp_run_derive_by(etp_run_deriving *d, const char *relative, etp_os_fill *fill,
                             void *ctx, etp_error *err)
{
    ETP_UNGUARDED(d->arena, derive(d, relative, fill, ctx, err));
}

etp_status etp_run_derive(etp_run_deriving *d, const char *relative, etp_str content,
                          etp_error *err)
{
    return etp_run_derive_by(d, relative, fill_text, &content, err);
}

// By name; of those with one name, the one that was made last in front.
static int by_name(const void *pa, const void *pb)
{
    const etp_run_file *const *a = pa, *const *b = pb;
    int order = etp_str_cmp((*a)->path, (*b)->path);
    return etp_order_then(order, ETP_ORDER(*b, *a));
}

// The last file of each name among the N of ALL, by name.
static void take_last(const etp_run_file *all, size_t n, etp_arena *arena, etp_run_derived *out)
{
    const etp_run_file **sorted = ETP_NEW_ARRAY(arena, const etp_run_file *, n);
    for (size_t i = 0; sorted && i < n; i++) {
        sorted[i] = &all[i];
    }
    if (sorted && n > 0) {
        qsort(sorted, n, sizeof *sorted, by_name);
    }
    for (size_t i = 0; sorted && i < n; i++) {
        if (i == 0 || !etp_str_eq(sorted[i]->path, sorted[i - 1]->path)) {
            ETP_ADD(arena, out, *sorted[i]);
        }
    }
}

static etp_status write_list(const char *dir, const etp_run_derived *list, etp_arena *arena,
                             etp_error *err)
{
    etp_str text = format_list(list, arena);
    ETP_TRY(etp_arena_check(arena, err, ETP_RUN_DERIVED));
    return etp_os_replace_below(dir, ETP_RUN_DERIVED, fill_text, &text, err);
}

// The manifest holds the hashes of the raw files and can hold none of itself: here is one.
static etp_status record(const etp_run_deriving *d, etp_error *err)
{
    etp_arena arena = {0};
    char manifest_hex[ETP_SHA256_HEX_CHARS];
    etp_run_derived list = {0};
    const char *list_path = etp_run_path(&arena, d->dir, ETP_STR(ETP_RUN_DERIVED));
    const char *manifest = etp_run_path(&arena, d->dir, ETP_STR(ETP_RUN_MANIFEST));
    etp_status status = read_list(list_path, &arena, &list, err);
    if (status == ETP_CORRUPT) { // a broken list is written anew: it can always be computed again
        list.n = 0;
        status = ETP_OK;
    }
    // Files that are made again later are no witness that the manifest is still the session's.
    if (status == ETP_OK && list.manifest_sha256.len == 0 && etp_os_is_file(manifest)) {
        status = etp_os_hash_file(manifest, manifest_hex, NULL, err);
        list.manifest_sha256 = etp_str_from(manifest_hex);
    }
    if (status == ETP_OK) {
        // With what was made in place of or besides what the list holds.
        size_t n = list.n + d->made.n;
        etp_run_file *all = ETP_NEW_ARRAY(&arena, etp_run_file, n);
        etp_run_derived out = {.manifest_sha256 = list.manifest_sha256};
        for (size_t i = 0; all && i < n; i++) {
            all[i] = i < list.n ? list.items[i] : d->made.items[i - list.n];
        }
        if (all) {
            take_last(all, n, &arena, &out);
        }
        list = out;
        status = write_list(d->dir, &list, &arena, err);
    }
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_run_manifest_moves_on(const char *dir, etp_error *err)
{
    etp_arena arena = {0};
    etp_run_derived list = {0};
    const char *path = etp_run_path(&arena, dir, ETP_STR(ETP_RUN_DERIVED));
    etp_status status = etp_arena_check(&arena, err, ETP_RUN_DERIVED);
    if (status == ETP_OK && read_list(path, &arena, &list, NULL) == ETP_OK && list.n > 0) {
        list.manifest_sha256 = (etp_str){0};
        status = write_list(dir, &list, &arena, err);
    }
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_run_derive_end(etp_run_deriving *d, etp_status so_far, etp_error *err)
{
    etp_status status = so_far;
    etp_run_derived once = {0};
    take_last(d->made.items, d->made.n, d->arena, &once);
    if (status == ETP_OK) {
        status = etp_arena_check(d->arena, err, ETP_RUN_DERIVED);
    }
    const etp_run_derived made = {.items = d->made.items, .n = d->made.n};
    const etp_run_derived *staged = status == ETP_OK ? &once : &made;
    size_t named = 0;
    for (size_t i = 0; i < staged->n; i++) {
        bool keep = status == ETP_OK;
        etp_status st =
            etp_os_unstage_below(d->dir, staged->items[i].path.ptr, keep, keep ? err : NULL);
        status = keep ? st : status;
        named += keep && st == ETP_OK;
    }
    if (named > 0) { // after a failure these have their names all the same
        d->made.items = staged->items;
        d->made.n = named;
        etp_status st = record(d, status == ETP_OK ? err : NULL);
        status = status == ETP_OK ? st : status;
    }
    d->made.n = d->made.cap = 0;
    return status;
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
        if (etp_str_eqz(derived.items[i].path, relative)) {
            return true;
        }
    }
    return false;
}

bool etp_run_records(const char *path, etp_arena *arena)
{
    etp_str above = etp_str_from(path);
    for (int level = 0; level < 2; level++) { // <run>/name and <run>/<experiment>/name
        above.len -= etp_path_last(above).len;
        const char *relative = path + above.len;
        const char *dir =
            above.len > 1 ? etp_arena_strdup(arena, (etp_str){path, above.len - 1}) : ".";
        if (dir && folder_records(dir, relative, arena)) {
            return true;
        }
        above = etp_path_trimmed(above);
        if (above.len == 0 || etp_str_eqz(above, "/")) {
            return false;
        }
    }
    return false;
}

// Reports are computed from the manifest and say from which one, until blocks are added
// (etp_run_manifest_moves_on).
static etp_status check_reported(const etp_run *run, etp_arena *arena, bool *out, etp_error *err)
{
    etp_run_derived made;
    char hex[65];
    const char *dir = etp_arena_strdup(arena, run->dir);
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_MANIFEST));
    *out = true;
    etp_status st = etp_run_derived_read(dir, arena, &made, err);
    if (st != ETP_OK || made.manifest_sha256.len == 0) { // of no report 'verify' says so
        return st == ETP_CORRUPT ? ETP_OK : st;
    }
    ETP_TRY(etp_os_hash_file(path, hex, NULL, err));
    *out = etp_str_eqz(made.manifest_sha256, hex);
    return ETP_OK;
}

etp_status etp_run_altered(const etp_run *run, etp_arena *arena, const char **out, etp_error *err)
{
    const char *bad = NULL;
    etp_status st = etp_run_check_files(run, arena, &bad, err);
    bool reported = true;
    *out = NULL;
    if (st == ETP_NO) {
        *out = etp_arena_printf(arena,
                                "the folder is not what was recorded: %s does not have the hash in "
                                "the manifest; 'etprof verify' names all",
                                bad + run->dir.len + 1);
        return etp_arena_check(arena, err, "raw files");
    }
    ETP_TRY(st);
    ETP_TRY(check_reported(run, arena, &reported, err));
    if (!reported) {
        *out =
            "the folder is not what was recorded: manifest.json is not the one that derived.json "
            "names; 'etprof verify' names all";
    }
    return ETP_OK;
}
