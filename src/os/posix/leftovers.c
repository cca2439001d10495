// SPDX-License-Identifier: Apache-2.0
// What a killed process left while it wrote.
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "os/posix/place.h"

void etp_os_remove_temporary(const char *dir)
{
    etp_arena arena = {0};
    etp_dir_list list = {0};
    if (etp_os_list(dir, &arena, &list, NULL) != ETP_OK) {
        list.n = 0;
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *mark = strstr(list.items[i].name, ETP_TEMPORARY);
        int64_t pid;
        if (!mark || list.items[i].is_dir ||
            !etp_parse_i64(etp_str_from(mark + strlen(ETP_TEMPORARY)), &pid) || pid <= 0 ||
            // A living process may be writing it just now. A number that somebody else has by now
            // keeps the file until the next time, which is harmless.
            pid > INT32_MAX || etp_process_alive(pid)) {
            continue;
        }
        const char *path = etp_arena_printf(&arena, "%s/%s", dir, list.items[i].name);
        if (path) {
            unlink(path);
        }
    }
    etp_arena_dispose(&arena);
}
