// SPDX-License-Identifier: Apache-2.0
// The runner bundle of a target: where it is, how it is started, what is in it.
#include "base/json_read.h"
#include "base/path.h"
#include "base/sha256.h"
#include "device/internal.h"

#define BUNDLE_FILE "bundle.json"
#define BUNDLE_LIMIT ((size_t)1 << 20)
#define MAX_START 16

static etp_status open_program(const char *path, etp_arena *arena, etp_bundle *out, etp_error *err)
{
    out->runner = etp_os_absolute(path, arena);
    etp_str dir = etp_path_above(etp_str_from(ETP_OR(out->runner, path)), 1);
    out->dir = etp_arena_strdup(arena, dir.len ? dir : ETP_STR("/"));
    const char **start = ETP_NEW_ARRAY(arena, const char *, 2);
    ETP_NEED(out->runner && out->dir && start, err, "the runner");
    start[0] = out->runner;
    out->start = start;
    out->sdk_version = out->sdk_sha = out->sdk_digest = out->wheel_sha256 = "";
    if (!etp_os_is_executable(out->runner)) {
        return etp_fail(err, ETP_ENVIRONMENT, "runner %s is not executable", out->runner);
    }
    return etp_os_hash_file(out->runner, out->runner_sha256, NULL, err);
}

static const char *text_member(const json_t *object, const char *key, etp_arena *arena)
{
    const char *z = json_string_value(json_object_get(object, key));
    const char *copy = etp_arena_strdup(arena, etp_str_from(ETP_OR(z, "")));
    return ETP_OR(copy, "");
}

// The one that FILES have of the runner, NULL: none.
static const char *runner_hash(const json_t *files, const etp_bundle *b)
{
    etp_str name = etp_path_last(etp_str_from(ETP_OR(b->runner, "")));
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        const char *path = json_string_value(json_object_get(file, "path"));
        if (path && etp_str_eqz(name, path)) {
            return json_string_value(json_object_get(file, "sha256"));
        }
    }
    return NULL;
}

// A bundle for an older system starts with its own loader and names the runner last; one word alone
// is a runner that takes the system's C library.
static etp_status read_start(const json_t *root, etp_arena *arena, etp_bundle *out, etp_error *err)
{
    const json_t *list = json_object_get(root, "start");
    size_t n = json_array_size(list);
    const char **start = ETP_NEW_ARRAY(arena, const char *, n + 1);
    ETP_NEED(start, err, BUNDLE_FILE);
    if (n == 0 || n > MAX_START) {
        return etp_fail(err, ETP_ENVIRONMENT, "\"start\" is not a command line");
    }
    for (size_t i = 0; i < n; i++) {
        const char *z = json_string_value(json_array_get(list, i));
        if (!z) {
            return etp_fail(err, ETP_ENVIRONMENT, "\"start\" is not a command line");
        }
        start[i] = etp_arena_strdup(arena, etp_str_from(z));
    }
    ETP_TRY(etp_arena_check(arena, err, BUNDLE_FILE)); // a NULL would cut the command short
    out->start = start;
    out->own_libraries = n > 1;
    const char *last = start[n - 1], *below = strncmp(last, "./", 2) == 0 ? last + 2 : last;
    out->runner = last[0] == '/' ? last : etp_arena_printf(arena, "%s/%s", out->dir, below);
    return ETP_OK;
}

// A runner built with the NDK, for the phone that would also take the bundle with its own C
// library.
static bool is_android_for(const char *theirs, const char *triple)
{
    return strcmp(theirs, "aarch64-linux-android") == 0 && strcmp(triple, "aarch64-linux-gnu") == 0;
}

static etp_status open_folder(const char *dir, const char *triple, etp_arena *arena,
                              etp_bundle *out, etp_error *err)
{
    out->dir = etp_os_absolute(dir, arena);
    const char *path = etp_arena_printf(arena, "%s/" BUNDLE_FILE, dir);
    etp_str text;
    ETP_TRY(etp_os_read_text(path, BUNDLE_LIMIT, arena, &text, err));
    json_t *root = NULL;
    etp_error why;
    if (etp_json_read(text, &root, &why) != ETP_OK) {
        return etp_fail(err, ETP_ENVIRONMENT, "%s %s", path, why.msg);
    }
    const char *schema = text_member(root, "schema", arena);
    const char *theirs = text_member(root, "triple", arena);
    const json_t *sdk = json_object_get(root, "executorch");
    out->sdk_version = text_member(sdk, "version", arena);
    out->sdk_sha = text_member(sdk, "sha", arena);
    // One hash over the hashes of the files: names this SDK in this bundle.
    const json_t *files = json_object_get(root, "files");
    etp_sha256 h;
    char hex[ETP_SHA256_HEX_CHARS];
    etp_sha256_init(&h);
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *z = json_string_value(json_object_get(json_array_get(files, i), "sha256"));
        etp_sha256_update(&h, ETP_OR(z, ""), z ? strlen(z) : 0);
    }
    etp_sha256_hex(&h, hex);
    out->sdk_digest = etp_arena_strdup(arena, etp_str_from(hex));
    out->wheel_sha256 = text_member(json_object_get(root, "wheel"), "sha256", arena);
    out->python = json_is_true(json_object_get(root, "python"));
    out->no_tracer = json_is_false(json_object_get(root, "tracer"));
    etp_status status = etp_arena_check(arena, err, BUNDLE_FILE);
    if (status != ETP_OK) { // its members are not what they say
    } else if (strcmp(schema, "etprof.bundle/1") != 0) {
        status = etp_fail(err, ETP_ENVIRONMENT, "schema is \"%s\", not etprof.bundle/1", schema);
    } else if (triple && strcmp(theirs, triple) != 0 && !is_android_for(theirs, triple)) {
        status = etp_fail(err, ETP_ENVIRONMENT, "the bundle is for %s, the device needs %s", theirs,
                          triple);
    } else {
        status = read_start(root, arena, out, err);
    }
    if (status != ETP_OK) {
        json_decref(root);
        return etp_fail_ctx(err, "%s", path);
    }
    status = etp_os_hash_file(out->runner, out->runner_sha256, NULL, err);
    const char *hash = runner_hash(json_object_get(root, "files"), out);
    out->altered = status == ETP_OK && hash && strcmp(hash, out->runner_sha256) != 0;
    json_decref(root);
    return status;
}

