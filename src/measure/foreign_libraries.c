// SPDX-License-Identifier: Apache-2.0
// The shared libraries that somebody else's runner brings: found where it says (RPATH, RUNPATH), or
// beside it. Those of the system are not its build.
#include "base/path.h"
#include "binary/image.h"
#include "measure/foreign.h"

#define FILE_LIMIT ((uint64_t)2 << 30)
#define MAX_LIBRARIES 64
#define ENTRY_BYTES 16

// Entries of ".dynamic" in a 64-bit ELF: a tag and a value of 8 bytes each; of these tags the value
// is an offset into ".dynstr".
enum { TAG_NEEDED = 1, TAG_RPATH = 15, TAG_RUNPATH = 29 };

typedef struct library {
    const char *path; // canonical
    etp_str folder;   // of it
} library;

typedef struct search {
    etp_arena *arena;
    library found[MAX_LIBRARIES + 1]; // the runner first
    size_t n;
    const char *paths; // of the runner, which its libraries are searched in as well
} search;

// A library of the system belongs to the machine: two builds share it, and it says nothing of
// either.
static bool is_system(const char *path)
{
    static const char *const k_roots[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    for (size_t i = 0; i < sizeof k_roots / sizeof *k_roots; i++) {
        if (strncmp(path, k_roots[i], strlen(k_roots[i])) == 0) {
            return true;
        }
    }
    return false;
}

// NAME in one of PATHS, which are separated by ':'; NULL: in none.
static const char *find_in(search *s, const char *paths, etp_str origin, etp_str name)
{
    for (const char *p = paths; p && *p;) {
        size_t n = strcspn(p, ":");
        etp_str folder = {p, n};
        // The loader puts the folder of the file that names the path there.
        static const char *const k_origins[] = {"$ORIGIN", "${ORIGIN}"};
        etp_str before = {"", 0};
        for (size_t i = 0; i < sizeof k_origins / sizeof *k_origins; i++) {
            size_t len = strlen(k_origins[i]);
            if (n >= len && memcmp(p, k_origins[i], len) == 0) {
                before = origin;
                folder = (etp_str){p + len, n - len};
            }
        }
        p += n + (p[n] == ':');
        const char *path = etp_arena_printf(s->arena, "%.*s%.*s/%.*s", (int)before.len, before.ptr,
                                            (int)folder.len, folder.ptr, (int)name.len, name.ptr);
        if (etp_os_is_file(path)) {
            return path;
        }
    }
    return NULL;
}

static void add(search *s, const char *path)
{
    const char *full = etp_os_absolute(path, s->arena);
    // The bound ends a file that was made to lead on and on.
    if (!full || is_system(full) || s->n > MAX_LIBRARIES) {
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->found[i].path, full) == 0) {
            return;
        }
    }
    s->found[s->n++] = (library){.path = full, .folder = etp_path_folder(full)};
}

typedef struct dynamic {
    etp_bytes entries, names;
} dynamic;

// The text of entry I when it has TAG.
static bool text_at(const dynamic *d, size_t i, uint64_t tag, etp_str *out)
{
    const uint8_t *entry = d->entries.ptr + i * ENTRY_BYTES;
    uint64_t at = etp_load_u64(entry + 8);
    if (etp_load_u64(entry) != tag || at >= d->names.len) {
        return false;
    }
    const char *text = (const char *)d->names.ptr + at;
    *out = (etp_str){text, strnlen(text, (size_t)(d->names.len - at))};
    return true;
}

// Adds what library I of S needs.
static void follow(search *s, size_t i)
{
    etp_file file;
    if (etp_file_open(s->found[i].path, FILE_LIMIT, &file, NULL) != ETP_OK) {
        return;
    }
    etp_image *image = NULL;
    etp_arena scratch = {0};
    dynamic d = {0};
    if (etp_image_open_tables(file.bytes, &scratch, &image, NULL) == ETP_OK) {
        d = (dynamic){etp_image_section(image, ".dynamic"), etp_image_section(image, ".dynstr")};
    }
    const size_t n = (size_t)(d.entries.len / ENTRY_BYTES);
    const char *own = NULL;
    etp_str text;
    for (size_t k = 0; k < n; k++) {
        if (text_at(&d, k, TAG_RUNPATH, &text) || text_at(&d, k, TAG_RPATH, &text)) {
            own = etp_arena_strdup(s->arena, text);
        }
    }
    // RPATH of the program holds for its libraries as well; RUNPATH does not, but taking it too
    // finds at most a library more.
    s->paths = i == 0 ? own : s->paths;
    const library *at = &s->found[i];
    for (size_t k = 0; k < n; k++) {
        if (text_at(&d, k, TAG_NEEDED, &text) && text.len > 0) {
            const char *path = find_in(s, own, at->folder, text);
            path = path ? path : find_in(s, s->paths, s->found[0].folder, text);
            add(s, path ? path : find_in(s, "$ORIGIN", s->found[0].folder, text));
        }
    }
    etp_arena_dispose(&scratch);
    etp_file_close(&file);
}

etp_status etp_foreign_libraries(const char *path, etp_arena *arena, const char *const **out,
                                 size_t *n, etp_error *err)
{
    search *s = ETP_NEW(arena, search);
    ETP_NEED(s, err, path);
    *s = (search){
        .arena = arena, .n = 1, .found[0] = {.path = path, .folder = etp_path_folder(path)}
    };
    for (size_t i = 0; i < s->n; i++) {
        follow(s, i);
    }
    *n = s->n - 1;
    const char **paths = ETP_NEW_ARRAY(arena, const char *, s->n);
    ETP_NEED(paths, err, path); // nor if one of them could not be named
    for (size_t i = 0; i < *n; i++) {
        paths[i] = s->found[i + 1].path;
    }
    *out = paths;
    return ETP_OK;
}
