// SPDX-License-Identifier: Apache-2.0
// Launches read model, weights, inputs and programs where they lie, again and again. A file that
// was replaced or written to meanwhile would give figures of two things under the name of one.
#include <string.h>

#include "base/path.h"
#include "base/sha256.h"
#include "measure/foreign.h"
#include "measure/state.h"

static bool is_watched(const etp_session *s, etp_str place)
{
    for (size_t i = 0; i < s->places.n; i++) {
        if (etp_str_eqz(place, s->places.items[i].path)) {
            return true;
        }
    }
    return false;
}

static void watch(etp_session *s, const char *path)
{
    for (size_t i = 0; i < s->watched.n; i++) {
        if (strcmp(s->watched.items[i].path, path) == 0) {
            return;
        }
    }
    // A folder that is moved takes what is in it along, and what is put in its place has files of
    // the same names; neither changes the files themselves.
    for (etp_str place = etp_str_from(path); place.len > 0 && !is_watched(s, place);
         place = etp_path_above(place, 1)) {
        etp_watched_place f = {.path = etp_arena_strdup(&s->arena, place)};
        f.number = f.path ? etp_os_moves_add(&s->moves, f.path) : -1;
        if (f.number < 0) {
            etp_session_note(
                s, ETP_NOTE_NOT_WATCHED,
                "this system does not tell of moves here: a file that was swapped and back within "
                "a block is noticed only where a launch that did so has mapped it");
        }
        ETP_ADD(&s->arena, &s->places, f);
    }
    const etp_planned_file *known = NULL;
    for (size_t i = 0; i < s->plan->files.n && !known; i++) {
        const etp_planned_file *file = &s->plan->files.items[i];
        known = strcmp(path, file->path) == 0 ? file : NULL;
    }
    etp_watched_file f = {path,
                          known ? known->mark : etp_os_mark_of(path),
                          {0},
                          ETP_NEW_ARRAY(&s->arena, etp_mapped, s->plan->n_arms)};
    char hex[ETP_SHA256_HEX_CHARS] = "";
    // What cannot be read has no hash that it could have later.
    if (known || etp_os_hash_file(path, hex, NULL, NULL) == ETP_OK) {
        memcpy(f.sha256, known ? known->sha256 : hex, sizeof f.sha256);
    }
    ETP_ADD(&s->arena, &s->watched, f);
}

void etp_session_watch(etp_session *s, const char *local, const char *there)
{
    // What was copied to a device does not change with the file here.
    const char *path = etp_os_absolute(local, &s->arena);
    if (path && strcmp(path, there) == 0) {
        watch(s, path);
    }
}

etp_status etp_session_watch_needed(etp_session *s, const char *path, etp_error *err)
{
    const char *const *libraries = NULL;
    size_t n = 0;
    ETP_TRY(etp_foreign_libraries(path, &s->arena, &libraries, &n, err));
    for (size_t i = 0; i < n; i++) {
        etp_session_watch(s, libraries[i], libraries[i]);
    }
    return ETP_OK;
}

static etp_status not_kept(const char *path, const char *was, etp_error *err)
{
    return etp_fail(err, ETP_ENVIRONMENT,
                    "%s was %s while it was measured: what this block measured is not kept; leave "
                    "it alone until the session ends",
                    path, was);
}

static etp_status replaced(const char *path, bool removed, etp_error *err)
{
    return not_kept(path, removed ? "removed" : "replaced or written to", err);
}

// Runners map their model, weights and libraries, and are mapped themselves. A launch that has not
// mapped what others of its arm have had another file, by whatever way its name led there. Of the
// model that is known without others.
void etp_session_before_end(void *session, const etp_planned_arm *arm, int64_t pid)
{
    etp_session *s = session;
    size_t at = (size_t)(arm - s->plan->arms);
    etp_arena arena = {0};
    etp_str maps = etp_process_maps_read(pid, &arena);
    for (size_t i = 0; i < s->watched.n && maps.len > 0; i++) {
        const etp_watched_file *f = &s->watched.items[i];
        bool maps_it = etp_process_maps_have(maps, &f->mark);
        bool must =
            !maps_it && strcmp(f->path, s->arms[at].model) == 0 && etp_process_maps_tell(f->path);
        f->mapped[at].by_some = f->mapped[at].by_some || maps_it || must;
        f->mapped[at].not_by_all = f->mapped[at].not_by_all || !maps_it;
    }
    etp_arena_dispose(&arena);
}

