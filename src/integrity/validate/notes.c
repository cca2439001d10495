// SPDX-License-Identifier: Apache-2.0
// How checks are written down; how a file of the folder is found by its name.
#include "integrity/validate/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void etp_valid_note(etp_validator *v, const char *file, const char *id, bool ok,
                    const char *expected, const char *fix, const char *found, ...)
{
    char text[512];
    va_list args;
    va_start(args, found);
    vsnprintf(text, sizeof text, found, args);
    va_end(args);
    etp_check c = {
        .id = id,
        .file = file,
        .ok = ok,
        .required = true,
        // Made for this one note, while the other texts are the callers' and live as long as it.
        .found = etp_arena_strdup(v->arena, etp_str_from(text)),
        .expected = expected,
        .fix = ok ? NULL : fix,
    };
    ETP_ADD(v->arena, &v->out->checks, c);
    v->out->failed += !ok;
}

etp_valid_file *etp_valid_find(const etp_validator *v, const char *name)
{
    size_t lo = 0, hi = v->files.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(v->files.items[mid].name, name);
        if (c == 0) {
            return &v->files.items[mid];
        }
        if (c < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return NULL;
}