static bool has_bundle(const char *dir, etp_arena *arena)
{
    return dir && etp_os_is_file(etp_arena_printf(arena, "%s/" BUNDLE_FILE, dir));
}

const char *etp_bundle_beside(const char *program, const char *triple, etp_arena *arena)
{
    const char *exe = etp_os_absolute(program, arena);
    if (!exe) {
        return NULL;
    }
    // Installed it is PREFIX/bin/etprof, in a work tree TREE/build/NAME/bin/etprof.
    etp_str prefix = etp_path_above(etp_str_from(exe), 2);
    etp_str build = etp_path_above(etp_str_from(exe), 3);
    const char *installed =
        etp_arena_printf(arena, "%.*s/libexec/etprof/%s", ETP_STR_ARG(prefix), triple);
    const char *built = etp_arena_printf(arena, "%.*s/bundle/%s", ETP_STR_ARG(build), triple);
    if (has_bundle(installed, arena)) {
        return installed;
    }
    return etp_z_if(has_bundle(built, arena), built);
}

const char *etp_bundle_advice(const char *triple, etp_arena *arena)
{
    return etp_arena_printf(arena,
                            "build it with scripts/build-runner %s, or name one with --runner or "
                            "ETPROF_RUNNER",
                            triple);
}

etp_status etp_bundle_find(const char *runner, const char *program, const char *triple,
                           etp_arena *arena, etp_bundle *out, etp_error *err)
{
    *out = (etp_bundle){0};
    if (runner) {
        if (etp_os_is_dir(runner)) {
            return open_folder(runner, triple, arena, out, err);
        }
        if (!etp_os_is_file(runner)) {
            return etp_os_fail_absent("runner", runner, ETP_ENVIRONMENT, err);
        }
        const char *real = etp_os_absolute(runner, arena);
        // Who names the program of a bundle means the bundle: without its libraries it would not
        // start.
        const char *dir =
            real ? etp_arena_strdup(arena, etp_path_above(etp_str_from(real), 1)) : NULL;
        return has_bundle(dir, arena) ? open_folder(dir, triple, arena, out, err)
                                      : open_program(runner, arena, out, err);
    }
    const char *beside = etp_bundle_beside(program, triple, arena);
    if (beside) {
        return open_folder(beside, triple, arena, out, err);
    }
    ETP_TRY(etp_arena_check(arena, err, "the runner")); // places that could not be named
    return etp_fail(err, ETP_ENVIRONMENT, "no runner for %s: %s", triple,
                    etp_bundle_advice(triple, arena));
}

static etp_status list_folder(const char *folder, int depth, etp_arena *arena,
                              etp_bundle_files *out, etp_error *err)
{
    etp_dir_list list;
    ETP_TRY(etp_os_list(folder, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const char *name = list.items[i].name;
        const etp_bundle_file f = {.path = etp_arena_printf(arena, "%s/%s", folder, name),
                                   .name = name,
                                   .is_dir = list.items[i].is_dir};
        ETP_NEED(f.path, err, "the bundle");
        // Notes of whoever made the bundle, and what is measured with it into it.
        bool other =
            name[0] == '.' ||
            (f.is_dir && etp_os_is_file(etp_arena_printf(arena, "%s/manifest.json", f.path)));
        if (other) {
            continue;
        }
        ETP_ADD(arena, out, f);
        if (f.is_dir && depth > 0) {
            ETP_TRY(list_folder(f.path, depth - 1, arena, out, err));
        }
    }
    return etp_arena_check(arena, err, "the bundle");
}

etp_status etp_bundle_list(const etp_bundle *b, etp_arena *arena, etp_bundle_files *out,
                           etp_error *err)
{
    *out = (etp_bundle_files){0};
    bool bare = !b->sdk_digest || b->sdk_digest[0] == '\0';
    return bare ? ETP_OK : list_folder(b->dir, 3, arena, out, err);
}

etp_status etp_bundle_hash(const etp_bundle *b, etp_arena *arena, const char **out, etp_error *err)
{
    etp_bundle_files files;
    ETP_TRY(etp_bundle_list(b, arena, &files, err));
    etp_sha256 h;
    etp_sha256_init(&h);
    for (size_t i = 0; i < files.n; i++) {
        const etp_bundle_file *f = &files.items[i];
        etp_sha256_update(&h, f->name, strlen(f->name) + 1);
        if (!f->is_dir) {
            etp_file file;
            ETP_TRY(etp_file_open(f->path, UINT64_MAX, &file, err));
            etp_sha256_update(&h, file.bytes.ptr, file.bytes.len);
            etp_file_close(&file);
        }
    }
    char hex[ETP_SHA256_HEX_CHARS];
    etp_sha256_hex(&h, hex);
    *out = files.n > 0 ? etp_arena_strdup(arena, etp_str_from(hex)) : b->runner_sha256;
    return etp_arena_check(arena, err, "the bundle");
}
