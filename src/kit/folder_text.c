// SPDX-License-Identifier: Apache-2.0
// Texts and names in a folder of the kit.
#include "kit/folder.h"

#include <string.h>

#include "os/os.h"

etp_str etp_kit_folder_text(const etp_kit_folder *f, const char *relative)
{
    etp_str text = {0};
    const char *path = etp_arena_printf(f->arena, "%s/%s", f->path, relative);
    bool ok = etp_os_is_file(path) &&
              etp_os_read_text(path, (size_t)64 << 20, f->arena, &text, NULL) == ETP_OK;
    return ok ? text : (etp_str){0};
}

// Words are what stands between separators, so "on" in "convolution" is none.
etp_kit_side etp_kit_side_of(etp_str name)
{
    etp_kit_side side = ETP_KIT_NO_SIDE;
    for (size_t i = 0; i + 2 <= name.len; i++) {
        bool start = i == 0 || strchr("_-. /", name.ptr[i - 1]) != NULL;
        for (int off = 0; start && off < 2; off++) {
            size_t n = off ? 3 : 2;
            bool same = i + n <= name.len;
            for (size_t k = 0; same && k < n; k++) {
                same = (name.ptr[i + k] | 0x20) == (off ? "off" : "on")[k];
            }
            if (same && (i + n == name.len || strchr("_-. /", name.ptr[i + n]))) {
                side = off ? ETP_KIT_OFF : ETP_KIT_ON;
            }
        }
    }
    return side;
}
