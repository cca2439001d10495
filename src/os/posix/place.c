// SPDX-License-Identifier: Apache-2.0
// Names in open folders.
#include "os/posix/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int etp_place_open(int folder, const char *name, int flags)
{
    int fd;
    do {
        fd = openat(folder, name, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

etp_place etp_place_of(const char *path)
{
    return (etp_place){.folder = AT_FDCWD, .name = path, .shown = path};
}

void etp_place_close(etp_place *p)
{
    if (p->folder >= 0) {
        close(p->folder);
    }
    p->folder = -1;
}

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
