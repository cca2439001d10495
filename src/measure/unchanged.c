// SPDX-License-Identifier: Apache-2.0
// Launches read model, weights, inputs and programs where they lie, again and again. A file that
// was replaced or written to meanwhile would give figures of two things under the name of one.
#include <string.h>

#include "base/sha256.h"
#include "measure/state.h"

static void watch(etp_session *s, const char *path, etp_os_mark mark)
{
    for (size_t i = 0; i < s->watched.n; i++) {
        if (strcmp(s->watched.items[i].path, path) == 0) {
            return;
        }
    }
    const etp_watched_file f = {path, mark};
    ETP_ADD(&s->arena, &s->watched, f);
}

void etp_session_watch(etp_session *s, const char *local, const char *there)
{
    // What was copied to a device does not change with the file here.
    const char *path = etp_os_absolute(local, &s->arena);
    if (!path || strcmp(path, there) != 0) {
        return;
    }
    for (size_t i = 0; i < s->plan->n_models; i++) {
        if (strcmp(path, s->plan->model_paths[i]) == 0) { // as it was when it was hashed
            watch(s, path, s->plan->model_marks[i]);
            return;
        }
    }
    watch(s, path, etp_os_mark_of(path));
}

static void watch_folder(etp_session *s, const char *dir)
{
    etp_dir_list list;
    if (etp_os_list(dir, &s->arena, &list, NULL) != ETP_OK) {
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *path = etp_arena_printf(&s->arena, "%s/%s", dir, list.items[i].name);
        if (path && !list.items[i].is_dir) {
            watch(s, path, etp_os_mark_of(path));
        }
    }
}

void etp_session_watch_bundle(etp_session *s, const etp_bundle *bundle)
{
    if (!s->device->info.local_pid && !s->device->info.emulated) {
        return; // it was sent there
    }
    if (bundle->runner) {
        watch(s, bundle->runner, etp_os_mark_of(bundle->runner));
    }
    if (bundle->sdk_digest && bundle->sdk_digest[0]) { // libraries lie beside it
        watch_folder(s, bundle->dir);
    }
}

// Its times may be set back, its inode's may not: one that has a new one for another reason (a link
// more, other rights) has the same content.
static bool same(const etp_os_mark *a, const etp_os_mark *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_ns == b->modified_ns;
}

static bool has_hash_of(const etp_session *s, const char *path)
{
    for (size_t i = 0; i < s->plan->n_models; i++) {
        if (strcmp(path, s->plan->model_paths[i]) == 0) {
            char hex[ETP_SHA256_HEX_CHARS];
            uint64_t bytes;
            return etp_run_hash_file(path, hex, &bytes, NULL) == ETP_OK &&
                   etp_str_eqz(s->plan->models[i].sha256, hex);
        }
    }
    return true;
}

etp_status etp_session_unchanged(etp_session *s, etp_error *err)
{
    for (size_t i = 0; i < s->watched.n; i++) {
        etp_watched_file *f = &s->watched.items[i];
        const etp_os_mark now = etp_os_mark_of(f->path);
        bool touched = now.changed_ns != f->mark.changed_ns;
        if (!same(&now, &f->mark) || (touched && !has_hash_of(s, f->path))) {
            return etp_fail(err, ETP_ENVIRONMENT,
                            "%s was %s while it was measured: what this block measured is not "
                            "kept; leave it alone until the session ends",
                            f->path, now.inode == 0 ? "removed" : "replaced or written to");
        }
        f->mark = now;
    }
    return ETP_OK;
}