etp_status etp_session_watch_bundle(etp_session *s, const etp_bundle *bundle, etp_str hash,
                                    etp_error *err)
{
    etp_bundle_files files;
    if ((!s->device->info.local_pid && !s->device->info.emulated) || !bundle->runner) {
        return ETP_OK; // it was sent there
    }
    watch(s, bundle->runner);
    ETP_TRY(etp_session_watch_needed(s, bundle->runner, err));
    ETP_TRY(etp_bundle_list(bundle, &s->arena, &files, err)); // libraries lie beside it
    for (size_t i = 0; i < files.n; i++) {
        if (!files.items[i].is_dir) {
            watch(s, files.items[i].path);
        }
    }
    // From here on HASH, which is in the manifest, is held by what is watched.
    const char *now = NULL;
    char runner[ETP_SHA256_HEX_CHARS];
    ETP_TRY(etp_os_hash_file(bundle->runner, runner, NULL, err));
    ETP_TRY(etp_bundle_hash(bundle, &s->arena, &now, err));
    bool same = strcmp(runner, bundle->runner_sha256) == 0;
    return same && (hash.len == 0 || etp_str_eqz(hash, now)) ? ETP_OK
                                                             : replaced(bundle->runner, false, err);
}

etp_status etp_session_watch_foreign(etp_session *s, const etp_foreign *foreign, etp_error *err)
{
    ETP_TRY(etp_session_watch_needed(s, foreign->path, err));
    etp_foreign now;
    ETP_TRY(etp_foreign_inspect(foreign->path, s->plan->settings.tokenizer != NULL, &s->arena, &now,
                                err));
    return strcmp(now.sha256, foreign->sha256) == 0 ? ETP_OK : replaced(foreign->path, false, err);
}

// Its times may be set back, its inode's may not. One that has a new one for a reason that is seen
// (a link more, other rights) has the same content; else it was moved away, and back.
static bool same(const etp_os_mark *a, const etp_os_mark *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_ns == b->modified_ns;
}

static etp_status is_still(const char *path, etp_os_mark *mark, const char *sha256, etp_error *err)
{
    const etp_os_mark now = etp_os_mark_of(path);
    bool touched = now.changed_ns != mark->changed_ns;
    bool seen = now.links != mark->links || now.rights != mark->rights;
    char hex[ETP_SHA256_HEX_CHARS];
    if (!same(&now, mark) ||
        (touched && !(seen && etp_os_hash_file(path, hex, NULL, NULL) == ETP_OK &&
                      strcmp(sha256, hex) == 0))) {
        return replaced(path, now.inode == 0, err);
    }
    *mark = now;
    return ETP_OK;
}

etp_status etp_session_as_planned(const etp_session *s, etp_error *err)
{
    for (size_t i = 0; i < s->plan->files.n; i++) {
        const etp_planned_file *f = &s->plan->files.items[i];
        etp_os_mark mark = f->mark;
        ETP_TRY(is_still(f->path, &mark, f->sha256, err));
    }
    return ETP_OK;
}

etp_status etp_session_unchanged(etp_session *s, etp_error *err)
{
    for (size_t i = 0; i < s->watched.n; i++) {
        etp_watched_file *f = &s->watched.items[i];
        ETP_TRY(is_still(f->path, &f->mark, f->sha256, err));
    }
    for (size_t i = 0; i < s->watched.n; i++) {
        for (uint32_t k = 0; k < s->plan->n_arms; k++) {
            const etp_mapped *m = &s->watched.items[i].mapped[k];
            if (m->by_some && m->not_by_all) {
                return replaced(s->watched.items[i].path, false, err);
            }
        }
    }
    int number = etp_os_moves_next(&s->moves);
    for (size_t i = 0; number >= 0 && i < s->places.n; i++) {
        if (s->places.items[i].number == number) {
            return not_kept(s->places.items[i].path, "moved, removed or written to", err);
        }
    }
    return ETP_OK;
}
