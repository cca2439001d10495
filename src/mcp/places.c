// SPDX-License-Identifier: Apache-2.0
// Which folders may be touched.
#include "mcp/server.h"

#include <string.h>

#include "base/path.h"

// A prefix that ends where a name ends: "/work" holds "/work/x" and not "/workshop".
static bool below(const char *path, const char *root)
{
    size_t n = strlen(root);
    return strncmp(path, root, n) == 0 &&
           (path[n] == '\0' || path[n] == '/' || (n > 0 && root[n - 1] == '/'));
}

const char *const *etp_mcp_roots(const etp_mcp *s, size_t *n)
{
    // --root wins over the client, who could otherwise widen what its user fixed; without either it
    // is the working directory.
    *n = s->options.n_roots ? s->options.n_roots : s->n_roots ? s->n_roots : 1;
    return s->options.n_roots ? s->options.roots
           : s->n_roots       ? (const char *const *)s->roots
                              : &s->options.folder;
}

bool etp_mcp_allowed(const etp_mcp *s, const char *path, etp_arena *arena)
{
    size_t n;
    const char *const *roots = etp_mcp_roots(s, &n);
    for (size_t i = 0; i < n; i++) {
        // The roots themselves may be named through links, while PATH has none left.
        const char *root = roots[i] ? etp_os_absolute(roots[i], arena) : NULL;
        if (root && below(path, root)) {
            return true;
        }
    }
    return false;
}

static etp_status outside(const etp_mcp_room *room, const char *path, etp_error *err)
{
    size_t n;
    const char *const *roots = etp_mcp_roots(room->server, &n);
    const char *root = etp_os_absolute(roots[0], room->arena);
    return etp_fail(err, ETP_USAGE,
                    "%.200s lies outside the folders that this server may touch; give an absolute "
                    "path below %.200s%s",
                    path, root ? root : roots[0], n > 1 ? " or another of the roots" : "");
}

// What is not there yet is judged by its folder; DIR:ARM, an arm of a run, by where DIR leads. A
// link to nothing would be followed by who makes it.
static etp_status absent(const etp_mcp_room *room, const char *path, const char *place,
                         const char **out, etp_error *err)
{
    etp_arena *arena = room->arena;
    etp_str folder = etp_path_folder(place);
    const char *name = place + folder.len + 1, *colon = strrchr(place, ':');
    const char *above = folder.len ? etp_arena_strdup(arena, folder) : "/";
    const char *dir =
        colon ? etp_arena_strdup(arena, (etp_str){place, (size_t)(colon - place)}) : "";
    ETP_TRY(etp_arena_check(arena, err, "path"));
    const char *run = dir[0] ? etp_os_absolute(dir, arena) : NULL;
    const char *known = etp_os_absolute(above, arena);
    // The verb splits a path that is not there at its last colon. Where that stands in a folder's
    // name, the verb would read what lies before it, and this judged what lies above NAME.
    if (run && colon < name) {
        return outside(room, path, err);
    }
    if (!known || !name[0] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        etp_os_is_other(place)) {
        return etp_fail(err, ETP_USAGE, "%.200s: no such file or folder", path);
    }
    *out = run ? etp_arena_printf(arena, "%s%s", run, colon)
               : etp_arena_printf(arena, "%s/%s", known, name);
    return etp_arena_check(arena, err, "path");
}

// What verbs read beside a program without being told: a link there would lead anywhere.
static etp_status check_beside(const etp_mcp_room *room, const char *program, etp_error *err)
{
    static const char *const k_ends[] = {".etrecord", ".inputs"};
    const etp_str path = etp_str_from(program);
    if (!etp_str_ends(path, ETP_STR(".pte"))) {
        return ETP_OK;
    }
    for (size_t i = 0; i < 2 * sizeof k_ends / sizeof *k_ends; i++) {
        int n = (int)path.len - (i % 2 ? 4 : 0); // model.pte.etrecord, model.etrecord
        const char *beside = etp_arena_printf(room->arena, "%.*s%s", n, program, k_ends[i / 2]);
        ETP_NEED(beside, err, "path");
        const char *real = etp_os_absolute(beside, room->arena);
        if (real && !etp_mcp_allowed(room->server, real, room->arena)) {
            return outside(room, beside, err);
        }
    }
    return ETP_OK;
}

// Otherwise a link inside a root would lead anywhere.
// Links are followed before it is judged.
etp_status etp_mcp_inside(void *ctx, const char *path, const char **out, etp_error *err)
{
    const etp_mcp_room *room = ctx;
    etp_arena *arena = room->arena;
    const char *place = path;
    if (path[0] != '/') {
        place = etp_arena_printf(arena, "%s/%s", room->server->options.folder, path);
        ETP_TRY(etp_arena_check(arena, err, "path"));
    }
    const char *absolute = etp_os_absolute(place, arena);
    if (!absolute) {
        ETP_TRY(absent(room, path, place, &absolute, err));
    }
    if (!etp_mcp_allowed(room->server, absolute, arena)) {
        return outside(room, path, err);
    }
    *out = absolute;
    return check_beside(room, absolute, err);
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

const char *etp_mcp_decoded(etp_arena *arena, const char *text)
{
    size_t n = strlen(text), k = 0;
    char *out = etp_arena_alloc(arena, n + 1);
    for (size_t i = 0; out && i < n; i++) {
        if (text[i] == '%') {
            // Two digits must follow; a zero byte would end the path before what was judged.
            int high = i + 2 < n + 1 ? hex(text[i + 1]) : -1,
                low = high >= 0 ? hex(text[i + 2]) : -1;
            if (low < 0 || high * 16 + low == 0) {
                return NULL;
            }
            out[k++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[k++] = text[i];
        }
    }
    return out;
}

const char *etp_mcp_encoded(etp_arena *arena, const char *path)
{
    static const char k_plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-._~/",
                      k_hex[] = "0123456789ABCDEF";
    char *out = etp_arena_alloc(arena, 3 * strlen(path) + 1);
    for (size_t k = 0; out && *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (strchr(k_plain, c)) {
            out[k++] = *path;
        } else {
            out[k++] = '%';
            out[k++] = k_hex[c >> 4];
            out[k++] = k_hex[c & 15];
        }
    }
    return out;
}

void etp_mcp_take_roots(etp_mcp *s, const json_t *result)
{
    const json_t *roots = json_object_get(result, "roots");
    etp_arena arena = {0};
    size_t n = json_is_array(roots) ? json_array_size(roots) : 0, k = 0;
    const char **paths = ETP_NEW_ARRAY(&arena, const char *, n);
    // Only folders of this machine can be roots: a URI with a host, or of another scheme, is passed
    // over.
    for (size_t i = 0; paths && i < n && i < 64; i++) {
        const char *uri = json_string_value(json_object_get(json_array_get(roots, i), "uri"));
        if (uri && strncmp(uri, "file:///", 8) == 0) {
            const char *path = etp_mcp_decoded(&arena, uri + 7);
            if (path) {
                paths[k++] = path;
            }
        }
    }
    // None that can be understood: nothing is allowed, rather than more than was meant.
    static const char *const k_nothing[] = {"/nonexistent"};
    etp_arena_dispose(&s->roots_arena);
    s->roots_arena = arena;
    s->roots = paths;
    s->n_roots = k;
    if (k == 0 && paths && n > 0) {
        paths[0] = k_nothing[0];
        s->n_roots = 1;
    }
}
