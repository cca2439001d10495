// SPDX-License-Identifier: Apache-2.0
// Folders.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/path.h"
#include "os/posix/place.h"

// Folders of ours are a few levels deep. Each level of a walk holds an open folder and a piece of
// the stack, so what others made deeper is refused.
#define MAX_DEPTH 32

etp_status etp_os_mkdirs(const char *path, etp_error *err)
{
    ETP_NEED(path, err, "a path");
    etp_arena arena = {0};
    char *copy = etp_arena_strdup(&arena, etp_str_from(path));
    etp_status status = etp_arena_check(&arena, err, path);
    // The end of the text counts as a slash, so that the last folder is made by the same lines.
    for (size_t i = 1; status == ETP_OK && copy[i - 1]; i++) {
        if (copy[i] != '/' && copy[i] != '\0') {
            continue;
        }
        char kept = copy[i];
        copy[i] = '\0';
        // Another process may make the same folder meanwhile. That it is no file is seen at the
        // end.
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            bool last = kept == '\0';
            status = etp_fail_errno(err, ETP_IO, "cannot create folder %s%s%s", copy,
                                    etp_if(!last, " on the way to "), etp_if(!last, path));
        }
        copy[i] = kept;
    }
    if (status == ETP_OK && !etp_os_is_dir(path)) {
        status = etp_fail(err, ETP_IO, "cannot create folder %s: a file of that name exists", path);
    }
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_os_mkdir_new(const char *path, bool *taken, etp_error *err)
{
    *taken = false;
    ETP_NEED(path, err, "a path");
    if (mkdir(path, 0777) == 0) {
        return ETP_OK;
    }
    if (errno == EEXIST) {
        *taken = true;
        return ETP_OK;
    }
    return etp_fail_errno(err, ETP_IO, "cannot create folder %s", path);
}

etp_status etp_os_temp_dir(const char *root, const char *prefix, etp_arena *arena, const char **out,
                           etp_error *err)
{
    ETP_TRY(etp_os_mkdirs(root, err));
    char *path = etp_arena_printf(arena, "%s/%s-XXXXXX", root, prefix);
    ETP_NEED(path, err, root);
    if (!mkdtemp(path)) {
        return etp_fail_errno(err, ETP_IO, "cannot create a temporary folder in %s", root);
    }
    *out = path;
    return ETP_OK;
}

// readdir has an order of its own on each file system: sorted, a folder gives the same answer on
// all.
static int by_name(const void *a, const void *b)
{
    const etp_dir_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static etp_status list(const char *path, etp_arena *arena, etp_dir_list *out, etp_error *err)
{
    *out = (etp_dir_list){0};
    ETP_NEED(path, err, "a path");
    DIR *dir = opendir(path);
    if (!dir) {
        return etp_fail_errno(err, ETP_IO, "cannot open folder %s", path);
    }
    etp_status status = ETP_OK;
    for (;;) {
        errno = 0;
        const struct dirent *d = readdir(dir);
        if (!d) {
            if (errno != 0) {
                status = etp_fail_errno(err, ETP_IO, "cannot read folder %s", path);
            }
            break;
        }
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) {
            continue;
        }
        etp_dir_entry e = {.name = etp_arena_strdup(arena, etp_str_from(d->d_name))};
        struct stat st;
        // Twice for a link: what it is itself decides is_other, where it leads is_dir and size.
        bool known = fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        e.is_other = !known || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
        if (known && (!S_ISLNK(st.st_mode) || fstatat(dirfd(dir), d->d_name, &st, 0) == 0)) {
            e.is_dir = S_ISDIR(st.st_mode);
            e.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        }
        ETP_ADD(arena, out, e);
    }
    closedir(dir);
    if (status == ETP_OK) {
        status = etp_arena_check(arena, err, path);
    }
    if (status == ETP_OK && out->n > 1) {
        qsort(out->items, out->n, sizeof *out->items, by_name);
    }
    return status;
}

etp_status etp_os_list(const char *path, etp_arena *arena, etp_dir_list *out, etp_error *err)
{
    ETP_UNGUARDED(arena, list(path, arena, out, err));
}

static etp_status remove_at(int folder, const char *name, const char *shown, int depth,
                            etp_error *err);

// Everything in the folder FD, which is closed.
static etp_status empty_folder(int fd, const char *shown, int depth, etp_error *err)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        etp_status status = etp_fail_errno(err, ETP_IO, "cannot open folder %s", shown);
        close(fd);
        return status;
    }
    etp_status status = ETP_OK;
    const struct dirent *d;
    errno = 0;
    while (status == ETP_OK && (d = readdir(dir)) != NULL) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0) {
            etp_arena arena = {0};
            const char *path = etp_arena_printf(&arena, "%s/%s", shown, d->d_name);
            status = path ? remove_at(fd, d->d_name, path, depth + 1, err)
                          : etp_arena_check(&arena, err, shown);
            etp_arena_dispose(&arena);
        }
        errno = 0;
    }
    if (status == ETP_OK && errno != 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot read folder %s", shown);
    }
    closedir(dir);
    return status;
}

