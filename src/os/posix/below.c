// SPDX-License-Identifier: Apache-2.0
// Files below a folder: no link on the way is followed.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/posix/place.h"

// Goes one folder down.
static etp_status enter(etp_place *p, const char *part, bool make, etp_error *err)
{
    if (make && mkdirat(p->folder, part, 0777) != 0 && errno != EEXIST) {
        return etp_fail_errno(err, ETP_IO, "cannot create folder %s on the way to %s", part,
                              p->shown);
    }
    int fd = etp_place_open(p->folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s: %s is a link or no folder, and nothing is written through it: remove "
                        "it, or put the folder itself there",
                        p->shown, part);
    }
    if (fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot open folder %s on the way to %s", part,
                              p->shown);
    }
    close(p->folder);
    p->folder = fd;
    return ETP_OK;
}

// Relative paths come from manifests too: no part of one may lead out of the folder.
static bool plain_part(const char *part)
{
    return part[0] && strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
}

// Cuts RELATIVE at its slashes; the last part becomes the name.
static etp_status walk(etp_place *p, char *relative, bool make, etp_error *err)
{
    for (char *slash; (slash = strchr(relative, '/')) != NULL; relative = slash + 1) {
        *slash = '\0';
        if (!plain_part(relative)) {
            break;
        }
        ETP_TRY(enter(p, relative, make, err));
    }
    if (!plain_part(relative)) {
        return etp_fail(err, ETP_INTERNAL, "%s is not a place below a folder", p->shown);
    }
    p->name = relative;
    return ETP_OK;
}

etp_status etp_place_below(const char *root, const char *relative, bool make, etp_place *out,
                           etp_error *err)
{
    out->folder = -1;
    ETP_NEED(root && relative, err, "a path");
    out->shown = out->whole;
    int n = snprintf(out->whole, sizeof out->whole, "%s/%s", root, relative);
    etp_status status = ETP_OK;
    if (n < 0 || (size_t)n >= sizeof out->whole) { // then RELATIVE fits as well
        errno = ENAMETOOLONG;
        status = etp_fail_errno(err, ETP_IO, "%s", root);
    } else if ((out->folder = etp_place_open(AT_FDCWD, root, O_RDONLY | O_DIRECTORY)) < 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot open folder %s", root);
    } else {
        memcpy(out->relative, relative, strlen(relative) + 1);
        status = walk(out, out->relative, make, err);
    }
    if (status != ETP_OK) {
        etp_place_close(out);
    }
    return status;
}

static etp_status replace_below(const char *root, const char *relative, etp_os_fill *fill,
                                void *ctx, bool sync, etp_error *err)
{
    etp_place p;
    ETP_TRY(etp_place_below(root, relative, true, &p, err));
    etp_status status = etp_place_replace(&p, fill, ctx, sync, err);
    etp_place_close(&p);
    return status;
}

etp_status etp_os_write_below(const char *root, const char *relative, etp_str content,
                              etp_error *err)
{
    return replace_below(root, relative, etp_place_fill, &content, true, err);
}

etp_status etp_os_replace_below(const char *root, const char *relative, etp_os_fill *fill,
                                void *ctx, etp_error *err)
{
    return replace_below(root, relative, fill, ctx, false, err);
}

etp_status etp_os_stage_below(const char *root, const char *relative, etp_os_fill *fill, void *ctx,
                              etp_error *err)
{
    etp_place p;
    ETP_TRY(etp_place_below(root, relative, true, &p, err));
    etp_status status = etp_place_stage(&p, fill, ctx, false, err);
    etp_place_close(&p);
    return status;
}

etp_status etp_os_unstage_below(const char *root, const char *relative, bool keep, etp_error *err)
{
    etp_place p;
    ETP_TRY(etp_place_below(root, relative, false, &p, err));
    etp_status status = etp_place_unstage(&p, keep, false, err);
    etp_place_close(&p);
    return status;
}

etp_status etp_os_append_below(const char *root, const char *relative, etp_str content,
                               etp_error *err)
{
    etp_place p;
    ETP_TRY(etp_place_below(root, relative, true, &p, err));
    int fd =
        etp_place_open(p.folder, p.name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    etp_status status = ETP_OK;
    if (fd < 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot open %s", p.shown);
    } else if (fstat(fd, &st) != 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot write %s", p.shown);
    } else if (!S_ISREG(st.st_mode)) {
        status = etp_fail(err, ETP_UNSUPPORTED, "%s is not a regular file", p.shown);
    } else if (!(etp_place_write(fd, content) && etp_os_full_sync(fd))) {
        status = etp_fail_errno(err, ETP_IO, "cannot write %s", p.shown);
        int ignored = ftruncate(fd, st.st_size); // a cut that fails as well would hide the cause
        (void)ignored;
    }
    if (fd >= 0) {
        close(fd);
    }
    etp_place_close(&p);
    return status;
}

etp_status etp_os_truncate_below(const char *root, const char *relative, uint64_t size,
                                 etp_error *err)
{
    etp_place p;
    ETP_TRY(etp_place_below(root, relative, false, &p, err));
    int fd = etp_place_open(p.folder, p.name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    etp_status status = fd >= 0 && ftruncate(fd, (off_t)size) == 0
                            ? ETP_OK
                            : etp_fail_errno(err, ETP_IO, "cannot shorten %s", p.shown);
    if (fd >= 0) {
        close(fd);
    }
    etp_place_close(&p);
    return status;
}
