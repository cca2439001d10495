// SPDX-License-Identifier: Apache-2.0
// What is moved or written to: inotify, which is told by the kernel and does not look now and then.
#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "os/system.h"

int etp_os_moves_add(etp_os_moves *moves, const char *path)
{
    if (!moves->open) {
        moves->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        moves->open = moves->fd >= 0;
    }
    // Of a folder the latter would tell of each file in it.
    const uint32_t written = etp_os_is_file(path) ? IN_MODIFY : 0;
    return moves->open ? inotify_add_watch(moves->fd, path, IN_MOVE_SELF | IN_DELETE_SELF | written)
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
        if (event.mask & (IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_MODIFY)) {
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