// A folder is entered by its descriptor and never through a link, whatever is put in its place
// meanwhile.
static etp_status remove_at(int folder, const char *name, const char *shown, int depth,
                            etp_error *err)
{
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? ETP_OK : etp_fail_errno(err, ETP_IO, "cannot remove %s", shown);
    }
    bool is_dir = S_ISDIR(st.st_mode);
    if (is_dir && depth == MAX_DEPTH) {
        return etp_fail(err, ETP_IO, "cannot remove %s: more than %d levels of folders", shown,
                        MAX_DEPTH);
    }
    if (is_dir) {
        int fd = etp_place_open(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (fd < 0) {
            return etp_fail_errno(err, ETP_IO, "cannot open folder %s", shown);
        }
        ETP_TRY(empty_folder(fd, shown, depth, err));
    }
    // What somebody else removed meanwhile is gone, as was asked.
    if (unlinkat(folder, name, is_dir ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT) {
        return etp_fail_errno(err, ETP_IO, "cannot remove %s", shown);
    }
    return ETP_OK;
}

etp_status etp_os_remove_tree(const char *path, etp_error *err)
{
    ETP_NEED(path, err, "a path");
    return remove_at(AT_FDCWD, path, path, 0, err);
}

etp_status etp_os_remove_below(const char *root, const char *relative, etp_error *err)
{
    etp_place p;
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_status status = etp_place_below(root, relative, false, &p, &why);
    if (status != ETP_OK) {
        // A folder on the way is missing, so what lies in it is absent too.
        if (why.os_errno == ENOENT) {
            return ETP_OK;
        }
        if (err) {
            *err = why;
        }
        return status;
    }
    status = remove_at(p.folder, p.name, p.shown, 0, err);
    etp_place_close(&p);
    return status;
}

etp_status etp_os_mkdirs_below(const char *root, const char *relative, etp_error *err)
{
    etp_arena arena = {0};
    etp_place p;
    // A name within it, so that the walk makes and checks all of RELATIVE.
    const char *inside = relative ? etp_arena_printf(&arena, "%s/x", relative) : NULL;
    etp_status status = etp_place_below(root, inside, true, &p, err);
    if (status == ETP_OK) {
        etp_place_close(&p);
    }
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_os_rmdir(const char *path, etp_error *err)
{
    if (rmdir(path) != 0) {
        return etp_fail_errno(err, ETP_IO, "cannot remove %s", path);
    }
    return ETP_OK;
}

// FROM is of our own making; ROOT/RELATIVE is not there.
static etp_status copy_tree(const char *from, const char *root, const char *relative, int depth,
                            etp_error *err)
{
    if (!etp_os_is_dir(from)) {
        etp_file file;
        ETP_TRY(etp_file_open(from, UINT64_MAX, &file, err));
        etp_str content = {(const char *)file.bytes.ptr, file.bytes.len};
        etp_status status = etp_os_write_below(root, relative, content, err);
        etp_file_close(&file);
        return status;
    }
    if (depth == MAX_DEPTH) {
        return etp_fail(err, ETP_IO, "cannot copy %s: more than %d levels of folders", from,
                        MAX_DEPTH);
    }
    etp_arena arena = {0};
    etp_dir_list list = {0};
    etp_status status = etp_os_mkdirs_below(root, relative, err);
    if (status == ETP_OK) {
        status = etp_os_list(from, &arena, &list, err);
    }
    for (size_t i = 0; status == ETP_OK && i < list.n; i++) {
        const char *a = etp_arena_printf(&arena, "%s/%s", from, list.items[i].name);
        const char *b = etp_arena_printf(&arena, "%s/%s", relative, list.items[i].name);
        status = etp_arena_check(&arena, err, from);
        if (status == ETP_OK) {
            status = copy_tree(a, root, b, depth + 1, err);
        }
    }
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_os_move_below(const char *from, const char *root, const char *relative,
                             etp_error *err)
{
    etp_place p;
    ETP_NEED(from, err, "a path");
    ETP_TRY(etp_place_below(root, relative, true, &p, err));
    // rename does not replace a folder that has something in it.
    etp_status status = remove_at(p.folder, p.name, p.shown, 0, err);
    bool copy = false;
    if (status == ETP_OK && renameat(AT_FDCWD, from, p.folder, p.name) != 0) {
        // Another file system. Permissions are not copied: what is moved here are results, not
        // programs.
        copy = errno == EXDEV;
        status = copy ? ETP_OK : etp_fail_errno(err, ETP_IO, "cannot move %s to %s", from, p.shown);
    }
    etp_place_close(&p);
    if (copy && status == ETP_OK) {
        ETP_TRY(copy_tree(from, root, relative, 0, err));
        return etp_os_remove_tree(from, err);
    }
    return status;
}

etp_status etp_os_move(const char *from, const char *to, etp_error *err)
{
    ETP_NEED(to, err, "a path");
    etp_arena arena = {0};
    etp_str folder = etp_path_folder(to);
    size_t start = folder.ptr ? folder.len + 1 : 0; // of the name; what is before keeps its '/'
    const char *parent = start ? etp_arena_strdup(&arena, (etp_str){to, start}) : ".";
    etp_status status = etp_os_move_below(from, parent, to + start, err);
    etp_arena_dispose(&arena);
    return status;
}
