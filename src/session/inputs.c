// SPDX-License-Identifier: Apache-2.0
// Finds example inputs beside a model, in the layout that `etprof export` writes.
#include "session/inputs.h"

#include <string.h>

#include "os/os.h"

// Folder with the inputs of one method: that of METHOD, or the only one there is.
static const char *method_folder(const char *dir, const char *method, etp_arena *arena)
{
    etp_dir_list list = {0};
    const char *found = NULL;
    if (!etp_os_is_dir(dir) || etp_os_list(dir, arena, &list, NULL) != ETP_OK) {
        return NULL;
    }
    for (size_t i = 0; i < list.n; i++) {
        bool wanted = list.items[i].is_dir && (!method || strcmp(method, list.items[i].name) == 0);
        if (wanted && found) {
            return NULL; // several methods: the runner's choice is not ours to guess
        }
        found = wanted ? list.items[i].name : found;
    }
    return found ? etp_arena_printf(arena, "%s/%s", dir, found) : NULL;
}

etp_inputs_found etp_inputs_beside(const char *model, const char *method, etp_arena *arena)
{
    const char *beside = etp_arena_printf(arena, "%s.inputs", model);
    etp_inputs_found found = {.dir = beside ? method_folder(beside, method, arena) : NULL};
    etp_strbuf files;
    etp_strbuf_init(&files, arena);
    // Numbered from 0 without a gap: the first number that is missing ends the list.
    for (; found.dir; found.n++) {
        const char *file = etp_arena_printf(arena, "%s/%zu.bin", found.dir, found.n);
        // The paths go into the manifest, from which `rerun` reads them in another working
        // directory.
        const char *full = etp_os_absolute(file, arena);
        if (!full || !etp_os_is_file(full)) {
            break;
        }
        etp_strbuf_printf(&files, "%s%s", etp_if(found.n, ","), full);
        found.bytes += etp_os_mark_of(full).size;
    }
    found.files = etp_z_if(found.n > 0 && !files.failed, files.ptr);
    return found;
}
