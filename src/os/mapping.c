// SPDX-License-Identifier: Apache-2.0
// A file for programs of others: etp_file on the heap.
#include <etprof/mapping.h>

#include "os/os.h"

struct etp_mapping { // lives in its arena
    etp_arena arena;
    etp_file file;
};

etp_status etp_mapping_open(const char *path, etp_mapping **out, etp_error *err)
{
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for the mapping");
    }
    *out = NULL;
    if (!path) {
        return etp_fail(err, ETP_USAGE, "no path of a file");
    }
    etp_arena arena = {0};
    etp_mapping *m = ETP_NEW(&arena, etp_mapping);
    ETP_NEED(m, err, "mapping");
    m->arena = arena;
    etp_status st = etp_file_open_unpacked(path, UINT64_MAX, &m->file, err);
    if (st != ETP_OK) {
        etp_mapping_close(m);
        return st;
    }
    *out = m;
    return ETP_OK;
}

etp_bytes etp_mapping_bytes(const etp_mapping *mapping)
{
    return mapping ? mapping->file.bytes : (etp_bytes){0};
}

void etp_mapping_close(etp_mapping *mapping)
{
    if (mapping) {
        etp_file_close(&mapping->file);
        // The struct lies in the arena it holds: the arena is taken out before it is freed.
        etp_arena arena = mapping->arena;
        etp_arena_dispose(&arena);
    }
}
