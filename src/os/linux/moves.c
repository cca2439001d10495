// SPDX-License-Identifier: Apache-2.0
// Folders that are moved: inotify, which is told by the kernel and not by looking now and then.
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "os/system.h"

int etp_os_moves_add(etp_os_moves *moves, const char *folder)
{
    if (!moves->open) {
        moves->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        moves->open = moves->fd >= 0;
    }
    return moves->open
               ? inotify_add_watch(moves->fd, folder, IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR)
               : -1;
}

// One at a time: these events have no name behind them.
int etp_os_moves_next(etp_os_moves *moves)
{
    struct inotify_event event;
    while (moves->open) {
        ssize_t n = read(moves->fd, &event, sizeof event);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n != sizeof event) {
            break;
        }
        if (event.mask & (IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT)) {
            return event.wd;
        }
    }
    return -1;
}

void etp_os_moves_close(etp_os_moves *moves)
{
    if (moves->open) {
        close(moves->fd);
    }
    *moves = (etp_os_moves){0};
}
