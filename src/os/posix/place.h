// SPDX-License-Identifier: Apache-2.0
// Where a file is made, changed or removed: a name in a folder. Private to this room.
#ifndef ETP_OS_POSIX_PLACE_H
#define ETP_OS_POSIX_PLACE_H

#include <limits.h>

#include "os/system.h"

typedef struct etp_place {
    int folder;        // open, or AT_FDCWD: NAME is a path that is used as it is
    const char *name;  // in FOLDER
    const char *shown; // the whole path, for messages
    // Of etp_place_below, which NAME and SHOWN point into: what is below a folder can be removed
    // where there is no memory.
    char relative[PATH_MAX], whole[PATH_MAX];
} etp_place;

// A path as it is; needs no close.
etp_place etp_place_of(const char *path);
// ROOT/RELATIVE. ROOT may lie behind links; from there on each folder is opened within the one
// before and none may be a link, so that a folder somebody swaps for a link meanwhile leads
// nowhere. MAKE: folders that are missing are made.
ETP_NODISCARD etp_status etp_place_below(const char *root, const char *relative, bool make,
                                         etp_place *out, etp_error *err);
void etp_place_close(etp_place *p);

// open(2) in FOLDER, again after a signal.
int etp_place_open(int folder, const char *name, int flags);

// Makes the next content of P under its temporary name; gives it its name, or removes it.
ETP_NODISCARD etp_status etp_place_stage(const etp_place *p, etp_os_fill *fill, void *ctx,
                                         bool sync, etp_error *err);
ETP_NODISCARD etp_status etp_place_unstage(const etp_place *p, bool keep, bool sync,
                                           etp_error *err);
// Both.
ETP_NODISCARD etp_status etp_place_replace(const etp_place *p, etp_os_fill *fill, void *ctx,
                                           bool sync, etp_error *err);
etp_os_fill etp_place_fill; // with the etp_str that CTX points to
bool etp_place_write(int fd, etp_str s);

// What the name of a file ends in until its content is whole; the number of the process follows.
#define ETP_TEMPORARY ".tmp-"

#endif
