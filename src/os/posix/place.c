// SPDX-License-Identifier: Apache-2.0
// Names in open folders: opened and closed.
#include "os/posix/place.h"

#include <errno.h>
#include <fcntl.h>
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
